// Goto and break are steps of their own only at the beginning of an option.
// expect: holds
// states: 20
// rules: 23
// diameter: 8
byte x;
active proctype A() {
  do :: x < 3 -> x++ :: x == 3 -> break :: goto L od;
  x = 7;
L: x = 9;
  if :: skip :: x = 4 fi;
  goto M; x = 8;
M: if :: x == 9 -> { x = 1; x = 2 } unless { x == 2 } :: else fi;
end: x == 200
}
