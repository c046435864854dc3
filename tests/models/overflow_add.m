-- Arithmetic is 64-bit; leaving it is an error.
-- expect: violated runtime
-- message: does not fit in 64 bits
-- states: 1
-- rules: 0
-- diameter: 0
const Most: 9223372036854775807;
var x: Most - 1 .. Most; flag: boolean;
startstate begin x := Most; flag := false; end;
rule "add" true ==> flag := x + 1 > 0; end;
