/* Nested depth-first search: C. Courcoubetis et al. (1992), with the improvements of S. Schwoon and J. Esparza, "A note
 * on on-the-fly verification algorithms" (2005).
 *
 * Four colours, two bits a state: white, not met; cyan, on the stack of the first search; blue, done; red, done and
 * on no cycle with a cyan accepting state. The successors of a state are entered into the table together, when it is
 * expanded. The stack holds their positions. */

enum { WHITE, CYAN, BLUE, RED };
enum { DFS_COMPLETE, DFS_CYCLE, DFS_FOUND, DFS_STOPPED, DFS_STATES };

typedef struct {
  uint32_t state;
  uint32_t all_red; /* whether all successors are red; for the first search */
  uint64_t first;   /* number of its first successor among those pending */
} Frame;

typedef struct {
  Frame *frames;
  uint64_t depth, room;
} Stack;

typedef struct Dfs {
  uint8_t *colours;
  size_t reserved;
  Stack blue, red;
  uint32_t *pending; /* successors of all frames that are still to be visited */
  uint64_t pending_count, pending_room;
  uint32_t *positions;
  uint64_t loop_start; /* depth in the stack of the first search at which the cycle starts */
} Dfs;

static inline unsigned colour_of(const Dfs *dfs, uint32_t state) {
  return dfs->colours[state >> 2] >> (2 * (state & 3)) & 3;
}

static inline void set_colour(Dfs *dfs, uint32_t state, unsigned colour) {
  uint8_t *at = &dfs->colours[state >> 2];
  const unsigned shift = 2 * (state & 3);
  *at = (uint8_t)((*at & ~(3u << shift)) | colour << shift);
}

/* Makes space for `count` more elements. Returns NULL, and asks the search to stop, if memory is used up. */
static void *with_room(Search *search, void *elements, uint64_t used, uint64_t count, uint64_t *room, size_t size) {
  if (used + count <= *room) return elements;
  uint64_t wanted = used + count > 2 * *room ? used + count : 2 * *room;
  uint64_t more = (wanted - *room) * size;
  void *grown = NULL;
  if (arena_bytes(&search->arena) + visited_bytes(search) + beside_bytes(search) + more <= search->budget)
    grown = realloc(elements, wanted * size);
  if (!grown) {
    stop_search(search, STOP_MEMORY);
    return NULL;
  }
  search->beside += more;
  *room = wanted;
  return grown;
}

static int push_pending(Search *search, Dfs *dfs, const uint32_t *positions, uint32_t count) {
  uint32_t *pending =
      with_room(search, dfs->pending, dfs->pending_count, count, &dfs->pending_room, sizeof *dfs->pending);
  if (!pending) return 0;
  dfs->pending = pending;
  memcpy(pending + dfs->pending_count, positions, count * sizeof *positions);
  dfs->pending_count += count;
  return 1;
}

/* Flushes the buffer of the first search. */
static void pend_successors(Expansion *expansion) {
  Worker *worker = (Worker *)expansion;
  Dfs *dfs = worker->purpose;
  const uint32_t count = expansion->count;
  worker->positions = dfs->positions;
  add_successors(expansion);
  worker->positions = NULL;
  if (!worker->overflow) push_pending(worker->search, dfs, dfs->positions, count);
}

/* Flushes the buffer of the second search: all successors have been entered already. */
static void pend_known_successors(Expansion *expansion) {
  Worker *worker = (Worker *)expansion;
  Dfs *dfs = worker->purpose;
  const Search *search = worker->search;
  hash_successors(expansion);
  for (uint32_t i = 0; i < expansion->count; i++)
    dfs->positions[i] = (uint32_t)table_find(&search->table, &search->arena,
                                             expansion->successors + (size_t)i * STATE_BYTES, expansion->hashes[i]);
  const uint32_t count = expansion->count;
  expansion->count = 0;
  push_pending(worker->search, dfs, dfs->positions, count);
}

/* Pushes a state on a stack, and its successors on the pending ones. Returns 0 if the search must stop. */
static int push_state(Worker *worker, Dfs *dfs, Stack *stack, uint32_t state) {
  Search *search = worker->search;
  Frame *frames = with_room(search, stack->frames, stack->depth, 1, &stack->room, sizeof *frames);
  if (!frames) return 0;
  stack->frames = frames;
  frames[stack->depth++] = (Frame){state, 1, dfs->pending_count};
  const uint8_t *at = arena_state(&search->arena, state);
  if (stack == &dfs->blue) {
    set_colour(dfs, state, CYAN);
    worker->expansion.flush = pend_successors;
    expand_state(worker, at);
    pend_successors(&worker->expansion);
    drain_put(worker);
  } else {
    worker->expansion.flush = pend_known_successors;
    model_expand(at, &worker->expansion);
    pend_known_successors(&worker->expansion);
  }
  return !stopping(search) && !worker->overflow;
}

static int is_accepting_state(const Search *search, uint32_t state) {
  return model_accepting(arena_state(&search->arena, state));
}

/* Records the position on the stack of a cyan state through which a cycle goes. */
static int cycle_at(Dfs *dfs, uint32_t state) {
  dfs->loop_start = 0;
  while (dfs->blue.frames[dfs->loop_start].state != state) dfs->loop_start++;
  return DFS_CYCLE;
}

/* Searches for a cyan state from an accepting state that the first search is about to leave. */
static int search_red(Worker *worker, Dfs *dfs, uint32_t seed) {
  dfs->red.depth = 0;
  worker->expansion.context = worker->scratch;
  int outcome = push_state(worker, dfs, &dfs->red, seed) ? DFS_COMPLETE : DFS_STOPPED;
  while (dfs->red.depth && outcome == DFS_COMPLETE) {
    if (dfs->pending_count == dfs->red.frames[dfs->red.depth - 1].first) {
      dfs->red.depth--;
      continue;
    }
    uint32_t next = dfs->pending[--dfs->pending_count];
    unsigned colour = colour_of(dfs, next);
    if (colour == CYAN) {
      outcome = cycle_at(dfs, next);
    } else if (colour == BLUE) {
      set_colour(dfs, next, RED);
      if (!push_state(worker, dfs, &dfs->red, next)) outcome = DFS_STOPPED;
    }
  }
  worker->expansion.context = worker->counted;
  return outcome;
}

/* Leaves the state on top of the stack of the first search. */
static int leave_state(Worker *worker, Dfs *dfs) {
  const Frame left = dfs->blue.frames[dfs->blue.depth - 1];
  unsigned colour = left.all_red ? RED : BLUE;
  if (!left.all_red && is_accepting_state(worker->search, left.state)) {
    int outcome = search_red(worker, dfs, left.state);
    if (outcome != DFS_COMPLETE) return outcome;
    colour = RED;
  }
  set_colour(dfs, left.state, colour);
  dfs->blue.depth--;
  if (dfs->blue.depth && colour != RED) dfs->blue.frames[dfs->blue.depth - 1].all_red = 0;
  return DFS_COMPLETE;
}

static int search_blue(Worker *worker, Dfs *dfs, uint32_t start) {
  Search *search = worker->search;
  if (!push_state(worker, dfs, &dfs->blue, start)) return DFS_STOPPED;
  while (dfs->blue.depth) {
    if (anything_found(search)) return DFS_FOUND;
    if (search->reserved >= search->most_states) return DFS_STATES;
    Frame *top = &dfs->blue.frames[dfs->blue.depth - 1];
    if (dfs->pending_count == top->first) {
      int outcome = leave_state(worker, dfs);
      if (outcome != DFS_COMPLETE) return outcome;
      continue;
    }
    uint32_t next = dfs->pending[--dfs->pending_count];
    unsigned colour = colour_of(dfs, next);
    if (colour == CYAN && (is_accepting_state(search, top->state) || is_accepting_state(search, next)))
      return cycle_at(dfs, next);
    if (colour == WHITE) {
      if (!push_state(worker, dfs, &dfs->blue, next)) return DFS_STOPPED;
    } else if (colour != RED) {
      top->all_red = 0;
    }
  }
  return DFS_COMPLETE;
}

static void dfs_close(Dfs *dfs) {
  if (dfs->colours) munmap(dfs->colours, dfs->reserved);
  free(dfs->blue.frames);
  free(dfs->red.frames);
  free(dfs->pending);
  free(dfs->positions);
  free(dfs);
}

static Dfs *dfs_open(Search *search) {
  Dfs *dfs = calloc(1, sizeof *dfs);
  if (!dfs) return NULL;
  if (search->arena.capacity > UINT32_MAX - 1) search->arena.capacity = UINT32_MAX - 1;
  dfs->reserved = search->arena.capacity / 4 + 1;
  dfs->colours = map_pages(dfs->reserved, -1);
  dfs->positions = malloc(SUCCESSOR_ROOM * sizeof *dfs->positions);
  search->beside_state = 1;
  if (dfs->colours && dfs->positions) return dfs;
  dfs_close(dfs);
  return NULL;
}
