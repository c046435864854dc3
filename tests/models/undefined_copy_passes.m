-- Undefined sources of an assignment that CMurphi passes on: any variable, formal or alias of one, and of parts those
-- of enumerations, scalarsets and unions. A rule that failed would not count as fired.
-- expect: holds
-- options: --deadlock off
-- states: 1
-- rules: 22
-- diameter: 0
type
  Small: 0 .. 3; Other: 0 .. 5; Wide: -3 .. 300; Colour: enum { Red, Green }; Node: scalarset(2);
  Place: union { Node, Colour }; Real: real(3, 10);
  Box: record small: Small; colour: Colour; node: Node; place: Place; inner: array [Small] of Node; end;
var
  small, small2: Small; other: Other; wide, wide2: Wide; flag, flag2: boolean; colour, colour2: Colour;
  node, node2: Node; place, place2: Place; real, real2: Real; one: 1 .. 1;
  box: Box; boxes: array [Small] of Box; colours: array [Small] of Colour; nodes: array [Node] of Node;

procedure from_value(formal: Small); begin small := formal; assert isundefined(small); end;
procedure from_reference(var formal: Small); begin small := formal; assert isundefined(small); end;
procedure to_reference(var formal: Small); begin formal := small2; end;
procedure from_formal_part(var formal: Box); begin node := formal.inner[one]; colour := formal.colour; end;

startstate begin one := 1; end;

rule "subrange" true ==> small := 1; small := small2; assert isundefined(small); end;
rule "boolean" true ==> flag := true; flag := flag2; assert isundefined(flag); end;
rule "enumeration" true ==> colour := Red; colour := colour2; assert isundefined(colour); end;
rule "scalarset" true ==> node := node2; end;
rule "union" true ==> place := Red; place := place2; assert isundefined(place); end;
rule "real" true ==> real := 1.5; real := real2; assert isundefined(real); end;
rule "wide subrange" true ==> wide := 7; wide := wide2; assert isundefined(wide); end;
rule "other subrange" true ==> small := 1; small := other; assert isundefined(small); end;
rule "subrange to real" true ==> real := 1.5; real := small; assert isundefined(real); end;
rule "enumeration to union" true ==> place := Red; place := colour; assert isundefined(place); end;
rule "to a part" true ==> boxes[1].small := 1; boxes[1].small := small; undefine boxes; end;
rule "local" var local: Small; begin small := local; end;
rule "formals" true ==> from_value(small2); from_reference(small2); from_reference(boxes[1].small); end;
rule "to a formal" true ==> to_reference(boxes[1].small); to_reference(small); end;
rule "alias of a variable" true ==> alias name: small2; again: name do small := again; end; end;
rule "field" true ==> colour := Red; colour := box.colour; node := box.node; place := box.place; undefine colour; end;
rule "element" true ==> colour := Red; colour := colours[1]; undefine colour; end;
rule "nested" true ==> node := boxes[one].inner[one]; place := boxes[2].place; end;
rule "part to another type" true ==> place := box.node; node := box.place; colour := box.place; end;
rule "alias of a part" true ==> alias part: colours[one]; fixed: box.node do colour := part; node := fixed; end; end;
rule "part of a formal" true ==> from_formal_part(boxes[one]); end;
rule "choice" true ==> node := one = 1 ? box.node : node2; colour := one = 1 ? colour2 : box.colour; end;
