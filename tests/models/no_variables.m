-- A model without variables has one state.
-- expect: holds
-- options: --deadlock stuck
-- states: 1
-- rules: 1
-- diameter: 0
startstate begin end;
rule "stay" true ==> end;
