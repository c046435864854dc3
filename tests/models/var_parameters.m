-- var formals are references, also to parts of aggregates, also passed on; others are copies.
-- expect: holds
-- states: 2
-- rules: 2
-- diameter: 1
type Pair: record a, b: 0 .. 9; end;
var p: Pair; q: array [boolean] of Pair;
procedure swap(var x, y: 0 .. 9);
var t: 0 .. 9;
begin t := x; x := y; y := t; end;
procedure swap_pair(var r: Pair); begin swap(r.a, r.b); end;
procedure keep(r: Pair; var s: Pair);
begin
  s.a := 9;
  assert r.a = 0 "r is a copy";
  s := r;
end;
function bump(var x: 0 .. 9): 0 .. 9; begin x := x + 1; return x; end;
startstate
begin
  p.a := 0; p.b := 1;
  q[false] := p; q[true] := p;
  keep(p, p);
  assert bump(q[true].b) = 2 & q[true].b = 2;
  q[true].b := 1;
  bump(q[true].a);
  assert q[true].a = 1;
  q[true].a := 0;
end;
rule "swap" true ==>
  swap_pair(p);
  swap_pair(q[p.a = 0]); swap_pair(q[p.a = 0]);
end;
