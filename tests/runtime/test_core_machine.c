// The machine of cores with movers beside them: what moves bring is there when code has waited for them, and not
// before; what they take is what code has left there by then; a core's clock says how long it waited.
#include "core/runtime/core_machine.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

typedef int64_t (*begin_call)(int64_t);
typedef void (*wait_call)(int64_t, int64_t);
typedef void (*end_call)(int64_t);
typedef void (*move_call)(int64_t, int64_t, int64_t, int64_t, int64_t, int64_t, int64_t, int64_t, int64_t, int64_t,
                          int64_t, int64_t, int64_t, int64_t, int64_t);

typedef void (*touch_call)(int64_t, int64_t, int64_t, int64_t);

typedef struct machine {
  pb__core_machine* own;
  uint64_t table[PB_CORE_CALLS];
  begin_call begin;
  move_call move;
  wait_call wait;
  end_call end;
  touch_call touch;
  int64_t core;
} machine;

enum { LATENCY = 100, START = 10, DEPTH = 2, IN = 0, OUT = 1 };

// One mover, 4 bytes a cycle outside.
static pb_memory memories[] = {{.name = "DRAM", .bytes_per_cycle = 4, .latency = LATENCY},
                               {.name = "TCM", .bytes_per_cycle = 64}};
static pb_core_mover mover = {
    .name = "DMA", .near = 1, .in = true, .out = true, .loops = 2, .depth = DEPTH, .start_cycles = START};
static const pb_chip chip = {
    .memories = memories, .memory_count = 2, .system_memory = 0, .core_movers = &mover, .core_mover_count = 1};

static void take(const machine* m, pb_core_call call, void* function) {
  memcpy(function, &m->table[call], sizeof(begin_call));
}

static machine open_machine(void) {
  machine m;
  m.own = pb__core_machine_open(&chip, m.table);
  take(&m, PB_CORE_BEGIN, &m.begin);
  take(&m, PB_CORE_MOVE, &m.move);
  take(&m, PB_CORE_WAIT, &m.wait);
  take(&m, PB_CORE_END, &m.end);
  take(&m, PB_CORE_TOUCH, &m.touch);
  m.core = m.begin((int64_t)m.table[PB_CORE_OF]);
  return m;
}

static int64_t* clock_of(const machine* m) { return (int64_t*)(uintptr_t)m->core; }

static void move(const machine* m, int direction, int64_t flag, const void* to, const void* from, int64_t bytes) {
  m->move(m->core, direction, flag, (int64_t)(uintptr_t)to, (int64_t)(uintptr_t)from, bytes, 1, 0, 0, 1, 0, 0, 1, 0, 0);
}

static uint64_t close_machine(machine* m) {
  m->end(m->core);
  uint64_t cycles = pb__core_machine_cycles(m->own);
  pb__core_machine_close(m->own);
  return cycles;
}

static void test_brings_when_waited_for(void** state) {
  (void)state;
  machine m = open_machine();
  int32_t outside[] = {1, 2, 3, 4}, near[] = {9, 9, 9, 9};
  move(&m, IN, 0, near, outside, sizeof near);
  for (int k = 0; k < 4; ++k) assert_int_equal(near[k], -1);
  assert_int_equal(*clock_of(&m), START);
  *clock_of(&m) += 50; // code goes on
  m.wait(m.core, 0);
  assert_memory_equal(near, outside, sizeof near);
  assert_int_equal(*clock_of(&m), START + 4 + LATENCY);
  m.wait(m.core, 0); // it is there
  m.wait(m.core, 7); // nothing was started for that
  assert_int_equal(close_machine(&m), START + 4 + LATENCY);
}

static void test_takes_what_is_left(void** state) {
  (void)state;
  machine m = open_machine();
  int32_t outside[2] = {0}, near[] = {1, 2};
  move(&m, OUT, 0, outside, near, sizeof near);
  near[1] = 5; // too early
  m.wait(m.core, 0);
  assert_int_equal(outside[1], 5);
  near[0] = 6;
  move(&m, OUT, 0, outside, near, sizeof near); // nobody waits but for the end
  assert_int_equal(close_machine(&m), START + 2 + START + 2);
  assert_int_equal(outside[0], 6);
}

// The third move waits for the first one, whose place it takes; all go by one port.
static void test_has_so_many_under_way(void** state) {
  (void)state;
  machine m = open_machine();
  int32_t outside[3][64], near[3][64];
  for (int k = 0; k < 3; ++k) memset(outside[k], k, sizeof outside[k]);
  for (int k = 0; k < 3; ++k) move(&m, IN, k, near[k], outside[k], sizeof near[k]);
  assert_memory_equal(near[0], outside[0], sizeof near[0]);
  assert_int_equal(near[1][0], -1);
  assert_int_equal(*clock_of(&m), START + 64 + LATENCY);
  m.wait(m.core, 2);
  assert_memory_equal(near[1], outside[1], sizeof near[1]);
  assert_memory_equal(near[2], outside[2], sizeof near[2]);
  assert_int_equal(close_machine(&m), START + 64 + LATENCY + 64 + LATENCY);
}

static void test_repeats_runs(void** state) {
  (void)state;
  machine m = open_machine();
  uint8_t outside[4][8], near[2][2][3];
  for (int k = 0; k < 32; ++k) outside[k / 8][k % 8] = (uint8_t)k;
  m.move(m.core, IN, 0, (int64_t)(uintptr_t)near, (int64_t)(uintptr_t)outside, 3, 2, 6, 16, 2, 3, 4, 1, 0, 0);
  m.wait(m.core, 0);
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 2; ++j) assert_memory_equal(near[i][j], &outside[2 * i][4 * j], 3);
  assert_int_equal(close_machine(&m), START + 4 + LATENCY); // a beat each
}

// What code touches is told once, and nothing where it may.
static bool touched(const machine* m, const void* at, int64_t bytes, bool writes, const char* told) {
  char fault[96] = "";
  m->touch(m->core, (int64_t)(uintptr_t)at, bytes, writes);
  bool any = pb__core_machine_fault(m->own, fault, sizeof fault);
  assert_false(pb__core_machine_fault(m->own, fault, sizeof fault));
  return any ? strstr(fault, told) != NULL : !*told;
}

static void test_tells_of_what_is_not_waited_for(void** state) {
  (void)state;
  machine m = open_machine();
  uint8_t outside[4][8] = {{0}}, near[2][8] = {{0}};
  assert_true(touched(&m, near, 8, true, ""));
  // rows 0 and 2, of each its bytes 0 to 2 and 4 to 6
  m.move(m.core, IN, 0, (int64_t)(uintptr_t)near, (int64_t)(uintptr_t)outside, 3, 2, 8, 16, 2, 4, 4, 1, 0, 0);
  assert_true(touched(&m, &near[0][2], 1, false, "it reads 1 bytes that a move by DMA writes"));
  assert_true(touched(&m, &near[1][1], 2, true, "it writes 2 bytes that a move by DMA writes"));
  assert_true(touched(&m, &near[0][3], 1, true, "")); // between two runs
  assert_true(touched(&m, &near[0][3], 2, false, "reads"));
  assert_true(touched(&m, &outside[2][4], 1, false, ""));
  assert_true(touched(&m, &outside[2][4], 1, true, "it writes 1 bytes that a move by DMA reads"));
  assert_true(touched(&m, outside[1], 8, true, ""));
  m.wait(m.core, 0);
  assert_true(touched(&m, near, sizeof near, true, ""));
  move(&m, OUT, 1, outside[0], near[0], 8);
  move(&m, OUT, 2, outside[1], near[1], 8);
  m.wait(m.core, 1);
  assert_true(touched(&m, near[0], 8, true, ""));
  assert_true(touched(&m, near[1], 8, false, ""));
  assert_true(touched(&m, near[1], 8, true, "it writes 8 bytes that a move by DMA reads"));
  assert_true(touched(&m, outside[1], 8, false, "it reads 8 bytes that a move by DMA writes"));
  (void)close_machine(&m);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_brings_when_waited_for),
                                     cmocka_unit_test(test_takes_what_is_left),
                                     cmocka_unit_test(test_has_so_many_under_way), cmocka_unit_test(test_repeats_runs),
                                     cmocka_unit_test(test_tells_of_what_is_not_waited_for)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
