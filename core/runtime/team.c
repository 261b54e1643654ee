#define _GNU_SOURCE
#include "core/runtime/team.h"

#include "core/base/arena.h"

#include <linux/futex.h>
#include <omp.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <strings.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

// How long a thread spins before it sleeps, ns: longer than waking one takes. With all processors to itself an engine
// is as fast with 200 us as with 4 ms; beside others' work each ms spun is one less before the thread has to wait its
// turn. Of more threads than there are processors some always wait.
enum { SPINNING = 200000, SPINNING_IN_TURN = 20000, SPINS_A_LOOK = 64 };

static int64_t spinning_of(int threads) {
  const char* policy = getenv("OMP_WAIT_POLICY"); // OpenMP tells nobody what it made of it
  if (policy && !strcasecmp(policy, "passive")) return 0;
  return threads > omp_get_num_procs() ? SPINNING_IN_TURN : SPINNING;
}

static int64_t now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void pause_briefly(void) {
#ifdef __x86_64__
  __builtin_ia32_pause();
#endif
}

static void sleep_while(atomic_uint* word, unsigned value) {
  syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, value, NULL, NULL, 0);
}

static void wake(atomic_uint* word, int threads) {
  syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, threads, NULL, NULL, 0);
}

// Spins while the word is the value. false: for too long.
static bool has_changed(const pb__team* team, atomic_uint* word, unsigned value) {
  int64_t end = 0;
  for (int n = 1; atomic_load_explicit(word, memory_order_acquire) == value; ++n) {
    pause_briefly();
    if (n % SPINS_A_LOOK) continue;
    if (!end) end = now() + team->spinning;
    if (now() >= end) return false;
  }
  return true;
}

// Does the share unless somebody has begun it. No job ends before all of its shares are done, so whoever begins one
// reads what belongs to it.
static void do_share(pb__team* team, int share, unsigned job) {
  unsigned last = job - 1;
  if (!atomic_compare_exchange_strong(&team->begun[share], &last, job)) return;
  team->entry(team->args, share, team->threads);
  if (atomic_fetch_sub(&team->left, 1) == 1 && atomic_load(&team->first_sleeps)) wake(&team->left, 1);
}

static void do_shares(pb__team* team, int thread, unsigned job) {
  for (int k = 0; k < team->threads; ++k) do_share(team, (thread + k) % team->threads, job);
}

static void wait_for_job(pb__team* team, unsigned done) {
  if (has_changed(team, &team->jobs, done)) return;
  atomic_fetch_add(&team->sleepers, 1); // before the word is looked at again: whoever changes it then wakes this thread
  while (atomic_load(&team->jobs) == done) sleep_while(&team->jobs, done);
  atomic_fetch_sub(&team->sleepers, 1);
}

static void work(pb__team* team, int thread, unsigned done) {
  for (;;) {
    wait_for_job(team, done);
    done = atomic_load(&team->jobs);
    if (atomic_load(&team->over)) return;
    do_shares(team, thread, done);
  }
}

static void wait_for_all(pb__team* team) {
  for (unsigned left; (left = atomic_load(&team->left)) > 0;) {
    if (has_changed(team, &team->left, left)) continue;
    atomic_store(&team->first_sleeps, true);
    while ((left = atomic_load(&team->left)) > 0) sleep_while(&team->left, left);
    atomic_store(&team->first_sleeps, false);
  }
}

static unsigned hand_out(pb__team* team) {
  unsigned job = atomic_fetch_add(&team->jobs, 1) + 1;
  if (atomic_load(&team->sleepers)) wake(&team->jobs, team->threads);
  return job;
}

void pb__team_do(pb__team* team, pb__native_entry entry, void** args) {
  if (team->threads < 2) {
    entry(args, 0, 1);
    return;
  }
  team->entry = entry;
  team->args = args;
  atomic_store(&team->left, (unsigned)team->threads);
  do_shares(team, 0, hand_out(team));
  wait_for_all(team);
}

static void begin(pb__team* team, int threads, unsigned jobs) {
  team->begun = malloc(sizeof *team->begun * (size_t)threads);
  if (!team->begun) pb_no_memory(sizeof *team->begun * (size_t)threads);
  for (int k = 0; k < threads; ++k) atomic_init(&team->begun[k], jobs);
  team->threads = threads;
}

static void* wait_for_others(void* gate) {
  pthread_mutex_lock(gate); // until all that can be are there
  pthread_mutex_unlock(gate);
  return NULL;
}

// As many of them as the system allows: OpenMP ends the process where it gets less than it asks for. Tried once for
// each number that is larger than those before.
static int allowed(int threads) {
  static pthread_mutex_t trying = PTHREAD_MUTEX_INITIALIZER;
  static int known = 1;
  pthread_mutex_lock(&trying);
  if (threads > known) {
    pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
    pthread_t* made = malloc(sizeof *made * (size_t)threads);
    int count = 0;
    pthread_mutex_lock(&gate);
    while (made && count < threads - 1 && !pthread_create(&made[count], NULL, wait_for_others, &gate)) ++count;
    pthread_mutex_unlock(&gate);
    for (int k = 0; k < count; ++k) pthread_join(made[k], NULL);
    free(made);
    threads = count + 1;
    if (threads > known) known = threads;
  }
  pthread_mutex_unlock(&trying);
  return threads;
}

void pb__team_run(pb__team* team, int threads, void (*body)(void* user), void* user) {
  threads = allowed(threads);
  if (threads < 2) {
    body(user);
    return;
  }
  unsigned jobs = atomic_load(&team->jobs);
  atomic_store(&team->over, false); // this and the next before there are others
  team->spinning = spinning_of(threads);
#pragma omp parallel num_threads(threads)
  if (omp_get_thread_num() > 0) {
    work(team, omp_get_thread_num(), jobs);
  } else {
    begin(team, omp_get_num_threads(), jobs); // OpenMP may give fewer than were asked for
    body(user);
    atomic_store(&team->over, true);
    (void)hand_out(team);
  }
  free(team->begun);
  team->begun = NULL;
  team->threads = 0;
}
