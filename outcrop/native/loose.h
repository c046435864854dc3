/* Reads that may race with writes of another thread, whose result is then ignored: bytes after a state or after the
 * head of an entry, and guesses for prefetching. The thread sanitizer is told to ignore them. */
#ifndef OUTCROP_LOOSE_H
#define OUTCROP_LOOSE_H

#ifdef __SANITIZE_THREAD__
void AnnotateIgnoreReadsBegin(const char *file, int line);
void AnnotateIgnoreReadsEnd(const char *file, int line);
#define LOOSE_READ(...)                           \
  do {                                            \
    AnnotateIgnoreReadsBegin(__FILE__, __LINE__); \
    __VA_ARGS__;                                  \
    AnnotateIgnoreReadsEnd(__FILE__, __LINE__);   \
  } while (0)
#else
#define LOOSE_READ(...) __VA_ARGS__
#endif

#endif
