-- Two scalarsets of one size do not mix: that would break both symmetries. (rumur accepts it.)
-- expect: rejected
type A: scalarset(2); B: scalarset(2);
var a: A; b: B;
startstate begin a := b; end;
