// Reads for several cores: one of the system's memory fills a memory of each, and starts when the last has come to it.
#include "kernel.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum { BYTES = 1024, PORT = 16, LATENCY = 100 };

static void open_cores(kernel* k, uint64_t* to) {
  static int8_t data[2 * BYTES];
  for (int b = 0; b < 2 * BYTES; ++b) data[b] = (int8_t)(b * 7 + b / BYTES);
  kernel_open(k, PB_SOURCE_DIR "/tests/chips/fourcore_broadcast.td", NULL);
  kernel_argument(k, data, sizeof data);
  *to = kernel_argument(k, NULL, 4 * BYTES);
}

// A kilobyte from `off` to place `loc` of each of the cores' memories, whoever `cores` says.
static void load(kernel* k, int core, int off, int loc, int cores, const char* signals) {
  char text[128];
  k->core = core;
  snprintf(text, sizeof text, "arg=0 off=%d si=0 sj=512 nj=2 nb=512 loc=%d lj=512 cores=%d", off, loc, cores);
  put(k, "IN", text, "", signals);
}

static void store(kernel* k, int core, int loc) {
  char text[128];
  k->core = core;
  snprintf(text, sizeof text, "arg=1 off=%d si=0 sj=512 nj=2 nb=512 loc=%d lj=512", core * BYTES, loc);
  put(k, "OUT", text, "LD", "");
}

static void run(kernel* k) {
  if (kernel_run(k)) fail_msg("%s", k->ops->last_fault(k->device));
}

// Each has it where its own command says.
static void one_read_fills_all(void** state) {
  (void)state;
  kernel k;
  uint64_t to;
  int8_t got[4 * BYTES];
  open_cores(&k, &to);
  for (int core = 0; core < 4; ++core) load(&k, core, BYTES, 512 * core, 15, "OU");
  for (int core = 0; core < 4; ++core) store(&k, core, 512 * core);
  run(&k);
  k.ops->copy_out(k.device, to, got, sizeof got);
  for (int b = 0; b < 4 * BYTES; ++b) assert_int_equal(got[b], (int8_t)((b % BYTES + BYTES) * 7 + 1));
  assert_int_equal(kernel_counter(&k, "dram.read"), BYTES);
  kernel_close(&k);
}

static uint64_t cycles_of(int cores, bool together) {
  kernel k;
  uint64_t to;
  open_cores(&k, &to);
  for (int core = 0; core < cores; ++core) load(&k, core, 0, 0, together ? (1 << cores) - 1 : 0, "");
  run(&k);
  uint64_t cycles = kernel_counter(&k, "cycles");
  for (int core = 0; core < cores; ++core) {
    char name[32];
    snprintf(name, sizeof name, "busy.%d.LD", core);
    assert_true(kernel_counter(&k, name) >= BYTES / PORT);
  }
  kernel_close(&k);
  return cycles;
}

// As long as one read, but for the words of the others' commands.
static void the_port_is_asked_once(void** state) {
  (void)state;
  uint64_t one = cycles_of(1, false), apart = cycles_of(4, false), together = cycles_of(4, true);
  assert_in_range(together, one, one + 16);
  assert_in_range(apart, one + 3 * BYTES / PORT - 8, one + 3 * BYTES / PORT + 24);
}

// Cores that it is not for go on.
static void the_last_is_waited_for(void** state) {
  (void)state;
  kernel k;
  uint64_t to;
  open_cores(&k, &to);
  for (int n = 0; n < 8; ++n) load(&k, 2, 0, 0, 0, "");
  for (int core = 0; core < 3; core += 2) load(&k, core, 0, 4096, 5, "");
  load(&k, 1, 0, 0, 2, ""); // its own bit alone
  run(&k);
  uint64_t busy = kernel_counter(&k, "stall.0.LD"), other = kernel_counter(&k, "stall.1.LD");
  assert_true(busy > 8 * BYTES / PORT / 2 && other < LATENCY);
  kernel_close(&k);
}

static void who_never_comes(void** state) {
  (void)state;
  kernel k;
  uint64_t to;
  open_cores(&k, &to);
  load(&k, 0, 0, 0, 7, "");
  load(&k, 2, 0, 0, 7, "");
  load(&k, 1, 0, 0, 0, "");
  kernel_refused(&k, "cores=0,1,2), core 1 has not come to it");
}

static void all_read_the_same(void** state) {
  (void)state;
  kernel k;
  uint64_t to;
  open_cores(&k, &to);
  load(&k, 0, 0, 0, 3, "");
  load(&k, 1, 16, 0, 3, "");
  kernel_refused(&k, "it reads for queue 1.LD too, whose command 0 reads something else");
}

static void for_itself_too(void** state) {
  (void)state;
  kernel k;
  uint64_t to;
  open_cores(&k, &to);
  load(&k, 3, 0, 0, 3, "");
  kernel_refused(&k, "it reads for cores 0x3, and is core 3's of 4");
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(one_read_fills_all),     cmocka_unit_test(the_port_is_asked_once),
                                     cmocka_unit_test(the_last_is_waited_for), cmocka_unit_test(who_never_comes),
                                     cmocka_unit_test(all_read_the_same),      cmocka_unit_test(for_itself_too)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
