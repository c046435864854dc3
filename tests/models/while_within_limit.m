-- The limit itself is allowed, and counts for each execution of the loop anew.
-- expect: holds
-- options: --while-limit 100
-- states: 2
-- rules: 2
-- diameter: 1
var x: 0 .. 1;
startstate begin x := 0; end;
rule "count twice"
  true
==>
var i: 0 .. 100;
begin
  i := 0;
  while i < 100 do i := i + 1; end;
  while i > 0 do i := i - 1; end;
  x := 1 - x;
end;
