/* The two visited sets that every search can have: a table of full states, and one of signatures. */

/* --- Adding -------------------------------------------------------------------------------------------------- */

/* Reserves `count` entries in the visited set, which grows if necessary. Returns 0 if the search must stop. */
static int reserve_visited(Worker *worker, uint64_t count) {
  Search *search = worker->search;
  while (!stopping(search)) {
    if (!__atomic_load_n(&search->growing, __ATOMIC_RELAXED)) {
      uint64_t reserved = __atomic_add_fetch(&search->reserved, count, __ATOMIC_RELAXED);
      if (reserved <= search->visited->limit(search)) return 1;
      __atomic_sub_fetch(&search->reserved, count, __ATOMIC_RELAXED);
    }
    grow_visited(worker);
  }
  return 0;
}

/* Enters as many states as one reservation allows. Returns how many it handled. `*too_far`: the set must grow. */
typedef uint32_t Enter(Worker *worker, const uint8_t *states, const uint64_t *hashes, uint32_t count, uint8_t *is_new,
                       uint32_t *positions, int *too_far);

static inline uint32_t add_reserved(Worker *worker, const uint8_t *states, const uint64_t *hashes, uint32_t count,
                                    uint8_t *is_new, Enter *enter) {
  Search *search = worker->search;
  Chunk *chunk = &worker->chunk;
  for (uint32_t done = 0; done < count;) {
    uint32_t rest = count - done < search->most_batch ? count - done : search->most_batch;
    if (chunk->next == chunk->end && !claim_chunk(worker)) return done;
    if (!reserve_visited(worker, rest)) return done;
    uint64_t next = chunk->next;
    int too_far = 0;
    done += enter(worker, states + (size_t)done * STATE_BYTES, hashes + done, rest, is_new + done,
                  worker->positions ? worker->positions + done : NULL, &too_far);
    __atomic_sub_fetch(&search->reserved, rest - (chunk->next - next), __ATOMIC_RELAXED);
    note_written(worker, next);
    if (too_far && !grow_visited(worker)) return done;
  }
  return count;
}

/* --- Growing ------------------------------------------------------------------------------------------------- */

static uint64_t wanted_line_count(uint64_t lines, int wide) {
  uint64_t bytes = lines * LINE_BYTES;
  return bytes < (4 << 20) ? lines * 4 : bytes < (16 << 20) ? lines * 2 : lines + (wide ? lines / 4 : lines / 5 * 4);
}

/* Runs one worker's part of allocating the pages that the new table adds to the old one. */
static void provide_share(Search *search, uint8_t *lines, uint64_t bytes) {
  for (uint64_t at; (at = __atomic_fetch_add(&search->provided, HUGE_PAGE, __ATOMIC_RELAXED)) < bytes;)
    provide_pages(lines + at, bytes - at < HUGE_PAGE ? bytes - at : HUGE_PAGE);
}

static int nothing_to_end(Search *search) {
  (void)search;
  return 1;
}

/* --- Full states --------------------------------------------------------------------------------------------- */

static uint32_t states_enter(Worker *worker, const uint8_t *states, const uint64_t *hashes, uint32_t count,
                             uint8_t *is_new, uint32_t *positions, int *too_far) {
  Search *search = worker->search;
  (void)too_far;
  return table_insert(&search->table, &search->arena, &worker->chunk, states, hashes, count, is_new, positions,
                      search->worker_count > 1);
}

static uint32_t states_add(Worker *worker, const uint8_t *states, const uint64_t *hashes, uint32_t count,
                           uint8_t *is_new) {
  return add_reserved(worker, states, hashes, count, is_new, states_enter);
}

static uint64_t states_position(const Search *search, const uint8_t *state, uint64_t hash) {
  return table_find(&search->table, &search->arena, state, hash);
}

static uint64_t states_positions(const Search *search) { return search->arena.used; }
static uint64_t states_bytes(const Search *search) { return search->table.line_count * LINE_BYTES; }
static uint64_t states_limit(const Search *search) { return search->table.limit; }

/* Returns the number of lines to which the table may grow, and the width of its slots; 0 if it would hardly grow. */
static uint64_t grown_table(const Search *search, int *wide) {
  const Table *table = &search->table;
  uint64_t slack = (uint64_t)search->worker_count * MOST_CHUNK_STATES;
  uint64_t wanted = wanted_line_count(table->line_count, table->wide);
  *wide = table->wide || table_needs_wide(table_limit(wanted, 0) + slack);
  if (*wide && !table->wide) wanted *= 2;
  uint64_t lines = grown_line_count(search, wanted, (table_limit(20, *wide) + 19) / 20, STATE_BYTES, 0);
  return table_limit(lines, *wide) < table->limit + table->limit / 16 ? 0 : lines;
}

static int states_can_grow(const Search *search) {
  int wide;
  return grown_table(search, &wide) > 0;
}

static int states_grow(Search *search) {
  Table *table = &search->table, grown = *table;
  int wide;
  uint64_t lines = grown_table(search, &wide), slack = (uint64_t)search->worker_count * MOST_CHUNK_STATES;
  /* Only addresses are reserved while there are two tables; pages are allocated as the new one is filled. */
  if (!lines || !table_open(&grown, lines, wide, slack)) return 0;
  table_close(table);
  *table = grown;
  search->provided = search->rebuilt = 0;
  return 1;
}

static int states_next_filling(Search *search, int is_first) {
  (void)search;
  return is_first;
}

/* Runs one worker's part of entering all states into the new table. */
static void states_fill(Search *search) {
  enum { SHARE_STATES = 1 << 14 };
  const int shared = search->worker_count > 1;
  provide_share(search, search->table.lines, states_bytes(search));
  for (;;) {
    uint64_t begin = __atomic_fetch_add(&search->rebuilt, SHARE_STATES, __ATOMIC_RELAXED);
    if (begin >= search->arena.used) return;
    uint64_t end = begin + SHARE_STATES < search->arena.used ? begin + SHARE_STATES : search->arena.used;
    for (const Chunk *hole; (hole = first_hole(search, begin, end)) != NULL; begin = hole->end)
      if (hole->next > begin) table_enter(&search->table, &search->arena, &search->hasher, begin, hole->next, shared);
    if (begin < end) table_enter(&search->table, &search->arena, &search->hasher, begin, end, shared);
  }
}

static const uint8_t *states_lines(const Search *search, uint64_t *count) {
  *count = search->table.line_count;
  return search->table.lines;
}

static void states_moved(Search *search, uint64_t from, uint64_t to) {
  table_moved(&search->table, &search->hasher, &search->arena, from, to);
}

static void states_carry(Worker *worker, const uint8_t *states, const uint64_t *hashes, uint32_t count) {
  if (!gather(&worker->gathered, states, hashes, count)) __atomic_store_n(&worker->search->lost, 1, __ATOMIC_RELAXED);
}

#define IN_FULL                                                                                                          \
  .add = states_add, .position = states_position, .positions = states_positions, .bytes = states_bytes,                  \
  .limit = states_limit, .can_grow = states_can_grow, .grow = states_grow, .next_filling = states_next_filling,          \
  .fill = states_fill, .grown = nothing_to_end, .lines = states_lines, .moved = states_moved, .takes_hashes = 1,         \
  .knows_indexes = 1

static const VisitedSet states_in_full = {IN_FULL};

/* Full states of a search that can continue past RAM (spill.c): before memory is full, and afterwards, when states that
 * are not in the arena are candidates. */
static const VisitedSet states_before_disk = {IN_FULL, .carry = states_carry};
static UNUSED const VisitedSet states_past_ram = {IN_FULL, .carry = states_carry, .forgets = 1, .is_tentative = 1};

/* --- Signatures ---------------------------------------------------------------------------------------------- */

static uint32_t signatures_enter(Worker *worker, const uint8_t *states, const uint64_t *hashes, uint32_t count,
                                 uint8_t *is_new, uint32_t *positions, int *too_far) {
  Search *search = worker->search;
  (void)positions;
  return signatures_insert(&search->signatures, &search->arena, &worker->chunk, states, hashes, count, is_new,
                           search->worker_count > 1, too_far);
}

static uint32_t signatures_add(Worker *worker, const uint8_t *states, const uint64_t *hashes, uint32_t count,
                               uint8_t *is_new) {
  return add_reserved(worker, states, hashes, count, is_new, signatures_enter);
}

static uint64_t signatures_position(const Search *search, const uint8_t *state, uint64_t hash) {
  (void)state;
  return signatures_find(&search->signatures, hash);
}

static uint64_t signatures_bytes(const Search *search) { return search->signatures.line_count * LINE_BYTES; }
static uint64_t signatures_limit(const Search *search) { return search->signatures.limit; }

static uint64_t signatures_positions(const Search *search) {
  return signatures_bytes(search) / (search->signatures.wide ? 8 : 4);
}

static uint64_t grown_signatures(const Search *search) {
  const Signatures *signatures = &search->signatures;
  uint64_t wanted = wanted_line_count(signatures->line_count, signatures->wide);
  uint64_t lines = grown_line_count(search, wanted, 0, 0, arena_bytes(&search->arena));
  if (lines > signatures->reserved / LINE_BYTES) lines = signatures->reserved / LINE_BYTES;
  return lines < signatures->line_count + signatures->line_count / 16 + 1 ? 0 : lines;
}

static int signatures_can_grow(const Search *search) { return grown_signatures(search) > 0; }

static int signatures_grow(Search *search) {
  uint64_t lines = grown_signatures(search);
  search->provided = signatures_bytes(search);
  return lines && growth_open(&search->growth, &search->signatures, lines);
}

static int signatures_next_filling(Search *search, int is_first) {
  (void)is_first;
  return growth_next_round(&search->growth, &search->signatures);
}

static void signatures_fill(Search *search) {
  provide_share(search, search->signatures.lines, signatures_bytes(search));
  growth_share(&search->growth, &search->signatures, search->worker_count > 1);
}

static int signatures_grown(Search *search) { return growth_close(&search->growth, &search->signatures); }

static const uint8_t *signatures_lines(const Search *search, uint64_t *count) {
  *count = search->signatures.line_count;
  return search->signatures.lines;
}

static const VisitedSet signatures_only = {
    .add = signatures_add,
    .position = signatures_position,
    .positions = signatures_positions,
    .bytes = signatures_bytes,
    .limit = signatures_limit,
    .can_grow = signatures_can_grow,
    .grow = signatures_grow,
    .next_filling = signatures_next_filling,
    .fill = signatures_fill,
    .grown = signatures_grown,
    .lines = signatures_lines,
    .takes_hashes = 1,
};

/* --- Defaults for sets of fixed size, which evict or confuse states --------------------------------------------- */

/* Returns no position, because marks are not kept for states that may be evicted. */
static UNUSED uint64_t no_position(const Search *search, const uint8_t *state, uint64_t hash) {
  (void)search, (void)state, (void)hash;
  return UINT64_MAX;
}

static UNUSED uint64_t no_positions(const Search *search) {
  (void)search;
  return 0;
}

static UNUSED uint64_t no_limit(const Search *search) {
  (void)search;
  return UINT64_MAX;
}

static UNUSED int never_grows_ahead(const Search *search) {
  (void)search;
  return 0;
}

static UNUSED int no_filling(Search *search, int is_first) {
  (void)search, (void)is_first;
  return 0;
}
