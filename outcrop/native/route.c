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

/* Buckets of a few states; a new one takes the place of the oldest. In front of them a lock, the place of the oldest,
 * and a byte of the hash of each, 0 when there is none. */
enum { FILTER_WAYS = 8, FILTER_HEAD = 2 + FILTER_WAYS, FILTER_BUCKET = FILTER_HEAD + FILTER_WAYS * STATE_BYTES };

typedef struct {
  uint8_t *buckets; /* NULL: everything is sent */
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

/* Whether the state was not there. It is now. */
static int filter_enter(const Filter *filter, const uint8_t *state, uint64_t hash) {
  uint8_t *bucket = filter_bucket(filter, hash), *tags = bucket + 2, *states = bucket + FILTER_HEAD;
  const uint8_t tag = (uint8_t)hash | 1;
  int is_new = 1;
  if (filter->shared)
    while (__atomic_exchange_n(bucket, 1, __ATOMIC_ACQUIRE)) {
    }
  for (int way = 0; way < FILTER_WAYS && is_new; way++)
    if (tags[way] == tag && states_equal(states + way * STATE_BYTES, state)) is_new = 0;
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

static int outgoing_add(Outgoing *outgoing, const uint8_t *state) {
  if (outgoing->count == outgoing->room) {
    uint64_t room = outgoing->room ? 2 * outgoing->room : 64;
    uint8_t *states = realloc(outgoing->states, room * STATE_BYTES);
    if (!states) return 0;
    outgoing->states = states;
    outgoing->room = room;
  }
  memcpy(outgoing->states + outgoing->count++ * STATE_BYTES, state, STATE_BYTES);
  return 1;
}

/* Hashes the successors in the buffer; those of others leave it. Starts to fetch what looking the rest up will need.
 * Gives how many were meant for others, UINT64_MAX when there is no memory to keep them. */
static uint64_t route_successors(Route *route, Expansion *expansion, Outgoing *outgoing) {
  const Filter *filter = &route->filter;
  uint32_t own = 0, count = expansion->count;
  for (uint32_t i = 0; i < count; i++) {
    uint64_t hash = hash_state(expansion->hasher, expansion->successors + (size_t)i * STATE_BYTES);
    expansion->hashes[i] = hash;
    if (owner_of(route, hash) == route->rank) {
      __builtin_prefetch(expansion->lines + multiply_high(hash, expansion->line_count) * LINE_BYTES);
    } else if (filter->buckets) {
      const uint8_t *bucket = filter_bucket(filter, hash);
      for (int at = 0; at < FILTER_BUCKET && at < 3 * LINE_BYTES; at += LINE_BYTES) __builtin_prefetch(bucket + at, 1);
    }
  }
  for (uint32_t i = 0; i < count; i++) {
    const uint8_t *state = expansion->successors + (size_t)i * STATE_BYTES;
    uint64_t hash = expansion->hashes[i];
    uint32_t owner = owner_of(route, hash);
    if (owner == route->rank) {
      if (own != i) memmove(expansion->successors + (size_t)own * STATE_BYTES, state, STATE_BYTES);
      expansion->hashes[own++] = hash;
    } else if (!filter->buckets || filter_enter(filter, state, hash)) {
      if (!outgoing_add(&outgoing[owner], state)) return UINT64_MAX;
    }
  }
  expansion->count = own;
  return count - own;
}
