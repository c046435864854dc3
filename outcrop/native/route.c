/* Several ranks: each state belongs to one rank, its owner, which alone stores and expands it. Successors that belong
 * to other ranks are set aside, to be sent to their owners.
 *
 * The owner follows from the hash, scrambled again, so that the hash is as uniform among the states of one owner as
 * among all. With signatures it follows from the bits that they consist of: states with the same signature then have
 * the same owner, and the states that compaction confuses do not depend on the number of ranks. Alternatively the owner
 * consists of parities of bits that seldom change and yet partition the states evenly, if outcrop/dist/owners.py has
 * found some. Then most successors have the owner of their predecessor.
 *
 * A filter of recently sent states prevents that a successor is sent again and again. It is exact: it holds states,
 * and a state that it has evicted is merely sent once more. */

/* --- The filter ---------------------------------------------------------------------------------------------- */

/* A state has one place, by its hash, and the last state to come there stays. Whether a state is there cannot be
 * predicted, so there is no branch: a misprediction would take longer than writing the state again.
 *
 * Places lie within cache lines, each after a byte that says what is there. */
enum {
  FILTER_PLACE = 1 + MODEL_BYTES,
  FILTER_BUCKET = (FILTER_PLACE + LINE_BYTES - 1) / LINE_BYTES * LINE_BYTES,
  FILTER_PLACES = FILTER_BUCKET / FILTER_PLACE
};
enum { PLACE_EMPTY, PLACE_TAKEN, PLACE_LOCKED };

typedef struct {
  uint8_t *buckets;
  uint64_t bucket_count;
  uint64_t reserved; /* bytes of address space */
  int shared;
} Filter;

static inline uint8_t *filter_bucket(Filter filter, uint64_t hash) {
  return filter.buckets + multiply_high(hash, filter.bucket_count) * FILTER_BUCKET;
}

static void filter_close(Filter *filter) {
  if (filter->buckets) munmap(filter->buckets, filter->reserved);
  filter->buckets = NULL;
}

/* Opens a filter of the smallest size, which may grow to `most` bytes. */
static int filter_open(Filter *filter, uint64_t most, int shared) {
  filter->shared = shared;
  filter->bucket_count = 1;
  filter->reserved = most + FILTER_BUCKET;
  void *pages = mmap(NULL, filter->reserved, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  filter->buckets = pages == MAP_FAILED ? NULL : pages;
  return filter->buckets != NULL;
}

/* Enters a state. Returns whether it was not there. */
static inline uint32_t filter_enter(Filter filter, const uint8_t *state, uint64_t hash) {
  uint8_t *place = filter_bucket(filter, hash) + ((hash & UINT32_MAX) * FILTER_PLACES >> 32) * FILTER_PLACE;
  uint8_t found = *place;
  if (filter.shared)
    while ((found = __atomic_exchange_n(place, PLACE_LOCKED, __ATOMIC_ACQUIRE)) == PLACE_LOCKED) {
    }
  uint32_t is_new = (uint32_t)(found == PLACE_EMPTY) | (uint32_t)!packed_equal(place + 1, state);
  memcpy(place + 1, state, MODEL_BYTES);
  if (filter.shared)
    __atomic_store_n(place, PLACE_TAKEN, __ATOMIC_RELEASE);
  else
    *place = PLACE_TAKEN;
  return is_new;
}

/* Lets the filter grow in place: from the last bucket on, states move to places that hold none to be moved. */
static void filter_grow(Filter *filter, uint64_t bytes, const Hasher *hasher) {
  if (bytes > filter->reserved) bytes = filter->reserved;
  uint64_t number = filter->bucket_count;
  if (bytes / FILTER_BUCKET <= number) return;
  filter->bucket_count = bytes / FILTER_BUCKET;
#ifdef MADV_HUGEPAGE
  if (bytes > LEAST_HUGE) madvise(filter->buckets, bytes, MADV_HUGEPAGE);
#endif
  while (number-- > 0) {
    uint8_t moved[FILTER_BUCKET], *bucket = filter->buckets + number * FILTER_BUCKET;
    memcpy(moved, bucket, FILTER_BUCKET);
    memset(bucket, 0, FILTER_BUCKET);
    for (const uint8_t *place = moved; place + FILTER_PLACE <= moved + FILTER_BUCKET; place += FILTER_PLACE)
      if (*place == PLACE_TAKEN) filter_enter(*filter, place + 1, hash_packed(hasher, place + 1));
  }
}

/* --- Owners -------------------------------------------------------------------------------------------------- */

enum { MOST_PARITIES = 4 };

typedef struct {
  uint32_t rank, ranks;  /* ranks 0: there are no others */
  unsigned shift;        /* number of hash bits that do not count */
  uint32_t parity_count; /* number of parities that make the owner's number; 0: the hash decides */
  uint64_t parts[MOST_PARITIES][MODEL_WORDS];
  Hasher hasher;         /* hasher of the search when it started, because a state keeps its owner */
  Filter filter;
} Route;

static inline uint32_t owner_by_hash(const Route *route, uint64_t hash) {
  return (uint32_t)multiply_high((hash >> route->shift) * 0x9E3779B97F4A7C15ull, route->ranks);
}

/* Returns the owner by parities. `parity_count` is that of the route, as an argument for the compiler to specialise. */
static inline uint32_t owner_by_parity(const Route *route, uint32_t parity_count, const uint8_t *state) {
  uint32_t owner = 0;
  for (uint32_t number = 0; number < parity_count; number++) {
    uint64_t bits = 0;
    for (int i = 0; i < MODEL_WORDS; i++) bits ^= packed_word(state, i) & route->parts[number][i];
    owner |= (uint32_t)__builtin_parityll(bits) << number;
  }
  return owner;
}

static inline uint32_t owner_of(const Route *route, const uint8_t *state, uint64_t hash) {
  return route->parity_count ? owner_by_parity(route, route->parity_count, state) : owner_by_hash(route, hash);
}

/* Returns the owner of a state whose hash is not known. */
static inline uint32_t owner_of_state(const Route *route, const uint8_t *state) {
  return owner_of(route, state, route->parity_count ? 0 : hash_packed(&route->hasher, state));
}

/* The states that one worker has for one owner, and in some searches a value for each. */
typedef struct {
  uint8_t *states;
  uint32_t *values;
  uint64_t count, room;
  int valued;
} Outgoing;

static int outgoing_grow(Outgoing *outgoing) {
  uint64_t room = outgoing->room ? 2 * outgoing->room : 64;
  uint8_t *states = realloc(outgoing->states, room * MODEL_BYTES);
  if (states) outgoing->states = states;
  uint32_t *values = HAS_AUTOMATON ? realloc(outgoing->values, room * sizeof *values) : NULL;
  if (values) outgoing->values = values;
  if (!states || (HAS_AUTOMATON && !values)) return 0;
  outgoing->room = room;
  return 1;
}

/* Appends a state if it `counts`. That cannot be predicted, so it is written in any case. */
static inline int outgoing_add(Outgoing *outgoing, const uint8_t *state, uint32_t counts) {
  if (__builtin_expect(outgoing->count == outgoing->room, 0) && !outgoing_grow(outgoing)) return 0;
  memcpy(outgoing->states + outgoing->count * MODEL_BYTES, state, MODEL_BYTES);
  outgoing->count += counts;
  return 1;
}

/* States that are removed from the buffer of successors. */
typedef struct {
  uint8_t *states;
  uint64_t *hashes;
#if HAS_AUTOMATON || HAS_TREE
  uint32_t *owners; /* owners of the predecessors of the states; see Expansion */
#endif
  uint32_t count;
} Aside;

/* Hashes the successors in the buffer, removes those that other ranks own, and prefetches for the lookups. The next
 * owner cannot be predicted, so each successor is written to both places, and counts in one. */
static void divide_by_hash(const Route *route, Expansion *expansion, Aside *aside) {
  const uint8_t *const places[] = {route->filter.buckets, expansion->lines};
  const uint64_t counts[] = {route->filter.bucket_count, expansion->line_count}, sizes[] = {FILTER_BUCKET, LINE_BYTES};
  const Route by = *route;
  const Hasher hasher = *expansion->hasher;
  uint8_t *successors = expansion->successors, *states = aside->states;
  uint64_t *own_hashes = expansion->hashes, *other_hashes = aside->hashes;
  uint32_t own = 0, others = 0;
  for (uint32_t i = 0, count = expansion->count; i < count; i++) {
    uint8_t state[MODEL_BYTES];
    memcpy(state, successors + (size_t)i * MODEL_BYTES, MODEL_BYTES);
    uint64_t hash = hash_packed(&hasher, successors + (size_t)i * MODEL_BYTES);
    uint32_t is_own = owner_by_hash(&by, hash) == by.rank;
    memcpy(states + (size_t)others * MODEL_BYTES, state, MODEL_BYTES);
    memcpy(successors + (size_t)own * MODEL_BYTES, state, MODEL_BYTES);
    other_hashes[others] = own_hashes[own] = hash;
#if HAS_AUTOMATON || HAS_TREE
    aside->owners[others] = expansion->owners[own] = expansion->owners[i];
#endif
    __builtin_prefetch(places[is_own] + multiply_high(hash, counts[is_own]) * sizes[is_own], 1);
    others += 1 - is_own;
    own += is_own;
  }
  expansion->count = own;
  aside->count = others;
}

/* Does the same by parities, where this rank owns most successors. */
static inline __attribute__((always_inline)) void divide_by_parities(const Route *route, uint32_t parity_count,
                                                                     Expansion *expansion, Aside *aside) {
  const Route by = *route;
  const Hasher hasher = *expansion->hasher;
  const uint8_t *const lines = expansion->lines;
  const uint64_t line_count = expansion->line_count;
  uint8_t *const successors = expansion->successors;
  uint64_t *const hashes = expansion->hashes;
  uint32_t own = 0, others = 0;
  for (uint32_t i = 0, count = expansion->count; i < count; i++) {
    const uint8_t *state = successors + (size_t)i * MODEL_BYTES;
    const uint64_t hash = hash_packed(&hasher, state);
    if (__builtin_expect(owner_by_parity(&by, parity_count, state) != by.rank, 0)) {
      memcpy(aside->states + (size_t)others * MODEL_BYTES, state, MODEL_BYTES);
#if HAS_AUTOMATON || HAS_TREE
      aside->owners[others] = expansion->owners[i];
#endif
      aside->hashes[others++] = hash;
      __builtin_prefetch(filter_bucket(by.filter, hash), 1);
      continue;
    }
    __builtin_prefetch(lines + multiply_high(hash, line_count) * LINE_BYTES, 1);
    hashes[own] = hash;
#if HAS_AUTOMATON || HAS_TREE
    expansion->owners[own] = expansion->owners[i];
#endif
    if (own != i) memcpy(successors + (size_t)own * MODEL_BYTES, state, MODEL_BYTES);
    own++;
  }
  expansion->count = own;
  aside->count = others;
}

static __attribute__((noinline)) void divide_successors(const Route *route, Expansion *expansion, Aside *aside) {
  if (!route->parity_count)
    divide_by_hash(route, expansion, aside);
  else if (route->parity_count == 1)
    divide_by_parities(route, 1, expansion, aside);
  else
    divide_by_parities(route, route->parity_count, expansion, aside);
}

/* Hashes the successors in the buffer, and removes those that other ranks own. Returns their number, UINT64_MAX if
 * there is no memory to keep them. */
static uint64_t route_successors(const Route *route, Expansion *expansion, Aside *aside, Outgoing *outgoing) {
  divide_successors(route, expansion, aside);
  const Route by = *route;
  const uint8_t *state = aside->states;
  for (uint32_t i = 0, count = aside->count; i < count; i++, state += MODEL_BYTES) {
    uint64_t hash = aside->hashes[i];
    uint32_t is_new = filter_enter(by.filter, state, hash);
    if (!outgoing_add(&outgoing[owner_of(&by, state, hash)], state, is_new)) return UINT64_MAX;
  }
  return aside->count;
}
