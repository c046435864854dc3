/* Tree compression (A. W. Laarman, J. van de Pol, M. Weber, "Parallel recursive state compression for free", 2011). A packed
 * state is cut into leaves of at most four bytes. A pair of leaves, of the numbers of two nodes, or of one and the other
 * is a node, and gets a number when it is first met. A state is kept as its root, the pair of numbers of its two halves.
 *
 * A successor has most of its tree in common with the state that it comes from, whose numbers are known: only the paths
 * above bytes that have changed are looked up.
 *
 * Nodes lie in an array in the order of their numbers, and an open-addressing table finds them: both as table.c has them
 * for states, since node and root are eight bytes alike. Roots are in no such table; see compressed.c. */

/* The most leaves that a shape may have: one a byte, unless that is too much. */
enum {
  MOST_LEAVES = MODEL_BYTES <= 384 ? MODEL_BYTES : (MODEL_BYTES + 3) / 4,
  TREE_WORDS = (MODEL_BYTES + 7) / 8,
};

/* A tree, unfolded. Its values are its leaves, then the numbers of its inner nodes, each after those below it, then 0. */
typedef struct {
  uint64_t state[TREE_WORDS + 1]; /* as the model packs it, with spare bytes */
  uint32_t value[2 * MOST_LEAVES + 1];
} UnfoldedTree;

typedef struct {
  uint32_t leaves, nodes; /* nodes without the root */
  uint16_t leaf_at[MOST_LEAVES], leaf_end[MOST_LEAVES], leaf_of[MODEL_BYTES];
  uint32_t leaf_mask[MOST_LEAVES];
  uint16_t left[MOST_LEAVES + 1], right[MOST_LEAVES + 1]; /* which values a node pairs; after the others, the root */
} TreeShape;

typedef struct {
  TreeShape shape;
  Arena nodes;
  Table table;       /* finds nodes */
  int wants_to_grow; /* (atomic) */
} Tree;

/* Numbers that a worker claims at once; trees of states being expanded that it keeps, as many as fit its cache. */
enum {
  NODE_CHUNK = 64,
  TREE_CACHE = 1 << 19,
  TREES_AT_HAND = 512 * sizeof(UnfoldedTree) <= TREE_CACHE ? 512 : TREE_CACHE / sizeof(UnfoldedTree) + 1,
};

/* A node that a worker has met lately. The pair of zeros has number 0. */
typedef struct {
  uint64_t pair, number;
} KnownNode;

/* States that are folded together, a bit each in a set of them; nodes and roots that a worker remembers. */
enum { FOLDED_TOGETHER = 64, KNOWN_BITS = 13, RECENT_BITS = 13 };

/* States that are being folded. A value is that of the state's parent unless it has changed. */
typedef struct {
  const UnfoldedTree *parents[FOLDED_TOGETHER];
  uint64_t changed[2 * MOST_LEAVES + 1];                  /* for each value, the states in which it has changed */
  uint32_t value[2 * MOST_LEAVES + 1][FOLDED_TOGETHER];   /* ... and what it is there */
} Folding;

static inline uint64_t pair_of(uint32_t left, uint32_t right) { return (uint64_t)right << 32 | left; }

/* --- The shape ----------------------------------------------------------------------------------------------- */

/* `bytes`: size of each leaf, in order. `left` and `right`: values that each node pairs, the root last, as above; the value
 * behind all others is 0. Returns 0 if these describe no tree. */
static int tree_shape(TreeShape *shape, const uint32_t *bytes, uint32_t leaves, const uint32_t *left, const uint32_t *right,
                      uint32_t nodes) {
  memset(shape, 0, sizeof *shape);
  if (leaves > MOST_LEAVES || nodes >= MOST_LEAVES + (MOST_LEAVES == 1)) return 0;
  shape->leaves = leaves;
  shape->nodes = nodes;
  uint32_t at = 0;
  for (uint32_t i = 0; i < leaves; i++) {
    if (!bytes[i] || bytes[i] > 4 || at + bytes[i] > MODEL_BYTES) return 0;
    shape->leaf_at[i] = (uint16_t)at;
    shape->leaf_end[i] = (uint16_t)(at + bytes[i]);
    shape->leaf_mask[i] = UINT32_MAX >> (32 - 8 * bytes[i]);
    for (; at < shape->leaf_end[i]; at++) shape->leaf_of[at] = (uint16_t)i;
  }
  for (uint32_t node = 0; node <= nodes; node++) {
    if (left[node] >= leaves + node || (right[node] >= leaves + node && right[node] != leaves + nodes)) return 0;
    shape->left[node] = (uint16_t)left[node];
    shape->right[node] = (uint16_t)right[node];
  }
  return at == MODEL_BYTES;
}

static inline uint32_t leaf_value(const TreeShape *shape, const uint8_t *state, uint32_t leaf) {
  uint32_t value;
  memcpy(&value, state + shape->leaf_at[leaf], sizeof value);
  return value & shape->leaf_mask[leaf];
}

/* --- Nodes --------------------------------------------------------------------------------------------------- */

/* The pair of zeros gets the first number, so that a tree of zeros stands for the state of zeros. */
static int tree_open(Tree *tree, uint64_t bytes, uint64_t first_lines, uint64_t slack, const Hasher *hasher) {
  uint64_t zeros = 0;
  uint8_t is_new = 0;
  if (!arena_open(&tree->nodes, bytes, -1, 0, bytes) || !table_open(&tree->table, first_lines, 0, slack)) return 0;
  table_look_up(table_view(&tree->table, &tree->nodes), (const uint8_t *)&zeros, hash_state(hasher, (const uint8_t *)&zeros),
                0, &tree->nodes.used, 0, &is_new);
  tree->nodes.used = 1;
  return 1;
}

static void tree_close(Tree *tree) {
  table_close(&tree->table);
  arena_close(&tree->nodes);
}

static uint64_t tree_bytes(const Tree *tree) {
  return tree->table.line_count * LINE_BYTES + arena_bytes(&tree->nodes);
}

/* Finds the state and the values of a tree by its root. */
static inline const uint8_t *tree_unfold(const Tree *tree, const uint8_t *root, UnfoldedTree *unfolded) {
  const TreeShape *shape = &tree->shape;
  const uint64_t *nodes = (const uint64_t *)tree->nodes.base;
  uint8_t *state = (uint8_t *)unfolded->state;
  uint64_t pair;
  memcpy(&pair, root, sizeof pair);
  for (uint32_t node = shape->nodes;; node--) {
    unfolded->value[shape->left[node]] = (uint32_t)pair;
    unfolded->value[shape->right[node]] = (uint32_t)(pair >> 32);
    if (!node) break;
    pair = nodes[unfolded->value[shape->leaves + node - 1]];
  }
  for (uint32_t leaf = 0; leaf < shape->leaves; leaf++) memcpy(state + shape->leaf_at[leaf], &unfolded->value[leaf], 4);
  return state;
}

/* Finds the root of a state whose nodes are all known. Returns 0 if one is not: the state was never met. */
static int tree_find_root(const Tree *tree, const Hasher *hasher, const uint8_t *state, uint8_t *root) {
  const TreeShape *shape = &tree->shape;
  uint32_t value[2 * MOST_LEAVES + 1];
  for (uint32_t leaf = 0; leaf < shape->leaves; leaf++) value[leaf] = leaf_value(shape, state, leaf);
  value[shape->leaves + shape->nodes] = 0;
  for (uint32_t node = 0;; node++) {
    const uint64_t pair = pair_of(value[shape->left[node]], value[shape->right[node]]);
    const uint8_t *bytes = (const uint8_t *)&pair;
    if (node == shape->nodes) {
      memcpy(root, bytes, sizeof pair);
      return 1;
    }
    uint64_t number = table_find(&tree->table, &tree->nodes, bytes, hash_state(hasher, bytes));
    if (number == UINT64_MAX) return 0;
    value[shape->leaves + node] = (uint32_t)number;
  }
}
