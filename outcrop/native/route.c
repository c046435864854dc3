/* Over several processes: each state belongs to one of them, its owner, which alone remembers and expands it. Successors
 * that belong to others are kept aside, to be sent to their owners.
 *
 * The owner follows from the hash, scrambled once more, so that among the states of one owner the hash is as evenly
 * spread as among all. From the whole of it, or with signatures from the bits that these are made of: states that have
 * the same signature then have the same owner, and what compaction takes for one does not depend on how many there are.
 *
 * A filter of what was sent lately keeps the same successor from being sent again and again. It is exact: it holds
 * states, and what it has forgotten is merely sent once more. */

/* --- The filter ---------------------------------------------------------------------------------------------- */

/* Buckets of a few states, each in as few cache lines as hold three; a new one takes the place of the oldest. In front of
 * them a lock, the place of the oldest, and a byte of the hash of each, 0 when there is none. */
enum {
  FILTER_BUCKET = (2 + 3 * (1 + STATE_BYTES) + LINE_BYTES - 1) / LINE_BYTES * LINE_BYTES,
  FILTER_WAYS = (FILTER_BUCKET - 2) / (1 + STATE_BYTES) < 8 ? (FILTER_BUCKET - 2) / (1 + STATE_BYTES) : 8,
  FILTER_HEAD = 2 + FILTER_WAYS
};

typedef struct {
  uint8_t *buckets;
  uint64_t bucket_count;
  int shared;
} Filter;

static void filter_close(Filter *filter) {
  if (filter->buckets) munmap(filter->buckets, filter->bucket_count * FILTER_BUCKET + SPARE_BYTES);
  filter->buckets = NULL;
}

static int filter_open(Filter *filter, uint64_t bytes, int shared) {
  filter->shared = shared;
  filter->bucket_count = bytes / FILTER_BUCKET + 1;
  filter->buckets = map_pages(filter->bucket_count * FILTER_BUCKET + SPARE_BYTES, -1);
  return filter->buckets != NULL;
}

static inline uint8_t *filter_bucket(const Filter *filter, uint64_t hash) {
  return filter->buckets + multiply_high(hash, filter->bucket_count) * FILTER_BUCKET;
}

/* The bytes of a word that are equal to one, as bits 7 of each; there may be more above the first that is. */
static inline uint64_t bytes_equal(uint64_t word, uint8_t byte) {
  const uint64_t ones = UINT64_MAX / 255;
  uint64_t difference = word ^ ones * byte;
  return (difference - ones) & ~difference & ones << 7;
}

/* Whether the state was not there. It is now. */
static inline int filter_enter(const Filter *filter, const uint8_t *state, uint64_t hash) {
  uint8_t *bucket = filter_bucket(filter, hash), *tags = bucket + 2, *states = bucket + FILTER_HEAD;
  const uint8_t tag = (uint8_t)hash | 1;
  int is_new = 1;
  if (filter->shared)
    while (__atomic_exchange_n(bucket, 1, __ATOMIC_ACQUIRE)) {
    }
  uint64_t word = 0;
  memcpy(&word, tags, FILTER_WAYS);
  for (uint64_t match = bytes_equal(word, tag); match; match &= match - 1) {
    if (!states_equal(states + (__builtin_ctzll(match) / 8) * STATE_BYTES, state)) continue;
    is_new = 0;
    break;
  }
  if (is_new) {
    uint8_t oldest = bucket[1];
    tags[oldest] = tag;
    memcpy(states + oldest * STATE_BYTES, state, STATE_BYTES);
    bucket[1] = (uint8_t)((oldest + 1) % FILTER_WAYS);
  }
  if (filter->shared) __atomic_store_n(bucket, 0, __ATOMIC_RELEASE);
  return is_new;
}

/* Another size, with what it held. Without memory it stays as it is. */
static void filter_resize(Filter *filter, uint64_t bytes, int shared, const Hasher *hasher) {
  Filter resized;
  if (!filter_open(&resized, bytes, shared)) return;
  for (uint64_t number = 0; filter->buckets && number < filter->bucket_count; number++) {
    const uint8_t *bucket = filter->buckets + number * FILTER_BUCKET;
    for (int age = 0; age < FILTER_WAYS; age++) {
      int way = (bucket[1] + age) % FILTER_WAYS;
      const uint8_t *state = bucket + FILTER_HEAD + way * STATE_BYTES;
      if (bucket[2 + way]) filter_enter(&resized, state, hash_state(hasher, state));
    }
  }
  filter_close(filter);
  *filter = resized;
}

/* --- Owners -------------------------------------------------------------------------------------------------- */

typedef struct {
  uint32_t rank, ranks; /* ranks 0: there are no others */
  unsigned shift;       /* bits of the hash that do not count */
  Filter filter;
} Route;

static inline uint32_t owner_of(const Route *route, uint64_t hash) {
  return (uint32_t)multiply_high((hash >> route->shift) * 0x9E3779B97F4A7C15ull, route->ranks);
}

/* What one worker has for one owner. */
typedef struct {
  uint8_t *states;
  uint64_t count, room;
} Outgoing;

/* Keeps a state if it `counts`: that cannot be foretold, so it is written in any case. */
static inline int outgoing_add(Outgoing *outgoing, const uint8_t *state, int counts) {
  if (__builtin_expect(outgoing->count == outgoing->room, 0)) {
    uint64_t room = outgoing->room ? 2 * outgoing->room : 64;
    uint8_t *states = realloc(outgoing->states, room * STATE_BYTES);
    if (!states) return 0;
    outgoing->states = states;
    outgoing->room = room;
  }
  memcpy(outgoing->states + outgoing->count * STATE_BYTES, state, STATE_BYTES);
  outgoing->count += (uint64_t)counts;
  return 1;
}

/* States that leave the buffer of successors. */
typedef struct {
  uint8_t *states;
  uint64_t *hashes;
  uint32_t count;
} Aside;

/* Hashes the successors in the buffer, takes those of others out of it, and starts to fetch what looking them up will
 * need. Who owns the next one cannot be foretold, so each is written to both places, and counts in one. */
static void divide_successors(const Route *route, Expansion *expansion, Aside *aside) {
  const Filter filter = route->filter;
  const uint8_t *lines = expansion->lines;
  const uint64_t line_count = expansion->line_count;
  uint32_t own = 0, others = 0;
  for (uint32_t i = 0, count = expansion->count; i < count; i++) {
    uint8_t state[STATE_BYTES];
    memcpy(state, expansion->successors + (size_t)i * STATE_BYTES, STATE_BYTES);
    uint64_t hash = hash_state(expansion->hasher, expansion->successors + (size_t)i * STATE_BYTES);
    uint32_t is_own = owner_of(route, hash) == route->rank;
    memcpy(aside->states + (size_t)others * STATE_BYTES, state, STATE_BYTES);
    memcpy(expansion->successors + (size_t)own * STATE_BYTES, state, STATE_BYTES);
    aside->hashes[others] = expansion->hashes[own] = hash;
    const uint8_t *line = lines + multiply_high(hash, line_count) * LINE_BYTES, *bucket = filter_bucket(&filter, hash);
    __builtin_prefetch(is_own ? line : bucket, 1);
    others += 1 - is_own;
    own += is_own;
  }
  expansion->count = own;
  aside->count = others;
}

/* Hashes the successors in the buffer; those of others leave it. Gives how many that were, UINT64_MAX when there is no
 * memory to keep them. */
static uint64_t route_successors(const Route *route, Expansion *expansion, Aside *aside, Outgoing *outgoing) {
  divide_successors(route, expansion, aside);
  for (uint32_t i = 0; i < aside->count; i++) {
    const uint8_t *state = aside->states + (size_t)i * STATE_BYTES;
    int is_new = filter_enter(&route->filter, state, aside->hashes[i]);
    if (!outgoing_add(&outgoing[owner_of(route, aside->hashes[i])], state, is_new)) return UINT64_MAX;
  }
  return aside->count;
}
