#include "core/base/workers.h"

#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <unistd.h>

enum { MAX_WORKERS = 16 };

typedef struct pool {
  void (*work)(void* user, int k);
  void* user;
  int count, next;
  pthread_mutex_t lock;
} pool;

static void* worker(void* user) {
  pool* p = user;
  for (;;) {
    pthread_mutex_lock(&p->lock);
    int mine = p->next++;
    pthread_mutex_unlock(&p->lock);
    if (mine >= p->count) return NULL;
    p->work(p->user, mine);
  }
}

static int workers_of(int most) {
  long processors = sysconf(_SC_NPROCESSORS_ONLN);
  return most > 0 && most < processors ? most : (int)processors;
}

static void* wait_for_all(void* gate) {
  pthread_mutex_lock(gate);
  pthread_mutex_unlock(gate);
  return NULL;
}

bool pb_can_work_beside(int most) {
  int own = workers_of(most) < MAX_WORKERS ? workers_of(most) : MAX_WORKERS, started = 0;
  int wanted = own + (int)sysconf(_SC_NPROCESSORS_ONLN);
  pthread_t* threads = calloc((size_t)wanted, sizeof *threads);
  pthread_mutex_t gate;
  pthread_attr_t attributes;
  if (!threads) return false;
  pthread_mutex_init(&gate, NULL);
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, (size_t)1 << 16);
  pthread_mutex_lock(&gate); // all of them are there at the same time
  while (started < wanted && !pthread_create(&threads[started], &attributes, wait_for_all, &gate)) ++started;
  pthread_mutex_unlock(&gate);
  for (int t = 0; t < started; ++t) pthread_join(threads[t], NULL);
  pthread_attr_destroy(&attributes);
  pthread_mutex_destroy(&gate);
  free(threads);
  return started == wanted;
}

void pb_work_on(int count, int most, void (*work)(void* user, int k), void* user) {
  pool p = {.work = work, .user = user, .count = count};
  pthread_t threads[MAX_WORKERS];
  int started = 0, wanted = count < workers_of(most) ? count : workers_of(most);
  pthread_mutex_init(&p.lock, NULL);
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, (size_t)16 << 20); // LLVM recurses deeply
  for (; started + 1 < wanted && started < MAX_WORKERS; ++started)
    if (pthread_create(&threads[started], &attributes, worker, &p)) break;
  (void)worker(&p);
  for (int t = 0; t < started; ++t) pthread_join(threads[t], NULL);
  pthread_attr_destroy(&attributes);
  pthread_mutex_destroy(&p.lock);
}
