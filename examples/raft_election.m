-- Elections of Raft.
--
-- A server that hears nothing becomes a candidate of the next term, votes for itself and asks the others. A server
-- votes once in a term. A candidate with a majority is the leader of its term. Whoever meets a higher term follows.
-- Messages are kept in a multiset: they may overtake one another.
--
-- Things to try: forget to set voted_for in "answer", and read the trace.
--
-- expect: holds
-- states: 2806
-- rules: 16148
-- diameter: 16
-- states without symmetry: 16594
-- rules without symmetry: 95518

const
  ServerCount: 3;
  MostTerms: 2;
  MostMessages: 4;

type
  Server: scalarset(ServerCount);
  Term: 0 .. MostTerms;
  Role: enum { Follower, Candidate, Leader };
  Kind: enum { RequestVote, GrantVote };
  Message: record
    kind: Kind;
    term: Term;
    sender: Server;
    receiver: Server;
  end;

var
  role: array [Server] of Role;
  term: array [Server] of Term;
  voted_for: array [Server] of Server;
  votes: array [Server] of array [Server] of boolean;
  network: multiset [MostMessages] of Message;

function pending(): 0 .. MostMessages;
begin
  return multisetcount(i: network, true);
end;

procedure send(kind: Kind; t: Term; sender: Server; receiver: Server);
var
  message: Message;
begin
  message.kind := kind;
  message.term := t;
  message.sender := sender;
  message.receiver := receiver;
  multisetadd(message, network);
end;

procedure follow(s: Server; t: Term);
begin
  if t > term[s] then
    term[s] := t;
    role[s] := Follower;
    undefine voted_for[s];
    for v: Server do votes[s][v] := false; end;
  end;
end;

procedure begin_again();
begin
  for s: Server do
    role[s] := Follower;
    term[s] := 0;
    undefine voted_for[s];
    for v: Server do votes[s][v] := false; end;
  end;
end;

startstate "all follow"
begin
  begin_again();
end;

-- Terms go on for ever; here they are counted anew.
rule "begin again"
  pending() = 0 & forall s: Server do role[s] = Leader | term[s] = MostTerms end
==>
  begin_again();
end;

ruleset s: Server do

  rule "time out"
    role[s] != Leader & term[s] < MostTerms & pending() + ServerCount - 1 <= MostMessages
  ==>
    term[s] := term[s] + 1;
    role[s] := Candidate;
    voted_for[s] := s;
    for v: Server do votes[s][v] := false; end;
    votes[s][s] := true;
    for r: Server do
      if r != s then send(RequestVote, term[s], s, r); end;
    end;
  end;

end;

choose i: network do
  alias m: network[i] do

    rule "answer"
      m.kind = RequestVote
    ==>
    var
      message: Message;
    begin
      message := m;
      multisetremove(i, network);
      follow(message.receiver, message.term);
      if message.term = term[message.receiver]
          & (isundefined(voted_for[message.receiver]) | voted_for[message.receiver] = message.sender) then
        voted_for[message.receiver] := message.sender;
        send(GrantVote, message.term, message.receiver, message.sender);
      end;
    end;

    rule "count vote"
      m.kind = GrantVote
    ==>
    var
      message: Message;
      count: 0 .. ServerCount;
    begin
      message := m;
      multisetremove(i, network);
      follow(message.receiver, message.term);
      if role[message.receiver] = Candidate & message.term = term[message.receiver] then
        votes[message.receiver][message.sender] := true;
        count := 0;
        for v: Server do
          if votes[message.receiver][v] then count := count + 1; end;
        end;
        if 2 * count > ServerCount then
          role[message.receiver] := Leader;
        end;
      end;
    end;

    rule "lose"
      true
    ==>
      multisetremove(i, network);
    end;

  end;
end;

invariant "one leader a term"
  forall s: Server do
    forall t: Server do
      role[s] = Leader & role[t] = Leader & term[s] = term[t] -> s = t
    end
  end;

cover "somebody leads"
  exists s: Server do role[s] = Leader end;
