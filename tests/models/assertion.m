-- A failed assertion, with its text.
-- expect: violated assertion
-- message: x stays small
-- states: 3
-- rules: 2
-- diameter: 2
var x: 0 .. 9;
startstate begin x := 0; end;
rule "up" true ==> assert x < 2 "x stays small"; x := x + 1; end;
