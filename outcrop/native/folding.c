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
  worker->known_nodes[hash % KNOWN_NODES] = (KnownNode){pair, number};
  return number;
}

/* Sets the leaves of a successor that differ from its parent's, and returns the set of nodes above them. */
static inline void change_leaves(const TreeShape *shape, const uint8_t *state, const UnfoldedTree *parent, uint32_t *value,
                                 uint64_t *above) {
  for (uint32_t word = 0; word < TREE_WORDS; word++) {
    uint64_t changed;
    memcpy(&changed, state + 8 * word, sizeof changed);
    changed ^= parent->state[word];
    if (word + 1 == TREE_WORDS && MODEL_BYTES % 8) changed &= UINT64_MAX >> (64 - 8 * (MODEL_BYTES % 8));
    while (changed) {
      const unsigned byte = (unsigned)__builtin_ctzll(changed) / 8;
      const uint32_t leaf = shape->leaf_of[8 * word + byte];
      changed &= ~((uint64_t)0xFF << 8 * byte);
      value[leaf] = leaf_value(shape, state, leaf);
      for (int i = 0; i < NODE_WORDS; i++) above[i] |= shape->above[leaf][i];
    }
  }
}

/* Begins to fold a state that comes from the state with number `owner` of the block. */
static void fold_begin(Worker *worker, Folding *folding, const uint8_t *state, uint32_t owner) {
  const TreeShape *shape = &worker->search->tree.shape;
  const UnfoldedTree *parent = &worker->trees[owner % TREES_AT_HAND];
  memcpy(folding->value, parent->value, (shape->leaves + shape->nodes + 1) * sizeof *folding->value);
  memset(folding->above, 0, sizeof folding->above);
  change_leaves(shape, state, parent, folding->value, folding->above);
  folding->word = 0;
}

/* Goes up to the next node, and prefetches what the worker knows about it. Returns 0 if there is none. */
static inline int fold_on(const Worker *worker, Folding *folding) {
  const TreeShape *shape = &worker->search->tree.shape;
  while (!folding->above[folding->word])
    if (++folding->word == NODE_WORDS) return 0;
  folding->node = 64 * folding->word + (unsigned)__builtin_ctzll(folding->above[folding->word]);
  folding->above[folding->word] &= folding->above[folding->word] - 1;
  folding->pair = pair_of(folding->value[shape->left[folding->node]], folding->value[shape->right[folding->node]]);
  folding->hash = hash_state(&worker->search->hasher, (const uint8_t *)&folding->pair);
  __builtin_prefetch(&worker->known_nodes[folding->hash % KNOWN_NODES]);
  return 1;
}

/* Takes the number of a node that the worker has met lately. For another, returns 0 and prefetches it. */
static inline int fold_known(const Worker *worker, Folding *folding) {
  const Tree *tree = &worker->search->tree;
  const KnownNode *known = &worker->known_nodes[folding->hash % KNOWN_NODES];
  folding->value[tree->shape.leaves + folding->node] = (uint32_t)known->number;
  if (known->pair == folding->pair) return 1;
  __builtin_prefetch(table_line(&tree->table, folding->hash));
  return 0;
}

/* Looks up the node that fold_on has reached. Returns 0 if there is no memory. */
static inline int fold_node(Worker *worker, Folding *folding) {
  const uint64_t number = node_number(worker, folding->pair, folding->hash);
  folding->value[worker->search->tree.shape.leaves + folding->node] = (uint32_t)number;
  return number != UINT64_MAX;
}

/* Folds a few states, all of them a node at a time, so that nodes are fetched while others are looked up. Sets a bit for
 * each that memory has no room for. The roots may lie where the states lie. */
static uint32_t fold_states(Worker *worker, const uint8_t *states, const uint32_t *owners, uint32_t count, uint8_t *roots) {
  const TreeShape *shape = &worker->search->tree.shape;
  Folding *foldings = worker->foldings;
  uint32_t going = ((uint32_t)1 << count) - 1, failed = 0;
  for (uint32_t i = 0; i < count; i++) fold_begin(worker, &foldings[i], states + (size_t)i * MODEL_BYTES, owners ? owners[i] : 0);
  while (going) {
    uint32_t unknown = 0;
    for (uint32_t rest = going; rest; rest &= rest - 1)
      if (!fold_on(worker, &foldings[__builtin_ctz(rest)])) going &= ~(rest & -rest);
    for (uint32_t rest = going; rest; rest &= rest - 1)
      unknown |= fold_known(worker, &foldings[__builtin_ctz(rest)]) ? 0 : rest & -rest;
    for (uint32_t rest = unknown; rest; rest &= rest - 1)
      if (!fold_node(worker, &foldings[__builtin_ctz(rest)])) failed |= rest & -rest, going &= ~(rest & -rest);
  }
  for (uint32_t i = 0; i < count; i++) {
    const uint32_t *value = foldings[i].value;
    const uint64_t pair = pair_of(value[shape->left[shape->nodes]], value[shape->right[shape->nodes]]);
    memcpy(roots + (size_t)i * STATE_BYTES, &pair, sizeof pair);
  }
  return failed;
}

/* Makes a state that was just folded the one that the next is compared with. */
static void keep_tree(UnfoldedTree *tree, const Folding *folding, const TreeShape *shape, const uint8_t *state) {
  memcpy(tree->state, state, MODEL_BYTES);
  memcpy(tree->value, folding->value, (shape->leaves + shape->nodes + 1) * sizeof *tree->value);
}

/* Folds states that have no parent here, each few of them as if they came from the state before. Returns the number of
 * states folded, which is smaller when memory ends. The roots may lie where the states lie. */
static uint64_t fold_block(Worker *worker, const uint8_t *states, uint64_t count, uint8_t *roots) {
  for (uint64_t done = 0; done < count; done += FOLDED_TOGETHER) {
    const uint32_t few = count - done < FOLDED_TOGETHER ? (uint32_t)(count - done) : FOLDED_TOGETHER;
    const uint8_t *first = states + done * MODEL_BYTES;
    uint8_t some[FOLDED_TOGETHER * STATE_BYTES];
    const uint32_t failed = fold_states(worker, first, NULL, few, some);
    const uint32_t folded = failed ? (uint32_t)__builtin_ctz(failed) : few;
    const uint8_t *last = first + (folded - 1) * (size_t)MODEL_BYTES;
    if (folded) keep_tree(worker->trees, &worker->foldings[folded - 1], &worker->search->tree.shape, last);
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

/* Folds the successors in the buffer, and drops those that memory has no room for. The roots may lie where they lie. */
static void fold_successors(Worker *worker, uint8_t *all_roots) {
  Expansion *expansion = &worker->expansion;
  const uint32_t count = expansion->count;
  uint32_t kept = 0;
  for (uint32_t i = 0; i < count; i++) worker->sources[i] = i;
  for (uint32_t done = 0; done < count; done += FOLDED_TOGETHER) {
    const uint32_t few = count - done < FOLDED_TOGETHER ? count - done : FOLDED_TOGETHER;
    uint8_t *states = expansion->successors + (size_t)done * MODEL_BYTES, roots[FOLDED_TOGETHER * STATE_BYTES];
    const uint32_t failed = fold_states(worker, states, expansion->owners + done, few, roots);
    for (uint32_t i = 0; i < few; i++) {
      if (failed >> i & 1) continue;
      memcpy(all_roots + (size_t)kept * STATE_BYTES, roots + (size_t)i * STATE_BYTES, STATE_BYTES);
      move_origin(expansion, kept++, done + i);
    }
  }
  worker->overflow |= kept < count;
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
