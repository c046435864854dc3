/* Checks of new states: assumptions, invariants and cover goals. */

/* Checks a new state, which is as the model packs it. */
static void check_packed(Worker *worker, const uint8_t *state) {
  Context *context = worker->expansion.context;
  int failed = 0;
  (void)state, (void)context;
#if HAS_ASSUMPTIONS
  int keep;
  failed = model_assumptions(state, context, &keep) != OK;
#endif
  if (!failed) {
#if HAS_INVARIANTS
    failed = model_invariants(state, context) != OK;
#endif
#if HAS_COVER_PROPERTIES
    /* Also if an invariant fails, so that cover counts do not depend on other findings. */
    failed |= model_covers(state, context) != OK;
#endif
  }
  if (failed) found_add(&worker->found[FOUND_STATE], state, worker->search->most_found);
}

/* Checks a new state as the search keeps it. */
static void check_state(Worker *worker, const uint8_t *kept) {
  uint8_t room[MODEL_BYTES + SPARE_BYTES];
  check_packed(worker, packed_state(worker->search, kept, room));
}

/* Checks the new ones among states that were added. */
static void check_new(Worker *worker, const uint8_t *states, uint32_t count) {
  for (uint32_t i = 0; i < count; i++) {
    if (!worker->is_new[i]) continue;
#if HAS_TREE
    if (worker->packed) {
      check_packed(worker, worker->packed + (size_t)worker->sources[i] * MODEL_BYTES);
      continue;
    }
#endif
    check_state(worker, states + (size_t)i * STATE_BYTES);
  }
}
