-- A liveness property about one particular scalarset value must not be lost or gained by symmetry reduction.
-- expect: holds
-- states without symmetry: 2
-- rules without symmetry: 2
type Node: scalarset(2);
var owner: Node;
ruleset n: Node do startstate begin owner := n; end; end;
ruleset n: Node do
  rule "give" owner != n ==> owner := n; end;
  liveness "everybody gets it" owner = n;
end;
