/* Leader election on a ring (Chang and Roberts), rule for rule as in leader.m. */
#define N 12

chan link[N] = [N] of { byte };
byte id[N];
byte elected;

proctype node(byte i) {
  byte m;
idle:
  atomic { link[(i + 1) % N]!id[i]; goto awake }
awake:
  if
  :: atomic { link[i]?m ->
       if
       :: m > id[i] -> link[(i + 1) % N]!m
       :: m == id[i] -> elected = 1
       :: else -> skip
       fi;
       m = 0; goto awake }
  fi
}

init {
  atomic {
    id[0] = 11; id[1] = 10; id[2] = 9; id[3] = 8; id[4] = 7; id[5] = 6; id[6] = 5; id[7] = 4; id[8] = 3; id[9] = 2; id[10] = 1; id[11] = 0;
    run node(0); run node(1); run node(2); run node(3); run node(4); run node(5); run node(6); run node(7); run node(8); run node(9); run node(10); run node(11);
  }
}

/* In the end there is a leader. */
ltl elects { <> (elected == 1) }
