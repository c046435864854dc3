-- clear gives the least value, undefine none.
-- expect: holds
-- states: 2
-- rules: 2
-- diameter: 1
type Thing: record n: -3 .. 3; c: enum { Red, Green }; f: boolean; a: array [0 .. 1] of 5 .. 6; end;
var t: Thing; m: multiset [2] of Thing; f: boolean;
startstate
begin
  clear t;
  assert t.n = -3 & t.c = Red & !t.f & t.a[1] = 5;
  multisetadd(t, m);
  undefine t.a;
  assert isundefined(t.a[0]) & !isundefined(t.n);
  undefine t;
  assert isundefined(t.n) & isundefined(t.c) & isundefined(t.f);
  t.n := undefined;
  clear m;
  assert multisetcount(i: m, true) = 0;
  f := false;
end;
rule "toggle" true ==> f := !f; end;
