/* A growing list of states with their hashes. */

typedef struct {
  uint8_t *states;
  uint64_t *hashes;
  uint64_t count;
  uint64_t room;
} Gathered;

/* Makes space for `count` more. Returns 0 if there is no memory. */
static int gathered_reserve(Gathered *gathered, uint64_t count) {
  uint64_t needed = gathered->count + count;
  if (needed <= gathered->room) return 1;
  uint64_t room = needed > 2 * gathered->room ? needed : 2 * gathered->room;
  uint8_t *more_states = realloc(gathered->states, room * STATE_BYTES + SPARE_BYTES);
  if (more_states) gathered->states = more_states;
  uint64_t *more_hashes = realloc(gathered->hashes, room * sizeof *gathered->hashes);
  if (more_hashes) gathered->hashes = more_hashes;
  if (!more_states || !more_hashes) return 0;
  gathered->room = room;
  return 1;
}

static int gather(Gathered *gathered, const uint8_t *states, const uint64_t *hashes, uint64_t count) {
  if (!gathered_reserve(gathered, count)) return 0;
  memcpy(gathered->states + gathered->count * STATE_BYTES, states, count * STATE_BYTES);
  memcpy(gathered->hashes + gathered->count, hashes, count * sizeof *hashes);
  gathered->count += count;
  return 1;
}

static void gathered_close(Gathered *gathered) {
  free(gathered->states);
  free(gathered->hashes);
  *gathered = (Gathered){0};
}
