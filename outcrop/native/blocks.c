/* Blocks of states that lie anywhere, for searches that keep the visited states outside RAM. Expanding a block
 * counts and finds the same as expanding it within a level. The caller decides what happens to the successors. */

/* Flushes the buffer and keeps the successors. */
static void gather_successors(Expansion *expansion) {
  Worker *worker = (Worker *)expansion;
  squeeze_successors(worker);
  drop_loops(worker, 0); /* all of them, so that block boundaries do not matter */
  hash_own_successors(worker);
  uint32_t count = expansion->count;
  expansion->count = 0;
  worker->generated += count;
  if (!gather(&worker->gathered, expansion->successors, expansion->hashes, count)) worker->overflow = 1;
}

/* Expands states until they have `most` successors. Returns the number of expanded states, 0 if memory does not hold
 * the successors. `with_loops`: keep successors that equal their source. */
static uint64_t gather_block(Worker *worker, const uint8_t *states, uint64_t count, int with_loops, uint64_t most) {
  uint64_t number = 0;
  worker->gathered.count = 0;
  worker->overflow = 0;
  worker->expansion.flush = gather_successors;
  worker->block = with_loops ? NULL : states;
  for (; number < count && worker->gathered.count + worker->expansion.count < most && !worker->overflow; number++) {
    worker->expansion.owner = (uint32_t)number;
    expand_state(worker, states + number * STATE_BYTES);
  }
  gather_successors(&worker->expansion);
  drain_put(worker);
  return worker->overflow ? 0 : number;
}

static void check_block(Worker *worker, const uint8_t *states, uint64_t count) {
  if (HAS_ASSUMPTIONS || HAS_INVARIANTS || HAS_COVER_PROPERTIES)
    for (uint64_t number = 0; number < count; number++) check_state(worker, states + number * STATE_BYTES);
}
