-- An undefined scalarset value equals only undefined. (CMurphi)
-- expect: holds
-- states: 4
-- rules: 8
-- diameter: 2
-- states without symmetry: 7
-- rules without symmetry: 12
type Node: scalarset(2);
var owner, other: Node;
startstate begin undefine owner; end;
ruleset n: Node do
  rule "own" owner != n ==> owner := n; end;
  rule "other" other != n & other = owner ==> other := n; owner := n; end;
end;
