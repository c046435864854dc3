/* A library to be preloaded, which makes calls fail: the N-th call of one kind on a file under a directory, or the N-th
 * allocation by a library under a directory.
 *
 * FAULT_CALL: open, read, write, truncate, sync, rename, unlink, map or memory. FAULT_AT: the number of the first call
 * that fails, counted from 1; all later ones fail too, unless FAULT_ONCE is set. FAULT_KIND: an error number, or one of
 * the names below. FAULT_UNDER: the directory. FAULT_MARK: a file that is created when a call has failed.
 *
 * FAULT_CLOCK: number of seconds by which the wall clock jumps to and fro, each time that it is read. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

enum { NONE = 0, SHORT = -1, FLIP = -2, TORN = -3 };

static int is_asked_for(const char *call) {
  const char *wanted = getenv("FAULT_CALL");
  return wanted && getenv("FAULT_UNDER") && getenv("FAULT_AT") && getenv("FAULT_KIND") && !strcmp(wanted, call);
}

/* Returns whether this call, on or from this path, is one that fails. */
static int is_due(const char *path) {
  static long count;
  const char *under = getenv("FAULT_UNDER");
  if (strncmp(path, under, strlen(under))) return 0;
  long number = __atomic_add_fetch(&count, 1, __ATOMIC_SEQ_CST), at = atol(getenv("FAULT_AT"));
  int due = number == at || (number > at && !getenv("FAULT_ONCE"));
  const char *mark = getenv("FAULT_MARK");
  if (due && mark) {
    long file = syscall(SYS_openat, AT_FDCWD, mark, O_CREAT | O_WRONLY, 0600);
    if (file >= 0) syscall(SYS_close, file);
  }
  return due;
}

/* Returns whether a call on a name fails, with errno set. */
static int fails(const char *path, const char *call) {
  if (!is_asked_for(call) || !path || !is_due(path)) return 0;
  errno = atoi(getenv("FAULT_KIND"));
  return 1;
}

static int kind_now(int file, const char *call) {
  char link[64], path[4096];
  if (!is_asked_for(call)) return NONE;
  snprintf(link, sizeof link, "/proc/self/fd/%d", file);
  ssize_t length = readlink(link, path, sizeof path - 1);
  if (length < 0) return NONE;
  path[length] = 0;
  if (!is_due(path)) return NONE;
  const char *kind = getenv("FAULT_KIND");
  if (!strcmp(kind, "short")) return SHORT;
  if (!strcmp(kind, "flip")) return FLIP;
  if (!strcmp(kind, "torn")) return TORN;
  return atoi(kind);
}

typedef ssize_t Vector(int, const struct iovec *, int, off_t);

/* Does a part of the call, or all of it with one bit changed, or does half of it and reports success. */
static ssize_t faulty(int kind, Vector *real, int file, const struct iovec *pieces, int count, off_t at, int is_write) {
  size_t total = 0, done = 0;
  for (int i = 0; i < count; i++) total += pieces[i].iov_len;
  if (kind > 0) {
    errno = kind;
    return -1;
  }
  char *copy = malloc(total + 1);
  if (is_write)
    for (int i = 0; i < count; done += pieces[i++].iov_len) memcpy(copy + done, pieces[i].iov_base, pieces[i].iov_len);
  size_t part = kind == FLIP ? total : total / 2 + (kind == SHORT && total == 1);
  if (is_write && kind == FLIP && total) copy[total / 2] ^= 16;
  struct iovec one = {copy, part};
  ssize_t result = real(file, &one, 1, at);
  if (!is_write && result > 0) {
    if (kind == FLIP) copy[result / 2] ^= 16;
    size_t left = (size_t)result;
    done = 0;
    for (int i = 0; i < count && left; i++) {
      size_t piece = pieces[i].iov_len < left ? pieces[i].iov_len : left;
      memcpy(pieces[i].iov_base, copy + done, piece);
      done += piece;
      left -= piece;
    }
  }
  free(copy);
  return kind == TORN && result >= 0 ? (ssize_t)total : result;
}

#define FAULTY_VECTOR(name, call, is_write)                                                      \
  ssize_t name(int file, const struct iovec *pieces, int count, off_t at) {                      \
    Vector *real = (Vector *)dlsym(RTLD_NEXT, #name);                                            \
    int kind = kind_now(file, call);                                                             \
    return kind ? faulty(kind, real, file, pieces, count, at, is_write) : real(file, pieces, count, at); \
  }
FAULTY_VECTOR(pwritev, "write", 1)
FAULTY_VECTOR(pwritev64, "write", 1)
FAULTY_VECTOR(preadv, "read", 0)
FAULTY_VECTOR(preadv64, "read", 0)

ssize_t pwritev2(int file, const struct iovec *pieces, int count, off_t at, int flags) {
  (void)flags;
  return pwritev(file, pieces, count, at);
}
ssize_t pwritev64v2(int file, const struct iovec *pieces, int count, off_t at, int flags) {
  (void)flags;
  return pwritev(file, pieces, count, at);
}
ssize_t preadv2(int file, const struct iovec *pieces, int count, off_t at, int flags) {
  (void)flags;
  return preadv(file, pieces, count, at);
}
ssize_t preadv64v2(int file, const struct iovec *pieces, int count, off_t at, int flags) {
  (void)flags;
  return preadv(file, pieces, count, at);
}
ssize_t pwrite(int file, const void *bytes, size_t count, off_t at) {
  struct iovec one = {(void *)bytes, count};
  return pwritev(file, &one, 1, at);
}
ssize_t pwrite64(int file, const void *bytes, size_t count, off_t at) { return pwrite(file, bytes, count, at); }
ssize_t pread(int file, void *bytes, size_t count, off_t at) {
  struct iovec one = {bytes, count};
  return preadv(file, &one, 1, at);
}
ssize_t pread64(int file, void *bytes, size_t count, off_t at) { return pread(file, bytes, count, at); }

ssize_t write(int file, const void *bytes, size_t count) {
  ssize_t (*real)(int, const void *, size_t) = (ssize_t(*)(int, const void *, size_t))dlsym(RTLD_NEXT, "write");
  int kind = kind_now(file, "write");
  if (kind > 0) errno = kind;
  return kind > 0 ? -1 : real(file, bytes, count);
}
ssize_t read(int file, void *bytes, size_t count) {
  ssize_t (*real)(int, void *, size_t) = (ssize_t(*)(int, void *, size_t))dlsym(RTLD_NEXT, "read");
  int kind = kind_now(file, "read");
  if (kind > 0) errno = kind;
  return kind > 0 ? -1 : real(file, bytes, count);
}

#define FAULTY_NUMBER(name, type, call)                                       \
  int name(int file, type value) {                                            \
    int (*real)(int, type) = (int (*)(int, type))dlsym(RTLD_NEXT, #name);     \
    int kind = kind_now(file, call);                                          \
    if (kind > 0) errno = kind;                                               \
    return kind > 0 ? -1 : real(file, value);                                 \
  }
FAULTY_NUMBER(ftruncate, off_t, "truncate")
FAULTY_NUMBER(ftruncate64, off_t, "truncate")

/* --- Names --------------------------------------------------------------------------------------------------- */

static int open_really(int directory, const char *path, int flags, mode_t mode) {
  return fails(path, "open") ? -1 : (int)syscall(SYS_openat, directory, path, flags, mode);
}

/* The mode is passed only if the flags require it. */
#define FAULTY_OPEN(name, directory, ...)                                     \
  int name(__VA_ARGS__ const char *path, int flags, ...) {                    \
    va_list more;                                                             \
    va_start(more, flags);                                                    \
    mode_t mode = flags & O_CREAT || (flags & O_TMPFILE) == O_TMPFILE ? va_arg(more, mode_t) : 0; \
    va_end(more);                                                             \
    return open_really(directory, path, flags, mode);                         \
  }
#define COMMA ,
FAULTY_OPEN(open, AT_FDCWD)
FAULTY_OPEN(open64, AT_FDCWD)
FAULTY_OPEN(openat, directory, int directory COMMA)
FAULTY_OPEN(openat64, directory, int directory COMMA)

int rename(const char *from, const char *to) {
  return fails(to, "rename") ? -1 : (int)syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0);
}
int unlink(const char *path) {
  return fails(path, "unlink") ? -1 : (int)syscall(SYS_unlinkat, AT_FDCWD, path, 0);
}

/* --- Syncing ------------------------------------------------------------------------------------------------- */

int fsync(int file) {
  int (*real)(int) = (int (*)(int))dlsym(RTLD_NEXT, "fsync");
  int kind = kind_now(file, "sync");
  if (kind > 0) errno = kind;
  if (kind <= 0 && getenv("FAULT_MARK")) return 0; /* thousands of trials need not reach the disk */
  return kind > 0 ? -1 : real(file);
}
int posix_fallocate(int file, off_t at, off_t length) {
  int (*real)(int, off_t, off_t) = (int (*)(int, off_t, off_t))dlsym(RTLD_NEXT, "posix_fallocate");
  int kind = kind_now(file, "write");
  return kind > 0 ? kind : real(file, at, length);
}
int posix_fallocate64(int file, off_t at, off_t length) { return posix_fallocate(file, at, length); }

/* --- Memory -------------------------------------------------------------------------------------------------- */

void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t), *__libc_memalign(size_t, size_t);

static int memory_ends(const void *caller) {
  Dl_info library;
  if (!is_asked_for("memory") || !dladdr(caller, &library) || !library.dli_fname || !is_due(library.dli_fname)) return 0;
  errno = ENOMEM;
  return 1;
}

void *malloc(size_t count) {
  return memory_ends(__builtin_return_address(0)) ? NULL : __libc_malloc(count);
}
void *calloc(size_t count, size_t size) {
  return memory_ends(__builtin_return_address(0)) ? NULL : __libc_calloc(count, size);
}
void *realloc(void *old, size_t count) {
  return memory_ends(__builtin_return_address(0)) ? NULL : __libc_realloc(old, count);
}
void *aligned_alloc(size_t alignment, size_t count) {
  return memory_ends(__builtin_return_address(0)) ? NULL : __libc_memalign(alignment, count);
}
static void *map(const void *caller, void *at, size_t count, int protection, int flags, int file, off_t from) {
  static void *(*real)(void *, size_t, int, int, int, off_t);
  if (!real) real = (void *(*)(void *, size_t, int, int, int, off_t))dlsym(RTLD_NEXT, "mmap");
  if (memory_ends(caller)) return MAP_FAILED;
  int kind = file < 0 ? NONE : kind_now(file, "map");
  if (kind > 0) errno = kind;
  return kind > 0 ? MAP_FAILED : real(at, count, protection, flags, file, from);
}
void *mmap(void *at, size_t count, int protection, int flags, int file, off_t from) {
  return map(__builtin_return_address(0), at, count, protection, flags, file, from);
}
void *mmap64(void *at, size_t count, int protection, int flags, int file, off_t from) {
  return map(__builtin_return_address(0), at, count, protection, flags, file, from);
}

/* --- The clock ----------------------------------------------------------------------------------------------- */

static time_t jump(void) {
  static long looks;
  const char *seconds = getenv("FAULT_CLOCK");
  if (!seconds) return 0;
  return (time_t)(__atomic_add_fetch(&looks, 1, __ATOMIC_RELAXED) % 2 ? atol(seconds) : -atol(seconds));
}

int clock_gettime(clockid_t clock, struct timespec *now) {
  int (*real)(clockid_t, struct timespec *) = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
  int result = real(clock, now);
  if (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE) now->tv_sec += jump();
  return result;
}
int gettimeofday(struct timeval *now, void *zone) {
  struct timespec precise;
  (void)zone;
  clock_gettime(CLOCK_REALTIME, &precise);
  *now = (struct timeval){precise.tv_sec, precise.tv_nsec / 1000};
  return 0;
}
time_t time(time_t *now) {
  struct timespec precise;
  clock_gettime(CLOCK_REALTIME, &precise);
  if (now) *now = precise.tv_sec;
  return precise.tv_sec;
}
