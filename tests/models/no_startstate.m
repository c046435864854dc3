-- A model without a start state has no states, and holds.
-- expect: holds
-- states: 0
-- rules: 0
var x: boolean;
rule "stay" true ==> x := true; end;
