/* The binary interface of native/compressed.c; see abi.h. */
#ifndef OUTCROP_ABI_COMPRESSED_H
#define OUTCROP_ABI_COMPRESSED_H

#include "abi.h"

/* The memory of a compressed search by its use, in bytes. */
typedef struct {
  uint64_t nodes;       /* inner nodes of trees, which take: */
  uint64_t node_bytes;
  uint64_t index_bytes; /* size of the table that finds nodes */
  uint64_t root_bytes;  /* size of the quotient tables */
  uint64_t queue_bytes; /* size of the part of the arena that is in RAM */
} CompressedStanding;

int outcrop_compressed_open(Search *search, uint64_t seed, uint64_t weak, uint64_t indexed, uint64_t first_lines,
                            const uint32_t *bytes, uint64_t leaves, const uint32_t *left, const uint32_t *right,
                            uint64_t nodes);
void outcrop_compressed_forget(Search *search);
void outcrop_compressed_close(Search *search);
void outcrop_compressed_standing(const Search *search, CompressedStanding *standing);
uint64_t outcrop_fold_block(Search *search, uint64_t number, const uint8_t *states, uint64_t count, uint8_t *roots);
uint64_t outcrop_find_roots(const Search *search, const uint8_t *states, uint64_t count, uint8_t *roots);
void outcrop_unfold_block(const Search *search, const uint8_t *roots, uint64_t count, uint8_t *states);

#endif
