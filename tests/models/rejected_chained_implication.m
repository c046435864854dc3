-- expect: rejected
var x: boolean;
startstate begin x := false; end;
rule "chain" x -> x -> x ==> end;
