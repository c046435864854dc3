-- By default an undefined simple value may be copied, as in CMurphi.
-- expect: holds
-- states: 3
-- rules: 3
-- diameter: 2
var x, y: 0 .. 3;
startstate begin x := 0; end;
rule "copy" !isundefined(x) & isundefined(y) ==> x := y; end;
rule "give both" isundefined(x) ==> x := 1; y := 1; end;
rule "back" !isundefined(y) ==> undefine y; x := 0; end;
