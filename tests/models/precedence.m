-- What binds how: ! is looser than comparison, && and || are looser than & and |.
-- expect: holds
-- states: 2
-- rules: 2
-- diameter: 1
var x, y: 0 .. 9; f: boolean;
startstate
begin
  x := 2; y := 3; f := false;
  assert !x = y;
  assert 2 + 3 * 4 = 14 & 20 - 5 - 5 = 10 & 100 / 10 / 5 = 2 & 7 - 7 % 4 = 4;
  assert -x * y = -6 & - 7 % 4 = -3;
  assert f & f | true;
  assert !(true | true && f);
  assert f -> f;
  assert f & true -> f | f;
  assert !!true;
  assert (x < y ? x : y) = 2;
  assert x == 2 && y == 3;
end;
rule "toggle" true ==> f := !f; end;
