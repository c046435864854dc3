-- expect: rejected
-- message: liveness
var x: 0 .. 1;
startstate begin x := 0; liveness x = 0; end;
