-- A cover property that no state meets.
-- expect: violated cover "seven"
-- states: 3
-- rules: 3
-- diameter: 2
var x: 0 .. 9;
startstate begin x := 0; end;
rule "round" true ==> x := (x + 1) % 3; end;
cover "one" x = 1;
cover "seven" x = 7;
