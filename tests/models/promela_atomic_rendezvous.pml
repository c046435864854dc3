// A rendezvous hands the privilege of an atomic sequence on to the receiver, if that is inside one too.
// expect: holds
// states: 99
// rules: 150
// diameter: 9
chan c = [0] of { byte }; byte x, y;
active proctype A() { atomic { x = 1; c!1; x = 3; x = 4 } }
active proctype B() { byte z; atomic { c?z; y = z; y = 2 } }
active proctype C() { x = 9; c!7 }
active proctype D() { byte z; c?z; y = z }
