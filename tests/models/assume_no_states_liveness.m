-- A search without states decides nothing about liveness.
-- expect: unknown
-- states: 0
-- rules: 0
var x: 0 .. 2;
startstate begin x := 0; end;
rule "turn" true ==> x := (x + 1) % 3; end;
assume "begun" x > 0;
liveness "back" x = 0;
