-- multisetremovepred takes away everything that satisfies a condition; multisetcount counts it.
-- expect: holds
-- states: 6
-- rules: 10
-- diameter: 2
type Item: record value: 0 .. 2; end;
var bag: multiset [2] of Item;
startstate begin clear bag; end;
ruleset v: 0 .. 1 do
  rule "add" multisetcount(i: bag, true) < 2 ==>
  var item: Item;
  begin item.value := v; multisetadd(item, bag); end;
end;
rule "drop ones" multisetcount(i: bag, bag[i].value = 1) > 0 ==>
  multisetremovepred(i: bag, bag[i].value = 1);
  assert multisetcount(i: bag, bag[i].value = 1) = 0;
end;
rule "clear" multisetcount(i: bag, bag[i].value = 0) = 2 ==> clear bag; end;
