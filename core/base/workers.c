#include "core/base/workers.h"

#include <pthread.h>
#include <stddef.h>
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

void pb_work_on(int count, int most, void (*work)(void* user, int k), void* user) {
  pool p = {.work = work, .user = user, .count = count};
  pthread_t threads[MAX_WORKERS];
  long processors = sysconf(_SC_NPROCESSORS_ONLN);
  if (most > 0 && most < processors) processors = most;
  int started = 0, wanted = count < processors ? count : (int)processors;
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
