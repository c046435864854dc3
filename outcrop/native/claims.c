/* Who has found which part of a level. A worker expands first what it has found itself: that is still in its cache, and
 * to get it from another core's takes longer than from memory. */

typedef struct {
  uint64_t *firsts; /* of each chunk of the arena */
  uint64_t count, room;
} Claims;

/* Gives 0 when there is no memory. */
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
