-- Undefined arguments by value and results that CMurphi passes on. A rule that failed would not count as fired.
-- expect: holds
-- options: --deadlock off
-- states: 1
-- rules: 10
-- diameter: 0
type
  Small: 0 .. 3; Colour: enum { Red, Green }; Node: scalarset(2); Place: union { Node, Colour }; Real: real(3, 10);
  Box: record small: Small; colour: Colour; node: Node; place: Place; flag: boolean; end;
var
  small: Small; colour: Colour; node: Node; place: Place; flag: boolean; real: Real; one: 1 .. 1;
  box: Box; smalls: array [Small] of Small;

procedure take(s: Small; f: boolean; c: Colour; n: Node; p: Place; r: Real);
begin
  assert isundefined(s) & isundefined(f) & isundefined(c) & isundefined(n) & isundefined(p) & isundefined(r);
end;
procedure take_place(p: Place); begin assert isundefined(p); end;
procedure take_node(n: Node); begin assert isundefined(n); end;
function a_small(): Small; begin return box.small; end;
function a_flag(): boolean; begin return flag; end;
function a_real(): Real; begin return real; end;
function a_colour(): Colour; begin return colour; end;
function a_node(): Node; begin return box.node; end;
function a_place(): Place; begin return one = 1 ? place : box.place; end;
function another_node(): Node; begin return a_node(); end;

startstate begin one := 1; end;

rule "variables" true ==> take(small, flag, colour, node, place, real); end;
rule "parts" true ==> take(smalls[one], box.flag, box.colour, box.node, box.place, real); end;
rule "word" true ==> take(undefined, undefined, undefined, undefined, undefined, undefined); end;
rule "results" true ==> take(a_small(), a_flag(), a_colour(), another_node(), a_place(), a_real()); end;
rule "choice" true ==> take(one = 1 ? small : box.small, flag, colour, one = 1 ? node : box.node, place, real); end;
rule "scalarset to union and back" true ==> take_place(node); take_place(box.node); take_node(box.place); end;
rule "assigned" true ==> colour := a_colour(); node := another_node(); place := a_place(); place := a_node(); end;
rule "dropped" true ==> a_small(); a_flag(); end;
rule "compared" a_node() = node & a_place() = place & !(a_place() = Red) ==> end;
rule "switched" true ==> switch a_place() case Red: error "red"; end; end;
