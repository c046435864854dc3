-- A model without rules: its start state is a deadlock.
-- expect: violated deadlock
-- states: 1
-- rules: 0
-- diameter: 0
-- trace: 1
var x: boolean;
startstate begin x := true; end;
