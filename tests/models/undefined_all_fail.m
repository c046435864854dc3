-- With --undefined error no undefined simple value is copied, returned or compared, as in rumur. Every rule fails.
-- expect: violated runtime
-- options: --undefined error --continue --deadlock off
-- message: small2 is undefined
-- states: 1
-- rules: 0
-- diameter: 0
type
  Small: 0 .. 3; Colour: enum { Red, Green }; Node: scalarset(2); Place: union { Node, Colour }; Real: real(3, 10);
  Box: record small: Small; colour: Colour; node: Node; end;
var
  small, small2: Small; flag, flag2: boolean; colour, colour2: Colour; node, node2: Node; place, place2: Place;
  real, real2: Real; box: Box; nodes: array [Node] of Node; bag: multiset [2] of Node; one: 1 .. 1;

procedure from_value(formal: Small); begin small := formal; end;
function a_node(): Node; begin return node; end;

startstate begin one := 1; end;

rule "subrange" true ==> small := small2; end;
rule "boolean" true ==> flag := flag2; end;
rule "enumeration" true ==> colour := colour2; end;
rule "scalarset" true ==> node := node2; end;
rule "union" true ==> place := place2; end;
rule "real" true ==> real := real2; end;
rule "field" true ==> node := box.node; end;
rule "local" var local: Node; begin node := local; end;
rule "formal" true ==> from_value(small2); end;
rule "alias" true ==> alias part: box.colour do colour := part; end; end;
rule "choice" true ==> node := one = 1 ? node2 : box.node; end;
rule "result" true ==> node := a_node(); end;
rule "comparison" true ==> if node = node2 then end; end;
rule "bag" true ==> multisetadd(node, bag); end;
