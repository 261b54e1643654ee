// Rows gathered by numbers that lie on the chip: bf16npu_gather.td, whose numbers and rows lie among its vectors.
#include "kernel.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

enum { ROWS = 9, WIDE = 48, NUMBERS = 5 };

static const int32_t numbers[NUMBERS] = {3, -7, 8, 1000000, 3};
static const char* const bring = "arg=0 off=0 si=0 sj=0 ni=1 nj=1 nb=5 loc=0 li=0 lj=0 ilo=0 ihi=1 jlo=0 jhi=1";
static const char* const gather = "arg=1 off=0 st=96 nt=9 ids=0 ni=5 nb=48 loc=4096 li=96";
static const char* const leave = "arg=2 off=0 si=96 sj=0 ni=5 nj=1 nb=48 loc=4096 li=96 lj=0";

static void open_table(kernel* k, float table[ROWS][WIDE]) {
  for (int r = 0; r < ROWS; ++r)
    for (int c = 0; c < WIDE; ++c) table[r][c] = (float)(100 * r + c);
  kernel_open(k, PB_SOURCE_DIR "/tests/chips/bf16npu_gather.td", NULL);
  kernel_argument(k, numbers, sizeof numbers);
  kernel_argument(k, table, sizeof(float[ROWS][WIDE]));
}

// Numbers are kept among the table's rows, and of memory no other rows are read: six beats of 64 bytes each.
static void rows_are_those_named(void** state) {
  (void)state;
  kernel k;
  float table[ROWS][WIDE], y[NUMBERS][WIDE];
  open_table(&k, table);
  uint64_t to = kernel_argument(&k, NULL, sizeof y);
  put(&k, "IN_VEC", bring, "", "");
  put(&k, "ROWS", gather, "", "ST");
  put(&k, "OUT_VEC", leave, "LD", "");
  if (kernel_run(&k)) fail_msg("%s", k.ops->last_fault(k.device));
  assert_int_equal(k.ops->copy_out(k.device, to, y, sizeof y), 0);
  static const int expected[NUMBERS] = {3, 0, 8, 8, 3};
  for (int n = 0; n < NUMBERS; ++n) assert_memory_equal(y[n], table[expected[n]], sizeof y[n]);
  assert_int_equal(kernel_counter(&k, "dram.read"), 64 + NUMBERS * 192); // rows of 192 bytes begin at whole beats
  kernel_close(&k);
}

static void numbers_must_be_there(void** state) {
  (void)state;
  kernel k;
  float table[ROWS][WIDE];
  open_table(&k, table);
  put(&k, "ROWS", gather, "", "");
  kernel_refused(&k, "operand 'rows' reads bytes [0, 20) of VEC; byte 0 is uninitialised");
}

// The table is as large as the command says, whichever rows are named.
static void the_table_is_bounded(void** state) {
  (void)state;
  kernel k;
  float table[ROWS][WIDE];
  open_table(&k, table);
  put(&k, "IN_VEC", bring, "", "");
  put(&k, "ROWS", "arg=1 off=0 st=96 nt=10 ids=0 ni=5 nb=48 loc=4096 li=96", "", "");
  kernel_refused(&k, "operand 'table' touches bytes");
}

// Who writes the numbers again in another queue is in no order with who reads them.
static void numbers_are_ordered(void** state) {
  (void)state;
  kernel k;
  float table[ROWS][WIDE];
  open_table(&k, table);
  put(&k, "IN_VEC", bring, "", "");
  put(&k, "ROWS", gather, "", "");
  put(&k, "PARAMETERS", "arg=0 off=0 si=0 sj=0 ni=1 nj=1 nb=5 loc=0 li=0 lj=0", "", "");
  kernel_refused(&k, "race");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(rows_are_those_named),
      cmocka_unit_test(numbers_must_be_there),
      cmocka_unit_test(the_table_is_bounded),
      cmocka_unit_test(numbers_are_ordered),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
