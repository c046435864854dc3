/* The cost of adding a row of instances to a stubborn set; see stubborn.h. */
#ifndef OUTCROP_STUBBORN_COST_H
#define OUTCROP_STUBBORN_COST_H

/* An enabled instance costs as much as this many disabled ones. */
enum { COST_OF_ENABLED = 1024 };

/* Returns what adding a row to a set costs. */
static inline uint32_t cost_of(const Instances *row, const Instances *active, const Instances *set) {
  uint32_t enabled = 0, all = 0;
  for (int i = 0; i < INSTANCE_WORDS; i++) {
    const uint64_t added = row->words[i] & ~set->words[i];
    all += (uint32_t)__builtin_popcountll(added);
    enabled += (uint32_t)__builtin_popcountll(added & active->words[i]);
  }
  return enabled * COST_OF_ENABLED + all;
}

/* Keeps an option of a disabled instance, inside enabling_set, if it is cheaper than those before. */
#define CONSIDER(number)                                                                              \
  do {                                                                                                \
    const Option *const option = &options[number];                                                    \
    const uint64_t value = get_bits(state, option->bit, option->width);                               \
    const Instances *const row = &enabling_rows[row_of[option->row + value]];                         \
    const uint32_t cost = cost_of(row, active, set);                                                  \
    if (!cost) return row;                                                                            \
    if (cost < least) least = cost, best = row;                                                       \
  } while (0)

#endif
