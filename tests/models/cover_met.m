-- Cover properties in a ruleset share one counter: one instance that is met is enough.
-- expect: holds
-- states: 3
-- rules: 3
-- diameter: 2
var x: 0 .. 9;
startstate begin x := 0; end;
rule "round" true ==> cover x = 2 "about to turn"; x := (x + 1) % 3; end;
ruleset i: 0 .. 9 do cover "some value" x = i; end;
