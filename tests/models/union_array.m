-- An array indexed by a union of a scalarset and an enumeration.
-- expect: holds
-- states: 6
-- rules: 18
-- diameter: 3
-- states without symmetry: 8
-- rules without symmetry: 24
type
  Node: scalarset(2);
  Place: union { Node, enum { Home } };
var a: array [Place] of boolean;
startstate begin for p: Place do a[p] := false; end; end;
ruleset p: Place do rule "toggle" true ==> a[p] := !a[p]; end; end;
