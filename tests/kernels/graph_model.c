/* A product that is a graph given at run time: nodes, some of them accepting, with node 0 as the start. Thousands of
 * graphs need one compilation. */
#define STATE_BITS 72
#define STATE_BYTES 9
#define RULE_COUNT 1
#define COVER_COUNT 0
#define NOTE_COUNT 0
#define LIVENESS_COUNT 0
#define START_COUNT 1
#define HAS_ASSUMPTIONS 0
#define HAS_INVARIANTS 0
#define HAS_COVER_PROPERTIES 0
#define HAS_NORMALISE 0
#define HAS_REALS 0
#define HAS_PUT 0
#define HAS_LIVENESS 0
#define HAS_ENDS 0
#define HAS_WIDE_INTEGERS 0
#define HAS_FAIRNESS_COUNTER 0
#ifndef HAS_MOVERS
#define HAS_FAIRNESS 0
#define HAS_MOVERS 0
#endif
#define HAS_AUTOMATON 1
#define AUTOMATON_STATES 1

#include "state.h"

#include "expand.h"

static const uint32_t *first, *targets; /* the successors of node n are targets[first[n]] to targets[first[n + 1]] */
static const uint8_t *accepts;

__attribute__((visibility("default"), used)) void graph_set(const uint32_t *new_first, const uint32_t *new_targets,
                                                            const uint8_t *new_accepts) {
  first = new_first;
  targets = new_targets;
  accepts = new_accepts;
}

#if HAS_MOVERS
static const uint32_t *movers, *partners; /* fairness sets of each edge */

__attribute__((visibility("default"), used)) void graph_set_movers(const uint32_t *new_movers,
                                                                   const uint32_t *new_partners) {
  movers = new_movers;
  partners = new_partners;
}
#endif

static int model_start(uint64_t instance, uint8_t *state, Context *context) {
  (void)instance, (void)state, (void)context;
  return OK;
}

static inline void model_enter(uint8_t *state, uint32_t target, uint32_t counter) {
  (void)state, (void)target, (void)counter;
}

static int model_expand(const uint8_t *state, Expansion *expansion) {
  const uint64_t node = get_bits(state, 0, 32);
  expansion->target_count = 1;
  for (uint32_t i = first[node]; i < first[node + 1]; i++) {
    uint8_t *next = successor_begin(expansion, state);
#if HAS_MOVERS
    expansion->mover = movers[i];
    expansion->partner = partners[i];
#endif
    set_bits(next, 0, 32, targets[i]);
    /* A copy of the node elsewhere: bytes that only a comparison of all bytes sees. */
    set_bits(next, 40, 32, targets[i] * UINT32_C(2654435761));
    successor_end(expansion, state, 0, OK);
  }
  return OK;
}

static int model_accepting(const uint8_t *state) { return accepts[get_bits(state, 0, 32)]; }
