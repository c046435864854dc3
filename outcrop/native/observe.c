/* Recorded runs: a breadth-first search over the sets of states that agree with the lines of a log.
 *
 * A line names the rule instances of which one has fired, and some bits of the state after it. Between two lines up to
 * `gap` hidden steps may lie. The states that agree with the lines so far are all kept, so that the answer is exact
 * until a set grows past its limit. */

#include "abi_observe.h"

enum { OBSERVE_STEP = 1, OBSERVE_STAY = 2 };
/* The reason why a call returned: all lines agree; no state agrees with the next line; the set is too large; enough
 * work for one call. */
enum { OBSERVED_ALL, OBSERVED_NONE, OBSERVED_TOO_MANY, OBSERVED_PAUSED };

/* The line whose successors are being collected. */
typedef struct {
  Observation *observation;
  const uint8_t *mask, *values;
  uint32_t first, end;   /* instances that the line names */
  const uint64_t *words; /* ... with a bit for each; NULL: all of them */
  int goes_deeper;       /* whether hidden steps are followed */
  int is_full;
} ObservedLine;

static void set_begin(StateSet *set) {
  set->count = 0;
  set->generation++;
}

static void set_place(StateSet *set, const Hasher *hasher, uint64_t number) {
  uint64_t slot = hash_state(hasher, set->rows + number * STATE_BYTES) & set->slot_mask;
  while (set->slots[slot] >> 32 == set->generation) slot = (slot + 1) & set->slot_mask;
  set->slots[slot] = set->generation << 32 | number;
}

/* Enters all rows anew, into enough slots: a set that was restored may be larger than it was before. */
static void set_rehash(StateSet *set, const Hasher *hasher) {
  while (2 * set->count > set->slot_mask) set->slot_mask = 2 * set->slot_mask + 1;
  set->generation++;
  for (uint64_t number = 0; number < set->count; number++) set_place(set, hasher, number);
}

/* Adds a state. Returns 0 if the set is full. */
static int set_add(StateSet *set, const Hasher *hasher, const uint8_t *state, uint64_t most) {
  uint64_t slot = hash_state(hasher, state) & set->slot_mask;
  for (; set->slots[slot] >> 32 == set->generation; slot = (slot + 1) & set->slot_mask)
    if (states_equal(set->rows + (set->slots[slot] & UINT32_MAX) * STATE_BYTES, state)) return 1;
  if (set->count == most) return 0;
  memcpy(set->rows + set->count * STATE_BYTES, state, STATE_BYTES);
  set->slots[slot] = set->generation << 32 | set->count++;
  if (2 * set->count > set->slot_mask) set_rehash(set, hasher);
  return 1;
}

static int line_shows(const ObservedLine *line, const uint8_t *state) {
  uint64_t difference = 0;
  for (int i = 0; i < STATE_BYTES; i++) difference |= (uint64_t)((state[i] ^ line->values[i]) & line->mask[i]);
  return difference == 0;
}

static int has_instance(const uint64_t *words, uint32_t instance) { return words[instance / 64] >> instance % 64 & 1; }

static int line_names(const ObservedLine *line, uint32_t instance) {
  return instance >= line->first && instance < line->end && (!line->words || has_instance(line->words, instance));
}

/* Keeps the successors that agree with the line, and follows the hidden steps. */
static void observe_successors(Expansion *expansion) {
  ObservedLine *line = ((Worker *)expansion)->purpose;
  Observation *observation = line->observation;
  StateSet *before = &observation->sets[observation->current], *after = &observation->sets[1 - observation->current];
  for (uint32_t i = 0; i < expansion->count && !line->is_full; i++) {
    const uint8_t *successor = expansion->successors + (size_t)i * STATE_BYTES;
    const uint32_t instance = expansion->instances[i];
    if (line_names(line, instance) && line_shows(line, successor)) {
      line->is_full |= !set_add(after, expansion->hasher, successor, observation->most);
      observation->shown[instance]++;
    }
    if (line->goes_deeper && has_instance(observation->hidden, instance))
      line->is_full |= !set_add(before, expansion->hasher, successor, observation->most);
  }
  expansion->count = 0;
}

/* Returns a line that shows nothing but the instances of a label. */
static ObservedLine label_of(Observation *observation, uint32_t label) {
  const uint64_t words = observation->label_words[label];
  return (ObservedLine){.observation = observation,
                        .first = observation->label_first[label],
                        .end = observation->label_end[label],
                        .words = words == UINT64_MAX ? NULL : observation->words + words};
}

static ObservedLine line_at(Observation *observation, uint64_t number) {
  ObservedLine line = label_of(observation, observation->labels[number]);
  line.mask = observation->mask_rows + (size_t)observation->masks[number] * STATE_BYTES;
  line.values = observation->values + number * STATE_BYTES;
  return line;
}

static void forget_findings(Worker *worker) {
  for (int kind = 0; kind < FOUND_KINDS; kind++) worker->found[kind].count = 0;
}

/* Finds the states that agree with a line: those among the current ones and after hidden steps from there, and their
 * successors. Returns 0 if there are too many. */
static int observe_line(Worker *worker, Observation *observation, uint64_t number) {
  StateSet *before = &observation->sets[observation->current], *after = &observation->sets[1 - observation->current];
  const int way = observation->ways[number];
  ObservedLine line = line_at(observation, number);
  uint64_t at = 0, end = before->count;
  worker->purpose = &line;
  set_begin(after);
  if (observation->gap) set_rehash(before, worker->expansion.hasher);
  for (uint64_t depth = 0; at < end; depth++) {
    line.goes_deeper = depth < observation->gap;
    if (!(way & OBSERVE_STEP)) line.end = line.first;
    for (; at < end && !line.is_full; at++) {
      const uint8_t *state = before->rows + at * STATE_BYTES;
      if (way & OBSERVE_STAY && line_shows(&line, state))
        line.is_full |= !set_add(after, worker->expansion.hasher, state, observation->most);
      if (!(way & OBSERVE_STEP) && !line.goes_deeper) continue;
      expand_state(worker, state);
      observe_successors(&worker->expansion);
      observation->work++;
    }
    forget_findings(worker);
    if (line.is_full) return 0;
    end = before->count;
  }
  return 1;
}

/* Keeps the states that agree with a line, for coverage. */
static void keep_seen(Worker *worker, Observation *observation, const StateSet *set) {
  for (uint64_t i = 0; i < set->count && !observation->seen_is_full; i++)
    observation->seen_is_full = !set_add(&observation->seen, worker->expansion.hasher, set->rows + i * STATE_BYTES,
                                         observation->most_seen);
}

/* Makes the set of all start states whose instances a label names. Returns 0 if there are too many. */
EXPORT uint64_t outcrop_observe_start(Search *search, Observation *observation, uint64_t label) {
  Worker *worker = &search->workers[0];
  StateSet *set = &observation->sets[observation->current];
  const ObservedLine named = label_of(observation, (uint32_t)label);
  uint8_t state[STATE_BYTES + SPARE_BYTES];
  set_begin(set);
  for (uint64_t instance = 0; instance < START_COUNT; instance++) {
    if (!line_names(&named, (uint32_t)instance)) continue;
    memset(state, 0, sizeof state);
    if (model_start(instance, state, worker->expansion.context) != OK) continue;
#if HAS_NORMALISE
    model_normalise(state);
#endif
    if (!successor_assumed(state, worker->expansion.context)) continue;
    if (!set_add(set, worker->expansion.hasher, state, observation->most)) return 0;
  }
  return 1;
}

/* Reads lines until no state agrees, or another reason to return. `done` continues. */
EXPORT uint64_t outcrop_observe_lines(Search *search, Observation *observation) {
  Worker *worker = &search->workers[0];
  const uint64_t most_work = observation->work + observation->most_work;
  worker->expansion.context = worker->scratch;
  worker->expansion.flush = observe_successors;
  worker->block = NULL;
  for (; observation->done < observation->lines; observation->done++) {
    if (observation->work >= most_work) return OBSERVED_PAUSED;
    const uint64_t count = observation->sets[observation->current].count;
    if (!observe_line(worker, observation, observation->done)) {
      observation->sets[observation->current].count = count;
      return OBSERVED_TOO_MANY;
    }
    observation->sets[observation->current].count = count; /* without those after hidden steps */
    const uint64_t found = observation->sets[1 - observation->current].count;
    if (!found) return OBSERVED_NONE;
    observation->current = 1 - observation->current;
    if (observation->most_seen) keep_seen(worker, observation, &observation->sets[observation->current]);
    observation->total += found;
    if (found <= observation->widest) continue;
    observation->widest = found;
    observation->widest_line = observation->done;
  }
  return OBSERVED_ALL;
}

/* --- Transitions with their rule instances -------------------------------------------------------------------- */

static void name_successors(Expansion *expansion) {
  NamedSteps *steps = ((Worker *)expansion)->purpose;
  if (steps->count == UINT64_MAX) {
    expansion->count = 0;
    return;
  }
  const uint64_t left = steps->room - steps->count;
  const uint64_t count = expansion->count < left ? expansion->count : left;
  memcpy(steps->successors + steps->count * STATE_BYTES, expansion->successors, count * STATE_BYTES);
  memcpy(steps->owners + steps->count, expansion->owners, count * sizeof *steps->owners);
  memcpy(steps->instances + steps->count, expansion->instances, count * sizeof *steps->instances);
  steps->count += count;
  if (count < expansion->count) steps->count = UINT64_MAX; /* too many */
  expansion->count = 0;
}

/* Expands states that are followed by spare bytes, as long as their successors fit. Returns how many it expanded. */
EXPORT uint64_t outcrop_name_steps(Search *search, const uint8_t *states, uint64_t count, NamedSteps *steps) {
  Worker *worker = &search->workers[0];
  uint64_t number = 0;
  steps->count = 0;
  worker->purpose = steps;
  worker->block = NULL;
  worker->expansion.flush = name_successors;
  for (; number < count; number++) {
    const uint64_t before = steps->count;
    worker->expansion.owner = (uint32_t)number;
    expand_state(worker, states + number * STATE_BYTES);
    if (steps->count != UINT64_MAX) name_successors(&worker->expansion);
    if (steps->count != UINT64_MAX) continue;
    worker->expansion.count = 0;
    steps->count = before;
    break;
  }
  forget_findings(worker);
  return number;
}
