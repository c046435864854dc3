/* A cache of visited states (G. Della Penna et al. 2004, section 4): a table of fixed size that forgets. A state, or its
 * signature, belongs into one bucket; when the bucket is full, an entry of it is overwritten.
 *
 * What says which bucket it is need not be stored. The first word of a state is scrambled one to one, in a way that
 * depends on the rest of the state; scaled to the number of buckets it is a bucket and a fraction, and only the
 * fraction and the rest are kept. So an exact entry takes less room than the state, and can be turned back into it. A
 * signature is the same without a rest.
 *
 * Every entry has an age, a few bits wide, that starts at 1 and turns over: how much of the cache had been overwritten
 * when the entry was last met. What is overwritten is drawn at random: as published any entry, or, with `idle`, one that
 * was not met lately.
 *
 * A bucket is its heads, each fraction and age, followed by the rests.
 *
 * Rests repeat themselves in parts: each process, each channel has few values. So a cache of states may be `packed`: of
 * each eight bytes of a rest it keeps the number that a dictionary has for them. It is full when a dictionary is; that
 * says so, and what is entered from then on is not remembered. */

enum { FIRST_WORD_BITS = STATE_BYTES < 8 ? 8 * STATE_BYTES : 64, STATE_REST_BYTES = STATE_BYTES < 8 ? 0 : STATE_BYTES - 8 };

enum { PARTS = (STATE_REST_BYTES + 7) / 8, PART_BYTES = 2, MOST_WORDS = 65535, FIRST_ROOM = 256 };
/* The share of a packed cache's memory that dictionaries may take: more of it where there is little. And about what a
 * word takes in one. */
#define DICTIONARIES_PART(bytes) ((bytes) < 1 << 20 ? 4 : 8)
enum { WORD_BYTES = 16 };

/* Whether states take so much less packed that it makes up for the dictionaries. A head is taken as six bytes. */
#define IS_PACKING_WORTH_IT (8 * (PARTS * PART_BYTES + 6) < 6 * (STATE_REST_BYTES + 6))

/* Words and their numbers, in the order in which they came. */
typedef struct {
  uint64_t *words;
  uint16_t *slots; /* numbers plus one; open addressing */
  uint32_t count, room, mask;
} Dictionary;

typedef struct {
  uint8_t *buckets;
  size_t reserved; /* bytes of address space */
  uint64_t bucket_count;
  uint64_t bucket_bytes;
  uint32_t chain;        /* entries of a bucket */
  unsigned bits;         /* of the word that is scaled: of a signature, or of the first word of a state */
  unsigned dropped_bits; /* of it, those that the bucket implies */
  unsigned age_bits;
  unsigned head_bytes;
  unsigned rest_bytes;
  int exact;
  int packed;
  int is_full; /* a dictionary */
  uint64_t most_words; /* of all dictionaries */
  uint64_t words;
  Dictionary dictionaries[PARTS + 1];
  int idle;
  uint64_t head_mask; /* the bits of a head */
  uint64_t random;
  uint64_t age;       /* now */
  uint64_t age_lasts; /* insertions */
  uint64_t insertions, collisions;
} Cache;

enum { FEWEST_BUCKETS = 16, MOST_AGE_BITS = 8, LEAST_AGE_BITS = 4, CACHE_AHEAD = 16 };

/* The part of the ages that counts as lately, and how often an idle entry is looked for. */
enum { LATELY = 16, MOST_DRAWS = 4 };

#define FIRST_WORD_MASK (UINT64_MAX >> (64 - FIRST_WORD_BITS))

static const uint64_t SCRAMBLERS[2] = {0x9E3779B97F4A7C15ull, 0xD6E8FEB86659FD93ull};

/* --- One to one ---------------------------------------------------------------------------------------------- */

/* A hash of all but the first word. */
static inline uint64_t rest_hash(const uint8_t *rest) {
  uint64_t hash = 0;
  for (int at = 0; at < STATE_REST_BYTES; at += 8) {
    uint64_t word;
    if (at + 8 <= STATE_REST_BYTES) {
      memcpy(&word, rest + at, 8);
    } else { /* the last bytes without any of the first word */
      memcpy(&word, rest + STATE_REST_BYTES - 8, 8);
      word >>= 8 * (at + 8 - STATE_REST_BYTES);
    }
    hash = (hash ^ word) * SCRAMBLERS[0];
    hash ^= hash >> 32;
  }
  return hash;
}

static inline uint64_t scrambled_word(const uint8_t *state) {
  uint64_t word = (state_word(state, 0) ^ rest_hash(state + (STATE_REST_BYTES ? 8 : 0))) & FIRST_WORD_MASK;
  for (int i = 0; i < 2; i++) {
    word = word * SCRAMBLERS[i] & FIRST_WORD_MASK;
    word ^= word >> (FIRST_WORD_BITS + 1) / 2;
  }
  return word * SCRAMBLERS[0] & FIRST_WORD_MASK;
}

/* The number whose product with an odd one is 1. Each step doubles the bits that are right. */
static uint64_t inverse(uint64_t odd) {
  uint64_t result = odd;
  for (int i = 0; i < 5; i++) result *= 2 - odd * result;
  return result;
}

static uint64_t unscrambled_word(uint64_t word, const uint8_t *rest) {
  word = word * inverse(SCRAMBLERS[0]) & FIRST_WORD_MASK;
  for (int i = 1; i >= 0; i--) {
    word ^= word >> (FIRST_WORD_BITS + 1) / 2;
    word = word * inverse(SCRAMBLERS[i]) & FIRST_WORD_MASK;
  }
  return (word ^ rest_hash(rest)) & FIRST_WORD_MASK;
}

/* --- Shape --------------------------------------------------------------------------------------------------- */

static void cache_shape(Cache *cache, uint64_t bytes) {
  unsigned bits = cache->bits, kept = 0;
  /* The more buckets, the smaller an entry, the more buckets: a few rounds settle it. */
  cache->bucket_count = FEWEST_BUCKETS;
  for (int round = 0; round < 4; round++) {
    cache->dropped_bits = bit_length(cache->bucket_count) - 1;
    if (cache->dropped_bits > bits) cache->dropped_bits = bits;
    kept = bits - cache->dropped_bits;
    cache->head_bytes = (kept + LEAST_AGE_BITS + 7) / 8;
    cache->bucket_bytes = (uint64_t)cache->chain * (cache->head_bytes + cache->rest_bytes);
    uint64_t count = bytes / cache->bucket_bytes;
    if (count <= cache->bucket_count) break;
    cache->bucket_count = count;
  }
  cache->age_bits = 8 * cache->head_bytes - kept;
  if (cache->age_bits > MOST_AGE_BITS) cache->age_bits = MOST_AGE_BITS;
  cache->head_mask = UINT64_MAX >> (64 - 8 * cache->head_bytes);
  cache->age = 1;
  cache->age_lasts = 2 * cache->bucket_count * cache->chain / (((uint64_t)1 << cache->age_bits) - 1) + 1;
}

static void cache_close(Cache *cache) {
  for (int part = 0; part < PARTS; part++) {
    free(cache->dictionaries[part].words);
    free(cache->dictionaries[part].slots);
  }
  if (cache->buckets) munmap(cache->buckets, cache->reserved);
  free(cache);
}

/* `bits` 0 keeps states, `packed` or as they are. NULL when there is no memory. */
static Cache *cache_open(uint64_t bytes, unsigned bits, uint32_t chain, int idle, int packed, uint64_t seed) {
  Cache *cache = calloc(1, sizeof *cache);
  if (!cache) return NULL;
  cache->exact = bits == 0;
  cache->bits = bits ? bits : FIRST_WORD_BITS;
  cache->packed = packed && !bits && IS_PACKING_WORTH_IT;
  cache->rest_bytes = bits ? 0 : cache->packed ? PARTS * PART_BYTES : STATE_REST_BYTES;
  cache->most_words = bytes / DICTIONARIES_PART(bytes) / WORD_BYTES;
  if (cache->packed) bytes -= bytes / DICTIONARIES_PART(bytes);
  cache->chain = chain;
  cache->idle = idle;
  cache->random = seed;
  cache_shape(cache, bytes);
  cache->reserved = cache->bucket_count * cache->bucket_bytes + SPARE_BYTES;
  cache->buckets = map_pages(cache->reserved, -1);
  if (cache->buckets) return cache;
  cache_close(cache);
  return NULL;
}

/* --- Dictionaries -------------------------------------------------------------------------------------------- */

/* Eight bytes of a rest, or as many as are left. */
static inline uint64_t rest_word(const uint8_t *rest, int part) {
  uint64_t word = 0;
  int left = STATE_REST_BYTES - 8 * part;
  memcpy(&word, rest + 8 * part, left < 8 ? (size_t)left : 8);
  return word;
}

static inline uint32_t dictionary_slot(const Dictionary *dictionary, uint64_t word) {
  return (uint32_t)(word * SCRAMBLERS[0] >> 40) & dictionary->mask;
}

/* Doubles the room. */
static int dictionary_grow(Dictionary *dictionary) {
  uint32_t room = dictionary->room ? 2 * dictionary->room : FIRST_ROOM;
  uint64_t *words = realloc(dictionary->words, room * sizeof *words);
  if (words) dictionary->words = words;
  uint16_t *slots = calloc(2 * (size_t)room, sizeof *slots);
  if (!words || !slots) {
    free(slots);
    return 0;
  }
  free(dictionary->slots);
  dictionary->slots = slots;
  dictionary->room = room;
  dictionary->mask = 2 * room - 1;
  for (uint32_t number = 0; number < dictionary->count; number++) {
    uint32_t slot = dictionary_slot(dictionary, words[number]);
    while (slots[slot]) slot = (slot + 1) & dictionary->mask;
    slots[slot] = (uint16_t)(number + 1);
  }
  return 1;
}

/* The number of a word, which is entered if need be; MOST_WORDS when that is not possible. */
static uint32_t dictionary_number(Cache *cache, Dictionary *dictionary, uint64_t word) {
  uint32_t slot = dictionary->room ? dictionary_slot(dictionary, word) : 0;
  if (dictionary->room)
    for (; dictionary->slots[slot]; slot = (slot + 1) & dictionary->mask)
      if (dictionary->words[dictionary->slots[slot] - 1] == word) return dictionary->slots[slot] - 1u;
  if (dictionary->count == MOST_WORDS || cache->words == cache->most_words) return MOST_WORDS;
  if (dictionary->count == dictionary->room) {
    if (!dictionary_grow(dictionary)) return MOST_WORDS;
    slot = dictionary_slot(dictionary, word);
    while (dictionary->slots[slot]) slot = (slot + 1) & dictionary->mask;
  }
  dictionary->words[dictionary->count] = word;
  dictionary->slots[slot] = (uint16_t)++dictionary->count;
  cache->words++;
  return dictionary->count - 1;
}

/* Writes what is kept of a rest; 0 when a dictionary is full. */
static inline int rest_put(Cache *cache, uint8_t *kept, const uint8_t *rest) {
  if (!cache->packed) {
    memcpy(kept, rest, STATE_REST_BYTES);
    return 1;
  }
  for (int part = 0; part < PARTS; part++) {
    uint32_t number = dictionary_number(cache, &cache->dictionaries[part], rest_word(rest, part));
    if (number == MOST_WORDS) return 0;
    uint16_t narrow = (uint16_t)number;
    memcpy(kept + part * PART_BYTES, &narrow, PART_BYTES);
  }
  return 1;
}

static inline uint64_t kept_word(const Cache *cache, const uint8_t *kept, int part) {
  uint16_t number;
  memcpy(&number, kept + part * PART_BYTES, PART_BYTES);
  return cache->dictionaries[part].words[number];
}

static inline int is_rest(const Cache *cache, const uint8_t *kept, const uint8_t *rest) {
  if (!cache->packed) return memcmp(kept, rest, STATE_REST_BYTES) == 0;
  for (int part = 0; part < PARTS; part++)
    if (kept_word(cache, kept, part) != rest_word(rest, part)) return 0;
  return 1;
}

static void rest_get(const Cache *cache, const uint8_t *kept, uint8_t *rest) {
  if (!cache->packed) {
    memcpy(rest, kept, STATE_REST_BYTES);
    return;
  }
  for (int part = 0; part < PARTS; part++) {
    uint64_t word = kept_word(cache, kept, part);
    int left = STATE_REST_BYTES - 8 * part;
    memcpy(rest + 8 * part, &word, left < 8 ? (size_t)left : 8);
  }
}

/* --- Looking up ---------------------------------------------------------------------------------------------- */

/* What is kept of a scaled word, and where. */
typedef struct {
  uint8_t *bucket;
  uint64_t fraction; /* above the place of the age */
} Home;

static inline Home cache_home(const Cache *cache, uint64_t word) {
  Wide scaled = (Wide)word * cache->bucket_count;
  uint64_t fraction = (uint64_t)scaled & UINT64_MAX >> (64 - cache->bits);
  Home home = {cache->buckets + (uint64_t)(scaled >> cache->bits) * cache->bucket_bytes,
               fraction >> cache->dropped_bits << cache->age_bits};
  return home;
}

static inline uint64_t head_get(const uint8_t *head, uint64_t mask) {
  uint64_t value;
  memcpy(&value, head, 8);
  return value & mask;
}

static inline void head_put(uint8_t *head, uint64_t value, unsigned bytes) { memcpy(head, &value, bytes); }

/* The entry to give up. The oldest would be a bad choice: once a transition leads back to what was forgotten, all that
 * follows from there has been forgotten too. For the same reason the recent ones are spared only as long as the cache
 * is large enough that most insertions find a free place. */
static uint32_t cache_victim(Cache *cache, const uint8_t *bucket) {
  const uint64_t ages = ((uint64_t)1 << cache->age_bits) - 1, lately = ages / LATELY ? ages / LATELY : 1;
  const int draws = cache->idle && 2 * cache->collisions < cache->insertions ? MOST_DRAWS : 1;
  uint32_t victim = 0;
  for (int draw = 0; draw < draws; draw++) {
    victim = (uint32_t)multiply_high(next_random(&cache->random), cache->chain);
    uint64_t its_age = head_get(bucket + (size_t)victim * cache->head_bytes, ages);
    if ((cache->age + ages - its_age) % ages >= lately) break;
  }
  return victim;
}

/* The place of an entry that is there, or of the first that is free, or `chain`. */
static inline uint32_t cache_find(const Cache *cache, Home home, const uint8_t *rest, unsigned head_bytes, int *found) {
  const uint64_t age_mask = ((uint64_t)1 << cache->age_bits) - 1;
  if (head_bytes == 4 && cache->bucket_bytes == LINE_BYTES && !cache->rest_bytes) {
    Look look = look_narrow((const uint32_t *)home.bucket, (uint32_t)~age_mask, (uint32_t)home.fraction);
    look.match &= ~look.empty;
    *found = look.match != 0;
    return look.match ? (uint32_t)__builtin_ctz(look.match)
                      : look.empty ? (uint32_t)__builtin_ctz(look.empty) : cache->chain;
  }
  const uint8_t *rests = home.bucket + (size_t)cache->chain * head_bytes;
  uint32_t place = 0;
  for (; place < cache->chain; place++) {
    uint64_t head = head_get(home.bucket + (size_t)place * head_bytes, cache->head_mask);
    if (!head) break;
    if ((head & ~age_mask) != home.fraction) continue;
    if (cache->rest_bytes && !is_rest(cache, rests + (size_t)place * cache->rest_bytes, rest)) continue;
    *found = 1;
    return place;
  }
  *found = 0;
  return place;
}

/* Whether the entry was not there. It is now. */
static inline int cache_look_up(Cache *cache, Home home, const uint8_t *rest, unsigned head_bytes) {
  int found;
  uint32_t place = cache_find(cache, home, rest, head_bytes, &found);
  if (found) {
    if (cache->idle) head_put(home.bucket + (size_t)place * head_bytes, home.fraction | cache->age, head_bytes);
    return 0;
  }
  uint8_t kept[STATE_REST_BYTES + 8];
  if (cache->rest_bytes && !rest_put(cache, kept, rest)) {
    cache->is_full = 1;
    return 1;
  }
  if (place == cache->chain) {
    cache->collisions++;
    place = cache_victim(cache, home.bucket);
  }
  /* Ages go round once while the whole cache is overwritten twice: the oldest rarely look young. */
  if (++cache->insertions % cache->age_lasts == 0)
    cache->age = (cache->age + 1) >> cache->age_bits ? 1 : cache->age + 1;
  head_put(home.bucket + (size_t)place * head_bytes, home.fraction | cache->age, head_bytes);
  memcpy(home.bucket + (size_t)cache->chain * head_bytes + (size_t)place * cache->rest_bytes, kept, cache->rest_bytes);
  return 1;
}

static inline Home cache_home_of(const Cache *cache, const uint8_t *state, uint64_t hash) {
  return cache_home(cache, cache->exact ? scrambled_word(state) : hash >> (64 - cache->bits));
}

/* Looks states up, enters those that are not there, and moves them to the front. Gives how many. */
static uint64_t cache_insert(Cache *cache, uint8_t *states, const uint64_t *hashes, uint64_t count) {
  Home homes[CACHE_AHEAD];
  uint64_t fresh = 0;
  /* The whole bucket is fetched, or, if it is large, all heads. */
  const uint64_t fetched = cache->bucket_bytes <= 4 * LINE_BYTES ? cache->bucket_bytes : cache->chain * cache->head_bytes;
  for (uint64_t i = 0; i < count + CACHE_AHEAD; i++) {
    if (i >= CACHE_AHEAD) {
      const uint64_t number = i - CACHE_AHEAD;
      const uint8_t *state = states + number * STATE_BYTES, *rest = state + (STATE_REST_BYTES ? 8 : 0);
      const Home home = homes[number % CACHE_AHEAD];
      /* The usual sizes as constants. */
      const int is_new = cache->head_bytes == 4   ? cache_look_up(cache, home, rest, 4)
                         : cache->head_bytes == 8 ? cache_look_up(cache, home, rest, 8)
                                                  : cache_look_up(cache, home, rest, cache->head_bytes);
      if (is_new && fresh++ != number) memmove(states + (fresh - 1) * STATE_BYTES, state, STATE_BYTES);
    }
    if (i < count) {
      Home *home = &homes[i % CACHE_AHEAD];
      *home = cache_home_of(cache, states + i * STATE_BYTES, hashes[i]);
      for (uint64_t at = 0; at < fetched; at += LINE_BYTES) __builtin_prefetch(home->bucket + at, 1);
      __builtin_prefetch(home->bucket + fetched - 1, 1);
    }
  }
  return fresh;
}

/* --- Taking out ---------------------------------------------------------------------------------------------- */

/* Copies the entries of some buckets, as states or as signatures of 64 bits; gives how many there are. */
static uint64_t cache_read(const Cache *cache, uint64_t first, uint64_t bucket_count, uint8_t *keys) {
  uint64_t count = 0;
  for (uint64_t number = first; number < first + bucket_count; number++) {
    const uint8_t *bucket = cache->buckets + number * cache->bucket_bytes;
    for (uint32_t i = 0; i < cache->chain; i++) {
      uint64_t head = head_get(bucket + (size_t)i * cache->head_bytes, cache->head_mask);
      if (!head) break;
      /* The least word that scales to this bucket and at least this fraction. */
      Wide scaled = ((Wide)number << cache->bits) + ((Wide)(head >> cache->age_bits) << cache->dropped_bits);
      uint64_t word = (uint64_t)((scaled + cache->bucket_count - 1) / cache->bucket_count);
      uint8_t *key = keys + count++ * (cache->exact ? STATE_BYTES : 8);
      if (cache->exact) {
        uint8_t rest[STATE_REST_BYTES + 8];
        if (STATE_REST_BYTES)
          rest_get(cache, bucket + (size_t)cache->chain * cache->head_bytes + (size_t)i * cache->rest_bytes, rest);
        word = unscrambled_word(word, rest);
        memcpy(key, &word, STATE_BYTES < 8 ? STATE_BYTES : 8);
        if (STATE_REST_BYTES) memcpy(key + 8, rest, STATE_REST_BYTES);
      } else {
        memcpy(key, &word, 8);
      }
    }
  }
  return count;
}

/* --- What Python binds --------------------------------------------------------------------------------------- */

typedef struct {
  uint64_t insertions, collisions, buckets, chain, bytes, is_full;
} CacheStanding;

EXPORT Cache *outcrop_cache_open(uint64_t bytes, uint64_t bits, uint64_t chain, uint64_t idle, uint64_t packed,
                                uint64_t seed) {
  return cache_open(bytes, (unsigned)bits, (uint32_t)chain, (int)idle, (int)packed, seed);
}

EXPORT void outcrop_cache_close(Cache *cache) { cache_close(cache); }

EXPORT uint64_t outcrop_cache_insert(Cache *cache, uint8_t *states, const uint64_t *hashes, uint64_t count) {
  return cache_insert(cache, states, hashes, count);
}

EXPORT uint64_t outcrop_cache_read(const Cache *cache, uint64_t first, uint64_t buckets, uint8_t *keys) {
  return cache_read(cache, first, buckets, keys);
}

EXPORT void outcrop_cache_standing(const Cache *cache, CacheStanding *standing) {
  *standing = (CacheStanding){cache->insertions, cache->collisions, cache->bucket_count, cache->chain,
                              cache->bucket_count * cache->bucket_bytes + WORD_BYTES * cache->words,
                              (uint64_t)cache->is_full};
}
