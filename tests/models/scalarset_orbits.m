-- Functions from a three-element scalarset to itself: 27 of them, 7 orbits.
-- expect: holds
-- states: 7
-- rules: 63
-- diameter: 3
-- states without symmetry: 27
-- rules without symmetry: 243
type Node: scalarset(3);
var next: array [Node] of Node;
startstate begin for n: Node do next[n] := n; end; end;
ruleset n: Node; m: Node do rule "link" true ==> next[n] := m; end; end;
