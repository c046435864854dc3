/* The search for a cycle that has an accepting state and is fair to all sets of steps. outcrop/search/fair.py says what
 * that is, and how it is found.
 *
 * The product is stored as a graph: for each state of the arena, the targets of its steps and the sets that the steps
 * belong to. Parts of it are decomposed into strongly connected components, over and over: R. Tarjan, "Depth-first
 * search and linear graph algorithms" (1972), without recursion. */

enum { NO_PART = 0 };
enum { NOT_WANTED, WANTED, TAKEN }; /* whether a cycle needs, or takes, a step of a set */
#define FAIR (UINT32_C(1) << 31)
/* Each part that is judged is fair, or loses states for good, or loses at least one and waits. There are therefore at
 * most three times as many parts as states, and their numbers must be below FAIR. */
#define MOST_STATES (FAIR / 4)
#define UNMET UINT32_MAX

typedef struct {
  uint32_t target;
  uint32_t mover, partner; /* the sets that the step belongs to; FAIRNESS_SETS: none */
} Edge;

typedef struct {
  uint32_t state;
  uint64_t next; /* the edge to follow next */
} Visit;

/* The number of states of a part that enable a step of a set, the part, and the last of these states. */
typedef struct {
  uint32_t part, state;
  uint64_t count;
} Offers;

typedef struct Graph {
  uint64_t states, bytes;
  int only_accepting; /* no cycle mixes accepting and other states */
  uint64_t *first;    /* number of the first edge of each state, and at the end the number of edges */
  Edge *edges;
  uint32_t *part;     /* part of each state: NO_PART if it is on no fair cycle, FAIR and more in a fair component */
  uint32_t *order;    /* in which states are met; or their distance */
  uint32_t *low;      /* the first state in that order that a state is known to lead back to */
  uint32_t *stack;    /* states met that are in no component yet; or a queue */
  uint32_t *waiting;  /* parts to be decomposed: the states of each, followed by their number */
  uint32_t *roots;    /* the states of the part that is being decomposed */
  uint64_t waiting_count;
  Visit *visits;
  uint32_t parts, met;
  uint32_t *taken;    /* for each set, the last part that takes one of its steps; or whether the cycle takes one */
  Offers *offers;     /* offers of each set */
  uint32_t *cycle;
  uint64_t cycle_count, cycle_room;
} Graph;

static void fair_close(Graph *graph) {
  void *const all[] = {graph->first,   graph->edges, graph->part,   graph->order, graph->low,   graph->stack,
                       graph->waiting, graph->roots, graph->visits, graph->taken, graph->offers, graph->cycle, graph};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) free(all[i]);
}

/* Allocates and counts memory for `count` elements. Returns NULL if it does not fit in the budget. */
static void *fair_room(Search *search, Graph *graph, uint64_t count, uint64_t size) {
  const uint64_t bytes = (count + 1) * size;
  if (arena_bytes(&search->arena) + visited_bytes(search) + beside_bytes(search) + graph->bytes + bytes > search->budget)
    return NULL;
  graph->bytes += bytes;
  return calloc(count + 1, size);
}

/* --- The graph ----------------------------------------------------------------------------------------------- */

/* The position of a worker that notes edges: first it counts those of each state, then it stores them. */
typedef struct {
  Graph *graph;
  uint64_t begin; /* first of the states that it expands */
  uint64_t next;  /* number of the next edge to store */
} Noting;

static void note_edges(Expansion *expansion) {
  Worker *worker = (Worker *)expansion;
  Noting *noting = worker->purpose;
  Graph *graph = noting->graph;
  const uint32_t count = expansion->count;
  expansion->count = 0;
  if (!graph->edges) {
    for (uint32_t i = 0; i < count; i++) graph->first[noting->begin + expansion->owners[i] + 1]++;
    return;
  }
  expansion->count = count;
  hash_successors(expansion);
  expansion->count = 0;
  for (uint32_t i = 0; i < count; i++) {
    uint64_t target = table_find(&worker->search->table, &worker->search->arena,
                                 expansion->successors + (size_t)i * STATE_BYTES, expansion->hashes[i]);
    /* All states past the last one are represented by one that is in no part. */
    if (target > graph->states) target = graph->states;
    graph->edges[noting->next++] = (Edge){(uint32_t)target, expansion->movers[i], expansion->partners[i]};
  }
}

static void note_states(Worker *worker, Graph *graph, uint64_t begin, uint64_t end) {
  Noting noting = {graph, begin, graph->edges ? graph->first[begin] : 0};
  worker->purpose = &noting;
  worker->expansion.flush = note_edges;
  for (uint64_t index = begin; index < end && !stopping(worker->search); index++) {
    const uint8_t *state = arena_state(&worker->search->arena, index);
    if (graph->only_accepting && !model_accepting(state)) continue;
    worker->expansion.owner = (uint32_t)(index - begin);
    model_expand(state, &worker->expansion);
  }
  note_edges(&worker->expansion);
}

/* Allocates the edges, after all of them were counted. Returns 0 if there is no memory. */
static int lay_out_edges(Search *search, Graph *graph) {
  for (uint64_t state = 0; state < graph->states; state++) graph->first[state + 1] += graph->first[state];
  graph->edges = fair_room(search, graph, graph->first[graph->states], sizeof *graph->edges);
  return graph->edges != NULL;
}

/* --- Components ---------------------------------------------------------------------------------------------- */

static inline int is_step_of(Edge edge, uint32_t set) { return edge.mover == set || edge.partner == set; }

static int offers_step_of(const Graph *graph, uint32_t state, uint32_t set) {
  for (uint64_t i = graph->first[state]; i < graph->first[state + 1]; i++)
    if (is_step_of(graph->edges[i], set)) return 1;
  return 0;
}

static int leads_to(const Graph *graph, uint32_t state, uint32_t target) {
  for (uint64_t i = graph->first[state]; i < graph->first[state + 1]; i++)
    if (graph->edges[i].target == target) return 1;
  return 0;
}

static void note_offer(Graph *graph, uint32_t set, uint32_t state, uint32_t part) {
  if (set >= FAIRNESS_SETS) return;
  Offers *offers = &graph->offers[set];
  if (offers->part != part) *offers = (Offers){part, UNMET, 0};
  offers->count += offers->state != state;
  offers->state = state;
}

/* Notes which steps the states of a part enable, and which lead from one of them to another. */
static void note_steps_within(Graph *graph, const uint32_t *states, uint64_t count, uint32_t part) {
  for (uint64_t number = 0; number < count; number++)
    for (uint64_t i = graph->first[states[number]]; i < graph->first[states[number] + 1]; i++) {
      const Edge edge = graph->edges[i];
      note_offer(graph, edge.mover, states[number], part);
      note_offer(graph, edge.partner, states[number], part);
      if (graph->part[edge.target] != part) continue;
      if (edge.mover < FAIRNESS_SETS) graph->taken[edge.mover] = part;
      if (edge.partner < FAIRNESS_SETS) graph->taken[edge.partner] = part;
    }
}

/* Returns whether a part of `count` states is unfair to a set: some state, or with weak fairness every state, enables a
 * step of it, but none is taken. */
static int is_unfair_to(const Graph *graph, uint32_t set, uint32_t part, uint64_t count) {
  if (set >= FAIRNESS_SETS || graph->taken[set] == part || graph->offers[set].part != part) return 0;
  return FAIRNESS_IS_STRONG || graph->offers[set].count == count;
}

/* Returns whether a state enables a step of a set that its part is unfair to. */
static int offers_unfairly(const Graph *graph, uint32_t state, uint32_t part, uint64_t count) {
  for (uint64_t i = graph->first[state]; i < graph->first[state + 1]; i++)
    if (is_unfair_to(graph, graph->edges[i].mover, part, count) ||
        is_unfair_to(graph, graph->edges[i].partner, part, count))
      return 1;
  return 0;
}

static int has_accepting(const Search *search, const uint32_t *states, uint64_t count) {
  for (uint64_t number = 0; number < count; number++)
    if (model_accepting(arena_state(&search->arena, states[number]))) return 1;
  return 0;
}

/* Judges a component. It is fair, or some of its states are on no fair cycle: those that enable a step of a set that it
 * is unfair to. With weak fairness these are all. The others may form smaller components. */
static void judge_component(const Search *search, Graph *graph, const uint32_t *states, uint64_t count) {
  if (!has_accepting(search, states, count) || (count == 1 && !leads_to(graph, *states, *states))) {
    for (uint64_t number = 0; number < count; number++) graph->part[states[number]] = NO_PART;
    return;
  }
  const uint32_t part = ++graph->parts;
  for (uint64_t number = 0; number < count; number++) graph->part[states[number]] = part;
  uint64_t kept = 0, first = graph->waiting_count;
  note_steps_within(graph, states, count, part);
  for (uint64_t number = 0; number < count; number++)
    if (!offers_unfairly(graph, states[number], part, count)) graph->waiting[first + kept++] = states[number];
  if (kept == count) {
    for (uint64_t number = 0; number < count; number++) graph->part[states[number]] |= FAIR;
    return;
  }
  for (uint64_t number = 0; number < count; number++) graph->part[states[number]] = NO_PART;
  if (!kept || !has_accepting(search, graph->waiting + first, kept)) return;
  for (uint64_t number = 0; number < kept; number++) {
    graph->part[graph->waiting[first + number]] = part;
    graph->order[graph->waiting[first + number]] = UNMET;
  }
  graph->waiting[first + kept] = (uint32_t)kept;
  graph->waiting_count = first + kept + 1;
}

static void meet(Graph *graph, uint64_t *depth, uint64_t *stacked, uint32_t state) {
  graph->order[state] = graph->low[state] = graph->met++;
  graph->stack[(*stacked)++] = state;
  graph->visits[(*depth)++] = (Visit){state, graph->first[state]};
}

/* Finds the components of a part that are reachable from one of its states, and judges them. */
static void take_apart(const Search *search, Graph *graph, uint32_t root, uint32_t part) {
  uint64_t depth = 0, stacked = 0;
  graph->met = 0;
  meet(graph, &depth, &stacked, root);
  while (depth && !stopping(search)) {
    Visit *visit = &graph->visits[depth - 1];
    const uint32_t state = visit->state;
    if (visit->next < graph->first[state + 1]) {
      const uint32_t target = graph->edges[visit->next++].target;
      if (graph->part[target] != part) continue; /* in another part, or in a component that is known */
      if (graph->order[target] == UNMET)
        meet(graph, &depth, &stacked, target);
      else if (graph->order[target] < graph->low[state])
        graph->low[state] = graph->order[target];
      continue;
    }
    depth--;
    if (depth) {
      const uint32_t parent = graph->visits[depth - 1].state;
      if (graph->low[state] < graph->low[parent]) graph->low[parent] = graph->low[state];
    }
    if (graph->low[state] != graph->order[state]) continue;
    uint64_t begin = stacked;
    while (graph->stack[--begin] != state) {
    }
    judge_component(search, graph, graph->stack + begin, stacked - begin);
    stacked = begin;
  }
}

/* Finds all fair components. Returns whether there are any. */
static int find_fair_components(const Search *search, Graph *graph) {
  int found = 0;
  graph->parts = 1;
  for (uint64_t state = 0; state < graph->states; state++) graph->part[state] = 1, graph->order[state] = UNMET;
  for (uint64_t state = 0; state < graph->states && !stopping(search); state++)
    if (graph->part[state] == 1 && graph->order[state] == UNMET) take_apart(search, graph, (uint32_t)state, 1);
  while (graph->waiting_count && !stopping(search)) {
    /* Its components come to wait in the same place, so it is moved away first. */
    const uint64_t count = graph->waiting[--graph->waiting_count];
    graph->waiting_count -= count;
    uint32_t *roots = graph->roots;
    memcpy(roots, graph->waiting + graph->waiting_count, count * sizeof *roots);
    const uint32_t part = ++graph->parts;
    for (uint64_t i = 0; i < count; i++) graph->part[roots[i]] = part;
    for (uint64_t i = 0; i < count; i++)
      if (graph->part[roots[i]] == part && graph->order[roots[i]] == UNMET) take_apart(search, graph, roots[i], part);
  }
  for (uint64_t state = 0; state < graph->states && !found; state++) found = (graph->part[state] & FAIR) != 0;
  return found;
}

/* Returns the least accepting state of fair components in a range of the arena. */
static uint64_t least_fair(const Search *search, const Graph *graph, uint64_t begin, uint64_t end) {
  uint64_t least = UINT64_MAX;
  for (uint64_t index = begin; index < end; index++) {
    const uint8_t *state = arena_state(&search->arena, index);
    if (!(graph->part[index] & FAIR) || !model_accepting(state)) continue;
    if (least == UINT64_MAX || memcmp(state, arena_state(&search->arena, least), STATE_BYTES) < 0) least = index;
  }
  return least;
}

/* --- A fair cycle -------------------------------------------------------------------------------------------- */

static int is_before(const Search *search, uint32_t one, uint32_t other) {
  return memcmp(arena_state(&search->arena, one), arena_state(&search->arena, other), STATE_BYTES) < 0;
}

static int cycle_reserve(Graph *graph, uint64_t more) {
  if (graph->cycle_count + more <= graph->cycle_room) return 1;
  uint64_t room = 2 * (graph->cycle_count + more);
  uint32_t *cycle = realloc(graph->cycle, room * sizeof *cycle);
  if (!cycle) return 0;
  graph->cycle = cycle;
  graph->cycle_room = room;
  return 1;
}

/* Appends to the cycle a shortest path from `from` within its component whose last step is fair to a set, or, with
 * FAIRNESS_SETS, leads to `to`. Of several paths it takes the least, so that the order of the arena, which depends
 * on the workers, does not matter. */
static int add_path(const Search *search, Graph *graph, uint32_t from, uint32_t set, uint32_t to) {
  const uint32_t part = graph->part[from];
  uint32_t *queue = graph->stack, last = UNMET, target = UNMET, distance = 0;
  uint64_t begin = 0, end = 1;
  queue[0] = from;
  graph->order[from] = 0;
  for (; begin < end && last == UNMET; distance++)
    for (uint64_t level_end = end; begin < level_end; begin++) {
      const int any_is_fair = set < FAIRNESS_SETS && !FAIRNESS_IS_STRONG && !offers_step_of(graph, queue[begin], set);
      for (uint64_t i = graph->first[queue[begin]]; i < graph->first[queue[begin] + 1]; i++) {
        const Edge edge = graph->edges[i];
        if (graph->part[edge.target] != part) continue;
        if (graph->order[edge.target] == UNMET) {
          graph->order[edge.target] = distance + 1;
          queue[end++] = edge.target;
        }
        if (!any_is_fair && (set < FAIRNESS_SETS ? !is_step_of(edge, set) : edge.target != to)) continue;
        if (last != UNMET && !is_before(search, queue[begin], last) &&
            (queue[begin] != last || !is_before(search, edge.target, target)))
          continue;
        last = queue[begin];
        target = edge.target;
      }
    }
  int complete = last != UNMET && cycle_reserve(graph, distance);
  if (complete) {
    uint32_t *path = graph->cycle + graph->cycle_count;
    uint64_t level_end = end;
    path[distance - 1] = target;
    for (uint32_t at = distance - 1; at; at--) {
      path[at - 1] = last;
      uint32_t before = UNMET;
      while (graph->order[queue[level_end - 1]] >= at) level_end--;
      for (uint64_t i = level_end; i && graph->order[queue[i - 1]] == at - 1; i--)
        if (leads_to(graph, queue[i - 1], last) && (before == UNMET || is_before(search, queue[i - 1], before)))
          before = queue[i - 1];
      last = before;
    }
    graph->cycle_count += distance;
  }
  for (uint64_t i = 0; i < end; i++) graph->order[queue[i]] = UNMET;
  return complete;
}

static inline void mark(Graph *graph, uint32_t set, uint32_t kind) {
  if (set < FAIRNESS_SETS) graph->taken[set] = kind;
}

/* Notes the sets to which the steps from a state to the next one of the cycle are fair: their own, and with weak
 * fairness those that the state does not enable. If several steps lead to the same state, each is taken in turn. */
static void note_steps(Graph *graph, uint32_t state, uint32_t next) {
  for (uint64_t i = graph->first[state]; i < graph->first[state + 1]; i++) {
    const Edge edge = graph->edges[i];
    if (edge.target == next) mark(graph, edge.mover, TAKEN), mark(graph, edge.partner, TAKEN);
    if (edge.mover < FAIRNESS_SETS) graph->offers[edge.mover].state = state;
    if (edge.partner < FAIRNESS_SETS) graph->offers[edge.partner].state = state;
  }
  for (uint32_t set = 0; set < FAIRNESS_SETS && !FAIRNESS_IS_STRONG; set++)
    if (graph->offers[set].state != state) graph->taken[set] = TAKEN;
}

/* Makes a cycle from an accepting state of a fair component back to it that is fair to all sets. Returns 0 if there
 * is no memory. */
static int make_cycle(const Search *search, Graph *graph, uint32_t start) {
  const uint32_t part = graph->part[start];
  uint32_t at = start;
  graph->cycle_count = 0;
  memset(graph->taken, 0, FAIRNESS_SETS * sizeof *graph->taken);
  for (uint64_t state = 0; state < graph->states; state++) {
    graph->order[state] = UNMET;
    for (uint64_t i = graph->first[state]; i < graph->first[state + 1] && graph->part[state] == part; i++)
      mark(graph, graph->edges[i].mover, WANTED), mark(graph, graph->edges[i].partner, WANTED);
  }
  for (uint32_t set = 0; set < FAIRNESS_SETS; set++) graph->offers[set].state = UNMET;
  for (uint32_t set = 0; set <= FAIRNESS_SETS; set++) {
    if (set < FAIRNESS_SETS ? graph->taken[set] != WANTED : at == start && graph->cycle_count) continue;
    uint64_t first = graph->cycle_count;
    if (!add_path(search, graph, at, set, start)) return 0;
    for (; first < graph->cycle_count; first++) {
      note_steps(graph, at, graph->cycle[first]);
      at = graph->cycle[first];
    }
  }
  return 1;
}

/* --- Bindings ------------------------------------------------------------------------------------------------ */

/* Opens the graph of the first `states` states, which have been expanded. Returns NULL if there is no memory. */
EXPORT Graph *outcrop_fair_open(Search *search, uint64_t states, uint64_t only_accepting) {
  Graph *graph = states < MOST_STATES ? calloc(1, sizeof *graph) : NULL;
  if (!graph) return NULL;
  graph->states = states;
  graph->only_accepting = (int)only_accepting;
  graph->first = fair_room(search, graph, states + 1, sizeof *graph->first);
  graph->part = fair_room(search, graph, states, sizeof *graph->part);
  graph->order = fair_room(search, graph, states, sizeof *graph->order);
  graph->low = fair_room(search, graph, states, sizeof *graph->low);
  graph->stack = fair_room(search, graph, states, sizeof *graph->stack);
  graph->waiting = fair_room(search, graph, 2 * states, sizeof *graph->waiting);
  graph->roots = fair_room(search, graph, states, sizeof *graph->roots);
  graph->visits = fair_room(search, graph, states, sizeof *graph->visits);
  graph->taken = fair_room(search, graph, FAIRNESS_SETS, sizeof *graph->taken);
  graph->offers = fair_room(search, graph, FAIRNESS_SETS, sizeof *graph->offers);
  if (graph->first && graph->part && graph->order && graph->low && graph->stack && graph->waiting && graph->roots &&
      graph->visits && graph->taken && graph->offers)
    return graph;
  fair_close(graph);
  return NULL;
}

EXPORT void outcrop_fair_close(Graph *graph) { fair_close(graph); }

/* Notes the edges of some states: counts them, or after outcrop_fair_lay_out stores them. */
EXPORT void outcrop_fair_note(Search *search, Graph *graph, uint64_t number, uint64_t begin, uint64_t end) {
  Worker *worker = uncounted(search, number);
  note_states(worker, graph, begin, end);
  worker->expansion.context = worker->counted;
}

EXPORT int outcrop_fair_lay_out(Search *search, Graph *graph) { return lay_out_edges(search, graph); }

EXPORT int outcrop_fair_find(const Search *search, Graph *graph) { return find_fair_components(search, graph); }

EXPORT uint64_t outcrop_fair_least(const Search *search, const Graph *graph, uint64_t begin, uint64_t end) {
  return least_fair(search, graph, begin, end);
}

/* Returns the number of states of the cycle, without the first; UINT64_MAX if there is no memory. */
EXPORT uint64_t outcrop_fair_cycle(const Search *search, Graph *graph, uint64_t start) {
  return make_cycle(search, graph, (uint32_t)start) ? graph->cycle_count : UINT64_MAX;
}

EXPORT void outcrop_fair_take(const Graph *graph, uint32_t *cycle) {
  memcpy(cycle, graph->cycle, graph->cycle_count * sizeof *cycle);
}
