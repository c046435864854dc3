-- An abandoned rule does not count as enabled.
-- expect: violated deadlock
-- options: --deadlock stuck
-- states: 3
-- rules: 2
-- diameter: 2
var x: 0 .. 9;
startstate begin x := 0; end;
rule "up" true ==> x := x + 1; assume x <= 2; end;
