-- Both branches of ?: need one type. (rumur accepts it.)
-- expect: rejected
var x: 0 .. 1;
startstate begin x := 0; assert (x = 0 ? 1 : false) = 1; end;
