-- expect: violated runtime
-- message: does not fit in 64 bits
-- states: 1
-- rules: 0
-- diameter: 0
const Least: -9223372036854775807 - 1;
var x: Least .. Least + 1; flag: boolean;
startstate begin x := Least; flag := false; end;
rule "subtract" true ==> flag := x - 1 < 0; end;
