-- The place an alias stands for is fixed at entry; an alias of a value is computed at entry.
-- expect: holds
-- states: 2
-- rules: 2
-- diameter: 1
var a: array [0 .. 1] of 0 .. 9; i: 0 .. 1;
startstate begin a[0] := 0; a[1] := 1; i := 0; end;
rule "swap" true ==>
  alias here: a[i]; sum: a[0] + a[1]; again: here do
    i := 1 - i;
    here := here + 1;
    assert again = here & sum = 1;
    again := here - 1;
  end;
end;
