/* Layers: what a layered search (P. Lamborn and E. A. Hansen 2008) adds to a search past RAM. `auto` uses the first
 * half too: candidates on disk.
 *
 * If a layer does not fit in RAM, its candidates wait on disk, in stretches that are grouped by slice. When the
 * layer is complete, each slice of all stretches is read, sorted and compared with the earlier layers. The remaining
 * candidates are written as a slice of the new layer. Then the stretches are read again, to enqueue the new states
 * in the order of discovery. */

enum { SLICES = 1 << SLICE_BITS };

static uint64_t stretch_count(const Stretch *stretch) { return stretch->begins[SLICES]; }

static uint64_t stretch_bytes(const Stretch *stretch) { return stretch_count(stretch) * (STATE_BYTES + 1); }

/* Returns a checksum of the slices of some states, in their order. */
static uint64_t slices_sum(const uint8_t *slices, uint64_t count) {
  uint64_t sum = 0;
  for (uint64_t i = 0; i < count; i++) sum += slices[i] * (2 * i + 1);
  return sum;
}

/* Writes the candidates from `begin` to `end`. */
static int stretch_write(Worker *worker, uint64_t begin, uint64_t end, const Stretch *stretch) {
  const Search *search = worker->search;
  uint64_t count = end - begin;
  uint32_t *begins = stretch->begins, next[SLICES];
  uint8_t *states = buffer_reserve(&worker->runs.loaded, count * (STATE_BYTES + 1) + SPARE_BYTES);
  if (!states) return 0;
  uint8_t *slices = states + count * STATE_BYTES;
  memset(begins, 0, (SLICES + 1) * sizeof *begins);
  for (uint64_t i = 0; i < count; i++) {
    slices[i] = (uint8_t)(hash_state(&search->hasher, arena_state(&search->arena, begin + i)) >> (64 - SLICE_BITS));
    begins[slices[i] + 1]++;
  }
  for (int slice = 0; slice < SLICES; slice++) begins[slice + 1] += begins[slice];
  memcpy(next, begins, sizeof next);
  for (uint64_t i = 0; i < count; i++)
    memcpy(states + (uint64_t)next[slices[i]]++ * STATE_BYTES, arena_state(&search->arena, begin + i), STATE_BYTES);
  stretch->sums[0] = states_sum(states, count);
  stretch->sums[1] = slices_sum(slices, count);
  return write_all(stretch->file, states, stretch_bytes(stretch), stretch->at);
}

/* --- Resolving ----------------------------------------------------------------------------------------------- */

/* Reads a slice of all candidates of a layer. The states are in the order of the stretches, to which candidates
 * refer. */
static int load_slice(Worker *worker, const Stretch *stretches, uint64_t count, unsigned slice, Arena *states) {
  RunWork *work = &worker->runs;
  uint64_t total = 0;
  for (uint64_t i = 0; i < count; i++) total += stretches[i].begins[slice + 1] - stretches[i].begins[slice];
  memset(states, 0, sizeof *states);
  states->base = buffer_reserve(&work->loaded, total * STATE_BYTES + SPARE_BYTES);
  work->count = 0;
  if (!states->base || !reserve_candidates(work, total)) return 0;
  for (uint64_t i = 0; i < count; i++) {
    uint64_t begin = stretches[i].begins[slice], end = stretches[i].begins[slice + 1];
    if (!read_all(stretches[i].file, arena_state(states, work->count), (end - begin) * STATE_BYTES,
                  stretches[i].at + begin * STATE_BYTES))
      return 0;
    for (; begin < end; begin++, work->count++)
      work->candidates[work->count] =
          (Candidate){hash_state(&worker->search->hasher, arena_state(states, work->count)), work->count};
  }
  return 1;
}

/* Sorts the candidates of a slice by hash. Those with the same hash stay in order. */
static void sort_by_hash(RunWork *work) {
  /* Sorts by slightly more bits than are needed to distinguish this many. */
  int bytes = (int)(bit_length(work->count) + 9) / 8;
  for (int shift = 64 - SLICE_BITS - 8 * (bytes < 4 ? bytes : 4); shift < 64 - SLICE_BITS; shift += 8) {
    uint64_t at[257] = {0};
    for (uint64_t i = 0; i < work->count; i++) at[(work->candidates[i].hash >> shift & 255) + 1]++;
    for (int byte = 0; byte < 256; byte++) at[byte + 1] += at[byte];
    for (uint64_t i = 0; i < work->count; i++)
      work->sorting[at[work->candidates[i].hash >> shift & 255]++] = work->candidates[i];
    Candidate *sorted = work->sorting;
    work->sorting = work->candidates;
    work->candidates = sorted;
  }
  for (uint64_t i = 1; i < work->count; i++) { /* the last bits, where almost nothing is left to do */
    Candidate candidate = work->candidates[i];
    uint64_t at = i;
    for (; at && work->candidates[at - 1].hash > candidate.hash; at--) work->candidates[at] = work->candidates[at - 1];
    work->candidates[at] = candidate;
  }
}

/* Keeps the first of equal candidates, which lie next to each other. */
static void drop_equal(RunWork *work, const Arena *states) {
  uint64_t kept = 0;
  for (uint64_t i = 0; i < work->count; i++) {
    Candidate candidate = work->candidates[i];
    int is_equal = 0;
    for (uint64_t at = kept; at && !is_equal && work->candidates[at - 1].hash == candidate.hash; at--)
      is_equal = states_equal(arena_state(states, work->candidates[at - 1].index), arena_state(states, candidate.index));
    work->candidates[kept] = candidate;
    kept += !is_equal;
  }
  work->count = kept;
}

/* Keeps the candidates that no run has. */
static int drop_old(Worker *worker, const Run *runs, uint64_t run_count, unsigned slice, const Arena *states) {
  RunWork *work = &worker->runs;
  for (uint64_t i = 0; i < run_count && work->count; i++) {
    memset(work->is_old, 0, work->count);
    if (!run_look_up(&runs[i], slice, states, work, 0, work->count)) return 0;
    uint64_t kept = 0;
    for (uint64_t at = 0; at < work->count; at++) {
      work->candidates[kept] = work->candidates[at];
      kept += !work->is_old[at];
    }
    work->count = kept;
  }
  return 1;
}

/* Sets the bits of the states of a slice that are still candidates. Bits are numbered over all stretches. */
static void set_new(RunWork *work, const Stretch *stretches, uint64_t count, unsigned slice, uint64_t total,
                    uint8_t *is_new) {
  uint8_t *marks = work->is_old;
  memset(marks, 0, total);
  for (uint64_t i = 0; i < work->count; i++) marks[work->candidates[i].index] = 1;
  for (uint64_t i = 0; i < count; i++) {
    uint64_t at = stretches[i].first + stretches[i].begins[slice], end = stretches[i].first + stretches[i].begins[slice + 1];
    while (at < end) { /* other workers set other bits of the first byte and of the last one */
      uint64_t byte = at / 8;
      unsigned bits = 0;
      for (; at < end && at / 8 == byte; at++) bits |= (unsigned)*marks++ << at % 8;
      if (bits) __atomic_fetch_or(&is_new[byte], (uint8_t)bits, __ATOMIC_RELAXED);
    }
  }
}

/* Compares slices of all candidates on disk with the earlier layers. Appends the new ones to `layer`, whose end is
 * `*length`, and sets their bits in `is_new`. Adds a checksum of everything read to `*read`. */
static int resolve_stretches(Worker *worker, const Stretch *stretches, uint64_t stretch_count, const Run *runs,
                             uint64_t run_count, unsigned slice, unsigned last_slice, const Run *layer,
                             uint64_t *length, uint64_t *starts, uint64_t *counts, uint8_t *is_new, uint64_t *read) {
  RunWork *work = &worker->runs;
  Arena states;
  uint64_t gathered = 0;
  unsigned from = slice, unwritten = slice;
  for (; slice < last_slice; slice++) {
    if (!load_slice(worker, stretches, stretch_count, slice, &states)) return 0;
    uint64_t total = work->count;
    __atomic_fetch_add(read, states_sum(states.base, total), __ATOMIC_RELAXED);
    sort_by_hash(work);
    drop_equal(work, &states);
    if (!drop_old(worker, runs, run_count, slice, &states)) return 0;
    set_new(work, stretches, stretch_count, slice, total, is_new);
    counts[slice] = work->count;
    if (!run_gather_slice(work, layer, gathered, &states)) return 0;
    starts[slice] = gathered;
    gathered += run_index_bytes(layer->bits) + work->count * (sizeof(uint32_t) + layer->stride);
    if (gathered >= PIECE_BYTES || slice + 1 == last_slice) {
      if (!run_write_gathered(work, layer, gathered, unwritten, slice + 1, length, starts)) return 0;
      gathered = 0;
      unwritten = slice + 1;
    }
    drop_many(runs, run_count, &from, slice, slice + 1 == last_slice);
  }
  return 1;
}

static inline int is_bit_set(const uint8_t *bits, uint64_t at) { return bits[at / 8] >> at % 8 & 1; }

/* Copies the new candidates of a stretch; see outcrop_take_stretch. */
static uint64_t stretch_take(Worker *worker, const Stretch *stretch, const uint8_t *is_new, uint8_t *states) {
  uint64_t count = stretch_count(stretch), found = 0;
  if (!states) {
    for (uint64_t i = 0; i < count; i++) found += (uint64_t)is_bit_set(is_new, stretch->first + i);
    return found;
  }
  const uint8_t *theirs = buffer_reserve(&worker->runs.loaded, stretch_bytes(stretch) + SPARE_BYTES);
  if (!theirs || !read_all(stretch->file, (void *)theirs, stretch_bytes(stretch), stretch->at)) return UINT64_MAX;
  const uint8_t *slices = theirs + count * STATE_BYTES;
  if (states_sum(theirs, count) != stretch->sums[0] || slices_sum(slices, count) != stretch->sums[1]) return UINT64_MAX;
  uint32_t next[SLICES];
  memcpy(next, stretch->begins, sizeof next);
  for (uint64_t i = 0; i < count; i++) {
    uint64_t at = next[slices[i]]++;
    if (at >= count) return UINT64_MAX;
    if (is_bit_set(is_new, stretch->first + at))
      memcpy(states + found++ * STATE_BYTES, theirs + at * STATE_BYTES, STATE_BYTES);
  }
  return found;
}

/* --- Reading back -------------------------------------------------------------------------------------------- */

/* Returns the inverse of an odd number modulo 2^64. Each step doubles the number of correct bits. */
static uint64_t inverse(uint64_t odd) {
  uint64_t result = odd;
  for (int i = 0; i < 5; i++) result *= 2 - odd * result;
  return result;
}

/* Inverts the final bijection of hash_state. */
static uint64_t unscattered(uint64_t hash) {
  hash = (hash ^ hash >> 32) * inverse(0xD6E8FEB86659FD93ull);
  return hash ^ hash >> 32;
}

/* Writes the first word of a state, whose other bytes are there, so that it has a given hash. The hash is bijective in
 * the first word. */
static void restore_first_word(const Hasher *hasher, uint8_t *state, uint64_t hash) {
  memset(state, 0, STATE_BYTES < 8 ? STATE_BYTES : 8);
  uint64_t word = (unscattered(hash) - unscattered(hash_state(hasher, state))) * inverse(hasher->high[0]);
  memcpy(state, &word, STATE_BYTES < 8 ? STATE_BYTES : 8);
}

/* Copies the states of some levels, known modulo 65536, in a slice of a run, and their distances from level `first`.
 * Returns their number, UINT64_MAX if they cannot be read. */
static uint64_t read_layers(const Search *search, const Run *run, unsigned number, uint16_t first, uint64_t levels,
                            uint8_t *states, uint16_t *levels_after) {
  if (!run->counts[number]) return 0;
  Slice slice = run_slice(run, number);
  uint64_t found = 0;
  if (run->fetch && !(slice.tails = run->fetch(run->number, number))) return UINT64_MAX;
  for (uint64_t entry = 0; entry < slice.count; entry++) {
    const uint8_t *rest = slice.rests + entry * run->stride;
    const uint16_t after = (uint16_t)(rest_level(run, rest) - first);
    if (after >= levels) continue;
    levels_after[found] = after;
    uint8_t *state = states + found++ * STATE_BYTES;
    uint64_t hash = 0;
    memcpy(&hash, rest, HASH_REST_BYTES);
    hash |= (uint64_t)number << (64 - SLICE_BITS) | (uint64_t)slice.tags[entry] << (64 - SLICE_BITS - TAG_BITS);
    if (TAIL_BYTES)
      memcpy(state + 8, run->fetch ? slice.tails + entry * TAIL_BYTES : rest + HASH_REST_BYTES, TAIL_BYTES);
    restore_first_word(&search->hasher, state, hash);
  }
  run_drop(run, number, number);
  return found;
}

/* --- Without a RAM cache ------------------------------------------------------------------------------------- */

/* Appends all states of a batch to the arena: every successor is a candidate. */
static uint32_t candidates_enter(Worker *worker, const uint8_t *states, const uint64_t *hashes, uint32_t count,
                                 uint8_t *is_new, uint32_t *positions, int *too_far) {
  Chunk *chunk = &worker->chunk;
  uint64_t room = chunk->end - chunk->next;
  (void)hashes, (void)positions, (void)too_far;
  if (count > room) count = (uint32_t)room;
  memcpy(arena_state(&worker->search->arena, chunk->next), states, (size_t)count * STATE_BYTES);
  memset(is_new, 1, count);
  chunk->next += count;
  return count;
}

static uint32_t candidates_add(Worker *worker, const uint8_t *states, const uint64_t *hashes, uint32_t count,
                               uint8_t *is_new) {
  return add_reserved(worker, states, hashes, count, is_new, candidates_enter);
}

static const VisitedSet candidates_only = {
    .add = candidates_add,
    .position = states_position,
    .positions = states_positions,
    .bytes = states_bytes,
    .limit = states_limit,
    .can_grow = states_can_grow,
    .grow = states_grow,
    .next_filling = states_next_filling,
    .fill = states_fill,
    .grown = nothing_to_end,
    .lines = states_lines,
    .carry = states_carry,
    .forgets = 1,
    .is_tentative = 1,
};

/* Makes every successor a candidate from now on. The states of the arena must be on disk. */
EXPORT void outcrop_keep_duplicates(Search *search) { search->visited = &candidates_only; }

/* --- Bindings ------------------------------------------------------------------------------------------------ */

/* Marks states of the arena as written: a run has them. */
EXPORT void outcrop_set_known(Search *search, uint64_t begin, uint64_t end) {
  for (; begin < end && begin % 8; begin++) set_known(search, begin);
  for (; end > begin && end % 8; end--) set_known(search, end - 1);
  if (begin < end) memset(search->known + begin / 8, 255, (end - begin) / 8);
}

EXPORT int outcrop_write_stretch(Search *search, uint64_t number, uint64_t begin, uint64_t end,
                                 const Stretch *stretch) {
  return stretch_write(&search->workers[number], begin, end, stretch);
}

EXPORT int outcrop_resolve_stretches(Search *search, uint64_t number, const Stretch *stretches, uint64_t stretch_count,
                                     const Run *runs, uint64_t run_count, uint64_t begin_slice, uint64_t end_slice,
                                     const Run *layer, uint64_t *length, uint64_t *starts, uint64_t *counts,
                                     uint8_t *is_new, uint64_t *read) {
  return resolve_stretches(&search->workers[number], stretches, stretch_count, runs, run_count, (unsigned)begin_slice,
                           (unsigned)end_slice, layer, length, starts, counts, is_new, read);
}

/* Returns the number of new candidates in a stretch. With `states`, copies them there, in the order of discovery, and
 * returns UINT64_MAX if they cannot be read. */
EXPORT uint64_t outcrop_take_stretch(Search *search, uint64_t number, const Stretch *stretch, const uint8_t *is_new,
                                     uint8_t *states) {
  return stretch_take(&search->workers[number], stretch, is_new, states);
}

/* Returns the largest number of levels between a candidate and the layer that has it, since the last call. */
EXPORT uint64_t outcrop_take_oldest(Search *search) {
  uint64_t oldest = 0;
  for (uint32_t i = 0; i < search->worker_count; i++) {
    if (search->workers[i].runs.oldest > oldest) oldest = search->workers[i].runs.oldest;
    search->workers[i].runs.oldest = 0;
  }
  return oldest;
}

/* Empties the arena and clears the reason to stop, so that the search can be repeated. */
EXPORT void outcrop_restart(Search *search) {
  search->visited = &states_before_disk;
  search->lost = 0;
  search->levels = search->level_begin = search->level_end = search->cursor = search->unexpanded = 0;
  search->arena.used = search->reserved = 0;
  memset(search->table.lines, 0, search->table.line_count * LINE_BYTES);
  if (search->known) madvise(search->known, search->arena.capacity / 8 + 2, MADV_DONTNEED);
  for (uint32_t i = 0; i < search->worker_count; i++) {
    search->workers[i].chunk = (Chunk){0, 0};
    search->workers[i].gathered.count = search->workers[i].expansion.count = 0;
    search->workers[i].overflow = 0;
  }
  __atomic_store_n(&search->stop, STOP_NONE, __ATOMIC_RELAXED);
}

EXPORT uint64_t outcrop_read_layers(const Search *search, const Run *run, uint64_t slice, uint64_t first, uint64_t levels,
                                    uint8_t *states, uint16_t *levels_after) {
  return read_layers(search, run, (unsigned)slice, (uint16_t)first, levels, states, levels_after);
}
