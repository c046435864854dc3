/* AG EF: the states from which a state that satisfies a property can be reached. A byte of marks a state holds eight
 * properties at a time. A state is marked if it satisfies the property or a successor is marked. Passes over the
 * arena are repeated until nothing changes. They go from the last state to the first, so that the first pass sets
 * most marks. */

typedef struct {
  uint8_t *marks;
  uint64_t positions[BLOCK_STATES]; /* arena positions of the states of the block */
  uint64_t changes;
} Marking;

static void spread_marks(Expansion *expansion) {
  Worker *worker = (Worker *)expansion;
  Marking *marking = worker->purpose;
  squeeze_successors(worker);
  hash_successors(expansion);
  for (uint32_t i = 0; i < expansion->count; i++) {
    uint64_t to = marking->positions[expansion->owners[i]];
    uint64_t from =
        worker->search->visited->position(worker->search, expansion->successors + (size_t)i * STATE_BYTES, expansion->hashes[i]);
    if (from == UINT64_MAX) continue;
    uint8_t marks = __atomic_load_n(&marking->marks[from], __ATOMIC_RELAXED);
    if (marks & ~__atomic_fetch_or(&marking->marks[to], marks, __ATOMIC_RELAXED)) marking->changes++;
  }
  expansion->count = 0;
}

/* Returns the position of the marks of a state of the arena. */
static uint64_t own_position(const Search *search, uint64_t index) {
  if (search->visited->knows_indexes) return index;
  const uint8_t *state = arena_state(&search->arena, index);
  return search->visited->position(search, state, hash_state(&search->hasher, state));
}

/* Marks the states of a range that satisfy properties first .. first + 7. A property that cannot be evaluated is a
 * finding. */
static void mark_satisfied(Worker *worker, uint64_t begin, uint64_t end, uint32_t first, uint8_t *marks) {
#if LIVENESS_COUNT
  for (uint64_t index = begin; index < end; index++) {
    uint64_t satisfied[(LIVENESS_COUNT + 63) / 64] = {0};
    uint8_t room[MODEL_BYTES + SPARE_BYTES];
    const uint8_t *state = packed_state(worker->search, arena_state(&worker->search->arena, index), room);
    if (model_liveness(state, worker->expansion.context, satisfied) != OK)
      found_add(&worker->found[FOUND_STATE], state, worker->search->most_found);
    uint8_t bits = (uint8_t)(satisfied[first / 64] >> first % 64);
    __atomic_fetch_or(&marks[own_position(worker->search, index)], bits, __ATOMIC_RELAXED);
    arena_passed(&worker->search->arena, begin, index, index + 1);
  }
#else
  (void)worker, (void)begin, (void)end, (void)first, (void)marks;
#endif
}

/* Propagates marks back over one step, to the states of a range that lack some of `wanted`. Returns how many
 * changed. */
static uint64_t mark_predecessors(Worker *worker, uint64_t begin, uint64_t end, uint8_t wanted, uint8_t *marks) {
  Marking marking = {.marks = marks};
  uint8_t room[MODEL_BYTES + SPARE_BYTES];
  worker->purpose = &marking;
  worker->expansion.flush = spread_marks;
  while (begin < end && !stopping(worker->search)) {
    uint32_t count = 0;
    for (; count < BLOCK_STATES && begin < end; end--) {
      uint64_t position = own_position(worker->search, end - 1);
      if ((__atomic_load_n(&marks[position], __ATOMIC_RELAXED) & wanted) == wanted) continue;
      marking.positions[count] = position;
      worker->expansion.owner = count++;
      model_expand(packed_state(worker->search, arena_state(&worker->search->arena, end - 1), room), &worker->expansion);
    }
    spread_marks(&worker->expansion);
  }
  return marking.changes;
}

/* Finds the least state of a range that lacks a mark. Returns 0 if there is none. */
static int least_unmarked(const Search *search, uint64_t begin, uint64_t end, uint8_t bit, const uint8_t *marks,
                          uint8_t *least) {
  int found = 0;
  for (uint64_t index = begin; index < end; index++) {
    if (marks[own_position(search, index)] & bit) continue;
    uint8_t room[MODEL_BYTES + SPARE_BYTES];
    const uint8_t *state = packed_state(search, arena_state(&search->arena, index), room);
    if (found && memcmp(state, least, MODEL_BYTES) >= 0) continue;
    memcpy(least, state, MODEL_BYTES);
    found = 1;
  }
  return found;
}
