-- Aliases around rules are evaluated anew for each guard and body, inside and outside rulesets.
-- expect: holds
-- states: 4
-- rules: 8
-- diameter: 2
var a: array [0 .. 1] of record bit: boolean; end; chosen: 0 .. 1;
startstate begin for i: 0 .. 1 do a[i].bit := false; end; chosen := 0; end;
ruleset i: 0 .. 1 do
  alias it: a[i]; bit: it.bit do
    rule "toggle" bit = it.bit ==> bit := !it.bit; end;
    invariant "same" bit = a[i].bit;
  end;
end;
