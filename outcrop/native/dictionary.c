/* Words and their numbers: states repeat themselves in parts, as each process and each channel has few values, and the
 * number of a part is shorter than the part.
 *
 * Threads look words up and enter them together. Nothing moves meanwhile: a dictionary without room says so, and grows
 * when nobody is looking. */

typedef struct {
  uint64_t *words;
  uint16_t *slots; /* numbers plus one; open addressing (atomic) */
  uint32_t count, room;
  uint32_t slot_count; /* a power of two */
  uint32_t lock; /* of whoever enters a word (atomic) */
} Dictionary;

enum { NUMBER_BYTES = 2, MOST_WORDS = 65535, FIRST_ROOM = 16, NO_WORD = UINT16_MAX };

static inline uint32_t dictionary_slot(const Dictionary *dictionary, uint64_t word) {
  return (uint32_t)(word * 0x9E3779B97F4A7C15ull >> 40) & (dictionary->slot_count - 1);
}

static void dictionary_close(Dictionary *dictionary) {
  free(dictionary->words);
  free(dictionary->slots);
  *dictionary = (Dictionary){0};
}

/* The number of a word, or NO_WORD; `*slot` is where it would go. */
static inline uint32_t dictionary_find(const Dictionary *dictionary, uint64_t word, uint32_t *slot) {
  *slot = dictionary_slot(dictionary, word);
  for (;; *slot = (*slot + 1) & (dictionary->slot_count - 1)) {
    uint16_t number = __atomic_load_n(&dictionary->slots[*slot], __ATOMIC_ACQUIRE);
    if (!number) return NO_WORD;
    if (dictionary->words[number - 1] == word) return number - 1u;
  }
}

/* How much room a dictionary has next, and how many slots, at most three quarters of which are taken. */
static Dictionary dictionary_grown(Dictionary dictionary) {
  dictionary.room += dictionary.room / 4 > FIRST_ROOM ? dictionary.room / 4 : FIRST_ROOM;
  if (!dictionary.slot_count) dictionary.slot_count = FIRST_ROOM;
  while (4 * dictionary.room > 3 * dictionary.slot_count) dictionary.slot_count *= 2;
  return dictionary;
}

static uint64_t dictionary_bytes(Dictionary dictionary) {
  return dictionary.room * sizeof *dictionary.words + dictionary.slot_count * sizeof *dictionary.slots;
}

/* No other thread may be at work. Gives 0 when there is no memory. */
static int dictionary_grow(Dictionary *dictionary) {
  Dictionary grown = dictionary_grown(*dictionary);
  uint64_t *words = realloc(dictionary->words, grown.room * sizeof *words);
  if (words) dictionary->words = grown.words = words;
  uint16_t *slots = calloc(grown.slot_count, sizeof *slots);
  if (!words || !slots) {
    free(slots);
    return 0;
  }
  free(dictionary->slots);
  grown.slots = slots;
  *dictionary = grown;
  for (uint32_t number = 0, slot; number < grown.count; number++) {
    dictionary_find(dictionary, words[number], &slot);
    slots[slot] = (uint16_t)(number + 1);
  }
  return 1;
}

/* Enters a word that was not found a moment ago; gives NO_WORD when there is no room for it. */
static uint32_t dictionary_enter(Dictionary *dictionary, uint64_t word) {
  uint32_t slot;
  while (__atomic_exchange_n(&dictionary->lock, 1, __ATOMIC_ACQUIRE)) pause_briefly();
  uint32_t number = dictionary_find(dictionary, word, &slot);
  if (number == NO_WORD && dictionary->count < dictionary->room && dictionary->count < MOST_WORDS) {
    number = dictionary->count++;
    dictionary->words[number] = word;
    __atomic_store_n(&dictionary->slots[slot], (uint16_t)(number + 1), __ATOMIC_RELEASE);
  }
  __atomic_store_n(&dictionary->lock, 0, __ATOMIC_RELEASE);
  return number;
}

static inline uint32_t dictionary_number(Dictionary *dictionary, uint64_t word) {
  uint32_t slot, number = dictionary_find(dictionary, word, &slot);
  return number == NO_WORD ? dictionary_enter(dictionary, word) : number;
}
