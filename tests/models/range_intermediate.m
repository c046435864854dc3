-- Intermediate results have no range: only storing is checked. (rumur's narrow value type stops here.)
-- expect: holds
-- states: 3
-- rules: 3
-- diameter: 2
var x: 0 .. 2;
startstate begin x := 0; end;
rule "round" x - 1 < 3 ==> x := ((x + 10) * 10 - 90) / 10 % 3; end;
