-- A directory protocol that gives a memory line to one cache at a time.
--
-- The finished model of the tutorial `outcrop docs protocol`, which builds it step by step. Caches ask the directory
-- for the line with Get and receive it with Grant. The directory takes the line back with Recall, and a cache may give
-- it back on its own account with Release. The network keeps no order: any message may arrive next.
--
-- Things to try: let a cache that evicts the line become Invalid at once, without waiting for an Ack.
--
-- expect: holds
-- states: 146
-- rules: 360
-- diameter: 12

const
  NodeCount: 2;
  NetworkSize: 2 * NodeCount;

type
  Node: scalarset(NodeCount);
  Value: scalarset(2);

  CacheState: enum { Invalid, Waiting, Holding, Evicting };

  Kind: enum { Get, Grant, Recall, Release, Ack };

  Message: record
    kind: Kind;
    node: Node;  -- the cache that sent the message, or that the message is for
    value: Value;
  end;

var
  cache: array [Node] of CacheState;
  copy: array [Node] of Value;  -- undefined in a cache that does not hold the line
  latest: Value;
  network: multiset [NetworkSize] of Message;

  -- The directory.
  memory: Value;
  owner: Node;  -- the cache that has the line; undefined when there is none
  next: Node;   -- the cache that gets the line after a Recall; undefined when there is none

procedure send(kind: Kind; n: Node);
var message: Message;
begin
  message.kind := kind;
  message.node := n;
  multisetadd(message, network);
end;

procedure send_data(kind: Kind; n: Node; value: Value);
var message: Message;
begin
  message.kind := kind;
  message.node := n;
  message.value := value;
  multisetadd(message, network);
end;

ruleset v: Value do
  startstate "nobody has the line"
  begin
    for n: Node do
      cache[n] := Invalid;
    end;
    memory := v;
    latest := v;
  end;
end;

-- Caches.

ruleset n: Node do
  rule "cache asks for the line"
    cache[n] = Invalid
  ==>
    cache[n] := Waiting;
    send(Get, n);
  end;
end;

choose i: network do
  rule "cache receives Grant"
    network[i].kind = Grant
  ==>
  var n: Node;
  begin
    n := network[i].node;
    copy[n] := network[i].value;
    multisetremove(i, network);
    cache[n] := Holding;
  end;

  rule "cache receives Recall"
    network[i].kind = Recall & (cache[network[i].node] = Holding | cache[network[i].node] = Evicting)
  ==>
  var n: Node;
  begin
    n := network[i].node;
    multisetremove(i, network);
    if cache[n] = Holding then
      send_data(Release, n, copy[n]);
      undefine copy[n];
    end;
    cache[n] := Invalid;
  end;

  rule "cache receives Ack"
    network[i].kind = Ack
  ==>
  var n: Node;
  begin
    n := network[i].node;
    multisetremove(i, network);
    cache[n] := Invalid;
  end;
end;

ruleset n: Node; v: Value do
  rule "processor writes"
    cache[n] = Holding
  ==>
    copy[n] := v;
    latest := v;
  end;
end;

ruleset n: Node do
  rule "cache evicts the line"
    cache[n] = Holding
  ==>
    cache[n] := Evicting;
    send_data(Release, n, copy[n]);
    undefine copy[n];
  end;
end;

-- The directory.

choose i: network do
  rule "directory receives Get"
    network[i].kind = Get & isundefined(next)
  ==>
  var n: Node;
  begin
    n := network[i].node;
    multisetremove(i, network);
    if isundefined(owner) then
      owner := n;
      send_data(Grant, n, memory);
    else
      next := n;
      send(Recall, owner);
    end;
  end;
end;

choose i: network do
  rule "directory receives Release"
    network[i].kind = Release
  ==>
  var n: Node;
  begin
    n := network[i].node;
    memory := network[i].value;
    multisetremove(i, network);
    if isundefined(next) then
      undefine owner;
      send(Ack, n);
    else
      owner := next;
      undefine next;
      send_data(Grant, owner, memory);
    end;
  end;
end;

-- Properties.

invariant "one holder"
  forall n: Node; m: Node do
    n != m -> !(cache[n] = Holding & cache[m] = Holding)
  end;

invariant "the copy is up to date"
  forall n: Node do cache[n] = Holding -> copy[n] = latest end;

cover "everybody waits"
  forall n: Node do cache[n] = Waiting end;

ruleset n: Node do
  liveness "a node can get the line"
    cache[n] = Holding;
end;
