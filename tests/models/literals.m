-- Hexadecimal and octal literals, keywords in any case, identifiers in one.
-- expect: holds
-- states: 2
-- rules: 2
-- diameter: 1
CONST Big: 0xFF; Eight: 010;
Var x, X: BOOLEAN;
StartState Begin x := TRUE; X := False; Assert Big = 255 & Eight = 8; EndStartState;
RULE "swap" True ==> x := !x; X := !X; EndRule;
Invariant x != X;
