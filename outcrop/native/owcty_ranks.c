/* OWCTY over several processes. Every edge counts, so successors of others are not filtered, as they are elsewhere; while
 * states are being found, the value that their predecessor passes on goes with them. */

/* Hashes the successors in the buffer; those of others leave it. `value_for` gives what goes with each of those, or is NULL.
 * `parity_count` is that of the route, for the compiler to know. */
static inline __attribute__((always_inline)) void route_by(Worker *worker, uint32_t parity_count,
                                                           uint32_t (*value_for)(Worker *worker, uint32_t owner)) {
  Expansion *expansion = &worker->expansion;
  Search *search = worker->search;
  const Route by = search->route;
  const Hasher hasher = search->hasher;
  const uint8_t *const lines = expansion->lines;
  const uint64_t line_count = expansion->line_count;
  uint8_t *const successors = expansion->successors;
  uint64_t *const hashes = expansion->hashes;
  uint32_t *const owners = expansion->owners;
  const uint32_t count = expansion->count;
  uint32_t own = 0, valued = UINT32_MAX, value = 0;
  for (uint32_t i = 0; i < count; i++) {
    const uint8_t *successor = successors + (size_t)i * STATE_BYTES;
    const uint64_t hash = hash_state(&hasher, successor);
    const uint32_t rank = parity_count ? owner_by_parity(&by, parity_count, successor) : owner_by_hash(&by, hash);
    if (rank == by.rank) {
      __builtin_prefetch(lines + multiply_high(hash, line_count) * LINE_BYTES);
      hashes[own] = hash;
      owners[own] = owners[i];
      if (own != i) memcpy(successors + (size_t)own * STATE_BYTES, successor, STATE_BYTES);
      own++;
      continue;
    }
    if (value_for && owners[i] != valued) value = value_for(worker, valued = owners[i]);
    Outgoing *outgoing = &worker->outgoing[rank];
    const uint64_t at = outgoing->count;
    const uint32_t counts = !value_for || value ? 1 : filter_enter(by.filter, successor, hash);
    if (!outgoing_add(outgoing, successor, counts)) __atomic_store_n(&search->lost, 1, __ATOMIC_RELAXED);
    else outgoing->values[at] = value;
    outgoing->valued = value_for != NULL;
  }
  worker->foreign += count - own;
  if (value_for) worker->generated += count - own;
  expansion->count = own;
}

static inline __attribute__((always_inline)) void route_each(Worker *worker,
                                                             uint32_t (*value_for)(Worker *worker, uint32_t owner)) {
  const uint32_t parity_count = worker->search->route.parity_count;
  if (parity_count == 1)
    route_by(worker, 1, value_for);
  else if (parity_count)
    route_by(worker, parity_count, value_for);
  else
    route_by(worker, 0, value_for);
}

static uint32_t value_to_send(Worker *worker, uint32_t owner) {
  int is_accepting;
  const uint64_t first = (uint64_t)(worker->block - worker->search->arena.base) / STATE_BYTES;
  const uint32_t value = value_passed(worker, first, owner, &is_accepting);
  return value << 1 | (uint32_t)is_accepting;
}

/* While states are being found. */
static void route_valued(Worker *worker) { route_each(worker, value_to_send); }

/* In all other phases. */
static void route_edges(Worker *worker) { route_each(worker, NULL); }

/* NULL: there are only signatures. */
static uint32_t *room_for_positions(const Worker *worker) {
  return worker->search->cycles ? own_part(worker)->positions : NULL;
}

#if HAS_ALL_KERNELS
static void count_sent(Worker *worker, const uint8_t *states, uint32_t count, const uint8_t *values);
#endif

/* What others pass on to states that have just been added. */
static void pass_on_values(Worker *worker, const uint8_t *states, uint32_t count, const uint8_t *values) {
#if HAS_ALL_KERNELS
  if (worker->search->compacted) {
    count_sent(worker, states, count, values);
    return;
  }
#endif
  const uint32_t *positions = own_part(worker)->positions;
  for (uint32_t i = 0; i < count; i++) {
    uint32_t value;
    memcpy(&value, values + i * sizeof value, sizeof value);
    if (value >> 1)
      pass_on(worker, states + (size_t)i * STATE_BYTES, worker->expansion.hashes[i], positions[i], value >> 1, value & 1);
  }
}

/* Does to the states of a message what the worker's flush does to successors. */
static void flush_message(Worker *worker, const uint8_t *message) {
  Expansion *expansion = &worker->expansion;
  for (Reading reading = begin_reading(message); reading.left;) {
    expansion->count = read_states(&reading, expansion->successors, SUCCESSOR_ROOM);
    expansion->flush(expansion);
  }
}
