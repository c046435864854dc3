/* The representative of an orbit: the part that is the same for every model.
 *
 * Elements of all scalarsets are numbered 1..ELEMENTS. They are sorted by what the state says about each alone
 * (`local`). The relations have what it says about several elements at once. Ties are refined: cells of equal elements
 * are split by how relations connect them to other cells. A remaining cell is harmless if any two of its elements can
 * be swapped without changing the state. Otherwise its elements are individualised one after the other, and the best
 * image found is the representative. docs/algorithms/symmetry.md says why this is canonical.
 *
 * Needs ELEMENTS, LOCAL_WORDS, STATE_WORDS, RELATIONS (largest number of them), COLUMNS (largest number of elements
 * in a relation), SLOTS and SLOT_COLUMNS (the same for slots of multisets), and order_image, which writes the image
 * of a state under the permutation that maps order[p] to place p. / */
#ifndef OUTCROP_CANON_H
#define OUTCROP_CANON_H

#include "normal.h"

/* A fact: these elements stand in these places of `data`. Equal data and equal elements mean the same fact. */
typedef struct Relation {
  uint64_t data;
  Element element[COLUMNS];
#if SLOT_COLUMNS
  uint16_t slot[SLOT_COLUMNS]; /* the multiset slots that contain the fact, outermost first; 0 is none */
#endif
} Relation;

typedef struct Relations {
  unsigned count;
  uint8_t related[ELEMENTS + 1]; /* whether an element occurs in any */
  Relation list[RELATIONS + 1];
} Relations;

/* An ordered partition. The cell that starts at place p holds order[p] .. order[p + length[p] - 1]. */
typedef struct Partition {
  unsigned cells;
  Element order[ELEMENTS];
  Element start[ELEMENTS + 1]; /* start of the cell of each element */
  Element length[ELEMENTS];    /* length of the cell that starts at each place */
} Partition;

static void order_image(const uint8_t *state, const Element *order, uint64_t *image);

/* Starts a fact after the last one. It is counted afterwards if it holds. */
static inline Relation *next_fact(Relations *relations, uint64_t data) {
  Relation *fact = &relations->list[relations->count];
  const Relation nothing = {0};
  *fact = nothing;
  fact->data = data;
  return fact;
}

static inline void relate(Relations *relations, Relation *fact, unsigned column, uint64_t element, int holds) {
  fact->element[column] = (Element)element;
  relations->related[element] |= (uint8_t)holds;
}

/* --- Refinement ---------------------------------------------------------------------------------------------- */

static inline uint64_t turned(uint64_t word, unsigned column) {
  const unsigned count = 23 * column & 63;
  return count ? word << count | word >> (64 - count) : word;
}

/* Returns a key of a relation that does not distinguish elements of one cell. */
static inline uint64_t relation_key(const Partition *partition, const Relation *relation) {
  uint64_t key = relation->data;
  for (unsigned column = 0; column < COLUMNS; column++)
    key += (partition->start[relation->element[column]] + UINT64_C(1)) * (scramble(column + 1) | 1);
  return key;
}

/* Computes sum[e], a hash of how element e is related to the cells. It is a sum, because relations have no order. */
static void add_relations(const Partition *partition, const Relations *relations, uint64_t *sum) {
  for (unsigned element = 0; element <= ELEMENTS; element++) sum[element] = 0;
#if SLOT_COLUMNS
  /* A slot is identified by the facts in it, including those in inner slots. */
  uint64_t slots[SLOTS + 1];
  for (unsigned slot = 0; slot <= SLOTS; slot++) slots[slot] = 0;
  for (unsigned column = SLOT_COLUMNS; column-- > 0;)
    for (unsigned number = 0; number < relations->count; number++) {
      const Relation *relation = &relations->list[number];
      if (!relation->slot[column]) continue;
      uint64_t key = relation_key(partition, relation);
      for (unsigned inner = column + 1; inner < SLOT_COLUMNS; inner++)
        if (relation->slot[inner]) key += scramble(slots[relation->slot[inner]]);
      slots[relation->slot[column]] += scramble(key);
    }
#endif
  for (unsigned number = 0; number < relations->count; number++) {
    const Relation *relation = &relations->list[number];
    uint64_t key = relation_key(partition, relation);
#if SLOT_COLUMNS
    for (unsigned column = 0; column < SLOT_COLUMNS; column++)
      if (relation->slot[column]) key += turned(scramble(slots[relation->slot[column]]), column + 1);
#endif
    key = scramble(key);
    for (unsigned column = 0; column < COLUMNS; column++) sum[relation->element[column]] += turned(key, column);
  }
}

/* Sorts each cell by the sums of its elements and splits it where they differ. Hashes what it saw into `trace`. */
static int split_cells(Partition *partition, const uint64_t *sum, uint64_t *trace) {
  Element *order = partition->order;
  const unsigned before = partition->cells;
  for (unsigned start = 0, end; start < ELEMENTS; start = end) {
    end = start + partition->length[start];
    if (end - start == 1) continue;
    for (unsigned next = start + 1; next < end; next++) {
      const Element element = order[next];
      unsigned place = next;
      for (; place > start && sum[order[place - 1]] > sum[element]; place--) order[place] = order[place - 1];
      order[place] = element;
    }
    for (unsigned place = start, cell = start; place < end; place++) {
      if (place > start && sum[order[place]] != sum[order[place - 1]]) {
        partition->cells++;
        cell = place;
      }
      *trace = scramble(*trace + sum[order[place]] + cell);
      partition->start[order[place]] = (Element)cell;
      partition->length[cell] = (Element)(place + 1 - cell);
    }
  }
  return partition->cells > before;
}

/* Refines a partition. Returns a number that depends on how that went, but not on the names of elements. */
static uint64_t refine(Partition *partition, const Relations *relations) {
  uint64_t sum[ELEMENTS + 1], trace = 0;
  int split = 1;
  while (split && partition->cells < ELEMENTS) {
    add_relations(partition, relations, sum);
    split = split_cells(partition, sum, &trace);
  }
  return trace;
}

/* Individualises an element: moves it to a cell of its own, before the others of its cell. */
static void set_apart(Partition *partition, Element element) {
  Element *order = partition->order;
  const unsigned start = partition->start[element], end = start + partition->length[start];
  unsigned place = start;
  while (order[place] != element) place++;
  order[place] = order[start];
  order[start] = element;
  for (place = start + 1; place < end; place++) partition->start[order[place]] = (Element)(start + 1);
  partition->length[start + 1] = (Element)(end - start - 1);
  partition->length[start] = 1;
  partition->cells++;
}

/* --- Ties ---------------------------------------------------------------------------------------------------- */

static inline Element swapped(Element element, Element one, Element other) {
  return element == one ? other : element == other ? one : element;
}

#if SLOT_COLUMNS
/* Returns whether swapping two elements fixes the image of a state. Facts in slots require a matching of slots, which
 * the image, with its sorted multisets, decides. */
static int swap_fixes_image(const uint8_t *state, Element one, Element other) {
  uint64_t here[STATE_WORDS + 1], there[STATE_WORDS + 1];
  Element order[ELEMENTS];
  for (unsigned place = 0; place < ELEMENTS; place++) order[place] = (Element)(place + 1);
  order_image(state, order, here);
  order[one - 1] = other;
  order[other - 1] = one;
  order_image(state, order, there);
  for (unsigned word = 0; word < STATE_WORDS; word++)
    if (here[word] != there[word]) return 0;
  return 1;
}
#endif

/* Returns whether swapping two elements fixes the state. */
static int swap_fixes(const uint8_t *state, uint64_t (*local)[LOCAL_WORDS], const Relations *relations, Element one,
                      Element other) {
  for (unsigned word = 0; word < LOCAL_WORDS; word++)
    if (local[one][word] != local[other][word]) return 0;
  if (!relations->related[one] && !relations->related[other]) return 1;
  if (relations->related[one] != relations->related[other]) return 0;
  for (unsigned number = 0; number < relations->count; number++) {
    const Relation *relation = &relations->list[number];
    Relation image = *relation;
    int moved = 0;
    for (unsigned column = 0; column < COLUMNS; column++) {
      image.element[column] = swapped(relation->element[column], one, other);
      moved |= image.element[column] != relation->element[column];
    }
    if (!moved) continue;
#if SLOT_COLUMNS
    if (relation->slot[0]) return swap_fixes_image(state, one, other);
#endif
    unsigned found = 0;
    for (; found < relations->count; found++) {
      const Relation *candidate = &relations->list[found];
      int same = candidate->data == image.data;
      for (unsigned column = 0; column < COLUMNS; column++)
        same &= candidate->element[column] == image.element[column];
      if (same) break;
    }
    if (found == relations->count) return 0;
  }
  (void)state;
  return 1;
}

/* Returns the first cell with two elements that cannot be swapped; ELEMENTS if there is none. */
static unsigned open_cell(const uint8_t *state, uint64_t (*local)[LOCAL_WORDS], const Relations *relations,
                          const Partition *partition) {
  for (unsigned start = 0; start < ELEMENTS; start += partition->length[start])
    for (unsigned place = start + 1; place < start + partition->length[start]; place++)
      if (!swap_fixes(state, local, relations, partition->order[start], partition->order[place])) return start;
  return ELEMENTS;
}

/* One way to individualise elements of open cells, as far as it has gone. */
typedef struct Branch {
  unsigned depth;
  Element path[ELEMENTS];   /* the element individualised at each step */
  uint64_t trace[ELEMENTS]; /* hash of the refinement after it, and of the cell that is open then */
} Branch;

/* Takes step number `step` of a branch. Returns the cell that is open after it. */
static unsigned branch_step(const uint8_t *state, uint64_t (*local)[LOCAL_WORDS], const Relations *relations,
                          Partition *partition, Branch *branch, unsigned step) {
  set_apart(partition, branch->path[step]);
  const uint64_t trace = refine(partition, relations);
  const unsigned open = open_cell(state, local, relations, partition);
  branch->trace[step] = scramble(trace + open);
  return open;
}

/* Returns a negative number if the last step makes a branch better than the best one, a positive one if worse. */
static int compare_step(const Branch *branch, const Branch *best) {
  const unsigned step = branch->depth - 1;
  if (step >= best->depth) return 1;
  return (branch->trace[step] > best->trace[step]) - (branch->trace[step] < best->trace[step]);
}

static int compare_images(const uint64_t *one, const uint64_t *other) {
  for (unsigned word = 0; word < STATE_WORDS; word++)
    if (one[word] != other[word]) return one[word] < other[word] ? -1 : 1;
  return 0;
}

/* Finds, among all ways to individualise elements of open cells, those with the least traces, and among these the
 * least image. Two equal images are an automorphism that carries one branch to the other, from where their paths
 * part: the rest of the second need not be searched. `open` is the open cell of the root. */
static void search_ties(const uint8_t *state, uint64_t (*local)[LOCAL_WORDS], const Relations *relations,
                        const Partition *root, unsigned open, uint64_t *best_image) {
  Branch branch, best;
  Element cell[ELEMENTS], child[ELEMENTS], width[ELEMENTS]; /* per step: the open cell, the child taken, its size */
  uint64_t image[STATE_WORDS + 1];
  Partition partition = *root;
  int order = -1; /* comparison of this branch with the best one */
  branch.depth = best.depth = 0;
  for (;;) {
    while (order <= 0 && open < ELEMENTS) {
      const unsigned step = branch.depth++;
      cell[step] = (Element)open;
      child[step] = 0;
      width[step] = partition.length[open];
      branch.path[step] = partition.order[open];
      open = branch_step(state, local, relations, &partition, &branch, step);
      if (order == 0) order = compare_step(&branch, &best);
    }
    if (order <= 0) {
      order_image(state, partition.order, image);
      if (order == 0) order = branch.depth < best.depth ? -1 : compare_images(image, best_image);
      if (order < 0) {
        best = branch;
        for (unsigned word = 0; word < STATE_WORDS; word++) best_image[word] = image[word];
      } else if (order == 0) {
        unsigned common = 0;
        while (branch.path[common] == best.path[common]) common++;
        branch.depth = common + 1;
      }
    }
    while (branch.depth > 0 && child[branch.depth - 1] + 1 == width[branch.depth - 1]) branch.depth--;
    if (branch.depth == 0) return;
    /* The earlier steps are repeated, which is cheaper than keeping a partition for each. */
    const unsigned last = branch.depth - 1;
    partition = *root;
    for (unsigned step = 0; step < last; step++) {
      set_apart(&partition, branch.path[step]);
      refine(&partition, relations);
    }
    branch.path[last] = partition.order[cell[last] + ++child[last]];
    open = branch_step(state, local, relations, &partition, &branch, last);
    order = compare_step(&branch, &best);
  }
}

/* Computes the image of a state whose elements are in `order` after sorting; tied[p] if place p equals the previous
 * one. Returns 0, and no image, if all elements are in place. */
static int resolve_ties(const uint8_t *state, uint64_t (*local)[LOCAL_WORDS], const Relations *relations,
                        const Element *order, const uint8_t *tied, uint64_t *image) {
  Partition partition;
  partition.cells = 0;
  for (unsigned place = 0, cell = 0; place < ELEMENTS; place++) {
    if (!tied[place]) cell = place, partition.cells++;
    partition.order[place] = order[place];
    partition.start[order[place]] = (Element)cell;
    partition.length[cell] = (Element)(place + 1 - cell);
  }
  partition.start[0] = ELEMENTS;
  refine(&partition, relations);
  const unsigned open = open_cell(state, local, relations, &partition);
  if (open < ELEMENTS) {
    search_ties(state, local, relations, &partition, open, image);
    return 1;
  }
  int changed = 0;
  for (unsigned place = 0; place < ELEMENTS; place++) changed |= partition.order[place] != place + 1;
  if (changed) order_image(state, partition.order, image);
  return changed;
}

#endif
