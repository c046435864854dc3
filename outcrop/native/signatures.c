/* The compacted visited set: b-bit signatures instead of states (Stern and Dill 1996). Two states with the same
 * signature count as one, so a state may be missed, with a probability that the search reports.
 *
 * A signature is not stored completely. Scaled to the number of lines, it is a line plus a fraction, and only the
 * fraction goes into the slot, with the number of lines by which it was displaced: 40 bits fit a 32-bit slot from 2^13
 * lines on. Line, fraction and distance give the signature back when the table grows. It grows in place, within
 * addresses reserved at the start, because the signatures are nowhere else.
 *
 * The highest bits of a slot can be reserved for a note about each signature. */

typedef struct {
  uint8_t *lines;
  uint64_t line_count;
  size_t reserved; /* bytes of address space */
  uint64_t limit;  /* number of signatures at which it must grow */
  int wide;        /* slots of 64 bits */
  unsigned bits;   /* width of a signature */
  unsigned dropped_bits; /* bits of the fraction that the spacing of the signatures implies */
  unsigned note_bits;    /* highest bits of a slot, for the note */
} Signatures;

enum { DISTANCE_BITS = 5, GREATEST_DISTANCE = (1 << DISTANCE_BITS) - 2 };

/* The first lines are set aside during growth, because there the old and the new line of a signature are too close. */
enum { ASIDE_LINES = 1024, FEWEST_LINES = 1 << 13 };

static void signatures_shape(Signatures *signatures, uint64_t line_count) {
  signatures->line_count = line_count;
  signatures->dropped_bits = bit_length(line_count) - 1;
  unsigned kept = signatures->bits > signatures->dropped_bits ? signatures->bits - signatures->dropped_bits : 0;
  signatures->wide = kept + DISTANCE_BITS + signatures->note_bits > 32;
  uint64_t slots = line_count * (signatures->wide ? WIDE_SLOTS : NARROW_SLOTS);
  signatures->limit = slots / 5 * 4;
  /* There cannot be more signatures than this, and below it every line has space for all of its own. */
  if (signatures->bits < 32 && signatures->limit >> signatures->bits) signatures->limit = UINT64_MAX / 4;
}

static int signatures_open(Signatures *signatures, unsigned bits, unsigned note_bits, uint64_t most_bytes) {
  uint64_t lines = FEWEST_LINES;
  if (bits < 16) lines = (uint64_t)1 << (bits < 4 ? 0 : bits - 4);
  signatures->reserved = most_bytes < lines * LINE_BYTES ? lines * LINE_BYTES : most_bytes;
  signatures->lines = map_pages(signatures->reserved, -1);
  signatures->bits = bits;
  signatures->note_bits = note_bits;
  signatures_shape(signatures, lines);
  return signatures->lines != NULL;
}

static void signatures_close(Signatures *signatures) {
  if (signatures->lines) munmap(signatures->lines, signatures->reserved);
  signatures->lines = NULL;
}

static inline uint64_t signature_of(const Signatures *signatures, uint64_t hash) {
  return hash >> (64 - signatures->bits);
}

/* Returns the bit of a slot at which the note begins. */
static inline unsigned note_at(const Signatures *signatures, int wide) {
  return (wide ? 64 : 32) - signatures->note_bits;
}

/* Returns the bits of a slot that are not part of a note. */
static inline uint64_t key_mask(const Signatures *signatures, int wide) {
  return UINT64_MAX >> (64 - note_at(signatures, wide));
}

enum { SIGNATURE_OLD, SIGNATURE_NEW, SIGNATURE_TOO_FAR, SIGNATURE_MISSING };

/* Looks a signature up and, with `enter`, enters it if it is missing. `*position` is the number of its slot. */
static inline int signatures_look_up(const Signatures *signatures, uint64_t signature, int wide, int enter, int shared,
                                     uint64_t *position) {
  Wide scaled = (Wide)signature * signatures->line_count;
  uint64_t number = (uint64_t)(scaled >> signatures->bits);
  uint64_t fraction = (uint64_t)scaled;
  if (signatures->bits < 64) fraction &= ((uint64_t)1 << signatures->bits) - 1;
  fraction = fraction >> signatures->dropped_bits << DISTANCE_BITS;
  const uint64_t mask = key_mask(signatures, wide);
  for (uint64_t distance = 0; distance <= GREATEST_DISTANCE;) {
    uint8_t *line = signatures->lines + number * LINE_BYTES;
    uint64_t entry = fraction | (distance + 1);
    Look look = line_look(line, wide, mask, entry);
    *position = number * (wide ? WIDE_SLOTS : NARROW_SLOTS);
    if (look.match) {
      *position += (uint64_t)__builtin_ctz(look.match);
      return SIGNATURE_OLD;
    }
    if (look.empty) {
      if (!enter) return SIGNATURE_MISSING;
      *position += (uint64_t)__builtin_ctz(look.empty);
      if (slot_take(line, wide, __builtin_ctz(look.empty), entry, shared)) return SIGNATURE_NEW;
      continue;
    }
    distance++;
    number = number + 1 == signatures->line_count ? 0 : number + 1;
  }
  return SIGNATURE_TOO_FAR;
}

/* Enters a batch and appends the new states to the arena. Returns how many states it handled. Stops early if the
 * chunk is full, or, with `*too_far`, if a neighbourhood of the table is. */
static uint32_t signatures_insert(const Signatures *signatures, const Arena *arena, Chunk *chunk,
                                  const uint8_t *states, const uint64_t *hashes, uint32_t count, uint8_t *is_new,
                                  int shared, int *too_far) {
  uint32_t done = 0;
  for (; done < count && chunk->next < chunk->end; done++) {
    uint64_t position, signature = signature_of(signatures, hashes[done]);
    int outcome = signatures->wide ? signatures_look_up(signatures, signature, 1, 1, shared, &position)
                                   : signatures_look_up(signatures, signature, 0, 1, shared, &position);
    if (outcome == SIGNATURE_TOO_FAR) {
      *too_far = 1;
      break;
    }
    is_new[done] = outcome == SIGNATURE_NEW;
    if (is_new[done]) memcpy(arena_state(arena, chunk->next++), states + (size_t)done * STATE_BYTES, STATE_BYTES);
  }
  return done;
}

/* Returns the slot of a state's signature, or UINT64_MAX. */
static uint64_t signatures_find(const Signatures *signatures, uint64_t hash) {
  uint64_t position;
  int outcome = signatures_look_up(signatures, signature_of(signatures, hash), signatures->wide, 0, 0, &position);
  return outcome == SIGNATURE_OLD ? position : UINT64_MAX;
}

/* A signature that is being moved to another line. */
typedef struct {
  uint64_t signature, note;
} Taken;

/* Removes the signatures from some lines. Returns their number. */
static uint64_t signatures_take_out(const Signatures *shape, uint64_t first_line, uint64_t lines, Taken *taken) {
  const unsigned at = note_at(shape, shape->wide);
  uint64_t count = 0;
  for (uint64_t number = first_line; number < first_line + lines; number++) {
    uint8_t *line = shape->lines + number * LINE_BYTES;
    for (int i = 0; i < (shape->wide ? WIDE_SLOTS : NARROW_SLOTS); i++) {
      uint64_t entry = slot_get(line, shape->wide, i);
      if (!entry) break;
      taken[count].note = shape->note_bits ? entry >> at : 0;
      entry &= key_mask(shape, shape->wide);
      uint64_t distance = (entry & ((1 << DISTANCE_BITS) - 1)) - 1;
      uint64_t home = (number + shape->line_count - distance) % shape->line_count;
      /* The smallest signature that scales to this line and at least this fraction. */
      Wide scaled = ((Wide)home << shape->bits) + ((Wide)(entry >> DISTANCE_BITS) << shape->dropped_bits);
      taken[count++].signature = (uint64_t)((scaled + shape->line_count - 1) / shape->line_count);
    }
    memset(line, 0, LINE_BYTES);
  }
  return count;
}

static void set_note(const Signatures *signatures, uint64_t position, uint64_t note) {
  const uint64_t bits = note << note_at(signatures, signatures->wide);
  if (signatures->wide)
    __atomic_fetch_or((uint64_t *)signatures->lines + position, bits, __ATOMIC_RELAXED);
  else
    __atomic_fetch_or((uint32_t *)signatures->lines + position, (uint32_t)bits, __ATOMIC_RELAXED);
}

static int signatures_put_back(const Signatures *signatures, const Taken *taken, uint64_t count, int shared) {
  for (uint64_t i = 0; i < count; i++) {
    uint64_t position, ahead = i + 16;
    if (ahead < count) {
      uint64_t line = (uint64_t)((Wide)taken[ahead].signature * signatures->line_count >> signatures->bits);
      __builtin_prefetch(signatures->lines + line * LINE_BYTES, 1);
    }
    int outcome = signatures_look_up(signatures, taken[i].signature, signatures->wide, 1, shared, &position);
    if (outcome == SIGNATURE_TOO_FAR) return 0;
    if (taken[i].note) set_note(signatures, position, taken[i].note);
  }
  return 1;
}

/* Growth, by at least a twentieth. The first lines are removed and put back at the end. The others are emptied in
 * rounds, the last ones first, each into lines without old entries: new ones, or lines emptied in earlier rounds.
 * Workers therefore share a round, and all must end it before the next one starts. */
typedef struct {
  Signatures old;
  Taken *aside;
  uint64_t aside_lines, aside_count;
  uint64_t begin, end; /* the lines of this round */
  uint64_t cursor;     /* the first of them that no worker has taken (atomic) */
  int lost;            /* whether a neighbourhood of the grown table was full (atomic) */
} Growth;

/* Starts the next round. Returns 0 if all lines are empty. */
static int growth_next_round(Growth *growth, const Signatures *grown) {
  if (growth->begin == growth->aside_lines) return 0;
  growth->end = growth->begin;
  /* From here on all entries go to lines after the round, even at the greatest distance. */
  uint64_t least = (uint64_t)((Wide)growth->end * growth->old.line_count / grown->line_count) + GREATEST_DISTANCE + 1;
  growth->begin = least < growth->aside_lines ? growth->aside_lines : least;
  growth->cursor = growth->begin;
  return 1;
}

static int growth_open(Growth *growth, Signatures *signatures, uint64_t line_count) {
  growth->old = *signatures;
  growth->aside = malloc(ASIDE_LINES * NARROW_SLOTS * sizeof *growth->aside);
  if (!growth->aside) return 0;
  growth->aside_lines = growth->old.line_count < ASIDE_LINES ? growth->old.line_count : ASIDE_LINES;
  growth->aside_count = signatures_take_out(&growth->old, 0, growth->aside_lines, growth->aside);
  growth->begin = growth->old.line_count;
  growth->lost = 0;
  signatures_shape(signatures, line_count);
  return 1;
}

/* Runs one worker's part of a round. */
static void growth_share(Growth *growth, const Signatures *grown, int shared) {
  enum { SHARE_LINES = 256 };
  Taken taken[SHARE_LINES * NARROW_SLOTS];
  for (;;) {
    uint64_t first = __atomic_fetch_add(&growth->cursor, SHARE_LINES, __ATOMIC_RELAXED);
    if (first >= growth->end) return;
    uint64_t lines = growth->end - first < SHARE_LINES ? growth->end - first : SHARE_LINES;
    uint64_t count = signatures_take_out(&growth->old, first, lines, taken);
    if (!signatures_put_back(grown, taken, count, shared)) __atomic_store_n(&growth->lost, 1, __ATOMIC_RELAXED);
  }
}

/* Ends the growth. Returns 0 if signatures were lost. No other thread may be running. */
static int growth_close(Growth *growth, const Signatures *grown) {
  int kept = signatures_put_back(grown, growth->aside, growth->aside_count, 0) && !growth->lost;
  free(growth->aside);
  return kept;
}
