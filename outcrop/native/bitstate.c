/* A bit array as visited set. Each state sets a few bits, chosen by hash functions, and counts as visited when all of
 * them are set. See search/bitstate.py. */

#include "abi_bitstate.h"

enum { BITSTATE_LOCKS = 4096 };

typedef struct {
  uint64_t *words;
  uint64_t line_count;
  uint64_t functions; /* number of bits that a state sets */
  uint64_t count;     /* number of bits that are set (atomic) */
  uint8_t locks[BITSTATE_LOCKS];
} Bitstate;

static inline Bitstate *bitstate_of(const Search *search) { return search->own_set; }

/* Returns the next hash of a state: one step of SplitMix64, in which every bit depends on every earlier bit. */
static inline uint64_t bitstate_rehash(uint64_t hash) {
  hash += 0x9E3779B97F4A7C15ull;
  hash = (hash ^ hash >> 30) * 0xBF58476D1CE4E5B9ull;
  hash = (hash ^ hash >> 27) * 0x94D049BB133111EBull;
  return hash ^ hash >> 31;
}

/* Returns how many bits of a state are not set; with `sets`, sets them. The first lies in the line that was
 * prefetched. */
static uint32_t bitstate_missing(Bitstate *set, uint64_t hash, int sets) {
  uint32_t missing = 0;
  for (uint64_t i = 0; i < set->functions; i++) {
    uint64_t place = multiply_high(hash, set->line_count) * LINE_BYTES * 8;
    hash = bitstate_rehash(hash);
    place += hash % (LINE_BYTES * 8);
    uint64_t bit = (uint64_t)1 << place % 64, *word = &set->words[place / 64];
    if (__atomic_load_n(word, __ATOMIC_RELAXED) & bit) continue;
    missing += !sets || !(__atomic_fetch_or(word, bit, __ATOMIC_RELAXED) & bit);
  }
  return missing;
}

/* Sets the bits of a state. Returns how many were not set before. A lock, chosen by the hash, prevents two workers that
 * meet a state at the same time from both counting it as new. */
static uint32_t bitstate_set(Bitstate *set, uint64_t hash) {
  if (!bitstate_missing(set, hash, 0)) return 0;
  uint8_t *lock = &set->locks[hash % BITSTATE_LOCKS];
  while (__atomic_test_and_set(lock, __ATOMIC_ACQUIRE)) pause_briefly();
  uint32_t missing = bitstate_missing(set, hash, 1);
  __atomic_clear(lock, __ATOMIC_RELEASE);
  return missing;
}

static uint32_t bitstate_add(Worker *worker, const uint8_t *states, const uint64_t *hashes, uint32_t count,
                             uint8_t *is_new) {
  Search *search = worker->search;
  Bitstate *set = bitstate_of(search);
  Chunk *chunk = &worker->chunk;
  uint64_t first = chunk->next, added = 0;
  uint32_t done = 0;
  for (; done < count; done++) {
    if (chunk->next == chunk->end) {
      note_written(worker, first);
      if (!claim_chunk(worker)) break;
      first = chunk->next;
    }
    uint32_t fresh = bitstate_set(set, hashes[done]);
    is_new[done] = fresh > 0;
    added += fresh;
    if (!fresh) continue;
    memcpy(arena_state(&search->arena, chunk->next++), states + (size_t)done * STATE_BYTES, STATE_BYTES);
    __atomic_add_fetch(&search->reserved, 1, __ATOMIC_RELAXED);
  }
  if (done == count) note_written(worker, first);
  __atomic_add_fetch(&set->count, added, __ATOMIC_RELAXED);
  return done;
}

static uint64_t bitstate_bytes(const Search *search) { return bitstate_of(search)->line_count * LINE_BYTES; }

static int bitstate_grow(Search *search) {
  (void)search;
  return 0;
}

static const uint8_t *bitstate_lines(const Search *search, uint64_t *count) {
  *count = bitstate_of(search)->line_count;
  return (const uint8_t *)bitstate_of(search)->words;
}

static const VisitedSet bits_of_states = {
    .add = bitstate_add,
    .position = no_position,
    .positions = no_positions,
    .bytes = bitstate_bytes,
    .limit = no_limit,
    .can_grow = never_grows_ahead,
    .grow = bitstate_grow,
    .next_filling = no_filling,
    .grown = nothing_to_end,
    .lines = bitstate_lines,
    .takes_hashes = 1,
    .has_own_memory = 1,
};

/* --- Bindings ------------------------------------------------------------------------------------------------ */

/* Replaces the visited set of a search by a bit array. Returns 0 if there is no memory. */
EXPORT int outcrop_bitstate_open(Search *search, uint64_t bytes, uint64_t functions) {
  Bitstate *set = calloc(1, sizeof *set);
  if (!set) return 0;
  set->line_count = bytes / LINE_BYTES;
  set->functions = functions;
  void *words = mmap(NULL, set->line_count * LINE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (words == MAP_FAILED) {
    free(set);
    return 0;
  }
  set->words = words;
  search->own_set = set;
  search->visited = &bits_of_states;
  refresh_lines(search);
  return 1;
}

EXPORT void outcrop_bitstate_close(Search *search) {
  Bitstate *set = bitstate_of(search);
  search->own_set = NULL;
  search->visited = &states_in_full;
  refresh_lines(search);
  munmap(set->words, set->line_count * LINE_BYTES);
  free(set);
}

/* Returns the number of bits that are set. */
EXPORT uint64_t outcrop_bitstate_count(const Search *search) {
  return __atomic_load_n(&bitstate_of(search)->count, __ATOMIC_RELAXED);
}
