/* A search and its workers: what is shared, what each thread has for itself, and how a batch of states is added to
 * those visited. */

enum { STOP_NONE, STOP_REQUESTED, STOP_MEMORY, STOP_DISK, STOP_DAMAGED, STOP_NARROW };
enum { DEADLOCK_OFF, DEADLOCK_STUTTERING, DEADLOCK_STUCK };

/* What the arena may hold unfilled for each worker. */
enum { MOST_CHUNK_STATES = 1024 };

typedef struct Worker Worker;

typedef struct {
  Arena arena;
  Hasher hasher;
  Table table;
  Signatures signatures;
  int exact;           /* the visited set is `table`; otherwise `signatures` */
  int deadlock;        /* what counts as one */
  uint64_t budget;     /* bytes that arena and visited set may take */
  uint64_t most_states;
  uint32_t most_found; /* findings kept of each kind */
  uint32_t worker_count;
  Worker *workers;

  uint64_t levels;                 /* found so far */
  uint64_t level_begin, level_end; /* the level being expanded: a range of the arena */
  uint32_t most_batch;             /* successors entered at once: fewer than the least table has room for */
  uint64_t chunk_states;           /* how much of the arena a worker claims at once, at most MOST_CHUNK_STATES */
  uint64_t level_chunk_states;     /* the same when the level being expanded was found */
  int stop;                        /* atomic */
  int requested;                   /* somebody has asked it to (atomic) */

  /* Past RAM. */
  int carries;         /* successors that memory does not hold are gathered, not lost */
  int defers;          /* states not in the arena need not be new: they are checked later */
  int lost;            /* some successors were: there was no memory even to gather them */
  uint64_t started;    /* start instances dealt with */
  uint64_t start_end;  /* the last of them, plus one */
  uint64_t unexpanded; /* the first state of the level before that was not expanded */
  uint8_t *known;      /* a bit a state: does some run have it? */

  struct Cache *cache; /* the visited set; NULL in most searches */
  int cache_grows;     /* it is what wants to grow (atomic) */
  int gives_up;        /* it has forgotten so much that no more blocks are to be expanded (atomic) */
  int needs_no_hashes; /* it keeps states */
  uint64_t level_sum;  /* what the states of the level add up to, where the arena is a file */

  Route route; /* over several processes */
#if SQUEEZED_BYTES
  Squeeze squeeze;
#endif

  /* Looking for accepting cycles. */
  struct Cycles *cycles;               /* what is kept of each state beside; NULL in other searches */
  struct Compacted *compacted;         /* the same for signatures */
  void (*flush)(Expansion *expansion); /* what a level does with successors */
  uint64_t beside_state;               /* bytes kept beside each state of the arena */
  uint64_t beside;                     /* bytes kept beside all of them (atomic) */

  /* Growing the visited set: all workers that are at work gather, and rebuild it together. */
  pthread_mutex_t lock;
  pthread_cond_t changed;
  int growing;           /* one of them wants it to grow (atomic) */
  uint32_t active;       /* workers at work */
  uint32_t gathered;     /* of these, how many wait */
  uint32_t rebuilding;   /* of these, how many have still to do their part in this round */
  uint64_t fillings;     /* rounds of filling the new table that have begun, in all growths */
  uint64_t provided;     /* bytes of the new table whose pages one of them has taken care of (atomic) */
  uint64_t rebuilt;      /* the first arena index that none of them has taken (atomic) */
  Growth growth;         /* of signatures */
  uint64_t growths;      /* completed, successful or not */

  /* Between levels: all workers arrive, and the last one finishes the level and begins a round. */
  uint32_t arrived; /* (atomic) */
  int goes_on;      /* there is a level to expand in this round */
  uint64_t rounds;  /* begun (atomic) */
  pthread_cond_t round_begun;

  /* What workers write all the time lies where nothing lies that they only read. */
  uint8_t before[128];
  uint64_t cursor;   /* the first state of the level that no worker has taken (atomic) */
  uint64_t reserved; /* states in the visited set, and successors about to be entered (atomic) */
  uint8_t behind[128];
} Search;

struct Worker {
  Expansion expansion; /* first, so that a flush can find its worker */
  Search *search;
  Context *counted; /* what the search adds up */
  Context *scratch; /* for expanding states again, which does not count */
  Chunk chunk;
  Claims found_claims; /* of the arena, for the next level; only where claims are kept */
  Claims level_claims; /* ... in the level being expanded */
  uint64_t claims_taken; /* of the latter, those that some worker has begun to expand (atomic) */
  Found found[FOUND_KINDS];
  Gathered gathered; /* successors for the caller to deal with */
  Gathered fresh;    /* candidates found to be new */
  Aside aside;
  Outgoing *outgoing; /* of each process */
  uint64_t foreign;   /* successors that others own */
  RunWork runs;
  uint64_t generated; /* successors that this search has looked up or gathered, known ones included */
  uint64_t written;   /* what the states add up to that it has added to an arena that is a file, in this level */
  uint64_t read, read_states; /* ... and those that it has expanded */
  int overflow; /* successors were lost because the search stops: their block counts as not expanded */
  uint8_t *is_new;
  uint32_t *positions;    /* if not NULL, where in the arena each successor of the last batch lies */
  Context *before;        /* its counters of rules at the start of the block */
  const uint8_t *block;   /* the states being expanded; `owner` counts from here; NULL: successors that are one are kept */
  void *purpose;          /* of a flush other than searching */
#if SQUEEZED_BYTES
  uint8_t *misfits; /* successors that cannot be squeezed any more, as the model packs them */
  uint64_t misfit_count, misfit_room;
#endif
} __attribute__((aligned(128))); /* no cache line, nor the one fetched with it, belongs to two workers */

static uint64_t visited_bytes(const Search *search) {
  return (search->exact ? search->table.line_count : search->signatures.line_count) * LINE_BYTES;
}

static uint64_t visited_limit(const Search *search) {
  return search->exact ? search->table.limit : search->signatures.limit;
}

/* What is kept for states beside arena and visited set. */
static uint64_t beside_bytes(const Search *search) {
  return search->arena.used * search->beside_state + __atomic_load_n(&search->beside, __ATOMIC_RELAXED);
}

/* Whether other processes have a part in it. */
static int is_shared(const Search *search) { return HAS_ALL_KERNELS && search->route.ranks; }

static int stopping(const Search *search) { return __atomic_load_n(&search->stop, __ATOMIC_RELAXED) != STOP_NONE; }

/* The first reason stays. */
static void stop_search(Search *search, int reason) {
  int none = STOP_NONE;
  __atomic_compare_exchange_n(&search->stop, &none, reason, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
}

/* Also where it has stopped for want of memory, and goes on past that. */
static void request_stop(Search *search) {
  __atomic_store_n(&search->requested, 1, __ATOMIC_SEQ_CST);
  stop_search(search, STOP_REQUESTED);
}

/* --- The two forms of a state -------------------------------------------------------------------------------- */

/* A state that is kept, as the model packs it. `room` is for MODEL_BYTES and spare ones, and not always used. */
static inline const uint8_t *packed_state(const Search *search, const uint8_t *state, uint8_t *room) {
#if SQUEEZED_BYTES
  spread_state(&search->squeeze, state, room);
  return room;
#else
  (void)search, (void)room;
  return state;
#endif
}

#if SQUEEZED_BYTES
/* The search must go on with wider states. Until then it keeps those that do not fit. */
static void keep_misfit(Worker *worker, const uint8_t *state) {
  stop_search(worker->search, STOP_NARROW);
  if (worker->misfit_count == worker->misfit_room) {
    uint64_t room = worker->misfit_room ? 2 * worker->misfit_room : 64;
    uint8_t *misfits = realloc(worker->misfits, room * MODEL_BYTES);
    if (!misfits) {
      __atomic_store_n(&worker->search->lost, 1, __ATOMIC_RELAXED);
      return;
    }
    worker->misfits = misfits;
    worker->misfit_room = room;
  }
  memcpy(worker->misfits + worker->misfit_count++ * MODEL_BYTES, state, MODEL_BYTES);
}
#endif

/* What is known of the origin of a successor goes with it, to another place of the buffer. */
static inline void move_origin(Expansion *expansion, uint32_t to, uint32_t from) {
  expansion->owners[to] = expansion->owners[from];
#if HAS_COVERAGE
  expansion->rules[to] = expansion->rules[from];
#endif
}

/* What a flush begins with: the model's code has packed the successors in the buffer. */
static void squeeze_successors(Worker *worker) {
#if SQUEEZED_BYTES
  Expansion *expansion = &worker->expansion;
  const uint32_t count = expansion->count;
  uint32_t kept = 0;
  for (uint32_t i = 0; i < count; i++) {
    const uint8_t *state = expansion->successors + (size_t)i * MODEL_BYTES;
    /* It never reaches what has not been read yet. */
    if (!squeeze_state(&worker->search->squeeze, state, expansion->successors + (size_t)kept * STATE_BYTES)) {
      keep_misfit(worker, state);
      continue;
    }
    move_origin(expansion, kept++, i);
  }
  expansion->count = kept;
  worker->generated += count - kept;
#else
  (void)worker;
#endif
}

/* Lines are fetched to be written, though most successors are known: to take a line over that another core has too, when
 * it is written, takes as long as to fetch it, and nothing goes on meanwhile. */
static void hash_successors(Expansion *expansion) {
  const uint8_t *lines = expansion->lines;
  for (uint32_t i = 0; i < expansion->count; i++) {
    uint64_t hash = hash_state(expansion->hasher, expansion->successors + (size_t)i * STATE_BYTES);
    expansion->hashes[i] = hash;
    __builtin_prefetch(lines + multiply_high(hash, expansion->line_count) * LINE_BYTES, 1);
  }
}

/* --- Coming and going ---------------------------------------------------------------------------------------- */

static void worker_enter(Worker *worker) {
  Search *search = worker->search;
  pthread_mutex_lock(&search->lock);
  while (search->growing) pthread_cond_wait(&search->changed, &search->lock);
  search->active++;
  pthread_mutex_unlock(&search->lock);
}

static void worker_leave(Worker *worker) {
  Search *search = worker->search;
  pthread_mutex_lock(&search->lock);
  search->active--;
  pthread_cond_broadcast(&search->changed); /* the others may now be complete, and waiting to grow the table */
  pthread_mutex_unlock(&search->lock);
}

/* --- Growing ------------------------------------------------------------------------------------------------- */

/* How many lines the grown visited set has, 0 when memory does not allow it to grow. Small ones grow fast; large ones
 * by less than double, because what is not used yet counts against the memory of a state; and at the end just so far that
 * table and arena will fill the budget together. `states_a_line`: at the load at which it would grow again. */
static uint64_t grown_line_count(const Search *search, uint64_t wanted, uint64_t states_a_line) {
  uint64_t state_bytes = (search->exact ? STATE_BYTES : 0) + search->beside_state;
  uint64_t reserved = (search->exact ? 0 : arena_bytes(&search->arena)) + search->beside;
  uint64_t budget = search->budget > reserved ? search->budget - reserved : 0;
  uint64_t affordable = budget / (LINE_BYTES + states_a_line * state_bytes);
  return wanted < affordable ? wanted : affordable;
}

static uint64_t wanted_line_count(uint64_t lines, int wide) {
  uint64_t bytes = lines * LINE_BYTES;
  return bytes < (4 << 20) ? lines * 4 : bytes < (16 << 20) ? lines * 2 : lines + (wide ? lines / 4 : lines / 5 * 4);
}

static int grow_table(Search *search) {
  Table *table = &search->table;
  uint64_t slack = (uint64_t)search->worker_count * MOST_CHUNK_STATES;
  uint64_t wanted = wanted_line_count(table->line_count, table->wide);
  int wide = table->wide || table_needs_wide(table_limit(wanted, 0) + slack);
  if (wide && !table->wide) wanted *= 2;
  uint64_t lines = grown_line_count(search, wanted, (table_limit(20, wide) + 19) / 20);
  if (table_limit(lines, wide) < table->limit + table->limit / 16) return 0;
  /* Only addresses are taken for the new one while there are two; pages come as it is filled. */
  Table grown = *table;
  if (!table_open(&grown, lines, wide, slack)) return 0;
  table_close(table);
  *table = grown;
  return 1;
}

static int grow_signatures(Search *search) {
  Signatures *signatures = &search->signatures;
  uint64_t lines = grown_line_count(search, wanted_line_count(signatures->line_count, signatures->wide), 0);
  if (lines > signatures->reserved / LINE_BYTES) lines = signatures->reserved / LINE_BYTES;
  if (lines < signatures->line_count + signatures->line_count / 16 + 1) return 0;
  return growth_open(&search->growth, signatures, lines);
}

/* The unfilled part of a worker's chunk that lies in [begin, end) and comes first; NULL when there is none. */
static const Chunk *first_hole(const Search *search, uint64_t begin, uint64_t end) {
  const Chunk *first = NULL;
  for (uint32_t i = 0; i < search->worker_count; i++) {
    const Chunk *hole = &search->workers[i].chunk;
    if (hole->next < hole->end && hole->next < end && hole->end > begin && (!first || hole->next < first->next))
      first = hole;
  }
  return first;
}

/* One worker's part in having the pages provided that the new table adds to the old one. */
static void provide_share(Search *search) {
  uint8_t *lines = search->exact ? search->table.lines : search->signatures.lines;
  uint64_t bytes = visited_bytes(search);
  for (uint64_t at; (at = __atomic_fetch_add(&search->provided, HUGE_PAGE, __ATOMIC_RELAXED)) < bytes;)
    provide_pages(lines + at, bytes - at < HUGE_PAGE ? bytes - at : HUGE_PAGE);
}

/* One worker's part in entering all states into the new table. */
static void enter_share(Search *search, int shared) {
  enum { SHARE_STATES = 1 << 14 };
  for (;;) {
    uint64_t begin = __atomic_fetch_add(&search->rebuilt, SHARE_STATES, __ATOMIC_RELAXED);
    if (begin >= search->arena.used) return;
    uint64_t end = begin + SHARE_STATES < search->arena.used ? begin + SHARE_STATES : search->arena.used;
    for (const Chunk *hole; (hole = first_hole(search, begin, end)) != NULL; begin = hole->end)
      if (hole->next > begin) table_enter(&search->table, &search->arena, &search->hasher, begin, hole->next, shared);
    if (begin < end) table_enter(&search->table, &search->arena, &search->hasher, begin, end, shared);
  }
}

static void rebuild_share(Search *search) {
  int shared = search->worker_count > 1;
  provide_share(search);
  if (search->exact)
    enter_share(search, shared);
  else
    growth_share(&search->growth, &search->signatures, shared);
}

static void refresh_lines(Search *search) {
  for (uint32_t i = 0; i < search->worker_count; i++) {
    Expansion *expansion = &search->workers[i].expansion;
    expansion->lines = search->exact ? search->table.lines : search->signatures.lines;
    expansion->line_count = search->exact ? search->table.line_count : search->signatures.line_count;
  }
}

static void growth_done(Search *search) {
  refresh_lines(search);
  search->gathered = 0;
  search->growths++;
  __atomic_store_n(&search->growing, 0, __ATOMIC_RELAXED);
  pthread_cond_broadcast(&search->changed);
}

/* Begins a round of filling the new table; gives 0 when there is nothing left to do. */
static int filling_begin(Search *search) {
  if (!search->exact && !growth_next_round(&search->growth, &search->signatures)) return 0;
  search->rebuilding = search->gathered;
  search->fillings++;
  pthread_cond_broadcast(&search->changed);
  return 1;
}

static void signatures_grown(Search *search) {
  if (!growth_close(&search->growth, &search->signatures)) stop_search(search, STOP_MEMORY);
  growth_done(search);
}

#if HAS_CACHES
static int cache_make_room(struct Cache *cache);
static uint32_t cache_add(Worker *worker, const uint8_t *states, const uint64_t *hashes, uint32_t count,
                          uint8_t *is_new);
#endif

/* The last worker to arrive: all others wait, and nobody touches the visited set. */
static void growth_begin(Search *search) {
  search->provided = search->exact ? 0 : visited_bytes(search);
  search->rebuilt = 0;
#if HAS_CACHES
  if (__atomic_exchange_n(&search->cache_grows, 0, __ATOMIC_RELAXED)) {
    if (!stopping(search) && !cache_make_room(search->cache)) stop_search(search, STOP_MEMORY);
    growth_done(search);
    return;
  }
#endif
  if (stopping(search) || !(search->exact ? grow_table(search) : grow_signatures(search))) {
    stop_search(search, STOP_MEMORY);
    growth_done(search);
  } else if (!filling_begin(search)) {
    signatures_grown(search);
  }
}

/* The last worker to end a round. */
static void filling_ended(Search *search) {
  if (search->exact)
    growth_done(search);
  else if (!filling_begin(search))
    signatures_grown(search);
}

/* Waits until every worker has come here or left, and grows the visited set with them. Gives 0 when the search must
 * stop. */
static int grow_visited(Worker *worker) {
  Search *search = worker->search;
  pthread_mutex_lock(&search->lock);
  uint64_t growths = search->growths, fillings = search->fillings;
  __atomic_store_n(&search->growing, 1, __ATOMIC_RELAXED);
  search->gathered++;
  while (search->growths == growths) {
    if (!search->rebuilding && search->gathered == search->active) {
      growth_begin(search);
    } else if (search->rebuilding && search->fillings != fillings) {
      fillings = search->fillings;
      pthread_mutex_unlock(&search->lock);
      rebuild_share(search);
      pthread_mutex_lock(&search->lock);
      if (--search->rebuilding == 0) filling_ended(search);
    } else {
      pthread_cond_wait(&search->changed, &search->lock);
    }
  }
  pthread_mutex_unlock(&search->lock);
  return !stopping(search);
}

/* --- Adding states ------------------------------------------------------------------------------------------- */

/* Makes sure that the visited set has room for `count` more. */
static int reserve_visited(Worker *worker, uint64_t count) {
  Search *search = worker->search;
  while (!stopping(search)) {
    if (!__atomic_load_n(&search->growing, __ATOMIC_RELAXED)) {
      uint64_t reserved = __atomic_add_fetch(&search->reserved, count, __ATOMIC_RELAXED);
      if (reserved <= visited_limit(search)) return 1;
      __atomic_sub_fetch(&search->reserved, count, __ATOMIC_RELAXED);
    }
    grow_visited(worker);
  }
  return 0;
}

/* Whether workers expand first what they have found. Not where a level may have to be taken up again in its middle. */
static int keeps_claims(const Search *search) { return search->cycles && search->worker_count > 1 && !is_shared(search); }

static int claim_chunk(Worker *worker) {
  Search *search = worker->search;
  uint64_t count = search->chunk_states, first = UINT64_MAX;
  pthread_mutex_lock(&search->lock);
  uint64_t bytes = arena_bytes(&search->arena) + count * STATE_BYTES + visited_bytes(search) + beside_bytes(search);
  if (bytes > search->budget && !search->cache)
    stop_search(search, STOP_MEMORY);
  else if ((first = arena_claim(&search->arena, count)) == UINT64_MAX)
    stop_search(search, search->arena.file < 0 ? STOP_MEMORY : STOP_DISK);
  pthread_mutex_unlock(&search->lock);
  if (first == UINT64_MAX) return 0;
  if (keeps_claims(search) && !claims_add(&worker->found_claims, first)) stop_search(search, STOP_MEMORY);
  if (search->worker_count > 1) arena_provide_next(&search->arena, first, count);
  worker->chunk.next = first;
  worker->chunk.end = first + count;
  return 1;
}

/* What some states add up to. Those of a file are added up when they are written and when they are read: a disk that
 * changes a bit, or forgets a page, changes the sum. */
static uint64_t states_sum(const uint8_t *states, uint64_t count) {
  uint64_t sum = 0;
  for (uint64_t i = 0; i < count; i++)
    for (int word = 0; word < HASH_WORDS; word++)
      sum += state_word(states + i * STATE_BYTES, word) * (0x9E3779B97F4A7C15ull + 2 * (uint64_t)word);
  return sum;
}

/* The worker has added states to the arena, from `first` on. */
static void note_written(Worker *worker, uint64_t first) {
  const Arena *arena = &worker->search->arena;
  if (arena->file >= 0) worker->written += states_sum(arena_state(arena, first), worker->chunk.next - first);
}

/* Adds a batch to the visited states and says which of them are new. Gives how many it dealt with: fewer than `count`
 * only when the search must stop. */
static uint32_t visited_add(Worker *worker, const uint8_t *states, const uint64_t *hashes, uint32_t count,
                            uint8_t *is_new) {
  Search *search = worker->search;
#if HAS_CACHES
  if (search->cache) return cache_add(worker, states, hashes, count, is_new);
#endif
  Chunk *chunk = &worker->chunk;
  int shared = search->worker_count > 1;
  for (uint32_t done = 0; done < count;) {
    uint32_t rest = count - done < search->most_batch ? count - done : search->most_batch;
    if (chunk->next == chunk->end && !claim_chunk(worker)) return done;
    if (!reserve_visited(worker, rest)) return done;
    const uint8_t *batch = states + (size_t)done * STATE_BYTES;
    uint64_t next = chunk->next;
    int too_far = 0;
    done += search->exact ? table_insert(&search->table, &search->arena, chunk, batch, hashes + done, rest,
                                         is_new + done, worker->positions ? worker->positions + done : NULL, shared)
                          : signatures_insert(&search->signatures, &search->arena, chunk, batch, hashes + done, rest,
                                              is_new + done, shared, &too_far);
    __atomic_sub_fetch(&search->reserved, rest - (chunk->next - next), __ATOMIC_RELAXED);
    note_written(worker, next);
    if (too_far && !grow_visited(worker)) return done;
  }
  return count;
}

/* Where marks for a visited state are kept: a number below visited_positions. */
static uint64_t visited_positions(const Search *search) {
  return search->exact ? search->arena.used : visited_bytes(search) / (search->signatures.wide ? 8 : 4);
}

static uint64_t visited_position(const Search *search, const uint8_t *state, uint64_t hash) {
  return search->exact ? table_find(&search->table, &search->arena, state, hash)
                       : signatures_find(&search->signatures, hash);
}
