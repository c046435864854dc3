/* The compressed visited set: exact, in 4 to 16 bytes a state. Packed states of up to 128 bits, or the roots of trees
 * (tree.c), are the keys of quotient tables (quotient.c). The arena is the queue, in RAM or in a file, and holds the same
 * keys in the order of their discovery.
 *
 * Node numbers are small at first, and so are roots. A root whose greater number has k bits is a key of 2k bits, in the
 * table for such keys: each root belongs to one table for good, and no table stores bits that are always zero. */

#include "abi_compressed.h"

#if HAS_TREE
enum { LEAST_NUMBER_BITS = 8, KEY_TABLES = 33 };
#else
enum { KEY_TABLES = 1 };
#endif

typedef struct {
  Permutation permutation;
  Quotient tables[KEY_TABLES];
  QuotientGrowth growth;
  int fills_tree; /* what grows is the table of nodes */
} Compressed;

static inline Compressed *compressed_of(const Search *search) { return search->own_set; }

/* --- Keys ---------------------------------------------------------------------------------------------------- */

/* The key of a state as it is kept, and the number of the table that it belongs to. */
static inline Key key_of(const uint8_t *state, unsigned *table) {
#if HAS_TREE
  uint32_t left, right;
  memcpy(&left, state, 4);
  memcpy(&right, state + 4, 4);
  const unsigned bits = 32 - (unsigned)__builtin_clz(left | right | 1);
  *table = bits < LEAST_NUMBER_BITS ? LEAST_NUMBER_BITS : bits;
  return (uint64_t)left << *table | right;
#else
  Key key = 0;
  *table = 0;
  memcpy(&key, state, STATE_BYTES);
  return key;
#endif
}

static unsigned bits_of_keys(unsigned table) {
#if HAS_TREE
  return 2 * table;
#else
  (void)table;
  return STATE_BITS ? STATE_BITS : 1;
#endif
}

/* --- Memory -------------------------------------------------------------------------------------------------- */

static uint64_t compressed_bytes(const Search *search) {
  const Compressed *set = compressed_of(search);
  uint64_t bytes = 0;
  for (unsigned i = 0; i < KEY_TABLES; i++) bytes += quotient_bytes(&set->tables[i]);
#if HAS_TREE
  bytes += tree_bytes(&search->tree);
#endif
  return bytes;
}

/* Returns the unused bytes of the budget. */
static uint64_t budget_left(const Search *search) {
  uint64_t taken = arena_bytes(&search->arena) + visited_bytes(search) + beside_bytes(search);
  return search->budget > taken ? search->budget - taken : 0;
}

/* Returns the number of lines that a table of `lines` grows to; 0 if memory does not allow it to grow by a sixteenth. Each
 * filled line takes `beside` bytes elsewhere. Large tables grow by a quarter, because unused lines count against the memory
 * of a state. */
static uint64_t grown_lines(const Search *search, uint64_t lines, uint64_t beside) {
  const uint64_t bytes = lines * LINE_BYTES;
  uint64_t more = bytes < (1 << 18) ? 3 * lines : bytes < (4 << 20) ? lines : lines / 4;
  const uint64_t affordable = budget_left(search) / (LINE_BYTES + beside);
  if (more > affordable) more = affordable;
  return more < lines / 16 + 1 ? 0 : lines + more;
}

/* --- Growing ------------------------------------------------------------------------------------------------- */

#if HAS_TREE
/* Returns the first unfilled part of a worker's numbers that lies in [begin, end); NULL if there is none. */
static const Chunk *first_unused_number(const Search *search, uint64_t begin, uint64_t end) {
  const Chunk *first = NULL;
  for (uint32_t i = 0; i < search->worker_count; i++) {
    const Chunk *hole = &search->workers[i].numbers;
    if (hole->next < hole->end && hole->next < end && hole->end > begin && (!first || hole->next < first->next))
      first = hole;
  }
  return first;
}

static int tree_grow(Search *search) {
  Tree *tree = &search->tree;
  Table grown = tree->table;
  const uint64_t slack = (uint64_t)search->worker_count * NODE_CHUNK;
  uint64_t lines = grown_lines(search, tree->table.line_count, NARROW_SLOTS * STATE_BYTES);
  if (!lines || !table_open(&grown, lines, 0, slack)) return 0;
  table_close(&tree->table);
  tree->table = grown;
  search->provided = search->rebuilt = 0;
  return 1;
}

/* Enters one worker's share of all nodes into the new table. */
static void tree_fill(Search *search) {
  enum { SHARE_NODES = 1 << 14 };
  const Tree *tree = &search->tree;
  const int shared = search->worker_count > 1;
  provide_share(search, tree->table.lines, tree->table.line_count * LINE_BYTES);
  for (;;) {
    uint64_t begin = __atomic_fetch_add(&search->rebuilt, SHARE_NODES, __ATOMIC_RELAXED);
    if (begin >= tree->nodes.used) return;
    uint64_t end = begin + SHARE_NODES < tree->nodes.used ? begin + SHARE_NODES : tree->nodes.used;
    for (const Chunk *hole; (hole = first_unused_number(search, begin, end)) != NULL; begin = hole->end)
      if (hole->next > begin) table_enter(&tree->table, &tree->nodes, &search->hasher, begin, hole->next, shared);
    if (begin < end) table_enter(&tree->table, &tree->nodes, &search->hasher, begin, end, shared);
  }
}
#endif

/* Returns the table of keys that must grow; NULL if there is none. */
static Quotient *growing_keys(Compressed *set) {
  for (unsigned i = 0; i < KEY_TABLES; i++)
    if (set->tables[i].wants_to_grow) return &set->tables[i];
  return NULL;
}

/* Workers that wait for another growth come here again. */
static int compressed_grow(Search *search) {
  Compressed *set = compressed_of(search);
  set->fills_tree = 0;
#if HAS_TREE
  if (search->tree.wants_to_grow) {
    search->tree.wants_to_grow = 0;
    set->fills_tree = 1;
    return tree_grow(search);
  }
#endif
  Quotient *table = growing_keys(set);
  if (!table) return 1;
  table->wants_to_grow = 0;
  if (!table->lines) return quotient_open(table, bits_of_keys((unsigned)(table - set->tables)), search->budget);
  const uint64_t queued = search->arena.file < 0 ? table->slots * STATE_BYTES : 0;
  uint64_t lines = grown_lines(search, table->line_count, queued);
  if (lines * LINE_BYTES > table->reserved) lines = table->reserved / LINE_BYTES;
  search->provided = quotient_bytes(table);
  return lines > table->line_count && quotient_growth_open(&set->growth, table, lines);
}

static int compressed_next_filling(Search *search, int is_first) {
  Compressed *set = compressed_of(search);
  if (set->fills_tree) return is_first;
  return set->growth.table && quotient_next_round(&set->growth);
}

static void compressed_fill(Search *search) {
  Compressed *set = compressed_of(search);
#if HAS_TREE
  if (set->fills_tree) {
    tree_fill(search);
    return;
  }
#endif
  provide_share(search, set->growth.table->lines, quotient_bytes(set->growth.table));
  quotient_growth_share(&set->growth, search->worker_count > 1);
}

static int compressed_grown(Search *search) {
  Compressed *set = compressed_of(search);
  if (set->fills_tree || !set->growth.table) return 1;
  int kept = quotient_growth_close(&set->growth);
  set->growth.table = NULL;
  return kept;
}

/* Takes part in a growth that other workers wait for. */
static int join_growth(Worker *worker) {
  return !__atomic_load_n(&worker->search->growing, __ATOMIC_RELAXED) || grow_visited(worker);
}

static int grow_keys(Worker *worker, Quotient *table) {
  __atomic_store_n(&table->wants_to_grow, 1, __ATOMIC_RELAXED);
  return grow_visited(worker);
}

/* --- Adding -------------------------------------------------------------------------------------------------- */

/* A key on its way to its line. */
typedef struct {
  Divided divided;
  uint64_t line_count; /* lines of the table when it was divided */
  unsigned table;
} Sent;

static inline Sent send_key(const Compressed *set, const uint8_t *state) {
  Sent sent = {.line_count = 0};
  const Key key = key_of(state, &sent.table);
  const Quotient *table = &set->tables[sent.table];
  if (!table->lines) return sent;
  sent.divided = quotient_divide(table, permuted(&set->permutation, key, bits_of_keys(sent.table)));
  sent.line_count = table->line_count;
  __builtin_prefetch(table->lines + sent.divided.home * LINE_BYTES, 1);
  return sent;
}

/* Enters the key of a state. Returns KEY_TOO_FAR if the search must stop. */
static int enter_key(Worker *worker, Sent sent, const uint8_t *state) {
  Compressed *set = compressed_of(worker->search);
  Quotient *table = &set->tables[sent.table];
  uint64_t position;
  while (!stopping(worker->search)) {
    if (!table->lines || __atomic_load_n(&table->count, __ATOMIC_RELAXED) >= table->limit) {
      if (!grow_keys(worker, table)) break;
      continue;
    }
    if (sent.line_count != table->line_count) sent = send_key(set, state);
    int outcome = quotient_look_up(table, sent.divided, 1, worker->search->worker_count > 1, &position);
    if (outcome != KEY_TOO_FAR) return outcome;
    if (!grow_keys(worker, table)) break;
  }
  return KEY_TOO_FAR;
}

static uint32_t compressed_add(Worker *worker, const uint8_t *states, const uint64_t *hashes, uint32_t count,
                               uint8_t *is_new) {
  enum { AHEAD = 16 };
  Search *search = worker->search;
  Compressed *set = compressed_of(search);
  Chunk *chunk = &worker->chunk;
  Sent sent[AHEAD];
  uint64_t first = chunk->next, added = 0, added_to[KEY_TABLES] = {0};
  uint32_t done = 0;
  (void)hashes;
  if (!join_growth(worker)) return 0;
  for (uint32_t i = 0; i < AHEAD && i < count; i++) sent[i] = send_key(set, states + (size_t)i * STATE_BYTES);
  for (; done < count; done++) {
    if (chunk->next == chunk->end) {
      note_written(worker, first);
      first = chunk->next;
      if (!claim_chunk(worker)) break;
      first = chunk->next;
    }
    const Sent own = sent[done % AHEAD];
    if (done + AHEAD < count) sent[done % AHEAD] = send_key(set, states + (size_t)(done + AHEAD) * STATE_BYTES);
    int outcome = enter_key(worker, own, states + (size_t)done * STATE_BYTES);
    if (outcome == KEY_TOO_FAR) break;
    is_new[done] = outcome == KEY_NEW;
    if (outcome != KEY_NEW) continue;
    memcpy(arena_state(&search->arena, chunk->next++), states + (size_t)done * STATE_BYTES, STATE_BYTES);
    added++;
    added_to[own.table]++;
  }
  note_written(worker, first);
  if (!added) return done;
  for (unsigned i = 0; i < KEY_TABLES; i++)
    if (added_to[i]) __atomic_add_fetch(&set->tables[i].count, added_to[i], __ATOMIC_RELAXED);
  __atomic_add_fetch(&search->reserved, added, __ATOMIC_RELAXED);
  return done;
}

/* --- Interface of the visited set ---------------------------------------------------------------------------- */

static uint64_t compressed_positions(const Search *search) {
  const Compressed *set = compressed_of(search);
  uint64_t positions = 0;
  for (unsigned i = 0; i < KEY_TABLES; i++) positions += set->tables[i].line_count * set->tables[i].slots;
  return positions;
}

static uint64_t compressed_position(const Search *search, const uint8_t *state, uint64_t hash) {
  const Compressed *set = compressed_of(search);
  unsigned number;
  uint64_t position, before = 0;
  Key key = key_of(state, &number);
  const Quotient *table = &set->tables[number];
  (void)hash;
  if (!table->lines) return UINT64_MAX;
  Divided divided = quotient_divide(table, permuted(&set->permutation, key, table->bits));
  if (quotient_look_up(table, divided, 0, 0, &position) != KEY_OLD) return UINT64_MAX;
  for (unsigned i = 0; i < number; i++) before += set->tables[i].line_count * set->tables[i].slots;
  return before + position;
}

/* Only lookups by hash prefetch from here. */
static const uint8_t *compressed_lines(const Search *search, uint64_t *count) {
  *count = 1;
  return search->arena.base;
}

static const VisitedSet compressed_states = {
    .add = compressed_add,
    .position = compressed_position,
    .positions = compressed_positions,
    .bytes = compressed_bytes,
    .limit = no_limit,
    .can_grow = never_grows_ahead,
    .grow = compressed_grow,
    .next_filling = compressed_next_filling,
    .fill = compressed_fill,
    .grown = compressed_grown,
    .lines = compressed_lines,
};

/* --- Roots with indexes -------------------------------------------------------------------------------------- */

#if HAS_TREE
/* The visited set of a search for cycles: roots lie in the arena, and the table of full states finds their indexes. */
static uint64_t indexed_bytes(const Search *search) { return states_bytes(search) + tree_bytes(&search->tree); }

static int indexed_grow(Search *search) {
  Compressed *set = compressed_of(search);
  set->fills_tree = search->tree.wants_to_grow;
  search->tree.wants_to_grow = 0;
  return set->fills_tree ? tree_grow(search) : states_grow(search);
}

static void indexed_fill(Search *search) {
  if (compressed_of(search)->fills_tree)
    tree_fill(search);
  else
    states_fill(search);
}

static const VisitedSet indexed_roots = {
    .add = states_add,
    .position = states_position,
    .positions = states_positions,
    .bytes = indexed_bytes,
    .limit = states_limit,
    .can_grow = states_can_grow,
    .grow = indexed_grow,
    .next_filling = states_next_filling,
    .fill = indexed_fill,
    .grown = nothing_to_end,
    .lines = states_lines,
    .moved = states_moved,
    .takes_hashes = 1,
    .knows_indexes = 1,
};
#endif

/* --- What Python binds --------------------------------------------------------------------------------------- */

#if HAS_TREE
static void trees_close(Search *search) {
  tree_close(&search->tree);
  for (uint32_t i = 0; i < search->worker_count; i++) {
    Worker *worker = &search->workers[i];
    free(worker->trees);
    free(worker->folding);
    free(worker->known_nodes);
    free(worker->recent_roots);
    free(worker->roots);
    free(worker->sources);
    worker->trees = NULL;
    worker->folding = NULL;
    worker->known_nodes = NULL;
    worker->recent_roots = NULL;
    worker->roots = NULL;
    worker->sources = NULL;
  }
}
#endif

/* Gives the search an empty compressed visited set. Returns 0 if there is no memory. `indexed`: its roots have
 * indexes. `weak`, for tests: nodes often have the same hash, and keys the same home. */
EXPORT int outcrop_compressed_open(Search *search, uint64_t seed, uint64_t weak, uint64_t indexed, uint64_t first_lines,
                                   const uint32_t *bytes, uint64_t leaves, const uint32_t *left, const uint32_t *right, uint64_t nodes) {
  Compressed *set = calloc(1, sizeof *set);
  if (!set) return 0;
  permutation_seed(&set->permutation, seed);
  if (weak) permutation_weaken(&set->permutation);
  if (weak) hasher_weaken(&search->hasher);
#if HAS_TREE
  const uint64_t slack = (uint64_t)search->worker_count * NODE_CHUNK;
  const uint64_t least = 2 * slack / NARROW_SLOTS + 2;
  int complete = tree_shape(&search->tree.shape, bytes, (uint32_t)leaves, left, right, (uint32_t)nodes);
  complete = complete && tree_open(&search->tree, search->budget, first_lines < least ? least : first_lines, slack, &search->hasher);
  for (uint32_t i = 0; i < search->worker_count; i++) {
    Worker *worker = &search->workers[i];
    worker->trees = calloc(TREES_AT_HAND, sizeof *worker->trees);
    worker->folding = calloc(1, sizeof *worker->folding);
    worker->known_nodes = calloc((size_t)1 << KNOWN_BITS, sizeof *worker->known_nodes);
    worker->recent_roots = calloc((size_t)1 << RECENT_BITS, sizeof *worker->recent_roots);
    worker->roots = calloc(SUCCESSOR_ROOM + 1, STATE_BYTES);
    worker->sources = calloc(SUCCESSOR_ROOM, sizeof *worker->sources);
    complete &= worker->trees && worker->folding && worker->known_nodes && worker->recent_roots;
    complete &= worker->roots && worker->sources;
    if (complete) forget_recent(worker);
  }
  if (!complete) {
    trees_close(search);
    free(set);
    return 0;
  }
#else
  (void)indexed, (void)first_lines, (void)bytes, (void)leaves, (void)left, (void)right, (void)nodes;
#endif
  search->own_set = set;
  search->visited = &compressed_states;
#if HAS_TREE
  if (indexed) search->visited = &indexed_roots;
#endif
  refresh_lines(search);
  return 1;
}

/* Frees the memory of the visited set. States of the arena can still be unfolded. */
EXPORT void outcrop_compressed_forget(Search *search) {
  Compressed *set = compressed_of(search);
  for (unsigned i = 0; i < KEY_TABLES; i++) quotient_close(&set->tables[i]);
}

EXPORT void outcrop_compressed_close(Search *search) {
  outcrop_compressed_forget(search);
  free(search->own_set);
  search->own_set = NULL;
  search->visited = &states_in_full;
#if HAS_TREE
  trees_close(search);
#endif
  refresh_lines(search);
}

EXPORT void outcrop_compressed_standing(const Search *search, CompressedStanding *standing) {
  const Compressed *set = compressed_of(search);
  *standing = (CompressedStanding){0};
  for (unsigned i = 0; i < KEY_TABLES; i++) standing->root_bytes += quotient_bytes(&set->tables[i]);
  standing->queue_bytes = arena_bytes(&search->arena);
#if HAS_TREE
  if (search->visited == &indexed_roots) standing->root_bytes = states_bytes(search);
  standing->nodes = search->tree.nodes.used;
  standing->node_bytes = arena_bytes(&search->tree.nodes);
  standing->index_bytes = search->tree.table.line_count * LINE_BYTES;
#endif
}
