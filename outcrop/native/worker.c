/* A search and its workers: the shared state, and the state of each thread. */

enum { STOP_NONE, STOP_REQUESTED, STOP_MEMORY, STOP_DISK, STOP_DAMAGED, STOP_NARROW, STOP_COLLISIONS };
enum { DEADLOCK_OFF, DEADLOCK_STUTTERING, DEADLOCK_STUCK };

/* Largest number of states that the arena may hold unfilled for each worker. */
enum { MOST_CHUNK_STATES = 1024 };

typedef struct Worker Worker;

/* A visited set, as a table of functions. Each is called once a batch of states, or less often. Each file with a
 * visited set defines such a table. */
typedef struct {
  /* Adds a batch of states and sets `is_new`. Returns how many it handled: fewer than `count` only if the search must
   * stop. */
  uint32_t (*add)(Worker *worker, const uint8_t *states, const uint64_t *hashes, uint32_t count, uint8_t *is_new);
  /* Returns where marks for a visited state are kept: a number below `positions`. */
  uint64_t (*position)(const Search *search, const uint8_t *state, uint64_t hash);
  uint64_t (*positions)(const Search *search);
  uint64_t (*bytes)(const Search *search);
  uint64_t (*limit)(const Search *search); /* number of states at which it must grow */
  int (*can_grow)(const Search *search);
  /* Growth. `grow` is called when all workers have stopped, and returns 0 if there is no memory. Then, while
   * `next_filling` says so, all workers `fill`. `grown` ends it, and returns 0 if there is no memory. */
  int (*grow)(Search *search);
  int (*next_filling)(Search *search, int is_first);
  void (*fill)(Search *search);
  int (*grown)(Search *search);
  /* Returns the lines of memory among which the first bits of a hash select, so that they can be prefetched. */
  const uint8_t *(*lines)(const Search *search, uint64_t *count);
  /* Records that a state of the arena has moved; NULL if that does not matter. */
  void (*moved)(Search *search, uint64_t from, uint64_t to);
  /* Keeps successors that do not fit until there is space. NULL: they are lost, and the block that they come from counts
   * as not expanded. */
  void (*carry)(Worker *worker, const uint8_t *states, const uint64_t *hashes, uint32_t count);
  int takes_hashes;   /* whether `add` needs the hashes of the states */
  int knows_indexes;  /* whether positions are indexes of the arena, which give the level of a state */
  int forgets;        /* whether a visited state may count as new, because it was evicted */
  int is_tentative;   /* ... until it is looked up elsewhere, and only then checked */
  int has_own_memory; /* whether its memory is not part of the search's budget */
} VisitedSet;

typedef struct Search {
  Arena arena;
  Hasher hasher;
  Table table;
  Signatures signatures;
  const VisitedSet *visited;
  void *own_set; /* data of a visited set that is neither `table` nor `signatures` */
  int deadlock;        /* the definition of a deadlock */
  uint64_t budget;     /* bytes that arena and visited set may take */
  uint64_t most_states;
  uint32_t most_found; /* largest number of findings kept of each kind */
  uint32_t worker_count;
  Worker *workers;

  uint64_t levels;                 /* number of levels found */
  uint64_t level_begin, level_end; /* the level being expanded: a range of the arena */
  uint32_t most_batch;             /* successors entered at once: fewer than the smallest table holds */
  uint64_t chunk_states;           /* states of the arena that a worker claims at once, at most MOST_CHUNK_STATES */
  uint64_t level_chunk_states;     /* the same when the level being expanded was found */
  int stop;                        /* reason to stop (atomic) */
  int requested;                   /* whether a stop was requested (atomic) */

  int lost;            /* whether successors were lost, because there was no memory even to carry them */
  uint64_t started;    /* number of start instances handled */
  uint64_t start_end;  /* the last of them, plus one */
  uint64_t unexpanded; /* the first state of the previous level that was not expanded */
  uint8_t *known;      /* a bit a state: whether a run has it; only past RAM */

  int gives_up;        /* whether the collision rate is too high to expand more blocks (atomic) */
  uint64_t level_sum;  /* checksum of the states of the level, if the arena is a file */

  Route route; /* for several ranks */
#if HAS_PUT
  Drain drain; /* takes large outputs before a level is complete; may be NULL */
#endif
#if SQUEEZED_BYTES
  Squeeze squeeze;
#endif
#if HAS_TREE
  Tree tree;
#endif

  /* The search for accepting cycles. */
  struct Cycles *cycles;               /* its data for each state; NULL in other searches */
  struct Compacted *compacted;         /* its data with signatures; NULL in other searches */
  void (*flush)(Expansion *expansion); /* handles the successors of a level */
  uint64_t beside_state;               /* further bytes for each state of the arena */
  uint64_t beside;                     /* further bytes for all of them (atomic) */

  /* Growth of the visited set: all active workers stop, and rebuild it together. */
  pthread_mutex_t lock;
  pthread_cond_t changed;
  int growing;           /* whether a worker needs it to grow (atomic) */
  uint32_t active;       /* number of running workers */
  uint32_t gathered;     /* number of active workers that wait */
  uint32_t rebuilding;   /* number of active workers that have not finished this round */
  uint64_t fillings;     /* number of rounds of filling the new table, in all growths */
  uint64_t provided;     /* bytes of the new table whose pages a worker has allocated (atomic) */
  uint64_t rebuilt;      /* the first arena index that no worker has taken (atomic) */
  Growth growth;         /* growth of the table of signatures */
  uint64_t growths;      /* number of growths, successful or not */

  /* Between levels: all workers arrive, and the last one finishes the level and starts a round. */
  uint32_t arrived; /* (atomic) */
  int goes_on;      /* whether there is a level to expand in this round */
  uint64_t rounds;  /* number of rounds (atomic) */
  pthread_cond_t round_begun;

  /* Padding keeps what workers write all the time apart from what they only read. */
  uint8_t before[128];
  uint64_t cursor;   /* the first state of the level that no worker has taken (atomic) */
  uint64_t reserved; /* states in the visited set, and successors about to be entered (atomic) */
  uint8_t behind[128];
} Search;

struct Worker {
  Expansion expansion; /* first, so that a flush can find its worker */
  Search *search;
  Context *counted; /* the counters of the search */
  Context *scratch; /* counters of repeated expansions, which do not count */
  Chunk chunk;
  Claims found_claims; /* chunks of the arena for the next level; only if claims are kept */
  Claims level_claims; /* chunks in the level being expanded */
  uint64_t claims_taken; /* number of the latter that a worker has started to expand (atomic) */
  Found found[FOUND_KINDS];
  Gathered gathered; /* successors for the caller */
  Gathered fresh;    /* candidates found to be new */
  Aside aside;
  Outgoing *outgoing; /* states for each rank */
  uint64_t foreign;   /* number of successors that other ranks own */
  RunWork runs;
  uint64_t generated; /* number of successors looked up or gathered, duplicates included */
  uint64_t written;   /* checksum of the states that it has added in this level to an arena that is a file */
  uint64_t read, read_states; /* checksum and number of the states that it has expanded */
  int overflow; /* whether successors were lost because the search stops: their block counts as not expanded */
  uint8_t *is_new;
  uint32_t *positions;    /* if not NULL, the arena index of each successor of the last batch */
  Context *before;        /* its counters of rules at the start of the block */
  const uint8_t *block;   /* the states being expanded; `owner` counts from here; NULL: loops are kept */
  void *purpose;          /* data of a flush other than that of a search */
#if SQUEEZED_BYTES
  uint8_t *misfits; /* successors that no longer fit their squeezed width, as the model packs them */
  uint64_t misfit_count, misfit_room;
#endif
#if HAS_TREE
  UnfoldedTree *trees; /* of the states being expanded */
  Folding *folding;
  KnownNode *known_nodes;
  uint64_t *recent_roots; /* roots of visited states; all bits set: none */
  uint8_t *roots;         /* room for the roots of successors, and from which of them each comes */
  uint32_t *sources;
  const uint8_t *packed;  /* successors whose roots are being added, as the model packs them; NULL: not kept */
  Chunk numbers;      /* for new nodes */
  int is_at_work;     /* and takes part when tables grow */
#endif
} __attribute__((aligned(128))); /* so that no two workers share a cache line, nor the one prefetched with it */

static uint64_t visited_bytes(const Search *search) { return search->visited->bytes(search); }

/* Returns the bytes kept for states besides arena and visited set. */
static uint64_t beside_bytes(const Search *search) {
  return search->arena.used * search->beside_state + __atomic_load_n(&search->beside, __ATOMIC_RELAXED);
}

/* Returns whether other ranks take part. */
static int is_shared(const Search *search) { return HAS_ALL_KERNELS && search->route.ranks; }

static int stopping(const Search *search) { return __atomic_load_n(&search->stop, __ATOMIC_RELAXED) != STOP_NONE; }

/* Asks the search to stop. The first reason stays. */
static void stop_search(Search *search, int reason) {
  int none = STOP_NONE;
  __atomic_compare_exchange_n(&search->stop, &none, reason, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
}

/* Requests a stop, even of a search that has stopped for lack of memory and will continue past RAM. */
static void request_stop(Search *search) {
  __atomic_store_n(&search->requested, 1, __ATOMIC_SEQ_CST);
  stop_search(search, STOP_REQUESTED);
}

/* --- The two forms of a state -------------------------------------------------------------------------------- */

/* Returns a kept state as the model packs it. `room` has MODEL_BYTES and spare bytes, and is not always used. */
static inline const uint8_t *packed_state(const Search *search, const uint8_t *state, uint8_t *room) {
#if SQUEEZED_BYTES
  spread_state(&search->squeeze, state, room);
  return room;
#elif HAS_TREE
  UnfoldedTree unfolded;
  return memcpy(room, tree_unfold(&search->tree, state, &unfolded), MODEL_BYTES);
#else
  (void)search, (void)room;
  return state;
#endif
}

/* Unfolds a state that is about to be expanded and has number `owner`. Its tree is kept for its successors. */
static inline const uint8_t *parent_state(Worker *worker, const uint8_t *state, uint8_t *room) {
#if HAS_TREE
  (void)room;
  return tree_unfold(&worker->search->tree, state, &worker->trees[worker->expansion.owner % TREES_AT_HAND]);
#else
  return packed_state(worker->search, state, room);
#endif
}

#if SQUEEZED_BYTES
/* Sets aside a state that does not fit its squeezed width. The search must continue with wider states. */
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

/* Moves the origin of a successor with it, to another place of the buffer. */
static inline void move_origin(Expansion *expansion, uint32_t to, uint32_t from) {
  expansion->owners[to] = expansion->owners[from];
#if HAS_TREE
  uint32_t *sources = ((Worker *)expansion)->sources;
  sources[to] = sources[from];
#endif
#if HAS_COVERAGE
  expansion->rules[to] = expansion->rules[from];
#endif
}

#if HAS_TREE
static void fold_successors(Worker *worker, const uint8_t *block, uint8_t *roots);
static void forget_recent(const Worker *worker);
static UNUSED uint32_t fold_states_sent(Worker *worker, uint8_t *states, uint32_t count);
#endif

/* Squeezes the successors in the buffer, which the model has packed. A flush starts with it. */
static void squeeze_successors(Worker *worker) {
#if HAS_TREE
  fold_successors(worker, NULL, worker->expansion.successors);
#endif
#if SQUEEZED_BYTES
  Expansion *expansion = &worker->expansion;
  const uint32_t count = expansion->count;
  uint32_t kept = 0;
  for (uint32_t i = 0; i < count; i++) {
    const uint8_t *state = expansion->successors + (size_t)i * MODEL_BYTES;
    /* The write never reaches states that have not been read yet. */
    if (!squeeze_state(&worker->search->squeeze, state, expansion->successors + (size_t)kept * STATE_BYTES)) {
      keep_misfit(worker, state);
      continue;
    }
    move_origin(expansion, kept++, i);
  }
  expansion->count = kept;
  worker->generated += count - kept;
#endif
  (void)worker;
}

/* Hashes the successors in the buffer. Prefetches lines for writing, although most successors are known: to take a line
 * over from another core when it is written takes as long as a fetch, without overlap. */
static void hash_successors(Expansion *expansion) {
  const uint8_t *lines = expansion->lines;
  for (uint32_t i = 0; i < expansion->count; i++) {
    uint64_t hash = hash_state(expansion->hasher, expansion->successors + (size_t)i * STATE_BYTES);
    expansion->hashes[i] = hash;
    __builtin_prefetch(lines + multiply_high(hash, expansion->line_count) * LINE_BYTES, 1);
  }
}

/* --- Entering and leaving ------------------------------------------------------------------------------------ */

static void worker_enter(Worker *worker) {
  Search *search = worker->search;
  pthread_mutex_lock(&search->lock);
  while (search->growing) pthread_cond_wait(&search->changed, &search->lock);
  search->active++;
#if HAS_TREE
  worker->is_at_work = 1;
#endif
  pthread_mutex_unlock(&search->lock);
}

static void worker_leave(Worker *worker) {
  Search *search = worker->search;
  pthread_mutex_lock(&search->lock);
  search->active--;
#if HAS_TREE
  worker->is_at_work = 0;
#endif
  pthread_cond_broadcast(&search->changed); /* all others may now be waiting to grow the table */
  pthread_mutex_unlock(&search->lock);
}
