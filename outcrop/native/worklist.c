/* A work list: states to be expanded, by their arena indexes, in batches that workers take and give.
 *
 * The order of work does not matter to its users, so no worker ever waits for the end of a level. The last batch
 * given is the first one taken, which also keeps the list short. A worker without work waits until another one has
 * given a batch, or until all workers are without work, which is the end. */

enum { BATCH_STATES = 256 };

typedef struct Batch {
  struct Batch *next;
  uint32_t count;
  uint32_t states[BATCH_STATES];
} Batch;

typedef struct {
  pthread_mutex_t lock;
  pthread_cond_t changed;
  Batch *waiting, *unused;
  uint32_t members; /* number of workers that take part */
  uint32_t idle;    /* number of members without work */
  int ended;
} Worklist;

static void worklist_open(Worklist *list) {
  *list = (Worklist){0};
  pthread_mutex_init(&list->lock, NULL);
  pthread_cond_init(&list->changed, NULL);
}

static void worklist_close(Worklist *list) {
  for (Batch *batch; (batch = list->waiting) || (batch = list->unused); free(batch)) {
    if (batch == list->waiting)
      list->waiting = batch->next;
    else
      list->unused = batch->next;
  }
  pthread_cond_destroy(&list->changed);
  pthread_mutex_destroy(&list->lock);
}

/* Returns an empty batch; NULL if there is no memory. */
static Batch *batch_get(Search *search, Worklist *list) {
  pthread_mutex_lock(&list->lock);
  Batch *batch = list->unused;
  if (batch) list->unused = batch->next;
  pthread_mutex_unlock(&list->lock);
  if (!batch && arena_bytes(&search->arena) + visited_bytes(search) + beside_bytes(search) <= search->budget) {
    batch = malloc(sizeof *batch);
    if (batch) __atomic_add_fetch(&search->beside, sizeof *batch, __ATOMIC_RELAXED);
  }
  if (!batch) {
    stop_search(search, STOP_MEMORY);
    return NULL;
  }
  batch->count = 0;
  return batch;
}

static void batch_forget(Worklist *list, Batch *batch) {
  if (!batch) return;
  pthread_mutex_lock(&list->lock);
  batch->next = list->unused;
  list->unused = batch;
  pthread_mutex_unlock(&list->lock);
}

static void worklist_give(Worklist *list, Batch *batch) {
  pthread_mutex_lock(&list->lock);
  batch->next = list->waiting;
  list->waiting = batch;
  if (list->idle) pthread_cond_signal(&list->changed);
  pthread_mutex_unlock(&list->lock);
}

/* Returns a batch that another worker has given; NULL if there is none. */
static Batch *worklist_take(Worklist *list) {
  pthread_mutex_lock(&list->lock);
  Batch *batch = list->waiting;
  if (batch) list->waiting = batch->next;
  pthread_mutex_unlock(&list->lock);
  return batch;
}

/* Waits for a batch. Returns NULL at the end. */
static Batch *worklist_await(Worklist *list) {
  pthread_mutex_lock(&list->lock);
  list->idle++;
  while (!list->waiting && !list->ended && list->idle < list->members) pthread_cond_wait(&list->changed, &list->lock);
  Batch *batch = list->ended ? NULL : list->waiting;
  if (batch) {
    list->waiting = batch->next;
    list->idle--;
  } else {
    list->ended = 1;
    pthread_cond_broadcast(&list->changed);
  }
  pthread_mutex_unlock(&list->lock);
  return batch;
}

/* Ends all waiting, because the search must stop. */
static void worklist_end(Worklist *list) {
  pthread_mutex_lock(&list->lock);
  list->ended = 1;
  pthread_cond_broadcast(&list->changed);
  pthread_mutex_unlock(&list->lock);
}

/* Prepares the list, before `members` workers start. */
static void worklist_begin(Worklist *list, uint32_t members) {
  list->members = members;
  list->idle = 0;
  list->ended = 0;
  while (list->waiting) { /* left by a search that stopped */
    Batch *batch = list->waiting;
    list->waiting = batch->next;
    batch->next = list->unused;
    list->unused = batch;
  }
}
