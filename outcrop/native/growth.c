/* How the visited set grows: all workers come together, each takes a share of moving what is there, and then they go on. */

/* How many lines the grown visited set has, 0 when memory does not allow it to grow. Small ones grow fast; large ones
 * by less than double, because what is not used yet counts against the memory of a state; and at the end just so far that
 * table and arena will fill the budget together. `states_a_line`: at the load at which it would grow again. */
static uint64_t grown_line_count(const Search *search, uint64_t wanted, uint64_t states_a_line) {
  uint64_t state_bytes = (search->exact ? STATE_BYTES : 0) + search->beside_state;
  uint64_t reserved = (search->exact ? 0 : arena_bytes(&search->arena)) + search->beside;
  uint64_t budget = search->budget > reserved ? search->budget - reserved : 0;
  uint64_t affordable = budget / (LINE_BYTES + states_a_line * state_bytes);
  return wanted < affordable ? wanted : affordable;
}

static uint64_t wanted_line_count(uint64_t lines, int wide) {
  uint64_t bytes = lines * LINE_BYTES;
  return bytes < (4 << 20) ? lines * 4 : bytes < (16 << 20) ? lines * 2 : lines + (wide ? lines / 4 : lines / 5 * 4);
}

/* How many lines the table may grow to, and with what entries; 0 when that would hardly be more. */
static uint64_t grown_table(const Search *search, int *wide) {
  const Table *table = &search->table;
  uint64_t slack = (uint64_t)search->worker_count * MOST_CHUNK_STATES;
  uint64_t wanted = wanted_line_count(table->line_count, table->wide);
  *wide = table->wide || table_needs_wide(table_limit(wanted, 0) + slack);
  if (*wide && !table->wide) wanted *= 2;
  uint64_t lines = grown_line_count(search, wanted, (table_limit(20, *wide) + 19) / 20);
  return table_limit(lines, *wide) < table->limit + table->limit / 16 ? 0 : lines;
}

static uint64_t grown_signatures(const Search *search) {
  const Signatures *signatures = &search->signatures;
  uint64_t lines = grown_line_count(search, wanted_line_count(signatures->line_count, signatures->wide), 0);
  if (lines > signatures->reserved / LINE_BYTES) lines = signatures->reserved / LINE_BYTES;
  return lines < signatures->line_count + signatures->line_count / 16 + 1 ? 0 : lines;
}

static int can_grow(const Search *search) {
  int wide;
  return !search->cache && (search->exact ? grown_table(search, &wide) : grown_signatures(search));
}

static int grow_table(Search *search) {
  Table *table = &search->table, grown = *table;
  int wide;
  uint64_t lines = grown_table(search, &wide), slack = (uint64_t)search->worker_count * MOST_CHUNK_STATES;
  /* Only addresses are taken for the new one while there are two; pages come as it is filled. */
  if (!lines || !table_open(&grown, lines, wide, slack)) return 0;
  table_close(table);
  *table = grown;
  return 1;
}

static int grow_signatures(Search *search) {
  uint64_t lines = grown_signatures(search);
  return lines && growth_open(&search->growth, &search->signatures, lines);
}

/* The unfilled part of a worker's chunk that lies in [begin, end) and comes first; NULL when there is none. */
static const Chunk *first_hole(const Search *search, uint64_t begin, uint64_t end) {
  const Chunk *first = NULL;
  for (uint32_t i = 0; i < search->worker_count; i++) {
    const Chunk *hole = &search->workers[i].chunk;
    if (hole->next < hole->end && hole->next < end && hole->end > begin && (!first || hole->next < first->next))
      first = hole;
  }
  return first;
}

/* One worker's part in having the pages provided that the new table adds to the old one. */
static void provide_share(Search *search) {
  uint8_t *lines = search->exact ? search->table.lines : search->signatures.lines;
  uint64_t bytes = visited_bytes(search);
  for (uint64_t at; (at = __atomic_fetch_add(&search->provided, HUGE_PAGE, __ATOMIC_RELAXED)) < bytes;)
    provide_pages(lines + at, bytes - at < HUGE_PAGE ? bytes - at : HUGE_PAGE);
}

/* One worker's part in entering all states into the new table. */
static void enter_share(Search *search, int shared) {
  enum { SHARE_STATES = 1 << 14 };
  for (;;) {
    uint64_t begin = __atomic_fetch_add(&search->rebuilt, SHARE_STATES, __ATOMIC_RELAXED);
    if (begin >= search->arena.used) return;
    uint64_t end = begin + SHARE_STATES < search->arena.used ? begin + SHARE_STATES : search->arena.used;
    for (const Chunk *hole; (hole = first_hole(search, begin, end)) != NULL; begin = hole->end)
      if (hole->next > begin) table_enter(&search->table, &search->arena, &search->hasher, begin, hole->next, shared);
    if (begin < end) table_enter(&search->table, &search->arena, &search->hasher, begin, end, shared);
  }
}

static void rebuild_share(Search *search) {
  int shared = search->worker_count > 1;
  provide_share(search);
  if (search->exact)
    enter_share(search, shared);
  else
    growth_share(&search->growth, &search->signatures, shared);
}

static void refresh_lines(Search *search) {
  for (uint32_t i = 0; i < search->worker_count; i++) {
    Expansion *expansion = &search->workers[i].expansion;
    expansion->lines = search->exact ? search->table.lines : search->signatures.lines;
    expansion->line_count = search->exact ? search->table.line_count : search->signatures.line_count;
  }
}

static void growth_done(Search *search) {
  refresh_lines(search);
  search->gathered = 0;
  search->growths++;
  __atomic_store_n(&search->growing, 0, __ATOMIC_RELAXED);
  pthread_cond_broadcast(&search->changed);
}

/* Begins a round of filling the new table; gives 0 when there is nothing left to do. */
static int filling_begin(Search *search) {
  if (!search->exact && !growth_next_round(&search->growth, &search->signatures)) return 0;
  search->rebuilding = search->gathered;
  search->fillings++;
  pthread_cond_broadcast(&search->changed);
  return 1;
}

static void signatures_grown(Search *search) {
  if (!growth_close(&search->growth, &search->signatures)) stop_search(search, STOP_MEMORY);
  growth_done(search);
}

#if HAS_CACHES
static int cache_make_room(struct Cache *cache);
#endif

/* The last worker to arrive: all others wait, and nobody touches the visited set. */
static void growth_begin(Search *search) {
  search->provided = search->exact ? 0 : visited_bytes(search);
  search->rebuilt = 0;
#if HAS_CACHES
  if (__atomic_exchange_n(&search->cache_grows, 0, __ATOMIC_RELAXED)) {
    if (!stopping(search) && !cache_make_room(search->cache)) stop_search(search, STOP_MEMORY);
    growth_done(search);
    return;
  }
#endif
  if (stopping(search) || !(search->exact ? grow_table(search) : grow_signatures(search))) {
    stop_search(search, STOP_MEMORY);
    growth_done(search);
  } else if (!filling_begin(search)) {
    signatures_grown(search);
  }
}

/* The last worker to end a round. */
static void filling_ended(Search *search) {
  if (search->exact)
    growth_done(search);
  else if (!filling_begin(search))
    signatures_grown(search);
}

/* Waits until every worker has come here or left, and grows the visited set with them. Gives 0 when the search must
 * stop. */
static int grow_visited(Worker *worker) {
  Search *search = worker->search;
  pthread_mutex_lock(&search->lock);
  uint64_t growths = search->growths, fillings = search->fillings;
  __atomic_store_n(&search->growing, 1, __ATOMIC_RELAXED);
  search->gathered++;
  while (search->growths == growths) {
    if (!search->rebuilding && search->gathered == search->active) {
      growth_begin(search);
    } else if (search->rebuilding && search->fillings != fillings) {
      fillings = search->fillings;
      pthread_mutex_unlock(&search->lock);
      rebuild_share(search);
      pthread_mutex_lock(&search->lock);
      if (--search->rebuilding == 0) filling_ended(search);
    } else {
      pthread_cond_wait(&search->changed, &search->lock);
    }
  }
  pthread_mutex_unlock(&search->lock);
  return !stopping(search);
}
