/* The binary interface of native/observe.c; see abi.h. */
#ifndef OUTCROP_ABI_OBSERVE_H
#define OUTCROP_ABI_OBSERVE_H

#include "abi.h"

/* A set of states, with a hash table of their numbers. */
typedef struct {
  uint8_t *rows;       /* space for `most` states and spare bytes */
  uint64_t count;
  uint64_t *slots;     /* a slot: the generation in the upper half, the number of a row in the lower half */
  uint64_t slot_mask;  /* number of slots in use, less one */
  uint64_t generation; /* generation of the slots that are in use */
} StateSet;

/* The lines of a log, the states that agree with all lines so far, and the counts. */
typedef struct {
  /* The lines. */
  uint64_t lines;
  const uint8_t *ways;         /* for each line: 1: a step leads to it, 2: it may show a state without a step, 3: both */
  const uint32_t *labels;      /* for each line: its instances */
  const uint32_t *masks;       /* for each line: the bits that it shows */
  const uint8_t *values;       /* for each line: these bits, in a state */
  const uint32_t *label_first; /* for each label: its first instance, and the one after its last */
  const uint32_t *label_end;
  const uint64_t *label_words; /* for each label: where its bits begin in `words`; UINT64_MAX: all between its ends */
  const uint64_t *words;
  const uint8_t *mask_rows;
  /* The options. */
  uint64_t gap;                /* most hidden steps before a line */
  const uint64_t *hidden;      /* instances that may be hidden, a bit each */
  uint64_t most;               /* most states of a set */
  uint64_t most_work;          /* expansions after which a call returns */
  /* The sets: those that agree with all lines so far, and those that agree with the next. */
  StateSet sets[2];
  uint64_t current;            /* which of the two is the first */
  /* The results. */
  uint64_t done;               /* lines that agree */
  uint64_t work;               /* expansions */
  uint64_t widest, widest_line;
  uint64_t total;              /* states, added up over all lines */
  uint64_t *shown;             /* for each instance: number of steps that agree with a line */
  StateSet seen;               /* states that agree with some line, as long as they fit */
  uint64_t most_seen;          /* 0: they are not kept */
  uint64_t seen_is_full;
} Observation;

/* Transitions: successors, each with the number of its state within its block, and its rule instance. */
typedef struct {
  uint64_t room, count;
  uint8_t *successors;
  uint32_t *owners, *instances;
} NamedSteps;

uint64_t outcrop_name_steps(Search *search, const uint8_t *states, uint64_t count, NamedSteps *steps);
uint64_t outcrop_observe_start(Search *search, Observation *observation, uint64_t label);
uint64_t outcrop_observe_lines(Search *search, Observation *observation);

#endif
