-- From every state x = 6 can be reached, from most of them only by going round past the start.
-- expect: holds
-- options: --threads 1
-- states: 12
-- rules: 12
-- diameter: 11
var x: 0 .. 11;
startstate begin x := 0; end;
rule "on" true ==> x := (x + 1) % 12; end;
liveness "six" x = 6;
