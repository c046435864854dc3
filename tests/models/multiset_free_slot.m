-- A multiset element that was removed in the same rule cannot be read any more.
-- expect: violated runtime
-- states: 1
-- rules: 0
-- diameter: 0
type Item: 0 .. 1;
var bag: multiset [2] of Item;
startstate var item: Item; begin item := 0; multisetadd(item, bag); end;
choose i: bag do
  rule "twice" true ==> multisetremove(i, bag); multisetremove(i, bag); end;
end;
