// A process that waits at a label that begins with "end" is no deadlock.
// expect: holds
// states: 7
// rules: 6
// diameter: 6
#define LIMIT 3
inline raise(v) { v = v + 1 }
byte x; active proctype A() { end_here: do :: x < LIMIT -> raise(x) od }
