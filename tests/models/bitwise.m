-- Bitwise operators on integers; the left operand decides between bitwise and logical.
-- expect: holds
-- states: 2
-- rules: 2
-- diameter: 1
var a: 0 .. 15; b: -8 .. 7; f: boolean;
startstate
begin
  a := 12; b := -3; f := true;
  assert (a & 10) = 8 & (a | 3) = 15 & (a ^ 10) = 6 & ~a = -13;
  assert a << 2 = 48 & a >> 2 = 3 & b >> 1 = -2 & b << 1 = -6;
  assert a << -2 = 3 & a >> -2 = 48;
  assert (1 & 3 + 1) = 0;
  assert (5 & b) = 5 & (b | 8) = -3;
  assert f & !(a = 0) | false;
  f := false;
end;
rule "toggle" true ==> f := !f; end;
