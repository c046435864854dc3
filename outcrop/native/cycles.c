/* The search for accepting cycles in the product of a model and an automaton: bindings for
 * outcrop/kernels/cycles.py. */

#include "abi_cycles.h"
#include "worklist.c"

#include "owcty.c"
#include "cycle_paths.c"
#if HAS_ALL_KERNELS
#include "owcty_compact.c"
#include "ndfs.c"
#endif
#if HAS_MOVERS
#include "fair.c"
#endif

/* --- OWCTY --------------------------------------------------------------------------------------------------- */

/* Prepares a search, before the start states are created. Returns 0 if there is no memory. */
EXPORT int outcrop_cycles_open(Search *search, uint64_t strength) { return cycles_open(search, (int)strength); }

/* Starts a phase, before all workers take part in it. Returns the size of S. */
EXPORT uint64_t outcrop_cycles_begin(Search *search, uint64_t phase) {
  Cycles *cycles = search->cycles;
  if (cycles->map) cycles_drop_map(search);
  if (phase <= PHASE_RESET) cycles->size = 0;
  cycles->phase = (int)phase;
  cycles->cursor = 0;
  worklist_begin(&cycles->list, search->worker_count);
  return cycles->size;
}

EXPORT void outcrop_cycles_work(Search *search, uint64_t number) {
  Worker *worker = uncounted(search, number);
  if (search->cycles->phase <= PHASE_RESET)
    reset_words(worker);
  else
    work_off(worker);
  worker->expansion.count = 0;
  worker->expansion.context = worker->counted;
}

#if HAS_ALL_KERNELS
/* Runs a part of a worker's work, over several ranks. Returns 0 if there is no more for now. */
EXPORT int outcrop_cycles_part(Search *search, uint64_t number, uint64_t batches) {
  Worker *worker = uncounted(search, number);
  int is_more = work_off_part(worker, batches);
  worker->expansion.count = 0;
  worker->expansion.context = worker->counted;
  return is_more;
}

/* Runs the phase on states that other ranks have sent. */
EXPORT void outcrop_cycles_message(Search *search, uint64_t number, const uint8_t *message) {
  Worker *worker = uncounted(search, number);
  begin_phase(worker);
  flush_message(worker, message);
  worker->expansion.context = worker->counted;
}

EXPORT int outcrop_cycles_has_work(const Search *search) { return has_work(search); }
#endif

/* Ends a phase, after all workers have. Returns the size of S. */
EXPORT uint64_t outcrop_cycles_end(Search *search) {
  Cycles *cycles = search->cycles;
  for (uint32_t i = 0; i < search->worker_count; i++) {
    cycles->size += cycles->mine[i].entered - cycles->mine[i].removed;
    cycles->mine[i].entered = cycles->mine[i].removed = 0;
  }
  return cycles->size;
}

/* --- Paths --------------------------------------------------------------------------------------------------- */

/* Returns the index of a state, as the model packs it; UINT64_MAX if it is not in the arena. */
EXPORT uint64_t outcrop_find_state(const Search *search, const uint8_t *state) {
#if HAS_TREE
  uint8_t root[STATE_BYTES];
  if (!tree_find_root(&search->tree, &search->hasher, state, root)) return UINT64_MAX;
  state = root;
#endif
  return table_find(&search->table, &search->arena, state, hash_state(&search->hasher, state));
}

/* Writes states as the model packs them. */
EXPORT void outcrop_read_states(const Search *search, const uint32_t *indexes, uint64_t count, uint8_t *states) {
  uint8_t room[MODEL_BYTES + SPARE_BYTES];
  for (uint64_t i = 0; i < count; i++)
    memcpy(states + i * MODEL_BYTES, packed_state(search, arena_state(&search->arena, indexes[i]), room), MODEL_BYTES);
}

/* Takes one step from some states. Returns the number of states reached; UINT64_MAX if there is no memory. */
EXPORT uint64_t outcrop_step(Search *search, const uint32_t *indexes, uint64_t count, uint64_t limit,
                             uint64_t within_s, uint64_t target, uint64_t *hit) {
  Worker *worker = uncounted(search, 0);
  Step step = {.limit = limit, .target = (uint32_t)target, .within_s = (int)within_s};
  take_step(worker, indexes, count, &step);
  worker->expansion.context = worker->counted;
  *hit = (uint64_t)step.hit;
  return step.complete ? search->cycles->reached_count : UINT64_MAX;
}

#if HAS_ALL_KERNELS
/* Takes the step to the states of a message. */
EXPORT uint64_t outcrop_step_to(Search *search, const uint8_t *message, uint64_t limit, uint64_t within_s, uint64_t target,
                                uint64_t *hit) {
  Worker *worker = uncounted(search, 0);
  Step step = {.limit = limit, .target = (uint32_t)target, .within_s = (int)within_s};
  take_step_to(worker, message, &step);
  worker->expansion.context = worker->counted;
  *hit = (uint64_t)step.hit;
  return step.complete ? search->cycles->reached_count : UINT64_MAX;
}
#endif

EXPORT void outcrop_take_step(const Search *search, uint32_t *indexes) {
  if (search->cycles->reached_count)
    memcpy(indexes, search->cycles->reached, search->cycles->reached_count * sizeof *indexes);
}

/* Sets or clears the marks of such steps. */
EXPORT void outcrop_pass(Search *search, const uint32_t *indexes, uint64_t count, uint64_t passed) {
  for (uint64_t i = 0; i < count; i++) {
    uint32_t *word = word_of(search, indexes[i]);
    *word = passed ? *word | PASSED : *word & ~PASSED;
  }
}

/* Moves the accepting states to the front. Returns their number. */
EXPORT uint64_t outcrop_keep_accepting(uint8_t *states, uint64_t count) {
  uint64_t kept = 0;
  for (uint64_t i = 0; i < count; i++) {
    if (!model_accepting(states + i * MODEL_BYTES)) continue;
    if (kept != i) memmove(states + kept * MODEL_BYTES, states + i * MODEL_BYTES, MODEL_BYTES);
    kept++;
  }
  return kept;
}

/* Returns the number of successors of some states, which outcrop_take_successors copies; UINT64_MAX if memory does not
 * hold them. */
EXPORT uint64_t outcrop_successors(Search *search, const uint8_t *states, uint64_t count) {
  Worker *worker = uncounted(search, 0);
  const uint32_t ranks = search->route.ranks;
  search->route.ranks = 0; /* keeps successors that other ranks own */
  worker_enter(worker);    /* since tables of nodes may grow */
  uint64_t expanded = gather_block(worker, states, count, 1, UINT64_MAX);
  worker_leave(worker);
  search->route.ranks = ranks;
  worker->expansion.context = worker->counted;
  return expanded < count ? UINT64_MAX : worker->gathered.count;
}

EXPORT uint64_t outcrop_least_accepting(const Search *search, uint64_t begin, uint64_t end) {
  return least_accepting(search, begin, end);
}

#if HAS_ALL_KERNELS
/* --- OWCTY with hash compaction ------------------------------------------------------------------------------ */

EXPORT int outcrop_compacted_open(Search *search, uint64_t strength) { return compacted_open(search, (int)strength); }

EXPORT uint64_t outcrop_compacted_size(const Search *search) {
  uint64_t size = 0;
  for (uint32_t i = 0; i < search->worker_count; i++)
    size += search->compacted->mine[i].entered - search->compacted->mine[i].removed;
  return size;
}

/* Empties S, clears all counts, and draws a new hash. All workers take part, each with its share. */
EXPORT void outcrop_compacted_reset(Search *search, uint64_t share, uint64_t seed) {
  clear_signatures(search, share, search->worker_count);
  if (share) return;
  Compacted *compacted = search->compacted;
  hasher_seed(&search->hasher, seed);
  lengthen_signatures(&search->signatures);
  search->reserved = compacted->carry_count = 0;
  if (compacted->carries) memset(compacted->carries, 0, compacted->carry_room * sizeof(Carry));
}

/* Runs REACHABILITY, ELIMINATION or VERIFICATION on a block. `found`: whether VERIFICATION has met `target`. Returns
 * the number of states to handle next, and in `accepting` the number of states to enqueue. */
EXPORT uint64_t outcrop_compacted_block(Search *search, uint64_t number, uint64_t kind, uint64_t begins,
                                        const uint8_t *states, uint64_t count, uint64_t few, const uint8_t *target,
                                        uint64_t *accepting, uint64_t *found) {
  Worker *worker = uncounted(search, number);
  if (target) search->compacted->target = target;
  worker_enter(worker);
  block_phase(worker, (int)kind, (int)begins, states, count, few);
  worker_leave(worker);
  worker->expansion.count = 0;
  worker->expansion.context = worker->counted;
  *accepting = search->compacted->mine[number].accepting.count;
  *found = (uint64_t)__atomic_load_n(&search->compacted->found, __ATOMIC_RELAXED);
  return worker->gathered.count;
}

/* Runs the phase on states that other ranks have sent. */
EXPORT uint64_t outcrop_compacted_message(Search *search, uint64_t number, uint64_t kind, const uint8_t *message,
                                          const uint8_t *target, uint64_t *accepting, uint64_t *found) {
  Worker *worker = uncounted(search, number);
  if (target) search->compacted->target = target;
  worker_enter(worker);
  message_phase(worker, (int)kind, message);
  worker_leave(worker);
  worker->expansion.count = 0;
  worker->expansion.context = worker->counted;
  *accepting = search->compacted->mine[number].accepting.count;
  *found = (uint64_t)__atomic_load_n(&search->compacted->found, __ATOMIC_RELAXED);
  return worker->gathered.count;
}

EXPORT void outcrop_compacted_take(Search *search, uint64_t number, uint8_t *states, uint8_t *accepting) {
  const Gathered *gathered = &search->workers[number].gathered, *more = &search->compacted->mine[number].accepting;
  if (gathered->count) memcpy(states, gathered->states, gathered->count * STATE_BYTES);
  if (more->count) memcpy(accepting, more->states, more->count * STATE_BYTES);
}

/* Moves the accepting states that are in S to the front. Returns their number. */
EXPORT uint64_t outcrop_compacted_keep(const Search *search, uint8_t *states, uint64_t count) {
  return keep_members(search, states, count);
}

/* --- Nested depth-first search ------------------------------------------------------------------------------- */

/* Opens a depth-first search. Returns NULL if there is no memory. */
EXPORT Dfs *outcrop_dfs_open(Search *search) { return dfs_open(search); }

EXPORT void outcrop_dfs_close(Dfs *dfs) { dfs_close(dfs); }

/* Searches from the states of the first level, until there is a finding. */
EXPORT int outcrop_dfs(Search *search, Dfs *dfs) {
  Worker *worker = &search->workers[0];
  worker->purpose = dfs;
  worker->overflow = 0;
  worker_enter(worker);
  int outcome = DFS_COMPLETE;
  for (uint64_t start = search->level_begin; start < search->level_end && outcome == DFS_COMPLETE; start++)
    if (colour_of(dfs, (uint32_t)start) == WHITE) outcome = search_blue(worker, dfs, (uint32_t)start);
  worker_leave(worker);
  return outcome;
}

/* Returns the length of the path on the stacks, and with `indexes` copies it. `loop_start`: where the cycle begins. */
EXPORT uint64_t outcrop_dfs_path(const Dfs *dfs, uint32_t *indexes, uint64_t *loop_start) {
  uint64_t length = dfs->blue.depth;
  for (uint64_t i = 0; indexes && i < dfs->blue.depth; i++) indexes[i] = dfs->blue.frames[i].state;
  /* The second search starts with the state that the first one is at. */
  for (uint64_t i = 1; i < dfs->red.depth; i++, length++)
    if (indexes) indexes[length] = dfs->red.frames[i].state;
  *loop_start = dfs->loop_start;
  return length;
}
#endif
