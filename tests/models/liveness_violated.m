-- Once in the trap there is no way back.
-- expect: violated liveness "home"
-- states: 4
-- rules: 5
-- diameter: 2
-- trace: 2
var x: 0 .. 3;
startstate begin x := 0; end;
rule "out" x = 0 ==> x := 1; end;
rule "home" x = 1 ==> x := 0; end;
rule "trap" x = 0 ==> x := 2; end;
rule "swing" x >= 2 ==> x := 5 - x; end;
liveness "home" x = 0;
