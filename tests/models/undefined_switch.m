-- Switching on an undefined enumeration value is an error.
-- expect: violated runtime
-- message: undefined
-- states: 1
-- rules: 0
-- diameter: 0
var colour: enum { Red, Green };
startstate begin undefine colour; end;
rule "switch" true ==> switch colour case Red: colour := Green; else colour := Red; end; end;
