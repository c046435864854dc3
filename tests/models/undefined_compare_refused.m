-- With --undefined error the comparison is a runtime error. (rumur)
-- expect: violated runtime
-- options: --undefined error
-- message: undefined
-- states: 1
-- rules: 0
-- diameter: 0
type Node: scalarset(2);
var owner, other: Node;
startstate begin undefine owner; end;
ruleset n: Node do
  rule "own" owner != n ==> owner := n; end;
end;
