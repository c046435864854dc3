/* Table lines: sixteen slots of 32 bits, or eight of 64.
 *
 * A line is filled from its first slot on, and entries are never removed. So if the first slot that we saw empty is
 * still empty when we put our entry there, nothing was added to the line since we looked. This makes the tables
 * lock-free. Comparing all slots at once costs a few instructions and no mispredicted branch. */

enum { NARROW_SLOTS = LINE_BYTES / 4, WIDE_SLOTS = LINE_BYTES / 8 };

/* Sets of slots, one bit each: those that are empty, and those that match under a mask. The latter may include empty
 * ones. */
typedef struct {
  uint32_t empty;
  uint32_t match;
} Look;

#if defined(__AVX2__) && !defined(__SANITIZE_THREAD__)
typedef uint32_t Eight __attribute__((vector_size(32)));
typedef float EightFloats __attribute__((vector_size(32)));

static inline uint32_t lanes_equal(Eight a, Eight b) {
  return (uint32_t)__builtin_ia32_movmskps256((EightFloats)(a == b));
}

static inline Look look_narrow(const uint32_t *slots, uint32_t mask, uint32_t wanted) {
  /* Volatile, because each slot must be read once. If a slot were empty when it is compared, and taken by another
   * thread when it is tested for emptiness, we would continue with the next slot and enter the same state twice. */
  const volatile Eight *halves = (const volatile Eight *)slots;
  Eight zero = {0}, first = halves[0], second = halves[1];
  Look look = {lanes_equal(first, zero) | lanes_equal(second, zero) << 8,
               lanes_equal(first & mask, zero + wanted) | lanes_equal(second & mask, zero + wanted) << 8};
  return look;
}
#else
static inline Look look_narrow(const uint32_t *slots, uint32_t mask, uint32_t wanted) {
  Look look = {0, 0};
  for (int i = 0; i < NARROW_SLOTS; i++) {
    uint32_t slot = __atomic_load_n(&slots[i], __ATOMIC_ACQUIRE);
    look.empty |= (uint32_t)(slot == 0) << i;
    look.match |= (uint32_t)((slot & mask) == wanted) << i;
  }
  return look;
}
#endif

static inline Look look_wide(const uint64_t *slots, uint64_t mask, uint64_t wanted) {
  Look look = {0, 0};
  for (int i = 0; i < WIDE_SLOTS; i++) {
    uint64_t slot = __atomic_load_n(&slots[i], __ATOMIC_ACQUIRE);
    look.empty |= (uint32_t)(slot == 0) << i;
    look.match |= (uint32_t)((slot & mask) == wanted) << i;
  }
  return look;
}

static inline Look line_look(const uint8_t *line, int wide, uint64_t mask, uint64_t wanted) {
  return wide ? look_wide((const uint64_t *)line, mask, wanted)
              : look_narrow((const uint32_t *)line, (uint32_t)mask, (uint32_t)wanted);
}

static inline uint64_t slot_get(const uint8_t *line, int wide, int number) {
  return wide ? __atomic_load_n((const uint64_t *)line + number, __ATOMIC_ACQUIRE)
              : __atomic_load_n((const uint32_t *)line + number, __ATOMIC_ACQUIRE);
}

/* Returns the slots, a bit each, whose bits under a mask are one of `count` numbers from `first` on. No other thread
 * may use the line. */
static inline uint32_t line_within(const uint8_t *line, int wide, uint64_t mask, uint64_t first, uint64_t count) {
  uint32_t within = 0;
  if (wide) {
    for (int i = 0; i < WIDE_SLOTS; i++) within |= (uint32_t)((slot_get(line, 1, i) & mask) - first < count) << i;
    return within;
  }
#if defined(__AVX2__) && !defined(__SANITIZE_THREAD__)
  const Eight *halves = (const Eight *)line, zero = {0};
  const Eight low = (halves[0] & (uint32_t)mask) - (uint32_t)first, high = (halves[1] & (uint32_t)mask) - (uint32_t)first;
  const Eight all = zero - 1, past = zero + (uint32_t)count;
  within = lanes_equal((Eight)(low < past), all) | lanes_equal((Eight)(high < past), all) << 8;
#else
  for (int i = 0; i < NARROW_SLOTS; i++)
    within |= (uint32_t)((uint32_t)(slot_get(line, 0, i) & mask) - (uint32_t)first < (uint32_t)count) << i;
#endif
  return within;
}

/* Puts an entry into a slot seen empty. Returns 0 if another thread was faster. `shared` is 0 if there is no other
 * thread, which saves the locked instruction. */
static inline int slot_take(uint8_t *line, int wide, int number, uint64_t entry, int shared) {
  if (wide) {
    uint64_t *slot = (uint64_t *)line + number, empty = 0;
    if (shared) return __atomic_compare_exchange_n(slot, &empty, entry, 0, __ATOMIC_RELEASE, __ATOMIC_RELAXED);
    *slot = entry;
  } else {
    uint32_t *slot = (uint32_t *)line + number, empty = 0;
    if (shared)
      return __atomic_compare_exchange_n(slot, &empty, (uint32_t)entry, 0, __ATOMIC_RELEASE, __ATOMIC_RELAXED);
    *slot = (uint32_t)entry;
  }
  return 1;
}

/* --- Tags ---------------------------------------------------------------------------------------------------- */

enum { TAG_GROUP = 16 }; /* tags that are compared together */

/* Returns which of sixteen bytes equal `tag`, a bit each. */
static inline uint32_t tags_equal(const uint8_t *tags, uint8_t tag) {
#ifdef __SSE2__
  typedef char Bytes __attribute__((vector_size(16)));
  typedef uint8_t Tags __attribute__((vector_size(16)));
  Tags group;
  memcpy(&group, tags, sizeof group);
  return (uint32_t)__builtin_ia32_pmovmskb128((Bytes)(group == tag));
#else
  uint32_t equal = 0;
  for (int i = 0; i < TAG_GROUP; i++) equal |= (uint32_t)(tags[i] == tag) << i;
  return equal;
#endif
}

/* Returns in which of sixteen bytes two rows differ, a bit each. */
static inline uint32_t bytes_differ(const uint8_t *a, const uint8_t *b) {
#ifdef __SSE2__
  typedef char Bytes __attribute__((vector_size(16)));
  Bytes first, second;
  memcpy(&first, a, sizeof first);
  memcpy(&second, b, sizeof second);
  return (uint32_t)__builtin_ia32_pmovmskb128(first != second);
#else
  uint32_t differ = 0;
  for (int i = 0; i < TAG_GROUP; i++) differ |= (uint32_t)(a[i] != b[i]) << i;
  return differ;
#endif
}

static inline void pause_briefly(void) {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#endif
}
