/* OWCTY over several ranks. Every transition counts, so successors for other ranks are not filtered as elsewhere. While
 * states are being found, the value that their predecessor propagates is sent with them. */

/* Hashes the successors in the buffer, and routes those that other ranks own. `value_for` returns the value sent with
 * each, or is NULL; it is an argument so that the compiler can specialise the function. */
static inline __attribute__((always_inline)) void route_each(Worker *worker,
                                                             uint32_t (*value_for)(Worker *worker, uint32_t owner)) {
  Search *search = worker->search;
  const Aside *aside = &worker->aside;
  divide_successors(&search->route, &worker->expansion, &worker->aside);
  const Route by = search->route;
  const uint8_t *state = aside->states;
  uint32_t valued = UINT32_MAX, value = 0;
  for (uint32_t i = 0, count = aside->count; i < count; i++, state += STATE_BYTES) {
    const uint64_t hash = aside->hashes[i];
    if (value_for && aside->owners[i] != valued) value = value_for(worker, valued = aside->owners[i]);
    Outgoing *outgoing = &worker->outgoing[owner_of(&by, state, hash)];
    const uint64_t at = outgoing->count;
    const uint32_t counts = !value_for || value ? 1 : filter_enter(by.filter, state, hash);
    if (!outgoing_add(outgoing, state, counts)) __atomic_store_n(&search->lost, 1, __ATOMIC_RELAXED);
    else outgoing->values[at] = value;
    outgoing->valued = value_for != NULL;
  }
  worker->foreign += aside->count;
  if (value_for) worker->generated += aside->count;
}

static uint32_t value_to_send(Worker *worker, uint32_t owner) {
  int is_accepting;
  const uint64_t first = (uint64_t)(worker->block - worker->search->arena.base) / STATE_BYTES;
  const uint32_t value = value_passed(worker, first, owner, &is_accepting);
  return value << 1 | (uint32_t)is_accepting;
}

/* Routes successors while states are being found. */
static void route_valued(Worker *worker) { route_each(worker, value_to_send); }

/* Routes successors in all other phases. */
static void route_edges(Worker *worker) { route_each(worker, NULL); }

/* Returns space for the positions of added states; NULL if the search keeps signatures only. */
static uint32_t *room_for_positions(const Worker *worker) {
  return worker->search->cycles ? own_part(worker)->positions : NULL;
}

#if HAS_ALL_KERNELS
static void count_sent(Worker *worker, const uint8_t *states, uint32_t count, const uint8_t *values);
#endif

/* Propagates the values that other ranks have sent to states that were just added. */
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

/* Flushes the states of a message as the worker flushes successors. */
static void flush_message(Worker *worker, const uint8_t *message) {
  Expansion *expansion = &worker->expansion;
  for (Reading reading = begin_reading(message); reading.left;) {
    expansion->count = read_states(&reading, expansion->successors, SUCCESSOR_ROOM);
    expansion->flush(expansion);
  }
}
