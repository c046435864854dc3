-- expect: rejected
-- message: x
var x: 0 .. 1;
var x: boolean;
startstate begin end;
