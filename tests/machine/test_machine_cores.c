// Several cores: queues, tokens, state and memories of their own, one system memory and one port.
#include "kernel.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum { BYTES = 1024 };

static void open_cores(kernel* k, uint64_t* to) {
  static int8_t data[4 * BYTES];
  for (int b = 0; b < 4 * BYTES; ++b) data[b] = (int8_t)(b / BYTES + 1);
  kernel_open(k, PB_SOURCE_DIR "/tests/chips/fourcore.td", NULL);
  kernel_argument(k, data, sizeof data);
  *to = kernel_argument(k, NULL, 4 * BYTES);
}

// A kilobyte in and out again, by way of the same addresses of the core's memory.
static void copy(kernel* k, int core, int from, int to, const char* waits, const char* signals) {
  char text[128];
  k->core = core;
  snprintf(text, sizeof text, "arg=0 off=%d si=0 sj=512 nj=2 nb=512 loc=0 lj=512", from * BYTES);
  put(k, "IN", text, "", signals);
  snprintf(text, sizeof text, "arg=1 off=%d si=0 sj=512 nj=2 nb=512 loc=0 lj=512", to * BYTES);
  put(k, "OUT", text, waits, "");
}

static void run(kernel* k) {
  if (kernel_run(k)) fail_msg("%s", k->ops->last_fault(k->device));
}

static void memories_are_their_own(void** state) {
  (void)state;
  kernel k;
  uint64_t to;
  int8_t got[4 * BYTES];
  open_cores(&k, &to);
  for (int core = 0; core < 4; ++core) copy(&k, core, core, 3 - core, "LD", "OU");
  run(&k);
  k.ops->copy_out(k.device, to, got, sizeof got);
  for (int b = 0; b < 4 * BYTES; ++b) assert_int_equal(got[b], 4 - b / BYTES);
  kernel_close(&k);
}

// 480 queues, whose streams a submission points to: the last core's work as the first one's; without them it is
// refused.
static void many_queues(void** state) {
  (void)state;
  kernel k;
  static int8_t data[BYTES];
  int8_t got[BYTES];
  for (int b = 0; b < BYTES; ++b) data[b] = (int8_t)(b * 7);
  kernel_open(&k, PB_SOURCE_DIR "/tests/chips/eightycore.td", NULL);
  assert_int_equal(pb_chip_queues(k.chip), 480);
  kernel_argument(&k, data, sizeof data);
  uint64_t to = kernel_argument(&k, NULL, BYTES);
  copy(&k, 79, 0, 0, "LD", "ST");
  run(&k);
  k.ops->copy_out(k.device, to, got, sizeof got);
  assert_memory_equal(got, data, BYTES);
  pb_submission bare = {.queue_count = 480};
  assert_int_not_equal(k.ops->submit(k.device, &bare), 0);
  assert_non_null(strstr(k.ops->last_fault(k.device), "no list of their streams"));
  kernel_close(&k);
}

// Tokens are among a core's queues: those of another are not taken for them.
static void tokens_are_their_own(void** state) {
  (void)state;
  kernel k;
  uint64_t to;
  open_cores(&k, &to);
  copy(&k, 0, 0, 0, "LD", "OU");
  copy(&k, 1, 1, 1, "LD", "");
  copy(&k, 2, 2, 2, "LD", "OU");
  assert_int_not_equal(kernel_run(&k), 0);
  const char* text = k.ops->last_fault(k.device);
  assert_non_null(strstr(text, "hang"));
  assert_non_null(strstr(text, "1.OU: command 0"));
  assert_non_null(strstr(text, "waits for LD"));
  assert_non_null(strstr(text, "0.OU: all 1 commands started"));
  kernel_close(&k);
}

static void nothing_is_seen_of_another(void** state) {
  (void)state;
  kernel k;
  uint64_t to;
  open_cores(&k, &to);
  copy(&k, 0, 0, 0, "LD", "OU");
  k.core = 3;
  put(&k, "OUT", "arg=1 off=1024 si=0 sj=512 nj=2 nb=512 loc=0 lj=512", "", "");
  assert_int_not_equal(kernel_run(&k), 0);
  const char* text = k.ops->last_fault(k.device);
  if (!strstr(text, "queue 3.OU, command 0") || !strstr(text, "uninitialised")) fail_msg("%s", text);
  kernel_close(&k);
}

// What two cores write of the system's memory nothing orders.
static void cores_race(void** state) {
  (void)state;
  kernel k;
  uint64_t to;
  open_cores(&k, &to);
  copy(&k, 0, 0, 2, "LD", "OU");
  copy(&k, 1, 1, 2, "LD", "OU");
  assert_int_not_equal(kernel_run(&k), 0);
  const char* text = k.ops->last_fault(k.device);
  if (!strstr(text, "race") || !strstr(text, "0.OU") || !strstr(text, "1.OU")) fail_msg("%s", text);
  kernel_close(&k);
}

static uint64_t cycles_of(int cores) {
  kernel k;
  uint64_t to;
  open_cores(&k, &to);
  for (int core = 0; core < cores; ++core) copy(&k, core, core, core, "LD", "OU");
  run(&k);
  uint64_t cycles = kernel_counter(&k, "cycles");
  for (int core = 0; core < 4; ++core) {
    char name[32];
    snprintf(name, sizeof name, "busy.%d.LD", core);
    assert_int_equal(kernel_counter(&k, name) > 0, core < cores);
  }
  kernel_close(&k);
  return cycles;
}

// A core moves 32 bytes a cycle, the port 64: two have all that they can use, four half of it each, all alike.
static void the_port_is_shared(void** state) {
  (void)state;
  uint64_t one = cycles_of(1), two = cycles_of(2), four = cycles_of(4);
  assert_in_range(two, one, one + 8);
  assert_in_range(four, two + 2 * (BYTES / 32) - 8, two + 2 * (BYTES / 32) + 24);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(memories_are_their_own),
                                     cmocka_unit_test(many_queues),
                                     cmocka_unit_test(tokens_are_their_own),
                                     cmocka_unit_test(nothing_is_seen_of_another),
                                     cmocka_unit_test(cores_race),
                                     cmocka_unit_test(the_port_is_shared)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
