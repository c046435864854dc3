/* Several threads insert overlapping sets of states into one visited set that starts small and grows many times. Then
 * they expand the levels of the model together. Runs under the thread sanitizer, and counts the new states. Arguments:
 * exact (0 or 1), wide (0 or 1), and whether it is a cache (0 or 1). */
#define N 4
#include "toy_model.c"

#include "kernels.c"

#include <stdio.h>

/* Number of states of four processes, as the interpreter counts them. */
enum { REACHABLE = 22281 };

enum { THREADS = 4, STATES = 20000, SHIFT = 5000 };

static Search *visited;
static uint64_t new_states[THREADS];

static void *insert_states(void *argument) {
  uint64_t number = (uint64_t)(uintptr_t)argument;
  uint8_t *states = calloc(STATES, STATE_BYTES), *is_new = calloc(STATES, 1);
  for (uint64_t i = 0; i < STATES; i++) {
    uint64_t value = (i + number * SHIFT) * 0x9E3779B97F4A7C15ull;
    memcpy(states + i * STATE_BYTES, &value, STATE_BYTES < 8 ? STATE_BYTES : 8);
  }
  outcrop_insert_block(visited, number, states, STATES, is_new);
  for (uint64_t i = 0; i < STATES; i++) new_states[number] += is_new[i];
  free(states);
  free(is_new);
  return NULL;
}

static uint64_t sizes[1000], generated[1000];

static void *expand(void *argument) {
  outcrop_expand_levels(visited, (uint64_t)(uintptr_t)argument, 1000, UINT64_MAX, sizes, generated);
  return NULL;
}

static void together(void *(*work)(void *)) {
  pthread_t threads[THREADS];
  for (uint64_t i = 0; i < THREADS; i++) pthread_create(&threads[i], NULL, work, (void *)(uintptr_t)i);
  for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
}

/* A cache starts very small, and may become large enough to evict nothing. */
static void open_visited(Settings *settings, int cached) {
  const uint64_t exact = settings->exact;
  if (cached) settings->exact = 1;
  visited = outcrop_open(settings);
  if (cached) outcrop_cache_open(visited, 1000, 4 << 20, exact ? 0 : settings->bits, 16, settings->wide, 1, 1);
  settings->exact = exact;
}

static void close_visited(int cached) {
  if (cached) outcrop_cache_close(visited);
  outcrop_close(visited);
}

int main(int count, char **arguments) {
  if (count < 4) return 2;
  int exact = atoi(arguments[1]), wide = atoi(arguments[2]), cached = atoi(arguments[3]);
  Settings settings = {.workers = THREADS, .exact = (uint64_t)exact, .bits = wide ? 64 : 40, .seed = 1, .budget = 64 << 20,
                       .most_states = UINT64_MAX, .most_found = 1, .file = -1, .first_lines = 16,
                       .wide = (uint64_t)wide};
  open_visited(&settings, cached);
  together(insert_states);
  uint64_t total = 0;
  for (int i = 0; i < THREADS; i++) total += new_states[i];
  uint64_t kept = outcrop_finish_level(visited);
  close_visited(cached);
  open_visited(&settings, cached);
  outcrop_start(visited);
  uint64_t reached = outcrop_finish_level(visited);
  together(expand);
  for (int level = 0; level < 1000; level++) reached += sizes[level];
  close_visited(cached);
  printf("%lu new, %lu kept, %lu reached\n", total, kept, reached);
  return total != STATES + (THREADS - 1) * SHIFT || kept != total || reached != REACHABLE;
}
