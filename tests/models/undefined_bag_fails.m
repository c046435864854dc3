-- An undefined subrange, boolean or real does not go into a multiset, and does not come out of one. Every rule fails.
-- expect: violated runtime
-- options: --continue --deadlock off
-- message: small is undefined
-- states: 1
-- rules: 0
-- diameter: 0
type Small: 0 .. 3; Real: real(3, 10); Box: record small: Small; end;
var
  small: Small; flag: boolean; real: Real; box: Box; one: 1 .. 1;
  smalls: multiset [2] of Small; flags: multiset [2] of boolean; reals: multiset [2] of Real; boxes: multiset [1] of Box;
startstate begin one := 1; multisetadd(box, boxes); end;
rule "subrange" true ==> multisetadd(small, smalls); end;
rule "boolean" true ==> multisetadd(flag, flags); end;
rule "real" true ==> multisetadd(real, reals); end;
choose i: boxes do
  rule "element" true ==> small := boxes[i].small; end;
  rule "alias of an element" true ==> alias part: boxes[i].small do small := part; end; end;
end;
