-- Directory cache coherence, in the style of German's protocol.
--
-- Caches ask the home node for a shared or an exclusive copy of one memory line, over channels that hold one
-- message each. Home serves one request at a time: before it grants an exclusive copy it invalidates every sharer,
-- and before it grants a shared copy it takes an exclusive one back, whose holder returns the data. Nodes and values
-- are scalarsets, so the search visits one state of each orbit.
--
-- Things to try: drop the `& !exclusive_granted` from "grant shared" and read the trace.
--
-- expect: holds
-- states: 5235
-- rules: 21289
-- diameter: 26
-- states without symmetry: 58104
-- rules without symmetry: 235872

const
  NodeCount: 3;
  ValueCount: 2;

type
  Node: scalarset(NodeCount);
  Value: scalarset(ValueCount);
  Request: enum { NoRequest, WantShared, WantExclusive };
  Order: record  -- from home to a cache
    kind: enum { NoOrder, Invalidate, GrantShared, GrantExclusive };
    value: Value;
  end;
  Answer: record  -- from a cache to home
    kind: enum { NoAnswer, Invalidated };
    value: Value;  -- defined when the copy was exclusive
  end;
  Cache: record
    state: enum { Invalid, Shared, Exclusive };
    value: Value;
  end;

var
  cache: array [Node] of Cache;
  request: array [Node] of Request;
  order: array [Node] of Order;
  answer: array [Node] of Answer;

  -- Home.
  memory: Value;
  serving: Request;                 -- the request in progress
  client: Node;                     -- whose it is
  sharer: array [Node] of boolean;  -- may hold a copy
  to_invalidate: array [Node] of boolean;
  exclusive_granted: boolean;

  latest: Value;  -- what was written last: for the properties only

procedure send_order(n: Node; grants: Request);
begin
  if grants = WantShared then
    order[n].kind := GrantShared;
  else
    order[n].kind := GrantExclusive;
  end;
  order[n].value := memory;
  sharer[n] := true;
  exclusive_granted := grants = WantExclusive;
  serving := NoRequest;
  undefine client;
end;

ruleset v: Value do
  startstate "no copies"
  begin
    for n: Node do
      cache[n].state := Invalid;
      request[n] := NoRequest;
      order[n].kind := NoOrder;
      answer[n].kind := NoAnswer;
      sharer[n] := false;
      to_invalidate[n] := false;
    end;
    memory := v;
    latest := v;
    serving := NoRequest;
    exclusive_granted := false;
  end;
end;

-- What a cache does on its own account.

ruleset n: Node do

  rule "ask for a shared copy"
    request[n] = NoRequest & cache[n].state = Invalid
  ==>
    request[n] := WantShared;
  end;

  rule "ask for an exclusive copy"
    request[n] = NoRequest & cache[n].state != Exclusive
  ==>
    request[n] := WantExclusive;
  end;

  ruleset v: Value do
    rule "write"
      cache[n].state = Exclusive
    ==>
      cache[n].value := v;
      latest := v;
    end;
  end;

end;

-- What home does.

ruleset n: Node do

  rule "take up request"
    serving = NoRequest & request[n] != NoRequest
  ==>
    serving := request[n];
    client := n;
    request[n] := NoRequest;
    to_invalidate := sharer;
  end;

  rule "send invalidation"
    to_invalidate[n] & order[n].kind = NoOrder
    & (serving = WantExclusive | serving = WantShared & exclusive_granted)
  ==>
    order[n].kind := Invalidate;
    to_invalidate[n] := false;
  end;

  rule "receive answer"
    answer[n].kind = Invalidated
  ==>
    if exclusive_granted then
      memory := answer[n].value;
      exclusive_granted := false;
    end;
    sharer[n] := false;
    undefine answer[n];
    answer[n].kind := NoAnswer;
  end;

end;

rule "grant shared"
  serving = WantShared & !exclusive_granted & order[client].kind = NoOrder
==>
  send_order(client, WantShared);
end;

rule "grant exclusive"
  serving = WantExclusive & forall n: Node do !sharer[n] end & order[client].kind = NoOrder
==>
  send_order(client, WantExclusive);
end;

-- How a cache obeys.

ruleset n: Node do

  rule "receive grant"
    order[n].kind = GrantShared | order[n].kind = GrantExclusive
  ==>
    cache[n].state := order[n].kind = GrantShared ? Shared : Exclusive;
    cache[n].value := order[n].value;
    undefine order[n];
    order[n].kind := NoOrder;
  end;

  rule "obey invalidation"
    order[n].kind = Invalidate & answer[n].kind = NoAnswer
  ==>
    answer[n].kind := Invalidated;
    if cache[n].state = Exclusive then
      answer[n].value := cache[n].value;
    end;
    undefine cache[n];
    cache[n].state := Invalid;
    order[n].kind := NoOrder;
  end;

end;

invariant "an exclusive copy is the only copy"
  forall n: Node do
    cache[n].state = Exclusive -> forall m: Node do m != n -> cache[m].state = Invalid end
  end;

invariant "every copy is up to date"
  forall n: Node do cache[n].state != Invalid -> cache[n].value = latest end;

invariant "memory is up to date unless a copy is exclusive"
  !exclusive_granted -> memory = latest;

cover "all nodes share the line"
  forall n: Node do cache[n].state = Shared end;
