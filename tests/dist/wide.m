-- Independent counters in states of 27 bytes, many of which never change; some states are violated.
type Value: 0..3;
     Cell: record used: Value; spare: 0..1000000; more: 0..1000000 end;
var cells: array [0..4] of Cell;
startstate for i: 0..4 do cells[i].used := 0; cells[i].spare := i; cells[i].more := 0 end end;
ruleset i: 0..4 do
  rule "up" cells[i].used < 3 ==> cells[i].used := cells[i].used + 1; cells[i].more := 1000 * cells[i].used end;
  rule "down" cells[i].used > 0 ==> cells[i].used := cells[i].used - 1; cells[i].more := 1000 * cells[i].used end;
end;
invariant "below" cells[0].used + cells[1].used + cells[2].used + cells[3].used + cells[4].used < 12;
