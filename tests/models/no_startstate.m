-- A model without a start state has nothing to check.
-- expect: rejected
-- message: no startstate
var x: boolean;
rule "stay" true ==> x := true; end;
