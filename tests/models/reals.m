-- Reals are rounded to their digits at every store.
-- expect: holds
-- states: 4
-- rules: 4
-- diameter: 3
var r: real(3, 20); turn: 0 .. 3;
startstate begin r := 1; turn := 0; end;
rule "step" true ==>
  turn := (turn + 1) % 4;
  switch turn
    case 1: r := r / 3;              assert r = 0.333;
    case 2: r := r * 3 + 0.0005;     assert r = 1.0 | r = 0.999;
    case 3: r := sqrt(16.0) + 2;     assert r = 6.0 & r > 5 & -r < 0.5;
    else    r := 1.0;
  end;
end;
