-- Rulesets over steps, with several parameters, nested, unnamed rules.
-- expect: holds
-- states: 7
-- rules: 63
-- diameter: 1
var x: 0 .. 9;
startstate begin x := 0; end;
ruleset i := 1 to 7 by 3; j: boolean do
  ruleset k := 1 to 0 by -1 do
    rule j -> k = 1 ==> x := j ? i : (k = 1 ? i + 1 : 0); end;
  end;
end;
