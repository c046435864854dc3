-- Records and arrays compare leaf by leaf; undefined equals undefined.
-- expect: holds
-- states: 2
-- rules: 2
-- diameter: 1
type Pair: record a, b: 0 .. 3; end;
var p, q: Pair; s, t: array [boolean] of Pair; f: boolean;
startstate
begin
  assert p = q & s = t;
  p.a := 1;
  assert p != q;
  q.a := 1;
  assert p = q;
  s[true] := p;
  assert s != t & s[true] = q & s[true] != t[true];
  t := s;
  assert s = t & isundefined(t[true].b) & isundefined(t[false].a);
  f := false;
end;
rule "toggle" true ==> f := !f; end;
