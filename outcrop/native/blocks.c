/* Blocks: states that lie anywhere, for searches that keep the visited ones outside RAM. Expanding a block counts and
 * finds what expanding it as part of a level would; what becomes of the successors is the caller's affair. */

static int gather(Gathered *gathered, const uint8_t *states, const uint64_t *hashes, uint64_t count) {
  uint64_t needed = gathered->count + count;
  if (needed > gathered->room) {
    uint64_t room = needed > 2 * gathered->room ? needed : 2 * gathered->room;
    uint8_t *more_states = realloc(gathered->states, room * STATE_BYTES + SPARE_BYTES);
    if (more_states) gathered->states = more_states;
    uint64_t *more_hashes = realloc(gathered->hashes, room * sizeof *gathered->hashes);
    if (more_hashes) gathered->hashes = more_hashes;
    if (!more_states || !more_hashes) return 0;
    gathered->room = room;
  }
  memcpy(gathered->states + gathered->count * STATE_BYTES, states, count * STATE_BYTES);
  memcpy(gathered->hashes + gathered->count, hashes, count * sizeof *hashes);
  gathered->count = needed;
  return 1;
}

static void gathered_close(Gathered *gathered) {
  free(gathered->states);
  free(gathered->hashes);
}

/* A flush that keeps all successors. */
static void gather_successors(Expansion *expansion) {
  Worker *worker = (Worker *)expansion;
  uint32_t count = expansion->count;
  expansion->count = 0;
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
