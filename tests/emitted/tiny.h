/* Builtins of GCC that emitted code uses and the Tiny C Compiler lacks. */
#include <stdint.h>

static inline int __builtin_popcountll(uint64_t word) {
  int count = 0;
  for (; word; word &= word - 1) count++;
  return count;
}

static inline int __builtin_ctzll(uint64_t word) {
  int count = 0;
  for (; !(word & 1); word >>= 1) count++;
  return count;
}

static inline int __builtin_add_overflow(int64_t a, int64_t b, int64_t *sum) {
  *sum = (int64_t)((uint64_t)a + (uint64_t)b);
  return ((a ^ *sum) & (b ^ *sum)) < 0;
}

static inline int __builtin_sub_overflow(int64_t a, int64_t b, int64_t *difference) {
  *difference = (int64_t)((uint64_t)a - (uint64_t)b);
  return ((a ^ b) & (a ^ *difference)) < 0;
}

static inline int __builtin_mul_overflow(int64_t a, int64_t b, int64_t *product) {
  *product = (int64_t)((uint64_t)a * (uint64_t)b);
  if (a == 0 || a == 1 || b == 0 || b == 1) return 0;
  if (a == -1) return b == INT64_MIN;
  return *product / a != b || (b == -1 && a == INT64_MIN);
}
