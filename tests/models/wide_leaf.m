-- Leaves that take all 64 bits.
-- expect: holds
-- states: 4
-- rules: 4
-- diameter: 3
const Least: -9223372036854775807; Most: 9223372036854775807;
var f: boolean; x: Least .. Most; y: 0 .. Most; z: array [boolean] of Least .. Most;
startstate begin f := false; x := Least; y := Most; z[false] := 0; end;
rule "next" true ==>
  f := !f;
  switch x
    case Least: x := -1; z[true] := Most;
    case -1: x := Most; y := 0;
    case Most: x := 0; z[f] := Least;
    else x := Least; y := Most; undefine z; z[false] := 0; f := false;
  end;
end;
