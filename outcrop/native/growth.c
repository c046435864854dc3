/* Growth of the visited set: all workers stop, each moves a share of the entries, and then they continue. */

/* Returns the number of lines of the grown visited set, 0 if memory does not allow it to grow. Small sets grow fast.
 * Large ones grow by less than double, because unused lines count against the memory for states, and the last growth
 * stops where table and arena will fill the budget together. `states_a_line`: load at which it would grow again; each
 * state takes `state_bytes` in the arena. `reserved`: bytes of the budget that are taken already. */
static uint64_t grown_line_count(const Search *search, uint64_t wanted, uint64_t states_a_line, uint64_t state_bytes,
                                 uint64_t reserved) {
  uint64_t taken = reserved + search->beside;
  uint64_t budget = search->budget > taken ? search->budget - taken : 0;
  uint64_t affordable = budget / (LINE_BYTES + states_a_line * (state_bytes + search->beside_state));
  return wanted < affordable ? wanted : affordable;
}

/* Returns the first unfilled part of a worker's chunk that lies in [begin, end); NULL if there is none. */
static const Chunk *first_hole(const Search *search, uint64_t begin, uint64_t end) {
  const Chunk *first = NULL;
  for (uint32_t i = 0; i < search->worker_count; i++) {
    const Chunk *hole = &search->workers[i].chunk;
    if (hole->next < hole->end && hole->next < end && hole->end > begin && (!first || hole->next < first->next))
      first = hole;
  }
  return first;
}

static void refresh_lines(Search *search) {
  uint64_t count;
  const uint8_t *lines = search->visited->lines(search, &count);
  for (uint32_t i = 0; i < search->worker_count; i++) {
    search->workers[i].expansion.lines = lines;
    search->workers[i].expansion.line_count = count;
  }
}

static void growth_done(Search *search) {
  refresh_lines(search);
  search->gathered = 0;
  search->growths++;
  __atomic_store_n(&search->growing, 0, __ATOMIC_RELAXED);
  pthread_cond_broadcast(&search->changed);
}

/* Starts a round of filling the new table, or ends the growth if nothing is left to do. */
static void filling_begin(Search *search, int is_first) {
  if (!search->visited->next_filling(search, is_first)) {
    if (!search->visited->grown(search)) stop_search(search, STOP_MEMORY);
    growth_done(search);
    return;
  }
  search->rebuilding = search->gathered;
  search->fillings++;
  pthread_cond_broadcast(&search->changed);
}

/* Starts the growth, in the last worker to arrive: all others wait, and none accesses the visited set. */
static void growth_begin(Search *search) {
  if (stopping(search) || !search->visited->grow(search)) {
    stop_search(search, STOP_MEMORY);
    growth_done(search);
    return;
  }
  filling_begin(search, 1);
}

/* Waits until every worker has come here or left, and grows the visited set with them. Returns 0 if the search must
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
      search->visited->fill(search);
      pthread_mutex_lock(&search->lock);
      if (--search->rebuilding == 0) filling_begin(search, 0);
    } else {
      pthread_cond_wait(&search->changed, &search->lock);
    }
  }
  pthread_mutex_unlock(&search->lock);
  return !stopping(search);
}
