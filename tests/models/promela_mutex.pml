// Peterson's algorithm, with formulas that speak of labels and variables of processes.
// expect: holds
// states: 20
// rules: 34
// diameter: 6
bool flag[2]; bit turn;
active [2] proctype P() { bit me = _pid;
again: flag[me] = true; turn = 1 - me; (!flag[1 - me] || turn == me);
critical: flag[me] = false; goto again }
ltl exclusion { [] !(P[0]@critical && P[1]@critical) }
ltl progress_0 { [] (P[0]:me == 0 && flag[0] -> <> P[0]@critical) }
