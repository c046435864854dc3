-- Numbers past 2**63 - 1, as rumur has them: arithmetic then goes up to 2**64 - 1.
-- expect: holds
-- states: 4
-- rules: 4
-- diameter: 3
const Most: 0xfffffffffffffffe;
var x: 0 .. Most;
startstate begin x := 0; end;
rule "next" true ==>
  switch x
    case 0: x := Most - x;
    case Most: x := x / 2;
    case 0x7fffffffffffffff: x := x + 1;
    else x := (x - 0x8000000000000000) * Most;
  end;
end;
invariant "order" x <= Most & (x > 0 -> x - 1 < x);
invariant "bits" (x & 1) = 0 | x = 0x7fffffffffffffff;
