-- By default a state from which every rule leads back to itself is a deadlock.
-- expect: violated deadlock
-- states: 2
-- rules: 3
-- diameter: 1
-- trace: 2
var x: 0 .. 1;
startstate begin x := 0; end;
rule "up" x = 0 ==> x := 1; end;
rule "stay" true ==> x := x; end;
