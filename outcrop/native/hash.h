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

__extension__ typedef unsigned __int128 Wide;

typedef struct Hasher {
  uint64_t low[HASH_WORDS];  /* lower halves of the keys */
  uint64_t high[HASH_WORDS]; /* upper halves */
  Wide constant;
} Hasher;

static inline uint64_t multiply_high(uint64_t a, uint64_t b) { return (uint64_t)((Wide)a * b >> 64); }

/* Returns word `number` of a state. The last word overlaps the one before, so as not to read past the end. */
static inline uint64_t state_word(const uint8_t *state, int number) {
  uint64_t word = 0;
  int at = number * 8;
  if (STATE_BYTES < 8)
    memcpy(&word, state, STATE_BYTES < 8 ? STATE_BYTES : 8);
  else
    memcpy(&word, state + (at + 8 <= STATE_BYTES ? at : STATE_BYTES - 8), 8);
  return word;
}

/* Returns word `number` of a state without overlapping bytes, so that each byte is in one word. */
static inline uint64_t hash_word(const uint8_t *state, int number) {
  int over = number * 8 + 8 - STATE_BYTES;
  return state_word(state, number) >> (STATE_BYTES > 8 && over > 0 ? 8 * over : 0);
}

static inline uint64_t hash_state(const Hasher *hasher, const uint8_t *state) {
  Wide sum = hasher->constant;
  uint64_t high = 0;
  for (int i = 0; i < HASH_WORDS; i++) {
    uint64_t word = hash_word(state, i);
    sum += (Wide)hasher->low[i] * word;
    high += hasher->high[i] * word;
  }
  uint64_t hash = (uint64_t)(sum >> 64) + high;
  hash = (hash ^ hash >> 32) * 0xD6E8FEB86659FD93ull;
  return hash ^ hash >> 32;
}

static inline int states_equal(const uint8_t *a, const uint8_t *b) {
  uint64_t difference = 0;
  for (int i = 0; i < HASH_WORDS; i++) difference |= state_word(a, i) ^ state_word(b, i);
  return difference == 0;
}

/* Increment of the SplitMix64 sequence, from which keys are drawn. */
#define RANDOM_STEP 0x9E3779B97F4A7C15ull

static uint64_t next_random(uint64_t *sequence) {
  uint64_t z = *sequence += RANDOM_STEP;
  z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9ull;
  z = (z ^ z >> 27) * 0x94D049BB133111EBull;
  return z ^ z >> 31;
}

static void hasher_seed(Hasher *hasher, uint64_t seed) {
  for (int i = 0; i < HASH_WORDS; i++) {
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
  for (int i = 1; first_only && i < HASH_WORDS; i++) hasher->low[i] = hasher->high[i] = 0;
}

#endif
