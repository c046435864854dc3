-- A state in which an assumption cannot be evaluated meets no cover goal.
-- expect: violated runtime
-- options: --continue
-- message: undefined
-- states: 2
-- rules: 4
-- diameter: 1
var x: 0 .. 1; f: boolean;
startstate begin x := 0; f := true; end;
rule true ==> undefine x; end;
rule true ==> x := 0; end;
assume x = 0;
cover "f" f;
