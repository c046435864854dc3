/* The normal form of Murphi for a state under scalarset symmetry, which differs from ours. murphi_symmetry.py describes it
   and makes the tables that this file follows. A state is a row of packed leaves; a class becomes a range of values. */

typedef struct {
  uint8_t class[SETS][LARGEST_SET];
} Classes;

/* The values (or slots of a multiset) of each class, as bit masks, while classes are split. */
typedef struct {
  uint32_t masks[LARGEST_GROUP];
  int count;
} Groups;

enum { MENTION, SORT, GRAPH, MULTISET };

static int is_split(const Classes *classes, int set) {
  uint32_t seen = 0;
  for (int value = 0; value < SIZE[set]; value++) {
    if (seen >> classes->class[set][value] & 1) return 0;
    seen |= 1u << classes->class[set][value];
  }
  return 1;
}

static int is_decided(const Classes *classes) {
  for (int set = 0; set < SETS; set++)
    if (!is_split(classes, set)) return 0;
  return 1;
}

/* Splits the last class at a mentioned value: the value becomes a class, and the rest a new last class. */
static void mention(const uint16_t *leaves, Classes *classes, int leaf) {
  for (int part = PART_BEGIN[leaf]; part < PART_BEGIN[leaf + 1]; part++) {
    const int set = PART_SET[part], value = leaves[leaf] - PART_START[part] - 1;
    if (value < 0 || value >= SIZE[set]) continue;
    uint8_t *own = classes->class[set], last = 0;
    for (int each = 0; each < SIZE[set]; each++) last = own[each] > last ? own[each] : last;
    if (own[value] != last) continue;
    for (int each = 0; each < SIZE[set]; each++) own[each] += own[each] == last && each != value;
  }
}

/* Returns the weight of a leaf; for one that may hold a scalarset value, only whether it is defined. */
static int weight(const uint16_t *leaves, int leaf) {
  return IS_WEIGHED_AS_DEFINED[leaf] ? leaves[leaf] != 0 : leaves[leaf];
}

static int compare_weights(const uint16_t *leaves, int one, int other, const int32_t *offsets, int count) {
  for (int number = 0; number < count; number++) {
    const int difference = weight(leaves, one + offsets[number]) - weight(leaves, other + offsets[number]);
    if (difference) return difference;
  }
  return 0;
}

/* Splits classes by the weights of the elements of an array, smaller ones first. */
static void sort_classes(const uint16_t *leaves, Classes *classes, int base, const int32_t *array) {
  const int set = array[0], count = array[1];
  const int32_t *begins = array + 2, *offsets = begins + SIZE[set];
  uint8_t *own = classes->class[set], ranks[LARGEST_SET] = {0};
  for (int value = 0; value < SIZE[set]; value++) {
    uint32_t before = 0;
    for (int other = 0; other < SIZE[set]; other++) {
      const int first = own[other] != own[value]
          ? own[other] < own[value]
          : compare_weights(leaves, base + begins[other], base + begins[value], offsets, count) < 0;
      if (!first) continue;
      /* Each earlier class counts once: by the first of its values. */
      int is_first = 1;
      for (int each = 0; each < other; each++)
        is_first &= own[each] != own[other]
            || compare_weights(leaves, base + begins[each], base + begins[other], offsets, count) != 0;
      before += is_first;
    }
    ranks[value] = before;
  }
  memcpy(own, ranks, SIZE[set]);
}

static void to_groups(const Classes *classes, int set, Groups *groups) {
  memset(groups, 0, sizeof *groups);
  for (int value = 0; value < SIZE[set]; value++) {
    const int number = classes->class[set][value];
    groups->masks[number] |= 1u << value;
    if (number >= groups->count) groups->count = number + 1;
  }
}

static void from_groups(Classes *classes, int set, const Groups *groups) {
  for (int number = 0; number < groups->count; number++)
    for (int value = 0; value < SIZE[set]; value++)
      if (groups->masks[number] >> value & 1) classes->class[set][value] = number;
}

/* Splits a group: some of its members come before the rest. */
static int split(Groups *groups, int number, uint32_t good) {
  const uint32_t rest = groups->masks[number] & ~good;
  if (!good || !rest) return 0;
  for (int each = groups->count++; each > number; each--) groups->masks[each] = groups->masks[each - 1];
  groups->masks[number] = good;
  groups->masks[number + 1] = rest;
  return 1;
}

/* Fills in the value of a set that each element points to, -1 for none. */
static void find_targets(const uint16_t *leaves, const int32_t *begins, int count, int base, const int32_t *pointer,
                         int *targets) {
  for (int number = 0; number < count; number++) {
    const int value = leaves[base + begins[number] + pointer[2]] - pointer[1] - 1;
    targets[number] = value >= 0 && value < SIZE[pointer[0]] ? value : -1;
  }
}

static void split_by_loops(Groups *groups, int size, const int *targets) {
  for (int number = 0; number < groups->count; number++) {
    uint32_t good = 0;
    for (int value = 0; value < size; value++)
      if (groups->masks[number] >> value & 1 && targets[value] == value) good |= 1u << value;
    number += split(groups, number, good);
  }
}

static void split_within(Groups *groups, int size, const int *targets) {
  for (int number = 0; number < groups->count; number++)
    for (int target = 0; target < groups->count; target++) {
      uint32_t good = 0;
      for (int value = 0; value < size; value++)
        if (groups->masks[number] >> value & 1 && targets[value] >= 0 && targets[value] != value
            && groups->masks[target] >> targets[value] & 1)
          good |= 1u << value;
      if (split(groups, number, good)) target = number; /* as Murphi has it: its loop over targets goes on from here */
    }
}

static void split_between(Groups *groups, Groups *others, int size, const int *targets) {
  for (int number = 0; number < groups->count; number++)
    for (int target = 0; target < others->count; target++) {
      uint32_t good = 0, reached = 0;
      for (int value = 0; value < size; value++)
        if (groups->masks[number] >> value & 1 && targets[value] >= 0 && others->masks[target] >> targets[value] & 1) {
          good |= 1u << value;
          reached |= 1u << targets[value];
        }
      if (!good) continue;
      split(groups, number, good);
      split(others, target, reached);
    }
}

static int total(const Groups *groups) {
  int sum = 0;
  for (int set = 0; set < SETS; set++) sum += groups[set].count;
  return sum;
}

/* Splits classes by the targets of the elements of an array, in passes, until nothing changes. */
static void refine(const uint16_t *leaves, Classes *classes, int base, const int32_t *graph) {
  Groups groups[SETS];
  int is_open[SETS];
  for (int set = 0; set < SETS; set++) {
    to_groups(classes, set, &groups[set]);
    is_open[set] = !is_split(classes, set);
  }
#define IS_OPEN(set) (is_open[set] && groups[set].count < SIZE[set])
  for (int pass = 0, before = -1; before != total(groups); pass++) {
    if (pass) before = total(groups);
    for (int way = pass ? 1 : 0; way <= (pass ? 2 : 0); way++) { /* loops once, then within and between */
      const int32_t *array = graph + 1;
      for (int number = 0; number < graph[0]; number++) {
        const int set = array[0], pointers = array[1];
        const int32_t *begins = array + 2, *pointer = begins + SIZE[set];
        for (int each = 0; each < pointers; each++, pointer += 3) {
          const int other = pointer[0];
          int targets[LARGEST_SET], some = 0, none = 0, moves = 0;
          find_targets(leaves, begins, SIZE[set], base, pointer, targets);
          for (int value = 0; value < SIZE[set]; value++) {
            some |= targets[value] >= 0;
            none |= targets[value] < 0;
            moves |= targets[value] >= 0 && targets[value] != value;
          }
          if (way == 0 && other == set && IS_OPEN(set)) split_by_loops(&groups[set], SIZE[set], targets);
          if (way == 1 && other == set && IS_OPEN(set) && moves) split_within(&groups[set], SIZE[set], targets);
          if (way == 2 && other != set && (IS_OPEN(set) || IS_OPEN(other)) && some && none)
            split_between(&groups[set], &groups[other], SIZE[set], targets);
        }
        array = pointer;
      }
    }
  }
  for (int set = 0; set < SETS; set++)
    if (is_open[set]) from_groups(classes, set, &groups[set]);
}

static void follow(const uint16_t *leaves, Classes *classes, int base, const int32_t *steps, int length);

/* Splits classes by the elements of a multiset: first by their weights, then by their targets. */
static void limit_by_multiset(const uint16_t *leaves, Classes *classes, int base, const int32_t *multiset) {
  const int begin = base + multiset[0], capacity = multiset[1], length = multiset[2], inner = multiset[3];
  const int32_t *steps = multiset + 4, *offsets = steps + inner + 2, *pointers;
  const int weights = steps[inner], pointer_count = steps[inner + 1];
  int32_t elements[LARGEST_GROUP];
  int count = 0;
  for (int slot = 0; slot < capacity; slot++)
    if (leaves[begin + slot * length]) elements[count++] = begin + slot * length + 1;
  pointers = offsets + weights;
  if (!count) return;
  if (count == 1) {
    follow(leaves, classes, elements[0], steps, inner);
    return;
  }
  for (int at = 1; at < count; at++)
    for (int place = at; place && compare_weights(leaves, elements[place], elements[place - 1], offsets, weights) < 0; place--) {
      const int32_t element = elements[place];
      elements[place] = elements[place - 1];
      elements[place - 1] = element;
    }
  Groups slots = {{1}, 1}, groups[SETS];
  for (int at = 1; at < count; at++) {
    slots.count += compare_weights(leaves, elements[at - 1], elements[at], offsets, weights) != 0;
    slots.masks[slots.count - 1] |= 1u << at;
  }
  int is_open[SETS];
  for (int set = 0; set < SETS; set++) {
    to_groups(classes, set, &groups[set]);
    is_open[set] = !is_split(classes, set);
  }
  for (int before = -1; before != total(groups) + slots.count;) {
    before = total(groups) + slots.count;
    for (int each = 0; each < pointer_count; each++) {
      const int32_t *pointer = pointers + 3 * each;
      int targets[LARGEST_GROUP];
      if (slots.count >= count && !IS_OPEN(pointer[0])) continue;
      find_targets(leaves, elements, count, 0, pointer, targets);
      split_between(&slots, &groups[pointer[0]], count, targets);
    }
  }
  for (int set = 0; set < SETS; set++)
    if (is_open[set]) from_groups(classes, set, &groups[set]);
}

static void follow(const uint16_t *leaves, Classes *classes, int base, const int32_t *steps, int length) {
  for (const int32_t *step = steps; step < steps + length; step += step[2]) {
    if (step[1] && is_decided(classes)) return; /* no later step can undo it */
    if (step[0] == MENTION)
      for (int each = 3; each < step[2]; each++) mention(leaves, classes, base + step[each]);
    if (step[0] == SORT) sort_classes(leaves, classes, base, step + 3);
    if (step[0] == GRAPH) refine(leaves, classes, base, step + 3);
    if (step[0] == MULTISET) limit_by_multiset(leaves, classes, base, step + 3);
  }
}

/* Fills in the value for each place of the normal form. */
typedef struct {
  uint8_t at[SETS][LARGEST_SET];
} Places;

static void first_places(const Classes *classes, Places *places) {
  for (int set = 0; set < SETS; set++)
    for (int number = 0, place = 0; number < SIZE[set]; number++)
      for (int value = 0; value < SIZE[set]; value++)
        if (classes->class[set][value] == number) places->at[set][place++] = value;
}

static void turn_round(uint8_t *at, int begin, int end) {
  for (; begin < --end; begin++) {
    const uint8_t kept = at[begin];
    at[begin] = at[end];
    at[end] = kept;
  }
}

/* Makes the lexicographically next order of a range. After the last one it makes the first again and returns 0. */
static int advance(uint8_t *at, int begin, int end) {
  int last = end - 2, other = end - 1;
  while (last >= begin && at[last] > at[last + 1]) last--;
  if (last < begin) {
    turn_round(at, begin, end);
    return 0;
  }
  while (at[other] < at[last]) other--;
  const uint8_t kept = at[last];
  at[last] = at[other];
  at[other] = kept;
  turn_round(at, last + 1, end);
  return 1;
}

/* Makes the next permutation within the classes, the first class varying fastest. Returns 0 after the last. */
static int next_places(const Classes *classes, Places *places) {
  for (int set = 0; set < SETS; set++)
    for (int begin = 0, end; begin < SIZE[set]; begin = end) {
      const uint8_t number = classes->class[set][places->at[set][begin]];
      for (end = begin; end < SIZE[set] && classes->class[set][places->at[set][end]] == number;) end++;
      if (advance(places->at[set], begin, end)) return 1;
    }
  return 0;
}

static void sort_slots(uint16_t *leaves) {
  for (int number = 0; number < MULTISETS; number++) {
    const int begin = MULTISET_BEGIN[number], length = MULTISET_LENGTH[number];
    for (int at = 1; at < MULTISET_CAPACITY[number]; at++)
      for (int place = at; place; place--) {
        uint16_t *one = leaves + begin + (place - 1) * length, *other = one + length, kept[LONGEST_SLOT];
        int leaf = 1;
        while (leaf < length && one[leaf] == other[leaf]) leaf++;
        /* Slots in use come first. */
        if (!other[0] || (one[0] && (leaf == length || one[leaf] < other[leaf]))) break;
        memcpy(kept, one, 2 * length);
        memcpy(one, other, 2 * length);
        memcpy(other, kept, 2 * length);
      }
  }
}

static void permute(const uint16_t *leaves, const Places *places, uint16_t *image) {
  uint8_t place_of[SETS][LARGEST_SET];
  for (int set = 0; set < SETS; set++)
    for (int place = 0; place < SIZE[set]; place++) place_of[set][places->at[set][place]] = place;
  for (int leaf = 0; leaf < LEAVES; leaf++) {
    int source = leaf;
    for (int index = INDEX_BEGIN[leaf]; index < INDEX_BEGIN[leaf + 1]; index++)
      source += (places->at[INDEX_SET[index]][INDEX_DIGIT[index]] - INDEX_DIGIT[index]) * INDEX_STRIDE[index];
    int value = leaves[source];
    for (int part = PART_BEGIN[leaf]; part < PART_BEGIN[leaf + 1]; part++) {
      const int inside = value - PART_START[part] - 1, set = PART_SET[part];
      if (inside < 0 || inside >= SIZE[set]) continue;
      value = PART_START[part] + 1 + place_of[set][inside];
      break;
    }
    image[leaf] = value;
  }
  sort_slots(image);
}

/* Packs a state as Murphi does, in words of 32 bits. */
static void to_words(const uint16_t *leaves, int32_t *words) {
  memset(words, 0, 4 * (WORDS + 1));
  for (int leaf = 0; leaf < LEAVES; leaf++) {
    const uint64_t value = (uint64_t)(IS_FLAG[leaf] ? leaves[leaf] + 1 : leaves[leaf]) << (WORD_BIT[leaf] & 31);
    words[WORD_BIT[leaf] >> 5] |= (uint32_t)value;
    words[(WORD_BIT[leaf] >> 5) + 1] |= (uint32_t)(value >> 32);
  }
}

static int is_less(const int32_t *words, const int32_t *others) {
  for (int number = 0; number < WORDS; number++)
    if (words[number] != others[number]) return words[number] < others[number];
  return 0;
}

static void to_normal_form(uint8_t *state) {
  uint16_t leaves[LEAVES], best[LEAVES], image[LEAVES];
  Classes classes;
  Places places;
  memset(&classes, 0, sizeof classes);
  for (int leaf = 0; leaf < LEAVES; leaf++) leaves[leaf] = get_bits(state, LEAF_BIT[leaf], LEAF_WIDTH[leaf]);
  follow(leaves, &classes, 0, STEPS, STEP_LENGTH);
  first_places(&classes, &places);
  permute(leaves, &places, best);
  if (TRIES_PERMUTATIONS && !is_decided(&classes)) {
    int32_t words[WORDS + 1], best_words[WORDS + 1];
    to_words(best, best_words);
    for (int tried = 1; tried < MOST_PERMUTATIONS && next_places(&classes, &places); tried++) {
      permute(leaves, &places, image);
      to_words(image, words);
      if (!is_less(words, best_words)) continue;
      memcpy(best, image, sizeof best);
      memcpy(best_words, words, sizeof words);
    }
  }
  for (int leaf = 0; leaf < LEAVES; leaf++) set_bits(state, LEAF_BIT[leaf], LEAF_WIDTH[leaf], best[leaf]);
}

void outcrop_murphi_normal_forms(uint8_t *states, uint64_t count) {
  uint8_t state[STATE_BYTES + 8];
  for (uint64_t number = 0; number < count; number++) {
    memcpy(state, states + number * STATE_BYTES, STATE_BYTES);
    to_normal_form(state);
    memcpy(states + number * STATE_BYTES, state, STATE_BYTES);
  }
}
