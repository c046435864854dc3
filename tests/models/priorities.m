-- Only the enabled rules with the smallest priority number fire.
-- expect: holds
-- states: 4
-- rules: 4
-- diameter: 3
var x: 0 .. 9;
startstate begin x := 0; end;
rule 1 "jump" true ==> x := (x + 3) % 4; end;
rule "step" x < 3 ==> x := x + 1; end;
rule 2 "never" true ==> x := 9; end;
