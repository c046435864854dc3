-- A rule without a priority has priority 0.
-- expect: holds
-- states: 2
-- rules: 2
-- diameter: 1
var x: 0 .. 9;
startstate begin x := 0; end;
rule 7 "second" true ==> x := 9; end;
rule "first" x < 2 ==> x := 1 - x; end;
