-- States at the depth bound are not expanded: the verdict is unknown, and no deadlock is reported for them.
-- expect: unknown
-- options: --depth 2
-- states: 3
-- rules: 2
-- diameter: 2
var x: 0 .. 2;
startstate begin x := 0; end;
rule "up" x < 2 ==> x := x + 1; end;
