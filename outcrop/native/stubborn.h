/* Partial-order reduction: the choice of the rule instances that a state fires, as in outcrop/reduction/stubborn.py.
 *
 * A set of instances is INSTANCE_WORDS words. Emitted before this: the Phase of a state, with `dependents` (instances
 * that do not accord with an enabled one) and `starts` (instances with which a set may begin), and the functions
 *   phase_of(state);
 *   fire_instance(expansion, state, instance): returns whether the instance led to a state;
 *   enabling_set(state, context, phase, instance, active, set): returns a set without which a disabled instance stays
 *     so. */
#ifndef OUTCROP_STUBBORN_H
#define OUTCROP_STUBBORN_H

/* Counters after those of the cover goals. */
enum { COUNTER_STATES, COUNTER_REDUCED, COUNTER_ENABLED, COUNTER_FIRED, REDUCTION_COUNTERS };

static inline uint32_t size_of(const Instances *set) {
  uint32_t size = 0;
  for (int i = 0; i < INSTANCE_WORDS; i++) size += (uint32_t)__builtin_popcountll(set->words[i]);
  return size;
}

/* Takes the first waiting instance from a set: an active one if there is any, since these end a hopeless set soonest.
 * Returns INSTANCE_COUNT if none waits. */
static inline uint32_t take_waiting(Instances *waiting, const Instances *active) {
  for (int word = 0; word < INSTANCE_WORDS; word++) {
    const uint64_t ready = waiting->words[word] & active->words[word];
    if (!ready) continue;
    waiting->words[word] &= ~(ready & -ready);
    return (uint32_t)(word * 64 + __builtin_ctzll(ready));
  }
  for (int word = 0; word < INSTANCE_WORDS; word++) {
    const uint64_t left = waiting->words[word];
    if (!left) continue;
    waiting->words[word] &= left - 1;
    return (uint32_t)(word * 64 + __builtin_ctzll(left));
  }
  return INSTANCE_COUNT;
}

/* Closes a set that begins with one active instance. Returns the number of active ones in it; `limit` if there would be
 * as many or more, or if it meets one of `hopeless`, from which that was found before. */
static uint32_t close_set(const uint8_t *state, Context *context, const Phase *phase, uint32_t start,
                          const Instances *active, const Instances *hopeless, uint32_t limit, Instances *set) {
  Instances waiting = {{0}};
  uint32_t count = 1, instance;
  memset(set, 0, sizeof *set);
  set->words[start >> 6] = waiting.words[start >> 6] = UINT64_C(1) << (start & 63);
  while ((instance = take_waiting(&waiting, active)) != INSTANCE_COUNT) {
    const Instances *row = active->words[instance >> 6] >> (instance & 63) & 1
                               ? &phase->dependents[instance]
                               : enabling_set(state, context, phase, instance, active, set);
    for (int i = 0; i < INSTANCE_WORDS; i++) {
      const uint64_t added = row->words[i] & ~set->words[i];
      if (added & hopeless->words[i]) return limit;
      set->words[i] |= added;
      waiting.words[i] |= added;
      count += (uint32_t)__builtin_popcountll(added & active->words[i]);
    }
    if (count >= limit) return limit;
  }
  return count;
}

/* Fires the instances of a set. Returns whether one of `starts` led to a state, and did not fail. */
static int fire_set(const uint8_t *state, Expansion *expansion, const Phase *phase, const Instances *set) {
  int leads_on = 0;
  for (int word = 0; word < INSTANCE_WORDS; word++)
    for (uint64_t left = set->words[word]; left; left &= left - 1) {
      const uint32_t bit = (uint32_t)__builtin_ctzll(left);
      const int leads = fire_instance(expansion, state, (uint32_t)word * 64 + bit);
      leads_on |= leads & (int)(phase->starts.words[word] >> bit & 1);
    }
  return leads_on;
}

/* Fires a stubborn set of the active instances. `failed`: a guard failed, so that all are fired. */
static void fire_stubborn(const uint8_t *state, Expansion *expansion, const Instances *active, int failed) {
  Context *const context = expansion->context;
  const Phase *const phase = phase_of(state);
  const uint32_t enabled = size_of(active);
  uint32_t best = enabled;
  Instances chosen = *active, set, hopeless = {{0}};
#if REDUCES_RUNS
  /* All members of a set must be among those that it may begin with. */
  for (int i = 0; i < INSTANCE_WORDS; i++) hopeless.words[i] = active->words[i] & ~phase->starts.words[i];
#endif
  for (int word = 0; word < INSTANCE_WORDS && best > 1 && !failed; word++)
    for (uint64_t left = active->words[word] & phase->starts.words[word]; left && best > 1; left &= left - 1) {
      const uint32_t count =
          close_set(state, context, phase, (uint32_t)(word * 64 + __builtin_ctzll(left)), active, &hopeless, best, &set);
      if (count >= best) {
        hopeless.words[word] |= left & -left;
        continue;
      }
      best = count;
      for (int i = 0; i < INSTANCE_WORDS; i++) chosen.words[i] = set.words[i] & active->words[i];
    }
  if (!fire_set(state, expansion, phase, &chosen) && best < enabled) {
    /* Nothing in the set leads on, so that the others would wait for ever. */
    for (int i = 0; i < INSTANCE_WORDS; i++) chosen.words[i] = active->words[i] & ~chosen.words[i];
    fire_set(state, expansion, phase, &chosen);
    best = enabled;
  }
  cover(context, MODEL_COVERS + COUNTER_STATES, 1);
  cover(context, MODEL_COVERS + COUNTER_REDUCED, best < enabled);
  cover(context, MODEL_COVERS + COUNTER_ENABLED, enabled);
  cover(context, MODEL_COVERS + COUNTER_FIRED, best);
}

#endif
