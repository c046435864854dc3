/* The parts of a level that each worker has found. A worker expands its own first: they are still in its cache, and
 * getting them from the cache of another core takes longer than from memory. */

typedef struct {
  uint64_t *firsts; /* first index of each chunk of the arena */
  uint64_t count, room;
} Claims;

/* Adds a chunk. Returns 0 if there is no memory. */
static int claims_add(Claims *claims, uint64_t first) {
  if (claims->count == claims->room) {
    uint64_t room = 2 * claims->room + 64, *grown = realloc(claims->firsts, room * sizeof *grown);
    if (!grown) return 0;
    claims->firsts = grown;
    claims->room = room;
  }
  claims->firsts[claims->count++] = first;
  return 1;
}
