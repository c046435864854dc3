/* A search past RAM: the arena holds the most recent states, and sorted runs on disk hold the dropped ones. A state
 * that is not in the arena is a candidate. When the level ends, or before candidates would have to be dropped, they are
 * compared with the runs, and those found in none are new. Alternatively they wait on disk: see layers.c.
 *
 * The line of a state in the table is its scaled hash. A sweep over the table, line by line, therefore meets the
 * states of the arena nearly in the order of their hashes. Runs have the same order, so comparing with them needs no
 * sorting and no memory. */

static inline int is_known(const Search *search, uint64_t index) {
  return search->known[index / 8] >> index % 8 & 1;
}

static inline void set_known(Search *search, uint64_t index) {
  __atomic_fetch_or(&search->known[index / 8], (uint8_t)(1u << index % 8), __ATOMIC_RELAXED);
}

static int reserve_candidates(RunWork *work, uint64_t count) {
  if (work->count + count <= work->room) return 1;
  uint64_t room = (work->count + count) * 5 / 4 + 1024;
  Candidate *candidates = realloc(work->candidates, room * sizeof *candidates);
  if (candidates) work->candidates = candidates;
  Candidate *sorting = realloc(work->sorting, room * sizeof *sorting);
  if (sorting) work->sorting = sorting;
  uint8_t *is_old = realloc(work->is_old, room);
  if (is_old) work->is_old = is_old;
  if (!candidates || !sorting || !is_old) return has_no_memory();
  work->room = room;
  return 1;
}

static int compare_candidates(const void *one, const void *other) {
  uint64_t a = ((const Candidate *)one)->hash, b = ((const Candidate *)other)->hash;
  return (a > b) - (a < b);
}

/* Collects the states of the arena from `begin` to `end` that belong to a slice, nearly in the order of their hashes.
 * `unknown`: only those that no run has. */
static int collect_slice(Worker *worker, uint64_t begin, uint64_t end, unsigned slice, int unknown) {
  enum { AHEAD = 16 };
  const Search *search = worker->search;
  const Table *table = &search->table;
  const Hasher hasher = search->hasher;
  RunWork *work = &worker->runs;
  const uint64_t least = (uint64_t)slice << (64 - SLICE_BITS), index_mask = ~table_tag_mask(table);
  const int wide = table->wide, slots = wide ? WIDE_SLOTS : NARROW_SLOTS;
  uint8_t *line = table_line(table, least), *last = table_line(table, least | UINT64_MAX >> SLICE_BITS), *first = line;
  uint64_t met = 0, kept = 0;
  int past = 0, full;
  /* States of the last line may have overflowed into the lines after it, as far as they are full. */
  do {
    work->count = met;
    if (!reserve_candidates(work, (uint64_t)slots)) return 0;
    Candidate *candidates = work->candidates;
    /* Slots count from 1. */
    for (uint32_t within = line_within(line, wide, index_mask, begin + 1, end - begin); within; within &= within - 1) {
      uint64_t index = (slot_get(line, wide, __builtin_ctz(within)) & index_mask) - 1;
      /* Whether it is known cannot be predicted, so it is written in any case. */
      candidates[met].index = index;
      met += !(unknown && is_known(search, index));
    }
    full = slot_get(line, wide, slots - 1) != 0;
    past |= line == last;
    line = table_next_line(table, line);
  } while ((!past || full) && line != first);
  Candidate *candidates = work->candidates;
  for (uint64_t i = 0; i < met; i++) {
    if (i + AHEAD < met) state_fetch(arena_state(&search->arena, candidates[i + AHEAD].index));
    uint64_t index = candidates[i].index, hash = hash_state(&hasher, arena_state(&search->arena, index));
    candidates[kept] = (Candidate){hash, index};
    kept += hash >> (64 - SLICE_BITS) == slice;
  }
  work->count = kept;
  return 1;
}

/* Collects the states of all slices, if there are few. */
static int collect_few(Worker *worker, uint64_t begin, uint64_t end) {
  RunWork *work = &worker->runs;
  work->count = 0;
  if (!reserve_candidates(work, end - begin)) return 0;
  for (uint64_t index = begin; index < end; index++)
    work->candidates[work->count++] =
        (Candidate){hash_state(&worker->search->hasher, arena_state(&worker->search->arena, index)), index};
  qsort(work->candidates, work->count, sizeof *work->candidates, compare_candidates);
  return 1;
}

/* Marks the candidates that a run had as known, and moves the others to the front. Returns the number of the latter. */
static uint64_t take_old_out(Search *search, RunWork *work, uint64_t first, uint64_t count) {
  uint64_t kept = 0;
  for (uint64_t i = first; i < first + count; i++) {
    Candidate candidate = work->candidates[i];
    work->candidates[first + kept] = candidate;
    kept += !work->is_old[i];
    if (work->is_old[i]) set_known(search, candidate.index);
  }
  return kept;
}

/* Compares the collected candidates with all runs, and marks those found as known. `*mapped`: bytes that may be mapped,
 * from slice `*from` on. */
static int resolve_collected(Worker *worker, const Run *runs, uint64_t run_count, unsigned *from, uint64_t *mapped) {
  RunWork *work = &worker->runs;
  for (uint64_t at = 0, end; at < work->count; at = end) {
    unsigned slice = (unsigned)(work->candidates[at].hash >> (64 - SLICE_BITS));
    for (end = at + 1; end < work->count && work->candidates[end].hash >> (64 - SLICE_BITS) == slice;) end++;
    uint64_t count = end - at;
    memset(work->is_old + at, 0, count);
    for (uint64_t i = 0; i < run_count && count; i++) {
      const uint64_t found = work->found;
      if (!run_look_up(&runs[i], slice, &worker->search->arena, work, at, count)) return 0;
      uint64_t bytes = run_slice(&runs[i], slice).bytes, most = count * MOST_MAPPED_BY_ONE;
      if (bytes <= LARGE_SLICE) *mapped += bytes < most ? bytes : most;
      if (work->found == found) continue; /* none of them is in this run */
      count = take_old_out(worker->search, work, at, count);
      memset(work->is_old + at, 0, count);
    }
    if (*mapped > MOST_MAPPED) {
      drop_runs(runs, run_count, *from, slice);
      *from = slice + 1;
      *mapped = 0;
    }
  }
  return 1;
}

/* Compares a few candidates, sorted by hash, with one run, and marks those found as known. */
static int resolve_few_in(Worker *worker, const Run *run) {
  RunWork *work = &worker->runs;
  uint64_t looked_up = 0; /* since the last unmapping */
  unsigned from = 0;
  memset(work->is_old, 0, work->count);
  for (uint64_t at = 0, end; at < work->count; at = end) {
    unsigned slice = (unsigned)(work->candidates[at].hash >> (64 - SLICE_BITS));
    for (end = at + 1; end < work->count && work->candidates[end].hash >> (64 - SLICE_BITS) == slice;) end++;
    if (!run_look_up(run, slice, &worker->search->arena, work, at, end - at)) return 0;
    looked_up += end - at;
    /* Mapped are the pieces around each lookup, or everything between the first and the last if that is less. */
    uint64_t between = (run->length >> SLICE_BITS) * (slice - from + 1), pieces = looked_up * MOST_MAPPED_BY_ONE;
    if ((between < pieces ? between : pieces) < MOST_MAPPED && end < work->count) continue;
    run_drop(run, from, slice);
    from = slice + 1;
    looked_up = 0;
  }
  work->count = take_old_out(worker->search, work, 0, work->count);
  return 1;
}

/* Compares a few candidates with all runs, one after the other, because a hundred candidates may map all of a run. */
static int resolve_few(Worker *worker, const Run *runs, uint64_t run_count) {
  for (uint64_t i = 0; i < run_count && worker->runs.count; i++)
    if (!resolve_few_in(worker, &runs[i])) return 0;
  return 1;
}

/* Compares the candidates from `first` on: those of slices `begin` to `end`, or of all slices at once if `few`. */
static int resolve_slices(Worker *worker, uint64_t first, unsigned begin, unsigned end, int few, const Run *runs,
                          uint64_t run_count) {
  uint64_t used = worker->search->arena.used, mapped = 0;
  unsigned from = begin;
  int complete = 1;
  if (few) return collect_few(worker, first, used) && resolve_few(worker, runs, run_count);
  for (unsigned slice = begin; slice < end && complete; slice++)
    complete = collect_slice(worker, first, used, slice, 0) &&
               resolve_collected(worker, runs, run_count, &from, &mapped);
  if (from < end) drop_runs(runs, run_count, from, end - 1);
  return complete;
}

/* Checks and gathers the new candidates of a range, in the order of discovery: common successors of several states are
 * then mostly met close together. */
static int take_new(Worker *worker, uint64_t begin, uint64_t end) {
  Search *search = worker->search;
  Gathered *fresh = &worker->fresh;
  fresh->count = 0;
  if (!gathered_reserve(fresh, end - begin)) return 0;
  for (uint64_t index = begin; index < end; index++) {
    if (is_known(search, index)) continue;
    const uint8_t *state = arena_state(&search->arena, index);
    if (HAS_ASSUMPTIONS || HAS_INVARIANTS || HAS_COVER_PROPERTIES) check_state(worker, state);
    memcpy(fresh->states + fresh->count++ * STATE_BYTES, state, STATE_BYTES);
  }
  return 1;
}

/* Appends the states below `end` that no run has to a new one, slice by slice; `*length` is its end. */
static int write_slices(Worker *worker, uint64_t end, unsigned slice, unsigned last_slice, const Run *run,
                        uint64_t *length, uint64_t *starts, uint64_t *counts) {
  RunWork *work = &worker->runs;
  while (slice < last_slice) {
    uint64_t gathered = 0, first = slice;
    for (; slice < last_slice && gathered < PIECE_BYTES; slice++) {
      if (!collect_slice(worker, 0, end, slice, 1)) return 0;
      if (!run_gather_slice(work, run, gathered, &worker->search->arena)) return 0;
      counts[slice] = work->count;
      starts[slice] = gathered;
      gathered += run_index_bytes(run->bits) + work->count * (sizeof(uint32_t) + run->stride);
    }
    if (!run_write_gathered(work, run, gathered, first, slice, length, starts)) return 0;
  }
  return 1;
}

/* Drops the first `count` states of the arena, a multiple of 8. The others must be entered into the table again. */
static void forget(Search *search, uint64_t count) {
  Arena *arena = &search->arena;
  uint64_t kept = arena->used - count;
  memmove(arena->base, arena_state(arena, count), kept * STATE_BYTES);
  memmove(search->known, search->known + count / 8, kept / 8 + 1);
  /* States that will lie here are not known. */
  memset(search->known + kept / 8 + 1, 0, (kept + count) / 8 - kept / 8);
  search->known[kept / 8] &= (uint8_t)((1u << kept % 8) - 1);
  memset(search->table.lines, 0, search->table.line_count * LINE_BYTES);
  arena->used = kept;
  search->reserved = kept;
  for (uint32_t i = 0; i < search->worker_count; i++) search->workers[i].chunk = (Chunk){kept, kept};
}

/* Expands states until there is no more space for successors. The remaining successors of the last one are carried.
 * Returns the number of expanded states. */
static uint64_t expand_states(Worker *worker, const uint8_t *states, uint64_t count) {
  uint64_t number = 0;
  worker->overflow = 0;
  worker->block = states;
  worker->expansion.flush = add_successors;
  while (number < count && !worker->overflow && !stopping(worker->search)) {
    uint64_t end = number + BLOCK_STATES < count ? number + BLOCK_STATES : count;
    for (; number < end && !worker->overflow; number++) {
      worker->expansion.owner = (uint32_t)number;
      expand_state(worker, states + number * STATE_BYTES);
    }
    drain_put(worker);
  }
  add_successors(&worker->expansion);
  return number;
}

/* Adds the carried successors to the candidates. Returns how many are left, because the arena is full. */
static uint64_t add_carried(Worker *worker) {
  Gathered *carried = &worker->gathered;
  uint64_t done = 0;
  while (done < carried->count) {
    uint32_t batch = carried->count - done < SUCCESSOR_ROOM ? (uint32_t)(carried->count - done) : SUCCESSOR_ROOM;
    uint32_t dealt = worker->search->visited->add(worker, carried->states + done * STATE_BYTES, carried->hashes + done,
                                                  batch, worker->is_new);
    done += dealt;
    if (dealt < batch) break;
  }
  carried->count -= done;
  memmove(carried->states, carried->states + done * STATE_BYTES, carried->count * STATE_BYTES);
  memmove(carried->hashes, carried->hashes + done, carried->count * sizeof *carried->hashes);
  return carried->count;
}
