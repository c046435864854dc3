-- In the start state the second proposition divides by zero. No run of the automaton looks at it there, and the lasso
-- is shown all the same.
-- expect: violated ltl "reached"
-- trace: 2
var x: 0 .. 2;
startstate begin x := 2; end;
rule "leave" x = 2 ==> x := 0; end;
rule "stay" x = 0 ==> x := 0; end;
ltl "reached": G ({x < 2} -> F {10 / (2 - x) > 100});
