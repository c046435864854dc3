/* Steps of random walks, from which outcrop/dist/owners.py learns which part of a state seldom changes. When a walk
 * ends, another one starts. */

typedef struct {
  uint64_t random;
  uint64_t count; /* number of successors so far, other than the state itself */
  uint8_t state[MODEL_BYTES + SPARE_BYTES];
  uint8_t chosen[MODEL_BYTES + SPARE_BYTES];
} Stroll;

/* Chooses one of all successors so far. */
static void choose_successor(Expansion *expansion) {
  Stroll *stroll = ((Worker *)expansion)->purpose;
  for (uint32_t i = 0; i < expansion->count; i++) {
    const uint8_t *successor = expansion->successors + (size_t)i * MODEL_BYTES;
    if (packed_equal(successor, stroll->state)) continue;
    if (multiply_high(next_random(&stroll->random), ++stroll->count) == 0) memcpy(stroll->chosen, successor, MODEL_BYTES);
  }
  expansion->count = 0;
}

/* Starts a walk, at states from all over the arena in order (state `share` of `all`), or at a start state if the
 * arena is empty. */
static int begin_stroll(Worker *worker, uint64_t share, uint64_t all, Stroll *stroll) {
  const Search *search = worker->search;
  const Arena *arena = &search->arena;
  int failed = 0;
  if (!arena->used) return random_start(worker, &stroll->random, stroll->state, &failed);
  const uint8_t *kept = arena_state(arena, (uint64_t)((Wide)arena->used * share / all));
  const uint8_t *state = packed_state(search, kept, stroll->state);
  if (state != stroll->state) memcpy(stroll->state, state, MODEL_BYTES);
  return 1;
}

/* Takes `steps` steps, in walks of at most `length`. Writes the states before and after every `apart`-th step.
 * Returns the number of steps written. */
static uint64_t sample_steps(Worker *worker, uint64_t seed, uint64_t steps, uint64_t length, uint64_t apart,
                             uint8_t *before, uint8_t *after) {
  Stroll stroll = {.random = seed};
  uint64_t written = 0;
  int is_under_way = 0;
  worker->purpose = &stroll;
  worker->expansion.flush = choose_successor;
  for (uint64_t step = 0; step < steps; step++) {
    if ((!is_under_way || step % length == 0) && !begin_stroll(worker, step, steps, &stroll)) continue;
    stroll.count = 0;
#if HAS_PUT
    worker->expansion.context->put_length = 0;
#endif
    const int status = model_expand(stroll.state, &worker->expansion);
    choose_successor(&worker->expansion);
    is_under_way = status == OK && stroll.count > 0;
    if (!is_under_way) continue;
    if (step % apart == apart - 1) {
      memcpy(before + written * MODEL_BYTES, stroll.state, MODEL_BYTES);
      memcpy(after + written++ * MODEL_BYTES, stroll.chosen, MODEL_BYTES);
    }
    memcpy(stroll.state, stroll.chosen, MODEL_BYTES);
  }
  Arena *arena = &worker->search->arena;
  if (arena->file >= 0) arena_drop(arena, 0, arena->resident);
  return written;
}
