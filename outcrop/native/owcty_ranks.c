/* OWCTY over several processes. Every edge counts, so successors of others are not filtered, as they are elsewhere; while
 * states are being found, the value that their predecessor passes on goes with them. */

/* Hashes the successors in the buffer; those of others leave it. `values` goes with each of those, or is NULL. */
static inline void route_each(Worker *worker, uint32_t (*value_for)(Worker *worker, uint32_t owner)) {
  Expansion *expansion = &worker->expansion;
  Search *search = worker->search;
  uint32_t own = 0, owner = UINT32_MAX, value = 0;
  for (uint32_t i = 0; i < expansion->count; i++) {
    const uint8_t *successor = expansion->successors + (size_t)i * STATE_BYTES;
    const uint64_t hash = hash_state(&search->hasher, successor);
    const uint32_t rank = owner_of(&search->route, successor, hash);
    if (value_for && expansion->owners[i] != owner) value = value_for(worker, owner = expansion->owners[i]);
    if (rank == search->route.rank) {
      expansion->hashes[own] = hash;
      expansion->owners[own] = expansion->owners[i];
      if (own != i) memmove(expansion->successors + (size_t)own * STATE_BYTES, successor, STATE_BYTES);
      __builtin_prefetch(expansion->lines + multiply_high(hash, expansion->line_count) * LINE_BYTES);
      own++;
      continue;
    }
    Outgoing *outgoing = &worker->outgoing[rank];
    const uint64_t at = outgoing->count;
    const uint32_t counts = !value_for || value ? 1 : filter_enter(search->route.filter, successor, hash);
    if (!outgoing_add(outgoing, successor, counts)) __atomic_store_n(&search->lost, 1, __ATOMIC_RELAXED);
    else outgoing->values[at] = value;
    outgoing->valued = value_for != NULL;
    worker->foreign++;
  }
  if (value_for) worker->generated += expansion->count - own;
  expansion->count = own;
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
