-- A runtime error in a startstate: no state at all.
-- expect: violated runtime
-- message: 7
-- states: 0
-- rules: 0
var x: 0 .. 1; y: 0 .. 7;
startstate begin y := 7; x := y; end;
rule "stay" true ==> end;
