-- Declarations, functions and rules in any order, semicolons left out or repeated, trailing commas.
-- expect: holds
-- states: 3
-- rules: 3
-- diameter: 2
startstate begin end
var x: enum { A, B, C, };;
rule "first" isundefined(x) ==> x := A;; end
function after(y: enum { P, Q, }): boolean begin return y = P; end
const N: 1
rule "b" !isundefined(x) & x = A ==> x := B; end;;
rule "back" !isundefined(x) & x = B ==> undefine x end
