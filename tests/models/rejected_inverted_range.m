-- expect: rejected
var x: 5 .. 1;
startstate begin end;
