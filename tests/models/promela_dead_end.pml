// A process that waits for ever outside an end label is an invalid end state.
// expect: violated deadlock
// states: 7
// rules: 6
// diameter: 6
byte x; active proctype A() { do :: x < 3 -> x++ od }
