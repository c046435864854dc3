-- External C functions are refused, and told so.
-- expect: rejected
-- message: extern
externfun f(x: 0 .. 1): boolean "f.h";
var x: 0 .. 1;
startstate begin x := 0; end;
