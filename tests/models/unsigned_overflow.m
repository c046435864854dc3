-- Past 2**64 - 1 there is nothing.
-- expect: violated runtime
-- message: 64 bits
const Most: 0xfffffffffffffffe;
var x: 0 .. Most;
startstate begin x := Most; end;
rule "next" x + 2 > 0 ==> x := 0; end;
