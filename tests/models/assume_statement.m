-- A false assume abandons the firing: it is not counted, and there is no successor.
-- expect: holds
-- states: 3
-- rules: 3
-- diameter: 2
var x: 0 .. 9;
startstate begin x := 0; end;
rule "up" true ==> x := x + 1; assume x <= 2; end;
rule "reset" x = 2 ==> x := 0; end;
