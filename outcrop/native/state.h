/* The basis of every compiled model: bits of a packed state, checked arithmetic, and the context of a worker.
 *
 * A state is STATE_BYTES bytes; bit k of it is bit k % 8 of byte k / 8. A leaf of a simple type is 0 when undefined
 * and value - low + 1 otherwise; a real is the inverted bits of its double (see ir/layout.py). Every buffer that holds
 * packed bits has 8 spare bytes behind it, so that an unaligned 64-bit access may start at any byte of it. Leaves
 * wider than 57 bits start at a byte boundary. Needs the constants that precede it in the translation unit.
 */
#ifndef OUTCROP_STATE_H
#define OUTCROP_STATE_H

#include <stdint.h>
#if HAS_REALS
#include <math.h>
#include <stdio.h>
#endif
#if HAS_REALS || HAS_PUT
#include <stdlib.h>
#endif

/* Whether to count also what only reports need, for each rule. */
#ifndef HAS_COVERAGE
#define HAS_COVERAGE 0
#endif

#ifndef likely
#define likely(condition) __builtin_expect(!!(condition), 1)
#define unlikely(condition) __builtin_expect(!!(condition), 0)
#endif

#define UNUSED __attribute__((unused))
/* Linkage of rules and functions. */
#ifndef BODY
#define BODY inline
#endif
#ifndef NOINLINE
#define NOINLINE __attribute__((noinline))
#endif

/* The rules of a large model are compiled as several units at the same time: PIECE 0 has all but the rules, PIECE p of
 * PIECES the groups of rules whose number is p - 1 modulo PIECES. Without PIECE everything is one unit. */
#ifdef PIECE
#define IS_MAIN_UNIT (PIECE == 0)
#define HAS_GROUP(number) (PIECE && (number) % PIECES == PIECE - 1)
#define ACROSS_UNITS __attribute__((visibility("hidden"))) NOINLINE
#else
#define IS_MAIN_UNIT 1
#define HAS_GROUP(number) 1
#define ACROSS_UNITS static NOINLINE
#endif

#include "bits.h"

/* The ending of a body, function or startstate. A condition returns 0 or 1, or one of these negated. */
enum { OK = 0, FAILED = 1, ABANDONED = 2 };

/* The counts of a worker that runs model code. The arrays have one spare element, because C has no empty ones. */
typedef struct Context {
  Counter fired[RULE_COUNT + 1];
#if HAS_COVERAGE
  Counter enabled[RULE_COUNT + 1]; /* guards that were true: bodies started, whether or not they ended normally */
  Counter deeper[RULE_COUNT + 1];  /* firings that led to a state of the next level */
#endif
  Counter covered[COVER_COUNT + 1];
  uint8_t noted[NOTE_COUNT + 1]; /* events that have happened: undefined reads that went through, and witnesses */
  uint32_t depth;                /* number of nested calls of recursive functions */
#if HAS_PUT
  uint64_t *put; /* records of executed put statements: the site, then its words */
  uint64_t put_length, put_room;
  int put_is_full; /* whether memory for more ran out */
#endif
} Context;

/* Counts that a cover goal was met `times` times. */
static inline void cover(Context *context, unsigned goal, uint64_t times) { COUNT(context->covered[goal], times); }

/* Wider ranges are handled in steps of 56 bits, which keeps the position within the byte. */
enum { STEP = 56 };

static inline void copy_bits(uint8_t *to, uint64_t to_bit, const uint8_t *from, uint64_t from_bit, uint64_t count) {
  const uint64_t steps = count / STEP;
  for (uint64_t step = 0; step < steps; step++)
    set_bits(to, to_bit + STEP * step, STEP, get_bits(from, from_bit + STEP * step, STEP));
  if (count % STEP)
    set_bits(to, to_bit + STEP * steps, count % STEP, get_bits(from, from_bit + STEP * steps, count % STEP));
}

static inline void zero_bits(uint8_t *to, uint64_t to_bit, uint64_t count) {
  const uint64_t steps = count / STEP;
  for (uint64_t step = 0; step < steps; step++) set_bits(to, to_bit + STEP * step, STEP, 0);
  if (count % STEP) set_bits(to, to_bit + STEP * steps, count % STEP, 0);
}

static inline int equal_bits(const uint8_t *a, uint64_t a_bit, const uint8_t *b, uint64_t b_bit, uint64_t count) {
  const uint64_t steps = count / STEP;
  for (uint64_t step = 0; step < steps; step++)
    if (get_bits(a, a_bit + STEP * step, STEP) != get_bits(b, b_bit + STEP * step, STEP)) return 0;
  return count % STEP == 0 || get_bits(a, a_bit + STEP * steps, count % STEP) ==
                                  get_bits(b, b_bit + STEP * steps, count % STEP);
}

/* --- Values -------------------------------------------------------------------------------------------------- */

/* The integers that a model computes with: 64 bits, or wider if it writes larger numbers. */
#if HAS_WIDE_INTEGERS
__extension__ typedef __int128 Integer;
#else
typedef int64_t Integer;
#endif

#if HAS_WIDE_INTEGERS
static inline Integer value_of(uint64_t packed, Integer low) { return (Integer)packed - 1 + low; }
static inline uint64_t packed_of(Integer value, Integer low) { return (uint64_t)(value - low + 1); }
#else
/* Unsigned arithmetic, because the smallest value of a type may be that of int64_t. */
static inline Integer value_of(uint64_t packed, Integer low) { return (Integer)(packed - 1 + (uint64_t)low); }
static inline uint64_t packed_of(Integer value, Integer low) { return (uint64_t)value - (uint64_t)low + 1; }
#endif

/* A negative count shifts the other way. Bits shifted out of 64 are lost. */
static inline Integer shift_left(Integer value, Integer count) {
  if (count < 0) return count <= -64 ? -(value < 0) : value >> -count;
  return count >= 64 ? 0 : (int64_t)((uint64_t)value << count);
}
static inline Integer shift_right(Integer value, Integer count) {
  if (count < 0) return count <= -64 ? 0 : (int64_t)((uint64_t)value << -count);
  return count >= 64 ? -(value < 0) : value >> count;
}

/* INT64_MIN % -1 is 0, but traps on most machines. */
static inline Integer remainder_of(Integer dividend, Integer divisor) {
  return divisor == -1 ? 0 : dividend % divisor;
}

#if HAS_REALS
static inline double real_of(uint64_t packed) {
  double value;
  packed = ~packed;
  __builtin_memcpy(&value, &packed, sizeof value);
  return value;
}

/* The sum turns -0.0 into 0.0: equal values have equal bits. */
static inline uint64_t packed_real(double value) {
  uint64_t bits;
  value += 0.0;
  __builtin_memcpy(&bits, &value, sizeof bits);
  return ~bits;
}

/* Rounds to `digits` significant decimal digits, as in the text of the number. Returns 0 if the exponent is too
 * large. */
static inline int round_real(double value, int digits, int max_exponent, double *rounded) {
  char text[48];
  int at = snprintf(text, sizeof text, "%.*e", digits - 1, value);
  *rounded = strtod(text, 0);
  while (text[--at] != 'e')
    ;
  return atoi(text + at + 1) <= max_exponent;
}
#endif

#if HAS_PUT
static inline void put_word(Context *context, uint64_t word) {
  if (context->put_is_full) return; /* records after a gap could not be read */
  if (context->put_length == context->put_room) {
    const uint64_t room = 2 * context->put_room + 1024;
    uint64_t *grown = realloc(context->put, room * sizeof *grown);
    if (!grown) {
      context->put_is_full = 1;
      return;
    }
    context->put = grown;
    context->put_room = room;
  }
  context->put[context->put_length++] = word;
}
#endif

#endif
