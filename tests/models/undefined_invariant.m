-- ... and in an invariant.
-- expect: violated runtime
-- message: undefined
-- states: 2
-- rules: 1
-- diameter: 1
var x: boolean;
startstate begin x := true; end;
rule "forget" true ==> undefine x; end;
invariant "x" x;
