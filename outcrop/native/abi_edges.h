/* The binary interface of native/edges.c and native/refine.c; see abi.h. */
#ifndef OUTCROP_ABI_EDGES_H
#define OUTCROP_ABI_EDGES_H

#include "abi.h"

/* A graph with labels; see refine.c. */
typedef struct {
  const uint64_t *offsets; /* first edge of each state, and the number of edges */
  const uint32_t *labels, *targets;
  uint64_t largest; /* most edges of a state */
} LabelledGraph;

/* A slot of the table of signatures; a hash of 0 marks a free one. */
typedef struct {
  uint64_t hash, group;
} RefineSlot;

uint64_t outcrop_gather_edges(Search *search, uint64_t number, uint64_t begin, uint64_t end, uint32_t *degrees,
                              uint32_t *instances, uint32_t *targets, uint64_t room, uint64_t *made);
uint64_t outcrop_sign_states(const LabelledGraph *graph, const uint32_t *blocks, const uint8_t *moved, uint64_t begin,
                             uint64_t end, uint64_t salt, uint64_t *hashes);
uint64_t outcrop_group_states(const uint64_t *hashes, uint64_t count, const uint32_t *blocks, RefineSlot *slots,
                              uint64_t mask, uint32_t *groups, uint32_t *sizes, uint32_t *origins, uint8_t *stays);
void outcrop_move_states(const uint64_t *hashes, uint64_t begin, uint64_t end, const uint32_t *groups,
                         const uint32_t *block_of_group, uint32_t *blocks, uint8_t *moved);
uint64_t outcrop_is_stable(const LabelledGraph *graph, const uint32_t *blocks, const uint32_t *representatives,
                           uint64_t begin, uint64_t end);

#endif
