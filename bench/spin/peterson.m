-- Peterson's algorithm for N processes, rule for rule as in peterson.pml.
const N: 5;
type
  process: 0..N-1;
  label: enum { L0, L1, L2, L3, L4 };
var
  P: array [process] of label;
  j: array [process] of 1..N;
  Q: array [process] of 0..N-1;
  turn: array [1..N-1] of process;

startstate
  for i: process do P[i] := L0; j[i] := 1; Q[i] := 0; end;
  for k: 1..N-1 do turn[k] := 0; end;
end;

ruleset i: process do
  rule P[i] = L0 ==> j[i] := 1; P[i] := L1; end;
  rule P[i] = L1 ==> Q[i] := j[i]; P[i] := L2; end;
  rule P[i] = L2 ==> turn[j[i]] := i; P[i] := L3; end;
  rule P[i] = L3 & ((forall k: process do k = i | Q[k] < j[i] end) | turn[j[i]] != i) ==>
    j[i] := j[i] + 1;
    if j[i] < N then P[i] := L1; else P[i] := L4; end;
  end;
  rule P[i] = L4 ==> Q[i] := 0; P[i] := L0; end;
end;

-- Again and again some process is in its critical section.
ltl "progress": G F {exists i: process do P[i] = L4 end};
