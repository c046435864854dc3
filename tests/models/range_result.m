-- What a function returns is checked against its result type.
-- expect: violated runtime
-- message: 2
-- states: 2
-- rules: 1
-- diameter: 1
var x: 0 .. 2;
function successor(y: 0 .. 2): 0 .. 1; begin return y + 1; end;
startstate begin x := 0; end;
rule "next" true ==> x := successor(x); end;
