/* How the visited set grows: all workers come together, each takes a share of moving what is there, and then they go on. */

/* How many lines the grown visited set has, 0 when memory does not allow it to grow. Small ones grow fast; large ones
 * by less than double, because what is not used yet counts against the memory of a state; and at the end just so far that
 * table and arena will fill the budget together. `states_a_line`: at the load at which it would grow again, each of which
 * takes `state_bytes` in the arena. `reserved`: bytes of the budget that are taken already. */
static uint64_t grown_line_count(const Search *search, uint64_t wanted, uint64_t states_a_line, uint64_t state_bytes,
                                 uint64_t reserved) {
  uint64_t taken = reserved + search->beside;
  uint64_t budget = search->budget > taken ? search->budget - taken : 0;
  uint64_t affordable = budget / (LINE_BYTES + states_a_line * (state_bytes + search->beside_state));
  return wanted < affordable ? wanted : affordable;
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

/* Begins a round of filling the new table, or ends the growth where there is nothing left to do. */
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

/* The last worker to arrive: all others wait, and nobody touches the visited set. */
static void growth_begin(Search *search) {
  if (stopping(search) || !search->visited->grow(search)) {
    stop_search(search, STOP_MEMORY);
    growth_done(search);
    return;
  }
  filling_begin(search, 1);
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
