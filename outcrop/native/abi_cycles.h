/* The interface of searches for accepting cycles, with the rules of abi.h. */
#ifndef OUTCROP_ABI_CYCLES_H
#define OUTCROP_ABI_CYCLES_H

#include "abi.h"

/* Structures that Python holds pointers to, without knowing their fields. */
typedef struct Dfs Dfs;
typedef struct Graph Graph;

/* --- OWCTY, and nested depth-first search ----------------------------------------------------------------------- */

int outcrop_cycles_open(Search *search, uint64_t strength);
uint64_t outcrop_cycles_begin(Search *search, uint64_t phase);
void outcrop_cycles_work(Search *search, uint64_t number);
int outcrop_cycles_part(Search *search, uint64_t number, uint64_t batches);
void outcrop_cycles_message(Search *search, uint64_t number, const uint8_t *message);
int outcrop_cycles_has_work(const Search *search);
uint64_t outcrop_cycles_end(Search *search);
uint64_t outcrop_find_state(const Search *search, const uint8_t *state);
void outcrop_read_states(const Search *search, const uint32_t *indexes, uint64_t count, uint8_t *states);
uint64_t outcrop_step(Search *search, const uint32_t *indexes, uint64_t count, uint64_t limit, uint64_t within_s,
                      uint64_t target, uint64_t *hit);
uint64_t outcrop_step_to(Search *search, const uint8_t *message, uint64_t limit, uint64_t within_s, uint64_t target,
                         uint64_t *hit);
void outcrop_take_step(const Search *search, uint32_t *indexes);
void outcrop_pass(Search *search, const uint32_t *indexes, uint64_t count, uint64_t passed);
uint64_t outcrop_keep_accepting(uint8_t *states, uint64_t count);
uint64_t outcrop_successors(Search *search, const uint8_t *states, uint64_t count);
uint64_t outcrop_least_accepting(const Search *search, uint64_t begin, uint64_t end);
int outcrop_compacted_open(Search *search, uint64_t strength);
uint64_t outcrop_compacted_size(const Search *search);
void outcrop_compacted_reset(Search *search, uint64_t share, uint64_t seed);
uint64_t outcrop_compacted_block(Search *search, uint64_t number, uint64_t kind, uint64_t begins,
                                 const uint8_t *states, uint64_t count, uint64_t few, const uint8_t *target,
                                 uint64_t *accepting, uint64_t *found);
uint64_t outcrop_compacted_message(Search *search, uint64_t number, uint64_t kind, const uint8_t *message,
                                   const uint8_t *target, uint64_t *accepting, uint64_t *found);
void outcrop_compacted_take(Search *search, uint64_t number, uint8_t *states, uint8_t *accepting);
uint64_t outcrop_compacted_keep(const Search *search, uint8_t *states, uint64_t count);
Dfs *outcrop_dfs_open(Search *search);
void outcrop_dfs_close(Dfs *dfs);
int outcrop_dfs(Search *search, Dfs *dfs);
uint64_t outcrop_dfs_path(const Dfs *dfs, uint32_t *indexes, uint64_t *loop_start);

/* --- Fair cycles ------------------------------------------------------------------------------------------------ */

Graph *outcrop_fair_open(Search *search, uint64_t states, uint64_t only_accepting);
void outcrop_fair_close(Graph *graph);
void outcrop_fair_note(Search *search, Graph *graph, uint64_t number, uint64_t begin, uint64_t end);
int outcrop_fair_lay_out(Search *search, Graph *graph);
int outcrop_fair_find(const Search *search, Graph *graph);
uint64_t outcrop_fair_least(const Search *search, const Graph *graph, uint64_t begin, uint64_t end);
uint64_t outcrop_fair_cycle(const Search *search, Graph *graph, uint64_t start);
void outcrop_fair_take(const Graph *graph, uint32_t *cycle);

#endif
