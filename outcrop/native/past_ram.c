/* Bindings of searches past RAM (spill.c). */

/* Makes states that are not in the arena candidates from now on. Returns 0 if there is no memory. */
EXPORT int outcrop_defer(Search *search) {
  search->visited = &states_past_ram;
  run_starved = run_full = 0;
  watch_mapped_files();
  if (!search->known) search->known = map_pages(search->arena.capacity / 8 + 2, -1);
  return search->known != NULL;
}

/* Lets workers continue after a stop for lack of memory, and closes holes, so that states lie without gaps. Returns the
 * number of states in the arena, UINT64_MAX if successors were lost. */
EXPORT uint64_t outcrop_resume(Search *search) {
  close_holes(search);
  int memory = STOP_MEMORY;
  __atomic_compare_exchange_n(&search->stop, &memory, STOP_NONE, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
  if (__atomic_load_n(&search->requested, __ATOMIC_SEQ_CST)) stop_search(search, STOP_REQUESTED);
  return search->lost ? UINT64_MAX : search->arena.used;
}

EXPORT uint64_t outcrop_expand_states(Search *search, uint64_t number, const uint8_t *states, uint64_t count) {
  Worker *worker = &search->workers[number];
  worker_enter(worker);
  uint64_t expanded = expand_states(worker, states, count);
  worker_leave(worker);
  return expanded;
}

EXPORT uint64_t outcrop_add_carried(Search *search, uint64_t number) {
  Worker *worker = &search->workers[number];
  worker_enter(worker);
  uint64_t left = add_carried(worker);
  worker_leave(worker);
  return left;
}

/* Return whether a call below lacked memory, or disk space. */
EXPORT int outcrop_run_starved(void) { return __atomic_load_n(&run_starved, __ATOMIC_RELAXED); }

EXPORT int outcrop_run_full(void) { return __atomic_load_n(&run_full, __ATOMIC_RELAXED); }

/* Resolves candidates. Returns 0 if a run cannot be read. */
EXPORT int outcrop_resolve(Search *search, uint64_t number, uint64_t first, uint64_t begin, uint64_t end,
                           uint64_t few, const Run *runs, uint64_t run_count) {
  return resolve_slices(&search->workers[number], first, (unsigned)begin, (unsigned)end, (int)few, runs, run_count);
}

/* Returns the number of new candidates in a range, UINT64_MAX if there is no memory for them. */
EXPORT uint64_t outcrop_take_new(Search *search, uint64_t number, uint64_t begin, uint64_t end) {
  return take_new(&search->workers[number], begin, end) ? search->workers[number].fresh.count : UINT64_MAX;
}

EXPORT void outcrop_take_fresh(Search *search, uint64_t number, uint8_t *states) {
  Gathered *fresh = &search->workers[number].fresh;
  if (fresh->count) memcpy(states, fresh->states, fresh->count * STATE_BYTES);
}

/* Returns the number of states below `end` that no run has. */
EXPORT uint64_t outcrop_count_unknown(const Search *search, uint64_t end) {
  uint64_t known = 0, word;
  for (uint64_t at = 0; at < end / 64; at++) {
    memcpy(&word, search->known + 8 * at, sizeof word);
    known += (uint64_t)__builtin_popcountll(word);
  }
  for (uint64_t index = end / 64 * 64; index < end; index++) known += (uint64_t)is_known(search, index);
  return end - known;
}

EXPORT int outcrop_write_run(Search *search, uint64_t number, uint64_t end, uint64_t begin_slice, uint64_t end_slice,
                             const Run *run, uint64_t *length, uint64_t *starts, uint64_t *counts) {
  return write_slices(&search->workers[number], end, (unsigned)begin_slice, (unsigned)end_slice, run, length, starts,
                      counts);
}

EXPORT int outcrop_merge_runs(Search *search, uint64_t number, const Run *runs, uint64_t run_count, const Run *merged,
                              uint64_t begin_slice, uint64_t end_slice) {
  RunWork *work = &search->workers[number].runs;
  int complete = 1;
  unsigned mapped = (unsigned)begin_slice;
  for (uint64_t slice = begin_slice; slice < end_slice && complete; slice++) {
    complete = run_merge_slice(work, runs, run_count, merged, (unsigned)slice);
    drop_many(runs, run_count, &mapped, (unsigned)slice, !complete || slice + 1 == end_slice);
  }
  return output_flush(&work->output) && complete;
}

/* Returns whether slices of a run are what was written. */
EXPORT int outcrop_check_run(const Run *run, uint64_t begin_slice, uint64_t end_slice) {
  unsigned mapped = (unsigned)begin_slice;
  for (uint64_t slice = begin_slice; slice < end_slice; slice++) {
    if (!run_check_slice(run, (unsigned)slice)) return 0;
    drop_many(run, 1, &mapped, (unsigned)slice, slice + 1 == end_slice);
  }
  return 1;
}

EXPORT void outcrop_forget(Search *search, uint64_t count) { forget(search, count); }

/* Enters states of the arena into the table, which outcrop_forget has emptied. */
EXPORT void outcrop_enter(Search *search, uint64_t begin, uint64_t end) {
  table_enter(&search->table, &search->arena, &search->hasher, begin, end, search->worker_count > 1);
}
