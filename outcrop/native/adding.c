/* How a batch of states is added to those visited. */

#if HAS_CACHES
static uint32_t cache_add(Worker *worker, const uint8_t *states, const uint64_t *hashes, uint32_t count,
                          uint8_t *is_new);
#endif

/* Makes sure that the visited set has room for `count` more. */
static int reserve_visited(Worker *worker, uint64_t count) {
  Search *search = worker->search;
  while (!stopping(search)) {
    if (!__atomic_load_n(&search->growing, __ATOMIC_RELAXED)) {
      uint64_t reserved = __atomic_add_fetch(&search->reserved, count, __ATOMIC_RELAXED);
      if (reserved <= visited_limit(search)) return 1;
      __atomic_sub_fetch(&search->reserved, count, __ATOMIC_RELAXED);
    }
    grow_visited(worker);
  }
  return 0;
}

/* Whether workers expand first what they have found. Not where a level may have to be taken up again in its middle. */
static int keeps_claims(const Search *search) { return search->cycles && search->worker_count > 1 && !is_shared(search); }

static int claim_chunk(Worker *worker) {
  Search *search = worker->search;
  uint64_t count = search->chunk_states, first = UINT64_MAX;
  pthread_mutex_lock(&search->lock);
  uint64_t bytes = arena_bytes(&search->arena) + count * STATE_BYTES + visited_bytes(search) + beside_bytes(search);
  if (bytes > search->budget && !search->cache)
    stop_search(search, STOP_MEMORY);
  else if ((first = arena_claim(&search->arena, count)) == UINT64_MAX)
    stop_search(search, search->arena.file < 0 ? STOP_MEMORY : STOP_DISK);
  pthread_mutex_unlock(&search->lock);
  if (first == UINT64_MAX) return 0;
  if (keeps_claims(search) && !claims_add(&worker->found_claims, first)) stop_search(search, STOP_MEMORY);
  if (search->worker_count > 1) arena_provide_next(&search->arena, first, count);
  worker->chunk.next = first;
  worker->chunk.end = first + count;
  return 1;
}

/* What some states add up to. Those of a file are added up when they are written and when they are read: a disk that
 * changes a bit, or forgets a page, changes the sum. */
static uint64_t states_sum(const uint8_t *states, uint64_t count) {
  uint64_t sum = 0;
  for (uint64_t i = 0; i < count; i++)
    for (int word = 0; word < HASH_WORDS; word++)
      sum += state_word(states + i * STATE_BYTES, word) * (0x9E3779B97F4A7C15ull + 2 * (uint64_t)word);
  return sum;
}

/* The worker has added states to the arena, from `first` on. */
static void note_written(Worker *worker, uint64_t first) {
  const Arena *arena = &worker->search->arena;
  if (arena->file >= 0) worker->written += states_sum(arena_state(arena, first), worker->chunk.next - first);
}

/* Adds a batch to the visited states and says which of them are new. Gives how many it dealt with: fewer than `count`
 * only when the search must stop. */
static uint32_t visited_add(Worker *worker, const uint8_t *states, const uint64_t *hashes, uint32_t count,
                            uint8_t *is_new) {
  Search *search = worker->search;
#if HAS_CACHES
  if (search->cache) return cache_add(worker, states, hashes, count, is_new);
#endif
  Chunk *chunk = &worker->chunk;
  int shared = search->worker_count > 1;
  for (uint32_t done = 0; done < count;) {
    uint32_t rest = count - done < search->most_batch ? count - done : search->most_batch;
    if (chunk->next == chunk->end && !claim_chunk(worker)) return done;
    if (!reserve_visited(worker, rest)) return done;
    const uint8_t *batch = states + (size_t)done * STATE_BYTES;
    uint64_t next = chunk->next;
    int too_far = 0;
    done += search->exact ? table_insert(&search->table, &search->arena, chunk, batch, hashes + done, rest,
                                         is_new + done, worker->positions ? worker->positions + done : NULL, shared)
                          : signatures_insert(&search->signatures, &search->arena, chunk, batch, hashes + done, rest,
                                              is_new + done, shared, &too_far);
    __atomic_sub_fetch(&search->reserved, rest - (chunk->next - next), __ATOMIC_RELAXED);
    note_written(worker, next);
    if (too_far && !grow_visited(worker)) return done;
  }
  return count;
}

/* Where marks for a visited state are kept: a number below visited_positions. */
static uint64_t visited_positions(const Search *search) {
  return search->exact ? search->arena.used : visited_bytes(search) / (search->signatures.wide ? 8 : 4);
}

static uint64_t visited_position(const Search *search, const uint8_t *state, uint64_t hash) {
  return search->exact ? table_find(&search->table, &search->arena, state, hash)
                       : signatures_find(&search->signatures, hash);
}
