/* A search with a cache: how the cache grows, and how successors are entered into it by whoever has made them. */

/* --- Growing ------------------------------------------------------------------------------------------------- */

/* An entry of a cache that is being given up goes to its place in the one that takes over. */
static void entry_move(Cache *cache, const Cache *old, uint64_t number, uint8_t *bucket, uint32_t place,
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
  /* The least word that scales to this bucket and at least this fraction. */
  Wide scaled = ((Wide)number << old->bits) + ((Wide)fraction << old->dropped_bits);
  Home home = cache_home(cache, (uint64_t)((scaled + old->bucket_count - 1) / old->bucket_count));
  if (cache->inline_at < 64) home.head |= rest_word(kept, 0) << cache->inline_at;
  uint32_t count = *home.bucket, its_place = cache_place(cache, home, count, batch);
  entry_put(cache, home, its_place, batch->age, kept);
  *home.bucket = (uint8_t)(count + (its_place == count));
}

/* Goes on with another size, or with rests as they are. No thread may be at work. 0 when there is no memory. */
static int cache_rebuild(Cache *cache, uint64_t bytes, int packed) {
  const Cache old = *cache;
  cache->packed = packed;
  if (!cache_map(cache, bytes)) {
    *cache = old;
    return 0;
  }
  cache->lost += old.collisions;
  for (uint64_t number = 0; number < old.bucket_count; number++) {
    uint8_t *bucket = old.buckets + number * old.bucket_bytes;
    CacheBatch batch = batch_begin(cache, *bucket);
    for (uint32_t place = 0; place < *bucket; place++) entry_move(cache, &old, number, bucket, place, &batch);
    batch_end(cache, &batch);
  }
  munmap(old.buckets, old.reserved);
  return 1;
}

/* Lets the dictionary grow if it is nearly full; 0 when there is not as much memory for it as it needs. */
static int dictionary_make_room(Cache *cache) {
  Dictionary *dictionary = &cache->dictionary;
  if (4 * dictionary->count < 3 * dictionary->room) return 1;
  uint64_t bytes = dictionary_bytes(dictionary_grown(*dictionary)), most = cache->most_bytes / 16 * cache->share;
  if (dictionary->room < MOST_WORDS && bytes <= most && dictionary_grow(dictionary)) return 1;
  return dictionary->count < dictionary->room && dictionary->count < MOST_WORDS;
}

/* Whether a cache with so many bytes would be too small for so many more. One that was as large as it may be from the
 * beginning would cost its memory for nothing where a model needs little. */
static int cache_is_crowded(const Cache *cache, uint64_t bytes, uint64_t more) {
  uint64_t insertions = __atomic_load_n(&cache->insertions, __ATOMIC_RELAXED);
  return bytes < cache->most_bytes &&
         CACHE_SPARSE * (insertions + more) > cache->bucket_count * cache->chain * (bytes / cache->bytes);
}

static int cache_make_room(Cache *cache) {
  while (cache->packed && !dictionary_make_room(cache))
    if (!cache_rebuild(cache, cache->bytes, cache->share++ < MOST_SHARE)) return 0;
  if (!cache->packed) dictionary_close(&cache->dictionary);
  uint64_t bytes = cache->bytes;
  while (cache_is_crowded(cache, bytes, cache->coming))
    bytes = cache->most_bytes / bytes < 2 * CACHE_GROWTH ? cache->most_bytes : CACHE_GROWTH * bytes;
  return bytes == cache->bytes || cache_rebuild(cache, bytes, cache->packed);
}

/* --- Successors ---------------------------------------------------------------------------------------------- */

/* Makes room for so many more. Gives 0 when the search must stop. */
static int grow_cache(Worker *worker, uint64_t count) {
  __atomic_store_n(&worker->search->cache->coming, count, __ATOMIC_RELAXED);
  __atomic_store_n(&worker->search->cache_grows, 1, __ATOMIC_RELAXED);
  return grow_visited(worker);
}

/* Enters states into the cache and moves those that were not there to the front; gives how many. */
static uint64_t cache_add(Worker *worker, uint8_t *states, const uint64_t *hashes, uint64_t count) {
  Cache *cache = worker->search->cache;
  uint64_t done = 0, fresh = 0, found;
  if (cache_is_crowded(cache, cache->bytes, count) && !grow_cache(worker, count)) return 0;
  while (done < count) {
    uint8_t *first = states + done * STATE_BYTES;
    done += cache_insert(cache, first, hashes + done, count - done, worker->search->team > 1, &found);
    if (found) memmove(states + fresh * STATE_BYTES, first, found * STATE_BYTES);
    fresh += found;
    if (done < count && !grow_cache(worker, count - done)) break;
  }
  return fresh;
}

/* Enters all successors in the buffer, and checks those that are new and now at its front. Gives how many. */
static uint64_t cache_flush(Worker *worker) {
  Expansion *expansion = &worker->expansion;
  if (!worker->search->cache->exact || worker->search->route.ranks) hash_own_successors(worker);
  uint32_t count = expansion->count;
  expansion->count = 0;
  worker->generated += count;
  uint64_t fresh = cache_add(worker, expansion->successors, expansion->hashes, count);
  check_block(worker, expansion->successors, fresh);
  return fresh;
}

/* A flush that gathers what is new to the cache. */
static void cache_successors(Expansion *expansion) {
  Worker *worker = (Worker *)expansion;
  uint64_t fresh = cache_flush(worker);
  if (!gather(&worker->fresh, expansion->successors, expansion->hashes, fresh)) worker->overflow = 1;
}

/* The flush of levels that lie in the arena: what is new to the cache is added there, or gathered if the arena has
 * become too large. */
static void cache_level_successors(Expansion *expansion) {
  Worker *worker = (Worker *)expansion;
  Search *search = worker->search;
  Chunk *chunk = &worker->chunk;
  uint64_t fresh = cache_flush(worker), done = 0;
  while (done < fresh) {
    if (chunk->next == chunk->end && (chunk->next > search->window || !claim_chunk(worker))) break;
    uint64_t room = chunk->end - chunk->next, part = fresh - done < room ? fresh - done : room;
    memcpy(arena_state(&search->arena, chunk->next), expansion->successors + done * STATE_BYTES, part * STATE_BYTES);
    chunk->next += part;
    done += part;
  }
  const uint8_t *left = expansion->successors + done * STATE_BYTES;
  if (done < fresh && !gather(&worker->fresh, left, expansion->hashes, fresh - done)) stop_search(search, STOP_MEMORY);
}

/* --- What Python binds --------------------------------------------------------------------------------------- */

typedef struct {
  uint64_t insertions, collisions, lost, buckets, chain, bytes, packed;
} CacheStanding;

/* Gives the search a cache; 0 when there is no memory. `bits` 0 keeps states. */
EXPORT int outcrop_cache_open(Search *search, uint64_t bytes, uint64_t most_bytes, uint64_t bits, uint64_t chain,
                              uint64_t idle, uint64_t seed) {
  search->cache = cache_open(bytes, most_bytes, (unsigned)bits, (uint32_t)chain, (int)idle, seed);
  return search->cache != NULL;
}

EXPORT void outcrop_cache_close(Search *search) {
  cache_close(search->cache);
  search->cache = NULL;
}

EXPORT uint64_t outcrop_cache_insert(Search *search, uint64_t number, uint8_t *states, const uint64_t *hashes,
                                     uint64_t count) {
  Worker *worker = &search->workers[number];
  worker_enter(worker);
  uint64_t fresh = cache_add(worker, states, hashes, count);
  worker_leave(worker);
  return fresh;
}

/* Expands states that have spare bytes behind them, and enters the successors. Gives how many of them are new, which
 * outcrop_take_fresh takes; UINT64_MAX when memory does not hold them. */
EXPORT uint64_t outcrop_cache_expand(Search *search, uint64_t number, const uint8_t *states, uint64_t count) {
  Worker *worker = &search->workers[number];
  worker->fresh.count = 0;
  worker->overflow = 0;
  worker->expansion.flush = cache_successors;
  worker_enter(worker);
  for (uint64_t i = 0; i < count && !worker->overflow && !stopping(search); i++)
    expand_state(worker, states + i * STATE_BYTES);
  cache_successors(&worker->expansion);
  worker_leave(worker);
  limit_put(worker);
  return worker->overflow ? UINT64_MAX : worker->fresh.count;
}

/* Makes some states, or, if NULL, those of the last level that was expanded, the level that the team expands next, as
 * all that the arena holds. It will return when there are `most_states`. */
EXPORT void outcrop_cache_begin_levels(Search *search, const uint8_t *states, uint64_t count, uint64_t most_states,
                                       uint64_t window) {
  if (!states) count = search->level_end - search->level_begin;
  memmove(search->arena.base, states ? states : arena_state(&search->arena, search->level_begin), count * STATE_BYTES);
  search->arena.used = search->level_end = count;
  search->level_begin = search->cursor = 0;
  for (uint32_t i = 0; i < search->worker_count; i++) {
    search->workers[i].chunk = (Chunk){count, count};
    search->workers[i].fresh.count = 0;
  }
  search->most_states = most_states;
  search->window = window;
  search->flush = cache_level_successors;
}

EXPORT uint64_t outcrop_count_fresh(const Search *search, uint64_t number) {
  return search->workers[number].fresh.count;
}

EXPORT void outcrop_cache_standing(const Search *search, CacheStanding *standing) {
  const Cache *cache = search->cache;
  *standing = (CacheStanding){__atomic_load_n(&cache->insertions, __ATOMIC_RELAXED),
                              __atomic_load_n(&cache->collisions, __ATOMIC_RELAXED), cache->lost,
                              cache->bucket_count, cache->chain,
                              cache->bucket_count * cache->bucket_bytes + dictionary_bytes(cache->dictionary),
                              (uint64_t)cache->packed};
}
