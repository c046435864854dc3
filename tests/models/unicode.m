-- The signs of mathematics, and curly quotes.
-- expect: holds
-- states: 3
-- rules: 3
-- diameter: 2
var x: 0 .. 2;
startstate “begin” begin x ≔ 0; end;
rule “up” x ≤ 1 ∧ ¬(x ≥ 2) ⇒ x := x + 1; end;
rule “back” x = 2 ∨ x ≠ x ⇒ x := x − 2; end;
invariant ∀ i: 0 .. 2 do ∃ j: 0 .. 2 do i = j → x × 1 ≥ 0 end end;
