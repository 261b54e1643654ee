// The threads of a run: every share of every job is done once, whoever does it, and none is left when a job returns.
#include "core/runtime/team.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

#include <cmocka.h>

#include <omp.h>
#include <time.h>

enum { MOST = 16, LONG = 1000000 }; // ns: longer than threads spin

typedef struct counted {
  pb__team* team;
  int jobs, slow; // slow: the share that takes long, -1: none
  bool rests;     // between jobs
  atomic_int done[MOST], threads;
} counted;

static void rest(void) { nanosleep(&(struct timespec){.tv_nsec = LONG}, NULL); }

static void count_share(void** args, int64_t thread, int64_t threads) {
  counted* c = args[0];
  if (thread == c->slow) rest();
  atomic_fetch_add(&c->done[thread], 1);
  atomic_store(&c->threads, (int)threads);
}

static void hand_out(void* user) {
  counted* c = user;
  void* args[] = {c};
  for (int job = 1; job <= c->jobs; ++job) {
    pb__team_do(c->team, count_share, args);
    for (int share = 0; share < MOST; ++share)
      assert_int_equal(atomic_load(&c->done[share]), share < atomic_load(&c->threads) ? job : 0);
    if (c->rests) rest();
  }
}

static void run(pb__team* team, int threads, int expected, int jobs, int slow, bool rests) {
  counted c = {.team = team, .jobs = jobs, .slow = slow, .rests = rests};
  pb__team_run(team, threads, hand_out, &c);
  assert_int_equal(atomic_load(&c.threads), expected);
}

static void each_share_once(void** state) {
  (void)state;
  pb__team team = {0};
  for (int threads = 1; threads <= MOST; ++threads) run(&team, threads, threads, 500, -1, false);
}

static void asleep_between_jobs(void** state) {
  (void)state;
  pb__team team = {0};
  for (int threads = 2; threads <= MOST; threads *= 2) run(&team, threads, threads, 4, -1, true);
}

static void first_one_waits(void** state) {
  (void)state;
  pb__team team = {0};
  for (int slow = 0; slow < 4; ++slow) run(&team, 4, 4, 4, slow, false);
}

// Where OpenMP gives no threads one does all of it.
static void inside_a_region(void** state) {
  (void)state;
  pb__team teams[2] = {{0}};
#pragma omp parallel num_threads(2)
  run(&teams[omp_get_thread_num()], 4, 1, 50, -1, false);
}

static void of_no_run(void** state) {
  (void)state;
  pb__team team = {0};
  counted c = {.team = &team, .jobs = 3, .slow = -1};
  hand_out(&c);
  assert_int_equal(atomic_load(&c.threads), 1);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(each_share_once), cmocka_unit_test(asleep_between_jobs),
                                     cmocka_unit_test(first_one_waits), cmocka_unit_test(inside_a_region),
                                     cmocka_unit_test(of_no_run)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
