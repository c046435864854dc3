-- Several mistakes, all of them reported.
-- expect: rejected
-- message: nowhere
-- message: nothing
-- message: nobody
var x: 0 .. 1;
startstate begin nowhere := 1; end;
rule "one" nothing = 1 ==> x := 1; end;
rule "two" true ==> nobody(); end;
