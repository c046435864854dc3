-- return leaves a rule, a startstate or a procedure at once; what was done stands.
-- expect: holds
-- states: 2
-- rules: 2
-- diameter: 1
var x: 0 .. 3;
procedure set(v: 0 .. 3); begin x := v; return; error "not reached"; end;
startstate begin x := 0; return; x := 3; end;
rule "one" x = 0 ==> set(1); if x = 1 then return; end; x := 3; end;
rule "zero" x = 1 ==> for i: 0 .. 3 do x := i; return; end; end;
