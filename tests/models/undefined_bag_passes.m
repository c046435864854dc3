-- An undefined element goes into a multiset where CMurphi copies it without a test.
-- expect: holds
-- options: --deadlock off
-- states: 1
-- rules: 3
-- diameter: 0
type Small: 0 .. 3; Colour: enum { Red, Green }; Node: scalarset(2); Box: record small: Small; end;
var
  colour: Colour; node: Node; box: Box; one: 1 .. 1;
  colours: multiset [2] of Colour; nodes: multiset [2] of Node; boxes: multiset [2] of Box;
startstate begin one := 1; end;
rule "enumeration" true ==> multisetadd(colour, colours); multisetremovepred(i: colours, isundefined(colours[i])); end;
rule "scalarset" true ==> multisetadd(node, nodes); multisetremovepred(i: nodes, isundefined(nodes[i])); end;
rule "record" true ==> multisetadd(box, boxes); multisetremovepred(i: boxes, isundefined(boxes[i].small)); end;
