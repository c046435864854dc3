/* Blocks of files, in the format of outcrop/store/blockfile.py: a header, then data. C reads them where whole files are
 * read over and over. */

typedef struct {
  uint8_t magic[4];
  uint32_t checksum;
  uint64_t number, length;
} BlockHeader;

enum { CHECKSUM_WORDS = 509 };

typedef uint64_t Words __attribute__((vector_size(32)));

/* Adds words of data, at any alignment, to sums. */
static void add_words(uint64_t *sums, const uint8_t *data, uint64_t count) {
  const uint64_t at_once = sizeof(Words) / sizeof(uint64_t);
  uint64_t i = 0;
  for (; i + at_once <= count; i += at_once) {
    Words sum, words;
    memcpy(&sum, sums + i, sizeof sum);
    memcpy(&words, data + 8 * i, sizeof words);
    sum += words;
    memcpy(sums + i, &sum, sizeof sum);
  }
  for (; i < count; i++) {
    uint64_t word;
    memcpy(&word, data + 8 * i, sizeof word);
    sums[i] += word;
  }
}

static uint32_t block_checksum(const uint8_t *data, uint64_t length) {
  const uint8_t *end = data + length;
  uint64_t sums[CHECKSUM_WORDS] = {0}, result = 0, last = 0;
  for (; end - data >= (ptrdiff_t)sizeof sums; data += sizeof sums) add_words(sums, data, CHECKSUM_WORDS);
  const uint64_t words = (uint64_t)(end - data) / 8;
  add_words(sums, data, words);
  memcpy(&last, data + 8 * words, length % 8);
  sums[words] += last;
  for (uint64_t i = 0; i < CHECKSUM_WORDS; i++) result += sums[i] * ((i + 1) * 0x9E3779B97F4A7C15ull | 1);
  return (uint32_t)(result >> 32);
}

/* Reads the block at offset `start`. Returns its data, which follow the header in `room`, or NULL if the block is not
 * what was written. */
static const uint8_t *block_read(int file, uint64_t start, uint64_t number, uint64_t length, uint8_t *room) {
  const uint64_t size = sizeof(BlockHeader) + length;
  for (uint64_t done = 0; done < size;) {
    ssize_t count = pread(file, room + done, size - done, (off_t)(start + done));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return NULL;
    done += (uint64_t)count;
  }
  BlockHeader header;
  memcpy(&header, room, sizeof header);
  const uint8_t *data = room + sizeof header;
  int is_good = !memcmp(header.magic, "OCB2", 4) && header.number == number && header.length == length &&
                header.checksum == block_checksum(data, length);
  return is_good ? data : NULL;
}
