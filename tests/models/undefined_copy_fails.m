-- Undefined sources of an assignment that CMurphi refuses: parts that are subranges, booleans or reals, an enumeration
-- that becomes a union, and what is no designator. Every rule fails, so that none counts as fired.
-- expect: violated runtime
-- options: --continue --deadlock off
-- message: box.small is undefined
-- states: 1
-- rules: 0
-- diameter: 0
type
  Small: 0 .. 3; Other: 0 .. 5; Colour: enum { Red, Green }; Shape: enum { Round, Square };
  Place: union { Colour, Shape }; Real: real(3, 10);
  Box: record small: Small; flag: boolean; colour: Colour; real: Real; inner: array [Small] of Small; end;
var
  small, small2: Small; other: Other; flag, flag2: boolean; colour: Colour; place: Place; real, real2: Real;
  one: 1 .. 1; box: Box; boxes: array [Small] of Box; flags: array [Small] of boolean; reals: array [Small] of Real;

procedure from_field(formal: Box); begin small := formal.small; end;
procedure from_element(var formal: Box); begin small := formal.inner[one]; end;

startstate begin one := 1; end;

rule "subrange in a field" true ==> small := box.small; end;
rule "subrange in an element" true ==> small := box.inner[1]; end;
rule "computed element" true ==> small := boxes[one].inner[one]; end;
rule "to a part" true ==> boxes[1].small := boxes[2].small; end;
rule "to another subrange" true ==> other := box.small; end;
rule "to a real" true ==> real := box.small; end;
rule "boolean in a field" true ==> flag := box.flag; end;
rule "boolean in an element" true ==> flag := flags[1]; end;
rule "real in a field" true ==> real := box.real; end;
rule "real in an element" true ==> real := reals[one]; end;
rule "enumeration to union" true ==> place := box.colour; end;
rule "field of a formal" true ==> from_field(box); end;
rule "element of a formal" true ==> from_element(box); end;
rule "field of a local" var local: Box; begin small := local.small; end;
rule "alias of a field" true ==> alias part: box.small; again: part do small := again; end; end;
rule "alias of an element" true ==> alias part: boxes[one].inner[one] do small := part; end; end;
rule "field of an alias" true ==> alias whole: boxes[one] do small := whole.small; end; end;
rule "choice of subranges" true ==> small := one = 1 ? small2 : small; end;
rule "choice of booleans" true ==> flag := one = 1 ? flag2 : flag; end;
rule "choice of reals" true ==> real := one = 1 ? real2 : real; end;
rule "plus" true ==> small := +small2; end;
rule "not" true ==> flag := !flag2; end;
