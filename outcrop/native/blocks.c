/* Blocks: states that lie anywhere, for searches that keep the visited ones outside RAM. Expanding a block counts and
 * finds what expanding it as part of a level would; what becomes of the successors is the caller's affair. */

/* A flush that keeps the successors. */
static void gather_successors(Expansion *expansion) {
  Worker *worker = (Worker *)expansion;
  squeeze_successors(worker);
  drop_loops(worker, 1);
  hash_own_successors(worker);
  uint32_t count = expansion->count;
  expansion->count = 0;
  worker->generated += count;
  if (!gather(&worker->gathered, expansion->successors, expansion->hashes, count)) worker->overflow = 1;
}

/* Gives how many successors the worker has gathered, UINT64_MAX when memory does not hold them. `with_loops`: also those
 * that are the state they lead from. */
static uint64_t gather_block(Worker *worker, const uint8_t *states, uint64_t count, int with_loops) {
  worker->gathered.count = 0;
  worker->overflow = 0;
  worker->expansion.flush = gather_successors;
  worker->block = with_loops ? NULL : states;
  for (uint64_t number = 0; number < count && !worker->overflow; number++) {
    worker->expansion.owner = (uint32_t)number;
    expand_state(worker, states + number * STATE_BYTES);
  }
  gather_successors(&worker->expansion);
  limit_put(worker);
  return worker->overflow ? UINT64_MAX : worker->gathered.count;
}

static void check_block(Worker *worker, const uint8_t *states, uint64_t count) {
  if (HAS_ASSUMPTIONS || HAS_INVARIANTS || HAS_COVER_PROPERTIES)
    for (uint64_t number = 0; number < count; number++) check_state(worker, states + number * STATE_BYTES);
}
