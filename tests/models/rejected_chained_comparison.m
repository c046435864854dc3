-- expect: rejected
var x: 0 .. 1;
startstate begin x := 0; end;
rule "chain" 0 < x < 2 ==> end;
