/* Random walks: from a start state, one enabled rule instance after the other, each chosen with the weight of its rule.
 *
 * A walk depends on its number and the seed alone. A walk with a finding can therefore be repeated to write its
 * states, and the walk that is reported does not depend on the number of threads. Steps from a state to itself are
 * not taken. */
#if HAS_COVERAGE

/* Number of registers that count different states by the leading zeros of their hashes (HyperLogLog). */
enum { REGISTER_BITS = 12, REGISTERS = 1 << REGISTER_BITS };

/* The ending of a walk. */
enum { WALK_BOUND, WALK_DEADLOCK, WALK_STATE, WALK_RULE, WALK_START, WALK_DEAD_END, WALK_STOPPED };

typedef struct {
  const uint64_t *weights;
  uint64_t random;
  uint64_t weight;     /* sum over all successors so far */
  uint32_t rule;       /* rule that led to the chosen successor */
#if HAS_PUT
  uint64_t put_length;         /* number of words recorded before these successors */
  uint64_t put_begin, put_end; /* words of the chosen successor */
#endif
  uint8_t state[STATE_BYTES + SPARE_BYTES];
  uint8_t chosen[STATE_BYTES + SPARE_BYTES];
} Walk;

/* Chooses among all successors so far: the newest with a probability of its share of the weight. */
static void sample_successors(Expansion *expansion) {
  Walk *walk = ((Worker *)expansion)->purpose;
  for (uint32_t i = 0; i < expansion->count; i++) {
    const uint8_t *successor = expansion->successors + (size_t)i * STATE_BYTES;
    uint64_t weight = walk->weights[expansion->rules[i]];
    if (!weight || states_equal(successor, walk->state)) continue;
    walk->weight += weight;
    if (multiply_high(next_random(&walk->random), walk->weight) >= weight) continue;
    memcpy(walk->chosen, successor, STATE_BYTES);
    walk->rule = expansion->rules[i];
#if HAS_PUT
    walk->put_begin = expansion->put_begins[i];
    walk->put_end = expansion->put_ends[i];
#endif
  }
  expansion->count = 0;
}

static void count_state(Worker *worker, const uint8_t *state, uint8_t *registers) {
  uint64_t hash = hash_state(&worker->search->hasher, state);
  uint64_t rest = hash << REGISTER_BITS | (uint64_t)1 << (REGISTER_BITS - 1);
  uint8_t rank = (uint8_t)(__builtin_clzll(rest) + 1);
  uint8_t *at = &registers[hash >> (64 - REGISTER_BITS)];
  if (rank > *at) *at = rank;
}

/* Expands a state and chooses a successor. Drops the output of successors, which walk_on restores for the chosen
 * one. */
static void choose_step(Worker *worker, Walk *walk) {
  walk->weight = 0;
#if HAS_PUT
  Context *context = worker->expansion.context;
  walk->put_length = context->put_length;
#endif
  expand_state(worker, walk->state);
  sample_successors(&worker->expansion);
#if HAS_PUT
  context->put_length = walk->put_length;
#endif
}

/* Goes to the chosen successor. The words that it recorded are still in the buffer. */
static void walk_on(Worker *worker, Walk *walk) {
  memcpy(walk->state, walk->chosen, STATE_BYTES);
#if HAS_PUT
  Context *context = worker->expansion.context;
  const uint64_t count = walk->put_end - walk->put_begin;
  if (count) memmove(context->put + walk->put_length, context->put + walk->put_begin, count * sizeof *context->put);
  context->put_length += count;
#endif
  drain_put(worker);
}

/* Takes one walk. Writes its states to `path`, if given, which has space for `most_steps` + 1 states. */
static int walk_one(Worker *worker, const Walks *walks, uint64_t number, Walked *walked, uint8_t *path,
                    uint64_t *steps) {
  Walk walk = {.weights = walks->weights};
  uint64_t seed = walks->seed, own = number;
  int failed = 0;
  walk.random = next_random(&seed) ^ next_random(&own);
  *steps = 0;
  worker->purpose = &walk;
  worker->expansion.flush = sample_successors;
  if (!random_start(worker, &walk.random, walk.state, &failed)) return failed ? WALK_START : WALK_DEAD_END;
  for (;;) {
    count_state(worker, walk.state, walked->registers);
    if (path) memcpy(path + *steps * STATE_BYTES, walk.state, STATE_BYTES);
    check_state(worker, walk.state);
    if (worker->found[FOUND_STATE].count) return WALK_STATE;
    if (stopping(worker->search)) return WALK_STOPPED;
    choose_step(worker, &walk);
    if (worker->found[FOUND_RULE].count) return WALK_RULE;
    if (worker->found[FOUND_DEADLOCK].count) return WALK_DEADLOCK;
    if (!walk.weight) return WALK_DEAD_END;
    if (*steps == walks->most_steps) return WALK_BOUND;
    walk_on(worker, &walk);
    walked->taken[walk.rule]++;
    ++*steps;
  }
}

static void forget_found(Worker *worker) {
  for (int kind = 0; kind < FOUND_KINDS; kind++) worker->found[kind].count = 0;
}

static int is_wrong(int ending) { return ending >= WALK_DEADLOCK && ending <= WALK_START; }

/* Takes walk after walk, until there are enough, an earlier one has a finding, or the search must stop. */
EXPORT void outcrop_walk(Search *search, uint64_t number, Walks *walks, Walked *walked) {
  Worker *worker = &search->workers[number];
  while (!stopping(search)) {
    uint64_t steps, next = __atomic_fetch_add(&walks->next, 1, __ATOMIC_RELAXED);
    uint64_t first_wrong = __atomic_load_n(&walks->first_wrong, __ATOMIC_RELAXED);
    if (next >= walks->most_walks || next >= first_wrong) return;
    int ending = walk_one(worker, walks, next, walked, NULL, &steps);
    forget_found(worker);
    walked->walks++;
    walked->steps += steps;
    walked->dead_ends += ending == WALK_DEAD_END;
    while (is_wrong(ending) && next < first_wrong &&
           !__atomic_compare_exchange_n(&walks->first_wrong, &first_wrong, next, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
      ;
  }
}

/* Repeats a walk, and writes its states to `path`. Returns its ending. */
EXPORT uint64_t outcrop_replay_walk(Search *search, uint64_t number, const Walks *walks, Walked *walked, uint8_t *path,
                                   uint64_t *steps) {
  Worker *worker = &search->workers[0];
  worker->expansion.context = worker->scratch;
  /* The reason that ended the other walks must not end this one. */
  int stop = __atomic_exchange_n(&search->stop, STOP_NONE, __ATOMIC_SEQ_CST);
  int ending = walk_one(worker, walks, number, walked, path, steps);
  stop_search(search, stop);
  worker->expansion.context = worker->counted;
  forget_found(worker);
  return (uint64_t)ending;
}

#endif
