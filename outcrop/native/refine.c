/* Partition refinement of a labelled graph: the signature of a state is its block and the set of pairs of a label and
 * the block of the target, over its edges. The edges of state i are those from offsets[i] to offsets[i + 1].
 *
 * A block that splits keeps its number for one of its parts; the states of the others have *moved*, to numbers that are
 * new. A round signs only the states with an edge to one that moved in the last round. Such a signature contains a new
 * number, so that it differs from that of every state that is not signed again: these stay together. */

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

static int refine_leads_to(const LabelledGraph *graph, const uint8_t *moved, uint64_t state) {
  for (uint64_t edge = graph->offsets[state]; edge < graph->offsets[state + 1]; edge++) {
    uint32_t target = graph->targets[edge];
    if (moved[target >> 3] >> (target & 7) & 1) return 1;
  }
  return 0;
}

/* Writes a hash of the signature of each state of a range, and 0 for those without an edge to a state that has moved:
 * their signature is what it was. `moved`: a bit for each state; NULL: all. Returns the number of hashes, and UINT64_MAX
 * if there is no memory. */
EXPORT uint64_t outcrop_sign_states(const LabelledGraph *graph, const uint32_t *blocks, const uint8_t *moved,
                                    uint64_t begin, uint64_t end, uint64_t salt, uint64_t *hashes) {
  uint64_t *pairs = malloc((graph->largest + 1) * sizeof *pairs), made = 0;
  if (!pairs) return UINT64_MAX;
  for (uint64_t state = begin; state < end; state++) {
    hashes[state] = 0;
    if (moved && !refine_leads_to(graph, moved, state)) continue;
    uint64_t count = refine_pairs(graph, blocks, state, pairs), hash = refine_mix(salt + blocks[state]);
    for (uint64_t i = 0; i < count; i++) hash = refine_mix(hash ^ pairs[i]) + i;
    hashes[state] = hash ? hash : 1;
    made++;
  }
  free(pairs);
  return made;
}

/* Gathers the states with a hash into groups of one hash, in order of their first states. `groups` receives the group
 * of each such state, `sizes` the number of states of each group, `origins` its block, `stays` 1 for each block with a
 * state without a hash. Returns the number of groups. `slots`: twice as many as hashes at least, a power of two, all 0. */
EXPORT uint64_t outcrop_group_states(const uint64_t *hashes, uint64_t count, const uint32_t *blocks, RefineSlot *slots,
                                     uint64_t mask, uint32_t *groups, uint32_t *sizes, uint32_t *origins,
                                     uint8_t *stays) {
  uint64_t distinct = 0;
  for (uint64_t state = 0; state < count; state++) {
    if (!hashes[state]) {
      stays[blocks[state]] = 1;
      continue;
    }
    uint64_t slot = hashes[state] & mask;
    while (slots[slot].hash && slots[slot].hash != hashes[state]) slot = (slot + 1) & mask;
    if (!slots[slot].hash) {
      slots[slot].hash = hashes[state];
      slots[slot].group = distinct;
      sizes[distinct] = 0;
      origins[distinct++] = blocks[state];
    }
    groups[state] = (uint32_t)slots[slot].group;
    sizes[slots[slot].group]++;
  }
  return distinct;
}

/* Gives the states with a hash the block of their group, and sets the bits of those whose block is another now.
 * `begin` must be a multiple of 8. */
EXPORT void outcrop_move_states(const uint64_t *hashes, uint64_t begin, uint64_t end, const uint32_t *groups,
                                const uint32_t *block_of_group, uint32_t *blocks, uint8_t *moved) {
  memset(moved + begin / 8, 0, (end - begin + 7) / 8);
  for (uint64_t state = begin; state < end; state++) {
    if (!hashes[state] || blocks[state] == block_of_group[groups[state]]) continue;
    blocks[state] = block_of_group[groups[state]];
    moved[state >> 3] |= (uint8_t)(1u << (state & 7));
  }
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
