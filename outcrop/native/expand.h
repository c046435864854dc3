/* The expansion of a state: functions that the emitted model_expand calls for each rule instance.
 *
 * Successors gather in a buffer. When it is full, `flush` hashes all of them, which prefetches their lines of the
 * visited set, and then looks them up. Hashing a successor at once would be slow: its bytes have just been written in
 * other pieces than the hash reads, and the processor would wait for them.
 *
 * In a product with an automaton, each successor is kept once for every state that the automaton may go to; see
 * product.h.
 *
 * Include after state.h and before the model's functions. */
#ifndef OUTCROP_EXPAND_H
#define OUTCROP_EXPAND_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "loose.h"

#ifndef HAS_AUTOMATON
#define HAS_AUTOMATON 0
#endif
#ifndef HAS_INSTANCES
#define HAS_INSTANCES 0
#endif

/* Number of successors in a buffer: few enough to stay in the second-level cache together with the prefetched lines of
 * the table, and enough for lookups to overlap. */
#ifndef SUCCESSOR_ROOM
enum { SUCCESSOR_ROOM = STATE_BYTES <= 64 ? 2048 : STATE_BYTES <= 512 ? 512 : 128 };
#endif

/* Bytes after a state, in every buffer and arena, that unaligned 64-bit accesses may touch. */
#define SPARE_BYTES 8

/* Copying whole vectors, into the spare bytes if necessary, lets later loads be forwarded from one store. */
#define WHOLE_VECTORS ((STATE_BYTES + 15) / 16 * 16)
#define COPY_BYTES (WHOLE_VECTORS <= STATE_BYTES + SPARE_BYTES ? WHOLE_VECTORS : STATE_BYTES)

typedef struct Expansion {
  Context *context;
  const struct Hasher *hasher;
  const uint8_t *lines; /* the table in which the successors will be looked up */
  uint64_t line_count;
  void (*flush)(struct Expansion *expansion); /* empties the buffer */
  uint32_t count;                             /* successors in the buffer */
  uint32_t owner;                             /* number, within its block, of the state being expanded */
  uint8_t enabled;                            /* whether some body ran to its end */
  uint8_t moved;                              /* ... and led to a different state */
  uint8_t failed;                             /* whether a guard or body met a runtime error */
  uint8_t *successors;
  uint64_t *hashes; /* hash of each successor */
  uint32_t *owners; /* owner of each successor */
#if HAS_COVERAGE
  uint32_t rule;   /* the rule being fired; RULE_COUNT for start states */
  uint32_t *rules; /* rule of each successor */
#if HAS_PUT
  uint64_t put_begin;               /* first word that the current successor records */
  uint64_t *put_begins, *put_ends;  /* words that each successor records */
#endif
#endif
#if HAS_AUTOMATON
  uint32_t target_count;              /* number of states to which the automaton may go */
  uint32_t targets[AUTOMATON_STATES]; /* as packed leaves */
#endif
#if HAS_FAIRNESS
  uint32_t mover, partner; /* the fairness sets of the step; one past the last: none */
#endif
#if HAS_FAIRNESS_COUNTER
  uint8_t looking;                 /* whether only can_move is being determined: successors are not kept */
  uint8_t can_move[FAIRNESS_SETS]; /* whether each set is enabled in the state being expanded */
  uint32_t waiting;                /* the set that the step may satisfy, counted from 1; 0: none */
#endif
#if HAS_INSTANCES
  uint32_t instance;   /* the rule instance being fired */
  uint32_t *instances; /* rule instance of each successor */
#endif
#if HAS_MOVERS
  uint32_t *movers, *partners; /* processes that moved to each successor */
#endif
} Expansion;

/* Returns space for a successor, with a copy of `state`. It is dropped unless successor_end follows with OK. */
static inline uint8_t *successor_begin(Expansion *expansion, const uint8_t *state) {
  if (__builtin_expect(expansion->count == SUCCESSOR_ROOM, 0)) expansion->flush(expansion);
  uint8_t *room = expansion->successors + (size_t)expansion->count * STATE_BYTES;
#if HAS_COVERAGE && HAS_PUT
  expansion->put_begin = expansion->context->put_length;
#endif
  LOOSE_READ(memcpy(room, state, COPY_BYTES));
  return room;
}

/* Records that a guard failed. */
static inline void expansion_failed(Expansion *expansion, const uint8_t *state, uint32_t rule) {
  (void)state, (void)rule;
  expansion->failed = 1;
}

#if IS_MAIN_UNIT
#if HAS_ASSUMPTIONS
static int model_assumptions(const uint8_t *state, Context *context, int *keep);
#endif
#if HAS_NORMALISE
static void model_normalise(uint8_t *state);
#endif
#if HAS_AUTOMATON
static inline void model_enter(uint8_t *state, uint32_t target, uint32_t counter);
#endif

/* Keeps the state at the end of the buffer, which is in normal form. */
static inline void successor_keep(Expansion *expansion) {
#if HAS_COVERAGE
  expansion->rules[expansion->count] = expansion->rule;
#if HAS_PUT
  expansion->put_begins[expansion->count] = expansion->put_begin;
  expansion->put_ends[expansion->count] = expansion->context->put_length;
#endif
#endif
#if HAS_INSTANCES
  expansion->instances[expansion->count] = expansion->instance;
#endif
#if HAS_MOVERS
  expansion->movers[expansion->count] = expansion->mover;
  expansion->partners[expansion->count] = expansion->partner;
#endif
  expansion->owners[expansion->count++] = expansion->owner;
}

/* Returns whether assumptions keep a state. One that fails to evaluate does: checking the new state finds the
 * failure. */
static inline int successor_assumed(const uint8_t *state, Context *context) {
  int keep = 1;
#if HAS_ASSUMPTIONS
  if (model_assumptions(state, context, &keep) != OK) keep = 1;
#else
  (void)state, (void)context;
#endif
  return keep;
}

#if HAS_AUTOMATON
static inline uint32_t counter_after(const Expansion *expansion) {
#if HAS_FAIRNESS_COUNTER
  uint32_t waiting = expansion->waiting;
  if (!waiting) return 0;
  while (waiting <= FAIRNESS_SETS && (!expansion->can_move[waiting - 1] || waiting - 1 == expansion->mover ||
                                      waiting - 1 == expansion->partner))
    waiting++;
  return waiting <= FAIRNESS_SETS ? waiting : 0;
#else
  (void)expansion;
  return 0;
#endif
}

/* Keeps the state at the end of the buffer once for each state to which the automaton may go. */
static inline void successor_keep_pairs(Expansion *expansion) {
  const uint32_t counter = counter_after(expansion), count = expansion->target_count;
  uint8_t *successor = expansion->successors + (size_t)expansion->count * STATE_BYTES;
  model_enter(successor, expansion->targets[0], counter);
  if (count == 1) {
    successor_keep(expansion);
    return;
  }
  uint8_t copy[STATE_BYTES + SPARE_BYTES];
  memcpy(copy, successor, COPY_BYTES);
  successor_keep(expansion);
  for (uint32_t number = 1; number < count; number++) {
    model_enter(successor_begin(expansion, copy), expansion->targets[number], counter);
    successor_keep(expansion);
  }
}

/* Pairs a step of the system with the automaton. `kept`: no assumption drops its target. */
static inline void successor_pair(Expansion *expansion, uint32_t rule, int kept) {
#if HAS_FAIRNESS_COUNTER
  if (expansion->looking) {
    if (!kept) return;
    expansion->can_move[expansion->mover] = 1;
    if (expansion->partner < FAIRNESS_SETS) expansion->can_move[expansion->partner] = 1;
    return;
  }
#endif
  expansion->context->fired[rule] += expansion->target_count;
  if (kept) successor_keep_pairs(expansion);
}
#endif

/* Ends a successor, which a body has made of `state` in the space that successor_begin returned, with `status`. Not
 * inlined: one copy that stays in the instruction cache is faster than one in every rule, and compiles faster too. */
ACROSS_UNITS void successor_end(Expansion *expansion, const uint8_t *state, uint32_t rule, int status) {
#if HAS_COVERAGE
  expansion->rule = rule;
  expansion->context->enabled[rule]++;
#endif
  if (__builtin_expect(status != OK, 0)) {
    expansion->failed |= status == FAILED;
    return;
  }
  uint8_t *successor = expansion->successors + (size_t)expansion->count * STATE_BYTES;
#if !HAS_AUTOMATON
  expansion->context->fired[rule]++;
#endif
  expansion->enabled = 1;
  if (!expansion->moved) expansion->moved = memcmp(successor, state, STATE_BYTES) != 0;
#if HAS_NORMALISE
  model_normalise(successor);
#endif
#if HAS_AUTOMATON
  successor_pair(expansion, rule, successor_assumed(successor, expansion->context));
#else
  if (successor_assumed(successor, expansion->context)) successor_keep(expansion);
#endif
}
#else
ACROSS_UNITS void successor_end(Expansion *expansion, const uint8_t *state, uint32_t rule, int status);
#endif

#endif
