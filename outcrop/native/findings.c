/* Findings: for each kind, the least few states by their bytes, as the model packs them. Which ones are reported
 * therefore does not depend on the order in which threads find them. */

/* Kinds of findings. FOUND_CYCLE: accepting states that probably lie on a cycle. */
enum { FOUND_DEADLOCK, FOUND_STATE, FOUND_RULE, FOUND_CYCLE, FOUND_KINDS };

typedef struct {
  uint8_t *states; /* sorted */
  uint32_t count;
  uint32_t room;
} Found;

/* Keeps `state` if it is among the `limit` least. Without memory to grow, at least one state is kept, because the first
 * entry is allocated with the worker. */
static void found_add(Found *found, const uint8_t *state, uint32_t limit) {
  uint32_t low = 0, high = found->count;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    int order = memcmp(found->states + (size_t)middle * MODEL_BYTES, state, MODEL_BYTES);
    if (order == 0) return;
    if (order < 0)
      low = middle + 1;
    else
      high = middle;
  }
  if (found->count == found->room && found->room < limit) {
    uint32_t room = found->room * 2 < limit ? found->room * 2 : limit;
    uint8_t *grown = realloc(found->states, (size_t)room * MODEL_BYTES);
    if (grown) {
      found->states = grown;
      found->room = room;
    }
  }
  if (found->count == found->room) {
    if (low == found->count) return;
    found->count--;
  }
  uint8_t *at = found->states + (size_t)low * MODEL_BYTES;
  memmove(at + MODEL_BYTES, at, (size_t)(found->count - low) * MODEL_BYTES);
  memcpy(at, state, MODEL_BYTES);
  found->count++;
}
