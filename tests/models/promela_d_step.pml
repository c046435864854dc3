// A d_step is one step, with loops and choices inside.
// expect: holds
// states: 85
// rules: 123
// diameter: 15
byte x, total;
active proctype A() { byte i; d_step { i = 0; do :: i < 4 -> total = total + i; i++ :: else -> break od; x = total }; x = 4 }
active proctype B() { byte i; for (i : 1 .. 3) { x++ } }
