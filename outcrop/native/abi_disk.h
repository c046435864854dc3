/* The interface of searches past RAM, with the rules of abi.h. */
#ifndef OUTCROP_ABI_DISK_H
#define OUTCROP_ABI_DISK_H

#include "abi.h"

/* A structure that Python holds a pointer to, without knowing its fields. */
typedef struct MemoryTable MemoryTable;

/* --- Past RAM --------------------------------------------------------------------------------------------------- */

/* Returns the tails of a packed run, which stay valid until the same thread calls it again; NULL if it fails. */
typedef const uint8_t *(*Fetch)(uint64_t number, uint64_t slice);

/* A sorted run: states on disk. See runs.c. */
typedef struct {
  int64_t file;
  uint64_t bits;          /* width of a bucket's number, including its slice */
  const uint64_t *starts; /* offset of each slice, in bytes */
  const uint64_t *counts; /* number of entries in each slice */
  uint8_t *bytes;         /* the file, mapped */
  uint64_t length;        /* size of the file, in bytes */

  /* Layers. The rest of an entry may end with the last bytes of its level. The bytes of a state past the eighth, its
   * tail, may lie elsewhere, and are fetched slice by slice when they are needed. */
  uint64_t stride;      /* bytes of a rest, including the level, excluding a tail that is fetched */
  uint64_t level;       /* level of the states that are looked up, or of the first states written */
  uint64_t newest;      /* highest level of any entry */
  const uint64_t *ends; /* for writing: where each level but the last ends in the arena */
  uint64_t end_count;
  Fetch fetch;
  uint64_t number; /* number of this run, for `fetch` */

  uint64_t *sums; /* checksum of each slice: see entry_sum */
} Run;

int outcrop_defer(Search *search);
uint64_t outcrop_resume(Search *search);
uint64_t outcrop_expand_states(Search *search, uint64_t number, const uint8_t *states, uint64_t count);
uint64_t outcrop_add_carried(Search *search, uint64_t number);
int outcrop_run_starved(void);
int outcrop_run_full(void);
int outcrop_resolve(Search *search, uint64_t number, uint64_t first, uint64_t begin, uint64_t end, uint64_t few,
                    const Run *runs, uint64_t run_count);
uint64_t outcrop_take_new(Search *search, uint64_t number, uint64_t begin, uint64_t end);
void outcrop_take_fresh(Search *search, uint64_t number, uint8_t *states);
uint64_t outcrop_count_unknown(const Search *search, uint64_t end);
int outcrop_write_run(Search *search, uint64_t number, uint64_t end, uint64_t begin_slice, uint64_t end_slice,
                      const Run *run, uint64_t *length, uint64_t *starts, uint64_t *counts);
int outcrop_merge_runs(Search *search, uint64_t number, const Run *runs, uint64_t run_count, const Run *merged,
                       uint64_t begin_slice, uint64_t end_slice);
int outcrop_check_run(const Run *run, uint64_t begin_slice, uint64_t end_slice);
void outcrop_forget(Search *search, uint64_t count);
void outcrop_enter(Search *search, uint64_t begin, uint64_t end);

/* --- Layers ----------------------------------------------------------------------------------------------------- */

/* Candidates on disk: states grouped by slice, within a slice in the order of discovery; then the slice of each, one
 * byte, in the order of discovery. See layers.c. */
typedef struct {
  int64_t file;
  uint64_t at;      /* offset in the file, in bytes */
  uint64_t first;   /* number of its first state, counted over all stretches */
  uint32_t *begins; /* number of the first state of each slice, and at the end the number of states */
  uint64_t *sums;   /* checksums of its states, and of their slices */
} Stretch;

void outcrop_keep_duplicates(Search *search);
void outcrop_set_known(Search *search, uint64_t begin, uint64_t end);
int outcrop_write_stretch(Search *search, uint64_t number, uint64_t begin, uint64_t end, const Stretch *stretch);
int outcrop_resolve_stretches(Search *search, uint64_t number, const Stretch *stretches, uint64_t stretch_count,
                              const Run *runs, uint64_t run_count, uint64_t begin_slice, uint64_t end_slice,
                              const Run *layer, uint64_t *length, uint64_t *starts, uint64_t *counts, uint8_t *is_new,
                              uint64_t *read);
uint64_t outcrop_take_stretch(Search *search, uint64_t number, const Stretch *stretch, const uint8_t *is_new,
                              uint8_t *states);
uint64_t outcrop_take_oldest(Search *search);
void outcrop_restart(Search *search);
uint64_t outcrop_read_layers(const Search *search, const Run *run, uint64_t slice, uint64_t first, uint64_t levels,
                             uint8_t *states, uint16_t *levels_after);

/* --- Handover to a search with states of another size; squeezed states ------------------------------------------ */

void outcrop_changing_bits(const Search *search, uint64_t begin, uint64_t end, uint8_t *changing);
void outcrop_let_go(Search *search, uint64_t end);
uint64_t outcrop_carried(const Search *search, uint64_t number, uint8_t *states);
void outcrop_take_up(Search *search, uint64_t level_begin, uint64_t cursor, uint64_t levels, uint64_t generated);
void outcrop_set_counts(Search *search, const uint64_t *fired, const uint64_t *covered, const uint8_t *noted,
                        const uint64_t *enabled, const uint64_t *deeper);
int outcrop_squeeze(Search *search, const uint8_t *first, const uint8_t *changing);
void outcrop_placed_bits(const Search *search, uint8_t *placed);
uint64_t outcrop_squeeze_block(Search *search, const uint8_t *states, uint64_t count, uint8_t *squeezed);
void outcrop_spread_block(const Search *search, const uint8_t *squeezed, uint64_t count, uint8_t *states);
uint64_t outcrop_misfits(const Search *search, uint64_t number, uint8_t *states);

/* --- The cache of visited states -------------------------------------------------------------------------------- */

typedef struct {
  uint64_t insertions, collisions, lost, buckets, chain, bytes, packed, gives_up;
} CacheStanding;

int outcrop_cache_open(Search *search, uint64_t bytes, uint64_t most_bytes, uint64_t bits, uint64_t chain,
                       uint64_t idle, uint64_t seed, double most_collisions);
void outcrop_cache_close(Search *search);
void outcrop_cache_standing(const Search *search, CacheStanding *standing);

/* --- Table M ---------------------------------------------------------------------------------------------------- */

MemoryTable *outcrop_memory_table_open(const Search *search, uint64_t bytes, uint64_t bits);
void outcrop_memory_table_close(MemoryTable *table);
void outcrop_memory_table_clear(MemoryTable *table);
uint64_t outcrop_memory_table_insert(MemoryTable *table, uint8_t *states, const uint64_t *hashes, uint64_t count,
                                     uint64_t *fresh);
uint64_t outcrop_memory_table_remove(const MemoryTable *table, const uint8_t *keys, uint64_t count);
uint64_t outcrop_memory_table_remove_blocks(const MemoryTable *table, uint64_t file, const uint64_t *numbers,
                                            const uint64_t *starts, const uint64_t *lengths, uint64_t count,
                                            uint64_t *failed);
uint64_t outcrop_memory_table_keep(const MemoryTable *table, uint8_t *states, uint64_t count, uint8_t *keys);
uint64_t outcrop_memory_table_limit(const MemoryTable *table);

#endif
