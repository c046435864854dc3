-- expect: rejected
var a: enum { P, Q };
startstate begin undefine a; end;
rule "less" a < Q ==> end;
