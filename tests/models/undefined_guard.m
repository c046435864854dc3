-- ... in a guard too.
-- expect: violated runtime
-- message: undefined
-- states: 1
-- rules: 1
-- diameter: 0
var x: 0 .. 3; flag: boolean;
startstate begin x := 0; end;
rule "never" flag ==> x := 1; end;
rule "stay" true ==> x := 0; end;
