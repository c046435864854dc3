-- ... but not when no rule is enabled.
-- expect: violated deadlock
-- options: --deadlock stuck
-- states: 2
-- rules: 2
-- diameter: 1
var x: 0 .. 1;
startstate begin x := 0; end;
rule "up" x = 0 ==> x := 1; end;
rule "stay" x = 0 ==> x := x; end;
