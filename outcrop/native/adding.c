/* Allocation of new states in the arena. */

/* Returns whether workers first expand the states that they found themselves. Not where a search may have to
 * continue in the middle of a level. */
static int keeps_claims(const Search *search) { return search->cycles && search->worker_count > 1 && !is_shared(search); }

static int claim_chunk(Worker *worker) {
  Search *search = worker->search;
  uint64_t count = search->chunk_states, first = UINT64_MAX;
  pthread_mutex_lock(&search->lock);
  uint64_t bytes = arena_bytes(&search->arena) + count * STATE_BYTES + visited_bytes(search) + beside_bytes(search);
  if (bytes > search->budget && !search->visited->has_own_memory)
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

/* Returns a checksum of some states. In a file-backed arena, states are summed when they are written and when they are
 * read: a disk that changes a bit, or loses a page, changes the sum. */
static uint64_t states_sum(const uint8_t *states, uint64_t count) {
  uint64_t sum = 0;
  for (uint64_t i = 0; i < count; i++)
    for (int word = 0; word < HASH_WORDS; word++)
      sum += state_word(states + i * STATE_BYTES, word) * (0x9E3779B97F4A7C15ull + 2 * (uint64_t)word);
  return sum;
}

/* Adds the states that the worker has appended, from `first` on, to the checksum of what was written. */
static void note_written(Worker *worker, uint64_t first) {
  const Arena *arena = &worker->search->arena;
  if (arena->file >= 0) worker->written += states_sum(arena_state(arena, first), worker->chunk.next - first);
}
