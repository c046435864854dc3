/* The arena: every state found, packed without gaps in BFS order. It is the queue (a level is a range of it) and the
 * log that traces are rebuilt from. In exact searches it is also the visited set.
 *
 * Address space is reserved once, so states never move; pages are allocated when they are touched. If states need
 * not stay in RAM (`compact`, `cached`, `serial`, `owcty --compact`), the arena is an unnamed file: states behind
 * the reader are dropped from memory and stay on disk, and the file disappears however the process ends. */

typedef struct {
  uint8_t *base;
  uint64_t capacity;  /* states that fit in the reserved addresses */
  uint64_t used;      /* states claimed so far */
  size_t reserved;    /* bytes of address space */
  int file;           /* -1 when in RAM */
  uint64_t on_disk;   /* bytes of the file that the file system has allocated */
  uint64_t disk_limit; /* bytes */
  uint64_t resident;  /* offset from which the file may be in memory, in bytes */
  uint64_t window;    /* bytes of a file that stay in memory behind the places where states are added and read */
} Arena;

enum { HUGE_PAGE = 1 << 21, LEAST_HUGE = 2 * HUGE_PAGE };

/* Disk space is allocated before it is written, because a write to a mapping of a full disk is fatal. A step is an
 * eighth of what there is, between these bounds, in bytes. */
enum { LEAST_DISK_STEP = 1 << 12, MOST_DISK_STEP = 1 << 25 };

/* Memory of a file-backed arena behind the place where states are added, in bytes: a fraction of the memory, between
 * these bounds. */
enum { LEAST_WINDOW = 1 << 16, MOST_WINDOW = 1 << 22, WINDOW_SHARE = 32 };

static void *map_pages(size_t bytes, int file) {
  int flags = file < 0 ? MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE : MAP_SHARED;
  void *pages = mmap(NULL, bytes, PROT_READ | PROT_WRITE, flags, file, 0);
  if (pages == MAP_FAILED) return NULL;
#ifdef MADV_HUGEPAGE
  /* Only for large maps: clearing a huge page takes longer than a small search. */
  if (file < 0 && bytes > LEAST_HUGE) madvise(pages, bytes, MADV_HUGEPAGE);
#endif
  return pages;
}

/* Makes the system allocate pages, without changing their content. A page that is read before it is written is
 * allocated twice, and the second time every other core is interrupted to drop the first. */
static void provide_pages(uint8_t *pages, size_t bytes) {
  enum { SMALL_PAGE = 1 << 12 };
  for (size_t at = 0; at < bytes; at += SMALL_PAGE) {
    uint8_t zero = 0;
    __atomic_compare_exchange_n(pages + at, &zero, 0, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
  }
}

/* Reserves addresses for `bytes` of states. If the system refuses, reserves at most half of what it grants, because
 * tables and threads need addresses too. */
static int arena_open(Arena *arena, uint64_t bytes, int file, uint64_t disk_limit, uint64_t memory) {
  memset(arena, 0, sizeof *arena);
  arena->file = file;
  arena->disk_limit = disk_limit;
  uint64_t share = memory / WINDOW_SHARE / LEAST_WINDOW * LEAST_WINDOW;
  arena->window = share < LEAST_WINDOW ? LEAST_WINDOW : share > MOST_WINDOW ? MOST_WINDOW : share;
  const size_t least = (size_t)2 * HUGE_PAGE, most = bytes < least ? least : bytes;
  size_t granted = most;
  while (granted >= least && !(arena->base = map_pages(granted, file))) granted /= 2;
  arena->reserved = granted;
  if (arena->base && granted < most && granted / 2 >= least) {
    arena->reserved = granted / 2 / HUGE_PAGE * HUGE_PAGE;
    munmap(arena->base + arena->reserved, granted - arena->reserved);
  }
  if (!arena->base) return 0;
  arena->capacity = (arena->reserved - SPARE_BYTES) / STATE_BYTES;
  return 1;
}

static void arena_close(Arena *arena) {
  if (arena->base) munmap(arena->base, arena->reserved);
  arena->base = NULL;
}

static inline uint8_t *arena_state(const Arena *arena, uint64_t index) { return arena->base + index * STATE_BYTES; }

/* Prefetches a state, which may span cache lines; at most the first four lines of a long one. */
static inline void state_fetch(const uint8_t *state) {
  for (int at = 0; at < STATE_BYTES && at < 4 * LINE_BYTES; at += LINE_BYTES) __builtin_prefetch(state + at);
  if (LINE_BYTES % STATE_BYTES) __builtin_prefetch(state + STATE_BYTES - 1);
}

/* Returns the bytes of a file that the system may map at once around an access. */
static inline uint64_t arena_granule(const Arena *arena) {
  return arena->window < MOST_WINDOW ? (uint64_t)LEAST_WINDOW : (uint64_t)HUGE_PAGE;
}

static inline uint64_t arena_bytes(const Arena *arena) {
  /* A file takes the windows behind the places where states are added and read, and what an access maps around them. */
  return arena->file < 0 ? arena->used * STATE_BYTES : 3 * arena->window + 2 * arena_granule(arena);
}

/* Extends the file to hold `used` states. Returns 0 if the disk is full. */
static int arena_extend_file(Arena *arena) {
  uint64_t needed = arena->used * STATE_BYTES + SPARE_BYTES;
  if (needed <= arena->on_disk) return 1;
  uint64_t step = needed / 8 > MOST_DISK_STEP ? MOST_DISK_STEP : needed / 8;
  uint64_t length = (needed + step + LEAST_DISK_STEP - 1) / LEAST_DISK_STEP * LEAST_DISK_STEP;
  if (length > arena->disk_limit) length = arena->disk_limit;
  if (length < needed) return 0;
  int error;
  do error = posix_fallocate(arena->file, (off_t)arena->on_disk, (off_t)(length - arena->on_disk));
  while (error == EINTR);
  if (error) return 0;
  arena->on_disk = length;
  return 1;
}

/* Lets the system free the memory of a file-backed arena below byte `end`. Nothing is lost: a later access reads it
 * from the file. */
static void arena_drop(Arena *arena, uint64_t begin, uint64_t end) {
  const uint64_t granule = arena_granule(arena);
  begin = begin / granule * granule;
  end = end / granule * granule;
  if (begin < end) madvise(arena->base + begin, end - begin, MADV_DONTNEED);
}

/* Frees memory behind a reader that started at state `first` and continues from `begin` to `end`. Does so once a
 * window, not at every call. */
static void arena_passed(Arena *arena, uint64_t first, uint64_t begin, uint64_t end) {
  if (arena->file < 0 || begin * STATE_BYTES / arena->window == end * STATE_BYTES / arena->window) return;
  arena_drop(arena, first * STATE_BYTES, begin * STATE_BYTES);
}

/* Claims `count` states at the end. Returns the index of the first, or UINT64_MAX if the disk or the reserved addresses
 * are full. The caller holds the lock. */
static uint64_t arena_claim(Arena *arena, uint64_t count) {
  if (arena->used + count > arena->capacity) return UINT64_MAX;
  arena->used += count;
  if (arena->file >= 0) {
    if (!arena_extend_file(arena)) {
      arena->used -= count;
      return UINT64_MAX;
    }
    uint64_t end = arena->used * STATE_BYTES;
    if (end - arena->resident > 2 * arena->window) {
      arena_drop(arena, arena->resident, end - arena->window);
      arena->resident = (end - arena->window) / arena_granule(arena) * arena_granule(arena);
    }
  }
  return arena->used - count;
}

/* After a claim, without the lock: a worker that passes the middle of a huge page has the next one allocated. Otherwise
 * two workers that need a page at the same moment would both clear one. Small arenas do not, because one more huge page
 * would be too much for them. */
static void arena_provide_next(const Arena *arena, uint64_t first, uint64_t count) {
  enum { FEW_BYTES = 4 * HUGE_PAGE };
  const uintptr_t half = HUGE_PAGE / 2, begin = (uintptr_t)arena_state(arena, first);
  const uintptr_t next = ((uintptr_t)arena_state(arena, first + count) + half) / HUGE_PAGE * HUGE_PAGE;
  if (arena->file >= 0 || first * STATE_BYTES < FEW_BYTES || next <= begin + half) return;
  if (next < (uintptr_t)arena->base + arena->reserved) provide_pages((uint8_t *)next, 1);
}
