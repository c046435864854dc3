/* Bindings for the handover of a search to one with states of another size; see squeeze.c and
 * outcrop/explorer/squeezing.py. */

/* Sets, in `changing`, the bits in which states of the arena differ from the first one. All are in the form in which
 * this search keeps states. */
EXPORT void outcrop_changing_bits(const Search *search, uint64_t begin, uint64_t end, uint8_t *changing) {
  const uint8_t *first = search->arena.base;
  uint64_t bits[HASH_WORDS] = {0};
  for (uint64_t index = begin; index < end; index++)
    for (int i = 0; i < HASH_WORDS; i++)
      bits[i] |= state_word(arena_state(&search->arena, index), i) ^ state_word(first, i);
  for (int i = 0; i < HASH_WORDS; i++) {
    /* At the offset and with the number of bytes of state_word. */
    const uint64_t at = STATE_BYTES < 8 ? 0 : (i + 1) * 8 <= STATE_BYTES ? 8 * (uint64_t)i : STATE_BYTES - 8;
    uint64_t known = 0;
    memcpy(&known, changing + at, STATE_BYTES < 8 ? STATE_BYTES : 8);
    known |= bits[i];
    memcpy(changing + at, &known, STATE_BYTES < 8 ? STATE_BYTES : 8);
  }
}

/* Frees the visited set and the states before `end`, which another search has. */
EXPORT void outcrop_let_go(Search *search, uint64_t end) {
  const size_t page = 1 << 12, bytes = end * STATE_BYTES / page * page;
  table_close(&search->table);
  if (bytes) madvise(search->arena.base, bytes, MADV_DONTNEED);
}

/* Returns the number of successors that a worker carries. With `states`, copies them there. */
EXPORT uint64_t outcrop_carried(const Search *search, uint64_t number, uint8_t *states) {
  const Gathered *carried = &search->workers[number].gathered;
  if (states && carried->count) memcpy(states, carried->states, carried->count * STATE_BYTES);
  return carried->count;
}

/* Continues where another search stood, whose states have been inserted: in the middle of a level, at `cursor`, after
 * `generated` successors. */
EXPORT void outcrop_take_up(Search *search, uint64_t level_begin, uint64_t cursor, uint64_t levels, uint64_t generated) {
  search->level_begin = level_begin;
  search->cursor = cursor;
  search->levels = levels;
  search->started = search->start_end;
  search->workers[0].generated = generated;
}

/* Sets the counts of the other search, as outcrop_count and outcrop_coverage return them. */
EXPORT void outcrop_set_counts(Search *search, const uint64_t *fired, const uint64_t *covered, const uint8_t *noted,
                               const uint64_t *enabled, const uint64_t *deeper) {
  Context *context = search->workers[0].counted;
  for (uint32_t rule = 0; rule + 1 <= RULE_COUNT; rule++) context->fired[rule] = fired[rule];
  for (uint32_t cover = 0; cover + 1 <= COVER_COUNT; cover++) context->covered[cover] = covered[cover];
  for (uint32_t note = 0; note + 1 <= NOTE_COUNT; note++) context->noted[note] = noted[note];
#if HAS_COVERAGE
  for (uint32_t rule = 0; rule + 1 <= RULE_COUNT; rule++) context->enabled[rule] = enabled[rule];
  for (uint32_t rule = 0; rule + 1 <= RULE_COUNT; rule++) context->deeper[rule] = deeper[rule];
#else
  (void)enabled, (void)deeper;
#endif
}

#if SQUEEZED_BYTES
/* Sets the form of squeezed states, before anything else. `first` and `changing` are packed states followed by spare
 * bytes. Returns 0 if not all `changing` bits have a place. */
EXPORT int outcrop_squeeze(Search *search, const uint8_t *first, const uint8_t *changing) {
  return squeeze_open(&search->squeeze, first, changing);
}

/* Copies the bits that have a place. */
EXPORT void outcrop_placed_bits(const Search *search, uint8_t *placed) {
  memcpy(placed, search->squeeze.placed, MODEL_BYTES);
}

/* Squeezes states that are followed by spare bytes. Returns how many fit, up to the first that does not. */
EXPORT uint64_t outcrop_squeeze_block(Search *search, const uint8_t *states, uint64_t count, uint8_t *squeezed) {
  uint64_t done = 0;
  while (done < count && squeeze_state(&search->squeeze, states + done * MODEL_BYTES, squeezed + done * STATE_BYTES))
    done++;
  return done;
}

/* Restores packed states from squeezed ones. Spare bytes follow `states`. */
EXPORT void outcrop_spread_block(const Search *search, const uint8_t *squeezed, uint64_t count, uint8_t *states) {
  for (uint64_t i = 0; i < count; i++)
    spread_state(&search->squeeze, squeezed + i * STATE_BYTES, states + i * MODEL_BYTES);
}

/* Returns the number of states of a worker that do not fit. With `states`, copies them there, as the model packs
 * them. */
EXPORT uint64_t outcrop_misfits(const Search *search, uint64_t number, uint8_t *states) {
  const Worker *worker = &search->workers[number];
  if (states && worker->misfit_count) memcpy(states, worker->misfits, worker->misfit_count * MODEL_BYTES);
  return worker->misfit_count;
}
#endif
