/* The expansion of a state on a GPU: functions that the emitted model_expand calls for each rule instance.
 *
 * Each thread expands one state. Its successors go to a column of a buffer that all threads share, word by word, so
 * that neighbouring threads write neighbouring words. Other kernels do the rest (normal form, assumptions, lookup),
 * with one thread for each successor: here most threads of a warp wait while a few of them run the body of a rule.
 *
 * Include after state.h and before the model's functions. */
#ifndef OUTCROP_EXPAND_H
#define OUTCROP_EXPAND_H

typedef struct Expansion {
  Context *context;     /* context of the block */
  uint64_t *successors; /* the column of this state */
  uint32_t stride;      /* from one word of it to the next */
  uint32_t room;        /* number of successors that it holds */
  uint32_t count;       /* number of successors found */
  uint32_t enabled;     /* whether some body ran to its end */
  uint32_t moved;       /* ... and led to a different state */
  uint32_t failed;      /* whether a guard or body met a runtime error */
  ALIGNED uint64_t next[WORDS + 1];
} Expansion;

static inline uint8_t *successor_begin(Expansion *expansion, const uint8_t *state) {
  const uint64_t *words = (const uint64_t *)state;
  UNROLL for (int i = 0; i < WORDS; i++) expansion->next[i] = words[i];
  return (uint8_t *)expansion->next;
}

#if REGISTER_WORDS
static inline
#else
static NOINLINE
#endif
void successor_end(Expansion *expansion, const uint8_t *state, uint32_t rule, int status) {
  if (status != OK) {
    expansion->failed |= status == FAILED;
    return;
  }
  const uint64_t *before = (const uint64_t *)state;
  COUNT(expansion->context->fired[rule], 1);
  expansion->enabled = 1;
  uint64_t difference = 0;
  UNROLL for (int i = 0; i < WORDS; i++) difference |= expansion->next[i] ^ before[i];
  expansion->moved |= difference != 0;
  if (expansion->count < expansion->room) {
    uint64_t *at = expansion->successors + (uint64_t)expansion->count * WORDS * expansion->stride;
    UNROLL for (int i = 0; i < WORDS; i++) at[(uint64_t)i * expansion->stride] = expansion->next[i];
  }
  expansion->count++;
}

static inline void expansion_failed(Expansion *expansion, const uint8_t *state, uint32_t rule) {
  (void)state, (void)rule;
  expansion->failed = 1;
}

#endif
