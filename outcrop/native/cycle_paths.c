/* Shortest paths and cycles among the states of an exact search, a step at a time, and the states that cycles begin with. */

typedef struct {
  uint64_t limit; /* states from this index on are not passed */
  uint32_t target;
  int within_s;
  int hit; /* whether the target is a successor */
  int complete;
} Step;

static void step_successors(Expansion *expansion) {
  Worker *worker = (Worker *)expansion;
  Cycles *cycles = worker->search->cycles;
  Step *step = worker->purpose;
  const uint32_t *positions = locate_successors(worker);
  const uint32_t count = expansion->count;
  expansion->count = 0;
  for (uint32_t i = 0; i < count; i++) {
    if (positions[i] == UINT32_MAX) continue;
    uint32_t *word = &cycles->words[positions[i]];
    step->hit |= positions[i] == step->target;
    if (*word & PASSED || positions[i] >= step->limit || (step->within_s && !(*word & IN_S))) continue;
    if (cycles->reached_count == cycles->reached_room) {
      uint64_t room = 2 * cycles->reached_room + 1024;
      uint32_t *grown = realloc(cycles->reached, room * sizeof *grown);
      if (!grown) {
        step->complete = 0;
        return;
      }
      cycles->reached = grown;
      cycles->reached_room = room;
    }
    *word |= PASSED;
    cycles->reached[cycles->reached_count++] = positions[i];
  }
}

/* Finds the successors of some states that were not reached before. */
static void take_step(Worker *worker, const uint32_t *states, uint64_t count, Step *step) {
  const Arena *arena = &worker->search->arena;
  worker->search->cycles->reached_count = 0;
  worker->purpose = step;
  worker->expansion.flush = step_successors;
  step->complete = 1;
  for (uint64_t i = 0; i < count && !stopping(worker->search); i++) {
    uint8_t room[MODEL_BYTES + SPARE_BYTES];
    worker->expansion.owner = (uint32_t)i;
    model_expand(parent_state(worker, arena_state(arena, states[i]), room), &worker->expansion);
  }
  step_successors(&worker->expansion);
}

/* Takes the step to states that other ranks have sent. */
static void take_step_to(Worker *worker, const uint8_t *message, Step *step) {
  worker->search->cycles->reached_count = 0;
  worker->purpose = step;
  worker->expansion.flush = step_successors;
  step->complete = 1;
  flush_message(worker, message);
}

/* Returns the least accepting state of S in a range that was not reached; UINT64_MAX if there is none. */
static uint64_t least_accepting(const Search *search, uint64_t begin, uint64_t end) {
  uint8_t rooms[2][MODEL_BYTES + SPARE_BYTES];
  const uint8_t *least_state = NULL;
  uint64_t least = UINT64_MAX;
  for (uint64_t index = begin; index < end; index++) {
    if ((*word_of(search, index) & (IN_S | ACCEPTING | PASSED)) != (IN_S | ACCEPTING)) continue;
    const uint8_t *state = packed_state(search, arena_state(&search->arena, index), rooms[least_state == rooms[0]]);
    if (least_state && memcmp(state, least_state, MODEL_BYTES) >= 0) continue;
    least_state = state;
    least = index;
  }
  return least;
}
