/* The exact visited set: an open-addressing table. A slot holds the arena index of a state, and in the remaining bits a
 * tag from its hash, so that a state is compared only if it is probably equal.
 *
 * The line of a state is its hash scaled to the number of lines, so a table may have any number of lines and grow by
 * less than double. A full line overflows into the next one. */

typedef struct {
  uint8_t *lines;
  uint64_t line_count;
  uint64_t limit; /* number of states at which it must grow */
  int wide;       /* slots of 64 bits */
  unsigned index_bits;
} Table;

/* With fewer tag bits than this in 32, false matches cost more than slots of twice the width. */
enum { LEAST_TAG_BITS = 3 };

static unsigned bit_length(uint64_t number) { return number ? 64 - (unsigned)__builtin_clzll(number) : 0; }

/* Returns the number of states at which a table must grow: full enough to be small, while most states are still in
 * their own line. */
static uint64_t table_limit(uint64_t line_count, int wide) {
  return line_count * (wide ? WIDE_SLOTS : NARROW_SLOTS) / 20 * 15;
}

/* Returns whether indexes up to `greatest` need slots of 64 bits. */
static int table_needs_wide(uint64_t greatest) { return bit_length(greatest + 1) + LEAST_TAG_BITS > 32; }

/* Opens an empty table; `slack` is how far arena indexes may exceed the number of states. */
static int table_open(Table *table, uint64_t line_count, int wide, uint64_t slack) {
  uint8_t *lines = map_pages(line_count * LINE_BYTES, -1);
  if (!lines) return 0;
  table->lines = lines;
  table->line_count = line_count;
  table->wide = wide;
  table->limit = table_limit(line_count, wide);
  table->index_bits = bit_length(table->limit + slack + 1);
  return 1;
}

static void table_close(Table *table) {
  if (table->lines) munmap(table->lines, table->line_count * LINE_BYTES);
  table->lines = NULL;
}

static inline uint64_t table_tag_mask(const Table *table) {
  return (table->wide ? UINT64_MAX : UINT32_MAX) & ~(((uint64_t)1 << table->index_bits) - 1);
}

static inline uint8_t *table_line(const Table *table, uint64_t hash) {
  return table->lines + multiply_high(hash, table->line_count) * LINE_BYTES;
}

static inline uint8_t *table_next_line(const Table *table, uint8_t *line) {
  line += LINE_BYTES;
  return line == table->lines + table->line_count * LINE_BYTES ? table->lines : line;
}

/* The parts of a table that a lookup needs, copied once a batch, because the compiler cannot know that writing states
 * does not change them. */
typedef struct {
  uint8_t *lines, *end;
  uint64_t line_count, tag_mask;
  unsigned index_bits;
  uint8_t *states;
} View;

static inline View table_view(const Table *table, const Arena *arena) {
  View view = {table->lines, table->lines + table->line_count * LINE_BYTES, table->line_count, table_tag_mask(table),
               table->index_bits, arena->base};
  return view;
}

/* Returns the index of a state, or UINT64_MAX if it is not in the table. With `room`, writes a missing state to the
 * arena at that index, enters it and sets `*is_new`. */
static inline __attribute__((always_inline)) uint64_t table_look_up(View view, const uint8_t *state, uint64_t hash,
                                                                    int wide, const uint64_t *room, int shared,
                                                                    uint8_t *is_new) {
  uint64_t tag = hash << view.index_bits & view.tag_mask;
  uint8_t *line = view.lines + multiply_high(hash, view.line_count) * LINE_BYTES;
  for (;;) {
    Look look = line_look(line, wide, view.tag_mask, tag);
    for (uint32_t match = look.match & ~look.empty; match; match &= match - 1) {
      uint64_t index = (slot_get(line, wide, __builtin_ctz(match)) & ~view.tag_mask) - 1;
      if (states_equal(view.states + index * STATE_BYTES, state)) return index;
    }
    if (!look.empty) {
      line += LINE_BYTES;
      if (line == view.end) line = view.lines;
    } else if (!room) {
      return UINT64_MAX;
    } else {
      memcpy(view.states + *room * STATE_BYTES, state, STATE_BYTES);
      if (slot_take(line, wide, __builtin_ctz(look.empty), tag | (*room + 1), shared)) {
        *is_new = 1;
        return *room;
      }
    }
  }
}

/* Returns the arena index at which a lookup will probably end, plus one; 0 if there is none. Prefetches everything else
 * that the lookup may need. */
static inline uint64_t table_guess(View view, uint64_t hash, int wide) {
  uint8_t *line = view.lines + multiply_high(hash, view.line_count) * LINE_BYTES;
  Look look = line_look(line, wide, view.tag_mask, hash << view.index_bits & view.tag_mask);
  uint64_t guess = 0;
  if (!look.empty) __builtin_prefetch(line + LINE_BYTES);
  for (uint32_t match = look.match & ~look.empty; match; match &= match - 1) {
    guess = slot_get(line, wide, __builtin_ctz(match)) & ~view.tag_mask;
    state_fetch(view.states + (guess - 1) * STATE_BYTES);
  }
  return guess;
}

/* A range of the arena that one thread fills. */
typedef struct {
  uint64_t next;
  uint64_t end;
} Chunk;

/* Enters the missing states of a batch, and reports which are new and, unless `positions` is NULL, the index of each.
 * Returns how many it handled, which is fewer than `count` if the chunk is full. */
static inline __attribute__((always_inline)) uint32_t table_insert_slots(const Table *table, const Arena *arena,
                                                                         Chunk *chunk, const uint8_t *states,
                                                                         const uint64_t *hashes, uint32_t count,
                                                                         uint8_t *is_new, uint32_t *positions,
                                                                         int wide, int shared) {
  enum { AHEAD = 16 }; /* number of lookups by which a guess precedes its own */
  const View view = table_view(table, arena);
  uint64_t room = chunk->next, guesses[AHEAD];
  for (uint32_t i = 0; i < AHEAD && i < count; i++) guesses[i] = table_guess(view, hashes[i], wide);
  uint32_t done = 0;
  for (; done < count && room < chunk->end; done++) {
    uint8_t is_this_new = 0;
    uint64_t guess = guesses[done % AHEAD];
    if (done + AHEAD < count) guesses[done % AHEAD] = table_guess(view, hashes[done + AHEAD], wide);
    if (guess && states_equal(view.states + (guess - 1) * STATE_BYTES, states + (size_t)done * STATE_BYTES)) {
      is_new[done] = 0;
      if (positions) positions[done] = (uint32_t)(guess - 1);
      continue;
    }
    uint64_t index =
        table_look_up(view, states + (size_t)done * STATE_BYTES, hashes[done], wide, &room, shared, &is_this_new);
    if (positions) positions[done] = (uint32_t)index;
    is_new[done] = is_this_new;
    room += is_this_new;
  }
  chunk->next = room;
  return done;
}

static uint32_t table_insert(const Table *table, const Arena *arena, Chunk *chunk, const uint8_t *states,
                             const uint64_t *hashes, uint32_t count, uint8_t *is_new, uint32_t *positions,
                             int shared) {
  return table->wide ? table_insert_slots(table, arena, chunk, states, hashes, count, is_new, positions, 1, shared)
                     : table_insert_slots(table, arena, chunk, states, hashes, count, is_new, positions, 0, shared);
}

static uint64_t table_find(const Table *table, const Arena *arena, const uint8_t *state, uint64_t hash) {
  return table->wide ? table_look_up(table_view(table, arena), state, hash, 1, NULL, 0, NULL)
                     : table_look_up(table_view(table, arena), state, hash, 0, NULL, 0, NULL);
}

/* Enters states of the arena, which are known to be distinct, into an empty table. */
static void table_enter(const Table *table, const Arena *arena, const Hasher *hasher, uint64_t begin, uint64_t end,
                        int shared) {
  enum { AHEAD = 32 };
  uint64_t hashes[AHEAD], tag_mask = table_tag_mask(table);
  for (uint64_t at = begin; at < end + AHEAD; at++) {
    if (at >= begin + AHEAD) {
      uint64_t hash = hashes[at % AHEAD], entry = (hash << table->index_bits & tag_mask) | (at - AHEAD + 1);
      uint8_t *line = table_line(table, hash);
      for (;;) {
        uint32_t empty = line_look(line, table->wide, 0, 0).empty;
        if (!empty)
          line = table_next_line(table, line);
        else if (slot_take(line, table->wide, __builtin_ctz(empty), entry, shared))
          break;
      }
    }
    if (at < end) {
      hashes[at % AHEAD] = hash_state(hasher, arena_state(arena, at));
      __builtin_prefetch(table_line(table, hashes[at % AHEAD]), 1);
    }
  }
}

/* Records that the state at `from` has moved to `to`. No other thread may be running. */
static void table_moved(const Table *table, const Hasher *hasher, const Arena *arena, uint64_t from, uint64_t to) {
  uint64_t hash = hash_state(hasher, arena_state(arena, to)), tag_mask = table_tag_mask(table);
  uint64_t tag = hash << table->index_bits & tag_mask;
  uint8_t *line = table_line(table, hash);
  for (;; line = table_next_line(table, line)) {
    Look look = line_look(line, table->wide, UINT64_MAX, tag | (from + 1));
    if (!look.match) continue;
    int number = __builtin_ctz(look.match);
    if (table->wide)
      ((uint64_t *)line)[number] = tag | (to + 1);
    else
      ((uint32_t *)line)[number] = (uint32_t)(tag | (to + 1));
    return;
  }
}
