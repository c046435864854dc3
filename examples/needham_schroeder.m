-- The Needham-Schroeder public key protocol, and Lowe's attack on it.
--
--   1. initiator -> responder:  { Ni, initiator } encrypted for the responder
--   2. responder -> initiator:  { Ni, Nr }        encrypted for the initiator
--   3. initiator -> responder:  { Nr }            encrypted for the responder
--
-- Both sides then believe that they talk to each other, because nobody else can have read the nonces Ni and Nr. The
-- intruder sees and removes every message on the network, reads those encrypted for it, and sends everything that it
-- can compose or has overheard. When an initiator starts an honest session with the intruder, the intruder uses it to
-- pose as that initiator towards a responder, which then shares its nonce with the wrong partner. The trace is the
-- attack.
--
-- Each agent has one nonce, named by its agent: a union of scalarsets and an enumeration. The network and the notes of
-- the intruder are multisets, because the order of messages does not matter.
--
-- The attack as a picture, in which a message goes to the owner of its key:
--   outcrop check needham_schroeder.m --chart --message network:actor:key
--
-- Things to try: let message 2 carry the responder's name and let the initiator check it (Lowe's repair). The
-- invariants then hold (150,238 states).
--
-- expect: violated invariant "the responder's partner is who it seems"
-- states: 4307
-- rules: 6586
-- diameter: 8
-- trace: 9

const
  InitiatorCount: 1;
  ResponderCount: 1;
  NetworkSize: 1;
  NotesSize: 2;

type
  Initiator: scalarset(InitiatorCount);
  Responder: scalarset(ResponderCount);
  Intruder: enum { Mallory };
  Agent: union { Initiator, Responder, Intruder };

  MessageKind: enum { Hello, Challenge, Confirmation };  -- messages 1, 2 and 3
  Message: record
    kind: MessageKind;
    key: Agent;     -- only this agent can read the nonces
    nonce: Agent;   -- Ni, Ni, Nr
    second: Agent;  -- the initiator's name, Nr, undefined
  end;

  Session: record
    state: enum { Fresh, Waiting, Committed };
    partner: Agent;
  end;

var
  initiator: array [Initiator] of Session;
  responder: array [Responder] of Session;
  network: multiset [NetworkSize] of Message;
  notes: multiset [NotesSize] of Message;  -- what the intruder overheard but cannot read
  knows: array [Agent] of boolean;         -- whose nonce the intruder knows

procedure send(kind: MessageKind; key: Agent; nonce: Agent; second: Agent);
var
  message: Message;
begin
  message.kind := kind;
  message.key := key;
  message.nonce := nonce;
  if !isundefined(second) then  -- a confirmation has none
    message.second := second;
  end;
  multisetadd(message, network);
end;

function network_free(): boolean;
begin
  return multisetcount(m: network, true) < NetworkSize;
end;

startstate "nobody has spoken"
begin
  for i: Initiator do
    initiator[i].state := Fresh;
  end;
  for r: Responder do
    responder[r].state := Fresh;
  end;
  for a: Agent do
    knows[a] := ismember(a, Intruder);
  end;
end;

-- The honest initiator.

ruleset i: Initiator; a: Agent do
  rule "initiator says hello"
    initiator[i].state = Fresh & !ismember(a, Initiator) & network_free()
  ==>
    initiator[i].state := Waiting;
    initiator[i].partner := a;
    send(Hello, a, i, i);
  end;
end;

ruleset i: Initiator do
  choose m: network do
    rule "initiator confirms"
      initiator[i].state = Waiting & network[m].kind = Challenge & network[m].key = i & network[m].nonce = i
    ==>
    var
      challenge: Agent;
    begin
      challenge := network[m].second;
      multisetremove(m, network);
      initiator[i].state := Committed;
      send(Confirmation, initiator[i].partner, challenge, undefined);
    end;
  end;
end;

-- The honest responder.

ruleset r: Responder do
  choose m: network do

    rule "responder challenges"
      responder[r].state = Fresh & network[m].kind = Hello & network[m].key = r
    ==>
    var
      nonce: Agent;
    begin
      nonce := network[m].nonce;
      responder[r].state := Waiting;
      responder[r].partner := network[m].second;
      multisetremove(m, network);
      send(Challenge, responder[r].partner, nonce, r);
    end;

    rule "responder accepts"
      responder[r].state = Waiting & network[m].kind = Confirmation & network[m].key = r & network[m].nonce = r
    ==>
      responder[r].state := Committed;
      multisetremove(m, network);
    end;

  end;
end;

-- The intruder.

choose m: network do

  rule "intruder reads"
    ismember(network[m].key, Intruder)
  ==>
    knows[network[m].nonce] := true;
    if network[m].kind = Challenge then
      knows[network[m].second] := true;
    end;
    multisetremove(m, network);
  end;

  rule "intruder overhears"
    !ismember(network[m].key, Intruder) & multisetcount(n: notes, notes[n] = network[m]) = 0
    & multisetcount(n: notes, true) < NotesSize
  ==>
    multisetadd(network[m], notes);
    multisetremove(m, network);
  end;

  rule "intruder destroys"
    true
  ==>
    multisetremove(m, network);
  end;

end;

choose n: notes do
  rule "intruder repeats"
    network_free()
  ==>
    multisetadd(notes[n], network);
  end;
end;

ruleset target: Agent; nonce: Agent do

  ruleset name: Agent do

    rule "intruder says hello"
      ismember(target, Responder) & knows[nonce] & !ismember(name, Responder) & network_free()
    ==>
      send(Hello, target, nonce, name);
    end;

    rule "intruder challenges"
      ismember(target, Initiator) & knows[nonce] & knows[name] & network_free()
    ==>
      send(Challenge, target, nonce, name);
    end;

  end;

  rule "intruder confirms"
    ismember(target, Responder) & knows[nonce] & network_free()
  ==>
    send(Confirmation, target, nonce, undefined);
  end;

end;

invariant "the initiator's partner is who it seems"
  forall i: Initiator do
    forall r: Responder do
      initiator[i].state = Committed & initiator[i].partner = r ->
        responder[r].state != Fresh & responder[r].partner = i
    end
  end;

invariant "the responder's partner is who it seems"
  forall r: Responder do
    forall i: Initiator do
      responder[r].state = Committed & responder[r].partner = i ->
        initiator[i].state = Committed & initiator[i].partner = r
    end
  end;
