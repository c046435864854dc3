-- A constant that the model does not have.
-- expect: rejected
-- options: -D M=3
-- message: M
const N: 3;
var x: 0 .. N;
startstate begin x := 0; end;
