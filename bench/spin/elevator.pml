/* An elevator that sweeps up and down, rule for rule as in elevator.m. */
#define FLOORS 14

bool request[FLOORS];
byte at;
bool up = 1, open;

active proctype people() {
  do
  :: atomic { !request[0] && !(at == 0 && open) -> request[0] = 1 }
  :: atomic { !request[1] && !(at == 1 && open) -> request[1] = 1 }
  :: atomic { !request[2] && !(at == 2 && open) -> request[2] = 1 }
  :: atomic { !request[3] && !(at == 3 && open) -> request[3] = 1 }
  :: atomic { !request[4] && !(at == 4 && open) -> request[4] = 1 }
  :: atomic { !request[5] && !(at == 5 && open) -> request[5] = 1 }
  :: atomic { !request[6] && !(at == 6 && open) -> request[6] = 1 }
  :: atomic { !request[7] && !(at == 7 && open) -> request[7] = 1 }
  :: atomic { !request[8] && !(at == 8 && open) -> request[8] = 1 }
  :: atomic { !request[9] && !(at == 9 && open) -> request[9] = 1 }
  :: atomic { !request[10] && !(at == 10 && open) -> request[10] = 1 }
  :: atomic { !request[11] && !(at == 11 && open) -> request[11] = 1 }
  :: atomic { !request[12] && !(at == 12 && open) -> request[12] = 1 }
  :: atomic { !request[13] && !(at == 13 && open) -> request[13] = 1 }
  od
}

active proctype elevator() {
  do
  :: atomic { !open && request[at] -> request[at] = 0; open = 1 }
  :: atomic { open -> open = 0; if :: at == FLOORS - 1 -> up = 0 :: at == 0 -> up = 1 :: else -> skip fi;
       if :: up -> at++ :: else -> at-- fi }
  :: atomic { !open && !request[at] -> if :: at == FLOORS - 1 -> up = 0 :: at == 0 -> up = 1 :: else -> skip fi;
       if :: up -> at++ :: else -> at-- fi }
  od
}

/* Whoever waits at the top is served, unless nobody else lets the elevator alone: it stops at most once a floor. */
ltl served { [] (request[13] -> <> (at == 13 && open)) }
