-- No fall-through; several labels a case; labels that are not constant are tried in order; no match does nothing.
-- expect: holds
-- states: 6
-- rules: 6
-- diameter: 5
var x, y: 0 .. 5;
startstate begin x := 0; y := 3; end;
rule "next" true ==>
  switch x
    case 0, 1: x := x + 1;
    case y - 1: x := 3;
    case 2: error "the case above comes first";
    case y, y + 1: x := x + 1;
    else x := 0;
  end;
  switch x case 7: error "no such value"; end;
end;
