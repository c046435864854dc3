// An atomic sequence that blocks in the middle lets others go on, and is atomic again from there.
// expect: holds
// states: 15
// rules: 21
// diameter: 6
byte x, y;
active proctype A() { atomic { x = 1; if :: y == 1 :: y == 2 -> x = 5 fi; x = 3 } }
active proctype B() { y = 1; y = 2; y = 1 }
