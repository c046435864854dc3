/* The quotient table: a set of b-bit keys that stores only what the place of an entry does not say (J. G. Cleary, "Compact
 * hash tables using bidirectional linear probing", 1984). Exact: entry and place give the key back.
 *
 * A key is permuted, one to one, which scatters it. Scaled to the number of lines, the permuted key is a home line, the
 * quotient, plus a fraction, the remainder. The slot holds the remainder and, instead of Cleary's two bits, the distance
 * in lines from home to where the entry lies. Slots take as many bytes as that needs, so 40-bit keys take 3 or 4.
 *
 * A line is a control byte, a tag for each slot, and the slots. The control byte counts the slots that are filled. Slots
 * below that count never change, so lookups take no lock; the uppermost bit is the lock of whoever adds an entry. The tag
 * is a byte of the entry: all tags of a line are compared at once. The table grows in place. */

#if STATE_BYTES <= 8
typedef uint64_t Key;
#else
typedef Wide Key;
#endif

enum { KEY_BITS = 8 * sizeof(Key), CONTROL_LOCKED = 0x80, SLOT_ROOM = LINE_BYTES - 1 };
enum { LEAST_DISTANCE_BITS = 6, MOST_DISTANCE_BITS = 7, LEAST_LINES = 16, LEAST_SLOT_BYTES = 2 };

typedef struct {
  uint8_t *lines;
  uint64_t line_count;
  size_t reserved;        /* bytes of address space */
  uint64_t count;         /* keys, up to those of batches that are being entered (atomic) */
  uint64_t limit;         /* keys that it may hold before it must grow */
  unsigned bits;          /* width of a key */
  unsigned head_bits;     /* the uppermost bits of a permuted key, at most 64, which choose the line */
  unsigned dropped_bits;  /* bits of the scaled head that the spacing of heads implies */
  unsigned distance_bits;
  unsigned slot_bytes;    /* with the tag */
  unsigned slots;         /* of a line */
  int wants_to_grow;      /* (atomic) */
} Quotient;

/* --- The permutation ----------------------------------------------------------------------------------------- */

/* Two odd factors and their inverses modulo 2^KEY_BITS, which are inverses modulo every smaller power of two as well. */
typedef struct {
  Key factor[2], inverse[2];
} Permutation;

/* Newton's iteration: each step doubles the number of bits that are right. */
static Key inverse_of(Key odd) {
  Key inverse = odd;
  for (int i = 0; i < 6; i++) inverse *= 2 - odd * inverse;
  return inverse;
}

static void permutation_seed(Permutation *permutation, uint64_t seed) {
  for (int i = 0; i < 2; i++) {
    Key factor = next_random(&seed);
    if (KEY_BITS > 64) factor = factor << (KEY_BITS / 2) | next_random(&seed);
    permutation->factor[i] = factor | 1;
    permutation->inverse[i] = inverse_of(factor | 1);
  }
}

/* For tests: keys that differ little stay together. */
static void permutation_weaken(Permutation *permutation) {
  for (int i = 0; i < 2; i++) permutation->factor[i] = permutation->inverse[i] = 1;
}

static inline Key key_mask_of(unsigned bits) { return ~(Key)0 >> (KEY_BITS - bits); }

/* Multiplying spreads low bits upwards, the shift brings high bits down. The shift undoes itself, since it is at least half
 * of the bits. */
static inline Key permuted(const Permutation *permutation, Key key, unsigned bits) {
  const unsigned shift = (bits + 1) / 2;
  const Key mask = key_mask_of(bits);
  key ^= key >> shift;
  key = key * permutation->factor[0] & mask;
  key ^= key >> shift;
  key = key * permutation->factor[1] & mask;
  return key ^ key >> shift;
}

static UNUSED Key permuted_back(const Permutation *permutation, Key key, unsigned bits) {
  const unsigned shift = (bits + 1) / 2;
  const Key mask = key_mask_of(bits);
  key ^= key >> shift;
  key = key * permutation->inverse[1] & mask;
  key ^= key >> shift;
  key = key * permutation->inverse[0] & mask;
  return key ^ key >> shift;
}

/* --- Lines --------------------------------------------------------------------------------------------------- */

static void quotient_shape(Quotient *table, uint64_t line_count) {
  table->line_count = line_count;
  table->dropped_bits = bit_length(line_count) - 1;
  if (table->dropped_bits > table->head_bits) table->dropped_bits = table->head_bits;
  const unsigned remainder = table->bits - table->dropped_bits;
  table->slot_bytes = (remainder + LEAST_DISTANCE_BITS + 7) / 8;
  if (table->slot_bytes < LEAST_SLOT_BYTES) table->slot_bytes = LEAST_SLOT_BYTES;
  const unsigned distance = 8 * table->slot_bytes - remainder;
  table->distance_bits = distance < MOST_DISTANCE_BITS ? distance : MOST_DISTANCE_BITS;
  table->slots = SLOT_ROOM / table->slot_bytes;
  /* Few slots a line fill unevenly. */
  table->limit = line_count * table->slots / 100 * (table->slots < 8 ? 75 : 85);
  if (!table->limit) table->limit = line_count * table->slots / 2;
}

/* Returns the smallest number of lines with which an entry fits a Key. */
static uint64_t quotient_least_lines(unsigned bits) {
  uint64_t lines = LEAST_LINES;
  while (bits + MOST_DISTANCE_BITS > KEY_BITS + bit_length(lines) - 1) lines *= 2;
  return lines;
}

static int quotient_open(Quotient *table, unsigned bits, uint64_t most_bytes) {
  memset(table, 0, sizeof *table);
  table->bits = bits;
  table->head_bits = bits < 64 ? bits : 64;
  uint64_t lines = quotient_least_lines(bits);
  table->reserved = most_bytes < lines * LINE_BYTES ? lines * LINE_BYTES : most_bytes;
  void *pages = mmap(NULL, table->reserved, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (pages == MAP_FAILED) return 0;
  table->lines = pages;
  quotient_shape(table, lines);
  return 1;
}

static void quotient_close(Quotient *table) {
  if (table->lines) munmap(table->lines, table->reserved);
  table->lines = NULL;
}

static inline uint64_t quotient_bytes(const Quotient *table) { return table->lines ? table->line_count * LINE_BYTES : 0; }

/* --- Slots --------------------------------------------------------------------------------------------------- */

/* The tag of an entry is its second byte: the first is mostly distance, which is nearly always 0. */
static inline uint8_t quotient_tag(Key entry) { return (uint8_t)(entry >> 8); }
static inline Key quotient_rest(Key entry) { return (entry & 0xFF) | entry >> 16 << 8; }

static inline unsigned quotient_place(const Quotient *table, unsigned number) {
  return 1 + table->slots + number * (table->slot_bytes - 1);
}

/* Returns an entry without its tag, without touching what lies behind the line. The bytes of a neighbour that come along
 * are masked out. */
static inline Key quotient_read_rest(const Quotient *table, const uint8_t *line, unsigned number) {
  const unsigned at = quotient_place(table, number);
  Key rest = 0;
#ifdef __SANITIZE_THREAD__
  memcpy(&rest, line + at, table->slot_bytes - 1);
#else
  const unsigned from = at < LINE_BYTES - sizeof rest ? at : LINE_BYTES - (unsigned)sizeof rest;
  memcpy(&rest, line + from, sizeof rest);
  rest = rest >> 8 * (at - from) & key_mask_of(8 * (table->slot_bytes - 1));
#endif
  return rest;
}

static inline Key quotient_read(const Quotient *table, const uint8_t *line, unsigned number) {
  const Key rest = quotient_read_rest(table, line, number);
  return (rest & 0xFF) | (Key)line[1 + number] << 8 | rest >> 8 << 16;
}

static inline void quotient_write(const Quotient *table, uint8_t *line, unsigned number, Key entry) {
  const Key rest = quotient_rest(entry);
  line[1 + number] = quotient_tag(entry);
  memcpy(line + quotient_place(table, number), &rest, table->slot_bytes - 1);
}

/* Returns which of the first `filled` slots have a tag, a bit each. Other threads may be writing later tags. */
static inline uint32_t quotient_tagged(const Quotient *table, const uint8_t *line, uint8_t tag, unsigned filled) {
  uint32_t match;
  LOOSE_READ(match = tags_equal(line + 1, tag));
  if (table->slots > TAG_GROUP) LOOSE_READ(match |= tags_equal(line + 1 + TAG_GROUP, tag) << TAG_GROUP);
  return match & (((uint32_t)1 << filled) - 1);
}

/* --- Looking up ---------------------------------------------------------------------------------------------- */

/* A permuted key as the table holds it. */
typedef struct {
  uint64_t home;
  Key remainder; /* with room for the distance */
} Divided;

static inline Divided quotient_divide(const Quotient *table, Key permuted_key) {
  const unsigned tail_bits = table->bits - table->head_bits;
  const uint64_t head = (uint64_t)(permuted_key >> tail_bits);
  const Wide scaled = (Wide)head * table->line_count;
  uint64_t fraction = (uint64_t)scaled;
  if (table->head_bits < 64) fraction &= ((uint64_t)1 << table->head_bits) - 1;
  Divided divided = {(uint64_t)(scaled >> table->head_bits), fraction >> table->dropped_bits};
  if (tail_bits) divided.remainder = divided.remainder << tail_bits | (permuted_key & key_mask_of(tail_bits));
  divided.remainder <<= table->distance_bits;
  return divided;
}

/* The permuted key whose entry lies in a line: the least head that scales to its home and at least its fraction. */
static inline Key quotient_multiply(const Quotient *table, uint64_t number, Key entry) {
  const unsigned tail_bits = table->bits - table->head_bits;
  const uint64_t distance = (uint64_t)entry & (((uint64_t)1 << table->distance_bits) - 1);
  const uint64_t home = number >= distance ? number - distance : number + table->line_count - distance;
  entry >>= table->distance_bits;
  Key tail = tail_bits ? entry & key_mask_of(tail_bits) : 0;
  uint64_t fraction = (uint64_t)(tail_bits ? entry >> tail_bits : entry);
  const Wide scaled = ((Wide)home << table->head_bits) + ((Wide)fraction << table->dropped_bits);
  const Wide least = scaled + table->line_count - 1;
  /* A division of 128 bits takes several times as long as one of 64. */
  const Key head = least >> 64 ? (Key)(least / table->line_count) : (uint64_t)least / table->line_count;
  return tail_bits ? head << tail_bits | tail : head;
}

enum { KEY_OLD, KEY_NEW, KEY_TOO_FAR, KEY_MISSING };

/* Looks a key up and, with `enter`, enters it when it is not there. `*position` is the number of its slot. */
static inline int quotient_look_up(const Quotient *table, Divided divided, int enter, int shared, uint64_t *position) {
  const uint64_t greatest = ((uint64_t)1 << table->distance_bits) - 1;
  uint64_t number = divided.home;
  for (uint64_t distance = 0; distance <= greatest; distance++) {
    uint8_t *line = table->lines + number * LINE_BYTES;
    const Key entry = divided.remainder | distance, rest = quotient_rest(entry);
    for (unsigned seen = 0;;) {
      uint8_t control = __atomic_load_n(line, __ATOMIC_ACQUIRE);
      const unsigned filled = control & (CONTROL_LOCKED - 1);
      uint32_t match = quotient_tagged(table, line, quotient_tag(entry), filled) >> seen << seen;
      for (; match; match &= match - 1) {
        const unsigned slot = (unsigned)__builtin_ctz(match);
        *position = number * table->slots + slot;
        if (quotient_read_rest(table, line, slot) == rest) return KEY_OLD;
      }
      seen = filled;
      if (seen == table->slots) break;
      if (!enter) return KEY_MISSING;
      if (control & CONTROL_LOCKED) {
        pause_briefly();
        continue;
      }
      /* An unchanged control byte means that nothing was added since it was read. */
      if (shared && !__atomic_compare_exchange_n(line, &control, (uint8_t)(control | CONTROL_LOCKED), 0, __ATOMIC_ACQUIRE,
                                                 __ATOMIC_RELAXED))
        continue;
      quotient_write(table, line, seen, entry);
      __atomic_store_n(line, (uint8_t)(seen + 1), __ATOMIC_RELEASE);
      *position = number * table->slots + seen;
      return KEY_NEW;
    }
    number = number + 1 == table->line_count ? 0 : number + 1;
  }
  return KEY_TOO_FAR;
}

/* --- Growing ------------------------------------------------------------------------------------------------- */

/* Growing in place, as signatures do: the first lines are taken out and put back at the end; the others are emptied in
 * rounds, the last ones first, each into lines that hold no old entries. Workers share a round. */
typedef struct {
  Quotient old;
  Quotient *table;
  Key *aside;
  uint64_t aside_lines, aside_count;
  uint64_t begin, end; /* the lines of this round */
  uint64_t cursor;     /* the first of them that no worker has taken (atomic) */
  int lost;            /* a neighbourhood of the grown table is full (atomic) */
} QuotientGrowth;

/* Takes the keys, permuted, out of some lines. Returns their number. */
static uint64_t quotient_take_out(const Quotient *shape, uint64_t first_line, uint64_t lines, Key *keys) {
  uint64_t count = 0;
  for (uint64_t number = first_line; number < first_line + lines; number++) {
    uint8_t *line = shape->lines + number * LINE_BYTES;
    for (unsigned i = 0; i < *line; i++) keys[count++] = quotient_multiply(shape, number, quotient_read(shape, line, i));
    memset(line, 0, LINE_BYTES);
  }
  return count;
}

static int quotient_put_back(const Quotient *table, const Key *keys, uint64_t count, int shared) {
  uint64_t position;
  for (uint64_t i = 0; i < count; i++)
    if (quotient_look_up(table, quotient_divide(table, keys[i]), 1, shared, &position) == KEY_TOO_FAR) return 0;
  return 1;
}

/* Asks for huge pages, for the lines that there are and those that will be. */
static void quotient_use_huge_pages(const Quotient *table) {
#ifdef MADV_HUGEPAGE
  madvise(table->lines, table->reserved, MADV_HUGEPAGE);
#endif
#ifdef MADV_COLLAPSE
  madvise(table->lines, quotient_bytes(table), MADV_COLLAPSE);
#endif
}

static int quotient_growth_open(QuotientGrowth *growth, Quotient *table, uint64_t line_count) {
  const uint64_t farthest = (uint64_t)1 << table->distance_bits, more = line_count - table->line_count;
  growth->old = *table;
  growth->table = table;
  /* End of the lines that are emptied in rounds: earlier rounds would not become smaller. */
  growth->aside_lines = (farthest + 1) * line_count / more + 1;
  if (growth->aside_lines > table->line_count) growth->aside_lines = table->line_count;
  growth->aside = malloc(growth->aside_lines * table->slots * sizeof *growth->aside);
  if (!growth->aside) return 0;
  growth->aside_count = quotient_take_out(&growth->old, 0, growth->aside_lines, growth->aside);
  growth->begin = table->line_count;
  growth->lost = 0;
  if (line_count * LINE_BYTES > LEAST_HUGE && table->line_count * LINE_BYTES <= LEAST_HUGE) quotient_use_huge_pages(table);
  quotient_shape(table, line_count);
  return 1;
}

/* Returns 0 if all lines are empty. */
static int quotient_next_round(QuotientGrowth *growth) {
  if (growth->begin == growth->aside_lines) return 0;
  growth->end = growth->begin;
  /* From here on all entries go to lines behind the round, even one at the greatest distance from its home. */
  const uint64_t farthest = (uint64_t)1 << growth->old.distance_bits;
  uint64_t least = (uint64_t)((Wide)growth->end * growth->old.line_count / growth->table->line_count) + farthest;
  growth->begin = least < growth->aside_lines ? growth->aside_lines : least;
  growth->cursor = growth->begin;
  return 1;
}

/* Does one worker's share of a round. */
static void quotient_growth_share(QuotientGrowth *growth, int shared) {
  enum { SHARE_LINES = 128 };
  Key keys[SHARE_LINES * SLOT_ROOM];
  for (;;) {
    uint64_t first = __atomic_fetch_add(&growth->cursor, SHARE_LINES, __ATOMIC_RELAXED);
    if (first >= growth->end) return;
    uint64_t lines = growth->end - first < SHARE_LINES ? growth->end - first : SHARE_LINES;
    uint64_t count = quotient_take_out(&growth->old, first, lines, keys);
    if (!quotient_put_back(growth->table, keys, count, shared)) __atomic_store_n(&growth->lost, 1, __ATOMIC_RELAXED);
  }
}

/* Returns 0 if keys were lost. No other thread may use the table meanwhile. */
static int quotient_growth_close(QuotientGrowth *growth) {
  int kept = quotient_put_back(growth->table, growth->aside, growth->aside_count, 0) && !growth->lost;
  free(growth->aside);
  return kept;
}
