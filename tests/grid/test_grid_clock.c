// What the machine's clock says: work for one scheduler takes as long as for all of them, and one warp more twice as
// long; lines that a block has come no more from the second-level cache.
#include "grid.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { PRODUCTS = 64, PROCESSORS = 108, SCHEDULERS = 4, SECTOR = 32, FAR_BYTES = 1102 }; // of sm_80

#define ENTRY                                                                                                          \
  ".version 7.8\n.target %s\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n .reg .b32 %%r<8>;\n .reg .b64 "   \
  "%%d<8>;\n .reg .f32 %%f<4>;\n"

static void load(grid* g, const char* processor, const char* line, int times) {
  char text[16384];
  int length = snprintf(text, sizeof text, ENTRY, processor);
  for (int k = 0; k < times; ++k) length += snprintf(text + length, sizeof text - (size_t)length, "%s", line);
  snprintf(text + length, sizeof text - (size_t)length, " ret;\n}\n");
  grid_open(g, NULL);
  grid_load(g, text);
}

// Cycles of a launch of products alone.
static uint64_t cycles_of(const char* processor, uint32_t blocks, uint32_t warps) {
  static uint32_t word;
  grid g;
  load(&g, processor, " fma.rn.f32 %f1, %f2, %f2, %f1;\n", PRODUCTS);
  grid_buffer(&g, &word, sizeof word);
  grid_runs(&g, "k", blocks, 32 * warps);
  uint64_t cycles = grid_counter(&g, "cycles");
  assert_int_equal(cycles, grid_counter(&g, "cycles.processors"));
  grid_close(&g);
  return cycles;
}

static void schedulers(void** state) {
  (void)state;
  uint64_t one = cycles_of("sm_80", 1, 1);
  assert_int_equal(one, 2 * PRODUCTS); // of 16 units
  assert_int_equal(cycles_of("sm_80", 1, SCHEDULERS), one);
  assert_int_equal(cycles_of("sm_80", PROCESSORS * SCHEDULERS, 1), one);
  assert_int_equal(cycles_of("sm_80", PROCESSORS, SCHEDULERS), one);
  assert_int_equal(cycles_of("sm_80", PROCESSORS * SCHEDULERS + 1, 1), 2 * one);
  assert_int_equal(cycles_of("sm_80", 1, SCHEDULERS + 1), 2 * one);
  assert_int_equal(cycles_of("sm_90a", 1, 1), PRODUCTS + 1); // of 32 units: instructions, with the end
}

static void caches(void** state) {
  (void)state;
  enum { BYTES = 1 << 16 };
  static uint8_t data[BYTES];
  grid g; // a warp of each of 512 blocks reads its line twice
  load(&g, "sm_80",
       " ld.param.u64 %d1, [p];\n mov.u32 %r1, %tid.x;\n mov.u32 %r2, %ctaid.x;\n shl.b32 %r2, %r2, 5;\n"
       " add.u32 %r1, %r1, %r2;\n mul.wide.u32 %d2, %r1, 4;\n add.s64 %d1, %d1, %d2;\n ld.global.u32 %r3, [%d1];\n"
       " ld.global.u32 %r4, [%d1];\n",
       1);
  grid_buffer(&g, data, sizeof data);
  grid_runs(&g, "k", BYTES / 128, 32);
  assert_int_equal(grid_counter(&g, "global.sectors"), 2 * BYTES / SECTOR);
  assert_int_equal(grid_counter(&g, "l2.sectors"), BYTES / SECTOR);
  assert_int_equal(grid_counter(&g, "dram.read"), BYTES);
  assert_int_equal(grid_counter(&g, "cycles.dram"), BYTES / FAR_BYTES);
  grid_close(&g);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(schedulers), cmocka_unit_test(caches)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
