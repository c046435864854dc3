// Loops inside atomic sequences: with a choice in each turn, and without any.
// expect: holds
// states: 25
// rules: 24
// diameter: 3
byte a[3], i; byte total;
init { atomic {
    do :: i < 3 -> if :: a[i] = 0 :: a[i] = 1 fi; i++ :: else -> break od;
    i = 0;
    do :: i < 3 -> total = total + a[i]; i++ :: i >= 3 -> break od
  };
  assert(total <= 3)
}
