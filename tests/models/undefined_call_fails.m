-- Undefined arguments that need a conversion, and undefined results that are used: CMurphi refuses them. Every rule
-- fails, so that none counts as fired.
-- expect: violated runtime
-- options: --continue --deadlock off
-- message: small is undefined
-- states: 1
-- rules: 0
-- diameter: 0
type
  Small: 0 .. 3; Other: 0 .. 5; Wide: -1 .. 3; Colour: enum { Red, Green }; Node: scalarset(2);
  Place: union { Node, Colour }; Real: real(3, 10);
  Box: record small: Small; colour: Colour; end;
var
  small: Small; wide: Wide; same: 0 .. 3; colour: Colour; place: Place; flag: boolean; real: Real; box: Box; one: 1 .. 1;

procedure take_other(formal: Other); begin end;
procedure take_same(formal: 0 .. 3); begin end;
procedure take_real(formal: Real); begin end;
procedure take_place(formal: Place); begin end;
procedure take_wide(formal: Wide); begin end;
function a_small(): Small; begin return small; end;
function a_flag(): boolean; begin return flag; end;
function a_real(): Real; begin return real; end;
function a_colour(): Colour; begin return box.colour; end;
function a_wide(): Wide; begin return wide; end;
function from_other(): Other; begin return small; end;

startstate begin one := 1; end;

rule "other subrange" true ==> take_other(small); end;
rule "equal subrange, written again" true ==> take_same(same); end;
rule "subrange to real" true ==> take_real(small); end;
rule "enumeration to union" true ==> take_place(colour); end;
rule "part to other subrange" true ==> take_other(box.small); end;
rule "subrange result" true ==> small := a_small(); end;
rule "boolean result" true ==> flag := a_flag(); end;
rule "real result" true ==> real := a_real(); end;
rule "enumeration result to union" true ==> place := a_colour(); end;
rule "result of a wide subrange" true ==> take_wide(a_wide()); end;
rule "result of another type" true ==> take_other(from_other()); end;
rule "result compared" true ==> if a_colour() = Red then end; end;
rule "result in an expression" true ==> if a_small() + 1 = 2 then end; end;
rule "result as a condition" true ==> if a_flag() then end; end;
rule "result switched on" true ==> switch a_colour() case Red: end; end;
rule "result aliased" true ==> alias result: a_small() do end; end;
rule "enumeration compared with a union" true ==> if place = colour then end; end;
