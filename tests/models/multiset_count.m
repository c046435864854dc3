-- Elements in two slots give two instances, equal or not.
-- expect: holds
-- states: 10
-- rules: 32
-- diameter: 3
type Item: 0 .. 1;
var bag: multiset [3] of Item;
startstate begin undefine bag; end;
ruleset v: Item do
  rule "add" multisetcount(i: bag, true) < 3 ==>
  var item: Item;
  begin item := v; multisetadd(item, bag); end;
end;
choose i: bag do
  rule "remove" true ==> multisetremove(i, bag); end;
end;
