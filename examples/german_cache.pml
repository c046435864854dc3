// Directory cache coherence, in the style of German's protocol: the twin of german_cache.m, with two
// nodes.
//
// Caches ask the home node for a shared or an exclusive copy of one memory line, over channels that hold one message
// each. Home serves one request at a time: before it grants an exclusive copy it invalidates every sharer, and before it
// grants a shared copy it takes an exclusive one back, whose holder returns the data. Each step is atomic.
//
// The mapping file maps/german_cache_pml.json translates the statements into the rules of german_cache.m, and
// `outcrop compare` finds the two models bisimilar.
//
// Things to try: drop the `!exclusive_granted &&` from the grant of a shared copy, and read the trace.
//
// expect: holds
// states: 3381
// rules: 9888
// diameter: 26

#define N 2

mtype = { invalid, shared, exclusive };                 // copies, and requests for them
mtype = { invalidate, grant_shared, grant_exclusive };  // orders from home to a cache

chan request[N] = [1] of { mtype };
chan order[N] = [1] of { mtype, bit };
chan answer[N] = [1] of { bit };  // invalidated, with the value of an exclusive copy

mtype copy[N] = invalid;
bit latest;  // the value that was written last: for the assertions only

#define clash(n) (copy[n] == exclusive && copy[1 - n] != invalid)

active [N] proctype cache() {
  bit value;
end:
  do
  :: d_step { copy[_pid] == invalid && empty(request[_pid]) -> request[_pid]!shared }
  :: d_step { copy[_pid] != exclusive && empty(request[_pid]) -> request[_pid]!exclusive }
  :: d_step { copy[_pid] == exclusive -> value = 0; latest = 0 }
  :: d_step { copy[_pid] == exclusive -> value = 1; latest = 1 }
  :: d_step { order[_pid]?grant_shared, value -> copy[_pid] = shared;
      assert(value == latest && !clash(0) && !clash(1)) }
  :: d_step { order[_pid]?grant_exclusive, value -> copy[_pid] = exclusive;
      assert(value == latest && !clash(0) && !clash(1)) }
  :: d_step { order[_pid]?[invalidate, _] && empty(answer[_pid]) ->
      order[_pid]?invalidate, _; answer[_pid]!(copy[_pid] == exclusive && value); copy[_pid] = invalid; value = 0 }
  od
}

#define take_up(n) \
  d_step { serving == 0 && nempty(request[n]) -> \
    request[n]?serving; client = n; to_invalidate[0] = sharer[0]; to_invalidate[1] = sharer[1] }

#define send_invalidation(n) \
  d_step { to_invalidate[n] && empty(order[n]) && (serving == exclusive || serving == shared && exclusive_granted) -> \
    order[n]!invalidate, 0; to_invalidate[n] = false }

#define receive_answer(n) \
  d_step { answer[n]?returned -> sharer[n] = false; \
    if :: exclusive_granted -> memory = returned; exclusive_granted = false :: else fi; \
    returned = 0; assert(exclusive_granted || memory == latest) }

active proctype home() {
  bit memory, returned;
  mtype serving;  // 0: none
  byte client;
  bool sharer[N], to_invalidate[N], exclusive_granted;
end:
  do
  :: take_up(0)
  :: take_up(1)
  :: send_invalidation(0)
  :: send_invalidation(1)
  :: receive_answer(0)
  :: receive_answer(1)
  :: d_step { serving == shared && !exclusive_granted && empty(order[client]) ->
      order[client]!grant_shared, memory; sharer[client] = true; serving = 0; client = 0 }
  :: d_step { serving == exclusive && !sharer[0] && !sharer[1] && empty(order[client]) ->
      order[client]!grant_exclusive, memory; sharer[client] = true; exclusive_granted = true; serving = 0; client = 0 }
  od
}
