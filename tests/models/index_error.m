-- An index outside the index type.
-- expect: violated runtime
-- message: 3
-- states: 3
-- rules: 2
-- diameter: 2
var a: array [0 .. 2] of boolean; i: 0 .. 2;
startstate begin for j: 0 .. 2 do a[j] := false; end; i := 0; end;
rule "next" true ==> a[i + 1] := true; i := i + 1; end;
