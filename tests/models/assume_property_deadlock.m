-- A dropped successor still means that the state is no deadlock.
-- expect: holds
-- states: 3
-- rules: 3
-- diameter: 2
var x: 0 .. 5;
startstate begin x := 0; end;
rule "up" x < 5 ==> x := x + 1; end;
assume "small" x <= 2;
