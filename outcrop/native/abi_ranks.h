/* The interface of searches over several ranks, with the rules of abi.h. */
#ifndef OUTCROP_ABI_RANKS_H
#define OUTCROP_ABI_RANKS_H

#include "abi.h"

int outcrop_route(Search *search, uint64_t rank, uint64_t ranks, uint64_t bits, uint64_t parity_count,
                  const uint8_t *masks);
uint64_t outcrop_sample_steps(Search *search, uint64_t seed, uint64_t steps, uint64_t length, uint64_t apart,
                              uint8_t *before, uint8_t *after);
void outcrop_filter(Search *search, uint64_t bytes);
int outcrop_lacks_room(const Search *search, uint64_t states);
void outcrop_make_room(Search *search, uint64_t number);
int outcrop_expand_part(Search *search, uint64_t number, uint64_t blocks, uint64_t batch);
void outcrop_add_message(Search *search, uint64_t number, const uint8_t *message);
uint64_t outcrop_most_packed(void);
uint64_t outcrop_write_message(const uint8_t *states, uint64_t count, uint8_t *message);
void outcrop_read_message(const uint8_t *message, uint8_t *states);
void outcrop_outgoing(const Search *search, uint64_t number, uint64_t *counts);
uint64_t outcrop_take_outgoing(Search *search, uint64_t number, uint64_t rank, uint8_t *message);
void outcrop_owners(const Search *search, const uint8_t *states, uint64_t count, uint32_t *owners);
uint64_t outcrop_count_foreign(const Search *search, uint64_t *lost);

#endif
