/* Messages between ranks: packed states, each encoded as the difference from the one before, because successors of a
 * state differ in a few bytes. For every eight bytes a mask byte says which of them differ. The masks of up to eight
 * words come first, so that the start of the next group is known early. The differing bytes follow, xored.
 *
 * The message starts with the number of states, and in some searches a value for each. Spare bytes follow a message,
 * and may be read and written. */

/* Number of words of a state whose masks form a group, and number of full groups. */
enum { MASKED_WORDS = 8, WHOLE_GROUPS = MODEL_WORDS / MASKED_WORDS };
enum { MESSAGE_HEAD = sizeof(uint64_t), MOST_PACKED = MODEL_BYTES + MODEL_WORDS + (HAS_AUTOMATON ? sizeof(uint32_t) : 0) };
#define WITH_VALUES (UINT64_C(1) << 62)

/* Returns 255 for each byte of a word that is not 0. */
static inline uint64_t nonzero_bytes(uint64_t word) {
  const uint64_t low = UINT64_MAX / 255 * 127;
  return ((((word & low) + low) | word) >> 7 & UINT64_MAX / 255) * 255;
}

#ifdef __BMI2__
static inline uint8_t bits_of_bytes(uint64_t bytes) { return (uint8_t)__builtin_ia32_pext_di(bytes, UINT64_MAX / 255); }

static inline uint64_t bytes_of_bits(uint8_t bits) { return __builtin_ia32_pdep_di(bits, UINT64_MAX / 255) * 255; }
#else
static inline uint8_t bits_of_bytes(uint64_t bytes) {
  uint8_t bits = 0;
  for (int i = 0; i < 8; i++) bits |= (uint8_t)((bytes >> 8 * i & 1) << i);
  return bits;
}

static inline uint64_t bytes_of_bits(uint8_t bits) {
  uint64_t bytes = 0;
  for (int i = 0; i < 8; i++) bytes |= (uint64_t)(bits >> i & 1) * 255 << 8 * i;
  return bytes;
}
#endif

/* Encodes a group of words. Returns where the next group goes. */
static inline uint8_t *write_words(const uint8_t *state, int first, int words, uint64_t *before, uint8_t *at) {
  uint8_t *next = at + words;
  for (int i = 0; i < words; i++) {
    const uint64_t word = packed_word(state, first + i), changes = word ^ before[first + i], bytes = nonzero_bytes(changes);
    const uint64_t gathered = gather_bits(changes, bytes);
    const uint8_t mask = bits_of_bytes(bytes);
    before[first + i] = word;
    at[i] = mask;
    memcpy(next, &gathered, sizeof gathered);
    next += __builtin_popcount(mask);
  }
  return next;
}

/* Encodes a message. Returns its length. `values` may be NULL. */
static uint64_t write_message(const uint8_t *states, const uint32_t *values, uint64_t count, uint8_t *message) {
  const uint64_t head = values ? count | WITH_VALUES : count;
  uint64_t before[MODEL_WORDS] = {0};
  uint8_t *at = message + MESSAGE_HEAD;
  memcpy(message, &head, sizeof head);
  if (values) {
    memcpy(at, values, count * sizeof *values);
    at += count * sizeof *values;
  }
  for (const uint8_t *state = states; state < states + count * MODEL_BYTES; state += MODEL_BYTES) {
    for (int i = 0; i < WHOLE_GROUPS; i++) at = write_words(state, i * MASKED_WORDS, MASKED_WORDS, before, at);
    at = write_words(state, WHOLE_GROUPS * MASKED_WORDS, MODEL_WORDS % MASKED_WORDS, before, at);
  }
  return (uint64_t)(at - message);
}

/* A message that is being read. */
typedef struct {
  const uint8_t *at;
  uint64_t left;         /* states */
  const uint8_t *values; /* values of the remaining states, or NULL */
  uint64_t before[MODEL_WORDS];
} Reading;

static Reading begin_reading(const uint8_t *message) {
  Reading reading = {.at = message + MESSAGE_HEAD};
  memcpy(&reading.left, message, sizeof reading.left);
  if (reading.left & WITH_VALUES) {
    reading.left &= ~WITH_VALUES;
    reading.values = reading.at;
    reading.at += reading.left * sizeof(uint32_t);
  }
  return reading;
}

/* Decodes a group of words. Returns where the next group is. */
static inline const uint8_t *read_words(const uint8_t *at, int first, int words, uint64_t *before, uint8_t *state) {
  enum { LAST_BYTES = MODEL_BYTES - (MODEL_WORDS - 1) * 8 };
  const uint8_t *bytes = at + words;
  uint64_t masks;
  memcpy(&masks, at, sizeof masks);
  masks &= words ? UINT64_MAX >> 8 * (MASKED_WORDS - words) : 0;
  at = bytes + __builtin_popcountll(masks);
  for (int i = 0; i < words; i++, masks >>= 8) {
    uint64_t word;
    memcpy(&word, bytes, sizeof word);
    word = before[first + i] ^= scatter_bits(word, bytes_of_bits((uint8_t)masks));
    memcpy(state + (first + i) * 8, &word, first + i + 1 < MODEL_WORDS ? 8 : LAST_BYTES);
    bytes += __builtin_popcount((uint8_t)masks);
  }
  return at;
}

/* Decodes up to `most` states. Returns their number. */
static uint32_t read_states(Reading *reading, uint8_t *states, uint64_t most) {
  const uint64_t count = reading->left < most ? reading->left : most;
  const uint8_t *at = reading->at;
  uint64_t before[MODEL_WORDS];
  memcpy(before, reading->before, sizeof before);
  for (uint8_t *state = states; state < states + count * MODEL_BYTES; state += MODEL_BYTES) {
    for (int i = 0; i < WHOLE_GROUPS; i++) at = read_words(at, i * MASKED_WORDS, MASKED_WORDS, before, state);
    at = read_words(at, WHOLE_GROUPS * MASKED_WORDS, MODEL_WORDS % MASKED_WORDS, before, state);
  }
  memcpy(reading->before, before, sizeof before);
  reading->at = at;
  reading->left -= count;
  return (uint32_t)count;
}
