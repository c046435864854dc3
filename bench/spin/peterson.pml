/* Peterson's algorithm for N processes, rule for rule as in peterson.m. */
#define N 5
#define IS_FIRST ((_pid == 0 || Q[0] < j) && (_pid == 1 || Q[1] < j) && (_pid == 2 || Q[2] < j) && (_pid == 3 || Q[3] < j) && (_pid == 4 || Q[4] < j))

byte Q[N], turn[N];

active [N] proctype P() {
  byte j = 1;
L0: atomic { j = 1; goto L1 }
L1: atomic { Q[_pid] = j; goto L2 }
L2: atomic { turn[j] = _pid; goto L3 }
L3: atomic { (IS_FIRST || turn[j] != _pid) -> j = j + 1; if :: j < N -> goto L1 :: else -> goto L4 fi }
L4: atomic { Q[_pid] = 0; goto L0 }
}

/* Again and again some process is in its critical section. */
ltl progress { []<> (P[0]@L4 || P[1]@L4 || P[2]@L4 || P[3]@L4 || P[4]@L4) }
