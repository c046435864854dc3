-- Reading an undefined integer in an expression is an error, whatever --undefined says.
-- expect: violated runtime
-- message: undefined
-- states: 1
-- rules: 0
-- diameter: 0
var x, y: 0 .. 3;
startstate begin x := 0; end;
rule "add" true ==> x := y + 1; end;
