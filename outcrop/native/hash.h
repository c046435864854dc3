/* The hash of a packed state, 64 bits, and the sizes that everything that holds states agrees on.
 *
 * The hash is multilinear: the upper half of c + a1*w1 + a2*w2 + ... modulo 2^128, where w are the 64-bit words of the
 * state and a, c random 128-bit keys. It is strongly universal: for two different states, every pair of hash values is
 * equally likely over the choice of keys, so any b bits of it collide with probability 2^-b, for every model. The
 * omission bound of hash compaction rests on this. A final bijection scatters the progressions that linearity leaves,
 * and as a bijection keeps the guarantee. */
#ifndef OUTCROP_HASH_H
#define OUTCROP_HASH_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Size of a cache line, the unit of every table. */
#define LINE_BYTES 64

#define HASH_WORDS ((STATE_BYTES + 7) / 8)

/* For functions of a number of bytes that is a constant in each call. */
#define ALWAYS_INLINE inline __attribute__((always_inline))

__extension__ typedef unsigned __int128 Wide;

/* Keys for a state as the model packs it, of which a narrower form uses the first ones. */
typedef struct Hasher {
  uint64_t low[MODEL_WORDS];  /* lower halves of the keys */
  uint64_t high[MODEL_WORDS]; /* upper halves */
  Wide constant;
} Hasher;

static inline uint64_t multiply_high(uint64_t a, uint64_t b) { return (uint64_t)((Wide)a * b >> 64); }

/* Returns word `number` of some bytes. The last word overlaps the one before, so as not to read past the end. */
static ALWAYS_INLINE uint64_t word_of_bytes(const uint8_t *state, int bytes, int number) {
  uint64_t word = 0;
  int at = number * 8;
  if (bytes < 8)
    memcpy(&word, state, (size_t)(bytes < 8 ? bytes : 8));
  else
    memcpy(&word, state + (at + 8 <= bytes ? at : bytes - 8), 8);
  return word;
}

/* Returns word `number` of some bytes without overlapping ones, so that each byte is in one word. */
static ALWAYS_INLINE uint64_t apart_word(const uint8_t *state, int bytes, int number) {
  int over = number * 8 + 8 - bytes;
  return word_of_bytes(state, bytes, number) >> (bytes > 8 && over > 0 ? 8 * over : 0);
}

static ALWAYS_INLINE uint64_t hash_bytes(const Hasher *hasher, const uint8_t *state, int bytes) {
  Wide sum = hasher->constant;
  uint64_t high = 0;
  for (int i = 0; i < (bytes + 7) / 8; i++) {
    uint64_t word = apart_word(state, bytes, i);
    sum += (Wide)hasher->low[i] * word;
    high += hasher->high[i] * word;
  }
  uint64_t hash = (uint64_t)(sum >> 64) + high;
  hash = (hash ^ hash >> 32) * 0xD6E8FEB86659FD93ull;
  return hash ^ hash >> 32;
}

static ALWAYS_INLINE int bytes_equal(const uint8_t *a, const uint8_t *b, int bytes) {
  uint64_t difference = 0;
  for (int i = 0; i < (bytes + 7) / 8; i++) difference |= word_of_bytes(a, bytes, i) ^ word_of_bytes(b, bytes, i);
  return difference == 0;
}

/* A state as the search keeps it. */
static inline uint64_t state_word(const uint8_t *state, int number) { return word_of_bytes(state, STATE_BYTES, number); }
static inline uint64_t hash_state(const Hasher *hasher, const uint8_t *state) { return hash_bytes(hasher, state, STATE_BYTES); }
static inline int states_equal(const uint8_t *a, const uint8_t *b) { return bytes_equal(a, b, STATE_BYTES); }

/* A state as the model packs it: the form in which ranks send states, and in which findings are compared. */
static inline uint64_t packed_word(const uint8_t *state, int number) { return apart_word(state, MODEL_BYTES, number); }
static inline uint64_t hash_packed(const Hasher *hasher, const uint8_t *state) { return hash_bytes(hasher, state, MODEL_BYTES); }
static inline int packed_equal(const uint8_t *a, const uint8_t *b) { return bytes_equal(a, b, MODEL_BYTES); }

/* Increment of the SplitMix64 sequence, from which keys are drawn. */
#define RANDOM_STEP 0x9E3779B97F4A7C15ull

static uint64_t next_random(uint64_t *sequence) {
  uint64_t z = *sequence += RANDOM_STEP;
  z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9ull;
  z = (z ^ z >> 27) * 0x94D049BB133111EBull;
  return z ^ z >> 31;
}

static void hasher_seed(Hasher *hasher, uint64_t seed) {
  for (int i = 0; i < MODEL_WORDS; i++) {
    hasher->low[i] = next_random(&seed);
    hasher->high[i] = next_random(&seed);
  }
  uint64_t upper = next_random(&seed);
  hasher->constant = (Wide)upper << 64 | next_random(&seed);
}

/* Makes the hash bijective in the first word, by adding an odd multiple of it to the sum of the other words. The hash
 * and the bytes past the eighth then determine the state. The hash is no longer universal in the first word.
 * `first_only`, for tests: states that differ only in other words have the same hash. */
static void hasher_reverse(Hasher *hasher, int first_only) {
  hasher->low[0] = 0;
  hasher->high[0] |= 1;
  for (int i = 1; first_only && i < MODEL_WORDS; i++) hasher->low[i] = hasher->high[i] = 0;
}

/* For tests: of the first word, only the lowest byte counts, so nodes of trees have one of 256 hashes. */
static inline void hasher_weaken(Hasher *hasher) {
  hasher->low[0] = 0;
  hasher->high[0] = (uint64_t)1 << 56;
}

#endif
