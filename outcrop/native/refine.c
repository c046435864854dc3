/* Partition refinement of a labelled graph: the signature of a state is its block and the set of pairs of a label and
 * the block of the target, over its edges. The edges of state i are those from offsets[i] to offsets[i + 1]. */

#include "abi_edges.h"

/* Writes the pairs of a state, sorted and without repetitions, and returns their number. */
static uint64_t refine_pairs(const LabelledGraph *graph, const uint32_t *blocks, uint64_t state, uint64_t *pairs) {
  uint64_t count = 0;
  for (uint64_t edge = graph->offsets[state]; edge < graph->offsets[state + 1]; edge++) {
    uint64_t pair = (uint64_t)graph->labels[edge] << 32 | blocks[graph->targets[edge]], at = count;
    while (at && pairs[at - 1] > pair) at--;
    if (at && pairs[at - 1] == pair) continue;
    memmove(pairs + at + 1, pairs + at, (count - at) * sizeof *pairs);
    pairs[at] = pair;
    count++;
  }
  return count;
}

static uint64_t refine_mix(uint64_t value) {
  value = (value ^ value >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
  value = (value ^ value >> 27) * UINT64_C(0x94d049bb133111eb);
  return value ^ value >> 31;
}

/* Writes a hash of the signature of each state of a range. Returns 0 if there is no memory. */
EXPORT int outcrop_sign_states(const LabelledGraph *graph, const uint32_t *blocks, uint64_t begin, uint64_t end,
                               uint64_t salt, uint64_t *hashes) {
  uint64_t *pairs = malloc((graph->largest + 1) * sizeof *pairs);
  for (uint64_t state = begin; pairs && state < end; state++) {
    uint64_t count = refine_pairs(graph, blocks, state, pairs), hash = refine_mix(salt + blocks[state]);
    for (uint64_t i = 0; i < count; i++) hash = refine_mix(hash ^ pairs[i]) + i;
    hashes[state] = hash ? hash : 1; /* 0 marks a free slot */
  }
  free(pairs);
  return pairs != NULL;
}

/* Numbers the distinct hashes in order of their first states. Returns how many there are. `slots`: twice as many as
 * states at least, a power of two, all 0. */
EXPORT uint64_t outcrop_number_blocks(const uint64_t *hashes, uint64_t count, uint64_t *slots, uint32_t *numbers,
                                      uint64_t mask, uint32_t *blocks) {
  uint64_t distinct = 0;
  for (uint64_t state = 0; state < count; state++) {
    uint64_t slot = hashes[state] & mask;
    while (slots[slot] && slots[slot] != hashes[state]) slot = (slot + 1) & mask;
    if (!slots[slot]) {
      slots[slot] = hashes[state];
      numbers[slot] = (uint32_t)distinct++;
    }
    blocks[state] = numbers[slot];
  }
  return distinct;
}

/* Returns 1 if all states of a range have the pairs of the representative of their block, 0 if not, and 2 if there is
 * no memory. */
EXPORT uint64_t outcrop_is_stable(const LabelledGraph *graph, const uint32_t *blocks, const uint32_t *representatives,
                                  uint64_t begin, uint64_t end) {
  uint64_t *pairs = malloc((graph->largest + 1) * sizeof *pairs);
  uint64_t *others = malloc((graph->largest + 1) * sizeof *others), answer = pairs && others ? 1 : 2;
  for (uint64_t state = begin; answer == 1 && state < end; state++) {
    uint64_t count = refine_pairs(graph, blocks, state, pairs);
    if (count != refine_pairs(graph, blocks, representatives[blocks[state]], others) ||
        memcmp(pairs, others, count * sizeof *pairs))
      answer = 0;
  }
  free(pairs);
  free(others);
  return answer;
}
