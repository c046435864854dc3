-- A few thousand states in wide levels; some are violated.
type side: 0 .. 11;
var a, b, c, d: side;
startstate begin a := 0; b := 0; c := 0; d := 0; end;
rule "a" a < 11 ==> a := a + 1; end;
rule "b" b < 11 & b <= a ==> b := b + 1; end;
rule "c" c < 11 & c <= b ==> c := c + 1; end;
rule "d" d < 11 & d <= c ==> d := d + 1; end;
rule "back" a = 11 & d = 11 ==> a := 0; end;
invariant "corner" !(a = 9 & d = 9 & b != c);
invariant "other corner" !(a = 11 & b = 10 & c = 10);
