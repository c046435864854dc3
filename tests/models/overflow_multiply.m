-- expect: violated runtime
-- message: does not fit in 64 bits
-- states: 3
-- rules: 2
-- diameter: 2
var x: 0 .. 4000000000000000000;
startstate begin x := 3; end;
rule "square" true ==> x := x * x * x * x * x; end;
