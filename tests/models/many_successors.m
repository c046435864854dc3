-- More successors of one state than a buffer holds at once, which for states of this size is 128.
-- expect: holds
-- states: 150
-- rules: 22500
-- diameter: 1
type Value: 0 .. 149;
var
  value: Value;
  large: array [0 .. 519] of 0 .. 254;
startstate begin clear large; value := 0; end;
ruleset x: Value do
  rule "set" true ==> value := x; end;
end;
