/* Layers: what a layered search (P. Lamborn and E. A. Hansen 2008) does beside what every search past RAM does.
 *
 * When a layer does not fit into RAM, its candidates wait on disk, in stretches that are ordered by slices. When the
 * layer is complete, each slice of all stretches is read, sorted, and compared with the layers before; what is left is
 * written as a slice of the new layer. Then the stretches are read once more, for what is to be expanded next, in the
 * order in which it was met. */

/* Candidates on disk: so many as RAM held at once. An entry is the place of a candidate in the order in which they
 * were met, counted from the first of the stretch, and its state. */
typedef struct {
  int64_t file;
  uint64_t first;         /* the place of its first candidate */
  const uint64_t *starts; /* of each slice, in bytes */
  const uint64_t *counts; /* of each slice, in entries */
} Stretch;

enum { PLACE_BYTES = 4, STRETCH_ENTRY_BYTES = PLACE_BYTES + STATE_BYTES };

/* Writes slices of the candidates from `begin` to `end`, as they come: `*length` is where the file ends. */
static int stretch_write(Worker *worker, uint64_t begin, uint64_t end, unsigned slice, unsigned last_slice, int64_t file,
                         uint64_t *length, uint64_t *starts, uint64_t *counts) {
  RunWork *work = &worker->runs;
  const Arena *arena = &worker->search->arena;
  while (slice < last_slice) {
    uint64_t gathered = 0, first = slice;
    for (; slice < last_slice && gathered < PIECE_BYTES; slice++) {
      if (!collect_slice(worker, begin, end, slice, 0)) return 0;
      uint8_t *entries = buffer_extend(&work->loaded, gathered, work->count * STRETCH_ENTRY_BYTES + 1);
      if (!entries) return 0;
      for (uint64_t i = 0; i < work->count; i++, entries += STRETCH_ENTRY_BYTES) {
        uint32_t place = (uint32_t)(work->candidates[i].index - begin);
        memcpy(entries, &place, PLACE_BYTES);
        memcpy(entries + PLACE_BYTES, arena_state(arena, work->candidates[i].index), STATE_BYTES);
      }
      counts[slice] = work->count;
      starts[slice] = gathered;
      gathered += work->count * STRETCH_ENTRY_BYTES;
    }
    uint64_t at = __atomic_fetch_add(length, gathered, __ATOMIC_RELAXED);
    for (; first < slice; first++) starts[first] += at;
    if (!write_all(file, work->loaded.bytes, gathered, at)) return 0;
  }
  return 1;
}

/* --- Resolving ----------------------------------------------------------------------------------------------- */

/* A slice of all candidates of a layer. */
typedef struct {
  Arena states; /* in the order of the stretches */
  uint64_t *places;
  uint8_t *entries;
} Loaded;

/* Room for so many candidates, and for the entries of so many at once. */
static int loaded_reserve(RunWork *work, uint64_t count, uint64_t most, Loaded *loaded) {
  size_t places = count * sizeof(uint64_t), states = count * STATE_BYTES + SPARE_BYTES;
  uint8_t *bytes = buffer_reserve(&work->loaded, places + states + most * STRETCH_ENTRY_BYTES + 1);
  work->count = 0;
  if (!bytes || !reserve_candidates(work, count)) return 0;
  memset(&loaded->states, 0, sizeof loaded->states);
  loaded->places = (uint64_t *)(void *)bytes;
  loaded->states.base = bytes + places;
  loaded->entries = bytes + places + states;
  return 1;
}

static int load_slice(Worker *worker, const Stretch *stretches, uint64_t stretch_count, unsigned slice, Loaded *loaded) {
  RunWork *work = &worker->runs;
  uint64_t total = 0, most = 0;
  for (uint64_t i = 0; i < stretch_count; i++) {
    total += stretches[i].counts[slice];
    most = stretches[i].counts[slice] > most ? stretches[i].counts[slice] : most;
  }
  if (!loaded_reserve(work, total, most, loaded)) return 0;
  for (uint64_t i = 0; i < stretch_count; i++) {
    uint64_t count = stretches[i].counts[slice];
    if (!read_all(stretches[i].file, loaded->entries, count * STRETCH_ENTRY_BYTES, stretches[i].starts[slice])) return 0;
    for (uint64_t entry = 0; entry < count; entry++) {
      const uint8_t *bytes = loaded->entries + entry * STRETCH_ENTRY_BYTES;
      uint8_t *state = arena_state(&loaded->states, work->count);
      uint32_t place;
      memcpy(&place, bytes, PLACE_BYTES);
      memcpy(state, bytes + PLACE_BYTES, STATE_BYTES);
      loaded->places[work->count] = stretches[i].first + place;
      work->candidates[work->count] = (Candidate){hash_state(&worker->search->hasher, state), work->count};
      work->count++;
    }
  }
  return 1;
}

/* Sorts the candidates of a slice by hash; those with the same hash stay in order. */
static void sort_by_hash(RunWork *work) {
  for (int shift = 32; shift < 56; shift += 8) {
    uint64_t at[257] = {0};
    for (uint64_t i = 0; i < work->count; i++) at[(work->candidates[i].hash >> shift & 255) + 1]++;
    for (int byte = 0; byte < 256; byte++) at[byte + 1] += at[byte];
    for (uint64_t i = 0; i < work->count; i++)
      work->unsorted[at[work->candidates[i].hash >> shift & 255]++] = work->candidates[i];
    Candidate *sorted = work->unsorted;
    work->unsorted = work->candidates;
    work->candidates = sorted;
  }
  for (uint64_t i = 1; i < work->count; i++) { /* the last bits: next to nothing is left to do */
    Candidate candidate = work->candidates[i];
    uint64_t at = i;
    for (; at && work->candidates[at - 1].hash > candidate.hash; at--) work->candidates[at] = work->candidates[at - 1];
    work->candidates[at] = candidate;
  }
}

/* Keeps of equal candidates, which lie next to each other, the one met first. */
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

/* Keeps those candidates that no run has. */
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

/* Compares slices of all candidates on disk with the layers before. What is new is written to `layer`, to whose end
 * `*length` points, and has its bit set in `is_new`, by the place of each candidate. */
static int resolve_stretches(Worker *worker, const Stretch *stretches, uint64_t stretch_count, const Run *runs,
                             uint64_t run_count, unsigned slice, unsigned last_slice, const Run *layer,
                             uint64_t *length, uint64_t *starts, uint64_t *counts, uint8_t *is_new) {
  RunWork *work = &worker->runs;
  Loaded loaded;
  uint64_t gathered = 0;
  unsigned from = slice, unwritten = slice;
  for (; slice < last_slice; slice++) {
    if (!load_slice(worker, stretches, stretch_count, slice, &loaded)) return 0;
    sort_by_hash(work);
    drop_equal(work, &loaded.states);
    if (!drop_old(worker, runs, run_count, slice, &loaded.states)) return 0;
    for (uint64_t i = 0; i < work->count; i++) {
      uint64_t place = loaded.places[work->candidates[i].index];
      __atomic_fetch_or(&is_new[place / 8], (uint8_t)(1u << place % 8), __ATOMIC_RELAXED);
    }
    counts[slice] = work->count;
    if (!run_gather_slice(work, layer, gathered, &loaded.states)) return 0;
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

/* The new ones of the `count` candidates of a stretch; see outcrop_take_stretch. */
static uint64_t stretch_take(const Stretch *stretch, uint64_t count, const uint8_t *is_new, uint8_t *states) {
  enum { AT_ONCE = 4096 };
  uint64_t total = 0;
  uint32_t *before = malloc(((count >> 6) + 1) * sizeof *before); /* of each 64 candidates, how many new ones */
  uint8_t *entries = malloc(AT_ONCE * STRETCH_ENTRY_BYTES);
  int complete = before && entries;
  for (uint64_t i = 0; complete && i < count; i++) {
    if (i % 64 == 0) before[i >> 6] = (uint32_t)total;
    total += is_new[(stretch->first + i) / 8] >> (stretch->first + i) % 8 & 1;
  }
  for (uint64_t done = 0; complete && states && done < count; done += AT_ONCE) {
    uint64_t batch = count - done < AT_ONCE ? count - done : AT_ONCE;
    complete = read_all(stretch->file, entries, batch * STRETCH_ENTRY_BYTES, done * STRETCH_ENTRY_BYTES);
    for (uint64_t i = 0; complete && i < batch; i++) {
      uint32_t place;
      memcpy(&place, entries + i * STRETCH_ENTRY_BYTES, PLACE_BYTES);
      complete = place < count;
      if (!complete || !(is_new[(stretch->first + place) / 8] >> (stretch->first + place) % 8 & 1)) continue;
      uint64_t rank = before[place >> 6];
      for (uint64_t at = stretch->first + (place & ~63u); at < stretch->first + place; at++)
        rank += is_new[at / 8] >> at % 8 & 1;
      memcpy(states + rank * STATE_BYTES, entries + i * STRETCH_ENTRY_BYTES + PLACE_BYTES, STATE_BYTES);
    }
  }
  free(before);
  free(entries);
  return complete ? total : UINT64_MAX;
}

/* --- Reading back -------------------------------------------------------------------------------------------- */

/* The number whose product with an odd one is 1. Each step doubles the bits that are right. */
static uint64_t inverse(uint64_t odd) {
  uint64_t result = odd;
  for (int i = 0; i < 5; i++) result *= 2 - odd * result;
  return result;
}

/* What hash_state scatters at its end. */
static uint64_t unscattered(uint64_t hash) {
  hash = (hash ^ hash >> 32) * inverse(0xD6E8FEB86659FD93ull);
  return hash ^ hash >> 32;
}

/* Writes the first word of a state, whose other bytes are there, so that it has a hash. The search is reversible. */
static void restore_first_word(const Hasher *hasher, uint8_t *state, uint64_t hash) {
  memset(state, 0, STATE_BYTES < 8 ? STATE_BYTES : 8);
  uint64_t word = (unscattered(hash) - unscattered(hash_state(hasher, state))) * inverse(hasher->high[0]);
  memcpy(state, &word, STATE_BYTES < 8 ? STATE_BYTES : 8);
}

/* The states of one level, known modulo 65536, in a slice of a run. Gives how many, UINT64_MAX when they cannot be
 * read. */
static uint64_t read_layer(const Search *search, const Run *run, unsigned number, uint16_t level, uint8_t *states) {
  if (!run->counts[number]) return 0;
  Slice slice = run_slice(run, number);
  uint64_t found = 0;
  if (run->fetch && !(slice.tails = run->fetch(run->number, number))) return UINT64_MAX;
  for (uint64_t entry = 0; entry < slice.count; entry++) {
    const uint8_t *rest = slice.rests + entry * run->stride;
    if (rest_level(run, rest) != level) continue;
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

/* --- What Python binds --------------------------------------------------------------------------------------- */

/* States of the arena need not be written any more: a run has them. */
EXPORT void outcrop_set_known(Search *search, uint64_t begin, uint64_t end) {
  for (; begin < end && begin % 8; begin++) set_known(search, begin);
  for (; end > begin && end % 8; end--) set_known(search, end - 1);
  if (begin < end) memset(search->known + begin / 8, 255, (end - begin) / 8);
}

EXPORT int outcrop_write_stretch(Search *search, uint64_t number, uint64_t begin, uint64_t end, uint64_t begin_slice,
                                 uint64_t end_slice, int64_t file, uint64_t *length, uint64_t *starts,
                                 uint64_t *counts) {
  return stretch_write(&search->workers[number], begin, end, (unsigned)begin_slice, (unsigned)end_slice, file, length,
                       starts, counts);
}

EXPORT int outcrop_resolve_stretches(Search *search, uint64_t number, const Stretch *stretches, uint64_t stretch_count,
                                     const Run *runs, uint64_t run_count, uint64_t begin_slice, uint64_t end_slice,
                                     const Run *layer, uint64_t *length, uint64_t *starts, uint64_t *counts,
                                     uint8_t *is_new) {
  return resolve_stretches(&search->workers[number], stretches, stretch_count, runs, run_count, (unsigned)begin_slice,
                           (unsigned)end_slice, layer, length, starts, counts, is_new);
}

/* How many candidates of a stretch are new. With `states`, copies these there, in the order in which they were met;
 * gives UINT64_MAX when they cannot be read. */
EXPORT uint64_t outcrop_take_stretch(const Stretch *stretch, uint64_t count, const uint8_t *is_new, uint8_t *states) {
  return stretch_take(stretch, count, is_new, states);
}

/* How many levels lay at most between a candidate and the layer in which it was found, since the last call. */
EXPORT uint64_t outcrop_take_oldest(Search *search) {
  uint64_t oldest = 0;
  for (uint32_t i = 0; i < search->worker_count; i++) {
    if (search->workers[i].runs.oldest > oldest) oldest = search->workers[i].runs.oldest;
    search->workers[i].runs.oldest = 0;
  }
  return oldest;
}

/* Empties the arena and forgets why the search had to stop, so that it can be done again. */
EXPORT void outcrop_restart(Search *search) {
  search->defers = search->lost = 0;
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

EXPORT uint64_t outcrop_read_layer(const Search *search, const Run *run, uint64_t slice, uint64_t level,
                                   uint8_t *states) {
  return read_layer(search, run, (unsigned)slice, (uint16_t)level, states);
}
