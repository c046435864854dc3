-- States that violate an assumption are dropped, start states too; the firing that led there counts.
-- expect: holds
-- states: 3
-- rules: 5
-- diameter: 2
var x: 0 .. 5;
startstate "in" begin x := 0; end;
startstate "out" begin x := 5; end;
rule "up" x < 5 ==> x := x + 1; end;
rule "down" x > 0 ==> x := x - 1; end;
assume "small" x <= 2;
