/* A search whose visited set is a cache: growth, and insertion of successors by the worker that generated them. */

static inline Cache *cache_of(const Search *search) { return search->own_set; }

/* --- Growth -------------------------------------------------------------------------------------------------- */

/* Moves an entry of the old cache to its place in the new one. */
static void entry_move(const CacheShape *cache, const CacheShape *old, uint64_t number, uint8_t *bucket, uint32_t place,
                       CacheBatch *batch) {
  uint64_t head = head_get(old, bucket, place, old->head_mask), rest_bits = 0;
  uint8_t kept[STATE_REST_BYTES + 8] = {0};
  if (old->inline_at < 64) {
    rest_bits = head >> old->inline_at;
    head &= ((uint64_t)1 << old->inline_at) - 1;
    memcpy(kept, &rest_bits, STATE_REST_BYTES < 8 ? STATE_REST_BYTES : 8);
  } else if (old->packed && !cache->packed) {
    rest_get(old, bucket_rest(old, bucket, place), kept);
  } else if (old->rest_bytes) {
    memcpy(kept, bucket_rest(old, bucket, place), old->rest_bytes);
  }
  uint64_t fraction = head >> old->age_bits << ENTRY_TAG_BITS | bucket[1 + place];
  /* The smallest word that scales to this bucket and at least this fraction. */
  Wide scaled = ((Wide)number << old->bits) + ((Wide)fraction << old->dropped_bits);
  Home home = cache_home(cache, (uint64_t)((scaled + old->bucket_count - 1) / old->bucket_count));
  if (cache->inline_at < 64) home.head |= rest_word(kept, 0) << cache->inline_at;
  uint32_t count = *home.bucket, its_place = cache_place(cache, home, count, batch);
  entry_put(cache, home, its_place, batch->age, kept);
  *home.bucket = (uint8_t)(count + (its_place == count));
}

/* Rebuilds a cache with another size, or with unpacked rests. No thread may insert. Returns 0 if there is no memory. */
static int cache_rebuild(Cache *cache, uint64_t bytes, int packed) {
  const Cache before = *cache;
  CacheShape old = before.shape;
  old.words = cache->dictionary.words;
  cache->shape.packed = packed;
  if (!cache_map(cache, bytes)) {
    *cache = before;
    return 0;
  }
  cache->lost += before.collisions;
  /* Both are in the order of the hashes, so the old one is freed from its start while the new one fills. */
  uint64_t released = 0;
  for (uint64_t number = 0; number < old.bucket_count; number++) {
    uint8_t *bucket = old.buckets + number * old.bucket_bytes;
    if ((uint64_t)(bucket - old.buckets) >= released + HUGE_PAGE) {
      madvise(old.buckets + released, HUGE_PAGE, MADV_DONTNEED);
      released += HUGE_PAGE;
    }
    CacheBatch batch = batch_begin(cache, *bucket);
    for (uint32_t place = 0; place < *bucket; place++) entry_move(&cache->shape, &old, number, bucket, place, &batch);
    batch_end(cache, &batch);
  }
  munmap(old.buckets, old.reserved);
  return 1;
}

/* Lets the dictionary grow if it is nearly full. Returns 0 if its share of memory is too small. */
static int dictionary_make_room(Cache *cache) {
  Dictionary *dictionary = &cache->dictionary;
  if (4 * dictionary->count < 3 * dictionary->room) return 1;
  uint64_t bytes = dictionary_bytes(dictionary_grown(*dictionary)), most = cache->most_bytes / 16 * cache->share;
  if (dictionary->room < MOST_WORDS && bytes <= most && dictionary_grow(dictionary)) return 1;
  return dictionary->count < dictionary->room && dictionary->count < MOST_WORDS;
}

/* Returns whether a cache of `bytes` would be too small for `more` entries. A cache that started at its largest size
 * would waste memory on small models. */
static int cache_is_crowded(const Cache *cache, uint64_t bytes, uint64_t more) {
  uint64_t insertions = __atomic_load_n(&cache->insertions, __ATOMIC_RELAXED);
  return bytes < cache->most_bytes &&
         CACHE_SPARSE * (insertions + more) > cache->shape.bucket_count * cache->shape.chain * (bytes / cache->bytes);
}

static int cache_make_room(Cache *cache) {
  while (cache->shape.packed && !dictionary_make_room(cache))
    if (!cache_rebuild(cache, cache->bytes, cache->share++ < MOST_SHARE)) return 0;
  if (!cache->shape.packed) dictionary_close(&cache->dictionary);
  uint64_t bytes = cache->bytes;
  while (cache_is_crowded(cache, bytes, cache->coming))
    bytes = cache->most_bytes / bytes < 2 * CACHE_GROWTH ? cache->most_bytes : CACHE_GROWTH * bytes;
  return bytes == cache->bytes || cache_rebuild(cache, bytes, cache->shape.packed);
}

/* --- Successors ---------------------------------------------------------------------------------------------- */

/* Makes space for `count` more entries. Returns 0 if the search must stop. */
static int grow_cache(Worker *worker, uint64_t count) {
  __atomic_store_n(&cache_of(worker->search)->coming, count, __ATOMIC_RELAXED);
  return grow_visited(worker);
}

/* Returns evictions divided by insertions. */
static double collision_rate(const Cache *cache) {
  const uint64_t insertions = __atomic_load_n(&cache->insertions, __ATOMIC_RELAXED);
  return insertions ? (double)__atomic_load_n(&cache->collisions, __ATOMIC_RELAXED) / (double)insertions : 0;
}

/* Gives the search up, between blocks of states, if the collision rate is too high. With several ranks all stop at
 * once, because they would wait for one that gives up alone. */
static void look_at_collisions(Search *search) {
  if (collision_rate(cache_of(search)) <= cache_of(search)->most_collisions) return;
  __atomic_store_n(&search->gives_up, 1, __ATOMIC_RELAXED);
  if (search->route.ranks) stop_search(search, STOP_COLLISIONS);
}

static uint32_t cache_add(Worker *worker, const uint8_t *states, const uint64_t *hashes, uint32_t count,
                          uint8_t *is_new) {
  Search *search = worker->search;
  Cache *cache = cache_of(search);
  Chunk *chunk = &worker->chunk;
  uint32_t done = 0;
  while (done < count) {
    uint32_t left = count - done;
    /* A worker that waits for the cache to grow waits for all others, so all must take part. */
    int grows = __atomic_load_n(&search->growing, __ATOMIC_RELAXED);
    if ((grows || cache_is_crowded(cache, cache->bytes, left)) && !grow_cache(worker, left)) break;
    if (chunk->next == chunk->end && !claim_chunk(worker)) break;
    uint64_t next = chunk->next;
    done += cache_insert(cache, &search->arena, chunk, states + (size_t)done * STATE_BYTES, hashes + done, left,
                         is_new + done, search->worker_count > 1);
    __atomic_add_fetch(&search->reserved, chunk->next - next, __ATOMIC_RELAXED);
    note_written(worker, next);
    if (done < count && chunk->next < chunk->end && !grow_cache(worker, count - done)) break;
  }
  look_at_collisions(search);
  return done;
}

/* --- Visited set --------------------------------------------------------------------------------------------- */

static uint64_t cache_bytes(const Search *search) {
  const Cache *cache = cache_of(search);
  return cache->shape.bucket_count * cache->shape.bucket_bytes + dictionary_bytes(cache->dictionary);
}

static int cache_grow(Search *search) { return cache_make_room(cache_of(search)); }

#define CACHE_SET(HASHES)                                                                                            \
  {                                                                                                                  \
    .add = cache_add, .position = no_position, .positions = no_positions, .bytes = cache_bytes, .limit = no_limit,   \
    .can_grow = never_grows_ahead, .grow = cache_grow, .next_filling = no_filling, .grown = nothing_to_end,          \
    .lines = states_lines, .takes_hashes = (HASHES), .forgets = 1, .has_own_memory = 1                               \
  }

static const VisitedSet cached_states = CACHE_SET(0), cached_signatures = CACHE_SET(1);

/* --- Bindings ------------------------------------------------------------------------------------------------ */

/* Replaces the visited set of a search by a cache. Returns 0 if there is no memory. `bits` 0 keeps states. */
EXPORT int outcrop_cache_open(Search *search, uint64_t bytes, uint64_t most_bytes, uint64_t bits, uint64_t chain,
                              uint64_t idle, uint64_t seed, double most_collisions) {
  Cache *cache = cache_open(bytes, most_bytes, (unsigned)bits, (uint32_t)chain, (int)idle, seed);
  if (!cache) return 0;
  cache->most_collisions = most_collisions;
  search->own_set = cache;
  search->visited = bits ? &cached_signatures : &cached_states;
  return 1;
}

EXPORT void outcrop_cache_close(Search *search) {
  cache_close(cache_of(search));
  search->own_set = NULL;
  search->visited = &states_in_full;
  search->gives_up = 0;
}

EXPORT void outcrop_cache_standing(const Search *search, CacheStanding *standing) {
  const Cache *cache = cache_of(search);
  const CacheShape *shape = &cache->shape;
  *standing = (CacheStanding){__atomic_load_n(&cache->insertions, __ATOMIC_RELAXED),
                              __atomic_load_n(&cache->collisions, __ATOMIC_RELAXED), cache->lost,
                              shape->bucket_count, shape->chain,
                              cache_bytes(search), (uint64_t)shape->packed, (uint64_t)gives_up(search)};
}
