-- An attendant hands out coats: what guests wait for, and what keeps them waiting.
--
-- Guests come and wait, one of them puts his ticket on the counter and is served. Between two tickets the attendant may
-- rest, and then chat. The formulas say that a guest whose ticket is on the counter gets his coat, and that the queue
-- moves. That is true only of runs in which the attendant does not chat for ever: with --fair weak every rule instance
-- that can fire from some time on without a break does fire. (That each guest's turn comes some day would need more: a
-- guest who waits may be overtaken again and again.)
--
-- expect: holds
-- options: --fair weak
-- states: 18
-- rules: 55
-- diameter: 7
-- states without symmetry: 30
-- rules without symmetry: 89

const GUESTS: 2;

type
  Guest: scalarset(GUESTS);
  Place: enum { Outside, Waiting, Served };

var
  place: array [Guest] of Place;
  resting: boolean;
  next: Guest;  -- whose ticket is on the counter

function nobody_waits(): boolean;
begin
  return forall g: Guest do place[g] != Waiting end;
end;

startstate
  for g: Guest do place[g] := Outside; end;
  resting := false;
end;

ruleset g: Guest do
  rule "come" place[g] = Outside ==>
    place[g] := Waiting;
  end;

  rule "take a ticket" place[g] = Waiting & isundefined(next) ==>
    next := g;
  end;

  rule "serve" !resting & !isundefined(next) & next = g ==>
    place[g] := Served;
    undefine next;
  end;

  rule "leave" place[g] = Served ==>
    place[g] := Outside;
  end;

  ltl "served" : G ({ next = g } -> F { place[g] = Served });
end;

rule "rest" !resting & isundefined(next) ==> resting := true; end;
rule "chat" resting ==> end;
rule "work" resting ==> resting := false; end;

ltl "the queue moves" : G F (nobody_waits || { exists g: Guest do place[g] = Served end });
