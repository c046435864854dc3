-- A while loop that runs too long is an error, not a hang.
-- expect: violated runtime
-- options: --while-limit 100
-- message: 100
-- states: 1
-- rules: 0
-- diameter: 0
var x: boolean;
startstate begin x := false; end;
rule "spin" true ==> while x = false do x := false; end; end;
