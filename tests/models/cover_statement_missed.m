-- A cover statement that is executed, but never with a true condition.
-- expect: violated cover "seven"
-- states: 3
-- rules: 3
-- diameter: 2
var x: 0 .. 9;
startstate begin x := 0; end;
rule "round" true ==> cover x = 7 "seven"; x := (x + 1) % 3; end;
