-- Clearing a scalarset would single out a value. (rumur accepts it.)
-- expect: rejected
-- message: clear
type A: scalarset(2);
var a: record x: boolean; y: A; end;
startstate begin clear a; end;
