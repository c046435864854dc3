-- Leaving a range at its upper end is a runtime error; the failing firing is not counted.
-- expect: violated runtime
-- message: 3
-- states: 3
-- rules: 2
-- diameter: 2
-- trace: 3
var x: 0 .. 2;
startstate begin x := 0; end;
rule "up" true ==> x := x + 1; end;
