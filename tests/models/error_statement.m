-- An error statement ends the search with its text.
-- expect: violated error
-- message: cannot happen
-- states: 2
-- rules: 3
-- diameter: 1
var x: 0 .. 1;
startstate begin x := 0; end;
rule "up" x = 0 ==> x := 1; end;
rule "fail" x = 1 ==> error "cannot happen"; end;
rule "stay" true ==> end;
