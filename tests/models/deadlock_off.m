-- expect: holds
-- options: --deadlock off
-- states: 2
-- rules: 1
-- diameter: 1
var x: 0 .. 1;
startstate begin x := 0; end;
rule "up" x = 0 ==> x := 1; end;
