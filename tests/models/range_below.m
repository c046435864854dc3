-- Leaving a range with a negative lower bound.
-- expect: violated runtime
-- message: -3
-- states: 3
-- rules: 2
-- diameter: 2
var x: -2 .. 0;
startstate begin x := 0; end;
rule "down" true ==> x := x - 1; end;
