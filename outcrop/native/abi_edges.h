/* The binary interface of native/edges.c and native/refine.c; see abi.h. */
#ifndef OUTCROP_ABI_EDGES_H
#define OUTCROP_ABI_EDGES_H

#include "abi.h"

/* The state graph of one model. */
typedef struct {
  uint64_t first;                        /* number of its first state */
  const uint64_t *offsets;               /* first edge of each state, and the number of edges */
  const uint32_t *instances, *targets;   /* of each edge; targets count from the first state on */
  const uint32_t *labels;                /* of each instance */
} GraphPart;

/* Two graphs side by side; see refine.c. */
typedef struct {
  GraphPart parts[2];
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
uint64_t outcrop_pair_states(const LabelledGraph *graph, uint32_t *partners);
uint64_t outcrop_is_stable(const LabelledGraph *graph, const uint32_t *blocks, const uint32_t *representatives,
                           uint64_t begin, uint64_t end);

#endif
