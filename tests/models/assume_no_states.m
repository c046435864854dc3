-- Nothing holds of a model whose only start state breaks an assumption: nothing was checked.
-- expect: unknown
-- states: 0
-- rules: 0
var x: 0 .. 2;
startstate begin x := 0; end;
rule "turn" true ==> x := (x + 1) % 3; end;
assume "begun" x > 0;
invariant "small" x < 2;
cover "top" x = 2;
