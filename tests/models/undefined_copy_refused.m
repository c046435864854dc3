-- With --undefined error the same copy is a runtime error, as in rumur.
-- expect: violated runtime
-- options: --undefined error
-- message: undefined
-- states: 1
-- rules: 0
-- diameter: 0
var x, y: 0 .. 3;
startstate begin x := 0; end;
rule "copy" !isundefined(x) & isundefined(y) ==> x := y; end;
rule "give both" isundefined(x) ==> x := 1; y := 1; end;
rule "back" !isundefined(y) ==> undefine y; x := 0; end;
