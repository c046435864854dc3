-- Inner names hide outer ones: locals, formals, loop variables, quantifiers, ruleset parameters, aliases.
-- expect: holds
-- states: 3
-- rules: 4
-- diameter: 1
type T: 0 .. 2;
var x: T; i: boolean;
procedure set(x: T); var i: T; begin i := x; end;
startstate
begin
  i := true;
  x := 1;
  set(2);
  assert x = 1;
  for x: T do assert exists i: T do i = x end; end;
  alias x: i do assert x; end;
  assert x = 1 & i;
end;
ruleset i: T do
  rule "set" i != x & x = 1 ==> x := i; end;
end;
rule "back" x != 1 & i ==>
  type T: 7 .. 8;
  var i: T;
begin
  i := 8;
  x := i - 7;
end;
invariant "i" i;
