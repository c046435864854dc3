/* A dictionary of words. States repeat in parts, because each process and each channel has few values, and the number
 * of a part is shorter than the part.
 *
 * Threads look words up and insert them at the same time. Nothing moves meanwhile: a full dictionary says so, and
 * grows while no thread uses it. */

typedef struct {
  uint64_t *words;
  uint16_t *slots; /* numbers plus one; open addressing (atomic) */
  uint32_t count, room;
  uint32_t slot_count; /* a power of two */
  uint32_t lock; /* held while a word is inserted (atomic) */
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

/* Returns the number of a word, or NO_WORD; `*slot` is where it would go. */
static inline uint32_t dictionary_find(const Dictionary *dictionary, uint64_t word, uint32_t *slot) {
  *slot = dictionary_slot(dictionary, word);
  for (;; *slot = (*slot + 1) & (dictionary->slot_count - 1)) {
    uint16_t number = __atomic_load_n(&dictionary->slots[*slot], __ATOMIC_ACQUIRE);
    if (!number) return NO_WORD;
    if (dictionary->words[number - 1] == word) return number - 1u;
  }
}

/* Returns a dictionary with the next size, and enough slots that at most three quarters are taken. */
static Dictionary dictionary_grown(Dictionary dictionary) {
  dictionary.room += dictionary.room / 4 > FIRST_ROOM ? dictionary.room / 4 : FIRST_ROOM;
  if (!dictionary.slot_count) dictionary.slot_count = FIRST_ROOM;
  while (4 * dictionary.room > 3 * dictionary.slot_count) dictionary.slot_count *= 2;
  return dictionary;
}

static uint64_t dictionary_bytes(Dictionary dictionary) {
  return dictionary.room * sizeof *dictionary.words + dictionary.slot_count * sizeof *dictionary.slots;
}

/* Lets a dictionary grow. No other thread may use it. Returns 0 if there is no memory. */
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

/* Inserts a word that was just not found. Returns NO_WORD if the dictionary is full. */
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
