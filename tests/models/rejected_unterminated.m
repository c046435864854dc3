-- expect: rejected
var x: 0 .. 1;
startstate begin x := 0;
