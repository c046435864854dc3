// A channel that a message carries is answered on; arrays of channels and channels in variables.
// expect: holds
// states: 27
// rules: 36
// diameter: 8
chan server = [1] of { chan, byte };
chan reply[2] = [0] of { byte };
byte sum;
active [2] proctype Client() { byte r; chan mine = reply[_pid]; server!mine(_pid); mine?r; sum = sum + r }
active proctype Server() { chan to; byte n; end: do :: server?to(n) -> to!n + 10 od }
