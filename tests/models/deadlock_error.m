-- A state whose only enabled rule fails is an error, not a deadlock.
-- expect: violated runtime
-- message: zero
-- states: 1
-- rules: 0
-- diameter: 0
var x: 0 .. 1;
startstate begin x := 0; end;
rule "fail" true ==> x := 1 / x; end;
