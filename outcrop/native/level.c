/* Levels: workers take blocks of the current level, expand them, and add the new states to the next one. */

/* Number of states of a level that a worker takes at once: many in large levels, so that workers seldom contend and
 * lookups overlap; few in small ones, whose last block would keep the others waiting. */
enum { BLOCK_STATES = 128, MOST_BLOCK_STATES = 512 };

/* Bytes at the start of a Context that hold the counts for each rule. */
#define COUNTED_BY_RULE offsetof(Context, covered)

/* Levels up to this size are expanded by one worker. */
enum { SMALL_LEVEL = 1024 };

/* Number of polls for the end of the other workers before a worker sleeps: some tens of microseconds. */
enum { TURNS_BEFORE_SLEEP = 1000 };

/* Number of words of put statements that a worker keeps before it hands them over. */
enum { MANY_PUT_WORDS = 1 << 16 };

#if HAS_COVERAGE
/* Counts, for each rule, the successors that belong to the next level. A state's level is known while the arena holds
 * all states in order. With several ranks no rank knows it. */
static void count_deeper(Worker *worker, uint32_t count) {
  const Search *search = worker->search;
  const Expansion *expansion = &worker->expansion;
  if (!search->visited->knows_indexes || search->visited->is_tentative || is_shared(search)) return;
  for (uint32_t i = 0; i < count; i++) {
    const uint8_t *state = expansion->successors + (size_t)i * STATE_BYTES;
    if (worker->is_new[i] || table_find(&search->table, &search->arena, state, expansion->hashes[i]) >= search->level_end)
      expansion->context->deeper[expansion->rules[i]]++;
  }
}
#endif

/* Returns whether a successor in the buffer equals its source. */
static inline int is_loop(const Worker *worker, uint32_t number) {
  const Expansion *expansion = &worker->expansion;
  return states_equal(expansion->successors + (size_t)number * STATE_BYTES,
                      worker->block + (size_t)expansion->owners[number] * STATE_BYTES);
}

/* Removes such successors from the buffer: they are visited, even if the visited set no longer has them. Does so
 * only if there are `many` in a sample of 32, so that it pays. The comparison is not made when a successor is
 * generated, because its bytes have just been written in other pieces than the comparison would read. */
static void drop_loops(Worker *worker, uint32_t many) {
  Expansion *expansion = &worker->expansion;
  uint8_t *const successors = expansion->successors;
  const uint32_t count = expansion->count;
  uint32_t kept = 0, seen = 0;
  if (!worker->block) return;
  for (uint32_t i = 0; i < count; i += count / 32 + 1) seen += (uint32_t)is_loop(worker, i);
  if (seen < many) return;
  for (uint32_t i = 0; i < count; i++) {
    if (is_loop(worker, i)) continue;
    if (kept != i) {
      memcpy(successors + (size_t)kept * STATE_BYTES, successors + (size_t)i * STATE_BYTES, STATE_BYTES);
      move_origin(expansion, kept, i);
    }
    kept++;
  }
  expansion->count = kept;
  worker->generated += count - kept;
}

/* Hashes the successors in the buffer, which are as the model packs them, and routes those that other ranks own. */
static void route_own_successors(Worker *worker) {
  Search *search = worker->search;
  uint64_t foreign = route_successors(&search->route, &worker->expansion, &worker->aside, worker->outgoing);
  if (foreign == UINT64_MAX)
    __atomic_store_n(&search->lost, 1, __ATOMIC_RELAXED);
  else
    worker->foreign += foreign, worker->generated += foreign;
}

/* Hashes the successors in the buffer, and routes those that other ranks own, unless that was done before they were
 * folded. Every flush of a search starts with it. */
static void hash_own_successors(Worker *worker) {
  if (is_shared(worker->search) && !HAS_TREE)
    route_own_successors(worker);
  else if (worker->search->visited->takes_hashes)
    hash_successors(&worker->expansion);
}

/* Adds states, whose hashes the worker has, to the visited set, and checks the new ones. */
static void add_hashed(Worker *worker, const uint8_t *states, uint32_t count) {
  Search *search = worker->search;
  const uint64_t *hashes = worker->expansion.hashes;
  if (worker->overflow && !search->visited->carry) return;
  uint32_t done = 0;
  if (!worker->overflow) done = search->visited->add(worker, states, hashes, count, worker->is_new);
#if HAS_COVERAGE
  count_deeper(worker, done);
#endif
  if (!search->visited->is_tentative && (HAS_ASSUMPTIONS || HAS_INVARIANTS || HAS_COVER_PROPERTIES))
    check_new(worker, states, done);
  worker->overflow |= done < count;
  if (done < count && search->visited->carry)
    search->visited->carry(worker, states + (size_t)done * STATE_BYTES, hashes + done, count - done);
}

/* Flushes the buffer of a search. */
static void add_successors(Expansion *expansion) {
  Worker *worker = (Worker *)expansion;
#if HAS_TREE
  /* The packed states are kept for the checks of new ones. */
  if (is_shared(worker->search)) route_own_successors(worker);
  uint8_t *packed = expansion->successors;
  fold_successors(worker, worker->search->visited->knows_indexes ? NULL : worker->block, worker->roots);
  worker->packed = packed;
  expansion->successors = worker->roots;
#else
  squeeze_successors(worker);
  /* A table of all visited states finds loops nearly as fast. With eviction, each would be a candidate. */
  drop_loops(worker, worker->search->visited->forgets ? 1 : 6);
#endif
  hash_own_successors(worker);
  uint32_t count = expansion->count;
  expansion->count = 0;
  worker->generated += count;
  add_hashed(worker, expansion->successors, count);
#if HAS_TREE
  expansion->successors = packed;
  worker->packed = NULL;
  if (worker->overflow) forget_recent(worker); /* some of them were not added */
#endif
}

static void expand_state(Worker *worker, const uint8_t *kept) {
  Expansion *expansion = &worker->expansion;
  const Search *search = worker->search;
  uint8_t room[MODEL_BYTES + SPARE_BYTES];
  const uint8_t *state = parent_state(worker, kept, room);
  expansion->enabled = expansion->failed = 0;
  expansion->moved = search->deadlock != DEADLOCK_STUTTERING; /* otherwise it is not needed */
  if (model_expand(state, expansion) != OK) expansion->failed = 1;
  if (__builtin_expect(expansion->failed, 0)) {
    found_add(&worker->found[FOUND_RULE], state, search->most_found);
    return;
  }
  int is_stuck = search->deadlock == DEADLOCK_STUTTERING ? !expansion->moved
                                                         : search->deadlock == DEADLOCK_STUCK && !expansion->enabled;
#if HAS_ENDS
  if (__builtin_expect(is_stuck, 0)) {
    int may_end;
    model_may_end(state, expansion->context, &may_end);
    is_stuck = !may_end;
  }
#endif
  if (__builtin_expect(is_stuck, 0)) found_add(&worker->found[FOUND_DEADLOCK], state, search->most_found);
}

/* Hands over the output of put statements when it is large. Uncounted expansions do not print. */
static void drain_put(Worker *worker) {
#if HAS_PUT
  const Search *search = worker->search;
  if (worker->expansion.context != worker->counted)
    worker->expansion.context->put_length = 0;
  else if (worker->counted->put_length > MANY_PUT_WORDS && search->drain)
    search->drain((uint64_t)(worker - search->workers));
#else
  (void)worker;
#endif
}

/* Expands a block of the level. If the search must stop in the middle, the block counts as not expanded, and its
 * firings are undone, unless the visited set carries the successors that did not fit. */
static void expand_block(Worker *worker, uint64_t begin, uint64_t end) {
  Context *context = worker->expansion.context;
  int carries = worker->search->visited->carry != NULL;
  uint64_t generated = worker->generated;
  memcpy(worker->before, context, COUNTED_BY_RULE);
  worker->block = arena_state(&worker->search->arena, begin);
  if (worker->search->arena.file >= 0) {
    worker->read += states_sum(worker->block, end - begin);
    worker->read_states += end - begin;
  }
  for (uint64_t index = begin; index < end && (carries || !worker->overflow); index++) {
    worker->expansion.owner = (uint32_t)(index - begin);
    expand_state(worker, arena_state(&worker->search->arena, index));
  }
  worker->expansion.flush(&worker->expansion);
  if (worker->overflow && !carries) {
    memcpy(context, worker->before, COUNTED_BY_RULE);
    worker->generated = generated;
  }
  drain_put(worker);
}

static int gives_up(const Search *search) { return __atomic_load_n(&search->gives_up, __ATOMIC_RELAXED); }

/* Expands up to `blocks` blocks of `block` states of the current level. Returns 0 if there are no more. */
static int expand_part(Worker *worker, uint64_t blocks, uint64_t block) {
  Search *search = worker->search;
  worker->overflow = 0;
  worker->expansion.flush = search->flush;
  for (; blocks && !stopping(search) && !gives_up(search) && !worker->overflow; blocks--) {
    uint64_t begin = __atomic_fetch_add(&search->cursor, block, __ATOMIC_RELAXED);
    if (begin >= search->level_end) return 0;
    uint64_t end = begin + block < search->level_end ? begin + block : search->level_end;
    expand_block(worker, begin, end);
    arena_passed(&search->arena, search->level_begin, begin, end);
  }
  return 1;
}

/* Expands the parts of the current level that the workers have found, its own first, until there are no more. */
static void expand_claims(Worker *worker) {
  Search *search = worker->search;
  const uint32_t number = (uint32_t)(worker - search->workers);
  worker->overflow = 0;
  worker->expansion.flush = search->flush;
  for (uint32_t i = 0; i < search->worker_count; i++) {
    Worker *finder = &search->workers[(number + i) % search->worker_count];
    while (!stopping(search) && !worker->overflow) {
      uint64_t taken = __atomic_fetch_add(&finder->claims_taken, 1, __ATOMIC_RELAXED);
      if (taken >= finder->level_claims.count) break;
      uint64_t begin = finder->level_claims.firsts[taken], end = begin + search->level_chunk_states;
      if (end > search->level_end) end = search->level_end;
      if (begin >= end) continue; /* its states have been moved into earlier holes */
      expand_block(worker, begin, end);
      __atomic_fetch_add(&search->cursor, end - begin, __ATOMIC_RELAXED);
    }
  }
}

static void expand_level(Worker *worker) {
  const Search *search = worker->search;
  if (keeps_claims(search)) {
    expand_claims(worker);
    return;
  }
  uint64_t share = (search->level_end - search->level_begin) / (64 * (uint64_t)search->worker_count);
  uint64_t block = share < BLOCK_STATES        ? BLOCK_STATES
                   : share > MOST_BLOCK_STATES ? MOST_BLOCK_STATES
                                               : share;
  expand_part(worker, UINT64_MAX, block);
}

#if HAS_AUTOMATON
static void pass_on_values(Worker *worker, const uint8_t *states, uint32_t count, const uint8_t *values);
static uint32_t *room_for_positions(const Worker *worker);
#endif

/* Adds states that other ranks have generated and counted, and this one owns. */
static void add_message(Worker *worker, const uint8_t *message) {
  Expansion *expansion = &worker->expansion;
  uint8_t *states = worker->aside.states;
  worker->overflow = 0;
  for (Reading reading = begin_reading(message); reading.left;) {
    const uint8_t *values = reading.values;
    uint32_t count = read_states(&reading, states, SUCCESSOR_ROOM);
#if HAS_TREE
    count = fold_states_sent(worker, states, count);
#endif
    for (uint32_t i = 0; i < count; i++) {
      uint64_t hash = hash_state(expansion->hasher, states + (size_t)i * STATE_BYTES);
      expansion->hashes[i] = hash;
      __builtin_prefetch(expansion->lines + multiply_high(hash, expansion->line_count) * LINE_BYTES, 1);
    }
#if HAS_AUTOMATON
    if (values) {
      worker->positions = room_for_positions(worker);
      add_hashed(worker, states, count);
      worker->positions = NULL;
      if (!worker->overflow) pass_on_values(worker, states, count, values);
      reading.values += count * sizeof(uint32_t);
      continue;
    }
#endif
    (void)values;
    add_hashed(worker, states, count);
  }
}

/* Creates the start states, or continues after memory was full. Returns the number of instances that failed. */
static uint64_t expand_start_states(Worker *worker) {
  Expansion *expansion = &worker->expansion;
  Search *search = worker->search;
  uint64_t failures = 0;
  worker->overflow = 0;
  worker->block = NULL;
  expansion->flush = add_successors;
#if HAS_COVERAGE
  expansion->rule = RULE_COUNT;
#endif
  while (search->started < search->start_end && !stopping(search)) {
    uint64_t instance = search->started++;
    if (expansion->count == SUCCESSOR_ROOM) add_successors(expansion);
    uint8_t *state = expansion->successors + (size_t)expansion->count * MODEL_BYTES;
    memset(state, 0, MODEL_BYTES);
    int status = model_start(instance, state, expansion->context);
    failures += status == FAILED;
    if (status != OK) continue;
#if HAS_NORMALISE
    model_normalise(state);
#endif
    if (successor_assumed(state, expansion->context)) successor_keep(expansion);
  }
  add_successors(expansion);
  return failures;
}

#if HAS_AUTOMATON
static void cycles_moved(struct Cycles *cycles, uint64_t from, uint64_t to);
#else
static void cycles_moved(struct Cycles *cycles, uint64_t from, uint64_t to) { (void)cycles, (void)from, (void)to; }
#endif

/* Moves states from the end of the arena into the space that workers claimed and did not fill. */
static void close_holes(Search *search) {
  Arena *arena = &search->arena;
  uint64_t unfilled = 0;
  for (uint32_t i = 0; i < search->worker_count; i++)
    unfilled += search->workers[i].chunk.end - search->workers[i].chunk.next;
  uint64_t end = arena->used - unfilled, from = arena->used;
  for (uint32_t i = 0; i < search->worker_count; i++) {
    Chunk *hole = &search->workers[i].chunk;
    for (; hole->next < hole->end && hole->next < end; hole->next++) {
      const Chunk *behind;
      while ((behind = first_hole(search, from - 1, from)) != NULL) from = behind->next;
      from--;
      memcpy(arena_state(arena, hole->next), arena_state(arena, from), STATE_BYTES);
      if (search->visited->moved) search->visited->moved(search, from, hole->next);
      if (search->cycles) cycles_moved(search->cycles, from, hole->next);
    }
  }
  for (uint32_t i = 0; i < search->worker_count; i++) search->workers[i].chunk = (Chunk){end, end};
  arena->used = end;
}

/* Returns whether the states of the expanded level are those that were written. */
static int is_level_intact(Search *search) {
  uint64_t read = 0, states = 0, written = 0, expected = search->level_sum;
  for (uint32_t i = 0; i < search->worker_count; i++) {
    Worker *worker = &search->workers[i];
    read += worker->read, states += worker->read_states, written += worker->written;
    worker->read = worker->read_states = worker->written = 0;
  }
  search->level_sum = written;
  return states < search->level_end - search->level_begin || read == expected;
}

/* Makes the new states the current level. Returns its size. */
static uint64_t finish_level(Search *search) {
  close_holes(search);
  if (search->arena.file >= 0 && !is_level_intact(search)) stop_search(search, STOP_DAMAGED);
  search->unexpanded = search->cursor < search->level_end ? search->cursor : search->level_end;
  /* Drops what readers have left in memory; otherwise a part of every level would stay there. */
  if (search->arena.file >= 0)
    arena_drop(&search->arena, search->level_begin * STATE_BYTES, search->level_end * STATE_BYTES);
  search->level_begin = search->level_end;
  search->level_end = search->arena.used;
  search->cursor = search->level_begin;
  __atomic_fetch_add(&search->levels, 1, __ATOMIC_RELAXED);
  for (uint32_t i = 0; i < search->worker_count; i++) {
    Worker *worker = &search->workers[i];
    Claims expanded = worker->level_claims;
    expanded.count = worker->claims_taken = 0;
    worker->level_claims = worker->found_claims;
    worker->found_claims = expanded;
  }
  search->level_chunk_states = search->chunk_states;
  uint64_t size = search->level_end - search->level_begin;
  uint64_t share = size / (64 * (uint64_t)search->worker_count);
  search->chunk_states = share < 64 ? 64 : share > MOST_CHUNK_STATES ? MOST_CHUNK_STATES : share;
  return size;
}

static int anything_found(const Search *search) {
  for (uint32_t i = 0; i < search->worker_count; i++)
    for (int kind = 0; kind < FOUND_KINDS; kind++)
      if (search->workers[i].found[kind].count) return 1;
  return 0;
}

static uint64_t total_generated(const Search *search) {
  uint64_t generated = 0;
  for (uint32_t i = 0; i < search->worker_count; i++)
    generated += __atomic_load_n(&search->workers[i].generated, __ATOMIC_RELAXED);
  return generated;
}

/* The levels that one call expands: up to `most`, while none is larger than `largest`, there is no finding and there
 * are fewer than `most_states` states. */
typedef struct {
  uint64_t before; /* levels found earlier */
  uint64_t most;
  uint64_t largest;
  uint64_t *sizes;     /* size of each new level */
  uint64_t *generated; /* successors generated up to each new level */
} LevelList;

/* Returns whether another level may be expanded before the caller looks at the findings. */
static int levels_go_on(const Search *search, const LevelList *list) {
  uint64_t size = search->level_end - search->level_begin;
  if (search->levels - list->before == list->most || size == 0 || size > list->largest) return 0;
  if (search->level_end >= search->most_states || anything_found(search)) return 0;
  if (stopping(search) || gives_up(search)) return 0;
#if HAS_PUT
  for (uint32_t i = 0; i < search->worker_count; i++)
    if (search->workers[i].expansion.context->put_length) return 0;
#endif
  return 1;
}

/* Finishes the level, which all workers have expanded, and expands small ones that follow, which are not worth
 * sharing. */
static void finish_levels(Worker *worker, const LevelList *list) {
  Search *search = worker->search;
  for (;;) {
    uint64_t size = finish_level(search), number = search->levels - list->before - 1;
    list->sizes[number] = size;
    list->generated[number] = total_generated(search);
    search->goes_on = levels_go_on(search, list);
    if (!search->goes_on || (size > SMALL_LEVEL && search->worker_count > 1)) return;
    worker_enter(worker);
    expand_level(worker);
    worker_leave(worker);
  }
}

/* Waits until another worker has started a new round. Spins at first, because waking up takes as long as a small
 * level. */
static void await_round(Search *search, uint64_t round) {
  for (int turn = 0; turn < TURNS_BEFORE_SLEEP; turn++) {
    if (__atomic_load_n(&search->rounds, __ATOMIC_ACQUIRE) != round) return;
    pause_briefly();
  }
  pthread_mutex_lock(&search->lock);
  while (__atomic_load_n(&search->rounds, __ATOMIC_ACQUIRE) == round)
    pthread_cond_wait(&search->round_begun, &search->lock);
  pthread_mutex_unlock(&search->lock);
}

/* Starts a new round, for which all other workers wait. */
static void begin_round(Search *search, uint64_t round) {
  search->arrived = 0;
  pthread_mutex_lock(&search->lock);
  __atomic_store_n(&search->rounds, round + 1, __ATOMIC_RELEASE);
  pthread_cond_broadcast(&search->round_begun);
  pthread_mutex_unlock(&search->lock);
}

/* Expands level after level, in all workers. The last worker to end a level finishes it. Returns the number of levels
 * expanded. */
static uint64_t expand_levels(Worker *worker, LevelList list) {
  Search *search = worker->search;
  do {
    take_core(worker);
    worker_enter(worker);
    expand_level(worker);
    worker_leave(worker);
    uint64_t round = __atomic_load_n(&search->rounds, __ATOMIC_RELAXED);
    if (__atomic_add_fetch(&search->arrived, 1, __ATOMIC_ACQ_REL) < search->worker_count) {
      await_round(search, round);
      continue;
    }
    finish_levels(worker, &list);
    begin_round(search, round);
  } while (search->goes_on);
  return search->levels - list.before;
}

/* Creates a random start state, which is followed by spare bytes: that of the first instance, from a random one on,
 * that has one. Returns 0 if none has, or if one meets a runtime error: `*failed`. */
static UNUSED int random_start(Worker *worker, uint64_t *random, uint8_t *state, int *failed) {
  uint64_t first = START_COUNT ? multiply_high(next_random(random), START_COUNT) : 0;
  for (uint64_t i = 0; i < START_COUNT && !stopping(worker->search); i++) {
    memset(state, 0, MODEL_BYTES + SPARE_BYTES);
    int status = model_start((first + i) % START_COUNT, state, worker->expansion.context);
    if (status == FAILED) return *failed = 1, 0;
    if (status != OK) continue;
#if HAS_NORMALISE
    model_normalise(state);
#endif
    if (successor_assumed(state, worker->expansion.context)) return 1;
  }
  return 0;
}
