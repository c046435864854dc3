/* Squeezed states. Most models declare more than they use: network entries that stay empty, integers that stay small. A
 * squeezed state holds only the bits of a packed state that have ever changed, without gaps. All others are as in the
 * first state. Everything that stores, compares, hashes, writes or sends states uses the squeezed form. Code of the
 * model runs on packed states, so a state is restored first, and its successors are squeezed afterwards.
 *
 * A bit that changes for the first time gets the next free place. Earlier states have a 0 there, which means "as in the
 * first state", so they stay valid. If no place is left, the search must continue with wider states. The states that do
 * not fit are set aside for that.
 *
 * From here on STATE_BYTES is the size of a state as the search keeps it, MODEL_BYTES the size as the model packs
 * it. */

enum { MODEL_BYTES = STATE_BYTES, MODEL_WORDS = (STATE_BYTES + 7) / 8 };

#if SQUEEZED_BYTES
#undef STATE_BYTES
#define STATE_BYTES SQUEEZED_BYTES
#elif HAS_TREE
#undef STATE_BYTES
#define STATE_BYTES 8
#endif

#ifdef __BMI2__
static inline uint64_t gather_bits(uint64_t word, uint64_t mask) { return __builtin_ia32_pext_di(word, mask); }

static inline uint64_t scatter_bits(uint64_t bits, uint64_t mask) { return __builtin_ia32_pdep_di(bits, mask); }
#else
/* Returns the start and the length of the lowest stretch of bits of a mask, which is not 0. */
static inline unsigned lowest_stretch(uint64_t mask, unsigned *length) {
  unsigned begin = (unsigned)__builtin_ctzll(mask);
  uint64_t rest = ~(mask >> begin);
  *length = rest ? (unsigned)__builtin_ctzll(rest) : 64;
  return begin;
}

static inline uint64_t gather_bits(uint64_t word, uint64_t mask) {
  uint64_t gathered = 0;
  for (unsigned to = 0, length; mask; to += length) {
    unsigned begin = lowest_stretch(mask, &length);
    gathered |= (word >> begin & low_bits(length)) << to;
    mask &= ~(low_bits(length) << begin);
  }
  return gathered;
}

static inline uint64_t scatter_bits(uint64_t bits, uint64_t mask) {
  uint64_t scattered = 0;
  for (unsigned length; mask; bits = length < 64 ? bits >> length : 0) {
    unsigned begin = lowest_stretch(mask, &length);
    scattered |= (bits & low_bits(length)) << begin;
    mask &= ~(low_bits(length) << begin);
  }
  return scattered;
}
#endif

#if SQUEEZED_BYTES
enum { SQUEEZED_WORDS = (SQUEEZED_BYTES + 7) / 8, SQUEEZED_BITS = 8 * SQUEEZED_BYTES };

/* Bits of a word of a packed state that have consecutive places. */
typedef struct {
  uint64_t mask;
  uint32_t word;
  uint32_t place; /* position of the lowest bit */
} Piece;

typedef struct {
  uint64_t first[MODEL_WORDS]; /* the state that others are compared with */
  uint64_t placed[MODEL_WORDS]; /* bits that have a place (atomic) */
  Piece pieces[MODEL_WORDS];   /* the bits of each word that had places when the search started, in order of places */
  Piece later[SQUEEZED_BITS];  /* the bits that got places since */
  uint32_t later_count;        /* (atomic) */
  uint32_t places;             /* number of places taken */
  uint32_t first_places;       /* ... when the search started */
  pthread_mutex_t lock;
} Squeeze;

/* Returns word `number` of a packed state, without the bytes after the state. */
static inline uint64_t model_word(const uint8_t *state, int number) {
  uint64_t word;
  memcpy(&word, state + 8 * number, sizeof word);
  return (number + 1) * 8 <= MODEL_BYTES ? word : word & low_bits(8 * (MODEL_BYTES % 8));
}

/* Sets the form. `first` and `changing`, the bits that have changed, are packed states. Returns 0 if the `changing`
 * bits do not fit. */
static int squeeze_open(Squeeze *squeeze, const uint8_t *first, const uint8_t *changing) {
  memset(squeeze, 0, sizeof *squeeze);
  pthread_mutex_init(&squeeze->lock, NULL);
  for (int i = 0; i < MODEL_WORDS; i++) {
    squeeze->first[i] = model_word(first, i);
    squeeze->placed[i] = model_word(changing, i);
    squeeze->pieces[i] = (Piece){squeeze->placed[i], (uint32_t)i, squeeze->places};
    squeeze->places += (uint32_t)__builtin_popcountll(squeeze->placed[i]);
  }
  squeeze->first_places = squeeze->places;
  return squeeze->places <= SQUEEZED_BITS;
}

/* Adds the bits of a state that got their places after the search started. Returns 0 if one has none. */
static NOINLINE int squeeze_later(const Squeeze *squeeze, const uint64_t *changes, uint64_t *words) {
  for (int i = 0; i < MODEL_WORDS; i++)
    if (changes[i] & ~__atomic_load_n(&squeeze->placed[i], __ATOMIC_RELAXED)) return 0;
  /* Bits are marked as placed after their place is stored. */
  __atomic_thread_fence(__ATOMIC_ACQUIRE);
  const uint32_t later = __atomic_load_n(&squeeze->later_count, __ATOMIC_RELAXED);
  for (const Piece *piece = squeeze->later; piece < squeeze->later + later; piece++) {
    uint64_t bits = gather_bits(changes[piece->word], piece->mask);
    words[piece->place / 64] |= bits << piece->place % 64;
    words[piece->place / 64 + 1] |= bits >> 1 >> (63 - piece->place % 64);
  }
  return 1;
}

/* Squeezes a state. Returns 0 if it has changed a bit that has no place. */
static inline int squeeze_known(const Squeeze *squeeze, const uint8_t *state, uint8_t *squeezed) {
  uint64_t words[SQUEEZED_WORDS + 2], changes[MODEL_WORDS], filling = 0, later = 0;
  int filled = 0;
  for (int i = 0; i < MODEL_WORDS; i++) {
    const Piece piece = squeeze->pieces[i];
    changes[i] = model_word(state, i) ^ squeeze->first[i];
    later |= changes[i] & ~piece.mask;
    uint64_t bits = gather_bits(changes[i], piece.mask);
    unsigned place = piece.place % 64;
    filling |= bits << place;
    if (place + (unsigned)__builtin_popcountll(piece.mask) < 64) continue;
    words[filled++] = filling;
    filling = bits >> 1 >> (63 - place);
  }
  words[filled++] = filling;
  while (filled < SQUEEZED_WORDS + 1) words[filled++] = 0;
  if (later && !squeeze_later(squeeze, changes, words)) return 0;
  memcpy(squeezed, words, STATE_BYTES);
  return 1;
}

/* Gives places to the bits that the state has changed and that have none. Returns 0 if there are not enough places. */
static int squeeze_more(Squeeze *squeeze, const uint8_t *state) {
  int complete = 1;
  pthread_mutex_lock(&squeeze->lock);
  for (int i = 0; i < MODEL_WORDS; i++) {
    uint64_t mask = (model_word(state, i) ^ squeeze->first[i]) & ~squeeze->placed[i];
    uint32_t count = (uint32_t)__builtin_popcountll(mask);
    if (!count) continue;
    complete = squeeze->places + count <= SQUEEZED_BITS;
    if (!complete) break;
    squeeze->later[squeeze->later_count] = (Piece){mask, (uint32_t)i, squeeze->places};
    squeeze->places += count;
    __atomic_store_n(&squeeze->later_count, squeeze->later_count + 1, __ATOMIC_RELEASE);
    __atomic_store_n(&squeeze->placed[i], squeeze->placed[i] | mask, __ATOMIC_RELEASE);
  }
  pthread_mutex_unlock(&squeeze->lock);
  return complete;
}

/* Squeezes a state, and adds places if necessary. Returns 0 if the state does not fit. */
static inline int squeeze_state(Squeeze *squeeze, const uint8_t *state, uint8_t *squeezed) {
  while (__builtin_expect(!squeeze_known(squeeze, state, squeezed), 0))
    if (!squeeze_more(squeeze, state)) return 0;
  return 1;
}

/* Restores a packed state, which is followed by spare bytes. */
static inline void spread_state(const Squeeze *squeeze, const uint8_t *squeezed, uint8_t *state) {
  uint64_t words[SQUEEZED_WORDS + 1] = {0};
  memcpy(words, squeezed, STATE_BYTES);
  for (int i = 0; i < MODEL_WORDS; i++) {
    const Piece piece = squeeze->pieces[i];
    const unsigned at = piece.place / 64, shift = piece.place % 64;
    uint64_t bits = piece.mask ? words[at] >> shift | words[at + 1] << 1 << (63 - shift) : 0;
    uint64_t word = squeeze->first[i] ^ scatter_bits(bits, piece.mask);
    memcpy(state + 8 * i, &word, sizeof word);
  }
  uint64_t placed_later = words[squeeze->first_places / 64] >> squeeze->first_places % 64;
  for (int i = (int)(squeeze->first_places / 64) + 1; i < SQUEEZED_WORDS; i++) placed_later |= words[i];
  const uint32_t later = placed_later ? __atomic_load_n(&squeeze->later_count, __ATOMIC_ACQUIRE) : 0;
  for (const Piece *piece = squeeze->later; piece < squeeze->later + later; piece++) {
    const unsigned at = piece->place / 64, shift = piece->place % 64;
    uint64_t word, bits = words[at] >> shift | words[at + 1] << 1 << (63 - shift);
    memcpy(&word, state + 8 * piece->word, sizeof word);
    word ^= scatter_bits(bits, piece->mask);
    memcpy(state + 8 * piece->word, &word, sizeof word);
  }
}
#endif
