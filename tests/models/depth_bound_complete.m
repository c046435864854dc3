-- A bound that is not reached changes nothing.
-- expect: holds
-- options: --depth 3
-- states: 3
-- rules: 3
-- diameter: 2
var x: 0 .. 2;
startstate begin x := 0; end;
rule "up" true ==> x := (x + 1) % 3; end;
