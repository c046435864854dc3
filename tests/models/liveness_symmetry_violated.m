-- ... nor hidden by it: here the owner never changes.
-- expect: violated liveness "everybody gets it"
-- states without symmetry: 5
type Node: scalarset(2);
var owner: Node; flag: boolean;
startstate begin flag := false; end;
ruleset n: Node do
  rule "take" isundefined(owner) ==> owner := n; end;
  rule "toggle" !isundefined(owner) & owner = n ==> flag := !flag; end;
  liveness "everybody gets it" !isundefined(owner) & owner = n;
end;
