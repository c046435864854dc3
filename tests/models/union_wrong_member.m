-- A union value of another member cannot become a member's value.
-- expect: violated runtime
-- states: 1
-- rules: 0
-- diameter: 0
type
  Node: scalarset(2);
  Special: enum { Home };
  Place: union { Node, Special };
var where: Place; node: Node;
startstate begin where := Home; end;
rule "convert" true ==> node := where; end;
