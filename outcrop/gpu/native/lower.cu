/* Signatures in host memory. Included by kernels.cu.
 *
 * When the table is full, nothing more is added to it, and a lower table in host memory follows. Access to host
 * memory is slow, above all if it is scattered. The lower table is therefore used only for signatures that the upper
 * one lacks, in the order of buckets. Signatures found there recently are kept in device memory, in a slot that each
 * signature determines (`recent`), and are not looked up again. */

/* Returns whether a signature is in a table to which nothing is added any more. */
static inline bool has_signature(const uint64_t *table, uint64_t buckets, uint64_t bucket, uint64_t *slots,
                                 uint64_t signature) {
  for (uint32_t tries = 0; tries < MOST_BUCKETS; tries++) {
    UNROLL for (int i = 0; i < BUCKET; i++) {
      if (slots[i] == signature) return true;
      if (slots[i] == 0) return false;
    }
    bucket = next_bucket(bucket, tries, signature, buckets);
    load_four(&table[BUCKET * bucket], slots);
  }
  return false;
}

static inline uint64_t *recent_slot(uint64_t *recent, uint64_t count, uint64_t signature) {
  /* Not by the upper bits, which select the bucket. */
  return &recent[multiply_high(signature * UINT64_C(0x9E3779B97F4A7C15), count)];
}

/* Lists successors that the table does not have. Each gets a key (the upper half of its signature, then its number
 * in the list) and its place in the buffer. */
KERNEL LAUNCH_BOUNDS(INSERT_THREADS, INSERT_BLOCKS)
find_missing(const uint64_t *successors, uint32_t stride, const uint32_t *counts, uint32_t count, const uint64_t *table,
             uint64_t buckets, uint64_t *recent, uint64_t recent_count, uint64_t *keys, uint64_t *places,
             Control *control) {
  if (is_halted(control)) return;
  for (uint32_t begin = BLOCK * THREADS; begin < count; begin += BLOCKS * THREADS) {
    const uint32_t x = begin + THREAD, first = ROW * GROUP;
    const uint32_t most = x < count ? counts[x] : 0;
    uint64_t signatures[GROUP], at[GROUP], slots[GROUP][BUCKET];
    uint32_t is_missing = 0, wanted = 0;
    UNROLL for (int i = 0; i < GROUP; i++) {
      if (first + i >= most) continue;
      uint64_t state[WORDS + 1];
      load_successor(state, successors, stride, first + i, x);
      signatures[i] = signature_of(hash_words(state));
      at[i] = multiply_high(signatures[i], buckets);
      load_four(&table[BUCKET * at[i]], slots[i]);
    }
    UNROLL for (int i = 0; i < GROUP; i++) {
      if (first + i >= most) continue;
      const uint32_t is_one = load_shared_word(recent_slot(recent, recent_count, signatures[i])) != signatures[i] &&
                              !has_signature(table, buckets, at[i], slots[i], signatures[i]);
      is_missing |= is_one << i;
      wanted += is_one;
    }
    uint64_t number = claim(&control->missing, wanted);
    UNROLL for (int i = 0; i < GROUP; i++) {
      if (!(is_missing >> i & 1)) continue;
      keys[number] = signatures[i] >> 32 << 32 | number;
      places[number++] = (uint64_t)(first + i) * stride + x;
    }
  }
}

/* Inserts into the lower table the successors that the upper one lacks. */
KERNEL LAUNCH_BOUNDS(INSERT_THREADS, INSERT_BLOCKS)
insert_lower(const uint64_t *keys, const uint64_t *places, uint32_t count, const uint64_t *successors, uint32_t stride,
             uint64_t *table, uint64_t buckets, uint64_t *recent, uint64_t recent_count, uint64_t *const *blocks,
             Control *control) {
  if (is_halted(control)) return;
  if (is_full(control)) return;
  for (uint32_t begin = BLOCK * THREADS; begin < count; begin += BLOCKS * THREADS) {
    const uint32_t x = begin + THREAD;
    uint64_t state[WORDS + 1], slots[BUCKET];
    uint32_t is_new = 0;
    if (x < count) {
      const uint64_t place = places[(uint32_t)keys[x]], row = place / stride;
      load_successor(state, successors, stride, row, place - row * stride);
      const uint64_t signature = signature_of(hash_words(state)), bucket = multiply_high(signature, buckets);
      load_four(&table[BUCKET * bucket], slots);
      const uint32_t result = add_signature(table, buckets, bucket, slots, signature, control);
      is_new = result == SIGNATURE_NEW;
      if (result != SIGNATURE_WITHOUT_ROOM) store_shared_word(recent_slot(recent, recent_count, signature), signature);
    }
    const uint64_t position = claim(&control->used, is_new);
    if (!is_new) continue;
    uint64_t *to = state_at(blocks, position);
    UNROLL for (int word = 0; word < WORDS; word++) to[word] = state[word];
  }
}

KERNEL clear_words(uint64_t *words, uint64_t count) {
  for (uint64_t i = BLOCK * (uint64_t)THREADS + THREAD; i < count; i += (uint64_t)BLOCKS * THREADS) words[i] = 0;
}
