-- put prints and changes nothing.
-- expect: holds
-- states: 2
-- rules: 2
-- diameter: 1
var x: 0 .. 1; a: array [boolean] of record c: enum { Red }; end;
startstate begin x := 0; put "start\n"; put a; end;
rule "toggle" true ==> put x; put x + 1; x := 1 - x; end;
