/* Functions that tests call in an emitted model. Compiled after it. */
static Context the_context;
static Expansion the_expansion = {.context = &the_context};

static uint8_t *working_copy(const uint8_t *state) {
  uint8_t *copy = calloc(STATE_BYTES + 8, 1);
  if (state) memcpy(copy, state, STATE_BYTES);
  return copy;
}

/* Runs a startstate instance. Returns its status. */
int driver_start(uint64_t instance, uint8_t *raw, uint8_t *normal) {
  uint8_t *state = working_copy(0);
  int status = model_start(instance, state, &the_context);
  memcpy(raw, state, STATE_BYTES);
#if HAS_NORMALISE
  if (status == OK) model_normalise(state);
#endif
  memcpy(normal, state, STATE_BYTES);
  free(state);
  return status;
}

/* Fires everything. Returns the number of firings. */
uint64_t driver_expand(const uint8_t *from) {
  uint8_t *state = working_copy(from);
  the_expansion.count = 0;
  the_expansion.working = working_copy(0);
  model_expand(state, &the_expansion);
  free(the_expansion.working);
  free(state);
  return the_expansion.count;
}

void driver_firing(uint64_t number, uint32_t *rule, int32_t *status, uint8_t *raw, uint8_t *normal) {
  const Firing *firing = &the_expansion.firings[number];
  *rule = firing->rule;
  *status = firing->status;
  memcpy(raw, firing->raw, STATE_BYTES);
  memcpy(normal, firing->normal, STATE_BYTES);
}

/* Returns 0 if the state is kept, 1 if an assumption drops it, 2 if an assumption fails. */
int driver_assumptions(const uint8_t *from) {
  uint8_t *state = working_copy(from);
  int keep = 1, status = model_assumptions(state, &the_context, &keep);
  free(state);
  return status != OK ? 2 : !keep;
}

int driver_invariants(const uint8_t *from) {
  uint8_t *state = working_copy(from);
  int status = model_invariants(state, &the_context);
  free(state);
  return status;
}

int driver_covers(const uint8_t *from) {
  uint8_t *state = working_copy(from);
  int status = model_covers(state, &the_context);
  free(state);
  return status;
}

int driver_liveness(const uint8_t *from, uint64_t *satisfied) {
  uint8_t *state = working_copy(from);
  int status = model_liveness(state, &the_context, satisfied);
  free(state);
  return status;
}

uint64_t driver_covered(uint64_t cover) { return the_context.covered[cover]; }
int driver_noted(uint64_t site) { return the_context.noted[site]; }

#if HAS_PUT
uint64_t driver_put_length(void) { return the_context.put_length; }
const uint64_t *driver_put(void) { return the_context.put; }
#endif
