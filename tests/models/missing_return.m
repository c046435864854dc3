-- Falling off the end of a function is an error.
-- expect: violated runtime
-- message: positive
-- states: 2
-- rules: 1
-- diameter: 1
var x: 0 .. 2;
function positive(y: 0 .. 2): 0 .. 2;
begin
  if y > 0 then return y - 1; end;
end;
startstate begin x := 1; end;
rule "down" true ==> x := positive(x); end;
