/* Transition locality: how many levels each transition leads forwards or back. After a complete search the arena is
 * expanded again, and the index of a target gives its level. Transitions from a state to itself are left out, unless
 * they are asked for.
 *
 * For each distance, the sums over the states are of the fraction of a state's transitions that have it, and of the
 * square of that fraction. Both are fixed-point numbers with UNIT_BITS binary places, so that sums do not depend on
 * their order. */

enum { UNIT_BITS = 62 };

typedef struct {
  const uint64_t *ends; /* end of each level */
  uint64_t level;       /* level of the states being expanded */
  int with_loops;
  Distance *distances;  /* the first is for the next level, each further one for one level further back */
  Measured *measured;
  uint32_t *counts;     /* transitions of the current state, for each distance */
  uint64_t *touched;    /* the distances whose count is not 0 */
  uint64_t touched_count;
  uint64_t transitions; /* number of transitions of the current state */
  uint32_t owner;       /* the current state, UINT32_MAX before the first */
} Measuring;

static void add_wide(uint64_t sum[2], uint64_t term) { sum[1] += __builtin_add_overflow(sum[0], term, &sum[0]); }

/* Adds the current state, after its last transition. */
static void measure_state(Measuring *measuring) {
  if (measuring->owner == UINT32_MAX) return;
  measuring->measured->states++;
  measuring->measured->stuck += measuring->transitions == 0;
  for (uint64_t i = 0; i < measuring->touched_count; i++) {
    uint64_t number = measuring->touched[i], count = measuring->counts[number];
    uint64_t part = (uint64_t)(((Wide)count << UNIT_BITS) / measuring->transitions);
    Distance *distance = &measuring->distances[number];
    distance->transitions += count;
    add_wide(distance->part, part);
    add_wide(distance->square, (uint64_t)((Wide)part * part >> UNIT_BITS));
    measuring->counts[number] = 0;
  }
  measuring->touched_count = measuring->transitions = 0;
}

/* Returns how many levels before the next one a state of the arena lies. */
static uint64_t distance_of(const Measuring *measuring, uint64_t index) {
  uint64_t low = 0, high = measuring->level + 1;
  if (index >= measuring->ends[measuring->level]) return 0;
  if (measuring->level == 0 || index >= measuring->ends[measuring->level - 1]) return 1;
  while (low < high) { /* finds the first level that ends after it */
    uint64_t middle = low + (high - low) / 2;
    if (measuring->ends[middle] <= index)
      low = middle + 1;
    else
      high = middle;
  }
  return measuring->level + 1 - low;
}

static void measure_successors(Expansion *expansion) {
  Worker *worker = (Worker *)expansion;
  Measuring *measuring = worker->purpose;
  hash_successors(expansion);
  for (uint32_t i = 0; i < expansion->count; i++) {
    const uint8_t *successor = expansion->successors + (size_t)i * STATE_BYTES;
    for (; measuring->owner != expansion->owners[i]; measuring->owner++) measure_state(measuring);
    int is_loop = states_equal(successor, worker->block + (size_t)measuring->owner * STATE_BYTES);
    measuring->measured->loops += (uint64_t)is_loop;
    if (is_loop && !measuring->with_loops) continue;
    uint64_t index = worker->search->visited->position(worker->search, successor, expansion->hashes[i]);
    uint64_t number = distance_of(measuring, index);
    if (!measuring->counts[number]++) measuring->touched[measuring->touched_count++] = number;
    measuring->transitions++;
  }
  expansion->count = 0;
}

/* Measures the states of a range of the arena, which has `levels` levels. Returns 0 if there is no memory. */
static int measure_distances(Worker *worker, uint64_t begin, uint64_t end, const uint64_t *ends, uint64_t levels,
                             int with_loops, Distance *distances, Measured *measured) {
  Measuring measuring = {ends, 0, with_loops, distances, measured, calloc(levels + 1, sizeof(uint32_t)),
                         calloc(levels + 1, sizeof(uint64_t)), 0, 0, UINT32_MAX};
  int complete = measuring.counts && measuring.touched;
  worker->purpose = &measuring;
  worker->expansion.flush = measure_successors;
  while (complete && begin < end && !stopping(worker->search)) {
    while (ends[measuring.level] <= begin) measuring.level++;
    worker->block = arena_state(&worker->search->arena, begin);
    measuring.owner = UINT32_MAX;
    uint32_t count = 0;
    for (; count < BLOCK_STATES && begin < end && begin < ends[measuring.level]; begin++) {
      worker->expansion.owner = count++;
      model_expand(arena_state(&worker->search->arena, begin), &worker->expansion);
    }
    measure_successors(&worker->expansion);
    for (; measuring.owner != count; measuring.owner++) measure_state(&measuring);
  }
  free(measuring.counts);
  free(measuring.touched);
  return complete;
}
