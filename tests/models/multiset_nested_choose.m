-- A choose inside a choose pairs elements of two multisets; elements can be written in place.
-- expect: holds
-- states: 13
-- rules: 22
-- diameter: 9
type Item: 0 .. 2; Bag: multiset [2] of Item;
var left, right: Bag;
startstate
var item: Item;
begin
  item := 0;
  multisetadd(item, left);
  multisetadd(item, right);
  multisetadd(item, right);
end;
choose i: left do
  choose j: right do
    rule "raise left" left[i] = right[j] & left[i] < 2 ==> left[i] := left[i] + 1; end;
    rule "raise right" left[i] > right[j] ==> right[j] := right[j] + 1; end;
    rule "again" left[i] = 2 & right[j] = 2 ==> left[i] := 0; right[j] := 0; end;
  end;
end;
