-- Multisets of scalarset values, sorted within each permutation.
-- expect: holds
-- states: 4
-- rules: 11
-- diameter: 2
-- states without symmetry: 10
-- rules without symmetry: 27
type Node: scalarset(3);
var bag: multiset [2] of Node;
startstate begin undefine bag; end;
ruleset n: Node do
  rule "add" multisetcount(i: bag, true) < 2 ==>
  var node: Node;
  begin node := n; multisetadd(node, bag); end;
end;
choose i: bag do rule "remove" true ==> multisetremove(i, bag); end; end;
