/* Helpers of the emitted code that brings states into normal form. Include after state.h. */
#ifndef OUTCROP_NORMAL_H
#define OUTCROP_NORMAL_H

/* The elements of all scalarsets, numbered from 1. */
typedef uint16_t Element;

/* Adds bits to an image that is zero there. Writes whole words, so that a load never straddles earlier stores. */
static inline void image_bits(uint64_t *image, uint64_t bit, unsigned width, uint64_t bits) {
  const unsigned shift = bit & 63;
  image[bit >> 6] |= bits << shift;
  if (shift + width > 64) image[(bit >> 6) + 1] |= bits >> (64 - shift);
}

/* Compares keys of several words, the first one most significant. */
static inline int key_less(const uint64_t *a, const uint64_t *b, unsigned words) {
  for (unsigned word = 0; word + 1 < words; word++)
    if (a[word] != b[word]) return a[word] < b[word];
  return a[words - 1] < b[words - 1];
}

static inline uint64_t scramble(uint64_t word) {
  word *= UINT64_C(0x9e3779b97f4a7c15);
  word ^= word >> 32;
  word *= UINT64_C(0xd6e8feb86659fd93);
  return word ^ word >> 29;
}

/* Returns a hash of what is known about one element, for sorting if it does not fit in one word. */
static inline uint64_t local_hash(const uint64_t *local, unsigned words) {
  uint64_t hash = 0;
  for (unsigned word = 0; word < words; word++) hash = scramble(hash + local[word] + word);
  return hash;
}

/* One comparator of a sorting network. */
#define IN_ORDER(a, b)                 \
  do {                                 \
    const uint64_t least = a < b ? a : b; \
    b = a < b ? b : a;                 \
    a = least;                         \
  } while (0)

static inline void insertion_sort(uint64_t *keys, unsigned count) {
  for (unsigned next = 1; next < count; next++) {
    const uint64_t key = keys[next];
    unsigned place = next;
    for (; place > 0 && keys[place - 1] > key; place--) keys[place] = keys[place - 1];
    keys[place] = key;
  }
}

#endif
