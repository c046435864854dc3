-- Loop variables and ruleset parameters are read-only. (rumur accepts it.)
-- expect: rejected
-- message: i
var x: 0 .. 1;
startstate begin for i: 0 .. 1 do i := 0; end; end;
