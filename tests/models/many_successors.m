-- More successors of one state than any buffer holds at once.
-- expect: holds
-- states: 1000
-- rules: 1000000
-- diameter: 1
-- interpreter: too slow
type Digit: 0 .. 9;
var a: array [0 .. 2] of Digit;
startstate begin for i: 0 .. 2 do a[i] := 0; end; end;
ruleset x: Digit; y: Digit; z: Digit do
  rule "set" true ==> a[0] := x; a[1] := y; a[2] := z; end;
end;
