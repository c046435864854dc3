/* Explores an emitted model alone and calls all of its functions, for runs under sanitizers: explore MOST_STATES. Every
 * state lies in a heap block of exactly the promised size. */
#include <stdio.h>

static Context the_context;
static uint8_t **states;
static uint64_t count;

static void add(const uint8_t *state) {
  for (uint64_t number = 0; number < count; number++)
    if (!memcmp(states[number], state, STATE_BYTES)) return;
  states = realloc(states, (count + 1) * sizeof *states);
  states[count] = calloc(STATE_BYTES + 8, 1);
  memcpy(states[count++], state, STATE_BYTES);
}

static void inspect(const uint8_t *state) {
  uint64_t satisfied[LIVENESS_COUNT / 64 + 1] = {0};
  int keep;
  model_assumptions(state, &the_context, &keep);
  model_invariants(state, &the_context);
  model_covers(state, &the_context);
  model_liveness(state, &the_context, satisfied);
}

int main(int argc, char **argv) {
  uint64_t most = argc > 1 ? strtoull(argv[1], 0, 10) : 100;
  Expansion expansion = {.context = &the_context, .working = calloc(STATE_BYTES + 8, 1)};
  for (uint64_t instance = 0; instance + 1 <= START_COUNT && count < most; instance++) {
    if (model_start(instance, expansion.working, &the_context) != OK) continue;
#if HAS_NORMALISE
    model_normalise(expansion.working);
#endif
    add(expansion.working);
  }
  for (uint64_t number = 0; number < count; number++) {
    expansion.count = 0;
    inspect(states[number]);
    model_expand(states[number], &expansion);
    for (uint64_t each = 0; each < expansion.count && count < most; each++)
      if (expansion.firings[each].status == OK) add(expansion.firings[each].normal);
  }
  printf("%lu\n", (unsigned long)count);
  for (uint64_t number = 0; number < count; number++) free(states[number]);
  free(states);
  free(expansion.firings);
  free(expansion.working);
#if HAS_PUT
  free(the_context.put);
#endif
  return 0;
}
