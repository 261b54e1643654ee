// A queue whose commands complete in any order: what the order of a queue does elsewhere, tokens to itself do here.
#include "kernel.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum { BYTES = 64 };
static int8_t data[4096];
static uint64_t out;

static void begin(kernel* k, const char* chip, const char* options) {
  for (int b = 0; b < 4096; ++b) data[b] = (int8_t)(b * 5 + 1);
  kernel_open(k, chip, options);
  kernel_argument(k, data, sizeof data);
  out = kernel_argument(k, NULL, 4096);
}

static const char* const async = PB_SOURCE_DIR "/tests/chips/tinynpu_async.td";
static const char* const plain = PB_SOURCE_DIR "/tests/chips/tinynpu.td";

// Two commands of the queue, with or without a token from the first to the second.
static int run_two(const char* chip, const char* first, const char* first_fields, const char* second,
                   const char* second_fields, bool token, char* fault) {
  kernel k;
  begin(&k, chip, NULL);
  bool filled = !strcmp(first, "PUTB"), self = !k.chip->queues[0].in_order; // what it stores is there
  if (filled) put(&k, "GETB", "arg=0 off=0 nb=64 loc=0", "", self ? "DM" : "");
  put(&k, first, first_fields, filled && self ? "DM" : "", token ? "DM" : "");
  put(&k, second, second_fields, token ? "DM" : "", "");
  int code = kernel_run(&k);
  snprintf(fault, 2048, "%s", k.ops->last_fault(k.device));
  kernel_close(&k);
  return code;
}

static void its_own_commands_race(void** state) {
  (void)state;
  static const char* const cases[][4] = {
      {"GETB", "arg=0 off=0 nb=64 loc=0", "PUTB", "arg=1 off=0 nb=64 loc=0"},    // reads what is written
      {"GETB", "arg=0 off=0 nb=64 loc=0", "GETB", "arg=0 off=100 nb=8 loc=56"},  // writes it again
      {"PUTB", "arg=1 off=0 nb=64 loc=0", "GETB", "arg=0 off=100 nb=64 loc=63"}, // writes what is read
  };
  char fault[2048];
  for (size_t n = 0; n < sizeof cases / sizeof *cases; ++n) {
    const char* const* c = cases[n];
    assert_int_not_equal(run_two(async, c[0], c[1], c[2], c[3], false, fault), 0);
    if (!strstr(fault, "race") || !strstr(fault, "no chain of tokens")) fail_msg("%s", fault);
    if (run_two(async, c[0], c[1], c[2], c[3], true, fault)) fail_msg("%s", fault);
    if (run_two(plain, c[0], c[1], c[2], c[3], false, fault)) fail_msg("%s", fault);
  }
}

// Two that share nothing need no token.
static void apart(void** state) {
  (void)state;
  char fault[2048];
  if (run_two(async, "GETB", "arg=0 off=0 nb=64 loc=0", "GETB", "arg=0 off=0 nb=64 loc=64", false, fault))
    fail_msg("%s", fault);
}

// A token says that all that its queue began before is done, too, however late that came.
static void tokens_come_behind_all(void** state) {
  (void)state;
  for (int seed = 0; seed < 8; ++seed) {
    kernel k;
    char options[24];
    int8_t got[BYTES];
    snprintf(options, sizeof options, "seed=%d", seed);
    begin(&k, async, options);
    put(&k, "GETB", "arg=0 off=0 nj=8 nb=8 sj=8 lj=8 loc=0", "", "");
    put(&k, "GETB", "arg=0 off=0 nb=1 loc=1024", "", "VX");
    put(&k, "MAXC", "n_=8 a=0 da=1 y=8 dy=1", "DM", "DM");
    put(&k, "PUTB", "arg=1 off=0 nb=64 loc=64", "VX", "");
    if (kernel_run(&k)) fail_msg("%s", k.ops->last_fault(k.device));
    k.ops->copy_out(k.device, out, got, sizeof got);
    for (int b = 0; b < BYTES; ++b) assert_int_equal(got[b], data[b]);
    kernel_close(&k);
  }
}

// When each command of the queue is done, by the trace.
static uint64_t ends[8];
static void note(void* user, uint32_t queue, uint32_t index, uint64_t start, uint64_t end) {
  (void)user, (void)start;
  if (queue == 0 && index < 8) ends[index] = end;
}

static int overtakes(const char* chip) {
  int count = 0;
  for (int seed = 1; seed < 9; ++seed) {
    kernel k;
    char options[24];
    snprintf(options, sizeof options, "seed=%d", seed);
    begin(&k, chip, options);
    k.ops->set_trace(k.device, note, NULL);
    for (int n = 0; n < 8; ++n) {
      char text[64];
      snprintf(text, sizeof text, "arg=0 off=0 nb=8 loc=%d", 8 * n);
      put(&k, "GETB", text, "", "");
    }
    if (kernel_run(&k)) fail_msg("%s", k.ops->last_fault(k.device));
    for (int n = 1; n < 8; ++n) count += ends[n] < ends[n - 1];
    kernel_close(&k);
  }
  return count;
}

// The queue itself makes nothing wait: a store of what is loaded starts at once.
static void nothing_waits_by_itself(void** state) {
  (void)state;
  uint64_t end[2];
  for (int n = 0; n < 2; ++n) {
    kernel k;
    begin(&k, n ? plain : async, "checks=0");
    k.ops->set_trace(k.device, note, NULL);
    put(&k, "GETB", "arg=0 off=0 nb=64 loc=0", "", "");
    put(&k, "PUTB", "arg=1 off=0 nb=64 loc=0", "", "");
    if (kernel_run(&k)) fail_msg("%s", k.ops->last_fault(k.device));
    end[n] = ends[1];
    kernel_close(&k);
  }
  assert_true(end[0] + 30 < end[1]);
}

static void commands_overtake_each_other(void** state) {
  (void)state;
  assert_true(overtakes(async) > 8);
  assert_int_equal(overtakes(plain), 0);
}

// What waits for a token of its own queue that nothing before it hands out waits for ever.
static void a_token_that_never_comes(void** state) {
  (void)state;
  kernel k;
  begin(&k, async, NULL);
  put(&k, "GETB", "arg=0 off=0 nb=64 loc=0", "DM", "");
  assert_int_not_equal(kernel_run(&k), 0);
  assert_non_null(strstr(k.ops->last_fault(k.device), "hang"));
  assert_non_null(strstr(k.ops->last_fault(k.device), "waits for DM"));
  kernel_close(&k);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(its_own_commands_race),    cmocka_unit_test(apart),
      cmocka_unit_test(tokens_come_behind_all),   cmocka_unit_test(commands_overtake_each_other),
      cmocka_unit_test(a_token_that_never_comes), cmocka_unit_test(nothing_waits_by_itself),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
