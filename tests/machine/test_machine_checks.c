// Faults: each program is right but for one thing.
#include "kernel.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void open_with_buffers(kernel* k, const char* options) {
  static const int8_t data[4096];
  kernel_open(k, "simnpu", options);
  kernel_argument(k, data, sizeof data);
  kernel_argument(k, NULL, 4096);
}

static void expect_fault(kernel* k, const char* const* words) {
  int code = kernel_run(k);
  const char* text = k->ops->last_fault(k->device);
  assert_int_not_equal(code, 0);
  for (; *words; ++words)
    if (!strstr(text, *words)) fail_msg("'%s' is not in: %s", *words, text);
  kernel_close(k);
}
#define EXPECT(k, ...) expect_fault(k, (const char* const[]){__VA_ARGS__, NULL})

static void tokens_make_order(void** state) {
  (void)state;
  kernel k;
  open_with_buffers(&k, NULL);
  put(&k, "LDS0", "arg=0 nb=256 loc=0", "", "ST");
  put(&k, "STS", "arg=1 nb=256 loc=0", "L0", "L0");
  put(&k, "LDS0", "arg=0 nb=256 loc=0", "ST", "");
  if (kernel_run(&k)) fail_msg("%s", k.ops->last_fault(k.device));
  kernel_close(&k);
}

static void order_is_transitive(void** state) {
  (void)state;
  kernel k;
  open_with_buffers(&k, NULL);
  put(&k, "LDS0", "arg=0 nb=256 loc=0", "", "WX");
  put(&k, "WLD", "src=0 sk=1 w=0", "L0", "ST");
  put(&k, "STS", "arg=1 nb=256 loc=0", "WX", "");
  if (kernel_run(&k)) fail_msg("%s", k.ops->last_fault(k.device));
  kernel_close(&k);
}

// Both read after the load; the second load only waits for one of them.
static void read_before_write_races(void** state) {
  (void)state;
  kernel k;
  open_with_buffers(&k, NULL);
  put(&k, "LDS0", "arg=0 nb=256 loc=0", "", "WX ST");
  put(&k, "WLD", "src=0 sk=1 w=0", "L0", "");
  put(&k, "STS", "arg=1 nb=256 loc=0", "L0", "L0");
  put(&k, "LDS0", "arg=0 nb=256 loc=0", "ST", "");
  EXPECT(&k, "race", "queue L0, command 1", "queue WX, command 0", "SPAD", "writes bytes [0, 16)");
}

static void dropped_wait_races(void** state) {
  (void)state;
  kernel k;
  open_with_buffers(&k, NULL);
  put(&k, "LDS0", "arg=0 nb=4095 loc=0", "", "");
  put(&k, "LDS1", "arg=0 nb=16 loc=8192", "", "");
  put(&k, "LDS1", "arg=0 nb=16 loc=128", "", "");
  EXPECT(&k, "race", "queue L1, command 1 (LDS1", "queue L0, command 0 (LDS0", "SPAD");
}

// Strides in configuration state: the rows of a command are those of the state that it found, not of what the state has
// become by the time that the race shows. LD's second move goes on with other strides while EX still sums.
static void race_names_rows_of_then(void** state) {
  (void)state;
  static const int8_t data[4096];
  kernel k;
  kernel_open(&k, PB_SOURCE_DIR "/tests/chips/gemmini.td", NULL);
  kernel_argument(&k, data, sizeof data);
  put(&k, "CONFIG_LD", "si=16 sj=16 li=16 lj=16", "", "");
  put(&k, "MVIN", "arg=0 nj=16 nb=16 loc=4096", "", "EX");
  put(&k, "MVIN", "arg=0 nj=2 nb=16 loc=0", "", "");
  put(&k, "CONFIG_LD", "si=16 sj=16 li=16 lj=1024", "", "");
  put(&k, "MVIN", "arg=0 nj=2 nb=16 loc=512", "", "");
  put(&k, "CONFIG_EX", "da=1", "LD", "");
  for (int n = 0; n < 20; ++n) put(&k, "SUM", "m_=16 a=256 c=0 keep=0", "", "");
  put(&k, "SUM", "m_=1 a=1 c=0 keep=0", "", "");
  EXPECT(&k, "race", "reads bytes [16, 32) of SP", "queue LD, command 2 (MVIN", "dst=0[1:16,2:16,16]");
}

// Two queues may write parts of a row that do not meet.
static void parts_of_a_row_do_not_race(void** state) {
  (void)state;
  kernel k;
  open_with_buffers(&k, NULL);
  put(&k, "LDS0", "arg=0 nb=8 loc=0", "", "ST");
  put(&k, "LDS1", "arg=0 nb=8 loc=8", "", "ST");
  put(&k, "STS", "arg=1 nb=16 loc=0", "L0 L1", "");
  if (kernel_run(&k)) fail_msg("%s", k.ops->last_fault(k.device));
  kernel_close(&k);
}

static void system_memory_races(void** state) {
  (void)state;
  kernel k;
  open_with_buffers(&k, NULL);
  put(&k, "LDS0", "arg=0 nb=256 loc=0", "", "ST");
  put(&k, "STS", "arg=1 nb=256 loc=0", "L0", "");
  put(&k, "LDS0", "arg=0 nb=4095 loc=4096", "", "");
  put(&k, "LDS0", "arg=0 nb=4095 loc=4096", "", "");
  put(&k, "LDS0", "arg=1 nb=16 loc=1024", "", "");
  EXPECT(&k, "race", "queue L0, command 3", "queue ST, command 0", "DRAM");
}

static void missing_signal_hangs(void** state) {
  (void)state;
  kernel k;
  open_with_buffers(&k, NULL);
  put(&k, "LDS0", "arg=0 nb=256 loc=0", "", "");
  put(&k, "WLD", "src=0 sk=1 w=0", "L0", "");
  put(&k, "STS", "arg=1 nb=256 loc=0", "WX", "");
  EXPECT(&k, "hang", "WX: command 0 (WLD", "waits for L0", "ST: command 0 (STS", "waits for WX",
         "L0: all 1 commands started");
}

static void full_counter_hangs(void** state) {
  (void)state;
  kernel k;
  open_with_buffers(&k, NULL);
  for (int n = 0; n < 64; ++n) put(&k, "LDS0", "arg=0 nb=1 loc=0", "", "ST");
  EXPECT(&k, "hang", "command 63 cannot signal ST");
}

static void unused_token(void** state) {
  (void)state;
  kernel k;
  open_with_buffers(&k, NULL);
  put(&k, "LDS0", "arg=0 nb=1 loc=0", "", "ST");
  EXPECT(&k, "1 tokens from queue L0 to queue ST");
}

static void uninitialised_reads(void** state) {
  (void)state;
  kernel k;
  open_with_buffers(&k, NULL);
  put(&k, "LDS0", "arg=0 nb=255 loc=0", "", "WX");
  put(&k, "WLD", "src=0 sk=1 w=0", "L0", "");
  EXPECT(&k, "queue WX, command 0", "WLD", "byte 255 is uninitialised", "SPAD");
  open_with_buffers(&k, NULL);
  put(&k, "LDS0", "arg=1 nb=16 loc=0", "", "");
  EXPECT(&k, "queue L0, command 0", "uninitialised", "DRAM");
}

// What one kernel left on the chip, the next may not use.
static void chip_is_empty_at_start(void** state) {
  (void)state;
  kernel k;
  open_with_buffers(&k, NULL);
  put(&k, "LDS0", "arg=0 nb=256 loc=0", "", "");
  assert_int_equal(kernel_run(&k), 0);
  kernel_clear(&k);
  put(&k, "STS", "arg=1 nb=256 loc=0", "", "");
  EXPECT(&k, "queue ST, command 0", "uninitialised");
}

static int memory_named(const kernel* k, const char* name) {
  for (int m = 0; m < k->chip->memory_count; ++m)
    if (!strcmp(k->chip->memories[m].name, name)) return m;
  return -1;
}

// A kernel's bytes that another one is to take: 13 of them, so that neither end is whole words.
static void leave_some(kernel* k) {
  open_with_buffers(k, NULL);
  put(k, "LDS0", "arg=0 nb=256 loc=0", "", "");
  assert_int_equal(kernel_run(k), 0);
  kernel_clear(k);
  k->kept[k->kept_count++] = (pb_device_kept){(uint32_t)memory_named(k, "SPAD"), 35, 13};
}

static void what_is_kept_is_there(void** state) {
  (void)state;
  kernel k;
  leave_some(&k);
  put(&k, "STS", "arg=1 nb=13 loc=35", "", "");
  assert_int_equal(kernel_run(&k), 0);
  kernel_close(&k);
  for (int before = 0; before < 2; ++before) { // and nothing beside it
    leave_some(&k);
    put(&k, "STS", before ? "arg=1 nb=13 loc=34" : "arg=1 nb=13 loc=36", "", "");
    EXPECT(&k, "queue ST, command 0", before ? "byte 34 is uninitialised" : "byte 48 is uninitialised");
  }
}

static void what_is_kept_is_not_written_over(void** state) {
  (void)state;
  kernel k;
  leave_some(&k);
  put(&k, "LDS0", "arg=0 nb=3 loc=32", "", "");
  put(&k, "LDS0", "arg=0 nb=16 loc=48", "", "");
  assert_int_equal(kernel_run(&k), 0);
  kernel_clear(&k);
  put(&k, "LDS0", "arg=0 nb=4 loc=32", "", "");
  EXPECT(&k, "queue L0, command 0", "writes bytes [32, 36) of SPAD, over what stays there, [35, 48)");
}

static void what_is_kept_nowhere(void** state) {
  (void)state;
  kernel k;
  leave_some(&k);
  k.kept[0].bytes = (uint64_t)k.chip->memories[k.kept[0].memory].bytes;
  EXPECT(&k, "what is to be kept, number 0, lies in no memory");
  leave_some(&k);
  k.kept[0].memory = (uint32_t)k.chip->system_memory;
  EXPECT(&k, "what is to be kept, number 0, lies in no memory");
}

static void out_of_bounds(void** state) {
  (void)state;
  kernel k;
  open_with_buffers(&k, "checks=0");
  put(&k, "LDS0", "arg=0 off=4081 nb=16 loc=0", "", "");
  EXPECT(&k, "queue L0, command 0 (LDS0", "DRAM", "out of bounds of its allocation");
  open_with_buffers(&k, "checks=0");
  put(&k, "LDS0", "arg=0 off=-1 nb=16 loc=0", "", "");
  EXPECT(&k, "out of bounds of its allocation");
  open_with_buffers(&k, "checks=0");
  put(&k, "LDS0", "arg=0 ni=1 nb=16 loc=262144", "", "");
  EXPECT(&k, "SPAD", "[262144, 262160)");
  open_with_buffers(&k, NULL);
  put(&k, "LDS0", "arg=5 nb=16 loc=0", "", "");
  EXPECT(&k, "argument 5 of 2");
}

static void limits(void** state) {
  (void)state;
  kernel k;
  open_with_buffers(&k, "limit=200");
  put(&k, "LDS0", "arg=0 nb=4095 loc=0", "", "");
  EXPECT(&k, "more than 200 cycles");
}

static void bad_options(void** state) {
  (void)state;
  kernel k;
  open_with_buffers(&k, NULL);
  pb_device* device = k.device;
  assert_int_not_equal(k.ops->open("sed=1", &device), 0);
  assert_null(device);
  assert_non_null(strstr(k.ops->last_fault(NULL), "sed=1"));
  assert_int_not_equal(k.ops->open("seed=", &device), 0);
  kernel_close(&k);
}

static void two_movers_share_the_port(void** state) {
  (void)state;
  kernel k;
  open_with_buffers(&k, NULL);
  put(&k, "LDS0", "arg=0 nb=4080 loc=0", "", "");
  assert_int_equal(kernel_run(&k), 0);
  uint64_t one = kernel_counter(&k, "cycles");
  put(&k, "LDS1", "arg=0 nb=4080 loc=8192", "", "");
  assert_int_equal(kernel_run(&k), 0);
  uint64_t two = kernel_counter(&k, "cycles") - one;
  assert_in_range(two - one, 240, 260);
  assert_in_range(kernel_counter(&k, "busy.L1"), 490, 512);
  kernel_close(&k);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(tokens_make_order),
                                     cmocka_unit_test(order_is_transitive),
                                     cmocka_unit_test(read_before_write_races),
                                     cmocka_unit_test(dropped_wait_races),
                                     cmocka_unit_test(race_names_rows_of_then),
                                     cmocka_unit_test(parts_of_a_row_do_not_race),
                                     cmocka_unit_test(system_memory_races),
                                     cmocka_unit_test(missing_signal_hangs),
                                     cmocka_unit_test(full_counter_hangs),
                                     cmocka_unit_test(unused_token),
                                     cmocka_unit_test(uninitialised_reads),
                                     cmocka_unit_test(what_is_kept_is_there),
                                     cmocka_unit_test(what_is_kept_is_not_written_over),
                                     cmocka_unit_test(what_is_kept_nowhere),
                                     cmocka_unit_test(chip_is_empty_at_start),
                                     cmocka_unit_test(out_of_bounds),
                                     cmocka_unit_test(limits),
                                     cmocka_unit_test(bad_options),
                                     cmocka_unit_test(two_movers_share_the_port)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
