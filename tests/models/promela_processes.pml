// Processes begin with run and end in the order of their youth; numbers are used again.
// expect: holds
// states: 1278
// rules: 2759
// diameter: 24
byte x, last;
proctype Z(byte a; short b) { byte q = a + 1; x = q - b }
init { byte k = 3; pid p; p = run Z(k, -1); last = p; do :: k < 5 -> byte w = k; w++; k++ :: else -> break od; x = w; run Z(1, 1) }
active [2] proctype A() { x = 10 + _pid; (_nr_pr < 4) }
