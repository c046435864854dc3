-- Adding to a full multiset is an error.
-- expect: violated runtime
-- message: full
-- states: 3
-- rules: 2
-- diameter: 2
type Item: 0 .. 0;
var bag: multiset [2] of Item; item: Item;
startstate begin item := 0; end;
rule "add" true ==> multisetadd(item, bag); end;
