-- ... so dividing it by -1 overflows as well.
-- expect: violated runtime
-- message: does not fit in 64 bits
-- states: 1
-- rules: 0
-- diameter: 0
const Least: -9223372036854775807 - 1;
var x: Least .. Least + 1; one: -1 .. 1; flag: boolean;
startstate begin x := Least; one := -1; flag := false; end;
rule "divide" true ==> flag := x / one > 0; end;
