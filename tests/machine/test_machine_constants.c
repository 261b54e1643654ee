// Memories of constants beside the system's: tpu_v1.td, whose weights come from one and whose codes from the other;
// edge_npu_three.td, whose weights come from two.
#include "kernel.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum { N = 256, TILE = N * N };

static const char* const tile = "arg=1 off=0 sk=256";
static const char* const row = "arg=0 off=0 nb=256 loc=0";

// Codes 0 to 127 and -128 to -1, and weights that give the sum of the row in column 0 and twice the code of the lane in
// the others.
static void open_both(kernel* k) {
  static int8_t x[N], w[TILE];
  memset(w, 0, sizeof w);
  for (int n = 0; n < N; ++n) x[n] = (int8_t)n;
  for (int n = 0; n < N; ++n) w[n * N] = 1, w[n * N + n] = n ? 2 : 1;
  kernel_open(k, PB_SOURCE_DIR "/tests/chips/tpu_v1.td", NULL);
  kernel_argument(k, x, sizeof x);
  kernel_constants(k, w, sizeof w);
}

static void both_are_read(void** state) {
  (void)state;
  kernel k;
  int32_t y[N];
  uint64_t beats = 0;
  for (uint64_t n = 0, at = 4096; n < N; ++n, at += N) beats += (at + N - 1) / 48 - at / 48 + 1; // row by row
  open_both(&k);
  uint64_t to = kernel_argument(&k, NULL, sizeof y);
  put(&k, "READ_HOST", row, "", "MM");
  put(&k, "READ_WEIGHTS", tile, "", "MM");
  put(&k, "MATRIX_MULTIPLY", "pop=1 keep=0 rows=1 a=0 c=0", "RD WT", "WR");
  put(&k, "WRITE_WORDS", "arg=2 off=0 nb=256 loc=0", "MM", "");
  if (kernel_run(&k)) fail_msg("%s", k.ops->last_fault(k.device));
  assert_int_equal(k.ops->copy_out(k.device, to, y, sizeof y), 0);
  assert_int_equal(y[0], -128); // the sum of -128 to 127
  for (int n = 1; n < N; ++n) assert_int_equal(y[n], 2 * (int8_t)n);
  assert_int_equal(kernel_counter(&k, "constants.read"), beats * 48);
  assert_int_equal(kernel_counter(&k, "dram.read"), 13 * 21); // 256 bytes from 4096, of which 21 are a beat
  kernel_close(&k);
}

// An argument of the one memory is none of the other's.
static void they_are_apart(void** state) {
  (void)state;
  kernel k;
  open_both(&k);
  put(&k, "READ_WEIGHTS", "arg=0 off=0 sk=256", "", "");
  kernel_refused(&k, "lies in no allocation of DRAM");
  open_both(&k);
  put(&k, "READ_HOST", "arg=1 off=0 nb=256 loc=0", "", "");
  kernel_refused(&k, "lies in no allocation of HOST");
  open_both(&k);
  put(&k, "READ_WEIGHTS", "arg=1 off=64 sk=256", "", "");
  kernel_refused(&k, "of DRAM, out of bounds of its allocation");
}

// How long a strip of codes and a tile of weights take, or one of the two. The tile is taken, as it must be.
static uint64_t cycles_of(bool codes, bool weights) {
  static int8_t x[72 * 1008], w[TILE];
  kernel k;
  kernel_open(&k, PB_SOURCE_DIR "/tests/chips/tpu_v1.td", "checks=0");
  kernel_argument(&k, x, sizeof x);
  kernel_constants(&k, w, sizeof w);
  if (codes) put(&k, "READ_HOST", "arg=0 off=0 si=1008 ni=72 nb=1008 loc=0 li=1008", "", "");
  if (weights) put(&k, "READ_WEIGHTS", tile, "", "MM");
  if (weights) put(&k, "MATRIX_MULTIPLY", "pop=1 keep=0 rows=1 a=1000 c=0", "WT", "");
  if (kernel_run(&k)) fail_msg("%s", k.ops->last_fault(k.device));
  uint64_t cycles = kernel_counter(&k, "cycles");
  kernel_close(&k);
  return cycles;
}

// Each has a port of its own: what comes by the one takes nothing from the other.
static void ports_are_apart(void** state) {
  (void)state;
  uint64_t codes = cycles_of(true, false), weights = cycles_of(false, true), both = cycles_of(true, true);
  assert_true(codes > 72 * 1008 / 21 && weights > TILE / 48);
  assert_int_equal(both, codes > weights ? codes : weights);
}

// A row of each of two memories of constants and one of tensors, as the arguments say, to the chip and out again.
enum { ROW = 32 };

static void open_three(kernel* k, int of_fast, int of_flash) {
  static int8_t rows[3][ROW];
  for (int r = 0; r < 3; ++r) memset(rows[r], 10 + r, ROW);
  char fast[48], flash[48];
  snprintf(fast, sizeof fast, "arg=%d off=0 ni=1 nj=1 nb=32 loc=32", of_fast);
  snprintf(flash, sizeof flash, "arg=%d off=0 ni=1 nj=1 nb=32 loc=64", of_flash);
  kernel_open(k, PB_SOURCE_DIR "/tests/chips/edge_npu_three.td", NULL);
  kernel_argument(k, rows[0], ROW);
  kernel_constants_in(k, 0, rows[1], ROW);
  kernel_constants_in(k, 1, rows[2], ROW);
  kernel_argument(k, NULL, 3 * ROW);
  put(k, "IN", "arg=0 off=0 ni=1 nj=1 nb=32 loc=0", "", "ST");
  put(k, "FAST_WEIGHTS", fast, "", "");
  put(k, "WEIGHTS", flash, "", "ST");
  put(k, "OUT", "arg=3 off=0 ni=1 nj=1 nb=96 loc=0", "LD WT", "");
}

static void three_are_read(void** state) {
  (void)state;
  kernel k;
  uint8_t y[3 * ROW];
  open_three(&k, 1, 2);
  if (kernel_run(&k)) fail_msg("%s", k.ops->last_fault(k.device));
  assert_int_equal(k.ops->copy_out(k.device, k.args[3], y, sizeof y), 0);
  for (int n = 0; n < 3 * ROW; ++n) assert_int_equal(y[n], 10 + n / ROW);
  assert_int_equal(kernel_counter(&k, "constants.read"), 2 * ROW);
  assert_int_equal(kernel_counter(&k, "constants.read.HBM"), ROW);
  assert_int_equal(kernel_counter(&k, "constants.read.ROM"), ROW);
  assert_int_equal(kernel_counter(&k, "dram.read"), ROW);
  kernel_close(&k);
  open_three(&k, 2, 1);
  kernel_refused(&k, "lies in no allocation of HBM");
  open_three(&k, 1, 0);
  kernel_refused(&k, "lies in no allocation of ROM");
}

// All of a memory of constants can be given out, and no more; another is another's.
static void all_is_given_out(void** state) {
  (void)state;
  kernel k;
  uint64_t fast, flash, more;
  kernel_open(&k, PB_SOURCE_DIR "/tests/chips/edge_npu_three.td", NULL);
  assert_int_equal(k.ops->alloc_constants_in(k.device, 0, 1 << 22, 64, &fast), 0);
  assert_int_not_equal(k.ops->alloc_constants_in(k.device, 0, 64, 64, &more), 0);
  assert_int_equal(k.ops->alloc_constants_in(k.device, 1, 1 << 22, 64, &flash), 0);
  assert_int_not_equal(fast, flash);
  assert_int_not_equal(k.ops->alloc_constants_in(k.device, 2, 64, 64, &more), 0);
  assert_non_null(strstr(k.ops->last_fault(k.device), "of that number"));
  kernel_close(&k);
}

static void others_have_none(void** state) {
  (void)state;
  kernel k;
  uint64_t address;
  kernel_open(&k, PB_SOURCE_DIR "/tests/chips/fourcore_1.td", NULL);
  assert_int_not_equal(k.ops->alloc_constants(k.device, 64, 64, &address), 0);
  assert_non_null(strstr(k.ops->last_fault(k.device), "no memory of scope \"constants\""));
  kernel_close(&k);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(both_are_read),  cmocka_unit_test(they_are_apart),   cmocka_unit_test(ports_are_apart),
      cmocka_unit_test(three_are_read), cmocka_unit_test(all_is_given_out), cmocka_unit_test(others_have_none),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
