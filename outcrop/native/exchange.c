/* Bindings of a search over several ranks; see route.c. */

#include "abi_ranks.h"
#include "sampled.c"

/* Makes this rank `rank` of `ranks`, before anything else. `bits` bits of the hash select the owner of a state,
 * unless there are `parity_count` parities, each over the bits of a state in one of `masks`. Returns 0 if there is
 * no memory. */
EXPORT int outcrop_route(Search *search, uint64_t rank, uint64_t ranks, uint64_t bits, uint64_t parity_count,
                         const uint8_t *masks) {
  search->route.rank = (uint32_t)rank;
  search->route.shift = 64 - (unsigned)bits;
  search->route.hasher = search->hasher;
  search->route.parity_count = (uint32_t)parity_count;
  for (uint64_t number = 0; number < parity_count; number++)
    for (int i = 0; i < MODEL_WORDS; i++)
      search->route.parts[number][i] = packed_word(masks + number * MODEL_BYTES, i);
  search->started = (uint64_t)((Wide)START_COUNT * rank / ranks);
  search->start_end = (uint64_t)((Wide)START_COUNT * (rank + 1) / ranks);
  for (uint32_t i = 0; i < search->worker_count; i++) {
    Worker *worker = &search->workers[i];
    worker->outgoing = calloc(ranks, sizeof *worker->outgoing);
    worker->aside.states = malloc((SUCCESSOR_ROOM + 1) * (size_t)MODEL_BYTES + SPARE_BYTES);
    worker->aside.hashes = malloc((SUCCESSOR_ROOM + 1) * sizeof *worker->aside.hashes);
    if (!worker->outgoing || !worker->aside.states || !worker->aside.hashes) return 0;
#if HAS_AUTOMATON || HAS_TREE
    worker->aside.owners = malloc((SUCCESSOR_ROOM + 1) * sizeof *worker->aside.owners);
    if (!worker->aside.owners) return 0;
#endif
  }
  search->route.ranks = (uint32_t)ranks;
  return filter_open(&search->route.filter, search->budget / 4, search->worker_count > 1);
}

/* Takes random walks, and writes some of their steps. Returns the number of steps written. */
EXPORT uint64_t outcrop_sample_steps(Search *search, uint64_t seed, uint64_t steps, uint64_t length, uint64_t apart,
                                     uint8_t *before, uint8_t *after) {
  Worker *worker = uncounted(search, 0);
  uint64_t written = sample_steps(worker, seed, steps, length, apart, before, after);
  worker->expansion.context = worker->counted;
  return written;
}

/* Lets the filter grow. No worker may be running. */
EXPORT void outcrop_filter(Search *search, uint64_t bytes) {
  Filter *filter = &search->route.filter;
  uint64_t before = filter->bucket_count;
  filter_grow(filter, bytes, &search->hasher);
  search->beside += (filter->bucket_count - before) * FILTER_BUCKET;
}

/* Returns whether the visited set must grow to hold `states` states, and can. */
EXPORT int outcrop_lacks_room(const Search *search, uint64_t states) {
  return states > search->visited->limit(search) && search->visited->can_grow(search);
}

/* Lets the visited set grow. All workers call it at the same time, between levels. */
EXPORT void outcrop_make_room(Search *search, uint64_t number) {
  Worker *worker = &search->workers[number];
  uint64_t round = __atomic_load_n(&search->rounds, __ATOMIC_RELAXED);
  worker_enter(worker);
  if (__atomic_add_fetch(&search->arrived, 1, __ATOMIC_ACQ_REL) < search->worker_count)
    await_round(search, round);
  else
    begin_round(search, round);
  grow_visited(worker);
  worker_leave(worker);
}

/* Returns whether a worker has `batch` states for some rank. */
static int has_message(const Worker *worker, uint64_t batch) {
  for (uint32_t rank = 0; rank < worker->search->route.ranks; rank++)
    if (worker->outgoing[rank].count >= batch) return 1;
  return 0;
}

/* Expands up to `blocks` blocks of the current level, or until there are `batch` states for some rank. Returns 0 if
 * nothing of the level was left. */
EXPORT int outcrop_expand_part(Search *search, uint64_t number, uint64_t blocks, uint64_t batch) {
  Worker *worker = &search->workers[number];
  int is_more = 1;
  worker_enter(worker);
  for (; blocks && is_more && !has_message(worker, batch); blocks--) {
    is_more = expand_part(worker, 1, MOST_BLOCK_STATES);
    if (stopping(search) || gives_up(search) || worker->overflow) break;
  }
  worker_leave(worker);
  return is_more;
}

/* Handles states that other ranks have found and this one owns, as successors. */
EXPORT void outcrop_add_message(Search *search, uint64_t number, const uint8_t *message) {
  Worker *worker = &search->workers[number];
  worker_enter(worker);
  add_message(worker, message);
  worker_leave(worker);
}

/* Returns the largest number of bytes that one more state adds to a message. */
EXPORT uint64_t outcrop_most_packed(void) { return MOST_PACKED; }

EXPORT uint64_t outcrop_write_message(const uint8_t *states, uint64_t count, uint8_t *message) {
  return write_message(states, NULL, count, message);
}

EXPORT void outcrop_read_message(const uint8_t *message, uint8_t *states) {
  Reading reading = begin_reading(message);
  read_states(&reading, states, reading.left);
}

/* Writes the number of states that a worker has for each rank. */
EXPORT void outcrop_outgoing(const Search *search, uint64_t number, uint64_t *counts) {
  const Worker *worker = &search->workers[number];
  for (uint32_t rank = 0; rank < search->route.ranks; rank++) counts[rank] = worker->outgoing[rank].count;
}

/* Makes a message of the states that a worker has for a rank, and drops them. Returns its length. */
EXPORT uint64_t outcrop_take_outgoing(Search *search, uint64_t number, uint64_t rank, uint8_t *message) {
  Outgoing *outgoing = &search->workers[number].outgoing[rank];
  const uint32_t *values = outgoing->valued ? outgoing->values : NULL;
  uint64_t length = write_message(outgoing->states, values, outgoing->count, message);
  outgoing->count = 0;
  return length;
}

/* Writes the owner of each state. */
EXPORT void outcrop_owners(const Search *search, const uint8_t *states, uint64_t count, uint32_t *owners) {
  for (uint64_t i = 0; i < count; i++)
    owners[i] = owner_of_state(&search->route, states + i * MODEL_BYTES);
}

/* Returns the number of successors that other ranks own, and whether some were lost for lack of memory. */
EXPORT uint64_t outcrop_count_foreign(const Search *search, uint64_t *lost) {
  uint64_t foreign = 0;
  for (uint32_t i = 0; i < search->worker_count; i++) foreign += search->workers[i].foreign;
  *lost = (uint64_t)search->lost;
  return foreign;
}
