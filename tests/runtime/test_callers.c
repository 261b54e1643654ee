// Several callers: an engine loaded once for each runs at any time; one that runs already is refused to a second
// caller, with a code, and goes on unharmed.
#include "engines.h"
#include "pb/pb.h"
#include "targets/control/queues/machine/machine.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>
#include <string.h>

enum { RUNS = 200, BUSY = 5034 };
#define PATH PB_BINARY_DIR "/test_callers.pbe"

static int make_engine(void** state) {
  (void)state;
  pb_chip* chip;
  copy_engine copy;
  pb_rt_add_machine();
  if (pb_chip_find("simnpu", NULL, NULL, &chip) != PB_OK) return 1;
  copy_engine_make(&copy, chip, true);
  pb_status status = pb_engine_write(&copy.engine, PATH, NULL);
  pb_chip_free(chip);
  return status != PB_OK;
}

typedef struct caller {
  pb_rt* rt;
  int number, right, busy, wrong;
} caller;

static void run_once(caller* c, int turn) {
  uint8_t in[COPY_BYTES], out[COPY_BYTES] = {0};
  memset(in, c->number * 100 + turn % 100 + 1, sizeof in);
  int code = pb_rt_run(c->rt, (const void*[]){in}, (void*[]){out});
  c->right += !code && !memcmp(in, out, sizeof in);
  c->busy += code == BUSY;
  c->wrong += code ? code != BUSY : memcmp(in, out, sizeof in) != 0;
}

static void* run_often(void* user) {
  for (int k = 0; k < RUNS; ++k) run_once(user, k);
  return NULL;
}

static void* load_and_run(void* user) {
  caller* c = user;
  if (pb_rt_load(PATH, 0, &c->rt)) return NULL;
  run_often(c);
  pb_rt_free(c->rt);
  return NULL;
}

static void both(void* (*work)(void*), caller* callers) {
  pthread_t threads[2];
  for (int k = 0; k < 2; ++k) assert_int_equal(pthread_create(&threads[k], NULL, work, &callers[k]), 0);
  for (int k = 0; k < 2; ++k) pthread_join(threads[k], NULL);
}

static void an_engine_each(void** state) {
  (void)state;
  caller callers[2] = {{.number = 0}, {.number = 1}};
  both(load_and_run, callers);
  for (int k = 0; k < 2; ++k) assert_int_equal(callers[k].right, RUNS);
}

static void one_engine(void** state) {
  (void)state;
  pb_rt* rt;
  if (pb_rt_load(PATH, 0, &rt)) fail_msg("%s", pb_rt_error());
  caller callers[2] = {{.rt = rt, .number = 0}, {.rt = rt, .number = 1}};
  both(run_often, callers);
  pb_rt_free(rt);
  for (int k = 0; k < 2; ++k) {
    assert_int_equal(callers[k].wrong, 0);
    assert_int_equal(callers[k].right + callers[k].busy, RUNS);
  }
  assert_true(callers[0].right + callers[1].right > 0);
}

static void* call_again(void* user) {
  run_once(user, 0);
  return NULL;
}

// The second call comes for certain while the first runs: from a thread that a step of the first waits for.
static void in_between(void* user, pb_rt* rt, int step) {
  pthread_t thread;
  (void)rt, (void)step;
  if (pthread_create(&thread, NULL, call_again, user)) fail();
  pthread_join(thread, NULL);
}

static void refused_while_it_runs(void** state) {
  (void)state;
  pb_rt* rt;
  if (pb_rt_load(PATH, 0, &rt)) fail_msg("%s", pb_rt_error());
  caller first = {.rt = rt, .number = 0}, second = {.rt = rt, .number = 1};
  pb_rt_set_after_step(rt, in_between, &second);
  run_once(&first, 0);
  assert_int_equal(first.right, 1);
  assert_int_equal(second.busy, 2); // after each of two steps
  pb_rt_set_after_step(rt, NULL, NULL);
  run_once(&second, 0);
  assert_int_equal(second.right, 1);
  pb_rt_free(rt);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(an_engine_each), cmocka_unit_test(one_engine),
                                     cmocka_unit_test(refused_while_it_runs)};
  return cmocka_run_group_tests(tests, make_engine, NULL);
}
