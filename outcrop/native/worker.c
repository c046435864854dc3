/* A search and its workers: what is shared, and what each thread has for itself. */

enum { STOP_NONE, STOP_REQUESTED, STOP_MEMORY, STOP_DISK, STOP_DAMAGED, STOP_NARROW, STOP_COLLISIONS };
enum { DEADLOCK_OFF, DEADLOCK_STUTTERING, DEADLOCK_STUCK };

/* What the arena may hold unfilled for each worker. */
enum { MOST_CHUNK_STATES = 1024 };

typedef struct Worker Worker;

/* A visited set, as a search uses it. Each function is called once a batch of states, or less often; each file that
 * remembers states in a way of its own has such a table. */
typedef struct {
  /* Adds a batch of states and says which of them are new. Gives how many it dealt with: fewer than `count` only when
   * the search must stop. */
  uint32_t (*add)(Worker *worker, const uint8_t *states, const uint64_t *hashes, uint32_t count, uint8_t *is_new);
  /* Where marks for a visited state are kept: a number below `positions`. */
  uint64_t (*position)(const Search *search, const uint8_t *state, uint64_t hash);
  uint64_t (*positions)(const Search *search);
  uint64_t (*bytes)(const Search *search);
  uint64_t (*limit)(const Search *search); /* states that it holds before it must grow */
  int (*can_grow)(const Search *search);
  /* Growing. `grow` is called when all workers have come together, and gives 0 when there is no memory; then, as long as
   * `next_filling` says so, all of them `fill`; `grown` ends it, and gives 0 when there is no memory. */
  int (*grow)(Search *search);
  int (*next_filling)(Search *search, int is_first);
  void (*fill)(Search *search);
  int (*grown)(Search *search);
  /* Lines of memory among which the first bits of a hash choose, so that they can be fetched ahead. */
  const uint8_t *(*lines)(const Search *search, uint64_t *count);
  /* A state of the arena has moved; NULL where that does not matter. */
  void (*moved)(Search *search, uint64_t from, uint64_t to);
  /* Keeps successors that it has no room for until there is some. NULL: they are lost, and the block that they come from
   * counts as not expanded. */
  void (*carry)(Worker *worker, const uint8_t *states, const uint64_t *hashes, uint32_t count);
  int takes_hashes;   /* of the states, with which it is called */
  int knows_indexes;  /* positions are indexes of the arena, which tell the level of a state */
  int forgets;        /* a state that was visited may count as new */
  int is_tentative;   /* ... until it is looked up elsewhere, and only then checked */
  int has_own_memory; /* which is not part of the search's budget */
} VisitedSet;

typedef struct Search {
  Arena arena;
  Hasher hasher;
  Table table;
  Signatures signatures;
  const VisitedSet *visited;
  void *own_set; /* what a visited set that is neither `table` nor `signatures` keeps */
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

  int lost;            /* successors were: there was no memory even to carry them */
  uint64_t started;    /* start instances dealt with */
  uint64_t start_end;  /* the last of them, plus one */
  uint64_t unexpanded; /* the first state of the level before that was not expanded */
  uint8_t *known;      /* a bit a state: does some run have it? Only past RAM */

  int gives_up;        /* the visited set has forgotten so much that no more blocks are to be expanded (atomic) */
  uint64_t level_sum;  /* what the states of the level add up to, where the arena is a file */

  Route route; /* over several processes */
#if HAS_PUT
  Drain drain; /* NULL: nobody takes what is printed until a level is complete */
#endif
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

static uint64_t visited_bytes(const Search *search) { return search->visited->bytes(search); }

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
