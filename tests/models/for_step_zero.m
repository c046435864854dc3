-- A step of zero is an error when the loop is entered.
-- expect: violated runtime
-- message: step
-- states: 2
-- rules: 1
-- diameter: 1
var s: 0 .. 1; x: 0 .. 9;
startstate begin s := 1; x := 0; end;
rule "loop" true ==> for i := 0 to 3 by s do x := i; end; s := s - 1; end;
