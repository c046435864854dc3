-- Constant bounds the wrong way round are a mistake.
-- expect: rejected
var x: 0 .. 9;
startstate begin for i := 5 to 1 do x := i; end; end;
