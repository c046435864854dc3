/* Partition refinement of two labelled graphs, whose states are numbered together: the signature of a state is its block
 * and the set of pairs of a label and the block of the target, over its edges. The edges of state i of a graph are those
 * from offsets[i] to offsets[i + 1].
 *
 * A block that splits keeps its number for one of its parts; the states of the others have *moved*, to numbers that are
 * new. A round signs only the states with an edge to one that moved in the last round. Such a signature contains a new
 * number, so that it differs from that of every state that is not signed again: these stay together. */

#include "abi_edges.h"

/* The edges of a state, in the graph that has it. */
typedef struct {
  const GraphPart *part;
  uint64_t begin, end;
} RefineEdges;

static RefineEdges refine_edges(const LabelledGraph *graph, uint64_t state) {
  const GraphPart *part = &graph->parts[state >= graph->parts[1].first];
  const uint64_t *offsets = part->offsets + (state - part->first);
  return (RefineEdges){part, offsets[0], offsets[1]};
}

static uint64_t refine_label(const GraphPart *part, uint64_t edge) { return part->labels[part->instances[edge]]; }

/* Writes the pairs of a state, sorted and without repetitions, and returns their number. */
static uint64_t refine_pairs(const LabelledGraph *graph, const uint32_t *blocks, uint64_t state, uint64_t *pairs) {
  const RefineEdges edges = refine_edges(graph, state);
  uint64_t count = 0;
  for (uint64_t edge = edges.begin; edge < edges.end; edge++) {
    uint64_t block = blocks[edges.part->first + edges.part->targets[edge]];
    uint64_t pair = refine_label(edges.part, edge) << 32 | block, at = count;
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
  const RefineEdges edges = refine_edges(graph, state);
  for (uint64_t edge = edges.begin; edge < edges.end; edge++) {
    uint64_t target = edges.part->first + edges.part->targets[edge];
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
 * state without a hash. Returns the number of groups, and UINT64_MAX if they need more slots. `slots`: a power of two, all
 * 0; at least half of them stay free. */
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
      if (2 * distinct > mask) return UINT64_MAX;
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
    if (representatives[blocks[state]] == state) continue;
    uint64_t count = refine_pairs(graph, blocks, state, pairs);
    if (count != refine_pairs(graph, blocks, representatives[blocks[state]], others) ||
        memcmp(pairs, others, count * sizeof *pairs))
      answer = 0;
  }
  free(pairs);
  free(others);
  return answer;
}

/* --- Pairs of corresponding states ---------------------------------------------------------------------------- */

/* Writes the edges of a state by their labels, those of one label in their order; returns their number. */
static uint64_t pair_edges(RefineEdges edges, uint64_t *sorted) {
  uint64_t count = 0;
  for (uint64_t edge = edges.begin; edge < edges.end; edge++) {
    uint64_t entry = refine_label(edges.part, edge) << 32 | (edge - edges.begin), at = count++;
    for (; at && sorted[at - 1] > entry; at--) sorted[at] = sorted[at - 1];
    sorted[at] = entry;
  }
  return count;
}

static uint64_t pair_run(const uint64_t *sorted, uint64_t at, uint64_t count) {
  uint64_t end = at;
  while (end < count && sorted[end] >> 32 == sorted[at] >> 32) end++;
  return end;
}

/* Gives the targets of a state the partners that its own partner has after the same labels, edges of one label in order.
 * Returns 0 if the labels differ. */
static int pair_targets(const LabelledGraph *graph, uint64_t state, uint32_t *partners, uint64_t *mine, uint64_t *others) {
  const RefineEdges one = refine_edges(graph, state);
  const RefineEdges other = refine_edges(graph, graph->parts[1].first + partners[state]);
  const uint64_t count = pair_edges(one, mine), theirs = pair_edges(other, others);
  uint64_t at = 0, there = 0;
  while (at < count && there < theirs && mine[at] >> 32 == others[there] >> 32) {
    const uint64_t end = pair_run(mine, at, count), limit = pair_run(others, there, theirs);
    for (uint64_t i = at; i < end; i++) {
      const uint32_t target = one.part->targets[one.begin + (uint32_t)mine[i]];
      const uint64_t like = there + (i - at) % (limit - there);
      if (partners[target] == UINT32_MAX) partners[target] = other.part->targets[other.begin + (uint32_t)others[like]];
    }
    at = end;
    there = limit;
  }
  return at == count && there == theirs;
}

/* Guesses a partner in the second graph for each state of the first, from those of the start states on; the others are
 * UINT32_MAX. States are numbered breadth-first, so that each has its partner before its targets get theirs. Returns 1,
 * 0 if there is no such guess, and 2 if there is no memory. */
EXPORT uint64_t outcrop_pair_states(const LabelledGraph *graph, uint32_t *partners) {
  uint64_t *mine = malloc((graph->largest + 1) * sizeof *mine);
  uint64_t *others = malloc((graph->largest + 1) * sizeof *others), answer = mine && others ? 1 : 2;
  for (uint64_t state = 0; answer == 1 && state < graph->parts[1].first; state++)
    if (partners[state] == UINT32_MAX || !pair_targets(graph, state, partners, mine, others)) answer = 0;
  free(mine);
  free(others);
  return answer;
}
