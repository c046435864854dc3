-- Several startstates, some of them from rulesets, some giving the same state.
-- expect: holds
-- states: 5
-- rules: 5
-- diameter: 0
var x: 0 .. 4;
startstate "zero" begin x := 0; end;
ruleset i: 0 .. 4; j: boolean do startstate "any" begin x := i; end; end;
rule "round" true ==> x := (x + 1) % 5; end;
