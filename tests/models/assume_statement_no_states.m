-- The same, where assume statements abandon every startstate.
-- expect: unknown
-- states: 0
-- rules: 0
var x: 0 .. 3;
ruleset i: 0 .. 3 do startstate begin x := i; assume i > 3; end; end;
rule "swap" true ==> x := 3 - x; end;
