/* The expansion of a product state: every move of the system with every move of the automaton (ir/product.py).
 *
 * The moves of the automaton depend on the state alone, so they are determined once, before any rule fires. Include
 * after the model's rules and the functions of its automaton. */
#ifndef OUTCROP_PRODUCT_H
#define OUTCROP_PRODUCT_H

/* Keeps the state as its own successor, because nothing is enabled. */
static void successor_stutter(Expansion *expansion, const uint8_t *state) {
#if HAS_FAIRNESS
  expansion->mover = expansion->partner = FAIRNESS_SETS;
#endif
#if HAS_COVERAGE
  expansion->rule = RULE_COUNT;
#endif
  successor_begin(expansion, state);
  successor_keep_pairs(expansion);
}

/* Determines which fairness sets can move, if the step needs it. */
static void look_for_movers(Expansion *expansion, const uint8_t *state) {
#if HAS_FAIRNESS_COUNTER
  expansion->waiting = model_waiting(state);
  if (!expansion->waiting) return;
  memset(expansion->can_move, 0, sizeof expansion->can_move);
  expansion->looking = 1;
  model_moves(state, expansion);
  expansion->looking = 0;
#else
  (void)expansion, (void)state;
#endif
}

static UNUSED int model_expand(const uint8_t *state, Expansion *expansion) {
  const int count = model_targets(state, expansion->context, expansion->targets);
  if (unlikely(count < 0)) {
    expansion_failed(expansion, state, 0);
    return OK;
  }
  if (count) {
    expansion->target_count = (uint32_t)count;
    look_for_movers(expansion, state);
    expansion->enabled = expansion->failed = 0;
    model_moves(state, expansion);
    if (!expansion->enabled && !expansion->failed) successor_stutter(expansion, state);
  }
  expansion->enabled = expansion->moved = 1; /* no state of a product is a deadlock */
  return OK;
}

#endif
