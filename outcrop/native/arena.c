/* The arena: every state found, packed without gaps in BFS order. It is the queue (a level is a range of it), for the
 * exact search the visited states, and what traces are rebuilt from.
 *
 * Address space is reserved once, so states never move; pages come as they are touched. Where no state is kept in RAM
 * for long (`compact`, `cached`, `serial`, `owcty --compact`) the arena is a file without a name: what lies behind is
 * dropped from memory and stays on disk, and the file is gone however the process ends. */

typedef struct {
  uint8_t *base;
  uint64_t capacity;  /* states that fit the reserved addresses */
  uint64_t used;      /* states claimed so far */
  size_t reserved;    /* bytes of address space */
  int file;           /* -1 when in RAM */
  uint64_t on_disk;   /* bytes of the file that the file system has promised us */
  uint64_t disk_limit; /* bytes */
  uint64_t resident;  /* where the part begins that may be in memory, in bytes; only for files */
  uint64_t window;    /* bytes of a file that are kept in memory behind the places where states are added and read */
} Arena;

enum { HUGE_PAGE = 1 << 21, LEAST_HUGE = 2 * HUGE_PAGE };

/* Disk space is asked for before it is written to, because a write to a mapping of a full disk is fatal: in steps of an
 * eighth of what there is, at the least and at the most so much. */
enum { LEAST_DISK_STEP = 1 << 12, MOST_DISK_STEP = 1 << 25 };

/* What a file-backed arena may keep in memory behind the place where states are added: a share of the memory, at the
 * least and at the most so much. */
enum { LEAST_WINDOW = 1 << 16, MOST_WINDOW = 1 << 22, WINDOW_SHARE = 32 };

static void *map_pages(size_t bytes, int file) {
  int flags = file < 0 ? MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE : MAP_SHARED;
  void *pages = mmap(NULL, bytes, PROT_READ | PROT_WRITE, flags, file, 0);
  if (pages == MAP_FAILED) return NULL;
#ifdef MADV_HUGEPAGE
  /* Not for little: to clear a huge page takes longer than a small search. */
  if (file < 0 && bytes > LEAST_HUGE) madvise(pages, bytes, MADV_HUGEPAGE);
#endif
  return pages;
}

/* Has the system provide pages, without changing what they hold: a page that is read before it is written to is provided
 * twice, and the second time every other core is interrupted to forget the first. */
static void provide_pages(uint8_t *pages, size_t bytes) {
  enum { SMALL_PAGE = 1 << 12 };
  for (size_t at = 0; at < bytes; at += SMALL_PAGE) {
    uint8_t zero = 0;
    __atomic_compare_exchange_n(pages + at, &zero, 0, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
  }
}

/* Reserves addresses for `bytes` of states, or for less where the system refuses so much: then for half of what it grants
 * at the most, because tables and threads need some too. */
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

/* Starts to fetch a state, which may lie across cache lines; of a long one as much as is worth asking for. */
static inline void state_fetch(const uint8_t *state) {
  for (int at = 0; at < STATE_BYTES && at < 4 * LINE_BYTES; at += LINE_BYTES) __builtin_prefetch(state + at);
  if (LINE_BYTES % STATE_BYTES) __builtin_prefetch(state + STATE_BYTES - 1);
}

/* What the system may map of a file at once around where it is touched. */
static inline uint64_t arena_granule(const Arena *arena) {
  return arena->window < MOST_WINDOW ? (uint64_t)LEAST_WINDOW : (uint64_t)HUGE_PAGE;
}

static inline uint64_t arena_bytes(const Arena *arena) {
  /* Of a file, what lies behind where states are added and where they are read, with what both touch. */
  return arena->file < 0 ? arena->used * STATE_BYTES : 3 * arena->window + 2 * arena_granule(arena);
}

/* Makes the file long enough for `used` states. */
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

/* Lets the system take back the memory of a file-backed arena below byte `end`. Nothing is lost: reading there again
 * fetches it from the file. */
static void arena_drop(Arena *arena, uint64_t begin, uint64_t end) {
  const uint64_t granule = arena_granule(arena);
  begin = begin / granule * granule;
  end = end / granule * granule;
  if (begin < end) madvise(arena->base + begin, end - begin, MADV_DONTNEED);
}

/* Lets go of what lies behind a reader that came from state `first` and goes on from `begin` to `end`. Does so now and
 * then, not at every call. */
static void arena_passed(Arena *arena, uint64_t first, uint64_t begin, uint64_t end) {
  if (arena->file < 0 || begin * STATE_BYTES / arena->window == end * STATE_BYTES / arena->window) return;
  arena_drop(arena, first * STATE_BYTES, begin * STATE_BYTES);
}

/* Claims room for `count` states at the end; gives the index of the first, or UINT64_MAX when there is no room on
 * disk or in the reserved addresses. The caller holds the lock. */
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

/* After a claim, without the lock: whoever passes the middle of a huge page has the next one provided. Two workers that
 * need a page in the same moment would both clear one. Not while there are few: one page more is little only to many. */
static void arena_provide_next(const Arena *arena, uint64_t first, uint64_t count) {
  enum { FEW_BYTES = 4 * HUGE_PAGE };
  const uintptr_t half = HUGE_PAGE / 2, begin = (uintptr_t)arena_state(arena, first);
  const uintptr_t next = ((uintptr_t)arena_state(arena, first + count) + half) / HUGE_PAGE * HUGE_PAGE;
  if (arena->file >= 0 || first * STATE_BYTES < FEW_BYTES || next <= begin + half) return;
  if (next < (uintptr_t)arena->base + arena->reserved) provide_pages((uint8_t *)next, 1);
}
