-- rumur's spelling: the text before the condition, and `invariant` as a statement.
-- expect: violated assertion
-- message: x stays small
-- states: 3
-- rules: 2
-- diameter: 2
var x: 0 .. 9;
startstate begin x := 0; end;
rule "up" true ==> invariant "x stays small" x < 2; x := x + 1; end;
