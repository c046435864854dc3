/* Reads that may meet what another thread is writing, by those who then ignore what they saw: of bytes behind a state or
 * the head of an entry, and of what is worth fetching. The thread sanitizer cannot know that, and is told. */
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
