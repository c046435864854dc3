/* Functions that tests call in an emitted product. Compiled after it, with the expand.h of the kernels. */
#include <stdlib.h>

static Context the_context;
static uint8_t *the_successors;
static uint64_t the_count;

static void write_down(Expansion *expansion) {
  the_successors = realloc(the_successors, (the_count + expansion->count + 1) * STATE_BYTES);
  memcpy(the_successors + the_count * STATE_BYTES, expansion->successors, (size_t)expansion->count * STATE_BYTES);
  the_count += expansion->count;
  expansion->count = 0;
}

/* Runs a startstate instance. Returns its status. */
int driver_start(uint64_t instance, uint8_t *state) {
  uint8_t *room = calloc(STATE_BYTES + 8, 1);
  int status = model_start(instance, room, &the_context);
#if HAS_NORMALISE
  if (status == OK) model_normalise(room);
#endif
  memcpy(state, room, STATE_BYTES);
  free(room);
  return status;
}

/* Returns the number of successors, and whether something failed. */
uint64_t driver_expand(const uint8_t *from, int *failed) {
  uint8_t *state = calloc(STATE_BYTES + 8, 1);
  memcpy(state, from, STATE_BYTES);
  Expansion expansion = {.context = &the_context, .flush = write_down};
  expansion.successors = calloc(SUCCESSOR_ROOM * STATE_BYTES + 16, 1);
  expansion.owners = calloc(SUCCESSOR_ROOM, sizeof *expansion.owners);
  the_count = 0;
  model_expand(state, &expansion);
  write_down(&expansion);
  *failed = expansion.failed;
  free(expansion.owners);
  free(expansion.successors);
  free(state);
  return the_count;
}

void driver_successors(uint8_t *states) { memcpy(states, the_successors, the_count * STATE_BYTES); }
uint64_t driver_fired(uint64_t rule) { return the_context.fired[rule]; }
int driver_accepting(const uint8_t *from) {
  uint8_t state[STATE_BYTES + 8] = {0};
  memcpy(state, from, STATE_BYTES);
  return model_accepting(state);
}
