-- A few thousand states in wide levels; some are violated.
const N: 11;
type side: 0 .. N;
var a, b, c, d: side;
startstate begin a := 0; b := 0; c := 0; d := 0; end;
rule "a" a < N ==> a := a + 1; end;
rule "b" b < N & b <= a ==> b := b + 1; end;
rule "c" c < N & c <= b ==> c := c + 1; end;
rule "d" d < N & d <= c ==> d := d + 1; end;
rule "back" a = N & d = N ==> a := 0; end;
invariant "corner" !(a = N - 2 & d = N - 2 & b != c);
invariant "other corner" !(a = N & b = N - 1 & c = N - 1);
