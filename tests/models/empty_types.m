-- A loop over an enumeration without members does nothing; a rule over it has no instance.
-- expect: violated deadlock
-- states: 1
-- rules: 0
-- diameter: 0
type Nothing: enum { };
var x: boolean;
startstate begin x := true; for n: Nothing do x := false; end; assert forall n: Nothing do false end; end;
ruleset n: Nothing do rule "never" true ==> x := !x; end; end;
