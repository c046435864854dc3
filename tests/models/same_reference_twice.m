-- Two var formals may name one place.
-- expect: holds
-- states: 3
-- rules: 3
-- diameter: 2
var x: 0 .. 9;
procedure add(var a, b: 0 .. 9);
begin
  a := a + 1;
  b := b % 3;
  assert a = b;
end;
startstate begin x := 0; end;
rule "add" true ==> add(x, x); end;
