-- Functions may call themselves; locals are fresh at every call.
-- expect: holds
-- states: 2
-- rules: 2
-- diameter: 1
var done: boolean;
function factorial(n: 0 .. 20): 0 .. 3000000000000000000;
begin
  if n = 0 then return 1; end;
  return n * factorial(n - 1);
end;
function depth(n: 0 .. 20): 0 .. 20;
var mine: 0 .. 20;
begin
  assert isundefined(mine);
  mine := n;
  if n > 0 then
    assert depth(n - 1) = n - 1;
  end;
  return mine;
end;
procedure count_down(var n: 0 .. 20);
begin
  if n > 0 then n := n - 1; count_down(n); end;
end;
startstate
var n: 0 .. 20;
begin
  done := false;
  assert factorial(20) = 2432902008176640000;
  assert depth(5) = 5;
  n := 9;
  count_down(n);
  assert n = 0;
end;
rule "toggle" true ==> done := !done; end;
