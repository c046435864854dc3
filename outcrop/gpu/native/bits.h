/* The packed bits of a model on a GPU: aligned words of 32 bits, because GPUs have no unaligned loads.
 *
 * States of few words stay in registers. Registers cannot be indexed, so a position that the compiler does not know
 * selects among all words (REGISTER_WORDS of them). Wider states lie in the local memory of the thread. The file of the
 * same name in outcrop/native is for processors. */
#ifndef OUTCROP_BITS_H
#define OUTCROP_BITS_H

/* Number of 64-bit words of a state. Bits past the last one of a state are zero. */
#define WORDS ((STATE_BYTES + 7) / 8)
/* Bytes that a thread keeps for a state: one word more, because the last bits may be loaded together with the next. */
#define ROOM_BYTES (8 * (WORDS + 1))

#if (STATE_BITS + 31) / 32 <= MOST_REGISTER_WORDS && WIDEST_BUFFER <= ROOM_BYTES
#define REGISTER_WORDS ((STATE_BITS + 31) / 32)
#else
#define REGISTER_WORDS 0
#endif

/* Buffers in registers are read as states are. */
#define BUFFER_BYTES(bytes) (REGISTER_WORDS ? ROOM_BYTES : ((bytes) + 7) / 8 * 8)
#define BUFFER(name, bytes) ALIGNED uint8_t name[BUFFER_BYTES(bytes)]

#define PRIVATE_STATE(name, original) const uint8_t *const name = original

/* A counter of a block of threads. No block lives long enough for more than 32 bits. */
typedef uint32_t Counter;
#define COUNT(counter, times) add_shared(&(counter), (uint32_t)(times))

/* `at` is a multiple of eight bytes. */
static inline uint64_t load_word(const uint8_t *at) { return *(const uint64_t *)at; }
static inline void store_word(uint8_t *at, uint64_t word) { *(uint64_t *)at = word; }

static inline uint64_t low_bits(unsigned width) { return width >= 64 ? ~UINT64_C(0) : (UINT64_C(1) << width) - 1; }
static inline uint32_t low_bits_32(unsigned width) { return width >= 32 ? ~0u : (1u << width) - 1; }

#if REGISTER_WORDS
static inline uint32_t get_word(const uint8_t *base, uint32_t number) {
  const uint32_t *words = (const uint32_t *)base;
  uint32_t word = words[0];
  UNROLL for (uint32_t i = 1; i < REGISTER_WORDS; i++) word = number == i ? words[i] : word;
  return word;
}

static inline void set_word(uint8_t *base, uint32_t number, uint32_t mask, uint32_t bits) {
  uint32_t *words = (uint32_t *)base;
  UNROLL for (uint32_t i = 0; i < REGISTER_WORDS; i++) words[i] = number == i ? (words[i] & ~mask) | bits : words[i];
}
#else
static inline uint32_t get_word(const uint8_t *base, uint32_t number) { return ((const uint32_t *)base)[number]; }

static inline void set_word(uint8_t *base, uint32_t number, uint32_t mask, uint32_t bits) {
  uint32_t *word = (uint32_t *)base + number;
  *word = (*word & ~mask) | bits;
}
#endif

static inline uint64_t get_bits(const uint8_t *base, uint64_t bit, unsigned width) {
  const uint32_t number = (uint32_t)bit >> 5, shift = (uint32_t)bit & 31;
  const uint32_t first = get_word(base, number);
  if (width == 1) return first >> shift & 1;
  const uint32_t second = get_word(base, number + 1);
  const uint32_t low = shift_pair(first, second, shift);
  if (width <= 32) return low & low_bits_32(width);
  const uint32_t third = shift + width > 64 ? get_word(base, number + 2) : 0;
  return ((uint64_t)shift_pair(second, third, shift) << 32 | low) & low_bits(width);
}

static inline void set_bits(uint8_t *base, uint64_t bit, unsigned width, uint64_t packed) {
  const uint32_t number = (uint32_t)bit >> 5, shift = (uint32_t)bit & 31;
  if (width <= 32) {
    const uint64_t mask = (uint64_t)low_bits_32(width) << shift, bits = (uint64_t)(uint32_t)packed << shift;
    set_word(base, number, (uint32_t)mask, (uint32_t)bits);
    if (width > 1 && shift + width > 32) set_word(base, number + 1, (uint32_t)(mask >> 32), (uint32_t)(bits >> 32));
    return;
  }
  const uint64_t mask = low_bits(width) << shift, bits = packed << shift;
  set_word(base, number, (uint32_t)mask, (uint32_t)bits);
  set_word(base, number + 1, (uint32_t)(mask >> 32), (uint32_t)(bits >> 32));
  if (shift + width > 64)
    set_word(base, number + 2, low_bits_32(shift + width - 64), (uint32_t)(packed >> (64 - shift)));
}

#endif
