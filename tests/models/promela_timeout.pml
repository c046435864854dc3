// Timeout is true only where nothing else can happen.
// expect: holds
// states: 66
// rules: 102
// diameter: 16
chan line = [1] of { bit }; byte lost, sent;
active proctype S() { do :: sent < 3 -> line!1; sent++ :: timeout -> break od }
active proctype R() { end: do :: line?1 :: line?_ -> lost++ od }
