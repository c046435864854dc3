-- A scalarset of one value carries no symmetry.
-- expect: holds
-- states: 2
-- rules: 2
-- diameter: 1
type One: scalarset(1);
var a: array [One] of boolean;
startstate begin for o: One do a[o] := false; end; end;
ruleset o: One do rule "toggle" true ==> a[o] := !a[o]; end; end;
