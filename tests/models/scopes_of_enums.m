-- Members of a local enumeration hide global names and end with their scope.
-- expect: holds
-- states: 2
-- rules: 2
-- diameter: 1
var colour: enum { Red, Green };
procedure look();
type Traffic: enum { Green, Yellow };
var light: Traffic;
begin
  light := Green;
  assert light = Green & light != Yellow;
end;
startstate begin colour := Red; end;
rule "toggle" true ==> look(); colour := colour = Red ? Green : Red; end;
