/* OWCTY with hash compaction: J. Barnat, J. Havlicek and P. Rockai, "Distributed LTL model checking with hash
 * compaction" (2012), Algorithms 2 and 3. The table holds only the signature of a state, and in the same slot a
 * note: whether it is in S, and how many predecessors in S were counted. The states themselves pass through, block
 * by block; outcrop/search/owcty_compact.py keeps them in files. */

/* Layout of a note. The count of predecessors is above the other bit, so that an overflow leaves the slot. */
enum { NOTE_IN_S = 1, NOTE_BITS = 8, NOTED_PREDECESSORS = 1 << (NOTE_BITS - 1) };

/* BLOCK_FIRST: as ELIMINATION, after predecessors were counted while the states were found. */
enum { BLOCK_REACH, BLOCK_ELIMINATE, BLOCK_VERIFY, BLOCK_FIRST };

/* The number of overflows of a note's count of predecessors. They are rare, so a plain table with a lock suffices. */
typedef struct {
  uint64_t signature; /* plus one; 0 for an empty entry */
  uint64_t times;
} Carry;

typedef struct {
  Gathered accepting;  /* successors to be enqueued */
  uint64_t *positions; /* positions of successors */
  uint64_t entered, removed; /* number of states that entered or left S */
} __attribute__((aligned(128))) CompactedWorker;

typedef struct Compacted {
  int strength;
  CompactedWorker *mine;
  pthread_mutex_t lock;
  Carry *carries;
  uint64_t carry_count, carry_room; /* a power of two */
  int64_t found;                    /* whether BLOCK_VERIFY has come back to the target (atomic) */
  const uint8_t *target;            /* the state that BLOCK_VERIFY started with */
} Compacted;

static CompactedWorker *own_compacted(const Worker *worker) {
  return &worker->search->compacted->mine[worker - worker->search->workers];
}

/* --- Carries ------------------------------------------------------------------------------------------------- */

static Carry *carry_of(Compacted *compacted, uint64_t signature) {
  uint64_t mask = compacted->carry_room - 1, at = signature * 0x9E3779B97F4A7C15ull >> 32 & mask;
  while (compacted->carries[at].signature && compacted->carries[at].signature != signature + 1) at = (at + 1) & mask;
  return &compacted->carries[at];
}

/* Makes space for one more. Returns 0 if there is no memory. */
static int carries_reserve(Search *search, Compacted *compacted) {
  if (2 * (compacted->carry_count + 1) <= compacted->carry_room) return 1;
  Compacted grown = *compacted;
  grown.carry_room = compacted->carry_room ? 2 * compacted->carry_room : 256;
  grown.carries = calloc(grown.carry_room, sizeof(Carry));
  if (!grown.carries) return 0;
  for (uint64_t i = 0; i < compacted->carry_room; i++) {
    const Carry *carry = &compacted->carries[i];
    if (carry->signature) *carry_of(&grown, carry->signature - 1) = *carry;
  }
  free(compacted->carries);
  search->beside += (grown.carry_room - compacted->carry_room) * sizeof(Carry);
  compacted->carries = grown.carries;
  compacted->carry_room = grown.carry_room;
  return 1;
}

static void carry_add(Search *search, Compacted *compacted, uint64_t signature) {
  pthread_mutex_lock(&compacted->lock);
  if (!carries_reserve(search, compacted)) {
    stop_search(search, STOP_MEMORY);
  } else {
    Carry *carry = carry_of(compacted, signature);
    if (!carry->signature) compacted->carry_count++;
    carry->signature = signature + 1;
    carry->times++;
  }
  pthread_mutex_unlock(&compacted->lock);
}

/* Returns how often the count of a signature has overflowed; with `take`, one less from now on. Called only if the
 * count in the note is 0. */
static uint64_t carry_look(Compacted *compacted, uint64_t signature, int take) {
  if (!compacted->carry_count) return 0; /* counts do not overflow in the phases that ask */
  pthread_mutex_lock(&compacted->lock);
  Carry *carry = carry_of(compacted, signature);
  uint64_t times = carry->times;
  if (times && take) carry->times--;
  pthread_mutex_unlock(&compacted->lock);
  return times;
}

/* --- Notes --------------------------------------------------------------------------------------------------- */

static inline uint64_t slot_load(const Signatures *signatures, uint64_t position) {
  return signatures->wide ? __atomic_load_n((uint64_t *)signatures->lines + position, __ATOMIC_RELAXED)
                          : __atomic_load_n((uint32_t *)signatures->lines + position, __ATOMIC_RELAXED);
}

/* Replaces a slot if it is unchanged. Otherwise updates `before` and returns 0. */
static inline int slot_replace(const Signatures *signatures, uint64_t position, uint64_t *before, uint64_t after,
                               int shared) {
  if (signatures->wide) {
    uint64_t *slot = (uint64_t *)signatures->lines + position;
    if (shared) return __atomic_compare_exchange_n(slot, before, after, 1, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
    *slot = after;
  } else {
    uint32_t *slot = (uint32_t *)signatures->lines + position, expected = (uint32_t)*before;
    if (shared) {
      int replaced =
          __atomic_compare_exchange_n(slot, &expected, (uint32_t)after, 1, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
      *before = expected;
      return replaced;
    }
    *slot = (uint32_t)after;
  }
  return 1;
}

/* Changes the note of a slot: the state enters S if `enter`, leaves it if `leave`, and gets `more` predecessors, but
 * never fewer than none. Returns the previous note. */
static inline uint64_t note_change(const Search *search, uint64_t position, int enter, int leave, int more) {
  const Signatures *signatures = &search->signatures;
  const unsigned at = note_at(signatures, signatures->wide);
  const int shared = search->worker_count > 1;
  uint64_t before = slot_load(signatures, position), after;
  do {
    uint64_t note = before >> at;
    if (enter) note |= NOTE_IN_S;
    if (leave) note &= ~(uint64_t)NOTE_IN_S;
    if (more > 0 || note >> 1) note = (note + (uint64_t)(2 * more)) & ((1 << NOTE_BITS) - 1);
    after = (before & key_mask(signatures, signatures->wide)) | note << at;
  } while (before != after && !slot_replace(signatures, position, &before, after, shared));
  return before >> at;
}

static void enter_s(Worker *worker, uint64_t position, const uint8_t *state, uint64_t hash) {
  if (note_change(worker->search, position, 1, 0, 0) & NOTE_IN_S) return;
  own_compacted(worker)->entered++;
  if (!gather(&worker->gathered, state, &hash, 1)) stop_search(worker->search, STOP_MEMORY);
}

static void leave_s(Worker *worker, uint64_t position, const uint8_t *state, uint64_t hash) {
  if (!(note_change(worker->search, position, 0, 1, 0) & NOTE_IN_S)) return;
  own_compacted(worker)->removed++;
  if (!gather(&worker->gathered, state, &hash, 1)) stop_search(worker->search, STOP_MEMORY);
}

/* --- Successors ---------------------------------------------------------------------------------------------- */

/* Counts one more predecessor. Returns the previous note. */
static uint64_t count_one(Search *search, uint64_t position, int enter, uint64_t hash) {
  uint64_t before = note_change(search, position, enter, 0, 1);
  if (before >> 1 == NOTED_PREDECESSORS - 1)
    carry_add(search, search->compacted, signature_of(&search->signatures, hash));
  return before;
}

/* Handles a successor in REACHABILITY. The first transition to an accepting state enqueues it. Later ones lead to the
 * same state, or to another of the same signature, which would be found in S when it is handled. */
static void reach_one(Worker *worker, uint64_t position, const uint8_t *state, uint64_t hash) {
  uint64_t before = count_one(worker->search, position, 0, hash) >> 1;
  if (!before && model_accepting(state) && !gather(&own_compacted(worker)->accepting, state, &hash, 1))
    stop_search(worker->search, STOP_MEMORY);
  enter_s(worker, position, state, hash);
}

/* Removes one predecessor. A count of zero stays: two states of one signature were confused. */
static void eliminate_one(Worker *worker, uint64_t position, const uint8_t *state, uint64_t hash) {
  Search *search = worker->search;
  const Signatures *signatures = &search->signatures;
  uint64_t note = slot_load(signatures, position) >> note_at(signatures, signatures->wide);
  if (!(note & NOTE_IN_S)) return;
  uint64_t before = note_change(search, position, 0, 0, -1) >> 1, signature = signature_of(signatures, hash);
  if (!before && carry_look(search->compacted, signature, 1))
    note_change(search, position, 0, 0, NOTED_PREDECESSORS - 1);
  else if (before == 1 && !carry_look(search->compacted, signature, 0))
    leave_s(worker, position, state, hash);
}

static void verify_one(Worker *worker, uint64_t position, const uint8_t *state, uint64_t hash) {
  Compacted *compacted = worker->search->compacted;
  if (states_equal(state, compacted->target)) __atomic_store_n(&compacted->found, 1, __ATOMIC_RELAXED);
  enter_s(worker, position, state, hash);
}

/* Handles a state that a phase starts with. */
static void begin_one(Worker *worker, int kind, uint64_t position, const uint8_t *state, uint64_t hash) {
  const Signatures *signatures = &worker->search->signatures;
  if (kind == BLOCK_REACH || kind == BLOCK_VERIFY) {
    enter_s(worker, position, state, hash);
    return;
  }
  uint64_t note = slot_load(signatures, position) >> note_at(signatures, signatures->wide);
  if (note >> 1 || carry_look(worker->search->compacted, signature_of(signatures, hash), 0)) return;
  if (note & NOTE_IN_S)
    leave_s(worker, position, state, hash);
  else if (kind == BLOCK_FIRST && !gather(&worker->gathered, state, &hash, 1)) /* it has no accepting predecessor */
    stop_search(worker->search, STOP_MEMORY);
}

/* Finds the slots of some states, and enters missing ones: states that the first search never met, because it took
 * another path past a state of the same signature. Returns their number, fewer than `count` only if the search must
 * stop. */
static uint32_t positions_of(Worker *worker, const uint64_t *hashes, uint32_t count, uint64_t *positions) {
  Search *search = worker->search;
  const int shared = search->worker_count > 1;
  for (;;) {
    uint32_t done = 0, fresh = 0;
    if (!reserve_visited(worker, count)) return 0;
    for (; done < count; done++) {
      int outcome = signatures_look_up(&search->signatures, signature_of(&search->signatures, hashes[done]),
                                       search->signatures.wide, 1, shared, &positions[done]);
      if (outcome == SIGNATURE_TOO_FAR) break;
      fresh += outcome == SIGNATURE_NEW;
    }
    __atomic_sub_fetch(&search->reserved, count - fresh, __ATOMIC_RELAXED);
    if (done == count) return count;
    /* Growth moves all entries, so the batch starts over. */
    if (!grow_visited(worker)) return 0;
  }
}

static void keep_accepting_successors(Expansion *expansion) {
  uint32_t kept = 0;
  for (uint32_t i = 0; i < expansion->count; i++) {
    const uint8_t *successor = expansion->successors + (size_t)i * STATE_BYTES;
    if (!model_accepting(successor)) continue;
    if (kept != i) memmove(expansion->successors + (size_t)kept * STATE_BYTES, successor, STATE_BYTES);
    expansion->owners[kept++] = expansion->owners[i];
  }
  expansion->count = kept;
}

/* Hashes the successors in the buffer, and routes all that other ranks own, because transitions are counted. The hash
 * changes in each iteration, but a state keeps its owner. */
static void route_members(Worker *worker) {
  Expansion *expansion = &worker->expansion;
  Search *search = worker->search;
  uint32_t own = 0;
  for (uint32_t i = 0; i < expansion->count; i++) {
    const uint8_t *successor = expansion->successors + (size_t)i * STATE_BYTES;
    const uint32_t rank = owner_of_state(&search->route, successor);
    if (rank != search->route.rank) {
      worker->outgoing[rank].valued = 0;
      if (!outgoing_add(&worker->outgoing[rank], successor, 1)) stop_search(search, STOP_MEMORY);
      worker->foreign++;
      continue;
    }
    if (own != i) memmove(expansion->successors + (size_t)own * STATE_BYTES, successor, STATE_BYTES);
    expansion->owners[own++] = expansion->owners[i];
  }
  expansion->count = own;
  hash_successors(expansion);
}

/* Handles the hashed successors in the buffer as a phase requires. `sent`: other ranks have sent them, so their
 * predecessors are not known here, and are not the states themselves. */
static void deal_with_successors(Worker *worker, int kind, int sent) {
  Expansion *expansion = &worker->expansion;
  uint64_t *positions = own_compacted(worker)->positions;
  const uint32_t count = expansion->count;
  expansion->count = 0;
  if (positions_of(worker, expansion->hashes, count, positions) < count) return;
  for (uint32_t i = 0; i < count; i++) {
    const uint8_t *successor = expansion->successors + (size_t)i * STATE_BYTES;
    if (kind == BLOCK_ELIMINATE || kind == BLOCK_FIRST) {
      eliminate_one(worker, positions[i], successor, expansion->hashes[i]);
    } else if (kind == BLOCK_VERIFY) {
      verify_one(worker, positions[i], successor, expansion->hashes[i]);
    } else {
      const uint8_t *owner = worker->block + (size_t)expansion->owners[i] * STATE_BYTES;
      if (!sent && states_equal(successor, owner) && model_accepting(owner)) found_cycle(worker, owner);
      reach_one(worker, positions[i], successor, expansion->hashes[i]);
    }
  }
}

static void block_successors(Expansion *expansion) {
  Worker *worker = (Worker *)expansion;
  /* The cycles of a weak automaton have accepting states only. */
  if (worker->search->compacted->strength != GENERAL_AUTOMATON) keep_accepting_successors(expansion);
  if (is_shared(worker->search))
    route_members(worker);
  else
    hash_successors(expansion);
  deal_with_successors(worker, *(const int *)worker->purpose, 0);
}

/* Expands states of S and gathers their successors that enter it, or leave it in ELIMINATION. */
static void expand_members(Worker *worker, const uint8_t *states, uint64_t count) {
  for (uint64_t begin = 0; begin < count; begin += BLOCK_STATES) {
    worker->block = states + begin * STATE_BYTES;
    for (uint32_t i = 0; i < BLOCK_STATES && begin + i < count; i++) {
      worker->expansion.owner = i;
      model_expand(worker->block + (size_t)i * STATE_BYTES, &worker->expansion);
    }
    worker->expansion.flush(&worker->expansion);
  }
}

/* Hashes the accepting ones among some states, and prefetches their lines. Returns their number, and in `which` their
 * positions. */
static uint32_t hash_accepting(const Search *search, const uint8_t *states, uint32_t count, uint64_t *hashes,
                               uint32_t *which) {
  const Signatures *signatures = &search->signatures;
  uint32_t accepting = 0;
  for (uint32_t i = 0; i < count; i++) {
    const uint8_t *state = states + (size_t)i * STATE_BYTES;
    if (!model_accepting(state)) continue;
    uint64_t hash = hashes[accepting] = hash_state(&search->hasher, state);
    __builtin_prefetch(signatures->lines + multiply_high(hash, signatures->line_count) * LINE_BYTES, 1);
    which[accepting++] = i;
  }
  return accepting;
}

/* Handles the states that a phase starts with, which are the accepting ones. */
static void begin_members(Worker *worker, int kind, const uint8_t *states, uint64_t count) {
  uint64_t *positions = own_compacted(worker)->positions;
  uint64_t *hashes = worker->expansion.hashes;
  uint32_t *which = worker->expansion.owners;
  for (uint64_t begin = 0; begin < count; begin += SUCCESSOR_ROOM) {
    const uint8_t *first = states + begin * STATE_BYTES;
    uint32_t some = count - begin < SUCCESSOR_ROOM ? (uint32_t)(count - begin) : SUCCESSOR_ROOM;
    some = hash_accepting(worker->search, first, some, hashes, which);
    if (positions_of(worker, hashes, some, positions) < some) return;
    for (uint32_t i = 0; i < some; i++)
      begin_one(worker, kind, positions[i], first + (size_t)which[i] * STATE_BYTES, hashes[i]);
  }
}

/* Moves the accepting states that are in S to the front. Returns their number. */
static uint64_t keep_members(const Search *search, uint8_t *states, uint64_t count) {
  enum { SOME = 256 };
  const Signatures *signatures = &search->signatures;
  uint64_t hashes[SOME], kept = 0;
  uint32_t which[SOME];
  for (uint64_t begin = 0; begin < count; begin += SOME) {
    const uint8_t *first = states + begin * STATE_BYTES;
    uint32_t some = hash_accepting(search, first, count - begin < SOME ? (uint32_t)(count - begin) : SOME, hashes, which);
    for (uint32_t i = 0; i < some; i++) {
      uint64_t position = signatures_find(signatures, hashes[i]);
      if (position == UINT64_MAX) continue;
      if (!(slot_load(signatures, position) >> note_at(signatures, signatures->wide) & NOTE_IN_S)) continue;
      memmove(states + kept++ * STATE_BYTES, first + (size_t)which[i] * STATE_BYTES, STATE_BYTES);
    }
  }
  return kept;
}

/* Runs a phase on a block of states: those it starts with if `begins`, otherwise states to be expanded. While fewer
 * than `few` states follow, they are handled at once. The remaining ones are gathered. */
static void block_phase(Worker *worker, int kind, int begins, const uint8_t *states, uint64_t count, uint64_t few) {
  worker->purpose = &kind;
  worker->expansion.flush = block_successors;
  worker->gathered.count = 0;
  own_compacted(worker)->accepting.count = 0;
  if (begins)
    begin_members(worker, kind, states, count);
  else
    expand_members(worker, states, count);
  Gathered now = {0};
  while (worker->gathered.count && worker->gathered.count < few && !stopping(worker->search)) {
    Gathered next = now;
    now = worker->gathered;
    worker->gathered = next;
    worker->gathered.count = 0;
    expand_members(worker, now.states, now.count);
  }
  gathered_close(&now);
}

/* Runs a phase on successors that other ranks have sent. States that follow are gathered. */
static void message_phase(Worker *worker, int kind, const uint8_t *message) {
  Expansion *expansion = &worker->expansion;
  worker->gathered.count = 0;
  own_compacted(worker)->accepting.count = 0;
  for (Reading reading = begin_reading(message); reading.left;) {
    expansion->count = read_states(&reading, expansion->successors, SUCCESSOR_ROOM);
    hash_successors(expansion);
    deal_with_successors(worker, kind, 1);
  }
}

/* Counts an accepting predecessor of an accepting state. */
static void count_accepting_edge(Worker *worker, uint64_t hash) {
  Search *search = worker->search;
  uint64_t position = signatures_find(&search->signatures, hash);
  if (!(count_one(search, position, 1, hash) & NOTE_IN_S)) own_compacted(worker)->entered++;
}

/* Counts the transitions to states that were just added; `values` say whether their sources, on other ranks, are
 * accepting. */
static void count_sent(Worker *worker, const uint8_t *states, uint32_t count, const uint8_t *values) {
  for (uint32_t i = 0; i < count; i++) {
    uint32_t value;
    memcpy(&value, values + i * sizeof value, sizeof value);
    if (value && model_accepting(states + (size_t)i * STATE_BYTES)) count_accepting_edge(worker, worker->expansion.hashes[i]);
  }
}

static uint32_t acceptance_to_send(Worker *worker, uint32_t owner) {
  const uint8_t *state = worker->block + (size_t)owner * STATE_BYTES;
  if (!model_accepting(state)) return 0;
  if (worker->search->compacted->strength == TERMINAL_AUTOMATON) found_cycle(worker, state);
  return 1;
}

/* Flushes the buffer of the first search, as other searches do. Also finds accepting states that are their own
 * successor, or any accepting ones if the automaton is terminal, and for a weak one counts accepting predecessors of
 * accepting states. */
static void add_and_count(Expansion *expansion) {
  Worker *worker = (Worker *)expansion;
  Search *search = worker->search;
  const int strength = search->compacted->strength;
  if (is_shared(search) && strength != GENERAL_AUTOMATON)
    route_each(worker, acceptance_to_send);
  else
    hash_own_successors(worker);
  const uint32_t count = expansion->count;
  expansion->count = 0;
  worker->generated += count;
  add_hashed(worker, expansion->successors, count);
  if (worker->overflow) return;
  uint32_t last = UINT32_MAX;
  int is_accepting = 0;
  for (uint32_t i = 0; i < count; i++) {
    const uint8_t *owner = worker->block + (size_t)expansion->owners[i] * STATE_BYTES;
    const uint8_t *successor = expansion->successors + (size_t)i * STATE_BYTES;
    if (expansion->owners[i] != last) {
      last = expansion->owners[i];
      is_accepting = model_accepting(owner);
      if (is_accepting && strength == TERMINAL_AUTOMATON) found_cycle(worker, owner);
    }
    if (!is_accepting) continue;
    if (states_equal(successor, owner)) found_cycle(worker, owner);
    if (strength == GENERAL_AUTOMATON || !model_accepting(successor)) continue;
    count_accepting_edge(worker, expansion->hashes[i]);
  }
}

/* Clears S, all counts and all signatures in a share of the table. */
static void clear_signatures(Search *search, uint64_t share, uint64_t shares) {
  const uint64_t lines = search->signatures.line_count;
  const uint64_t begin = lines * share / shares, end = lines * (share + 1) / shares;
  memset(search->signatures.lines + begin * LINE_BYTES, 0, (end - begin) * LINE_BYTES);
  search->compacted->mine[share].entered = search->compacted->mine[share].removed = 0;
}

/* Makes signatures as long as the slots allow, of which the first search has made many: fewer states are then confused,
 * at no cost. Short signatures were asked for, and stay. The table must be empty. */
static void lengthen_signatures(Signatures *signatures) {
  enum { FEWEST_BITS = 32, MOST_BITS = 62 };
  if (signatures->bits < FEWEST_BITS) return;
  unsigned bits = signatures->dropped_bits + (signatures->wide ? 64 : 32) - DISTANCE_BITS - signatures->note_bits;
  if (bits > MOST_BITS) bits = MOST_BITS;
  if (bits > signatures->bits) signatures->bits = bits;
  signatures_shape(signatures, signatures->line_count);
}

static int compacted_open(Search *search, int strength) {
  Compacted *compacted = search->compacted = calloc(1, sizeof *compacted);
  if (!compacted) return 0;
  compacted->strength = strength;
  pthread_mutex_init(&compacted->lock, NULL);
  compacted->mine = aligned_alloc(_Alignof(CompactedWorker), search->worker_count * sizeof *compacted->mine);
  if (!compacted->mine) return 0;
  memset(compacted->mine, 0, search->worker_count * sizeof *compacted->mine);
  int complete = 1;
  for (uint32_t i = 0; i < search->worker_count; i++) {
    compacted->mine[i].positions = malloc(SUCCESSOR_ROOM * sizeof *compacted->mine[i].positions);
    complete = complete && compacted->mine[i].positions;
  }
  search->flush = add_and_count;
  return complete;
}

static void compacted_close(Search *search) {
  Compacted *compacted = search->compacted;
  if (!compacted) return;
  for (uint32_t i = 0; compacted->mine && i < search->worker_count; i++) {
    gathered_close(&compacted->mine[i].accepting);
    free(compacted->mine[i].positions);
  }
  free(compacted->mine);
  free(compacted->carries);
  pthread_mutex_destroy(&compacted->lock);
  free(compacted);
  search->compacted = NULL;
}
