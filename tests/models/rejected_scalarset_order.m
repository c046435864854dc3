-- expect: rejected
type A: scalarset(2);
var a, b: A;
startstate begin undefine a; end;
rule "less" a < b ==> end;
