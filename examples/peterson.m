-- Peterson's mutual exclusion for two processes.
--
-- A process that wants to enter its critical section raises its flag, gives way to the other process, and waits until
-- the other has lowered its flag or has given way later. The processes form a scalarset: nothing distinguishes them,
-- so that half of the states are images of the other half and are not visited.
--
-- expect: holds
-- states: 13
-- rules: 23
-- diameter: 6
-- states without symmetry: 24
-- rules without symmetry: 42

type
  Process: scalarset(2);
  Location: enum { Idle, Raised, Waiting, Critical };

var
  location: array [Process] of Location;
  flag: array [Process] of boolean;
  last: Process;  -- the one that stepped back last; undefined until somebody does

startstate "all idle"
begin
  for p: Process do
    location[p] := Idle;
    flag[p] := false;
  end;
end;

ruleset p: Process do

  rule "raise flag"
    location[p] = Idle
  ==>
    flag[p] := true;
    location[p] := Raised;
  end;

  rule "step back"
    location[p] = Raised
  ==>
    last := p;
    location[p] := Waiting;
  end;

  rule "enter"
    location[p] = Waiting & (last != p | forall q: Process do q != p -> !flag[q] end)
  ==>
    location[p] := Critical;
  end;

  rule "leave"
    location[p] = Critical
  ==>
    flag[p] := false;
    location[p] := Idle;
  end;

end;

invariant "mutual exclusion"
  forall p: Process do
    location[p] = Critical -> forall q: Process do q != p -> location[q] != Critical end
  end;

liveness "somebody can always get in"
  exists p: Process do location[p] = Critical end;
