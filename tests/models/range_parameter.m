-- A by-value argument is checked against the range of its formal.
-- expect: violated runtime
-- message: 2
-- states: 2
-- rules: 1
-- diameter: 1
var x: 0 .. 2;
procedure store(y: 0 .. 1); begin x := y; end;
startstate begin x := 0; end;
rule "store" true ==> store(x + 1); end;
