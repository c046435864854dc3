/* Access to packed bits and counters, as it is fastest on a processor. outcrop/gpu has a file of the same name for
 * GPUs. */
#ifndef OUTCROP_BITS_H
#define OUTCROP_BITS_H

#include <stdint.h>

#include "loose.h"

/* Declares a buffer for packed bits that are not part of the state. */
#define BUFFER(name, bytes) uint8_t name[bytes]

/* Declares a copy that the compiler can see never changes, so that values loaded by guards stay known across
 * firings. */
#define PRIVATE_STATE(name, original) \
  uint8_t name[STATE_BYTES + 8];      \
  __builtin_memcpy(name, original, STATE_BYTES + 8)

typedef uint64_t Counter;
#define COUNT(counter, times) ((counter) += (times))

static inline uint64_t load_word(const uint8_t *at) {
  uint64_t word;
  LOOSE_READ(__builtin_memcpy(&word, at, sizeof word));
  return word;
}

static inline void store_word(uint8_t *at, uint64_t word) { __builtin_memcpy(at, &word, sizeof word); }

static inline uint64_t low_bits(unsigned width) { return width >= 64 ? ~UINT64_C(0) : (UINT64_C(1) << width) - 1; }

static inline uint64_t get_bits(const uint8_t *base, uint64_t bit, unsigned width) {
  return load_word(base + (bit >> 3)) >> (bit & 7) & low_bits(width);
}

static inline void set_bits(uint8_t *base, uint64_t bit, unsigned width, uint64_t packed) {
  uint8_t *at = base + (bit >> 3);
  const uint64_t mask = low_bits(width) << (bit & 7);
  store_word(at, (load_word(at) & ~mask) | packed << (bit & 7));
}

#endif
