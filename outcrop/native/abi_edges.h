/* The binary interface of native/edges.c; see abi.h. */
#ifndef OUTCROP_ABI_EDGES_H
#define OUTCROP_ABI_EDGES_H

#include "abi.h"

uint64_t outcrop_gather_edges(Search *search, uint64_t number, uint64_t begin, uint64_t end, uint32_t *degrees,
                              uint32_t *instances, uint32_t *targets, uint64_t room, uint64_t *made);

#endif
