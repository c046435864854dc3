/* A cache of visited states (G. Della Penna et al. 2004, section 4): a table of fixed size with eviction. A state, or
 * its signature, belongs to one bucket. If the bucket is full, an entry of it is evicted.
 *
 * The part of a state that determines its bucket need not be stored. The first 32 bits of a state are scrambled by a
 * bijection that depends on the rest of the state. Scaled to the number of buckets, they give a bucket and a fraction,
 * and only the fraction and the rest are kept. An exact entry is therefore smaller than the state. A signature is
 * handled in the same way, without a rest. Eight bits of the fraction are the entry's tag, which rules out most other
 * entries at once.
 *
 * Rests repeat in parts. If states are long, the cache keeps, for each eight bytes of a rest, their number in a
 * dictionary. When the dictionary runs out of memory, the cache keeps rests as they are. A rest of a few bits lies in
 * the head.
 *
 * With `idle`, an entry has an age of a few bits that starts at 1 and wraps around. It measures how much of the cache
 * had been overwritten when the entry was last met. The victim of an eviction is random: any entry, as published, or
 * with `idle` one that was not met recently.
 *
 * A bucket has one byte for its number of entries, then their tags, then for each entry its head (fraction and age)
 * and its rest. Heads without rests are not rounded up to bytes. Threads may insert at the same time: a bit of the
 * first byte locks the bucket. The cache grows, up to a limit, while no thread inserts. */

/* Bytes of a state that are scrambled, and bytes of the rest. Few are scrambled, because the rest can be packed. */
enum { FIRST_BYTES = STATE_BYTES < 4 ? STATE_BYTES : 4, STATE_REST_BYTES = STATE_BYTES - FIRST_BYTES };
enum { STATE_REST_BITS = 8 * STATE_REST_BYTES, MOST_INLINE_BITS = 48 };

enum { PARTS = (STATE_REST_BYTES + 7) / 8 };
#define UNROLLED _Pragma("GCC unroll 32")
#define INLINED static inline __attribute__((always_inline))
/* Sixteenths of a packed cache's memory for its dictionary, at first and at most. */
enum { FIRST_SHARE = 2, MOST_SHARE = 8 };

/* Whether packed states save enough to pay for the dictionary. A head counts as two bytes. */
#define IS_PACKING_WORTH_IT (4 * (PARTS * NUMBER_BYTES + 3) <= 3 * (STATE_REST_BYTES + 3))

/* The part of a cache that does not change while threads insert. */
typedef struct {
  uint8_t *buckets;
  size_t reserved; /* bytes of address space */
  uint64_t bucket_count;
  uint64_t bucket_bytes;
  uint32_t chain;        /* entries of a bucket */
  unsigned bits;         /* width of the word that is scaled: a signature, or the first word of a state */
  unsigned dropped_bits; /* bits of it that the bucket implies */
  unsigned inline_at;    /* bit of a head at which the rest begins; 64: the rest lies elsewhere */
  unsigned age_bits;
  unsigned head_bytes;
  unsigned rest_bytes;
  unsigned entry_bits;  /* head and rest */
  unsigned entry_bytes; /* the same in bytes, if they are whole bytes */
  uint64_t head_mask; /* the bits of a head */
  int exact;
  int packed;
  int idle;
  uint64_t ages;         /* number of different ages */
  uint64_t age_lasts;    /* insertions that an age lasts */
  const uint64_t *words; /* words of the dictionary */
} CacheShape;

typedef struct Cache {
  CacheShape shape;
  uint64_t bytes, most_bytes; /* memory that it may take now, and after growing */
  unsigned share;             /* share of the dictionary, in sixteenths */
  Dictionary dictionary;
  uint64_t lost;          /* entries evicted before it had its present size */
  uint64_t coming;        /* entries that it should have space for (atomic) */
  double most_collisions; /* collision rate at which the search gives up */

  /* Padding keeps what workers write all the time apart from what they only read. */
  uint8_t before[128];
  uint64_t random;                 /* (atomic) */
  uint64_t insertions, collisions; /* since it has its present size (atomic) */
  uint8_t behind[128];
} Cache;

enum { FEWEST_BUCKETS = 16, MOST_AGE_BITS = 8, LEAST_AGE_BITS = 4, CACHE_AHEAD = 16 };

enum { ENTRY_TAG_BITS = 8, MOST_LOOSE_BITS = 56 };

/* Lock bit in the first byte of a bucket. */
enum { BUCKET_LOCKED = 0x80 };

/* 1/LATELY of the ages counts as recent; MOST_DRAWS limits the draws of an idle victim. */
enum { LATELY = 16, MOST_DRAWS = 4 };

/* Factor by which a cache grows, and when: it grows once more than one entry in CACHE_SPARSE is taken. Until then there
 * are almost no evictions. */
enum { CACHE_GROWTH = 8, CACHE_SPARSE = 4 };

#define FIRST_MASK (UINT64_MAX >> (64 - 8 * FIRST_BYTES))

static const uint64_t SCRAMBLERS[2] = {0x9E3779B97F4A7C15ull, 0xD6E8FEB86659FD93ull};

/* --- Scrambling ---------------------------------------------------------------------------------------------- */

/* Returns eight bytes of a rest, or as many as are left. */
static inline uint64_t rest_word(const uint8_t *rest, int part) {
  uint64_t word = 0;
  int left = STATE_REST_BYTES - 8 * part;
  memcpy(&word, rest + 8 * part, left < 8 ? (size_t)left : 8);
  return word;
}

/* Returns a hash of all but the first bits. */
static inline uint64_t rest_hash(const uint8_t *rest) {
  uint64_t hash = 0, factor = SCRAMBLERS[0];
  UNROLLED
  for (int part = 0; part < PARTS; part++, factor *= SCRAMBLERS[1]) {
    uint64_t word = rest_word(rest, part);
    hash += (word ^ word >> 32) * factor;
  }
  return (hash ^ hash >> 29) * SCRAMBLERS[1] >> 32;
}

static inline uint64_t scrambled_word(const uint8_t *state) {
  uint64_t word = 0;
  memcpy(&word, state, FIRST_BYTES);
  word = (word ^ rest_hash(state + FIRST_BYTES)) & FIRST_MASK;
  for (int i = 0; i < 2; i++) {
    word = word * SCRAMBLERS[i] & FIRST_MASK;
    word ^= word >> 4 * FIRST_BYTES;
  }
  return word * SCRAMBLERS[0] & FIRST_MASK;
}

/* --- Shape --------------------------------------------------------------------------------------------------- */

static void cache_shape(CacheShape *cache, uint64_t bytes) {
  unsigned bits = cache->bits, least_age_bits = cache->idle ? LEAST_AGE_BITS : 0, head_bits = 0;
  /* More buckets make entries smaller, which allows more buckets: a few iterations settle it. */
  cache->bucket_count = FEWEST_BUCKETS;
  for (int round = 0; round < 4; round++) {
    cache->dropped_bits = bit_length(cache->bucket_count) - 1;
    if (cache->dropped_bits > bits) cache->dropped_bits = bits;
    unsigned kept = bits - cache->dropped_bits;
    head_bits = kept > ENTRY_TAG_BITS ? kept - ENTRY_TAG_BITS : 0;
    cache->rest_bytes = !cache->exact ? 0 : cache->packed ? PARTS * NUMBER_BYTES : STATE_REST_BYTES;
    cache->inline_at = 64;
    if (cache->rest_bytes && !cache->packed && STATE_REST_BITS <= MOST_INLINE_BITS &&
        head_bits + STATE_REST_BITS + least_age_bits <= 64) {
      cache->inline_at = least_age_bits + head_bits;
      cache->rest_bytes = 0;
      head_bits += STATE_REST_BITS;
    }
    cache->head_bytes = (head_bits + least_age_bits + 7) / 8;
    cache->entry_bits = 8 * (cache->head_bytes + cache->rest_bytes);
    unsigned loose_bits = head_bits + least_age_bits;
    if (!cache->rest_bytes && loose_bits <= MOST_LOOSE_BITS) cache->entry_bits = loose_bits;
    cache->entry_bytes = cache->entry_bits / 8;
    cache->bucket_bytes = 1 + cache->chain + ((uint64_t)cache->chain * cache->entry_bits + 7) / 8;
    uint64_t count = bytes / cache->bucket_bytes;
    if (count <= cache->bucket_count) break;
    cache->bucket_count = count;
  }
  unsigned free_bits = cache->entry_bits - 8 * cache->rest_bytes - head_bits;
  cache->age_bits = !cache->idle ? 0 : free_bits > MOST_AGE_BITS ? MOST_AGE_BITS : free_bits;
  if (cache->inline_at < 64) cache->inline_at += cache->age_bits - least_age_bits;
  unsigned kept_bits = cache->entry_bits - 8 * cache->rest_bytes;
  cache->head_mask = kept_bits ? UINT64_MAX >> (64 - kept_bits) : 0;
  /* Ages wrap around once while the whole cache is overwritten twice, so the oldest entries rarely look young. */
  cache->ages = cache->idle ? ((uint64_t)1 << cache->age_bits) - 1 : 1;
  cache->age_lasts = 2 * cache->bucket_count * cache->chain / cache->ages + 1;
}

/* Maps buckets for `bytes`, including the dictionary. Returns 0 if there is no memory. */
static int cache_map(Cache *cache, uint64_t bytes) {
  CacheShape *shape = &cache->shape;
  cache->bytes = bytes;
  cache_shape(shape, shape->packed ? bytes - bytes / 16 * cache->share : bytes);
  shape->reserved = shape->bucket_count * shape->bucket_bytes + TAG_GROUP;
  shape->buckets = map_pages(shape->reserved, -1);
  cache->insertions = cache->collisions = 0;
  if (!shape->buckets) return 0;
  if (shape->reserved <= LEAST_HUGE) provide_pages(shape->buckets, shape->reserved);
  return 1;
}

static void cache_close(Cache *cache) {
  dictionary_close(&cache->dictionary);
  if (cache->shape.buckets) munmap(cache->shape.buckets, cache->shape.reserved);
  free(cache);
}

/* Opens a cache. `bits` 0 keeps states. Returns NULL if there is no memory. */
static Cache *cache_open(uint64_t bytes, uint64_t most_bytes, unsigned bits, uint32_t chain, int idle, uint64_t seed) {
  Cache *cache = calloc(1, sizeof *cache);
  if (!cache) return NULL;
  cache->shape = (CacheShape){.exact = bits == 0,
                         .bits = bits ? bits : 8 * FIRST_BYTES,
                         .packed = !bits && IS_PACKING_WORTH_IT,
                         .chain = chain,
                         .idle = idle};
  cache->most_bytes = most_bytes;
  cache->share = FIRST_SHARE;
  cache->random = seed;
  if ((!cache->shape.packed || dictionary_grow(&cache->dictionary)) && cache_map(cache, bytes)) return cache;
  cache_close(cache);
  return NULL;
}

/* --- Rests --------------------------------------------------------------------------------------------------- */

/* Writes a rest in the form in which it is kept. Returns 0 if the dictionary is full. */
INLINED int rest_put(const CacheShape *cache, Dictionary *dictionary, uint8_t *kept, const uint8_t *rest) {
  if (!cache->packed) {
    memcpy(kept, rest, STATE_REST_BYTES);
    return 1;
  }
  UNROLLED
  for (int part = 0; part < PARTS; part++) {
    uint32_t number = dictionary_number(dictionary, rest_word(rest, part));
    if (number == NO_WORD) return 0;
    uint16_t narrow = (uint16_t)number;
    memcpy(kept + part * NUMBER_BYTES, &narrow, NUMBER_BYTES);
  }
  return 1;
}

static inline uint64_t kept_word(const CacheShape *cache, const uint8_t *kept, int part) {
  uint16_t number;
  memcpy(&number, kept + part * NUMBER_BYTES, NUMBER_BYTES);
  return cache->words[number];
}

INLINED int is_rest(const CacheShape *cache, const uint8_t *kept, const uint8_t *rest) {
  if (!cache->packed) return memcmp(kept, rest, STATE_REST_BYTES) == 0;
  uint64_t difference = 0;
  UNROLLED
  for (int part = 0; part < PARTS; part++) difference |= kept_word(cache, kept, part) ^ rest_word(rest, part);
  return difference == 0;
}

static void rest_get(const CacheShape *cache, const uint8_t *kept, uint8_t *rest) {
  for (int part = 0; part < PARTS; part++) {
    uint64_t word = kept_word(cache, kept, part);
    int left = STATE_REST_BYTES - 8 * part;
    memcpy(rest + 8 * part, &word, left < 8 ? (size_t)left : 8);
  }
}

/* --- Lookup -------------------------------------------------------------------------------------------------- */

/* The part of a scaled word that is kept, and its bucket. */
typedef struct {
  uint8_t *bucket;
  uint64_t head; /* without an age */
  uint8_t tag;
} Home;

INLINED Home cache_home(const CacheShape *cache, uint64_t word) {
  Wide scaled = (Wide)word * cache->bucket_count;
  uint64_t fraction = ((uint64_t)scaled & UINT64_MAX >> (64 - cache->bits)) >> cache->dropped_bits;
  Home home = {cache->buckets + (uint64_t)(scaled >> cache->bits) * cache->bucket_bytes,
               fraction >> ENTRY_TAG_BITS << cache->age_bits, (uint8_t)fraction};
  return home;
}

INLINED Home cache_home_of(const CacheShape *cache, const uint8_t *state, uint64_t hash) {
  if (!cache->exact) return cache_home(cache, hash >> (64 - cache->bits));
  Home home = cache_home(cache, scrambled_word(state));
  if (STATE_REST_BITS && cache->inline_at < 64) home.head |= rest_word(state + FIRST_BYTES, 0) << cache->inline_at;
  return home;
}

static inline uint8_t *bucket_head(const CacheShape *cache, uint8_t *bucket, uint32_t place) {
  const size_t at = cache->rest_bytes ? (size_t)place * cache->entry_bytes : (size_t)place * cache->entry_bits >> 3;
  return bucket + 1 + cache->chain + at;
}

static inline uint8_t *bucket_rest(const CacheShape *cache, uint8_t *bucket, uint32_t place) {
  return bucket_head(cache, bucket, place) + cache->head_bytes;
}

/* Returns the bits of a head under a mask. */
INLINED uint64_t head_get(const CacheShape *cache, uint8_t *bucket, uint32_t place, uint64_t mask) {
  uint64_t value;
  LOOSE_READ(memcpy(&value, bucket_head(cache, bucket, place), 8));
  return (cache->rest_bytes ? value : value >> (place * cache->entry_bits & 7)) & mask;
}

INLINED void head_put(const CacheShape *cache, uint8_t *bucket, uint32_t place, uint64_t head) {
  const unsigned shift = place * cache->entry_bits & 7;
  uint8_t *at = bucket_head(cache, bucket, place);
  if (cache->rest_bytes) {
    memcpy(at, &head, cache->head_bytes);
    return;
  }
  uint64_t kept = ~(cache->head_mask << shift), value = head << shift; /* the next bytes may be another bucket's */
  for (unsigned done = 0; done < cache->entry_bits + shift; done += 8, kept >>= 8, value >>= 8, at++)
    *at = (uint8_t)((*at & kept) | value);
}

/* Locks a bucket if it is `shared`. Returns its number of entries. */
static inline uint32_t bucket_lock(uint8_t *bucket, int shared) {
  if (!shared) return *bucket;
  uint8_t before;
  while ((before = __atomic_fetch_or(bucket, BUCKET_LOCKED, __ATOMIC_ACQUIRE)) & BUCKET_LOCKED) pause_briefly();
  return before;
}

static inline void bucket_unlock(uint8_t *bucket, uint32_t count, int shared) {
  if (shared)
    __atomic_store_n(bucket, (uint8_t)count, __ATOMIC_RELEASE);
  else
    *bucket = (uint8_t)count;
}

/* The state that all insertions of a batch share. */
typedef struct {
  uint64_t random;
  uint64_t age; /* now */
  int draws;    /* largest number of draws of a victim */
  uint64_t insertions, collisions;
} CacheBatch;

/* Starts a batch. Recent entries are spared only while most insertions still find a free entry. */
static CacheBatch batch_begin(Cache *cache, uint64_t count) {
  const uint64_t insertions = __atomic_load_n(&cache->insertions, __ATOMIC_RELAXED);
  const uint64_t collisions = __atomic_load_n(&cache->collisions, __ATOMIC_RELAXED);
  CacheBatch batch = {.random = __atomic_fetch_add(&cache->random, count * RANDOM_STEP, __ATOMIC_RELAXED),
                 .age = cache->shape.idle ? 1 + insertions / cache->shape.age_lasts % cache->shape.ages : 0,
                 .draws = cache->shape.idle && 2 * collisions < insertions ? MOST_DRAWS : 1};
  return batch;
}

static void batch_end(Cache *cache, const CacheBatch *batch) {
  __atomic_fetch_add(&cache->insertions, batch->insertions, __ATOMIC_RELAXED);
  __atomic_fetch_add(&cache->collisions, batch->collisions, __ATOMIC_RELAXED);
}

/* Returns the entry to evict. The oldest would be a bad choice: if a transition led back to an evicted state,
 * everything that follows it would have been evicted too. */
static uint32_t cache_victim(const CacheShape *cache, uint8_t *bucket, CacheBatch *batch) {
  const uint64_t lately = cache->ages / LATELY ? cache->ages / LATELY : 1;
  uint32_t victim = 0;
  for (int draw = 0; draw < batch->draws; draw++) {
    victim = (uint32_t)multiply_high(next_random(&batch->random), cache->chain);
    if (!cache->idle) break;
    uint64_t its_age = head_get(cache, bucket, victim, cache->ages);
    if ((batch->age + cache->ages - its_age) % cache->ages >= lately) break;
  }
  return victim;
}

/* Returns the place of an entry among the first `count`; `count` if it is not there. */
INLINED uint32_t cache_find(const CacheShape *cache, Home home, const uint8_t *rest, uint32_t count) {
  const uint64_t age_mask = ((uint64_t)1 << cache->age_bits) - 1, mask = cache->head_mask & ~age_mask;
  for (uint32_t first = 0; first < count; first += TAG_GROUP) {
    uint32_t match = tags_equal(home.bucket + 1 + first, home.tag);
    if (count - first < TAG_GROUP) match &= (1u << (count - first)) - 1;
    for (; match; match &= match - 1) {
      uint32_t place = first + (uint32_t)__builtin_ctz(match);
      if (head_get(cache, home.bucket, place, mask) != home.head) continue;
      if (cache->rest_bytes && !is_rest(cache, bucket_rest(cache, home.bucket, place), rest)) continue;
      return place;
    }
  }
  return count;
}

INLINED void entry_put(const CacheShape *cache, Home home, uint32_t place, uint64_t age, const uint8_t *kept) {
  home.bucket[1 + place] = home.tag;
  head_put(cache, home.bucket, place, home.head | age);
  if (cache->rest_bytes) memcpy(bucket_rest(cache, home.bucket, place), kept, cache->rest_bytes);
}

/* Returns a free place in a bucket, after an eviction if it is full. */
INLINED uint32_t cache_place(const CacheShape *cache, Home home, uint32_t count, CacheBatch *batch) {
  batch->insertions++;
  if (count < cache->chain) return count;
  batch->collisions++;
  return cache_victim(cache, home.bucket, batch);
}

enum { ENTRY_OLD, ENTRY_NEW, ENTRY_NO_ROOM };

/* Inserts a state, or its signature, unless it is there. */
INLINED int cache_look_up(const CacheShape *cache, Dictionary *dictionary, Home home, const uint8_t *rest,
                          CacheBatch *batch, int shared) {
  uint32_t count = bucket_lock(home.bucket, shared), place = cache_find(cache, home, rest, count);
  int outcome = ENTRY_OLD;
  if (place == count) {
    uint8_t kept[STATE_REST_BYTES + 8];
    outcome = cache->rest_bytes && !rest_put(cache, dictionary, kept, rest) ? ENTRY_NO_ROOM : ENTRY_NEW;
    if (outcome == ENTRY_NEW) {
      place = cache_place(cache, home, count, batch);
      entry_put(cache, home, place, batch->age, kept);
      count += place == count;
    }
  } else if (cache->idle) {
    head_put(cache, home.bucket, place, home.head | batch->age);
  }
  bucket_unlock(home.bucket, count, shared);
  return outcome;
}

/* Prefetches the entry at which a lookup will probably end. */
INLINED void cache_guess(const CacheShape *cache, Home home) {
  uint32_t match, count;
  LOOSE_READ(match = tags_equal(home.bucket + 1, home.tag), count = *home.bucket & ~(uint32_t)BUCKET_LOCKED);
  uint8_t *entry = bucket_head(cache, home.bucket, match ? (uint32_t)__builtin_ctz(match) : count);
  __builtin_prefetch(entry, 1);
  __builtin_prefetch(entry + cache->entry_bytes, 1);
}

/* Inserts a batch. `view` is a copy of the shape that the compiler can see never changes. */
INLINED uint32_t insert_all(const CacheShape view, Dictionary *dictionary, CacheBatch *batch, const Arena *arena,
                            Chunk *chunk, const uint8_t *states, const uint64_t *hashes, uint32_t count,
                            uint8_t *is_new, int shared) {
  const CacheShape *cache = &view;
  Home homes[CACHE_AHEAD];
  uint64_t room = chunk->next;
  uint32_t number = 0;
  for (uint32_t ahead = 0; number < count; ahead++) {
    if (ahead >= CACHE_AHEAD) {
      const uint8_t *state = states + (size_t)number * STATE_BYTES;
      if (room == chunk->end) break;
      const int outcome =
          cache_look_up(cache, dictionary, homes[number % CACHE_AHEAD], state + FIRST_BYTES, batch, shared);
      if (outcome == ENTRY_NO_ROOM) break;
      is_new[number++] = outcome == ENTRY_NEW;
      if (outcome == ENTRY_NEW) memcpy(arena_state(arena, room++), state, STATE_BYTES);
    }
    if (ahead < count) {
      Home *home = &homes[ahead % CACHE_AHEAD];
      *home = cache_home_of(cache, states + (size_t)ahead * STATE_BYTES, cache->exact ? 0 : hashes[ahead]);
      __builtin_prefetch(home->bucket, 1);
      __builtin_prefetch(home->bucket + cache->chain, 1);
    }
    if (ahead >= CACHE_AHEAD / 2 && ahead < count + CACHE_AHEAD / 2)
      cache_guess(cache, homes[(ahead - CACHE_AHEAD / 2) % CACHE_AHEAD]);
  }
  chunk->next = room;
  return number;
}

/* Looks states up, inserts the new ones, appends them to the arena and sets `is_new`. Returns how many it handled:
 * fewer than `count` if the chunk or the dictionary is full. */
static uint32_t cache_insert(Cache *cache, const Arena *arena, Chunk *chunk, const uint8_t *states,
                             const uint64_t *hashes, uint32_t count, uint8_t *is_new, int shared) {
  CacheBatch batch = batch_begin(cache, count);
  Dictionary *dictionary = &cache->dictionary;
  CacheShape view = cache->shape;
  uint32_t dealt;
  view.words = dictionary->words;
  /* Each branch makes the usual settings constants for the compiler. */
  if (!view.exact) {
    view.exact = view.packed = 0;
    view.rest_bytes = 0;
    dealt = insert_all(view, dictionary, &batch, arena, chunk, states, hashes, count, is_new, shared);
  } else if (IS_PACKING_WORTH_IT && view.packed) {
    view.exact = view.packed = 1;
    view.bits = 8 * FIRST_BYTES;
    view.rest_bytes = PARTS * NUMBER_BYTES;
    view.inline_at = 64;
    dealt = insert_all(view, dictionary, &batch, arena, chunk, states, hashes, count, is_new, shared);
  } else {
    view.exact = 1;
    view.packed = 0;
    view.bits = 8 * FIRST_BYTES;
    dealt = insert_all(view, dictionary, &batch, arena, chunk, states, hashes, count, is_new, shared);
  }
  batch_end(cache, &batch);
  return dealt;
}
