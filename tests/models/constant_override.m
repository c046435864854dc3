-- Constants given on the command line, and what follows from them.
-- expect: holds
-- options: -D N=4 -D Fast=true
-- states: 4
-- rules: 4
-- diameter: 3
const N: 2; Double: 2 * N; Fast: false;
var x: 0 .. Double - 1;
startstate begin x := 0; end;
rule "round" true ==> x := (x + (Fast ? 2 : 1)) % Double; end;
