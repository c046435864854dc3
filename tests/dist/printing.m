-- States that print, that some owners leave to one rank, and that are met again from later levels.
var x, y: 0 .. 30;
startstate begin x := 0; y := 0; end;
rule "right" x < 30 ==> begin x := x + 1; end;
rule "left" x > 0 ==> begin x := x - 1; end;
rule "up" y < 30 ==> begin y := y + 1; if x = y then put x; put "\n"; end; end;
