/* Bindings of the kernels that expand states again: to find paths, to check liveness and to measure distances. */

/* Prepares a worker whose expansions are not counted. */
static Worker *uncounted(Search *search, uint64_t number) {
  Worker *worker = &search->workers[number];
  worker->expansion.context = worker->scratch;
  worker->expansion.count = 0;
#if HAS_PUT
  worker->scratch->put_length = 0;
#endif
  return worker;
}

EXPORT int outcrop_find_predecessors(Search *search, uint64_t number, uint64_t begin, uint64_t end,
                                     const uint8_t *targets, uint64_t count, uint8_t *least, uint8_t *is_found) {
  Worker *worker = uncounted(search, number);
  int complete = find_predecessors(worker, arena_state(&search->arena, begin), end - begin, begin, targets,
                                   (uint32_t)count, least, is_found);
  worker->expansion.context = worker->counted;
  return complete;
}

/* Finds predecessors among states that do not lie in the arena. Spare bytes follow them. */
EXPORT int outcrop_find_predecessors_among(Search *search, uint64_t number, const uint8_t *states,
                                           uint64_t state_count, const uint8_t *targets, uint64_t count,
                                           uint8_t *least, uint8_t *is_found) {
  Worker *worker = uncounted(search, number);
  int complete =
      find_predecessors(worker, states, state_count, UINT64_MAX, targets, (uint32_t)count, least, is_found);
  worker->expansion.context = worker->counted;
  return complete;
}

EXPORT int outcrop_mark_leading(Search *search, uint64_t number, uint64_t begin, uint64_t end, const uint8_t *targets,
                                uint64_t count, uint8_t *marks) {
  Worker *worker = uncounted(search, number);
  int complete = mark_leading(worker, begin, end, targets, (uint32_t)count, marks);
  worker->expansion.context = worker->counted;
  return complete;
}

EXPORT void outcrop_mark_satisfied(Search *search, uint64_t number, uint64_t begin, uint64_t end, uint64_t first,
                                   uint8_t *marks) {
  Worker *worker = uncounted(search, number);
  mark_satisfied(worker, begin, end, (uint32_t)first, marks);
  worker->expansion.context = worker->counted;
}

EXPORT uint64_t outcrop_mark_predecessors(Search *search, uint64_t number, uint64_t begin, uint64_t end,
                                          uint64_t wanted, uint8_t *marks) {
  Worker *worker = uncounted(search, number);
  uint64_t changes = mark_predecessors(worker, begin, end, (uint8_t)wanted, marks);
  worker->expansion.context = worker->counted;
  return changes;
}

EXPORT int outcrop_least_unmarked(const Search *search, uint64_t begin, uint64_t end, uint64_t bit,
                                  const uint8_t *marks, uint8_t *least) {
  return least_unmarked(search, begin, end, (uint8_t)bit, marks, least);
}

#if HAS_EVERY_STRATEGY
EXPORT int outcrop_measure_distances(Search *search, uint64_t number, uint64_t begin, uint64_t end,
                                     const uint64_t *ends, uint64_t levels, uint64_t with_loops, Distance *distances,
                                     Measured *measured) {
  Worker *worker = uncounted(search, number);
  int complete = measure_distances(worker, begin, end, ends, levels, (int)with_loops, distances, measured);
  worker->expansion.context = worker->counted;
  return complete;
}
#endif
