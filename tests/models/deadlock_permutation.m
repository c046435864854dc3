-- A rule that only permutes a scalarset changes the state: no deadlock, although the orbit is the same.
-- expect: holds
-- states: 1
-- rules: 1
-- diameter: 0
-- states without symmetry: 2
-- rules without symmetry: 2
type Node: scalarset(2);
var owner: Node;
ruleset n: Node do startstate begin owner := n; end; end;
ruleset n: Node do rule "swap" owner != n ==> owner := n; end; end;
