/* Blocks: states that lie anywhere, for searches that keep the visited ones outside RAM. Expanding a block counts and
 * finds what expanding it as part of a level would; what becomes of the successors is the caller's affair. */

/* A flush that keeps all successors. */
static void gather_successors(Expansion *expansion) {
  Worker *worker = (Worker *)expansion;
  hash_own_successors(worker);
  uint32_t count = expansion->count;
  expansion->count = 0;
  worker->generated += count;
  if (!gather(&worker->gathered, expansion->successors, expansion->hashes, count)) worker->overflow = 1;
}

/* Gives how many successors the worker has gathered, UINT64_MAX when memory does not hold them. */
static uint64_t gather_block(Worker *worker, const uint8_t *states, uint64_t count) {
  worker->gathered.count = 0;
  worker->overflow = 0;
  worker->expansion.flush = gather_successors;
  for (uint64_t number = 0; number < count && !worker->overflow; number++)
    expand_state(worker, states + number * STATE_BYTES);
  gather_successors(&worker->expansion);
  limit_put(worker);
  return worker->overflow ? UINT64_MAX : worker->gathered.count;
}

static void check_block(Worker *worker, const uint8_t *states, uint64_t count) {
  if (HAS_ASSUMPTIONS || HAS_INVARIANTS || HAS_COVER_PROPERTIES)
    for (uint64_t number = 0; number < count; number++) check_state(worker, states + number * STATE_BYTES);
}
