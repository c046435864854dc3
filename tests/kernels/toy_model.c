/* Peterson's algorithm for N processes, written by hand for the model ABI: an example of an emitted model as the
 * kernels see it. -DBREAK_INVARIANT and similar flags add violations. */
#ifndef N
#define N 3
#endif

enum { P_AT = 0, Q_AT = 3 * N, TURN_AT = Q_AT + 4 * N, J_AT = TURN_AT + 4 * (N + 1) };

#define STATE_BITS (3 * N + 4 * N + 4 * (N + 1) + 4 * N)
#define STATE_BYTES ((STATE_BITS + 7) / 8)
#define RULE_COUNT 5
#define COVER_COUNT 1
#define NOTE_COUNT 0
#define LIVENESS_COUNT N
#define START_COUNT 1
#define HAS_ASSUMPTIONS 0
#define HAS_INVARIANTS 1
#define HAS_COVER_PROPERTIES 0
#define HAS_NORMALISE 0
#define HAS_REALS 0
#define HAS_PUT 0
#define HAS_LIVENESS 1
#define HAS_ENDS 0
#define HAS_WIDE_INTEGERS 0
#define HAS_FAIRNESS 0
#define HAS_FAIRNESS_COUNTER 0
#define HAS_MOVERS 0

#include "state.h"

#include "expand.h"

static int model_start(uint64_t instance, uint8_t *state, Context *context) {
  (void)instance, (void)context;
  for (int i = 0; i < N; i++) {
    set_bits(state, P_AT + 3 * i, 3, 1);
    set_bits(state, Q_AT + 4 * i, 4, 1);
    set_bits(state, J_AT + 4 * i, 4, 1);
  }
  return OK;
}

static int may_enter(const uint8_t *state, unsigned i, unsigned j) {
  int first = 1;
  for (unsigned q = 0; q < N && first; q++) first = q == i || get_bits(state, Q_AT + 4 * q, 4) < j;
  return first || get_bits(state, TURN_AT + 4 * (j - 1), 4) != i + 1;
}

/* Values are stored plus one; the labels L0..L4 are 1..5. */
static int model_expand(const uint8_t *state, Expansion *expansion) {
  for (unsigned i = 0; i < N; i++) {
    unsigned j = (unsigned)get_bits(state, J_AT + 4 * i, 4);
    unsigned label = (unsigned)get_bits(state, P_AT + 3 * i, 3);
    uint8_t *next = successor_begin(expansion, state);
    switch (label) {
    case 1:
      set_bits(next, J_AT + 4 * i, 4, 2);
      set_bits(next, P_AT + 3 * i, 3, 2);
      break;
    case 2:
      set_bits(next, Q_AT + 4 * i, 4, j);
      set_bits(next, P_AT + 3 * i, 3, 3);
      break;
    case 3:
      set_bits(next, TURN_AT + 4 * (j - 1), 4, i + 1);
      set_bits(next, P_AT + 3 * i, 3, 4);
      break;
    case 4:
      if (may_enter(state, i, j)) {
        set_bits(next, J_AT + 4 * i, 4, j + 1);
        set_bits(next, P_AT + 3 * i, 3, j < N ? 2 : 5);
      }
      break;
    default:
      expansion->context->covered[0]++;
      set_bits(next, Q_AT + 4 * i, 4, 2);
      set_bits(next, P_AT + 3 * i, 3, 1);
    }
    successor_end(expansion, state, label - 1, OK);
  }
  return OK;
}

static int model_invariants(const uint8_t *state, Context *context) {
  int critical = 0;
  (void)context;
  for (int i = 0; i < N; i++) critical += get_bits(state, P_AT + 3 * i, 3) == 5;
#ifdef BREAK_INVARIANT
  return critical > 0;
#else
  return critical > 1;
#endif
}

static int model_liveness(const uint8_t *state, Context *context, uint64_t *satisfied) {
  (void)context;
  for (int i = 0; i < N; i++)
    if (get_bits(state, P_AT + 3 * i, 3) == 5) satisfied[0] |= (uint64_t)1 << i;
  return OK;
}
