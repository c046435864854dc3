-- Constants, types and variables can be local to rules and functions.
-- expect: holds
-- states: 4
-- rules: 4
-- diameter: 3
var x: 0 .. 3;
function next(v: 0 .. 3): 0 .. 3;
const Step: 1;
type Wide: 0 .. 2 * (Step + 3);
var sum: Wide;
begin
  sum := v + Step;
  return sum % 4;
end;
startstate const Zero: 0; begin x := Zero; end;
rule "next" true ==>
  const Extra: 4;
  var y: 0 .. Extra;
begin
  assert isundefined(y);
  y := next(x);
  x := y;
end;
