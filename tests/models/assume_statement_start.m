-- A false assume in a startstate drops that start state.
-- expect: holds
-- states: 2
-- rules: 2
-- diameter: 0
var x: 0 .. 3;
ruleset i: 0 .. 3 do startstate begin x := i; assume i > 1; end; end;
rule "swap" true ==> x := 5 - x; end;
