/* A stand-in for native/expand.h, for tests that run emitted code without kernels: it records every firing. */
#include <stdlib.h>
#include <string.h>

typedef struct Firing {
  uint32_t rule;
  int32_t status; /* status of the body; -1 if the guard failed */
  uint8_t raw[STATE_BYTES];
  uint8_t normal[STATE_BYTES];
} Firing;

typedef struct Expansion {
  Context *context;
  Firing *firings;
  uint64_t count, room;
  uint8_t *working; /* exactly the promised size, so that sanitizers notice accesses beyond it */
  int failed;
} Expansion;

#if HAS_NORMALISE
static void model_normalise(uint8_t *state);
#endif

static inline uint8_t *successor_begin(Expansion *expansion, const uint8_t *state) {
  memcpy(expansion->working, state, STATE_BYTES);
  return expansion->working;
}

static inline void write_down(Expansion *expansion, uint32_t rule, int status) {
  if (expansion->count == expansion->room) {
    expansion->room = 2 * expansion->room + 16;
    expansion->firings = realloc(expansion->firings, expansion->room * sizeof *expansion->firings);
  }
  Firing *firing = &expansion->firings[expansion->count++];
  memset(firing, 0, sizeof *firing);
  firing->rule = rule;
  firing->status = status;
}

static inline void successor_end(Expansion *expansion, const uint8_t *state, uint32_t rule, int status) {
  (void)state;
  write_down(expansion, rule, status);
  if (status != OK) return;
  Firing *firing = &expansion->firings[expansion->count - 1];
  memcpy(firing->raw, expansion->working, STATE_BYTES);
#if HAS_NORMALISE
  model_normalise(expansion->working);
#endif
  memcpy(firing->normal, expansion->working, STATE_BYTES);
}

static inline void expansion_failed(Expansion *expansion, const uint8_t *state, uint32_t rule) {
  (void)state;
  write_down(expansion, rule, -1);
}
