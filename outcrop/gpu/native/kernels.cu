/* The kernels of a search on a GPU. Include after the model's functions.
 *
 * A level is expanded piece by piece: `expand` fills the buffer of successors, `prepare` brings them into normal form,
 * and `insert_...` looks them up and appends the new ones to the visited states, which lie in blocks. If a kernel
 * cannot continue, because a column of the buffer or the table is full, it sets `halted`, and all kernels launched
 * after it return at once. Insertion is idempotent: interrupted work is repeated from the last known counters.
 *
 * All loops advance by THREADS, so a kernel runs on any number of threads; in tests it is one. */

enum { HALT_NONE, HALT_SUCCESSORS, HALT_TABLE };
enum { FOUND_DEADLOCK = 1, FOUND_STATE = 2, FOUND_RULE = 4 };
enum { DEADLOCK_OFF, DEADLOCK_STUTTERING, DEADLOCK_STUCK };
enum { BUCKET = 4, MOST_BUCKETS = 256 };

typedef struct {
  uint64_t used;   /* number of visited states: positions in the blocks */
  uint64_t halted;
  uint64_t most;   /* largest number of successors of a state */
  uint64_t found;
  uint64_t limit;  /* largest number of states in the table */
  uint64_t matches;
  uint64_t missing; /* number of successors that only the lower table may have */
} Control;

/* Returns whether to stop. All threads of a block must agree, although others change the flag meanwhile. */
static inline bool is_halted(const Control *control) {
  return any_of_block(load_shared_word(&control->halted) != HALT_NONE);
}

static inline bool is_full(Control *control) {
  if (!any_of_block(load_shared_word(&control->used) >= control->limit)) return false;
  control->halted = HALT_TABLE;
  return true;
}

typedef struct {
  uint64_t low[WORDS], high[WORDS];
  uint64_t constant_low, constant_high;
} Hasher;

CONSTANT(Hasher outcrop_hasher)

/* Returns the strongly universal hash of hash_state in outcrop/native/hash.h. */
static inline uint64_t hash_words(const uint64_t *state) {
  uint64_t low = outcrop_hasher.constant_low, high = outcrop_hasher.constant_high;
  UNROLL for (int i = 0; i < WORDS; i++) {
    const uint64_t product = outcrop_hasher.low[i] * state[i];
    low += product;
    high += multiply_high(outcrop_hasher.low[i], state[i]) + (low < product) + outcrop_hasher.high[i] * state[i];
  }
  high = (high ^ high >> 32) * UINT64_C(0xD6E8FEB86659FD93);
  return high ^ high >> 32;
}

static inline uint64_t *state_at(uint64_t *const *blocks, uint64_t position) {
  return blocks[position >> BLOCK_SHIFT] + (position & ((UINT64_C(1) << BLOCK_SHIFT) - 1)) * WORDS;
}

static inline void load_state(uint64_t *state, const uint64_t *from) {
#if WORDS % 2 == 0 && defined(__CUDACC__)
  UNROLL for (int i = 0; i < WORDS / 2; i++) {
    const ulonglong2 two = ((const ulonglong2 *)from)[i];
    state[2 * i] = two.x, state[2 * i + 1] = two.y;
  }
#else
  UNROLL for (int i = 0; i < WORDS; i++) state[i] = from[i];
#endif
  state[WORDS] = 0;
}

static inline void load_successor(uint64_t *state, const uint64_t *successors, uint32_t stride, uint64_t row, uint64_t x) {
  const uint64_t *from = successors + row * WORDS * stride + x;
  UNROLL for (int i = 0; i < WORDS; i++) state[i] = from[(uint64_t)i * stride];
}

/* --- Buckets ---------------------------------------------------------------------------------------------------- */

/* Slots of a bucket fill from the first on and are never emptied. An entry goes to the first empty slot; a thread that
 * finds it taken examines what is there now. Zero is an empty slot. After a full bucket comes the one that memory
 * delivers with it, and then a pair at a distance that depends on the hash, so that full buckets do not cluster. The
 * number of buckets is even, and at least four. */
static inline uint64_t next_bucket(uint64_t bucket, uint32_t tries, uint64_t hash, uint64_t buckets) {
  if (tries % 2 == 0) return bucket ^ 1;
  const uint64_t pairs = buckets / 2;
  uint64_t pair = bucket / 2 + 1 + multiply_high(hash * UINT64_C(0x9E3779B97F4A7C15), pairs - 1);
  if (pair >= pairs) pair -= pairs;
  return 2 * pair + bucket % 2;
}

/* --- Counting ------------------------------------------------------------------------------------------------ */

static inline void context_clear(Context *context) {
  for (uint32_t i = THREAD; i < RULE_COUNT + 1; i += THREADS) context->fired[i] = 0;
  for (uint32_t i = THREAD; i < COVER_COUNT + 1; i += THREADS) context->covered[i] = 0;
  for (uint32_t i = THREAD; i < NOTE_COUNT + 1; i += THREADS) context->noted[i] = 0;
  synchronise();
}

static inline void context_add(Context *context, uint64_t *fired, uint64_t *covered, uint8_t *noted) {
  synchronise();
  for (uint32_t i = THREAD; i < RULE_COUNT; i += THREADS)
    if (context->fired[i]) add_global(&fired[i], context->fired[i]);
  for (uint32_t i = THREAD; i < COVER_COUNT; i += THREADS)
    if (context->covered[i]) add_global(&covered[i], context->covered[i]);
  for (uint32_t i = THREAD; i < NOTE_COUNT; i += THREADS)
    if (context->noted[i]) noted[i] = 1;
}

/* --- Expansion ----------------------------------------------------------------------------------------------- */

/* Expands states. `counts` gets the number of successors of each state; `flags`, if given, its findings. */
KERNEL LAUNCH_BOUNDS(EXPAND_THREADS, EXPAND_BLOCKS)
expand(const uint64_t *states, uint32_t count, uint64_t *successors, uint32_t stride, uint32_t room, uint32_t *counts,
       uint8_t *flags, uint32_t deadlock, Control *control, uint64_t *fired, uint64_t *covered, uint8_t *noted) {
  SHARED Context context;
  if (is_halted(control)) return;
  context_clear(&context);
  uint32_t most = 0, found = 0;
  for (uint32_t x = BLOCK * THREADS + THREAD; x < count; x += BLOCKS * THREADS) {
    ALIGNED uint64_t state[WORDS + 1];
    Expansion expansion;
    load_state(state, states + (uint64_t)x * WORDS);
    expansion.context = &context;
    expansion.successors = successors + x;
    expansion.stride = stride;
    expansion.room = room;
    expansion.count = expansion.enabled = expansion.moved = expansion.failed = 0;
    expansion.next[WORDS] = 0;
    if (model_expand((const uint8_t *)state, &expansion) != OK) expansion.failed = 1;
    counts[x] = expansion.count < room ? expansion.count : room;
    most = most < expansion.count ? expansion.count : most;
    uint32_t is_stuck = deadlock == DEADLOCK_STUTTERING ? !expansion.moved
                                                              : deadlock == DEADLOCK_STUCK && !expansion.enabled;
#if HAS_ENDS
    if (is_stuck) {
      int may_end;
      model_may_end((const uint8_t *)state, &context, &may_end);
      is_stuck = !may_end;
    }
#endif
    const uint32_t wrong = expansion.failed ? FOUND_RULE : is_stuck ? FOUND_DEADLOCK : 0;
    found |= wrong;
    if (flags) flags[x] = (uint8_t)wrong;
  }
  if (found) or_global(&control->found, found);
  if (most > room) control->halted = HALT_SUCCESSORS;
  if (most > load_shared_word(&control->most)) most_global(&control->most, most);
  context_add(&context, fired, covered, noted);
}

/* Brings successors into normal form. A successor that a global assumption drops is replaced by the expanded state,
 * which is not new. */
KERNEL LAUNCH_BOUNDS(PREPARE_THREADS, 1)
prepare(const uint64_t *states, uint32_t count, uint64_t *successors, uint32_t stride, const uint32_t *counts,
        Control *control, uint8_t *noted) {
#if HAS_NORMALISE || HAS_ASSUMPTIONS
  SHARED Context context;
  if (is_halted(control)) return;
  context_clear(&context);
  for (uint32_t x = BLOCK * THREADS + THREAD; x < count; x += BLOCKS * THREADS) {
    if (ROW >= counts[x]) continue;
    ALIGNED uint64_t state[WORDS + 1];
    uint64_t *at = successors + (uint64_t)ROW * WORDS * stride + x;
    for (int i = 0; i < WORDS; i++) state[i] = at[(uint64_t)i * stride];
    state[WORDS] = 0;
#if HAS_NORMALISE
    model_normalise((uint8_t *)state);
#endif
#if HAS_ASSUMPTIONS
    /* An assumption that fails to evaluate keeps the state: checking the new state finds the failure. */
    int keep = 1;
    if (model_assumptions((const uint8_t *)state, &context, &keep) == OK && !keep)
      load_state(state, states + (uint64_t)x * WORDS);
#endif
    for (int i = 0; i < WORDS; i++) at[(uint64_t)i * stride] = state[i];
  }
  (void)states, (void)noted;
#if HAS_ASSUMPTIONS
  synchronise();
  for (uint32_t i = THREAD; i < NOTE_COUNT; i += THREADS)
    if (context.noted[i]) noted[i] = 1;
#endif
#endif
}

/* Checks the properties of all states from `begin` on, and counts the cover goals that they meet. */
KERNEL check(uint64_t *const *blocks, uint64_t begin, uint8_t *flags, Control *control, uint64_t *fired,
             uint64_t *covered, uint8_t *noted) {
  SHARED Context context;
  if (is_halted(control)) return;
  context_clear(&context);
  uint32_t found = 0;
  const uint64_t end = control->used;
  for (uint64_t at = begin + BLOCK * THREADS + THREAD; at < end; at += (uint64_t)BLOCKS * THREADS) {
    ALIGNED uint64_t words[WORDS + 1];
    load_state(words, state_at(blocks, at));
    const uint8_t *state = (const uint8_t *)words;
    int failed = 0;
    (void)state;
#if HAS_ASSUMPTIONS
    int keep;
    failed = model_assumptions(state, &context, &keep) != OK;
#endif
    if (!failed) {
#if HAS_INVARIANTS
      failed = model_invariants(state, &context) != OK;
#endif
#if HAS_COVER_PROPERTIES
      failed |= model_covers(state, &context) != OK;
#endif
    }
    if (failed) found = FOUND_STATE;
    if (flags) flags[at - begin] = (uint8_t)(failed ? FOUND_STATE : 0);
  }
  if (found) or_global(&control->found, found);
  context_add(&context, fired, covered, noted);
}

/* --- Signatures ---------------------------------------------------------------------------------------------- */

static inline uint64_t signature_of(uint64_t hash) { return hash ? hash : 1; }

enum { SIGNATURE_OLD, SIGNATURE_NEW, SIGNATURE_WITHOUT_ROOM };

/* Looks a signature up, and enters it if it is new. `slots`: its first bucket, already loaded. */
static inline uint32_t add_signature(uint64_t *table, uint64_t buckets, uint64_t bucket, uint64_t *slots,
                                     uint64_t signature, Control *control) {
  for (uint32_t tries = 0; tries < MOST_BUCKETS; tries++) {
    UNROLL for (int i = 0; i < BUCKET; i++) {
      uint64_t entry = slots[i];
      if (entry == 0) {
        entry = exchange_if(&table[BUCKET * bucket + i], 0, signature);
        if (entry == 0) return SIGNATURE_NEW;
      }
      if (entry == signature) return SIGNATURE_OLD;
    }
    bucket = next_bucket(bucket, tries, signature, buckets);
    load_four(&table[BUCKET * bucket], slots);
  }
  control->halted = HALT_TABLE;
  return SIGNATURE_WITHOUT_ROOM;
}

/* Inserts signatures. Each thread takes GROUP successors of a state, whose buckets are loaded concurrently. */
KERNEL LAUNCH_BOUNDS(INSERT_THREADS, INSERT_BLOCKS)
insert_signatures(const uint64_t *successors, uint32_t stride, const uint32_t *counts, uint32_t count, uint64_t *table,
                  uint64_t buckets, uint64_t *const *blocks, Control *control) {
  if (is_halted(control)) return;
  if (is_full(control)) return;
  for (uint32_t begin = BLOCK * THREADS; begin < count; begin += BLOCKS * THREADS) {
    const uint32_t x = begin + THREAD, first = ROW * GROUP;
    const uint32_t most = x < count ? counts[x] : 0;
    ALIGNED uint64_t states[GROUP][WORDS + 1];
    uint64_t signatures[GROUP], at[GROUP], slots[GROUP][BUCKET];
    uint32_t is_new = 0, wanted = 0;
    UNROLL for (int i = 0; i < GROUP; i++) {
      if (first + i >= most) continue;
      load_successor(states[i], successors, stride, first + i, x);
      signatures[i] = signature_of(hash_words(states[i]));
      at[i] = multiply_high(signatures[i], buckets);
      load_four(&table[BUCKET * at[i]], slots[i]);
    }
    UNROLL for (int i = 0; i < GROUP; i++) {
      if (first + i >= most) continue;
      const uint32_t is_one = add_signature(table, buckets, at[i], slots[i], signatures[i], control) == SIGNATURE_NEW;
      is_new |= is_one << i;
      wanted += is_one;
    }
    uint64_t position = claim(&control->used, wanted);
    UNROLL for (int i = 0; i < GROUP; i++) {
      if (!(is_new >> i & 1)) continue;
      uint64_t *to = state_at(blocks, position++);
      UNROLL for (int word = 0; word < WORDS; word++) to[word] = states[i][word];
    }
  }
}

KERNEL rehash_signatures(const uint64_t *before, uint64_t slots, uint64_t *table, uint64_t buckets, Control *control) {
  for (uint64_t i = BLOCK * (uint64_t)THREADS + THREAD; i < slots; i += (uint64_t)BLOCKS * THREADS) {
    if (!before[i]) continue;
    const uint64_t bucket = multiply_high(before[i], buckets);
    uint64_t first[BUCKET];
    load_four(&table[BUCKET * bucket], first);
    add_signature(table, buckets, bucket, first, before[i], control);
  }
}

#include "lower.cu"

/* --- Exact states -------------------------------------------------------------------------------------------- */

/* An entry is the position of a state plus one, and some bits of its hash. An entry that was just made has no position
 * yet. It is marked, and gives a place in the buffer of successors, where the state can be read too. */
enum { TAG_BITS = 23, POSITION_BITS = 40 };
#define IN_BUFFER (UINT64_C(1) << 63)
#define POSITION_MASK ((UINT64_C(1) << POSITION_BITS) - 1)

/* Returns the tag of a hash. The upper bits select the bucket, so the tag has the lower ones. */
static inline uint64_t tag_of(uint64_t hash) { return (hash & ((UINT64_C(1) << TAG_BITS) - 1)) << POSITION_BITS; }

typedef struct {
  const uint64_t *successors;
  uint32_t stride;
  uint64_t *const *blocks;
} Places;

static inline int is_same(const Places *places, uint64_t entry, const uint64_t *state) {
  const uint64_t number = (entry & POSITION_MASK) - 1;
  uint64_t difference = 0;
  if (entry & IN_BUFFER) {
    const uint64_t row = number / places->stride, x = number - row * places->stride;
    const uint64_t *at = places->successors + row * WORDS * places->stride + x;
    UNROLL for (int i = 0; i < WORDS; i++) difference |= at[(uint64_t)i * places->stride] ^ state[i];
  } else {
    const uint64_t *at = state_at(places->blocks, number);
    UNROLL for (int i = 0; i < WORDS; i++) difference |= load_shared_word(&at[i]) ^ state[i];
  }
  return difference == 0;
}

/* Returns the slot of a new state's entry, ~0 if the state is not new. */
static inline uint64_t add_state(uint64_t *table, uint64_t buckets, uint64_t hash, uint64_t *slots,
                                 const uint64_t *state, uint64_t entry, const Places *places, Control *control) {
  uint64_t bucket = multiply_high(hash, buckets);
  const uint64_t mask = ((UINT64_C(1) << TAG_BITS) - 1) << POSITION_BITS;
  for (uint32_t tries = 0; tries < MOST_BUCKETS; tries++) {
    UNROLL for (int i = 0; i < BUCKET; i++) {
      uint64_t other = slots[i];
      if (other == 0) {
        other = exchange_if(&table[BUCKET * bucket + i], 0, entry);
        if (other == 0) return BUCKET * bucket + i;
      }
      if (((other ^ entry) & mask) == 0 && is_same(places, other, state)) return ~UINT64_C(0);
    }
    bucket = next_bucket(bucket, tries, hash, buckets);
    load_four(&table[BUCKET * bucket], slots);
  }
  control->halted = HALT_TABLE;
  return ~UINT64_C(0);
}

KERNEL LAUNCH_BOUNDS(INSERT_THREADS, INSERT_BLOCKS)
insert_states(const uint64_t *successors, uint32_t stride, const uint32_t *counts, uint32_t count, uint64_t *table,
              uint64_t buckets, uint64_t *const *blocks, Control *control) {
  if (is_halted(control)) return;
  if (is_full(control)) return;
  const Places places = {successors, stride, blocks};
  for (uint32_t begin = BLOCK * THREADS; begin < count; begin += BLOCKS * THREADS) {
    const uint32_t x = begin + THREAD, first = ROW * GROUP;
    const uint32_t most = x < count ? counts[x] : 0;
    ALIGNED uint64_t states[GROUP][WORDS + 1];
    uint64_t hashes[GROUP], taken[GROUP], slots[GROUP][BUCKET];
    uint32_t wanted = 0;
    UNROLL for (int i = 0; i < GROUP; i++) {
      taken[i] = ~UINT64_C(0);
      if (first + i >= most) continue;
      load_successor(states[i], successors, stride, first + i, x);
      hashes[i] = hash_words(states[i]);
      load_four(&table[BUCKET * multiply_high(hashes[i], buckets)], slots[i]);
    }
    UNROLL for (int i = 0; i < GROUP; i++) {
      if (first + i >= most) continue;
      const uint64_t entry = IN_BUFFER | tag_of(hashes[i]) | ((uint64_t)(first + i) * stride + x + 1);
      taken[i] = add_state(table, buckets, hashes[i], slots[i], states[i], entry, &places, control);
      wanted += taken[i] != ~UINT64_C(0);
    }
    uint64_t position = claim(&control->used, wanted);
    UNROLL for (int i = 0; i < GROUP; i++) {
      if (taken[i] == ~UINT64_C(0)) continue;
      uint64_t *to = state_at(blocks, position);
      UNROLL for (int word = 0; word < WORDS; word++) store_shared_word(&to[word], states[i][word]);
      fence();
      store_shared_word(&table[taken[i]], tag_of(hashes[i]) | ++position);
    }
  }
}

/* Enters visited states, which are distinct, into a table that is empty or holds other states. */
KERNEL enter_states(const uint64_t *states, uint64_t first, uint32_t count, uint64_t *table, uint64_t buckets, Control *control) {
  for (uint32_t x = BLOCK * THREADS + THREAD; x < count; x += BLOCKS * THREADS) {
    ALIGNED uint64_t state[WORDS + 1];
    load_state(state, states + (uint64_t)x * WORDS);
    const uint64_t hash = hash_words(state), entry = tag_of(hash) | (first + x + 1);
    uint64_t bucket = multiply_high(hash, buckets);
    int is_entered = 0;
    for (uint32_t tries = 0; tries < MOST_BUCKETS && !is_entered; tries++) {
      for (int i = 0; i < BUCKET && !is_entered; i++)
        is_entered = exchange_if(&table[BUCKET * bucket + i], 0, entry) == 0;
      bucket = next_bucket(bucket, tries, hash, buckets);
    }
    if (!is_entered) control->halted = HALT_TABLE;
  }
}

/* Enters the signatures of visited states. */
KERNEL enter_signatures(const uint64_t *states, uint64_t first, uint32_t count, uint64_t *table, uint64_t buckets, Control *control) {
  (void)first;
  for (uint32_t x = BLOCK * THREADS + THREAD; x < count; x += BLOCKS * THREADS) {
    ALIGNED uint64_t state[WORDS + 1];
    load_state(state, states + (uint64_t)x * WORDS);
    const uint64_t signature = signature_of(hash_words(state)), bucket = multiply_high(signature, buckets);
    uint64_t slots[BUCKET];
    load_four(&table[BUCKET * bucket], slots);
    add_signature(table, buckets, bucket, slots, signature, control);
  }
}

/* --- Predecessors -------------------------------------------------------------------------------------------- */

/* Lists the expanded states that lead to one of `targets`, whose hashes are sorted: pairs of the number of a target and
 * the number of a state. */
KERNEL match(const uint64_t *successors, uint32_t stride, const uint32_t *counts, uint32_t count,
             const uint64_t *targets, const uint64_t *target_hashes, uint32_t target_count,
             uint64_t *pairs, uint32_t room, Control *control) {
  if (is_halted(control)) return;
  for (uint32_t x = BLOCK * THREADS + THREAD; x < count; x += BLOCKS * THREADS) {
    if (ROW >= counts[x]) continue;
    uint64_t state[WORDS + 1];
    const uint64_t *from = successors + (uint64_t)ROW * WORDS * stride + x;
    for (int word = 0; word < WORDS; word++) state[word] = from[(uint64_t)word * stride];
    const uint64_t hash = hash_words(state);
    uint32_t low = 0, high = target_count;
    while (low < high) {
      const uint32_t middle = low + (high - low) / 2;
      if (target_hashes[middle] < hash)
        low = middle + 1;
      else
        high = middle;
    }
    for (; low < target_count && target_hashes[low] == hash; low++) {
      int same = 1;
      for (int word = 0; word < WORDS; word++) same &= targets[(uint64_t)low * WORDS + word] == state[word];
      if (!same) continue;
      const uint64_t number = add_global(&control->matches, 1);
      if (number < room) pairs[number] = (uint64_t)low << 32 | x;
    }
  }
}

KERNEL hash_all(const uint64_t *states, uint32_t count, uint64_t *hashes) {
  for (uint32_t x = BLOCK * THREADS + THREAD; x < count; x += BLOCKS * THREADS)
    hashes[x] = hash_words(states + (uint64_t)x * WORDS);
}
