/* The core that a thread runs on. */

/* Moves the calling thread to its own core if there are at least as many workers as cores. The system may move it
 * again. See take_core in outcrop/machine.py, which does the same when threads start working. */
static void take_core(const Worker *worker) {
#ifdef __linux__
  enum { WORD_BITS = 8 * sizeof(unsigned long) };
  const Search *search = worker->search;
  unsigned long allowed[16] = {0}, own[16] = {0};
  long bytes = syscall(SYS_sched_getaffinity, 0, sizeof allowed, allowed);
  uint32_t cores = 0, number = (uint32_t)(worker - search->workers), seen = 0;
  for (long i = 0; i < bytes / (long)sizeof *allowed; i++) cores += (uint32_t)__builtin_popcountl(allowed[i]);
  if (cores < 2 || search->worker_count < cores) return;
  for (uint32_t core = 0; core < 16 * WORD_BITS; core++) {
    unsigned long bit = 1ul << core % WORD_BITS;
    if (allowed[core / WORD_BITS] & bit && seen++ == number % cores) own[core / WORD_BITS] = bit;
  }
  syscall(SYS_sched_setaffinity, 0, sizeof own, own);
  syscall(SYS_sched_setaffinity, 0, sizeof allowed, allowed);
#else
  (void)worker;
#endif
}
