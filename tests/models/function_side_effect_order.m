-- Operands and arguments are evaluated from left to right.
-- expect: holds
-- states: 2
-- rules: 2
-- diameter: 1
var n: 0 .. 99; f: boolean;
function next(): 0 .. 99; begin n := n + 1; return n; end;
function pair(a, b, c: 0 .. 99): boolean; begin return a = 1 & b = 2 & c = 3; end;
startstate
var v: 0 .. 999;
begin
  f := false;
  n := 0;
  v := next() * 100 + next() * 10 + next();
  assert v = 123;
  n := 0;
  f := pair(next(), next(), next());
  assert f;
  n := 0;
end;
rule "toggle" true ==> f := !f; end;
