-- Division truncates towards zero; the remainder has the sign of the dividend.
-- expect: holds
-- states: 2
-- rules: 2
-- diameter: 1
var done: boolean; seven, two: -9 .. 9;
startstate
begin
  done := false;
  seven := 7;
  two := 2;
  assert seven / two = 3 & seven % two = 1;
  assert -seven / two = -3 & -seven % two = -1;
  assert seven / -two = -3 & seven % -two = 1;
  assert (-seven) / (-two) = 3 & (-seven) % (-two) = -1;
  assert -seven % 2 = -1;
end;
rule "toggle" true ==> done := !done; end;
