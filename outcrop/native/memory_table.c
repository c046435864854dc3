/* Table M of the disk searches (U. Stern and D. L. Dill 1998; G. Della Penna et al. 2004, section 5): the candidates
 * for the next level, as states or as signatures, until the disk has been read and the old ones are removed.
 *
 * Open addressing over groups of sixteen slots. Each slot has a tag: empty, removed, or a few bits of the hash.
 * Nothing is inserted after a removal, until the table is cleared. Nearly all keys that come from the disk are not
 * in the table. A filter, with one bit for the hash of each key in the table, rejects most of them before the
 * lookup, without a branch to mispredict. */

typedef struct MemoryTable {
  uint8_t *tags;
  uint8_t *filter;
  uint8_t *keys;
  size_t reserved;      /* bytes of address space: the filter, the tags, then the keys */
  uint64_t filter_bytes; /* a power of two */
  uint64_t group_count;
  uint64_t count;       /* keys inserted since it was cleared */
  uint64_t limit;       /* largest number of keys */
  unsigned bits;        /* width of a signature; 0 if the keys are states */
  unsigned key_bytes;
  const Hasher *hasher;
} MemoryTable;

enum { GROUP_SLOTS = TAG_GROUP, TAG_NONE = 0, TAG_REMOVED = 1, FIRST_TAG = 2, TABLE_AHEAD = 16, SIFTED_KEYS = 1024 };

/* The group of a key, and the tag of its slot. */
typedef struct {
  uint64_t group;
  uint8_t tag;
} Spot;

static void memory_table_close(MemoryTable *table) {
  if (table->filter) munmap(table->filter, table->reserved);
  free(table);
}

/* Opens a table. Returns NULL if there is no memory. */
static MemoryTable *memory_table_open(const Hasher *hasher, uint64_t bytes, unsigned bits) {
  MemoryTable *table = calloc(1, sizeof *table);
  if (!table) return NULL;
  table->hasher = hasher;
  table->bits = bits;
  table->key_bytes = bits ? (bits + 7) / 8 : STATE_BYTES;
  table->filter_bytes = (uint64_t)1 << (bit_length(bytes / 8 + 8) - 1);
  bytes = bytes > table->filter_bytes ? bytes - table->filter_bytes : 0;
  table->group_count = bytes / (GROUP_SLOTS * (1 + (uint64_t)table->key_bytes));
  if (!table->group_count) table->group_count = 1;
  uint64_t slots = table->group_count * GROUP_SLOTS;
  table->limit = slots - slots / 8 - 1;
  table->reserved = table->filter_bytes + slots * (1 + (uint64_t)table->key_bytes) + SPARE_BYTES;
  table->filter = map_pages(table->reserved, -1);
  if (table->filter) {
    table->tags = table->filter + table->filter_bytes;
    table->keys = table->tags + slots;
    return table;
  }
  memory_table_close(table);
  return NULL;
}

static void memory_table_clear(MemoryTable *table) {
  if (table->count) memset(table->filter, 0, table->filter_bytes + table->group_count * GROUP_SLOTS);
  table->count = 0;
}

static inline Spot spot_of(const MemoryTable *table, uint64_t hash) {
  Spot spot = {multiply_high(hash, table->group_count),
               (uint8_t)(FIRST_TAG + multiply_high(hash * 0x9E3779B97F4A7C15ull, 256 - FIRST_TAG))};
  return spot;
}

/* Returns the bit of a key in the filter: the last bits of its signature, or of the hash of a state. */
static inline uint64_t filter_bit(const MemoryTable *table, uint64_t hash) {
  return (table->bits ? hash >> (64 - table->bits) : hash) & (8 * table->filter_bytes - 1);
}

static inline uint64_t key_signature(const MemoryTable *table, const uint8_t *key) {
  uint64_t signature;
  memcpy(&signature, key, 8);
  return signature & UINT64_MAX >> (64 - table->bits);
}

/* Returns the hash of a key in the form in which it lies on disk. */
static inline uint64_t key_hash(const MemoryTable *table, const uint8_t *key) {
  return table->bits ? key_signature(table, key) << (64 - table->bits) : hash_state(table->hasher, key);
}

static inline int keys_equal(const MemoryTable *table, const uint8_t *a, const uint8_t *b) {
  return table->bits ? key_signature(table, a) == key_signature(table, b) : states_equal(a, b);
}

/* Returns the slot of a key, or UINT64_MAX; `*free_slot` is where it would go. */
static inline uint64_t memory_table_find(const MemoryTable *table, const uint8_t *key, Spot spot, uint64_t *free_slot) {
  for (uint64_t group = spot.group;; group = group + 1 == table->group_count ? 0 : group + 1) {
    const uint8_t *tags = table->tags + group * GROUP_SLOTS;
    for (uint32_t match = tags_equal(tags, spot.tag); match; match &= match - 1) {
      uint64_t slot = group * GROUP_SLOTS + (uint64_t)__builtin_ctz(match);
      if (keys_equal(table, table->keys + slot * table->key_bytes, key)) return slot;
    }
    uint32_t empty = tags_equal(tags, TAG_NONE);
    if (!empty) continue;
    *free_slot = group * GROUP_SLOTS + (uint64_t)__builtin_ctz(empty);
    return UINT64_MAX;
  }
}

/* Inserts states until the table is full. Returns how many it handled. The new ones are moved to the front, `*fresh` of
 * them. */
static uint64_t memory_table_insert(MemoryTable *table, uint8_t *states, const uint64_t *hashes, uint64_t count,
                                    uint64_t *fresh) {
  uint64_t number = 0, found = 0;
  for (; number < count && table->count < table->limit; number++) {
    if (number + TABLE_AHEAD < count)
      __builtin_prefetch(table->tags + multiply_high(hashes[number + TABLE_AHEAD], table->group_count) * GROUP_SLOTS, 1);
    uint8_t *state = states + number * STATE_BYTES, *key = state;
    uint64_t signature = 0, hash = hashes[number], free_slot;
    if (table->bits) {
      signature = hash >> (64 - table->bits);
      hash = signature << (64 - table->bits);
      key = (uint8_t *)&signature;
    }
    Spot spot = spot_of(table, hash);
    if (memory_table_find(table, key, spot, &free_slot) != UINT64_MAX) continue;
    table->tags[free_slot] = spot.tag;
    uint64_t bit = filter_bit(table, hash);
    table->filter[bit / 8] |= (uint8_t)(1 << bit % 8);
    memcpy(table->keys + free_slot * table->key_bytes, key, table->key_bytes);
    table->count++;
    if (found++ != number) memmove(states + (found - 1) * STATE_BYTES, state, STATE_BYTES);
  }
  *fresh = found;
  return number;
}

/* Writes the numbers of the keys that pass the filter. `stride` is that of the keys, 0 if they are states. */
static inline uint32_t memory_table_sift(const MemoryTable *shared, const uint8_t *keys, uint32_t count,
                                         uint32_t *numbers, unsigned stride) {
  const MemoryTable table = *shared; /* a copy that the compiler can see never changes */
  const uint64_t mask = 8 * table.filter_bytes - 1;
  uint32_t passed = 0;
  for (uint32_t i = 0; i < count; i++) {
    uint64_t bit;
    if (stride)
      bit = key_signature(&table, keys + (size_t)i * stride) & mask;
    else
      bit = hash_state(table.hasher, keys + (size_t)i * STATE_BYTES) & mask;
    numbers[passed] = i;
    passed += table.filter[bit / 8] >> bit % 8 & 1;
  }
  return passed;
}

/* Removes keys. Returns how many were there. Several threads may call it at the same time. */
static uint64_t memory_table_remove(const MemoryTable *table, const uint8_t *keys, uint64_t count) {
  uint64_t removed = 0, free_slot;
  uint32_t numbers[SIFTED_KEYS + 1];
  for (uint64_t done = 0; done < count; done += SIFTED_KEYS) {
    uint32_t batch = count - done < SIFTED_KEYS ? (uint32_t)(count - done) : SIFTED_KEYS;
    const uint8_t *first = keys + done * table->key_bytes;
    uint32_t passed = !table->bits            ? memory_table_sift(table, first, batch, numbers, 0)
                      : table->key_bytes == 8 ? memory_table_sift(table, first, batch, numbers, 8)
                                              : memory_table_sift(table, first, batch, numbers, table->key_bytes);
    for (uint32_t i = 0; i < passed; i++) {
      const uint8_t *key = first + (size_t)numbers[i] * table->key_bytes;
      uint64_t slot = memory_table_find(table, key, spot_of(table, key_hash(table, key)), &free_slot);
      if (slot != UINT64_MAX)
        removed += __atomic_exchange_n(&table->tags[slot], TAG_REMOVED, __ATOMIC_RELAXED) != TAG_REMOVED;
    }
  }
  return removed;
}

/* Removes the keys in some blocks of a file; `starts` and `lengths` are in bytes. `*failed` is the number of blocks
 * before the first that cannot be read. */
static uint64_t memory_table_remove_blocks(const MemoryTable *table, int file, const uint64_t *numbers,
                                           const uint64_t *starts, const uint64_t *lengths, uint64_t count,
                                           uint64_t *failed) {
  uint64_t longest = 0, removed = 0, done = 0;
  for (uint64_t i = 0; i < count; i++)
    if (lengths[i] > longest) longest = lengths[i];
  uint8_t *room = malloc(sizeof(BlockHeader) + longest + SPARE_BYTES);
  for (; room && done < count; done++) {
    const uint8_t *keys = block_read(file, starts[done], numbers[done], lengths[done], room);
    if (!keys) break;
    removed += memory_table_remove(table, keys, lengths[done] / table->key_bytes);
  }
  free(room);
  *failed = done;
  return removed;
}

/* Moves the states that are still in the table to the front, and their keys to `keys`. Returns their number. */
static uint64_t memory_table_keep(const MemoryTable *table, uint8_t *states, uint64_t count, uint8_t *keys) {
  uint64_t kept = 0, free_slot;
  for (uint64_t number = 0; number < count; number++) {
    uint8_t *state = states + number * STATE_BYTES, *key = state;
    uint64_t hash = hash_state(table->hasher, state), signature;
    if (table->bits) {
      signature = hash >> (64 - table->bits);
      hash = signature << (64 - table->bits);
      key = (uint8_t *)&signature;
    }
    if (memory_table_find(table, key, spot_of(table, hash), &free_slot) == UINT64_MAX) continue;
    memcpy(keys + kept * table->key_bytes, key, table->key_bytes);
    if (kept++ != number) memmove(states + (kept - 1) * STATE_BYTES, state, STATE_BYTES);
  }
  return kept;
}

/* --- Bindings ------------------------------------------------------------------------------------------------ */

EXPORT MemoryTable *outcrop_memory_table_open(const Search *search, uint64_t bytes, uint64_t bits) {
  return memory_table_open(&search->hasher, bytes, (unsigned)bits);
}

EXPORT void outcrop_memory_table_close(MemoryTable *table) { memory_table_close(table); }

EXPORT void outcrop_memory_table_clear(MemoryTable *table) { memory_table_clear(table); }

EXPORT uint64_t outcrop_memory_table_insert(MemoryTable *table, uint8_t *states, const uint64_t *hashes, uint64_t count,
                                            uint64_t *fresh) {
  return memory_table_insert(table, states, hashes, count, fresh);
}

EXPORT uint64_t outcrop_memory_table_remove(const MemoryTable *table, const uint8_t *keys, uint64_t count) {
  return memory_table_remove(table, keys, count);
}

EXPORT uint64_t outcrop_memory_table_remove_blocks(const MemoryTable *table, uint64_t file, const uint64_t *numbers,
                                                   const uint64_t *starts, const uint64_t *lengths, uint64_t count,
                                                   uint64_t *failed) {
  return memory_table_remove_blocks(table, (int)file, numbers, starts, lengths, count, failed);
}

EXPORT uint64_t outcrop_memory_table_keep(const MemoryTable *table, uint8_t *states, uint64_t count, uint8_t *keys) {
  return memory_table_keep(table, states, count, keys);
}

EXPORT uint64_t outcrop_memory_table_limit(const MemoryTable *table) { return table->limit; }
