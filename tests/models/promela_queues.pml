// Sorted sends, random receives, peeks and polls.
// expect: holds
// states: 10
// rules: 9
// diameter: 9
mtype = { low, middle, high };
chan q = [3] of { mtype, byte }; byte seen, last;
active proctype P() { q!!high(1); q!!low(2); q!!middle(3) }
active proctype C() { byte n; mtype m;
  q??middle(n); seen = n;
  if :: q?[low(_)] -> q?<m, n>; last = n :: nempty(q) -> q?m, eval(1); last = m :: else fi;
  end: q?m, n; goto end
}
