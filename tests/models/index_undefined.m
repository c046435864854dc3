-- An undefined index.
-- expect: violated runtime
-- message: undefined
-- states: 1
-- rules: 0
-- diameter: 0
var a: array [0 .. 2] of boolean; i: 0 .. 2;
startstate begin clear a; end;
rule "use" true ==> a[i] := true; end;
