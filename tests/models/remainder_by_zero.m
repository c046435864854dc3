-- ... and the remainder.
-- expect: violated runtime
-- message: zero
-- states: 2
-- rules: 1
-- diameter: 1
var x: 0 .. 1; y: 0 .. 9;
startstate begin x := 1; y := 0; end;
rule "divide" true ==> y := 9 % x; x := x - 1; end;
