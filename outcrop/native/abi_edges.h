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

uint64_t outcrop_gather_edges(Search *search, uint64_t number, uint64_t begin, uint64_t end, uint32_t *degrees,
                              uint32_t *instances, uint32_t *targets, uint64_t room, uint64_t *made);
int outcrop_sign_states(const LabelledGraph *graph, const uint32_t *blocks, uint64_t begin, uint64_t end, uint64_t salt,
                        uint64_t *hashes);
uint64_t outcrop_number_blocks(const uint64_t *hashes, uint64_t count, uint64_t *slots, uint32_t *numbers, uint64_t mask,
                               uint32_t *blocks);
uint64_t outcrop_is_stable(const LabelledGraph *graph, const uint32_t *blocks, const uint32_t *representatives,
                           uint64_t begin, uint64_t end);

#endif
