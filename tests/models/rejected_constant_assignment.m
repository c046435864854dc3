-- expect: rejected
-- message: N
const N: 1;
startstate begin N := 2; end;
