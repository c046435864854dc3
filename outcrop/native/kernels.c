/* The kernels, compiled together with a model into one library, so that the state size is a constant everywhere.
 * Include after the model's functions. The exported functions are declared in abi.h, from which outcrop/kernels/
 * binds them. */

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#ifdef __linux__
#include <sys/syscall.h>
#endif
#include <unistd.h>

/* 0 leaves out what most searches never call, which is more than half of the work of the compiler: searches past RAM,
 * caches, random walks, several ranks, and with an automaton all but OWCTY on full states. Nothing that both variants
 * share depends on this: a search that was opened without the rest may continue with it. */
#ifndef HAS_ALL_KERNELS
#define HAS_ALL_KERNELS 1
#endif

/* Bytes of a squeezed state; 0 keeps states as the model packs them. See squeeze.c. */
#ifndef SQUEEZED_BYTES
#define SQUEEZED_BYTES 0
#endif

/* The compressed visited set, and, with HAS_TREE, states that are kept as roots of trees. See compressed.c and tree.c. */
#ifndef HAS_TREE
#define HAS_TREE 0
#endif
#ifndef HAS_QUOTIENT
#define HAS_QUOTIENT HAS_TREE
#endif

/* Products with an automaton are not searched past RAM, and their states are not squeezed. Only `auto` and `layered`
 * squeeze states, and they need none of the kernels of other strategies, of random walks or of several ranks. */
#define HAS_PAST_RAM (HAS_ALL_KERNELS && !HAS_AUTOMATON && !HAS_QUOTIENT)
#define HAS_EVERY_STRATEGY (HAS_ALL_KERNELS && !SQUEEZED_BYTES)
#define HAS_CACHES (HAS_PAST_RAM && HAS_EVERY_STRATEGY)

/* The hash of the headers abi*.h, for outcrop_abi. A library without it is not loaded. */
#ifndef ABI_HASH
#define ABI_HASH 0
#endif

#include "abi.h"

#include "expand.h"

#include "squeeze.c"

#include "hash.h"
#include "lines.h"

#include "arena.c"
#include "table.c"
#include "signatures.c"
#include "findings.c"
#include "gathered.c"
#include "claims.c"
#include "mapped.c"
#include "route.c"
#include "messages.c"
#include "buffers.c"
#include "runs.c"
#if HAS_TREE
#include "tree.c"
#endif
#include "worker.c"
#include "growth.c"
#include "adding.c"
#include "visited.c"
#include "cores.c"
#include "checking.c"
#include "level.c"
#include "blocks.c"
#include "spill.c"
#include "paths.c"
#include "liveness.c"
#if HAS_EVERY_STRATEGY
#include "distances.c"
#endif

#define EXPORT __attribute__((visibility("default"), used))

EXPORT uint64_t outcrop_abi(void) { return ABI_HASH; }

EXPORT void outcrop_shape(Shape *shape) {
  *shape = (Shape){.state_bytes = STATE_BYTES,
                   .model_bytes = MODEL_BYTES,
                   .state_bits = STATE_BITS,
                   .rules = RULE_COUNT,
                   .covers = COVER_COUNT,
                   .notes = NOTE_COUNT,
                   .liveness = LIVENESS_COUNT,
                   .successor_room = SUCCESSOR_ROOM,
                   .features = {.assumptions = HAS_ASSUMPTIONS,
                                .invariants = HAS_INVARIANTS,
                                .cover_properties = HAS_COVER_PROPERTIES,
                                .liveness = HAS_LIVENESS,
                                .ends = HAS_ENDS,
                                .normalise = HAS_NORMALISE,
                                .printing = HAS_PUT,
                                .coverage = HAS_COVERAGE,
                                .reals = HAS_REALS,
                                .wide_integers = HAS_WIDE_INTEGERS,
                                .automaton = HAS_AUTOMATON,
                                .fairness = HAS_FAIRNESS,
                                .fairness_counter = HAS_FAIRNESS_COUNTER,
                                .movers = HAS_MOVERS,
                                .instances = HAS_INSTANCES}};
}

/* --- A search ------------------------------------------------------------------------------------------------ */

static int worker_open(Worker *worker, Search *search) {
  Expansion *expansion = &worker->expansion;
  worker->search = search;
  expansion->hasher = &search->hasher;
  expansion->successors = calloc(1, SUCCESSOR_ROOM * (size_t)MODEL_BYTES + 2 * SPARE_BYTES);
  expansion->hashes = calloc(SUCCESSOR_ROOM, sizeof *expansion->hashes);
  expansion->owners = calloc(SUCCESSOR_ROOM, sizeof *expansion->owners);
  expansion->context = worker->counted = calloc(1, sizeof(Context));
  worker->scratch = calloc(1, sizeof(Context));
  worker->before = calloc(1, sizeof(Context));
  worker->is_new = calloc(SUCCESSOR_ROOM, 1);
  int complete = expansion->successors && expansion->hashes && expansion->owners && worker->counted &&
                 worker->scratch && worker->before && worker->is_new;
#if HAS_COVERAGE
  expansion->rules = calloc(SUCCESSOR_ROOM, sizeof *expansion->rules);
  complete = complete && expansion->rules;
#if HAS_PUT
  expansion->put_begins = calloc(SUCCESSOR_ROOM, sizeof *expansion->put_begins);
  expansion->put_ends = calloc(SUCCESSOR_ROOM, sizeof *expansion->put_ends);
  complete = complete && expansion->put_begins && expansion->put_ends;
#endif
#endif
#if HAS_INSTANCES
  expansion->instances = calloc(SUCCESSOR_ROOM, sizeof *expansion->instances);
  complete = complete && expansion->instances;
#endif
#if HAS_MOVERS
  expansion->movers = calloc(SUCCESSOR_ROOM, sizeof *expansion->movers);
  expansion->partners = calloc(SUCCESSOR_ROOM, sizeof *expansion->partners);
  complete = complete && expansion->movers && expansion->partners;
#endif
  for (int kind = 0; kind < FOUND_KINDS; kind++) {
    worker->found[kind].states = malloc(MODEL_BYTES);
    worker->found[kind].room = 1;
    complete &= worker->found[kind].states != NULL;
  }
  return complete;
}

static void worker_close(Worker *worker) {
  free(worker->expansion.successors);
  free(worker->expansion.hashes);
  free(worker->expansion.owners);
#if HAS_COVERAGE
  free(worker->expansion.rules);
#if HAS_PUT
  free(worker->expansion.put_begins);
  free(worker->expansion.put_ends);
#endif
#endif
#if HAS_INSTANCES
  free(worker->expansion.instances);
#endif
#if HAS_MOVERS
  free(worker->expansion.movers);
  free(worker->expansion.partners);
#endif
#if HAS_PUT
  if (worker->counted) free(worker->counted->put);
  if (worker->scratch) free(worker->scratch->put);
#endif
  free(worker->counted);
  free(worker->scratch);
  free(worker->before);
  free(worker->is_new);
  gathered_close(&worker->gathered);
  gathered_close(&worker->fresh);
  for (uint32_t rank = 0; worker->outgoing && rank < worker->search->route.ranks; rank++) {
    free(worker->outgoing[rank].states);
    free(worker->outgoing[rank].values);
  }
  free(worker->outgoing);
  free(worker->found_claims.firsts);
  free(worker->level_claims.firsts);
  free(worker->aside.states);
  free(worker->aside.hashes);
#if HAS_AUTOMATON
  free(worker->aside.owners);
#endif
  run_work_close(&worker->runs);
  for (int kind = 0; kind < FOUND_KINDS; kind++) free(worker->found[kind].states);
#if SQUEEZED_BYTES
  free(worker->misfits);
#endif
}

#if HAS_AUTOMATON
static void cycles_close(Search *search);
#if HAS_ALL_KERNELS
static void compacted_close(Search *search);
#endif
#endif

EXPORT void outcrop_close(Search *search) {
#if HAS_AUTOMATON
  cycles_close(search);
#if HAS_ALL_KERNELS
  compacted_close(search);
#endif
#endif
  for (uint32_t i = 0; i < search->worker_count; i++) worker_close(&search->workers[i]);
  free(search->workers);
  filter_close(&search->route.filter);
  table_close(&search->table);
  signatures_close(&search->signatures);
  if (search->known) munmap(search->known, search->arena.capacity / 8 + 2);
  arena_close(&search->arena);
  pthread_cond_destroy(&search->changed);
  pthread_cond_destroy(&search->round_begun);
  pthread_mutex_destroy(&search->lock);
  free(search);
}

/* Opens a search. Returns NULL if there is no memory. */
EXPORT Search *outcrop_open(const Settings *settings) {
  Search *search = calloc(1, sizeof *search);
  if (!search) return NULL;
  search->visited = !settings->exact ? &signatures_only : settings->spills ? &states_before_disk : &states_in_full;
  search->deadlock = (int)settings->deadlock;
  search->budget = settings->budget;
  search->most_states = settings->most_states;
  search->most_found = (uint32_t)settings->most_found;
  search->chunk_states = 64;
  search->start_end = START_COUNT;
  search->flush = add_successors;
  uint64_t batch = settings->budget / (STATE_BYTES + 8) / (8 * settings->workers);
  search->most_batch = !settings->spills || batch > SUCCESSOR_ROOM ? SUCCESSOR_ROOM : batch < 16 ? 16 : (uint32_t)batch;
  pthread_mutex_init(&search->lock, NULL);
  pthread_cond_init(&search->changed, NULL);
  pthread_cond_init(&search->round_begun, NULL);
  hasher_seed(&search->hasher, settings->seed);
  if (settings->spills) hasher_reverse(&search->hasher, settings->spills == 2);
  if (settings->file >= 0) watch_mapped_files();
  uint64_t arena = settings->file < 0 ? settings->budget : settings->disk_limit;
  uint64_t slack = settings->workers * MOST_CHUNK_STATES;
  search->workers = aligned_alloc(_Alignof(Worker), settings->workers * sizeof *search->workers);
  if (search->workers) memset(search->workers, 0, settings->workers * sizeof *search->workers);
  int complete = search->workers && arena_open(&search->arena, arena, (int)settings->file, settings->disk_limit,
                                               settings->budget);
  complete = complete && (settings->exact
                              ? table_open(&search->table, settings->first_lines, (int)settings->wide, slack)
                              : signatures_open(&search->signatures, (unsigned)settings->bits,
                                                (unsigned)settings->note_bits, settings->budget));
  for (; complete && search->worker_count < settings->workers; search->worker_count++)
    complete = worker_open(&search->workers[search->worker_count], search);
  if (complete) {
    refresh_lines(search);
    return search;
  }
  outcrop_close(search);
  return NULL;
}

EXPORT void outcrop_stop(Search *search) { request_stop(search); }

EXPORT void outcrop_standing(Search *search, Standing *standing) {
  uint64_t generated = total_generated(search);
  uint64_t cursor = __atomic_load_n(&search->cursor, __ATOMIC_RELAXED);
  *standing = (Standing){__atomic_load_n(&search->reserved, __ATOMIC_RELAXED),
                         cursor < search->level_end ? cursor : search->level_end,
                         __atomic_load_n(&search->levels, __ATOMIC_RELAXED), search->level_begin, search->level_end,
                         arena_bytes(&search->arena) + visited_bytes(search), search->arena.on_disk,
                         search->visited->positions(search), (uint64_t)__atomic_load_n(&search->stop, __ATOMIC_RELAXED),
                         search->started == search->start_end, search->unexpanded, generated};
}

/* --- Levels -------------------------------------------------------------------------------------------------- */

EXPORT uint64_t outcrop_start(Search *search) {
  Worker *worker = &search->workers[0];
  worker_enter(worker);
  uint64_t failures = expand_start_states(worker);
  worker_leave(worker);
  return failures;
}

EXPORT uint64_t outcrop_finish_level(Search *search) { return finish_level(search); }

/* Expands levels. All workers call it at the same time, with the same arguments. */
EXPORT uint64_t outcrop_expand_levels(Search *search, uint64_t number, uint64_t most_levels, uint64_t largest_level,
                                      uint64_t *sizes, uint64_t *generated) {
  LevelList list = {search->levels, most_levels, largest_level, sizes, generated};
  return expand_levels(&search->workers[number], list);
}

/* Adds the counters of all workers to `fired`, `covered` and `noted`. */
EXPORT void outcrop_count(const Search *search, uint64_t *fired, uint64_t *covered, uint8_t *noted) {
  for (uint32_t i = 0; i < search->worker_count; i++) {
    const Context *context = search->workers[i].counted;
    for (uint32_t rule = 0; rule + 1 <= RULE_COUNT; rule++) fired[rule] += context->fired[rule];
    for (uint32_t cover = 0; cover + 1 <= COVER_COUNT; cover++) covered[cover] += context->covered[cover];
    for (uint32_t note = 0; note + 1 <= NOTE_COUNT; note++) noted[note] |= context->noted[note];
  }
}

/* Adds the counters of a model compiled with coverage: per rule, how often it was enabled, and how often it led to a
 * state of the next level, which only the levels of an exact search in RAM tell. */
EXPORT void outcrop_coverage(const Search *search, uint64_t *enabled, uint64_t *deeper) {
#if HAS_COVERAGE
  for (uint32_t i = 0; i < search->worker_count; i++) {
    const Context *context = search->workers[i].counted;
    for (uint32_t rule = 0; rule + 1 <= RULE_COUNT; rule++) enabled[rule] += context->enabled[rule];
    for (uint32_t rule = 0; rule + 1 <= RULE_COUNT; rule++) deeper[rule] += context->deeper[rule];
  }
#else
  (void)search, (void)enabled, (void)deeper;
#endif
}

/* Returns the number of findings of a kind that a worker has. With `states`, copies them there and drops them. */
EXPORT uint64_t outcrop_take_found(Search *search, uint64_t number, uint64_t kind, uint8_t *states) {
  Found *found = &search->workers[number].found[kind];
  uint64_t count = found->count;
  if (states) {
    memcpy(states, found->states, count * MODEL_BYTES);
    found->count = 0;
  }
  return count;
}

/* Returns the number of words that put statements of a worker have recorded. With `words`, copies and drops them. */
EXPORT uint64_t outcrop_take_put(Search *search, uint64_t number, uint64_t *words) {
#if HAS_PUT
  Context *context = search->workers[number].counted;
  uint64_t count = context->put_length;
  if (words) {
    memcpy(words, context->put, count * sizeof *words);
    context->put_length = 0;
    context->put_is_full = 0;
  }
  return count;
#else
  (void)search, (void)number, (void)words;
  return 0;
#endif
}

EXPORT void outcrop_drain_put(Search *search, Drain drain) {
#if HAS_PUT
  search->drain = drain;
#else
  (void)search, (void)drain;
#endif
}

/* --- Blocks -------------------------------------------------------------------------------------------------- */

EXPORT void outcrop_read_block(Search *search, uint64_t begin, uint64_t end, uint8_t *states) {
  memcpy(states, arena_state(&search->arena, begin), (end - begin) * STATE_BYTES);
  /* A sequential reader has probably read what lies before. */
  const uint64_t behind = search->arena.window / STATE_BYTES;
  arena_passed(&search->arena, begin < behind ? 0 : begin - behind, begin, end);
}

/* Frees the file of the arena, whose states are now kept elsewhere. No worker may be running. */
EXPORT void outcrop_empty_arena(Search *search) {
  Arena *arena = &search->arena;
  if (ftruncate(arena->file, 0) == 0) arena->on_disk = 0;
  arena->used = arena->resident = search->level_begin = search->level_end = search->cursor = search->level_sum = 0;
  for (uint32_t i = 0; i < search->worker_count; i++) search->workers[i].chunk = (Chunk){0, 0};
}

/* Adds states to the visited set and sets `is_new`. Returns how many it handled. */
EXPORT uint64_t outcrop_insert_block(Search *search, uint64_t number, const uint8_t *states, uint64_t count,
                                     uint8_t *is_new) {
  Worker *worker = &search->workers[number];
  uint64_t *hashes = worker->expansion.hashes, done = 0;
  worker_enter(worker);
  while (done < count) {
    uint32_t batch = count - done < SUCCESSOR_ROOM ? (uint32_t)(count - done) : SUCCESSOR_ROOM;
    const uint8_t *first = states + done * STATE_BYTES;
    for (uint32_t i = 0; i < batch; i++) {
      hashes[i] = hash_state(&search->hasher, first + (size_t)i * STATE_BYTES);
      __builtin_prefetch(worker->expansion.lines +
                         multiply_high(hashes[i], worker->expansion.line_count) * LINE_BYTES, 1);
    }
    uint32_t dealt = search->visited->add(worker, first, hashes, batch, is_new + done);
    done += dealt;
    if (dealt < batch) break;
  }
  worker_leave(worker);
  return done;
}

/* Expands states that are followed by spare bytes, until they have `most` successors. Counts and finds as a level does.
 * Returns the number of expanded states, 0 if memory does not hold the successors. `*made`: their number; the next call
 * copies them. */
EXPORT uint64_t outcrop_expand_block(Search *search, uint64_t number, const uint8_t *states, uint64_t count,
                                     uint64_t with_loops, uint64_t most, uint64_t *made) {
  Worker *worker = &search->workers[number];
  uint64_t expanded = gather_block(worker, states, count, (int)with_loops, most);
  *made = worker->gathered.count;
  return expanded;
}

EXPORT void outcrop_take_successors(Search *search, uint64_t number, uint8_t *states, uint64_t *hashes) {
  Gathered *gathered = &search->workers[number].gathered;
  if (gathered->count) memcpy(states, gathered->states, gathered->count * STATE_BYTES);
  if (gathered->count) memcpy(hashes, gathered->hashes, gathered->count * sizeof *hashes);
  gathered->count = 0;
}

/* Checks new states, as a level does. */
EXPORT void outcrop_check_block(Search *search, uint64_t number, const uint8_t *states, uint64_t count) {
  check_block(&search->workers[number], states, count);
}

/* Brings states, as the model packs them, into normal form. Spare bytes follow the last one. */
EXPORT void outcrop_normalise_block(uint8_t *states, uint64_t count) {
#if HAS_NORMALISE
  for (uint64_t number = 0; number < count; number++) model_normalise(states + number * MODEL_BYTES);
#else
  (void)states, (void)count;
#endif
}

EXPORT void outcrop_hash_block(const Search *search, const uint8_t *states, uint64_t count, uint64_t *hashes) {
  for (uint64_t i = 0; i < count; i++) hashes[i] = hash_state(&search->hasher, states + i * STATE_BYTES);
}

/* --- Past RAM ------------------------------------------------------------------------------------------------ */

#if HAS_PAST_RAM
#include "past_ram.c"
#endif

/* --- Repeated expansion -------------------------------------------------------------------------------------- */

#include "reexpand.c"

/* --- The tables of searches past RAM ------------------------------------------------------------------------- */

#if HAS_CACHES
#include "dictionary.c"
#include "cache.c"
#include "cached.c"
#include "block_file.c"
#include "memory_table.c"
#endif
#if HAS_PAST_RAM
#include "layers.c"
#endif
#if HAS_PAST_RAM || HAS_QUOTIENT
#include "carry.c"
#endif
#if HAS_QUOTIENT
#include "quotient.c"
#include "compressed.c"
#endif
#if HAS_TREE
#include "folding.c"
#endif

/* --- Random walks -------------------------------------------------------------------------------------------- */

#if HAS_CACHES
#include "walks.c"
#endif

/* --- Recorded runs, edges of the graph ------------------------------------------------------------------------ */

#if HAS_INSTANCES
#include "observe.c"
#include "edges.c"
#include "refine.c"
#endif

/* --- Several ranks ------------------------------------------------------------------------------------------- */

#if HAS_EVERY_STRATEGY
#include "exchange.c"
#endif

/* --- Accepting cycles ---------------------------------------------------------------------------------------- */

#if HAS_AUTOMATON
#include "cycles.c"
#endif
