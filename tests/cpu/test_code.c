// Groups of kernels are compiled at the same time in one context: what the first pipeline registers with the context is
// registered before. The pipelines of both threads begin together, again and again: where both registered,
// LeakSanitizer found what one of them lost.
#include "core/driver/pipeline.h"
#include "targets/control/threads/code.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

enum { CONTEXTS = 300, THREADS = 2 };

static int waiting;
static const pb_chip plain = {.features = "", .root_estimate = "", .tuning = ""}; // nothing of its cores is said

static void* make(void* code) {
  __atomic_add_fetch(&waiting, 1, __ATOMIC_SEQ_CST);
  while (__atomic_load_n(&waiting, __ATOMIC_SEQ_CST) < THREADS) continue;
  pb_code_make(code);
  return NULL;
}

static void test_groups_begin_together(void** state) {
  (void)state;
  for (int round = 0; round < CONTEXTS; ++round) {
    MlirContext context = pb_context_create();
    pb_code codes[THREADS];
    pthread_t threads[THREADS];
    memset(codes, 0, sizeof codes);
    pb_code_start(context);
    mlirContextEnableMultithreading(context, true);
    waiting = 0;
    for (int k = 0; k < THREADS; ++k) {
      codes[k].chip = &plain;
      codes[k].form = PB_CODE_LLVM;
      codes[k].kernels = mlirModuleCreateEmpty(mlirLocationUnknownGet(context));
      pb_text_add(&codes[k].entries, "module {}");
      assert_int_equal(pthread_create(&threads[k], NULL, make, &codes[k]), 0);
    }
    for (int k = 0; k < THREADS; ++k) {
      pthread_join(threads[k], NULL);
      assert_null(codes[k].why);
      assert_non_null(codes[k].text);
      pb_code_free(&codes[k]);
    }
    mlirContextEnableMultithreading(context, false);
    mlirContextDestroy(context);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_groups_begin_together)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
