/* Sorted runs: visited states on disk, sorted by hash as far as lookups need it. Exact.
 *
 * The hash of a search past RAM is bijective in the first word of a state. The hash and the bytes past the eighth
 * therefore determine the state, and a run keeps them instead of it, in columns. The first byte of the hash selects the
 * slice of an entry, and the next 32 bits are its tag, whose first bits select the bucket in the slice. The rest of an
 * entry is the remainder of the hash and the bytes past the eighth. A lookup reads the tags of a bucket, and rests only
 * if a tag matches: almost always because the state is there.
 *
 * A slice is a range of the file: the start of each bucket, then all tags, then all rests. Buckets hold a few
 * entries in no order. Files are mapped for reading, so that only what is accessed is read, and nothing is copied.
 * It is unmapped soon afterwards, because it would count as memory. Files are written with calls. */

#include "abi_disk.h"

enum { SLICE_BITS = 8, TAG_BITS = 32, HASH_REST_BYTES = 3, LEVEL_BYTES = 2, MOST_MERGED = 2 << 20 };
#define TAIL_BYTES (STATE_BYTES > 8 ? STATE_BYTES - 8 : 0)
#define REST_BYTES (HASH_REST_BYTES + TAIL_BYTES)

/* A state of the arena, to be looked up or written. */
typedef struct {
  uint64_t hash;
  uint64_t index;
} Candidate;

/* The buffers of a worker for reading and writing runs. */
typedef struct {
  Candidate *candidates; /* candidates of a slice, nearly in the order of their hashes */
  Candidate *sorting;    /* space of the same size, for sorting */
  uint8_t *is_old; /* whether a run has each candidate */
  uint64_t count;
  uint64_t room;
  uint64_t found;  /* number of candidates found in a run */
  uint64_t oldest; /* largest number of levels between a candidate and the entry found */
  Buffer index, tags, rests, loaded, slices;
  Output output;
} RunWork;

/* Bytes that a worker may keep mapped during lookups. One lookup maps a piece around each page that it touches: of the
 * index, the tags and the rests. Large slices do not stay mapped, because there may be dozens of runs. */
enum { MOST_MAPPED = 4 << 20, MOST_MAPPED_BY_ONE = 3 * PIECE_BYTES, LARGE_SLICE = MOST_MAPPED / 8 };

/* If a slice has more bytes than this for each state looked up in it, reading is cheaper than mapping. */
enum { SPARSE_BYTES = 1 << 16 };

/* A slice of a run. `index` counts from its first entry. */
typedef struct {
  const uint32_t *index;
  const uint32_t *tags;
  const uint8_t *rests;
  const uint8_t *tails; /* that were fetched */
  uint64_t count;
  uint64_t bytes;
} Slice;

static void run_work_close(RunWork *work) {
  free(work->candidates);
  free(work->sorting);
  free(work->is_old);
  free(work->index.bytes);
  free(work->tags.bytes);
  free(work->rests.bytes);
  free(work->loaded.bytes);
  free(work->slices.bytes);
  free(work->output.bytes);
}

static inline uint64_t run_buckets(uint64_t bits) { return (uint64_t)1 << (bits - SLICE_BITS); }
static inline uint64_t run_index_bytes(uint64_t bits) { return (run_buckets(bits) + 1) * sizeof(uint32_t); }
static inline uint32_t tag_of(uint64_t hash) { return (uint32_t)(hash >> (64 - SLICE_BITS - TAG_BITS)); }
static inline uint32_t bucket_of(uint32_t tag, uint64_t bits) { return tag >> (TAG_BITS + SLICE_BITS - bits); }

static inline void rest_write(uint8_t *rest, const uint8_t *state, uint64_t hash) {
  memcpy(rest, &hash, HASH_REST_BYTES);
  if (STATE_BYTES > 8) memcpy(rest + HASH_REST_BYTES, state + 8, REST_BYTES - HASH_REST_BYTES);
}

static Slice run_slice(const Run *run, unsigned slice) {
  uint64_t count = run->counts[slice], index_bytes = run_index_bytes(run->bits);
  void *begin = run->bytes + run->starts[slice], *tags = run->bytes + run->starts[slice] + index_bytes;
  return (Slice){begin, tags, run->bytes + run->starts[slice] + index_bytes + count * sizeof(uint32_t), NULL, count,
                 index_bytes + count * (sizeof(uint32_t) + run->stride)};
}

/* Unmaps part of a run; reading it again maps it again. Includes what the system may have mapped on both sides: it maps
 * more than is asked for, at most a huge page. */
static void run_drop(const Run *run, unsigned first_slice, unsigned last_slice) {
  uint64_t begin = UINT64_MAX, end = 0, page = 4096, around = HUGE_PAGE;
  for (unsigned number = first_slice; number <= last_slice; number++) {
    uint64_t at = run->starts[number], past = at + run_slice(run, number).bytes;
    begin = at < begin ? at : begin;
    end = past > end ? past : end;
  }
  begin = begin < around ? 0 : (begin - around) / page * page;
  end = end + around < run->length ? end + around : run->length;
  madvise(run->bytes + begin, end - begin, MADV_DONTNEED);
}

/* Unmaps slices `first` to `last` of several runs. */
static void drop_runs(const Run *runs, uint64_t run_count, unsigned first, unsigned last) {
  for (uint64_t i = 0; i < run_count; i++) run_drop(&runs[i], first, last);
}

/* Unmaps slices `*first` to `last` of several runs, all of which may be mapped, once they are large. */
static void drop_many(const Run *runs, uint64_t run_count, unsigned *first, unsigned last, int is_last) {
  uint64_t mapped = 0;
  for (uint64_t i = 0; i < run_count; i++)
    for (unsigned slice = *first; slice <= last; slice++) mapped += run_slice(&runs[i], slice).bytes;
  if (mapped < MOST_MAPPED && !is_last) return;
  drop_runs(runs, run_count, *first, last);
  *first = last + 1;
}

/* --- Lookup -------------------------------------------------------------------------------------------------- */

/* Returns which of up to sixteen tags are equal, a bit each. Always compares sixteen, without a branch: other data
 * follow the tags of a slice in the file, and are masked. */
static inline uint32_t match_tags(const uint32_t *tags, uint64_t count, uint32_t tag) {
  uint32_t match = 0;
#if defined(__AVX2__)
  Eight wanted = (Eight){0} + tag, low, high;
  memcpy(&low, tags, sizeof low);
  memcpy(&high, tags + 8, sizeof high);
  match = lanes_equal(low, wanted) | lanes_equal(high, wanted) << 8;
#else
  for (int i = 0; i < 16; i++) match |= (uint32_t)(tags[i] == tag) << i;
#endif
  return count >= 16 ? match : match & ((1u << count) - 1);
}

/* An entry whose tag is that of a candidate. */
typedef struct {
  uint64_t candidate;
  uint64_t entry;
} Match;

/* Returns whether an entry, whose rest is `theirs`, is that of a state; -1 if its tail cannot be fetched. */
static inline int is_entry(const Run *run, unsigned number, Slice *slice, uint64_t entry, const uint8_t *theirs,
                           const uint8_t *state, uint64_t hash) {
  uint8_t rest[REST_BYTES];
  rest_write(rest, state, hash);
  if (!run->fetch) return memcmp(theirs, rest, REST_BYTES) == 0;
  if (memcmp(theirs, rest, HASH_REST_BYTES) != 0) return 0;
  if (!slice->tails) slice->tails = run->fetch(run->number, number);
  if (!slice->tails) return -1;
  return memcmp(slice->tails + entry * TAIL_BYTES, rest + HASH_REST_BYTES, TAIL_BYTES) == 0;
}

/* Returns the level of an entry, modulo 65536. */
static inline uint16_t rest_level(const Run *run, const uint8_t *rest) {
  uint16_t level;
  memcpy(&level, rest + run->stride - LEVEL_BYTES, LEVEL_BYTES);
  return level;
}

static int match_rest(const Run *run, unsigned number, Slice *slice, Match match, const uint8_t *theirs,
                      const Arena *arena, RunWork *work, uint64_t first) {
  const Candidate *candidate = &work->candidates[first + match.candidate];
  int equal = is_entry(run, number, slice, match.entry, theirs, arena_state(arena, candidate->index), candidate->hash);
  if (equal != 1) return equal == 0;
  work->is_old[first + match.candidate] = 1;
  work->found++;
  if (run->stride == REST_BYTES && !run->fetch) return 1;
  /* The level is known modulo 65536, and is at most `newest`. */
  uint64_t age = run->level - run->newest + (uint16_t)(run->newest - rest_level(run, theirs));
  if (age > work->oldest) work->oldest = age;
  return 1;
}

static int match_waiting(const Run *run, unsigned number, Slice *slice, Match match, const Arena *arena, RunWork *work,
                         uint64_t first) {
  return match_rest(run, number, slice, match, slice->rests + match.entry * run->stride, arena, work, first);
}

/* Does the work of run_look_up for a few candidates, by reading what each one needs. */
static int run_look_up_sparse(const Run *run, unsigned number, const Arena *arena, RunWork *work, uint64_t first,
                              uint64_t count) {
  Slice slice = run_slice(run, number);
  const uint64_t start = run->starts[number], tags_at = start + run_index_bytes(run->bits);
  const uint64_t rests_at = tags_at + slice.count * sizeof(uint32_t);
  uint8_t *rest = buffer_reserve(&work->rests, run->stride);
  if (!rest) return 0;
  for (uint64_t i = 0; i < count; i++) {
    uint32_t tag = tag_of(work->candidates[first + i].hash), bounds[2], tags[16];
    if (!read_all(run->file, bounds, sizeof bounds, start + bucket_of(tag, run->bits) * sizeof(uint32_t))) return 0;
    if (bounds[0] > bounds[1] || bounds[1] > slice.count) return 0;
    for (uint32_t begin = bounds[0]; begin < bounds[1]; begin += 16) {
      uint32_t some = bounds[1] - begin < 16 ? bounds[1] - begin : 16;
      if (!read_all(run->file, tags, some * sizeof *tags, tags_at + begin * sizeof *tags)) return 0;
      for (uint32_t at = 0; at < some; at++) {
        Match match = {i, begin + at};
        if (tags[at] != tag) continue;
        if (!read_all(run->file, rest, run->stride, rests_at + match.entry * run->stride) ||
            !match_rest(run, number, &slice, match, rest, arena, work, first))
          return 0;
      }
    }
  }
  return 1;
}

/* Marks as old the candidates of a slice, `count` from `first` on, that the run has. Returns 0 if the file is not
 * what was written. */
static int run_look_up(const Run *run, unsigned number, const Arena *arena, RunWork *work, uint64_t first,
                       uint64_t count) {
  const Candidate *candidates = work->candidates + first;
  enum { AHEAD = 16 };
  if (!run->counts[number]) return 1;
  Slice slice = run_slice(run, number);
  if (slice.bytes / SPARSE_BYTES > count) return run_look_up_sparse(run, number, arena, work, first, count);
  const uint64_t at_once = count * MOST_MAPPED / slice.bytes + 1, bits = run->bits;
  Match waiting[AHEAD]; /* matches whose rests are being prefetched */
  uint64_t matches = 0, compared = 0;
  for (uint64_t i = 0; i < count; i++) {
    if (i + 2 * AHEAD < count) __builtin_prefetch(&slice.index[bucket_of(tag_of(candidates[i + 2 * AHEAD].hash), bits)]);
    if (i + AHEAD < count) {
      const uint32_t *tags = slice.tags + slice.index[bucket_of(tag_of(candidates[i + AHEAD].hash), bits)];
      __builtin_prefetch(tags); /* the first and the last that match_tags compares */
      __builtin_prefetch(tags + 15);
    }
    uint32_t tag = tag_of(candidates[i].hash), bucket = bucket_of(tag, bits);
    uint64_t begin = slice.index[bucket], end = slice.index[bucket + 1];
    if (begin > end || end > slice.count) return 0;
    do {
      for (uint32_t match = match_tags(slice.tags + begin, end - begin, tag); match; match &= match - 1) {
        if (matches - compared == AHEAD &&
            !match_waiting(run, number, &slice, waiting[compared++ % AHEAD], arena, work, first))
          return 0;
        Match found = {i, begin + (unsigned)__builtin_ctz(match)};
        waiting[matches++ % AHEAD] = found;
        __builtin_prefetch(slice.rests + found.entry * run->stride);
        state_fetch(arena_state(arena, candidates[i].index));
      }
      begin += 16;
    } while (__builtin_expect(begin < end, 0));
    if ((i + 1) % at_once == 0) run_drop(run, number, number);
  }
  while (compared < matches)
    if (!match_waiting(run, number, &slice, waiting[compared++ % AHEAD], arena, work, first)) return 0;
  if (slice.bytes > LARGE_SLICE) run_drop(run, number, number);
  return 1;
}

/* --- Verification -------------------------------------------------------------------------------------------- */

/* Returns what an entry adds to the checksum of its slice. The order of entries does not matter, so the checksum of a
 * merged slice is known in advance. A disk that changes a bit changes the checksum. */
static inline __attribute__((always_inline)) uint64_t entry_sum(uint32_t tag, const uint8_t *rest, uint64_t stride) {
  uint64_t sum = tag * 0x9E3779B97F4A7C15ull;
  for (uint64_t at = 0; at < stride; at += 8) {
    uint64_t word = 0;
    memcpy(&word, rest + at, stride - at < 8 ? stride - at : 8);
    sum = (sum ^ word) * 0xD6E8FEB86659FD93ull;
    sum ^= sum >> 32;
  }
  return sum * 0x9E3779B97F4A7C15ull;
}

/* Calls a function whose last argument is the stride, with the usual strides as constants. */
#define WITH_STRIDE(stride, function, ...)                                            \
  ((stride) == REST_BYTES                 ? function(__VA_ARGS__, REST_BYTES)               \
   : (stride) == REST_BYTES + LEVEL_BYTES ? function(__VA_ARGS__, REST_BYTES + LEVEL_BYTES) \
                                          : function(__VA_ARGS__, stride))

/* Returns whether a slice is what was written: its entries, and the starts of its buckets. */
static inline __attribute__((always_inline)) int check_slice(const Run *run, unsigned number, uint64_t stride) {
  const Slice slice = run_slice(run, number);
  uint64_t buckets = run_buckets(run->bits), sum = 0, mapped = 0;
  if (!slice.count) return 1;
  if (slice.index[0] != 0 || slice.index[buckets] != slice.count) return 0;
  for (uint64_t bucket = 0; bucket < buckets; bucket++) {
    uint64_t begin = slice.index[bucket], end = slice.index[bucket + 1];
    if (begin > end || end > slice.count) return 0;
    for (uint64_t i = begin; i < end; i++) {
      if (bucket_of(slice.tags[i], run->bits) != bucket) return 0;
      sum += entry_sum(slice.tags[i], slice.rests + i * stride, stride);
    }
    mapped += (end - begin) * (sizeof(uint32_t) + stride);
    if (mapped > MOST_MAPPED) {
      run_drop(run, number, number);
      mapped = 0;
    }
  }
  return sum == run->sums[number];
}

static int run_check_slice(const Run *run, unsigned number) {
  return WITH_STRIDE(run->stride, check_slice, run, number);
}

/* --- Writing ------------------------------------------------------------------------------------------------- */

/* Returns the level of a state that is written, by its index in the arena. */
static inline uint16_t written_level(const Run *run, uint64_t index) {
  uint64_t low = 0, high = run->end_count;
  while (low < high) {
    uint64_t middle = (low + high) / 2;
    if (run->ends[middle] <= index)
      low = middle + 1;
    else
      high = middle;
  }
  return (uint16_t)(run->level + low);
}

/* Appends the candidates of a slice, as they are written, to the first `gathered` bytes. */
static inline __attribute__((always_inline)) int gather_slice(RunWork *work, const Run *run, uint64_t gathered,
                                                              const Arena *arena, uint64_t stride) {
  uint64_t bits = run->bits, buckets = run_buckets(bits), count = work->count, index_bytes = run_index_bytes(bits);
  uint8_t *slice = buffer_extend(&work->slices, gathered, index_bytes + count * (sizeof(uint32_t) + stride) + 1);
  if (!slice) return 0;
  uint32_t *index = (void *)slice, *tags = (void *)(slice + index_bytes);
  uint8_t *rests = slice + index_bytes + count * sizeof *tags;
  /* The position of the next entry of each bucket is kept one index too high: it ends as the start of the bucket. */
  memset(index, 0, index_bytes);
  for (uint64_t i = 0; i < count; i++) {
    uint64_t bucket = bucket_of(tag_of(work->candidates[i].hash), bits);
    if (bucket + 2 <= buckets) index[bucket + 2]++;
  }
  for (uint64_t bucket = 2; bucket <= buckets; bucket++) index[bucket] += index[bucket - 1];
  uint64_t sum = 0;
  for (uint64_t i = 0; i < count; i++) {
    uint64_t hash = work->candidates[i].hash, place = index[bucket_of(tag_of(hash), bits) + 1]++;
    tags[place] = tag_of(hash);
    rest_write(rests + place * stride, arena_state(arena, work->candidates[i].index), hash);
    if (stride > REST_BYTES) {
      uint16_t level = written_level(run, work->candidates[i].index);
      memcpy(rests + place * stride + REST_BYTES, &level, LEVEL_BYTES);
    }
    sum += entry_sum(tags[place], rests + place * stride, stride);
  }
  if (count) run->sums[work->candidates[0].hash >> (64 - SLICE_BITS)] = sum;
  return 1;
}

static int run_gather_slice(RunWork *work, const Run *run, uint64_t gathered, const Arena *arena) {
  return WITH_STRIDE(run->stride, gather_slice, work, run, gathered, arena);
}

/* Appends slices `first` to `last`, which were gathered, to a run, whose end is `*length`, and sets their offsets. */
static int run_write_gathered(const RunWork *work, const Run *run, uint64_t gathered, uint64_t first, uint64_t last,
                              uint64_t *length, uint64_t *starts) {
  uint64_t at = __atomic_fetch_add(length, gathered, __ATOMIC_RELAXED);
  for (uint64_t slice = first; slice < last; slice++) starts[slice] += at;
  return write_all(run->file, work->slices.bytes, gathered, at);
}

/* --- Merging ------------------------------------------------------------------------------------------------- */

/* Copies the entries of some buckets of a run to their places in `tags` and `rests`: `next` has, for each bucket of the
 * merged run from `first` on, the place of its next entry. Adds their checksum. Without `tags`, only counts them. */
static inline __attribute__((always_inline)) int merge_buckets(const Slice *slice, uint64_t bits, uint64_t first,
                                                               uint64_t buckets, unsigned finer, uint32_t *next,
                                                               uint32_t *tags, uint8_t *rests, uint64_t *sum,
                                                               uint64_t stride) {
  uint32_t begin = slice->index[first >> finer], end = slice->index[(first + buckets) >> finer];
  if (begin > end || end > slice->count) return 0;
  for (uint32_t i = begin; i < end; i++) {
    uint64_t bucket = bucket_of(slice->tags[i], bits) - first;
    if (bucket >= buckets) return 0;
    uint32_t place = next[bucket]++;
    if (!tags) continue;
    tags[place] = slice->tags[i];
    memcpy(rests + (uint64_t)place * stride, slice->rests + (uint64_t)i * stride, stride);
    *sum += entry_sum(tags[place], rests + (uint64_t)place * stride, stride);
  }
  return 1;
}

/* Writes a slice of `merged`, whose starts and counts are known, from the slices of runs with no finer buckets: all
 * of it at once, or if that would take much memory, some buckets at a time. */
static int run_merge_slice(RunWork *work, const Run *runs, uint64_t run_count, const Run *merged, unsigned number) {
  uint64_t buckets = run_buckets(merged->bits), stride = merged->stride, group = buckets;
  uint64_t start = merged->starts[number], tags_at = start + run_index_bytes(merged->bits), done = 0;
  uint64_t rests_at = tags_at + merged->counts[number] * sizeof(uint32_t);
  uint64_t sum = 0, expected = 0;
  while (group > 1 && merged->counts[number] / (buckets / group) * (sizeof(uint32_t) + stride) > MOST_MERGED) group /= 2;
  for (uint64_t i = 0; i < run_count; i++) expected += runs[i].counts[number] ? runs[i].sums[number] : 0;
  /* The start of each bucket is counted two indexes higher, and ends in its place. */
  uint32_t *next = buffer_reserve(&work->index, (group + 2) * sizeof *next);
  if (!next) return 0;
  for (uint64_t first = 0; first < buckets; first += group) {
    uint32_t *tags = NULL, count = 0;
    uint8_t *rests = NULL;
    memset(next, 0, (group + 2) * sizeof *next);
    for (int pass = 0; pass < 2; pass++) {
      for (uint64_t i = 0; i < run_count; i++) {
        const Slice slice = run_slice(&runs[i], number);
        unsigned finer = (unsigned)(merged->bits - runs[i].bits);
        if (!WITH_STRIDE(stride, merge_buckets, &slice, merged->bits, first, group, finer, next + (pass ? 1 : 2), tags,
                         rests, &sum))
          return 0;
      }
      if (pass) break;
      for (uint64_t bucket = 0; bucket < group; bucket++) next[bucket + 2] += next[bucket + 1];
      count = next[group + 1];
      tags = buffer_reserve(&work->tags, count * sizeof *tags + 1);
      rests = buffer_reserve(&work->rests, (uint64_t)count * stride + 1);
      if (!tags || !rests) return 0;
    }
    for (uint64_t bucket = 0; bucket <= group; bucket++) next[bucket] += (uint32_t)done;
    if (!output_write(&work->output, merged->file, next, (group + 1) * sizeof *next, start + first * sizeof *next) ||
        !output_write(&work->output, merged->file, tags, count * sizeof *tags, tags_at) ||
        !output_write(&work->output, merged->file, rests, (uint64_t)count * stride, rests_at))
      return 0;
    done += count;
    tags_at += count * sizeof *tags;
    rests_at += (uint64_t)count * stride;
    /* The parts of a large slice that were read must not stay mapped until all of it is read. */
    if (group < buckets) drop_runs(runs, run_count, number, number);
  }
  merged->sums[number] = sum;
  return done == merged->counts[number] && sum == expected;
}
