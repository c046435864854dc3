/* Folding states into trees (tree.c): nodes that are new get numbers, and the table of nodes grows. */

/* Claims numbers for new nodes. Returns 0 if there is no memory, or if no search runs, when nothing may grow. */
static int claim_numbers(Worker *worker) {
  Search *search = worker->search;
  Tree *tree = &search->tree;
  while (worker->is_at_work && !stopping(search)) {
    uint64_t first = UINT64_MAX;
    pthread_mutex_lock(&search->lock);
    const int fits = tree->nodes.used + NODE_CHUNK <= tree->table.limit;
    if (fits && tree->nodes.used + NODE_CHUNK < UINT32_MAX && budget_left(search) >= NODE_CHUNK * STATE_BYTES)
      first = arena_claim(&tree->nodes, NODE_CHUNK);
    if (fits && first == UINT64_MAX) stop_search(search, STOP_MEMORY);
    pthread_mutex_unlock(&search->lock);
    if (first != UINT64_MAX) {
      worker->numbers = (Chunk){first, first + NODE_CHUNK};
      return 1;
    }
    if (fits) return 0;
    __atomic_store_n(&tree->wants_to_grow, 1, __ATOMIC_RELAXED);
    if (!grow_visited(worker)) return 0;
  }
  return 0;
}

/* Returns the place where a worker remembers a node, if it does. */
static inline KnownNode *known_node(const Worker *worker, uint64_t pair) {
  return &worker->known_nodes[pair * RANDOM_STEP >> (64 - KNOWN_BITS)];
}

/* Returns the number of a node, which may be a new one; UINT64_MAX if there is no memory for one. */
static uint64_t node_number(Worker *worker, uint64_t pair, uint64_t hash) {
  Search *search = worker->search;
  Tree *tree = &search->tree;
  Chunk *numbers = &worker->numbers;
  const uint8_t *node = (const uint8_t *)&pair;
  if (numbers->next == numbers->end) {
    uint64_t known = table_find(&tree->table, &tree->nodes, node, hash);
    if (known != UINT64_MAX || !claim_numbers(worker)) return known;
  }
  uint8_t is_new = 0;
  const View view = table_view(&tree->table, &tree->nodes);
  uint64_t number = table_look_up(view, node, hash, 0, &numbers->next, search->worker_count > 1, &is_new);
  numbers->next += is_new;
  *known_node(worker, pair) = (KnownNode){pair, number};
  return number;
}

/* Returns in which of 64 bytes from `at` on two states differ, a bit each. Narrow states have spare bytes behind them. */
static inline uint64_t changed_bytes(const uint8_t *state, const uint8_t *parent, unsigned at) {
  uint64_t changed = 0;
  if (MODEL_BYTES < TAG_GROUP - SPARE_BYTES) {
    for (unsigned i = 0; i < MODEL_BYTES; i++) changed |= (uint64_t)(state[i] != parent[i]) << i;
    return changed;
  }
  if (MODEL_BYTES < TAG_GROUP) return bytes_differ(state, parent) & (((uint32_t)1 << MODEL_BYTES % 32) - 1);
#pragma GCC unroll 4
  for (unsigned i = 0; i < 64; i += TAG_GROUP) {
    const unsigned from = at + i + TAG_GROUP <= MODEL_BYTES ? at + i : MODEL_BYTES - TAG_GROUP;
    if (at + i < MODEL_BYTES) changed |= (uint64_t)(bytes_differ(state + from, parent + from) >> (at + i - from)) << i;
  }
  return changed;
}

/* Sets the leaves of a state, number `own` of those folded together, that differ from its parent's. */
static inline void change_leaves(const TreeShape *shape, Folding *folding, unsigned own, const uint8_t *state) {
  const uint8_t *parent = (const uint8_t *)folding->parents[own]->state;
  for (unsigned at = 0; at < MODEL_BYTES; at += 64)
    for (uint64_t changed = changed_bytes(state, parent, at); changed;) {
      const uint32_t leaf = shape->leaf_of[at + (unsigned)__builtin_ctzll(changed)];
      const unsigned end = shape->leaf_end[leaf] - at;
      folding->changed[leaf] |= (uint64_t)1 << own;
      folding->value[leaf][own] = leaf_value(shape, state, leaf);
      changed = end < 64 ? changed >> end << end : 0;
    }
}

/* Returns a value of a state. Chooses it without a branch, which would often be mispredicted. */
static inline uint32_t folded_value(const Folding *folding, uint32_t value, unsigned own) {
  const uintptr_t before = (uintptr_t)&folding->parents[own]->value[value], after = (uintptr_t)&folding->value[value][own];
  const uintptr_t has_changed = folding->changed[value] >> own & 1;
  return *(const uint32_t *)(before ^ ((before ^ after) & -has_changed));
}

static inline uint64_t pair_at(const TreeShape *shape, const Folding *folding, uint32_t node, unsigned own) {
  return pair_of(folded_value(folding, shape->left[node], own), folded_value(folding, shape->right[node], own));
}

/* Nodes that the worker does not remember, and looks up in the table. */
typedef struct {
  uint64_t pair[FOLDED_TOGETHER], hash[FOLDED_TOGETHER];
  uint8_t own[FOLDED_TOGETHER]; /* the state that each belongs to */
} UnknownNodes;

/* Looks up a node in some of the states. Returns the states for which there is no memory. */
static uint64_t fold_node(Worker *worker, uint32_t node, uint64_t members) {
  const Tree *tree = &worker->search->tree;
  Folding *folding = worker->folding;
  uint32_t *numbers = folding->value[tree->shape.leaves + node];
  uint64_t failed = 0;
  uint32_t count = 0;
  UnknownNodes unknown;
  for (uint64_t rest = members; rest; rest &= rest - 1) {
    const unsigned own = (unsigned)__builtin_ctzll(rest);
    const uint64_t pair = pair_at(&tree->shape, folding, node, own);
    const KnownNode *known = known_node(worker, pair);
    numbers[own] = (uint32_t)known->number;
    unknown.pair[count] = pair;
    unknown.own[count] = (uint8_t)own;
    count += known->pair != pair;
  }
  for (uint32_t i = 0; i < count; i++) {
    unknown.hash[i] = hash_state(&worker->search->hasher, (const uint8_t *)&unknown.pair[i]);
    __builtin_prefetch(table_line(&tree->table, unknown.hash[i]));
  }
  const View view = table_view(&tree->table, &tree->nodes);
  for (uint32_t i = 0; i < count; i++) LOOSE_READ(table_guess(view, unknown.hash[i], 0));
  for (uint32_t i = 0; i < count; i++) {
    const uint64_t number = node_number(worker, unknown.pair[i], unknown.hash[i]);
    numbers[unknown.own[i]] = (uint32_t)number;
    if (number == UINT64_MAX) failed |= (uint64_t)1 << unknown.own[i];
  }
  return failed;
}

/* Folds up to 64 states, whose parents are known: all of them a node at a time, from leaves to root, so that fetches of
 * nodes overlap. Returns the states for which there is no memory. The roots may lie where the states lie. */
static uint64_t fold_states(Worker *worker, const uint8_t *states, uint32_t count, uint8_t *roots) {
  const TreeShape *shape = &worker->search->tree.shape;
  Folding *folding = worker->folding;
  uint64_t failed = 0;
  memset(folding->changed, 0, shape->leaves * sizeof *folding->changed);
  for (uint32_t i = 0; i < count; i++) change_leaves(shape, folding, i, states + (size_t)i * MODEL_BYTES);
  for (uint32_t node = 0; node < shape->nodes; node++) {
    const uint64_t members = (folding->changed[shape->left[node]] | folding->changed[shape->right[node]]) & ~failed;
    folding->changed[shape->leaves + node] = members;
    if (members) failed |= fold_node(worker, node, members);
  }
  for (uint32_t i = 0; i < count; i++) {
    const uint64_t pair = pair_at(shape, folding, shape->nodes, i);
    memcpy(roots + (size_t)i * STATE_BYTES, &pair, sizeof pair);
  }
  return failed;
}

/* Makes a state that was just folded the one that the next are compared with. */
static void keep_tree(UnfoldedTree *tree, const Folding *folding, const TreeShape *shape, unsigned own,
                      const uint8_t *state) {
  memcpy(tree->state, state, MODEL_BYTES);
  for (uint32_t value = 0; value < shape->leaves + shape->nodes; value++)
    tree->value[value] = folded_value(folding, value, own);
}

/* Folds states that have no parent here, each few of them as if they came from the state before. Returns the number of
 * states folded, which is smaller when memory ends. The roots may lie where the states lie. */
static uint64_t fold_block(Worker *worker, const uint8_t *states, uint64_t count, uint8_t *roots) {
  for (uint64_t done = 0; done < count; done += FOLDED_TOGETHER) {
    const uint32_t few = count - done < FOLDED_TOGETHER ? (uint32_t)(count - done) : FOLDED_TOGETHER;
    const uint8_t *first = states + done * MODEL_BYTES;
    uint8_t some[FOLDED_TOGETHER * STATE_BYTES];
    for (uint32_t i = 0; i < few; i++) worker->folding->parents[i] = worker->trees;
    const uint64_t failed = fold_states(worker, first, few, some);
    const uint32_t folded = failed ? (uint32_t)__builtin_ctzll(failed) : few;
    const uint8_t *last = first + (folded - 1) * (size_t)MODEL_BYTES;
    if (folded) keep_tree(worker->trees, worker->folding, &worker->search->tree.shape, folded - 1, last);
    memcpy(roots + done * STATE_BYTES, some, folded * (size_t)STATE_BYTES);
    if (folded < few) return done + folded;
  }
  return count;
}

/* Folds states that other ranks have sent, in place. Returns the number that is left. */
static UNUSED uint32_t fold_states_sent(Worker *worker, uint8_t *states, uint32_t count) {
  const uint32_t folded = (uint32_t)fold_block(worker, states, count, states);
  worker->overflow |= folded < count;
  return folded;
}

/* Adds a root to those that the worker has met lately. Returns whether it was among them. */
static inline int is_recent(const Worker *worker, const uint8_t *root) {
  uint64_t pair;
  memcpy(&pair, root, sizeof pair);
  uint64_t *place = &worker->recent_roots[pair * RANDOM_STEP >> (64 - RECENT_BITS)];
  const int is_same = *place == pair;
  *place = pair;
  return is_same;
}

/* Forgets all roots. No root consists of ones only. */
static void forget_recent(const Worker *worker) { memset(worker->recent_roots, 0xFF, sizeof(uint64_t) << RECENT_BITS); }

/* Folds the successors in the buffer. The roots may lie where they lie. Drops successors for which there is no memory and,
 * if `block` has the roots of their parents, successors that are visited for sure: they equal their parent, or were met
 * lately. They settle 19 to 41% of all successors (bench/RESULTS.md). */
static void fold_successors(Worker *worker, const uint8_t *block, uint8_t *all_roots) {
  Expansion *expansion = &worker->expansion;
  const uint32_t count = expansion->count;
  uint32_t kept = 0;
  for (uint32_t i = 0; i < count; i++) worker->sources[i] = i;
  for (uint32_t done = 0; done < count; done += FOLDED_TOGETHER) {
    const uint32_t few = count - done < FOLDED_TOGETHER ? count - done : FOLDED_TOGETHER;
    uint8_t roots[FOLDED_TOGETHER * STATE_BYTES];
    for (uint32_t i = 0; i < few; i++)
      worker->folding->parents[i] = &worker->trees[expansion->owners[done + i] % TREES_AT_HAND];
    const uint64_t failed = fold_states(worker, expansion->successors + (size_t)done * MODEL_BYTES, few, roots);
    worker->overflow |= failed != 0;
    for (uint32_t i = 0; i < few; i++) {
      const uint8_t *root = roots + (size_t)i * STATE_BYTES;
      if (failed >> i & 1) continue;
      if (block && states_equal(root, block + (size_t)expansion->owners[done + i] * STATE_BYTES)) continue;
      if (block && is_recent(worker, root)) continue;
      memcpy(all_roots + (size_t)kept * STATE_BYTES, root, STATE_BYTES);
      move_origin(expansion, kept++, done + i);
    }
  }
  worker->generated += count - kept;
  expansion->count = kept;
}

/* --- What Python binds --------------------------------------------------------------------------------------- */

/* Folds states that the model has packed. Returns the number of states before the first that does not fit in memory. */
EXPORT uint64_t outcrop_fold_block(Search *search, uint64_t number, const uint8_t *states, uint64_t count, uint8_t *roots) {
  Worker *worker = &search->workers[number];
  worker_enter(worker);
  uint64_t done = fold_block(worker, states, count, roots);
  worker_leave(worker);
  return done;
}

/* Finds the roots of visited states. Returns the number of states before the first that was never met. */
EXPORT uint64_t outcrop_find_roots(const Search *search, const uint8_t *states, uint64_t count, uint8_t *roots) {
  uint64_t done = 0;
  while (done < count && tree_find_root(&search->tree, &search->hasher, states + done * MODEL_BYTES, roots + done * STATE_BYTES))
    done++;
  return done;
}

/* There is room for spare bytes behind `states`. */
EXPORT void outcrop_unfold_block(const Search *search, const uint8_t *roots, uint64_t count, uint8_t *states) {
  UnfoldedTree unfolded;
  for (uint64_t i = 0; i < count; i++)
    memcpy(states + i * MODEL_BYTES, tree_unfold(&search->tree, roots + i * STATE_BYTES, &unfolded), MODEL_BYTES);
}
