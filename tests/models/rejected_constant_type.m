-- A constant of another type than the model's.
-- expect: rejected
-- options: -D N=true
-- message: N
const N: 3;
var x: 0 .. N;
startstate begin x := 0; end;
