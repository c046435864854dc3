/* Buffers for file input and output, and calls that read and write completely. */

typedef struct {
  void *bytes;
  size_t room;
} Buffer;

/* Output is written in pieces aligned to their size: the system then holds them in large pages, and maps them at a
 * quarter of the cost. */
enum { PIECE_BYTES = 1 << 18 };

typedef struct {
  uint8_t *bytes;
  int64_t file;
  uint64_t at, used;
} Output;

/* Whether a failed read or write of a run lacked memory or disk space (atomic). Such a run is not damaged. */
static int run_starved, run_full;

static int has_no_memory(void) {
  __atomic_store_n(&run_starved, 1, __ATOMIC_RELAXED);
  return 0;
}

static void *buffer_reserve(Buffer *buffer, size_t bytes) {
  if (bytes > buffer->room) {
    free(buffer->bytes);
    buffer->room = bytes + bytes / 4;
    buffer->bytes = malloc(buffer->room);
    if (!buffer->bytes) buffer->room = (size_t)has_no_memory();
  }
  return buffer->bytes;
}

/* Returns space after the first `used` bytes of a buffer, which are kept; NULL if there is no memory. */
static uint8_t *buffer_extend(Buffer *buffer, size_t used, size_t bytes) {
  if (used + bytes > buffer->room) {
    size_t room = used + bytes + (used + bytes) / 2;
    uint8_t *larger = realloc(buffer->bytes, room);
    if (!larger) {
      has_no_memory();
      return NULL;
    }
    buffer->bytes = larger;
    buffer->room = room;
  }
  return (uint8_t *)buffer->bytes + used;
}

static int write_all(int64_t file, const void *bytes, size_t count, uint64_t at) {
  for (size_t done = 0; done < count;) {
    ssize_t part = pwrite((int)file, (const uint8_t *)bytes + done, count - done, (off_t)(at + done));
    if (part < 0 && errno == EINTR) continue;
    if (part < 0 && (errno == ENOSPC || errno == EDQUOT || errno == EFBIG))
      __atomic_store_n(&run_full, 1, __ATOMIC_RELAXED);
    if (part <= 0) return 0;
    done += (size_t)part;
  }
  return 1;
}

static int read_all(int64_t file, void *bytes, size_t count, uint64_t at) {
  for (size_t done = 0; done < count;) {
    ssize_t part = pread((int)file, (uint8_t *)bytes + done, count - done, (off_t)(at + done));
    if (part < 0 && errno == EINTR) continue;
    if (part <= 0) return 0;
    done += (size_t)part;
  }
  return 1;
}

static int output_flush(Output *output) {
  uint64_t used = output->used, at = output->at;
  output->at += used;
  output->used = 0;
  return !used || write_all(output->file, output->bytes, used, at);
}

/* Appends to what was written last, or starts at another offset. */
static int output_write(Output *output, int64_t file, const void *bytes, uint64_t count, uint64_t at) {
  if (!output->bytes && !(output->bytes = malloc(PIECE_BYTES))) return has_no_memory();
  if (output->file != file || output->at + output->used != at) {
    if (!output_flush(output)) return 0;
    output->file = file;
    output->at = at;
  }
  for (uint64_t done = 0; done < count;) {
    uint64_t room = PIECE_BYTES - output->at % PIECE_BYTES - output->used;
    uint64_t part = count - done < room ? count - done : room;
    memcpy(output->bytes + output->used, (const uint8_t *)bytes + done, part);
    output->used += part;
    done += part;
    if (part == room && !output_flush(output)) return 0;
  }
  return 1;
}
