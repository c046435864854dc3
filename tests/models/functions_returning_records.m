-- A function may return a record; an alias gives access to its parts.
-- expect: holds
-- states: 3
-- rules: 3
-- diameter: 2
type Pair: record a: 0 .. 2; b: array [0 .. 1] of boolean; end;
var p: Pair;
function next(q: Pair): Pair;
var r: Pair;
begin
  r := q;
  r.a := (q.a + 1) % 3;
  return r;
end;
startstate begin p.a := 0; for i: 0 .. 1 do p.b[i] := true; end; end;
rule "next"
  next(p) != p
==>
  alias after: next(p) do
    assert after.a != p.a & after.b[1];
    p := after;
  end;
end;
