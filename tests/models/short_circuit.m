-- Operands that are not needed are not evaluated.
-- expect: holds
-- states: 2
-- rules: 2
-- diameter: 1
var u, f: boolean; i: 0 .. 9; a: array [0 .. 3] of boolean;
startstate
begin
  f := false;
  assert !(f & u) & (!f | u) & (f -> u) & (f ? u : true);
  a[0] := false; a[1] := true;
  assert exists i: 0 .. 3 do a[i] end;
  assert !forall i: 0 .. 3 do a[i] end;
  assert 1 > 2 -> 1 / (i + 0) = 1;
end;
rule "toggle" true ==> f := !f; end;
