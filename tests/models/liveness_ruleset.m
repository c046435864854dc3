-- Each instance of a liveness property is a property of its own.
-- expect: violated liveness "all values"
-- states: 3
-- rules: 4
-- diameter: 1
var x: 0 .. 2;
startstate begin x := 0; end;
rule "out" x = 0 ==> x := 1; end;
rule "other" x = 0 ==> x := 2; end;
rule "home" x = 1 ==> x := 0; end;
rule "stay" x = 2 ==> x := 0; end;
ruleset i: -1 .. 2 do liveness "all values" x = i; end;
