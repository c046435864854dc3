-- Leader election in a one-way ring (Chang and Roberts).
--
-- Every station has its own identity, which it draws when it wakes, so that the search covers every arrangement of
-- identities in the ring. A station that wakes sends its identity. A station passes a larger identity on, drops a
-- smaller one, and becomes the leader when it receives its own. When the ring is quiet, the leader may retire, and
-- everything starts over.
-- A run that elects nobody would therefore be a deadlock.
--
-- Things to try: -D Size=5, and sending smaller identities on instead of larger ones.
--
-- expect: holds
-- states: 1309
-- rules: 3020
-- diameter: 14

const
  Size: 4;

type
  Station: 0 .. Size - 1;
  Identity: 1 .. Size;
  Queue: record
    length: 0 .. Size;
    item: array [Station] of Identity;
  end;

var
  identity: array [Station] of Identity;  -- undefined: asleep
  inbox: array [Station] of Queue;
  leader: array [Station] of boolean;

function neighbour(s: Station): Station;
begin
  return (s + 1) % Size;
end;

procedure send(var queue: Queue; id: Identity);
begin
  queue.item[queue.length] := id;
  queue.length := queue.length + 1;
end;

-- Slots past the end are undefined again, so that equal queues are equal states.
function receive(var queue: Queue): Identity;
var
  first: Identity;
begin
  first := queue.item[0];
  queue.length := queue.length - 1;
  for i: Station do
    if i < queue.length then
      queue.item[i] := queue.item[i + 1];
    end;
  end;
  undefine queue.item[queue.length];
  return first;
end;

procedure sleep();
begin
  undefine identity;
  for s: Station do
    inbox[s].length := 0;
    leader[s] := false;
  end;
end;

startstate "all asleep"
begin
  sleep();
end;

ruleset s: Station do

  ruleset id: Identity do
    rule "wake"
      isundefined(identity[s]) & forall t: Station do isundefined(identity[t]) | identity[t] != id end
    ==>
      identity[s] := id;
      send(inbox[neighbour(s)], id);
    end;
  end;

  rule "receive"
    !isundefined(identity[s]) & inbox[s].length > 0
  ==>
  var
    id: Identity;
  begin
    id := receive(inbox[s]);
    if id > identity[s] then
      send(inbox[neighbour(s)], id);
    elsif id = identity[s] then
      leader[s] := true;
    end;
  end;

  rule "retire"
    leader[s] & forall t: Station do inbox[t].length = 0 end
  ==>
    sleep();
  end;

end;

invariant "at most one leader"
  forall s: Station do forall t: Station do leader[s] & leader[t] -> s = t end end;

invariant "the leader has the largest identity"
  forall s: Station do
    leader[s] -> forall t: Station do !isundefined(identity[t]) & identity[t] <= identity[s] end
  end;

liveness "a leader can always be elected"
  exists s: Station do leader[s] end;
