-- From every state x = 2 can be reached, though it need not be.
-- expect: holds
-- states: 4
-- rules: 8
-- diameter: 2
var x: 0 .. 3;
startstate begin x := 0; end;
rule "up" true ==> x := (x + 1) % 4; end;
rule "down" true ==> x := (x + 3) % 4; end;
liveness "two" x = 2;
