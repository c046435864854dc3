/* Predecessors: for each of some states, the least predecessor among the states of the previous level, or all of them.
 * There are no parent links; the level is expanded again. */

typedef struct {
  const uint8_t *targets; /* as the model packs them */
  uint32_t count;
  uint32_t found;
  uint32_t *slots; /* open addressing: target + 1 */
  uint32_t mask;
  uint8_t *least;    /* least predecessor of each target so far, as the model packs it */
  uint8_t *is_found; /* whether each target has one */
  uint8_t *marks;    /* of each state of the block: whether it leads to a target. NULL: find the least ones */
} PathStep;

static uint32_t *target_slot(const PathStep *step, const uint8_t *state, uint64_t hash) {
  uint32_t at = (uint32_t)hash & step->mask;
  while (step->slots[at] && !packed_equal(step->targets + (size_t)(step->slots[at] - 1) * MODEL_BYTES, state))
    at = (at + 1) & step->mask;
  return &step->slots[at];
}

static void match_successors(Expansion *expansion) {
  Worker *worker = (Worker *)expansion;
  PathStep *step = worker->purpose;
  uint8_t room[MODEL_BYTES + SPARE_BYTES];
  for (uint32_t i = 0; i < expansion->count; i++) {
    const uint8_t *successor = expansion->successors + (size_t)i * MODEL_BYTES;
    uint32_t slot = *target_slot(step, successor, hash_packed(&worker->search->hasher, successor));
    if (!slot) continue;
    if (step->marks) {
      step->marks[expansion->owners[i]] = 1;
      continue;
    }
    const uint8_t *predecessor =
        packed_state(worker->search, worker->block + (size_t)expansion->owners[i] * STATE_BYTES, room);
    uint8_t *least = step->least + (size_t)(slot - 1) * MODEL_BYTES;
    if (step->is_found[slot - 1] && memcmp(predecessor, least, MODEL_BYTES) >= 0) continue;
    step->found += !step->is_found[slot - 1];
    step->is_found[slot - 1] = 1;
    memcpy(least, predecessor, MODEL_BYTES);
  }
  expansion->count = 0;
}

/* Fills the slots with the targets. Returns 0 if there is no memory. */
static int take_targets(const Search *search, PathStep *step) {
  uint32_t size = 4;
  while (size < 2 * step->count) size *= 2;
  step->slots = calloc(size, sizeof(uint32_t));
  step->mask = size - 1;
  if (!step->slots) return 0;
  for (uint32_t i = 0; i < step->count; i++) {
    const uint8_t *target = step->targets + (size_t)i * MODEL_BYTES;
    *target_slot(step, target, hash_packed(&search->hasher, target)) = i + 1;
  }
  return 1;
}

/* Finds predecessors among `state_count` states. `targets` are distinct; `least` and `is_found` hold what other states
 * have given. `begin`: index of the states in the arena, UINT64_MAX if they lie elsewhere. Returns 0 if there is no
 * memory. */
static int find_predecessors(Worker *worker, const uint8_t *states, uint64_t state_count, uint64_t begin,
                             const uint8_t *targets, uint32_t count, uint8_t *least, uint8_t *is_found) {
  Search *search = worker->search;
  uint8_t room[MODEL_BYTES + SPARE_BYTES];
  PathStep step = {.targets = targets, .count = count, .least = least, .is_found = is_found};
  if (!take_targets(search, &step)) return 0;
  for (uint32_t i = 0; i < count; i++) step.found += is_found[i] != 0;
  worker->purpose = &step;
  worker->expansion.flush = match_successors;
  for (uint64_t block = 0; block < state_count; block += BLOCK_STATES) {
    worker->block = states + block * STATE_BYTES;
    for (uint32_t i = 0; i < BLOCK_STATES && block + i < state_count; i++) {
      const uint8_t *state = packed_state(search, worker->block + (size_t)i * STATE_BYTES, room);
      /* Once the only target has a predecessor, greater states need not be expanded. */
      if (count == 1 && step.found && memcmp(state, least, MODEL_BYTES) >= 0) continue;
      worker->expansion.owner = i;
      model_expand(state, &worker->expansion);
    }
    match_successors(&worker->expansion);
    if (begin != UINT64_MAX) arena_passed(&search->arena, begin, begin + block, begin + block + BLOCK_STATES);
  }
  free(step.slots);
  return 1;
}

/* Marks the states of a range of the arena that lead to a target. Returns 0 if there is no memory. */
static int mark_leading(Worker *worker, uint64_t begin, uint64_t end, const uint8_t *targets, uint32_t count,
                        uint8_t *marks) {
  Search *search = worker->search;
  uint8_t room[MODEL_BYTES + SPARE_BYTES];
  PathStep step = {.targets = targets, .count = count, .marks = marks};
  if (!take_targets(search, &step)) return 0;
  worker->purpose = &step;
  worker->expansion.flush = match_successors;
  for (; begin < end; begin += BLOCK_STATES, step.marks += BLOCK_STATES) {
    for (uint32_t i = 0; i < BLOCK_STATES && begin + i < end; i++) {
      worker->expansion.owner = i;
      model_expand(packed_state(search, arena_state(&search->arena, begin + i), room), &worker->expansion);
    }
    match_successors(&worker->expansion);
  }
  free(step.slots);
  return 1;
}
