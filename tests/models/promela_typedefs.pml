// Records, arrays in records, unsigned values that wrap, and conditional expressions.
// expect: holds
// states: 43
// rules: 72
// diameter: 12
typedef Pair { byte a[2]; bit flag; short s }
Pair p[2]; unsigned u : 3 = 6;
active [2] proctype A() { byte i = _pid;
  p[i].a[1] = (i == 0 -> 250 : 3); p[i].a[1] = p[i].a[1] + 10; p[i].s = -p[i].a[1]; p[i].flag = !p[i].flag; u++ }
