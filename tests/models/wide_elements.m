-- Elements of 63 bits: each of them, and of a field and of a multiset, keeps its least and its largest value.
-- expect: holds
-- options: --deadlock off
-- states: 96
-- rules: 400
-- diameter: 7
type wide: -2305843009213693952 .. 2305843009213693951;
var a: array [0 .. 2] of wide; r: array [0 .. 1] of record flag: boolean; x: wide; end; m: multiset [2] of wide;
startstate begin
  for i: 0 .. 2 do a[i] := 7; end;
  for i: 0 .. 1 do r[i].flag := false; r[i].x := 7; end;
  undefine m;
end;
ruleset i: 0 .. 2 do
  rule "largest" a[i] = 7 ==> a[i] := 2305843009213693951; end;
end;
ruleset i: 0 .. 1 do
  rule "least" r[i].x = 7 ==> r[i].x := -2305843009213693952; r[i].flag := true; end;
end;
rule "stay" true ==> a[0] := a[0]; end;
rule "add" multisetcount(k: m, true) < 2 ==> multisetadd(2305843009213693951, m); end;
invariant "kept" forall i: 0 .. 2 do a[i] = 7 | a[i] = 2305843009213693951 end;
invariant "flags" forall i: 0 .. 1 do r[i].flag = (r[i].x = -2305843009213693952) end;
invariant "members" multisetcount(k: m, m[k] = 2305843009213693951) = multisetcount(k: m, true);
