/* Partial-order reduction: the choice of the rule instances that a state fires, as in outcrop/reduction/stubborn.py.
 *
 * A set of instances is INSTANCE_WORDS words. Emitted before this: the Phase of a state, with `dependents` (instances
 * that do not accord with an enabled one), `starts` (instances with which a set may begin), `hopeless` (those that make
 * a set useless), `later` (those with a later priority than an instance) and the Options of each instance (its necessary
 * enabling sets), and the functions
 *   phase_of(state);
 *   fire_instance(expansion, state, instance): returns whether the instance led to a state;
 *   false_conjuncts(state, context, instance): returns which conjuncts of a guard are false, as bits. */
#ifndef OUTCROP_STUBBORN_H
#define OUTCROP_STUBBORN_H

/* An enabled instance costs as much as this many disabled ones. NOTHING: the row of the empty set.
 * UNKNOWN: a cost that is not computed. */
enum { COST_OF_ENABLED = 1024, NOTHING = 0, UNKNOWN = 0x7fffffff };

/* Counters after those of the cover goals. */
enum { COUNTER_STATES, COUNTER_REDUCED, COUNTER_ENABLED, COUNTER_FIRED, REDUCTION_COUNTERS };

static inline uint32_t size_of(const Instances *set) {
  uint32_t size = 0;
  for (int i = 0; i < INSTANCE_WORDS; i++) size += (uint32_t)__builtin_popcountll(set->words[i]);
  return size;
}

/* Takes the first instance from a set that is not empty. */
static inline uint32_t take_first(Instances *waiting) {
  int word = 0;
  while (!waiting->words[word]) word++;
  const uint64_t left = waiting->words[word];
  waiting->words[word] = left & (left - 1);
  return (uint32_t)(word * 64 + __builtin_ctzll(left));
}

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

/* Returns the cheapest necessary enabling set of a disabled instance, and sets `settled` to those instances that it
 * surely keeps disabled, too. */
static const Instances *enabling_set(const uint8_t *state, Context *context, const Phase *phase, uint32_t instance,
                                     const Instances *active, const Instances *set, const Instances **settled) {
  const Option *option = phase->options + phase->first_option[instance];
  const Option *const end = phase->options + phase->first_option[instance + 1];
  const Instances *best = 0;
  uint32_t least = UNKNOWN;
  uint64_t is_false = 0;
  for (int are_known = 0; option < end; option++) {
    const Choice *const choice = &choices[option->first + get_bits(state, option->bit, option->width)];
    if (choice->row[0] == NO_ROW) continue;
    if (option->conjunct != DECIDED) {
      if (!are_known) is_false = false_conjuncts(state, context, instance), are_known = 1;
      if (!(is_false >> option->conjunct & 1)) continue;
    }
    for (int at = 0; at < 2 && choice->row[at] != NO_ROW; at++) {
      const Instances *const row = &enabling_rows[choice->row[at]];
      uint32_t cost = 0;
      if (best) { /* the cost of a single one does not matter */
        if (least == UNKNOWN && !(least = cost_of(best, active, set))) return best;
        if ((cost = cost_of(row, active, set)) >= least) continue;
        least = cost;
      }
      best = row;
      *settled = &enabling_rows[choice->settled[at]];
      if (least != UNKNOWN && !cost) return best;
    }
  }
  return best ? best : &enabling_rows[choices[phase->otherwise[instance]].row[0]];
}

/* Returns whether a set can have fewer than `limit` active instances, if it begins with one that has these dependents. */
static inline int may_be_smaller(const Instances *dependents, const Instances *active, const Instances *hopeless,
                                 uint32_t limit) {
  uint32_t count = 1;
  for (int i = 0; i < INSTANCE_WORDS; i++) {
    if (dependents->words[i] & hopeless->words[i]) return 0;
    count += (uint32_t)__builtin_popcountll(dependents->words[i] & active->words[i]);
  }
  return count < limit;
}

/* Closes a set that begins with one active instance. Returns the number of active ones in it; `limit` if there would be
 * as many or more, or if it meets one of `hopeless`, from which that was found before. */
static uint32_t close_set(const uint8_t *state, Context *context, const Phase *phase, uint32_t start,
                          const Instances *active, const Instances *hopeless, uint32_t limit, Instances *set) {
  const Instances *const later = &enabling_rows[phase->later[start]];
  Instances ready = {{0}}, asked = {{0}}; /* members that wait: active ones, and disabled ones */
  uint32_t count = 1, ready_count = 1;
  uint64_t is_asked = 0;
  for (int i = 0; i < INSTANCE_WORDS; i++) set->words[i] = 0;
  set->words[start >> 6] = ready.words[start >> 6] = UINT64_C(1) << (start & 63);
  while (ready_count || is_asked) {
    const Instances *settled = &enabling_rows[NOTHING], *row;
    if (ready_count) { /* these end a hopeless set soonest */
      row = &phase->dependents[take_first(&ready)];
      ready_count--;
    } else {
      row = enabling_set(state, context, phase, take_first(&asked), active, set, &settled);
    }
    uint32_t more = 0;
    uint64_t meets = 0;
    is_asked = 0;
    for (int i = 0; i < INSTANCE_WORDS; i++) {
      const uint64_t added = row->words[i] & ~set->words[i], enabled = added & active->words[i];
      set->words[i] |= added;
      meets |= added & hopeless->words[i];
      more += (uint32_t)__builtin_popcountll(enabled);
      ready.words[i] |= enabled;
      /* Those of a later priority stay disabled as long as `start` is active. Settled ones would choose the same set
       * next, at no cost. */
      asked.words[i] = (asked.words[i] | (added & ~enabled & ~later->words[i])) & ~settled->words[i];
      is_asked |= asked.words[i];
    }
    count += more;
    ready_count += more;
    if (meets || count >= limit) return limit;
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
  Instances chosen = *active, set, hopeless;
  for (int i = 0; i < INSTANCE_WORDS; i++) hopeless.words[i] = active->words[i] & phase->hopeless.words[i];
  for (int word = 0; word < INSTANCE_WORDS && best > 1 && !failed; word++)
    for (uint64_t left = active->words[word] & phase->starts.words[word] & ~phase->hopeless.words[word];
         left && best > 1; left &= left - 1) {
      const uint32_t start = (uint32_t)(word * 64 + __builtin_ctzll(left));
      const int is_worth_it = may_be_smaller(&phase->dependents[start], active, &hopeless, best);
      const uint32_t count =
          is_worth_it ? close_set(state, context, phase, start, active, &hopeless, best, &set) : best;
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
