-- Loops over types and over steps, several quantifiers, both directions; bounds are evaluated once.
-- expect: holds
-- states: 2
-- rules: 2
-- diameter: 1
const Low: -2;
type Colour: enum { Red, Green, Blue };
var done: boolean; limit: 0 .. 9; count: 0 .. 99;
startstate
begin
  done := false;
  count := 0;
  for c: Colour; b: boolean do count := count + 1; end;
  assert count = 6;
  for i := Low to 7 by 3 do count := count + i; end;
  assert count = 6 + (-2 + 1 + 4 + 7);
  count := 0;
  for i := 9 to 0 by -4 do count := count * 3 + i; end;
  assert count = (9 * 3 + 5) * 3 + 1;
  limit := 3;
  count := 0;
  for i := 1 to limit do limit := 9; count := count + 1; end;
  assert count = 3;
  for i := limit to 2 do error "dynamic bounds the wrong way round: no iteration"; end;
  count := 0;
  limit := 0;
end;
rule "toggle" true ==> done := !done; end;
