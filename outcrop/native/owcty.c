/* OWCTY on full states: the work of outcrop/search/owcty.py on each state of the arena.
 *
 * Each state has a word: whether it is in S, and how many of its predecessors are. While the states are being found
 * there is another word: the greatest accepting predecessor so far (MAP). It propagates 31 bits of hashes, so that the
 * cycles it reveals depend on the model alone, not on the order of discovery. Such a cycle is only probable; the caller
 * confirms it.
 *
 * Reachability and elimination give the same S and the same counts in any order of states. They work off a list
 * (worklist.c) and not level by level. */

enum { GENERAL_AUTOMATON, WEAK_AUTOMATON, TERMINAL_AUTOMATON };
enum { PHASE_FIRST, PHASE_RESET, PHASE_REACH, PHASE_ELIMINATE };

#define IN_S (UINT32_C(1) << 31)
#define ACCEPTING (UINT32_C(1) << 30)
#define SEED (UINT32_C(1) << 29)   /* accepting and in S when the phase started */
#define PASSED (UINT32_C(1) << 28) /* reached by a search for a cycle */
#define PREDECESSORS (PASSED - 1)

/* Largest number of probable cycles kept for a level; and how far ahead the words of successors are prefetched. */
enum { MOST_CYCLES = 16, WORDS_AHEAD = 24 };

typedef struct {
  Batch *output;       /* states to be expanded */
  uint64_t entered, removed; /* number of states that entered or left S in this phase */
  uint32_t *positions; /* positions of successors */
} __attribute__((aligned(128))) CycleWorker;

typedef struct Cycles {
  int strength;
  uint32_t *words;
  uint32_t *map; /* NULL once all states are found */
  size_t reserved;
  Worklist list;
  CycleWorker *mine;
  int phase;
  uint64_t cursor; /* the first state that no worker has examined in this phase (atomic) */
  uint64_t size;   /* number of states in S */
  uint32_t *reached; /* states reached by the last step of a search for a path */
  uint64_t reached_count, reached_room;
} Cycles;

/* Moves the words of a state. While states are being found, only a weak automaton uses the first one. */
static void cycles_moved(struct Cycles *cycles, uint64_t from, uint64_t to) {
  if (cycles->map) cycles->map[to] = cycles->map[from], cycles->map[from] = 0;
  if (cycles->strength == WEAK_AUTOMATON) cycles->words[to] = cycles->words[from], cycles->words[from] = 0;
}

static uint32_t *word_of(const Search *search, uint64_t index) { return &search->cycles->words[index]; }

static CycleWorker *own_part(const Worker *worker) {
  return &worker->search->cycles->mine[worker - worker->search->workers];
}

/* --- Initialisation ------------------------------------------------------------------------------------------ */

/* Returns the 31 bits of a hash that MAP propagates. A message between ranks adds one bit. */
static inline uint32_t map_value(uint64_t hash) {
  uint32_t value = (uint32_t)(hash >> 33);
  return value ? value : 1;
}

static inline void raise_to(uint32_t *at, uint32_t value) {
  uint32_t before = __atomic_load_n(at, __ATOMIC_RELAXED);
  while (before < value &&
         !__atomic_compare_exchange_n(at, &before, value, 1, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
    ;
}

static void found_cycle(Worker *worker, const uint8_t *state) {
  found_add(&worker->found[FOUND_CYCLE], state, MOST_CYCLES);
}

/* Returns what a state of the block propagates: the greatest of its accepting predecessors and itself; 0 for
 * nothing. */
static inline uint32_t value_passed(Worker *worker, uint64_t first, uint32_t number, int *is_accepting) {
  const Search *search = worker->search;
  const Cycles *cycles = search->cycles;
  uint8_t room[MODEL_BYTES + SPARE_BYTES];
  const uint8_t *state = packed_state(search, worker->block + (size_t)number * STATE_BYTES, room);
  const uint32_t before = cycles->map ? cycles->map[first + number] : 0;
  *is_accepting = model_accepting(state);
  if (!*is_accepting) return before;
  if (cycles->strength == TERMINAL_AUTOMATON) found_cycle(worker, state);
  const uint32_t own = map_value(hash_packed(&search->hasher, state));
  return own > before ? own : before;
}

/* Counts an accepting predecessor of an accepting state, for a weak automaton. */
static inline void count_accepting(const Worker *worker, uint32_t position, int is_so) {
  const Search *search = worker->search;
  if (!is_so || search->cycles->strength != WEAK_AUTOMATON) return;
  uint32_t *word = word_of(search, position);
  const uint32_t before = search->worker_count > 1 ? __atomic_fetch_add(word, 1, __ATOMIC_RELAXED) : (*word)++;
  if ((before & PREDECESSORS) == PREDECESSORS) stop_search(worker->search, STOP_MEMORY);
}

/* Returns whether a kept state is accepting. */
static inline int is_accepting_kept(const Search *search, const uint8_t *kept) {
  uint8_t room[MODEL_BYTES + SPARE_BYTES];
  return model_accepting(packed_state(search, kept, room));
}

/* Reports a probable cycle through a kept state, which `value` has reached again. The hash of a root depends on the
 * numbers of nodes, and so on the order of discovery; that of the packed state does not. */
static inline void look_for_cycle(Worker *worker, const uint8_t *kept, uint64_t hash, uint32_t value) {
  uint8_t room[MODEL_BYTES + SPARE_BYTES];
  if (!HAS_TREE && value != map_value(hash)) return;
  const uint8_t *state = packed_state(worker->search, kept, room);
  if (HAS_TREE && value != map_value(hash_packed(&worker->search->hasher, state))) return;
  if (model_accepting(state)) found_cycle(worker, state);
}

/* Propagates a value from a state to a successor. */
static inline void pass_on(Worker *worker, const uint8_t *successor, uint64_t hash, uint32_t position, uint32_t value,
                           int is_accepting) {
  const Search *search = worker->search;
  const Cycles *cycles = search->cycles;
  if (!cycles->map) return;
  if (position >= search->level_end)
    raise_to(&cycles->map[position], value);
  else
    look_for_cycle(worker, successor, hash, value);
  count_accepting(worker, position, is_accepting && is_accepting_kept(search, successor));
}

#include "owcty_ranks.c"

/* Returns whether a state of a block has an accepting predecessor to propagate, or is accepting. */
static inline int passes_on(const Worker *worker, const Cycles *cycles, uint64_t first, uint32_t number) {
  return (cycles->map && cycles->map[first + number]) ||
         is_accepting_kept(worker->search, worker->block + (size_t)number * STATE_BYTES);
}

/* Prefetches the words at which successors will be counted or raised. Atomic operations do not overlap by
 * themselves. */
static inline void fetch_words(const Cycles *cycles, uint32_t position, uint64_t level_end) {
  if (cycles->map && position >= level_end) __builtin_prefetch(&cycles->map[position], 1);
  if (cycles->strength == WEAK_AUTOMATON) __builtin_prefetch(&cycles->words[position], 1);
}

/* Flushes the buffer of a level: adds successors and propagates accepting predecessors, only to states of the next
 * level, so that no transition is followed twice. An old successor that is its own accepting predecessor lies on a
 * cycle. */
static void add_and_map(Expansion *expansion) {
  Worker *worker = (Worker *)expansion;
  Search *search = worker->search;
  Cycles *cycles = search->cycles;
  squeeze_successors(worker);
  if (is_shared(search))
    route_valued(worker);
  else
    hash_successors(expansion);
  const uint32_t count = expansion->count, *positions = worker->positions = own_part(worker)->positions;
  expansion->count = 0;
  worker->generated += count;
  add_hashed(worker, expansion->successors, count);
  worker->positions = NULL;
  if (worker->overflow) return;
  const uint64_t first = (uint64_t)(worker->block - search->arena.base) / STATE_BYTES;
  uint32_t owner = UINT32_MAX, value = 0, fetched_owner = UINT32_MAX;
  int is_accepting = 0, is_fetched = 0;
  for (uint32_t i = 0; i < count; i++) {
    const uint32_t ahead = i + WORDS_AHEAD;
    if (ahead < count) {
      if (expansion->owners[ahead] != fetched_owner) {
        fetched_owner = expansion->owners[ahead];
        is_fetched = passes_on(worker, cycles, first, fetched_owner);
      }
      if (is_fetched) fetch_words(cycles, positions[ahead], search->level_end);
    }
    if (expansion->owners[i] != owner) {
      owner = expansion->owners[i];
      value = value_passed(worker, first, owner, &is_accepting);
    }
    if (!value) continue;
    const uint8_t *successor = expansion->successors + (size_t)i * STATE_BYTES;
    if (positions[i] == first + owner) {
      uint8_t room[MODEL_BYTES + SPARE_BYTES];
      if (is_accepting) found_cycle(worker, packed_state(search, successor, room));
      count_accepting(worker, positions[i], is_accepting);
    } else {
      pass_on(worker, successor, expansion->hashes[i], positions[i], value, is_accepting);
    }
  }
}

static int cycles_open(Search *search, int strength) {
  Cycles *cycles = search->cycles = calloc(1, sizeof *cycles);
  if (!cycles) return 0;
  cycles->strength = strength;
  cycles->reserved = search->arena.capacity * sizeof *cycles->words;
  worklist_open(&cycles->list);
  cycles->mine = aligned_alloc(_Alignof(CycleWorker), search->worker_count * sizeof *cycles->mine);
  if (cycles->mine) memset(cycles->mine, 0, search->worker_count * sizeof *cycles->mine);
  cycles->words = map_pages(cycles->reserved, -1);
  const int has_map = strength != TERMINAL_AUTOMATON;
  if (has_map) cycles->map = map_pages(cycles->reserved, -1);
  int complete = cycles->mine && cycles->words && (cycles->map || !has_map);
  for (uint32_t i = 0; complete && i < search->worker_count; i++) {
    cycles->mine[i].positions = malloc(SUCCESSOR_ROOM * sizeof *cycles->mine[i].positions);
    complete = cycles->mine[i].positions != NULL;
  }
  search->flush = add_and_map;
  search->beside_state = sizeof(uint32_t) * ((unsigned)has_map + (strength == WEAK_AUTOMATON));
  /* Positions have 32 bits. */
  if (search->arena.capacity > UINT32_MAX - 1) search->arena.capacity = UINT32_MAX - 1;
  return complete;
}

static void cycles_drop_map(Search *search) {
  Cycles *cycles = search->cycles;
  if (cycles->map) munmap(cycles->map, cycles->reserved);
  cycles->map = NULL;
  search->beside_state = sizeof(uint32_t);
}

static void cycles_close(Search *search) {
  Cycles *cycles = search->cycles;
  if (!cycles) return;
  if (cycles->map) munmap(cycles->map, cycles->reserved);
  if (cycles->words) munmap(cycles->words, cycles->reserved);
  for (uint32_t i = 0; cycles->mine && i < search->worker_count; i++) {
    free(cycles->mine[i].positions);
    free(cycles->mine[i].output);
  }
  worklist_close(&cycles->list);
  free(cycles->mine);
  free(cycles->reached);
  free(cycles);
  search->cycles = NULL;
}

/* --- Lookup -------------------------------------------------------------------------------------------------- */

static inline __attribute__((always_inline)) void locate_slots(const Worker *worker, uint32_t *positions, int wide) {
  enum { AHEAD = 16 };
  const Expansion *expansion = &worker->expansion;
  const View view = table_view(&worker->search->table, &worker->search->arena);
  const uint32_t *words = worker->search->cycles->words;
  uint64_t guesses[AHEAD];
  const uint32_t count = expansion->count;
  for (uint32_t i = 0; i < AHEAD && i < count; i++) guesses[i] = table_guess(view, expansion->hashes[i], wide);
  for (uint32_t i = 0; i < count; i++) {
    const uint8_t *state = expansion->successors + (size_t)i * STATE_BYTES;
    uint64_t index = guesses[i % AHEAD] - 1;
    if (i + AHEAD < count) guesses[i % AHEAD] = table_guess(view, expansion->hashes[i + AHEAD], wide);
    if (index == UINT64_MAX || !states_equal(view.states + index * STATE_BYTES, state))
      index = table_look_up(view, state, expansion->hashes[i], wide, NULL, 0, NULL);
    positions[i] = (uint32_t)index;
    if (index != UINT64_MAX) __builtin_prefetch(&words[index], 1);
  }
}

/* Returns the index of each successor in the buffer; UINT32_MAX for those that are not in the arena. */
static const uint32_t *locate_successors(Worker *worker) {
  uint32_t *positions = own_part(worker)->positions;
  squeeze_successors(worker);
  if (is_shared(worker->search))
    route_edges(worker);
  else
    hash_successors(&worker->expansion);
  if (worker->search->table.wide)
    locate_slots(worker, positions, 1);
  else
    locate_slots(worker, positions, 0);
  return positions;
}

/* --- Phases -------------------------------------------------------------------------------------------------- */

static void hand_on(Worker *worker, uint32_t index) {
  Worklist *list = &worker->search->cycles->list;
  CycleWorker *own = own_part(worker);
  if (own->output && own->output->count == BATCH_STATES) {
    worklist_give(list, own->output);
    own->output = NULL;
  }
  if (!own->output && !(own->output = batch_get(worker->search, list))) return;
  own->output->states[own->output->count++] = index;
}

/* Flushes the buffer of REACHABILITY: each successor has one more predecessor, and enters S if it is not in it. */
static void reach_successors(Expansion *expansion) {
  Worker *worker = (Worker *)expansion;
  const uint32_t *positions = locate_successors(worker);
  uint32_t *words = worker->search->cycles->words;
  const int shared = worker->search->worker_count > 1;
  const uint32_t count = expansion->count;
  expansion->count = 0;
  for (uint32_t i = 0; i < count; i++) {
    uint32_t *word = &words[positions[i]], before;
    if (positions[i] == UINT32_MAX) continue;
    if (shared) {
      before = __atomic_fetch_add(word, 1, __ATOMIC_RELAXED);
      if (!(before & IN_S)) before = __atomic_fetch_or(word, IN_S, __ATOMIC_RELAXED);
    } else {
      before = *word;
      *word = (before + 1) | IN_S;
    }
    if ((before & PREDECESSORS) == PREDECESSORS) stop_search(worker->search, STOP_MEMORY);
    if (before & IN_S) continue;
    own_part(worker)->entered++;
    hand_on(worker, positions[i]);
  }
}

/* Removes a state from S. Returns 0 if another worker was faster, or if it was not in S. */
static inline int remove_from_s(Worker *worker, uint32_t index) {
  if (!(__atomic_fetch_and(word_of(worker->search, index), ~IN_S, __ATOMIC_RELAXED) & IN_S)) return 0;
  own_part(worker)->removed++;
  return 1;
}

/* Flushes the buffer of ELIMINATION: each successor in S has one predecessor less, and leaves S if it has none left. */
static void eliminate_successors(Expansion *expansion) {
  Worker *worker = (Worker *)expansion;
  const uint32_t *positions = locate_successors(worker);
  uint32_t *words = worker->search->cycles->words;
  const int shared = worker->search->worker_count > 1;
  const uint32_t count = expansion->count;
  expansion->count = 0;
  for (uint32_t i = 0; i < count; i++) {
    if (positions[i] == UINT32_MAX) continue;
    uint32_t *word = &words[positions[i]];
    uint32_t before = __atomic_load_n(word, __ATOMIC_RELAXED);
    if (!(before & IN_S)) continue;
    if (shared)
      before = __atomic_fetch_sub(word, 1, __ATOMIC_RELAXED);
    else
      *word = before - 1;
    if ((before & PREDECESSORS) == 1 && remove_from_s(worker, positions[i])) hand_on(worker, positions[i]);
  }
}

/* Returns whether a phase starts with a state. ELIMINATION removes it from S. */
static inline int is_first(Worker *worker, uint32_t index) {
  const uint32_t word = __atomic_load_n(word_of(worker->search, index), __ATOMIC_RELAXED);
  if (!(word & SEED)) return 0;
  if (worker->search->cycles->phase == PHASE_REACH) return 1;
  return (word & (IN_S | PREDECESSORS)) == IN_S && remove_from_s(worker, index);
}

/* Returns the next states that a phase starts with, enough for their lookups to overlap; NULL if there are no more. */
static Batch *next_seeds(Worker *worker) {
  enum { RANGE = 64 };
  Search *search = worker->search;
  Batch *batch = NULL;
  while (!stopping(search) && (!batch || batch->count + RANGE <= BATCH_STATES)) {
    uint64_t begin = __atomic_fetch_add(&search->cycles->cursor, RANGE, __ATOMIC_RELAXED);
    if (begin >= search->arena.used) break;
    uint64_t end = begin + RANGE < search->arena.used ? begin + RANGE : search->arena.used;
    for (uint64_t index = begin; index < end; index++) {
      if (!is_first(worker, (uint32_t)index)) continue;
      if (!batch && !(batch = batch_get(search, &search->cycles->list))) return NULL;
      batch->states[batch->count++] = (uint32_t)index;
    }
  }
  return batch;
}

static void expand_batch(Worker *worker, const Batch *batch) {
  enum { AHEAD = 8 };
  const Arena *arena = &worker->search->arena;
  for (uint32_t i = 0; i < batch->count; i++) {
    if (i + AHEAD < batch->count) state_fetch(arena_state(arena, batch->states[i + AHEAD]));
    uint8_t room[MODEL_BYTES + SPARE_BYTES];
    worker->expansion.owner = i;
    model_expand(parent_state(worker, arena_state(arena, batch->states[i]), room), &worker->expansion);
  }
  worker->expansion.flush(&worker->expansion);
}

static void begin_phase(Worker *worker) {
  worker->expansion.flush = worker->search->cycles->phase == PHASE_REACH ? reach_successors : eliminate_successors;
}

/* Returns the next batch of a worker; NULL if nothing is left for now. Its own unfinished output comes last, because it
 * may still grow. */
static Batch *next_batch(Worker *worker) {
  CycleWorker *own = own_part(worker);
  Batch *batch = worklist_take(&worker->search->cycles->list);
  if (!batch) batch = next_seeds(worker);
  if (!batch && own->output && own->output->count) {
    batch = own->output;
    own->output = NULL;
  }
  return batch;
}

/* Takes part in REACHABILITY or ELIMINATION until nothing is left to do. */
static void work_off(Worker *worker) {
  Search *search = worker->search;
  Worklist *list = &search->cycles->list;
  CycleWorker *own = own_part(worker);
  begin_phase(worker);
  while (!stopping(search)) {
    Batch *batch = next_batch(worker);
    if (!batch && !(batch = worklist_await(list))) return;
    expand_batch(worker, batch);
    batch_forget(list, batch);
  }
  if (own->output) own->output->count = 0;
  worklist_end(list);
}

/* Works off up to `batches` batches, without waiting for more. Returns 0 if there were fewer. */
static int work_off_part(Worker *worker, uint64_t batches) {
  begin_phase(worker);
  for (; batches && !stopping(worker->search); batches--) {
    Batch *batch = next_batch(worker);
    if (!batch) return 0;
    expand_batch(worker, batch);
    batch_forget(&worker->search->cycles->list, batch);
  }
  return 1;
}

static int has_work(const Search *search) {
  int has = search->cycles->list.waiting != NULL;
  for (uint32_t i = 0; i < search->worker_count; i++) {
    const Batch *output = search->cycles->mine[i].output;
    has |= output && output->count;
  }
  return has;
}

/* Sets S before a phase. At first S has all states, of which the accepting ones start REACHABILITY. For a weak
 * automaton, whose cycles have accepting states only, S has those, with their predecessors counted already. */
static void reset_words(Worker *worker) {
  Search *search = worker->search;
  const int is_first_time = search->cycles->phase == PHASE_FIRST;
  const int is_weak = search->cycles->strength == WEAK_AUTOMATON;
  enum { RANGE = 1 << 14 };
  while (!stopping(search)) {
    uint64_t begin = __atomic_fetch_add(&search->cycles->cursor, RANGE, __ATOMIC_RELAXED);
    if (begin >= search->arena.used) return;
    uint64_t end = begin + RANGE < search->arena.used ? begin + RANGE : search->arena.used;
    for (uint64_t index = begin; index < end; index++) {
      uint32_t *word = word_of(search, index);
      /* Unwritten pages are not read, because they would be allocated twice. */
      const uint32_t before = is_first_time && !is_weak ? 0 : *word;
      int is_accepting = before & ACCEPTING && before & IN_S;
      if (is_first_time) is_accepting = is_accepting_kept(search, arena_state(&search->arena, index));
      own_part(worker)->entered += (unsigned)is_accepting;
      const uint32_t flags = is_accepting ? ACCEPTING | IN_S | SEED : before & ACCEPTING;
      *word = flags | (is_first_time ? before & PREDECESSORS : 0);
    }
  }
}
