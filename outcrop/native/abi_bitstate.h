/* The binary interface of native/bitstate.c; see abi.h. */
#ifndef OUTCROP_ABI_BITSTATE_H
#define OUTCROP_ABI_BITSTATE_H

#include "abi.h"

int outcrop_bitstate_open(Search *search, uint64_t bytes, uint64_t functions);
void outcrop_bitstate_close(Search *search);
uint64_t outcrop_bitstate_count(const Search *search);

#endif
