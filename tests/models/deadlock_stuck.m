-- With --deadlock stuck a rule that changes nothing is enough to go on.
-- expect: holds
-- options: --deadlock stuck
-- states: 2
-- rules: 3
-- diameter: 1
var x: 0 .. 1;
startstate begin x := 0; end;
rule "up" x = 0 ==> x := 1; end;
rule "stay" true ==> x := x; end;
