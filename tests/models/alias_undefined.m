-- isundefined takes every alias, also those of values and constants, which are never undefined.
-- expect: holds
-- options: --deadlock off
-- states: 1
-- rules: 2
-- diameter: 0
const size: 3;
type Small: 0 .. 3; Box: record small: Small; end;
var one: 1 .. 1; box: Box; boxes: array [0 .. 1] of Box;
procedure check(formal: Small; var reference: Box);
begin
  alias name: formal; part: reference.small; whole: reference do
    assert isundefined(name) & isundefined(part) & isundefined(whole.small);
  end;
end;
startstate begin one := 1; end;
rule "places" true ==>
  check(box.small, boxes[one]);
  alias name: box.small; element: boxes[one].small; again: element; index: one do
    assert isundefined(name) & isundefined(element) & isundefined(again) & !isundefined(index);
  end;
end;
alias constant: size; literal: 5; sum: one + 1; truth: true; again: literal do
  rule "values" true ==>
    assert !isundefined(constant) & !isundefined(literal) & !isundefined(sum);
    assert !isundefined(truth) & !isundefined(again);
  end;
end;
