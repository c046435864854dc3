/* The binary interface between the kernels and outcrop/kernels/: every exported function, and every structure that both
 * sides read. Large parts have their own headers, abi_*.h. The kernels are compiled with these headers, and
 * kernels/abi.py makes its declarations from their text. A library that was compiled with another text is not loaded.
 *
 * Python understands a small part of C and refuses the rest: include guards, comments, fixed-width integers, int,
 * double, pointers, arrays of constant length, structures, pointers to functions, and prototypes. Nothing here is
 * conditional: if a model leaves a function out, Python finds it missing when it asks for that part of the library. */
#ifndef OUTCROP_ABI_H
#define OUTCROP_ABI_H

#include <stdint.h>

/* A structure that Python holds a pointer to, without knowing its fields. */
typedef struct Search Search;

/* --- The library itself ----------------------------------------------------------------------------------------- */

/* Returns the hash of these headers that the library was compiled with. Python calls it before all others. */
uint64_t outcrop_abi(void);

/* The features that the model needs, 0 or 1 each; named as in codegen/features.py. */
typedef struct {
  uint64_t assumptions, invariants, cover_properties, liveness, ends;
  uint64_t normalise, printing, coverage;
  uint64_t reals, wide_integers;
  uint64_t automaton, fairness, fairness_counter, movers;
  uint64_t instances;
} Features;

typedef struct {
  uint64_t state_bytes; /* size of a state as the search keeps it */
  uint64_t model_bytes; /* size of a state as the model packs it */
  uint64_t state_bits;
  uint64_t rules, covers, notes, liveness;
  uint64_t successor_room;
  Features features;
} Shape;

void outcrop_shape(Shape *shape);

/* --- A search, its levels and its blocks ------------------------------------------------------------------------ */

typedef struct {
  uint64_t workers;
  uint64_t exact;       /* 1: keep states; 0: keep signatures */
  uint64_t bits;        /* width of a signature */
  uint64_t seed;
  uint64_t deadlock;
  uint64_t budget;      /* bytes for arena and visited set */
  uint64_t disk_limit;  /* bytes for the arena, when it is a file */
  uint64_t most_states;
  uint64_t most_found;
  int64_t file;         /* descriptor of the arena's file, or -1 */
  uint64_t first_lines; /* lines that the exact table starts with */
  uint64_t wide;        /* whether the exact table starts with 64-bit slots */
  uint64_t spills;      /* whether the search can continue past RAM; 2, for tests: hash the first word only */
  uint64_t note_bits;   /* reserved in the slots of signatures */
} Settings;

typedef struct {
  uint64_t states;      /* number of visited states */
  uint64_t expanded;    /* number of states that are expanded or being expanded */
  uint64_t levels;      /* number of levels found, including the current one */
  uint64_t level_begin, level_end;
  uint64_t memory;      /* bytes of arena and visited set */
  uint64_t disk;
  uint64_t positions;   /* number of marks that liveness needs */
  uint64_t stop;
  uint64_t started;     /* whether all start states are created */
  uint64_t unexpanded;  /* the first state of the previous level that was not expanded */
  uint64_t generated;   /* number of successors, duplicates included */
} Standing;

void outcrop_close(Search *search);
Search *outcrop_open(const Settings *settings);
void outcrop_stop(Search *search);
void outcrop_standing(Search *search, Standing *standing);
uint64_t outcrop_start(Search *search);
uint64_t outcrop_finish_level(Search *search);
uint64_t outcrop_expand_levels(Search *search, uint64_t number, uint64_t most_levels, uint64_t largest_level,
                               uint64_t *sizes, uint64_t *generated);
void outcrop_count(const Search *search, uint64_t *fired, uint64_t *covered, uint8_t *noted);
void outcrop_coverage(const Search *search, uint64_t *enabled, uint64_t *deeper);
uint64_t outcrop_take_found(Search *search, uint64_t number, uint64_t kind, uint8_t *states);
uint64_t outcrop_take_put(Search *search, uint64_t number, uint64_t *words);

/* Called in the thread of a worker, with its number, when its put statements have recorded much. */
typedef void (*Drain)(uint64_t number);

void outcrop_drain_put(Search *search, Drain drain);
void outcrop_read_block(Search *search, uint64_t begin, uint64_t end, uint8_t *states);
void outcrop_empty_arena(Search *search);
uint64_t outcrop_insert_block(Search *search, uint64_t number, const uint8_t *states, uint64_t count,
                              uint8_t *is_new);
uint64_t outcrop_expand_block(Search *search, uint64_t number, const uint8_t *states, uint64_t count,
                              uint64_t with_loops, uint64_t most, uint64_t *made);
void outcrop_take_successors(Search *search, uint64_t number, uint8_t *states, uint64_t *hashes);
void outcrop_check_block(Search *search, uint64_t number, const uint8_t *states, uint64_t count);
void outcrop_normalise_block(uint8_t *states, uint64_t count);
void outcrop_hash_block(const Search *search, const uint8_t *states, uint64_t count, uint64_t *hashes);

/* --- Repeated expansion: predecessors, liveness, locality ------------------------------------------------------- */

/* Sums over the transitions of one length. See distances.c. */
typedef struct {
  uint64_t transitions;
  uint64_t part[2], square[2]; /* sums, lower half first */
} Distance;

typedef struct {
  uint64_t states;
  uint64_t loops; /* transitions from a state to itself */
  uint64_t stuck; /* states without a transition that counts */
} Measured;

int outcrop_find_predecessors(Search *search, uint64_t number, uint64_t begin, uint64_t end, const uint8_t *targets,
                              uint64_t count, uint8_t *least, uint8_t *is_found);
int outcrop_find_predecessors_among(Search *search, uint64_t number, const uint8_t *states, uint64_t state_count,
                                    const uint8_t *targets, uint64_t count, uint8_t *least, uint8_t *is_found);
int outcrop_mark_leading(Search *search, uint64_t number, uint64_t begin, uint64_t end, const uint8_t *targets,
                         uint64_t count, uint8_t *marks);
void outcrop_mark_satisfied(Search *search, uint64_t number, uint64_t begin, uint64_t end, uint64_t first,
                            uint8_t *marks);
uint64_t outcrop_mark_predecessors(Search *search, uint64_t number, uint64_t begin, uint64_t end, uint64_t wanted,
                                   uint8_t *marks);
int outcrop_least_unmarked(const Search *search, uint64_t begin, uint64_t end, uint64_t bit, const uint8_t *marks,
                           uint8_t *least);
int outcrop_measure_distances(Search *search, uint64_t number, uint64_t begin, uint64_t end, const uint64_t *ends,
                              uint64_t levels, uint64_t with_loops, Distance *distances, Measured *measured);

/* --- Random walks ----------------------------------------------------------------------------------------------- */

/* The random walks that all workers share, and the counts of one worker. See walks.c. */
typedef struct {
  uint64_t seed;
  uint64_t most_walks;
  uint64_t most_steps;
  const uint64_t *weights; /* weight of each rule */
  uint64_t next;           /* number of the first walk that no worker has taken (atomic) */
  uint64_t first_wrong;    /* least number of a walk with a finding; UINT64_MAX for none (atomic) */
} Walks;

typedef struct {
  uint64_t walks, steps, dead_ends;
  uint64_t *taken; /* steps of each rule */
  uint8_t *registers;
} Walked;

void outcrop_walk(Search *search, uint64_t number, Walks *walks, Walked *walked);
uint64_t outcrop_replay_walk(Search *search, uint64_t number, const Walks *walks, Walked *walked, uint8_t *path,
                            uint64_t *steps);

#endif
