/* Runs: visited states on disk, ordered by hash as far as it takes to find them again, and exact.
 *
 * The hash of a reversible search and the bytes of a state past the eighth determine the state. So a run keeps them
 * instead of it, in columns: the upper bits of the hash are where an entry lies (its slice, and in that its bucket), the
 * next 32 are its tag, the rest of the hash and the bytes past the eighth are its rest. Looking a state up reads the
 * tags of its bucket, and rests only of those that match: almost always because the state is there.
 *
 * A slice is a stretch of the file: where each bucket begins, then all tags, then all rests. Buckets hold some dozens of
 * entries in no order. Slices, and groups of buckets in them, are dealt with one by one, which bounds the memory. */

enum { SLICE_BITS = 8, LEAST_BUCKET_BITS = 16, GROUP_BUCKETS = 512 };
#define REST_BYTES (2 + (STATE_BYTES > 8 ? STATE_BYTES - 8 : 0))

typedef struct {
  int64_t file;
  uint64_t bits;          /* of the number of a bucket, those of its slice included */
  const uint64_t *starts; /* of each slice, in bytes */
  const uint64_t *counts; /* of each slice, in entries */
} Run;

/* A state of the arena, to be looked up or written. */
typedef struct {
  uint64_t hash;
  uint64_t index;
} Candidate;

typedef struct {
  void *bytes;
  size_t room;
} Buffer;

/* What a worker has for reading and writing runs. */
typedef struct {
  Candidate *candidates; /* of a slice, sorted by hash */
  uint8_t *is_old;       /* of each candidate, whether a run has it */
  uint64_t count;
  uint64_t room;
  Buffer index, tags, rests, places, out_tags, out_rests;
  uint64_t read, written; /* bytes */
} RunWork;

/* A group of buckets, read from a run. `index` counts from the first entry of the slice. */
typedef struct {
  const uint32_t *index;
  uint64_t entries;
  uint64_t tags_at, rests_at; /* where in the file its first entry lies */
} Group;

static void *buffer_reserve(Buffer *buffer, size_t bytes) {
  if (bytes > buffer->room) {
    free(buffer->bytes);
    buffer->room = bytes + bytes / 4;
    buffer->bytes = malloc(buffer->room);
    if (!buffer->bytes) buffer->room = 0;
  }
  return buffer->bytes;
}

static void run_work_close(RunWork *work) {
  free(work->candidates);
  free(work->is_old);
  Buffer *buffers[] = {&work->index, &work->tags, &work->rests, &work->places, &work->out_tags,
                       &work->out_rests};
  for (int i = 0; i < 6; i++) free(buffers[i]->bytes);
}

static int read_all(RunWork *work, int64_t file, void *bytes, size_t count, uint64_t at) {
  work->read += count;
  for (size_t done = 0; done < count;) {
    ssize_t part = pread((int)file, (uint8_t *)bytes + done, count - done, (off_t)(at + done));
    if (part <= 0) return 0;
    done += (size_t)part;
  }
  return 1;
}

static int write_all(RunWork *work, int64_t file, const void *bytes, size_t count, uint64_t at) {
  work->written += count;
  for (size_t done = 0; done < count;) {
    ssize_t part = pwrite((int)file, (const uint8_t *)bytes + done, count - done, (off_t)(at + done));
    if (part <= 0) return 0;
    done += (size_t)part;
  }
  return 1;
}

static inline uint64_t run_buckets(uint64_t bits) { return (uint64_t)1 << (bits - SLICE_BITS); }
static inline uint64_t run_index_bytes(uint64_t bits) { return (run_buckets(bits) + 1) * sizeof(uint32_t); }
static inline uint64_t bucket_of(uint64_t hash, uint64_t bits) { return hash << SLICE_BITS >> (64 - bits + SLICE_BITS); }
static inline uint32_t tag_of(uint64_t hash) { return (uint32_t)(hash >> LEAST_BUCKET_BITS); }

static inline void rest_write(uint8_t *rest, const uint8_t *state, uint64_t hash) {
  memcpy(rest, &hash, 2);
  if (STATE_BYTES > 8) memcpy(rest + 2, state + 8, REST_BYTES - 2);
}

/* Reads where the buckets of a group begin, into `index`; gives 0 when the file is not what was written. */
static int group_open(RunWork *work, const Run *run, unsigned slice, uint64_t first, uint64_t buckets, uint32_t *index,
                      Group *group) {
  uint64_t start = run->starts[slice], count = run->counts[slice];
  if (!read_all(work, run->file, index, (buckets + 1) * sizeof *index, start + first * sizeof *index)) return 0;
  for (uint64_t bucket = 0; bucket < buckets; bucket++)
    if (index[bucket] > index[bucket + 1]) return 0;
  if (index[buckets] > count) return 0;
  uint64_t tags = start + run_index_bytes(run->bits), rests = tags + count * sizeof(uint32_t);
  *group = (Group){index, index[buckets] - index[0], tags + index[0] * sizeof(uint32_t),
                   rests + (uint64_t)index[0] * REST_BYTES};
  return 1;
}

/* --- Looking up ---------------------------------------------------------------------------------------------- */

/* Candidates for which it pays to read what they need one by one: a call costs as much as copying so many bytes. */
enum { BYTES_A_CALL = 4096 };

/* The first tag from `at` on that is equal, `end` when there is none. There are eight spare tags behind the last. */
static inline uint64_t next_match(const uint32_t *tags, uint64_t at, uint64_t end, uint32_t tag) {
#if defined(__AVX2__)
  Eight wanted = (Eight){0} + tag, eight;
  for (; at < end; at += 8) {
    memcpy(&eight, tags + at, sizeof eight);
    uint32_t match = lanes_equal(eight, wanted);
    if (match) {
      at += (unsigned)__builtin_ctz(match);
      return at < end ? at : end;
    }
  }
  return end;
#else
  while (at < end && tags[at] != tag) at++;
  return at;
#endif
}

/* Marks as old those of some candidates, all of one group, that the run has. */
static int group_look_up(RunWork *work, const Run *run, const Group *group, uint64_t first, const Arena *arena,
                         const Candidate *candidates, uint8_t *is_old, uint64_t count) {
  uint64_t base = group->index[0];
  uint32_t *tags = buffer_reserve(&work->tags, (group->entries + 8) * sizeof *tags);
  uint8_t *rests = buffer_reserve(&work->rests, group->entries * REST_BYTES + 1), rest[REST_BYTES];
  if (!tags || !rests) return 0;
  int has_tags = count * BYTES_A_CALL > group->entries * sizeof *tags, has_rests = 0;
  if (has_tags && !read_all(work, run->file, tags, group->entries * sizeof *tags, group->tags_at)) return 0;
  uint64_t single_rests = 0;
  for (uint64_t i = 0; i < count; i++) {
    if (is_old[i]) continue;
    uint64_t hash = candidates[i].hash, bucket = bucket_of(hash, run->bits) - first;
    uint64_t begin = group->index[bucket] - base, end = group->index[bucket + 1] - base;
    if (!has_tags &&
        !read_all(work, run->file, tags + begin, (end - begin) * sizeof *tags, group->tags_at + begin * sizeof *tags))
      return 0;
    rest_write(rest, arena_state(arena, candidates[i].index), hash);
    for (uint64_t at = begin; (at = next_match(tags, at, end, tag_of(hash))) < end; at++) {
      if (!has_rests && ++single_rests * BYTES_A_CALL > group->entries * REST_BYTES) {
        if (!read_all(work, run->file, rests, group->entries * REST_BYTES, group->rests_at)) return 0;
        has_rests = 1;
      }
      uint8_t *its_rest = rests + at * REST_BYTES;
      if (!has_rests && !read_all(work, run->file, its_rest, REST_BYTES, group->rests_at + at * REST_BYTES)) return 0;
      if (memcmp(its_rest, rest, REST_BYTES) == 0) {
        is_old[i] = 1;
        break;
      }
    }
  }
  return 1;
}

/* The same for the candidates of one slice, sorted by hash. */
static int run_look_up(RunWork *work, const Run *run, unsigned slice, const Arena *arena, const Candidate *candidates,
                       uint8_t *is_old, uint64_t count) {
  uint64_t buckets = run_buckets(run->bits), group_buckets = buckets < GROUP_BUCKETS ? buckets : GROUP_BUCKETS;
  uint32_t *index = buffer_reserve(&work->index, (group_buckets + 1) * sizeof *index);
  if (!index) return 0;
  if (!run->counts[slice]) return 1;
  for (uint64_t at = 0, end; at < count; at = end) {
    uint64_t number = bucket_of(candidates[at].hash, run->bits) / group_buckets;
    for (end = at + 1; end < count && bucket_of(candidates[end].hash, run->bits) / group_buckets == number;) end++;
    Group group;
    uint64_t first = number * group_buckets;
    if (!group_open(work, run, slice, first, group_buckets, index, &group)) return 0;
    if (group.entries && !group_look_up(work, run, &group, first, arena, candidates + at, is_old + at, end - at))
      return 0;
  }
  return 1;
}

/* --- Writing ------------------------------------------------------------------------------------------------- */

/* Writes the candidates of a slice, at `start`. */
static int run_write_slice(RunWork *work, int64_t file, uint64_t bits, uint64_t start, const Arena *arena) {
  uint64_t buckets = run_buckets(bits), count = work->count;
  uint32_t *index = buffer_reserve(&work->index, run_index_bytes(bits));
  uint32_t *tags = buffer_reserve(&work->tags, count * sizeof *tags + 1);
  uint8_t *rests = buffer_reserve(&work->rests, count * REST_BYTES + 1);
  if (!index || !tags || !rests) return 0;
  uint64_t bucket = 0;
  for (uint64_t i = 0; i < count; i++) {
    uint64_t hash = work->candidates[i].hash;
    for (; bucket <= bucket_of(hash, bits); bucket++) index[bucket] = (uint32_t)i;
    tags[i] = tag_of(hash);
    rest_write(rests + i * REST_BYTES, arena_state(arena, work->candidates[i].index), hash);
  }
  for (; bucket <= buckets; bucket++) index[bucket] = (uint32_t)count;
  uint64_t tags_at = start + run_index_bytes(bits);
  return write_all(work, file, index, run_index_bytes(bits), start) &&
         write_all(work, file, tags, count * sizeof *tags, tags_at) &&
         write_all(work, file, rests, count * REST_BYTES, tags_at + count * sizeof *tags);
}

/* --- Merging ------------------------------------------------------------------------------------------------- */

enum { MOST_MERGED = 16 };

/* Reads the entries of a group to the `at`-th place of the buffers, and says in which bucket of the merged run each
 * belongs: buckets there are finer by so many bits, which come from the tag. */
static int group_read(RunWork *work, const Run *run, const Group *group, uint64_t buckets, unsigned finer, uint64_t at) {
  uint32_t *tags = (uint32_t *)work->tags.bytes + at, base = group->index[0];
  uint16_t *places = (uint16_t *)work->places.bytes + at;
  uint8_t *rests = (uint8_t *)work->rests.bytes + at * REST_BYTES;
  if (!read_all(work, run->file, tags, group->entries * sizeof *tags, group->tags_at)) return 0;
  if (!read_all(work, run->file, rests, group->entries * REST_BYTES, group->rests_at)) return 0;
  for (uint64_t bucket = 0; bucket < buckets; bucket++)
    for (uint32_t i = group->index[bucket] - base; i < group->index[bucket + 1] - base; i++)
      places[i] = (uint16_t)(bucket << finer |
                             (finer ? tags[i] << (run->bits - LEAST_BUCKET_BITS) >> (32 - finer) : 0));
  return 1;
}

/* Puts what was read into the order of its places, and where each bucket begins into `index`. */
static int group_order(RunWork *work, uint64_t count, uint64_t buckets, uint32_t *index) {
  const uint32_t *tags = work->tags.bytes;
  const uint16_t *places = work->places.bytes;
  const uint8_t *rests = work->rests.bytes;
  uint32_t *out_tags = buffer_reserve(&work->out_tags, count * sizeof *tags + 1), next[GROUP_BUCKETS + 1] = {0};
  uint8_t *out_rests = buffer_reserve(&work->out_rests, count * REST_BYTES + 1);
  if (!out_tags || !out_rests) return 0;
  for (uint64_t i = 0; i < count; i++) next[places[i] + 1]++;
  for (uint64_t bucket = 0; bucket < buckets; bucket++) next[bucket + 1] += next[bucket];
  for (uint64_t bucket = 0; bucket <= buckets; bucket++) index[bucket] = next[bucket];
  for (uint64_t i = 0; i < count; i++) {
    uint32_t to = next[places[i]]++;
    out_tags[to] = tags[i];
    memcpy(out_rests + (uint64_t)to * REST_BYTES, rests + i * REST_BYTES, REST_BYTES);
  }
  return 1;
}

/* Writes a slice of `merged`, whose starts and counts are known, from that of some runs with no finer buckets. */
static int run_merge_slice(RunWork *work, const Run *runs, uint64_t run_count, const Run *merged, unsigned slice) {
  uint64_t buckets = run_buckets(merged->bits), group_buckets = buckets < GROUP_BUCKETS ? buckets : GROUP_BUCKETS;
  uint64_t start = merged->starts[slice], tags_at = start + run_index_bytes(merged->bits), done = 0;
  uint64_t rests_at = tags_at + merged->counts[slice] * sizeof(uint32_t);
  uint32_t *index = buffer_reserve(&work->index, (run_count + 1) * (group_buckets + 1) * sizeof *index);
  Group groups[MOST_MERGED];
  if (!index || run_count > MOST_MERGED) return 0;
  for (uint64_t first = 0; first < buckets; first += group_buckets) {
    uint64_t count = 0, at = 0;
    for (uint64_t i = 0; i < run_count; i++) {
      unsigned finer = (unsigned)(merged->bits - runs[i].bits);
      if (!group_open(work, &runs[i], slice, first >> finer, group_buckets >> finer,
                      index + (i + 1) * (group_buckets + 1), &groups[i]))
        return 0;
      count += groups[i].entries;
    }
    if (!buffer_reserve(&work->tags, count * sizeof(uint32_t) + 1) || !buffer_reserve(&work->places, count * 2 + 1) ||
        !buffer_reserve(&work->rests, count * REST_BYTES + 1))
      return 0;
    for (uint64_t i = 0; i < run_count; at += groups[i].entries, i++) {
      unsigned finer = (unsigned)(merged->bits - runs[i].bits);
      if (!group_read(work, &runs[i], &groups[i], group_buckets >> finer, finer, at)) return 0;
    }
    if (!group_order(work, count, group_buckets, index)) return 0;
    for (uint64_t bucket = 0; bucket <= group_buckets; bucket++) index[bucket] += (uint32_t)done;
    if (!write_all(work, merged->file, index, (group_buckets + 1) * sizeof *index, start + first * sizeof *index) ||
        !write_all(work, merged->file, work->out_tags.bytes, count * sizeof(uint32_t), tags_at) ||
        !write_all(work, merged->file, work->out_rests.bytes, count * REST_BYTES, rests_at))
      return 0;
    done += count;
    tags_at += count * sizeof(uint32_t);
    rests_at += count * REST_BYTES;
  }
  return done == merged->counts[slice];
}
