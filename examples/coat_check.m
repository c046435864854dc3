-- An attendant hands out coats: two formulas about waiting, which need fairness.
--
-- Guests arrive and wait. One of them puts a ticket on the counter and is served. Between two tickets the attendant
-- may rest, and then chat. The formulas say that a guest whose ticket is on the counter gets the coat, and that the
-- queue moves. Both hold only for runs in which the attendant does not chat forever. Under --fair weak, a rule instance
-- that stays enabled does fire. (Neither formula says that each guest is served: a guest who waits can be overtaken
-- again and again.)
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
