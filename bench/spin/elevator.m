-- An elevator that sweeps up and down, rule for rule as in elevator.pml.
const FLOORS: 14;
type floor: 0..FLOORS-1;
var
  request: array [floor] of boolean;
  at: floor;
  up: boolean;
  open: boolean;

procedure move();
begin
  if at = FLOORS - 1 then up := false; elsif at = 0 then up := true; end;
  if up then at := at + 1; else at := at - 1; end;
end;

startstate
  for f: floor do request[f] := false; end;
  at := 0; up := true; open := false;
end;

ruleset f: floor do
  rule "request" !request[f] & !(at = f & open) ==> request[f] := true; end;
end;

rule "stop" !open & request[at] ==> request[at] := false; open := true; end;
rule "go on" open ==> open := false; move(); end;
rule "pass" !open & !request[at] ==> move(); end;

-- Whoever waits at the top is served: the elevator stops at most once a floor on its way.
ltl "served": G ({request[FLOORS - 1]} -> F {at = FLOORS - 1 & open});
