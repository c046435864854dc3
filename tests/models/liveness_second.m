-- The first property holds, the second does not: each has marks of its own.
-- expect: violated liveness "one"
-- states: 4
-- rules: 4
-- diameter: 3
-- trace: 3
var x: 0 .. 3;
startstate begin x := 0; end;
rule "on" x < 3 ==> x := x + 1; end;
rule "back" x = 3 ==> x := 2; end;
liveness "three" x = 3;
liveness "one" x = 1;
