-- All of a level is explored before the verdict; the least finding is reported.
-- expect: violated invariant "not three"
-- states: 7
-- rules: 6
-- diameter: 2
-- trace: 3
var x: 0 .. 9; depth: 0 .. 3;
startstate begin x := 0; depth := 0; end;
ruleset i: 0 .. 1 do
  rule "branch" depth < 3 ==> x := 2 * x + i + (depth = 0 ? 1 : 0); depth := depth + 1; end;
end;
invariant "not three" x != 3;
