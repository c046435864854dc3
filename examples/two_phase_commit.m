-- Two-phase commit with crashes.
--
-- A coordinator asks every participant to vote, commits when all say yes, and aborts otherwise. It repeats its decision
-- until all know it. Coordinator and participants may crash, and return with the contents of their logs. Votes and
-- decisions are logged before they are sent; everything else is lost. Messages may be lost too, so they stay in their
-- channel until somebody takes or drops them.
--
-- The model shows records, functions, procedures with `var` parameters, and `assume`: the rules allow any number of
-- crashes, and the assumption limits the search to runs with few.
--
-- Things to try: -D ParticipantCount=3 -D MostCrashes=2 (44,529 states, and 250,609 without symmetry reduction).
--
-- expect: holds
-- states: 1524
-- rules: 10651
-- diameter: 17
-- states without symmetry: 2962
-- rules without symmetry: 20703

const
  ParticipantCount: 2;
  MostCrashes: 1;

type
  Participant: scalarset(ParticipantCount);
  Vote: enum { NotVoted, Yes, No };
  Decision: enum { Undecided, Commit, Abort };

  Log: record  -- survives a crash
    vote: Vote;
    decision: Decision;
  end;

  Process: record
    up: boolean;
    log: Log;
  end;

var
  coordinator: Process;
  participant: array [Participant] of Process;
  ballot: array [Participant] of Vote;  -- in the coordinator's memory
  votes: array [Participant] of Vote;   -- channels, NotVoted and Undecided: empty
  orders: array [Participant] of Decision;
  crashes: 0 .. MostCrashes + 1;

function count_votes(vote: Vote): 0 .. ParticipantCount;
var
  count: 0 .. ParticipantCount;
begin
  count := 0;
  for p: Participant do
    if ballot[p] = vote then
      count := count + 1;
    end;
  end;
  return count;
end;

procedure boot(var process: Process);
begin
  process.up := true;
end;

procedure crash(var process: Process);
begin
  process.up := false;
  crashes := crashes + 1;
end;

-- A decision, once logged, is final.
procedure decide(var log: Log; decision: Decision);
begin
  assert log.decision = Undecided | log.decision = decision "decisions are final";
  log.decision := decision;
end;

procedure format(var process: Process);
begin
  process.log.vote := NotVoted;
  process.log.decision := Undecided;
  boot(process);
end;

startstate "nothing decided"
begin
  format(coordinator);
  for p: Participant do
    format(participant[p]);
    ballot[p] := NotVoted;
    votes[p] := NotVoted;
    orders[p] := Undecided;
  end;
  crashes := 0;
end;

-- Participants.

ruleset p: Participant do
  alias self: participant[p] do

    ruleset vote: Vote do
      rule "vote"
        self.up & vote != NotVoted & self.log.vote = NotVoted
      ==>
        self.log.vote := vote;
      end;
    end;

    rule "send vote"
      self.up & self.log.vote != NotVoted & self.log.decision = Undecided & votes[p] = NotVoted
    ==>
      votes[p] := self.log.vote;
    end;

    rule "obey"
      self.up & orders[p] != Undecided
    ==>
      decide(self.log, orders[p]);
      orders[p] := Undecided;
    end;

    rule "participant crashes"
      self.up
    ==>
      crash(self);
    end;

    rule "participant comes back"
      !self.up
    ==>
      boot(self);
    end;

  end;
end;

-- The coordinator.

ruleset p: Participant do

  rule "receive vote"
    coordinator.up & votes[p] != NotVoted
  ==>
    ballot[p] := votes[p];
    votes[p] := NotVoted;
  end;

  rule "send decision"
    coordinator.up & coordinator.log.decision != Undecided & orders[p] = Undecided
    & participant[p].log.decision = Undecided
  ==>
    orders[p] := coordinator.log.decision;
  end;

  rule "message lost"
    votes[p] != NotVoted | orders[p] != Undecided
  ==>
    votes[p] := NotVoted;
    orders[p] := Undecided;
  end;

end;

rule "decide to commit"
  coordinator.up & coordinator.log.decision = Undecided & count_votes(Yes) = ParticipantCount
==>
  decide(coordinator.log, Commit);
end;

-- A coordinator that came back without a decision cannot know the votes: it may always abort.
rule "decide to abort"
  coordinator.up & coordinator.log.decision = Undecided & (count_votes(No) > 0 | crashes > 0)
==>
  decide(coordinator.log, Abort);
end;

rule "coordinator crashes"
  coordinator.up
==>
  crash(coordinator);
  for p: Participant do
    ballot[p] := NotVoted;
  end;
end;

rule "coordinator comes back"
  !coordinator.up
==>
  boot(coordinator);
end;

assume "few crashes"
  crashes <= MostCrashes;

invariant "agreement"
  forall p: Participant do
    participant[p].log.decision != Undecided -> participant[p].log.decision = coordinator.log.decision
  end;

invariant "nobody commits against a vote"
  coordinator.log.decision = Commit -> forall p: Participant do participant[p].log.vote = Yes end;

cover "all commit in spite of a crash"
  crashes > 0 & forall p: Participant do participant[p].log.decision = Commit end;

liveness "everybody can always come to a decision"
  forall p: Participant do participant[p].log.decision != Undecided end;
