-- Members of a union: ismember, assignment both ways, comparison with a member's literal.
-- expect: holds
-- states: 3
-- rules: 12
-- diameter: 1
-- states without symmetry: 4
-- rules without symmetry: 16
type
  Node: scalarset(2);
  Special: enum { Home, Away };
  Place: union { Node, Special };
var where: Place; node: Node; special: Special;
startstate begin where := Home; special := Home; end;
ruleset n: Node do rule "go" true ==> where := n; node := n; special := Home; end; end;
ruleset s: Special do
  rule "special" !ismember(where, Node) | where = node ==>
    where := s; special := where; undefine node;
    assert ismember(where, Special) & !ismember(where, Node);
    assert where = special & (where = Home -> special != Away);
  end;
end;
