-- Two thousand levels of one state.
-- expect: holds
-- states: 2000
-- rules: 2000
-- diameter: 1999
var x: 0 .. 1999;
startstate begin x := 0; end;
rule "up" true ==> x := (x + 1) % 2000; end;
