-- With --max-errors the search goes past a violation.
-- expect: violated invariant "not three"
-- options: --max-errors 2
-- states: 6
-- rules: 6
-- diameter: 5
var x: 0 .. 5;
startstate begin x := 0; end;
rule "up" true ==> x := (x + 1) % 6; end;
invariant "not three" x != 3;
