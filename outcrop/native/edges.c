/* The edges of the state graph. After a complete search the arena is expanded again, and every successor is looked up:
 * an edge is the rule instance that fired and the number of the state that it leads to. */

#include "abi_edges.h"

typedef struct {
  uint32_t *degrees;              /* number of edges of each state of the block */
  uint32_t *instances, *targets;  /* rule instance and target of each edge, ordered by its source */
  uint64_t room, made;            /* edges that fit, and edges that were written */
  uint32_t unfinished;            /* the first state whose edges do not fit; UINT32_MAX: all fit */
} Edges;

static void gather_edges(Expansion *expansion) {
  Worker *worker = (Worker *)expansion;
  Edges *edges = worker->purpose;
  hash_successors(expansion);
  for (uint32_t i = 0; i < expansion->count && edges->unfinished == UINT32_MAX; i++) {
    uint32_t owner = expansion->owners[i];
    if (edges->made == edges->room) {
      edges->unfinished = owner;
      break;
    }
    const uint8_t *successor = expansion->successors + (size_t)i * STATE_BYTES;
    edges->instances[edges->made] = expansion->instances[i];
    edges->targets[edges->made++] =
        (uint32_t)worker->search->visited->position(worker->search, successor, expansion->hashes[i]);
    edges->degrees[owner]++;
  }
  expansion->count = 0;
}

/* Writes the edges of states from `begin` on, and the degree of each. Returns the first state whose edges did not fit,
 * or `end`; `made` receives the number of edges. */
EXPORT uint64_t outcrop_gather_edges(Search *search, uint64_t number, uint64_t begin, uint64_t end, uint32_t *degrees,
                                     uint32_t *instances, uint32_t *targets, uint64_t room, uint64_t *made) {
  Worker *worker = uncounted(search, number);
  Edges edges = {degrees, instances, targets, room, 0, UINT32_MAX};
  worker->purpose = &edges;
  worker->expansion.flush = gather_edges;
  while (begin < end && !stopping(search)) {
    uint32_t count = 0;
    for (; count < BLOCK_STATES && begin + count < end && edges.unfinished == UINT32_MAX; count++) {
      worker->expansion.owner = count;
      edges.degrees[count] = 0;
      model_expand(arena_state(&search->arena, begin + count), &worker->expansion);
    }
    gather_edges(&worker->expansion);
    if (edges.unfinished != UINT32_MAX) {
      edges.made -= edges.degrees[edges.unfinished];
      begin += edges.unfinished;
      break;
    }
    begin += count;
    edges.degrees += count;
  }
  worker->expansion.context = worker->counted;
  *made = edges.made;
  return begin;
}
