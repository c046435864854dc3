/* Expands states of an emitted model that is reduced, with the expand.h of the kernels: reads states, and writes for
 * each its firings and what the counters of reduction gained. Compiled after the model, with SUCCESSOR_ROOM 1, so that
 * every state lies in a heap block of exactly the promised size. */
#include <stdio.h>
#include <stdlib.h>

static Context the_context;

static void write_words(const uint64_t *words, size_t count) {
  if (fwrite(words, sizeof *words, count, stdout) != count) abort();
}

/* Writes a firing: a word that tells that another one follows, the instance, and the successor. */
static void write_down(Expansion *expansion) {
  if (!expansion->count) return;
  const uint64_t head[] = {1, expansion->instances[0]};
  write_words(head, 2);
  if (fwrite(expansion->successors, STATE_BYTES, 1, stdout) != 1) abort();
  expansion->count = 0;
}

static void expand(const uint8_t *state, Expansion *expansion) {
  uint64_t tail[2 + REDUCTION_COUNTERS] = {0};
  expansion->failed = expansion->enabled = expansion->moved = 0;
  for (int each = 0; each < REDUCTION_COUNTERS; each++) tail[2 + each] -= the_context.covered[MODEL_COVERS + each];
  model_expand(state, expansion);
  write_down(expansion);
  for (int each = 0; each < REDUCTION_COUNTERS; each++) tail[2 + each] += the_context.covered[MODEL_COVERS + each];
  tail[1] = expansion->failed;
  write_words(tail, 2 + REDUCTION_COUNTERS);
}

int main(void) {
  Expansion expansion = {.context = &the_context, .flush = write_down};
  uint8_t *const state = calloc(STATE_BYTES + SPARE_BYTES, 1);
  expansion.successors = calloc(STATE_BYTES + SPARE_BYTES, 1);
  expansion.instances = calloc(1, sizeof *expansion.instances);
  expansion.owners = calloc(1, sizeof *expansion.owners);
  while (fread(state, 1, STATE_BYTES, stdin) == STATE_BYTES) expand(state, &expansion);
  free(expansion.owners);
  free(expansion.instances);
  free(expansion.successors);
  free(state);
#if HAS_PUT
  free(the_context.put);
#endif
  return 0;
}
