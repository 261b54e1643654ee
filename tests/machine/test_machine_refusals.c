// More mutants for the machine's checks: each program or call is right but for one thing (test_machine_checks.c has the
// rest; tests/README.md lists check by check which mutant stands for it).
#include "kernel.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void open_with_buffers(kernel* k, const char* chip) {
  static const int8_t data[4096];
  kernel_open(k, chip, NULL);
  kernel_argument(k, data, sizeof data);
  kernel_argument(k, NULL, 4096);
}

static void expect_text(const kernel* k, int code, const char* word) {
  assert_int_not_equal(code, 0);
  const char* text = k->ops->last_fault(k->device);
  if (!strstr(text, word)) fail_msg("'%s' is not in: %s", word, text);
}

static void expect_fault(kernel* k, const char* word, const char* more) {
  expect_text(k, kernel_run(k), word);
  expect_text(k, 1, more);
  kernel_close(k);
}

static int queue_of(const kernel* k, const char* name) {
  int q = 0;
  while (strcmp(k->chip->queues[q].name, name)) ++q;
  return q;
}

// L0 has long been done with its row when ST reads it, but nothing says so: the order is luck. With the token it is
// not.
static void read_after_write_races(void** state) {
  (void)state;
  for (int ordered = 0; ordered < 2; ++ordered) {
    kernel k;
    open_with_buffers(&k, "simnpu");
    put(&k, "LDS0", "arg=0 nb=16 loc=0", "", ordered ? "ST" : "");
    put(&k, "LDS1", "arg=0 nb=4095 loc=8192", "", "ST");
    put(&k, "STS", "arg=1 nb=16 loc=8192", "L1", "");
    put(&k, "STS", "arg=1 nb=16 off=64 loc=0", ordered ? "L0" : "", "");
    if (!ordered) {
      expect_fault(&k, "race", "reads bytes [0, 16) of SPAD, which queue L0, command 0");
      continue;
    }
    if (kernel_run(&k)) fail_msg("%s", k.ops->last_fault(k.device));
    kernel_close(&k);
  }
}

static void no_allocation(void** state) {
  (void)state;
  kernel k;
  open_with_buffers(&k, "simnpu");
  k.args[0] = 1 << 20; // behind all that was allocated
  put(&k, "LDS0", "arg=0 nb=16 loc=0", "", "");
  expect_fault(&k, "operand 'src'", "lies in no allocation of DRAM");
}

// Windows that go backwards: this one ends below the memory's first byte.
static void below_the_memory(void** state) {
  (void)state;
  kernel k;
  open_with_buffers(&k, PB_SOURCE_DIR "/tests/machine/toy.td");
  put(&k, "LD", "arg=0 off=1 step=-1 n=2 loc=0", "", "");
  if (kernel_run(&k)) fail_msg("%s", k.ops->last_fault(k.device));
  kernel_clear(&k);
  put(&k, "LD", "arg=0 off=1 step=-1 n=3 loc=0", "", "");
  expect_fault(&k, "operand 's'", "out of bounds of its allocation");
}

static void commands_outside_memory(void** state) {
  (void)state;
  kernel k;
  open_with_buffers(&k, "simnpu");
  pb_submission s = {.queue_count = (uint32_t)k.chip->queue_count};
  s.stream[queue_of(&k, "ST")] = 1 << 20;
  s.count[queue_of(&k, "ST")] = 1;
  assert_int_equal(k.ops->submit(k.device, &s), 0);
  expect_text(&k, k.ops->wait(k.device), "queue ST, command 0");
  expect_text(&k, 1, "fetched from 0x100000, which lies in no allocation");
  kernel_close(&k);
}

// The stream ends where its allocation ends; a count of one more runs past it.
static void one_command_too_many(void** state) {
  (void)state;
  kernel k;
  open_with_buffers(&k, "simnpu");
  put(&k, "LDS0", "arg=0 nb=16 loc=0", "", "");
  uint64_t address, bytes = (uint64_t)k.chip->command_bytes;
  int q = queue_of(&k, "L0");
  assert_int_equal(k.ops->alloc(k.device, bytes, 64, &address), 0);
  assert_int_equal(k.ops->copy_in(k.device, address, k.stream[q], bytes), 0);
  pb_submission s = {.queue_count = (uint32_t)k.chip->queue_count, .arg_count = k.arg_count};
  memcpy(s.args, k.args, sizeof s.args);
  s.stream[q] = address;
  s.count[q] = 2;
  assert_int_equal(k.ops->submit(k.device, &s), 0);
  expect_text(&k, k.ops->wait(k.device), "queue L0, command 1");
  expect_text(&k, 1, "lies in no allocation");
  kernel_close(&k);
}

static void no_such_instruction(void** state) {
  (void)state;
  kernel k;
  open_with_buffers(&k, "simnpu");
  put(&k, "LDS0", "arg=0 nb=16 loc=0", "", "");
  k.stream[queue_of(&k, "L0")][0] = 0xff;
  expect_fault(&k, "queue L0, command 0", "instruction");
}

static void count_below_its_least(void** state) {
  (void)state;
  kernel k;
  open_with_buffers(&k, "simnpu");
  put(&k, "LDS0", "arg=0 nb=16 loc=0", "", "");
  uint8_t* bytes = k.stream[queue_of(&k, "L0")];
  for (int bit = 128; bit < 140; ++bit) bytes[bit / 8] &= (uint8_t) ~(1u << bit % 8); // nb = 0
  expect_fault(&k, "queue L0, command 0", "'b'");
}

static void another_queues_instruction(void** state) {
  (void)state;
  kernel k;
  open_with_buffers(&k, "simnpu");
  put(&k, "STS", "arg=1 nb=16 loc=0", "", "");
  int from = queue_of(&k, "ST"), to = queue_of(&k, "L0");
  k.stream[to] = k.stream[from];
  k.count[to] = 1;
  k.stream[from] = NULL;
  k.count[from] = 0;
  expect_fault(&k, "queue L0, command 0", "STS belongs to queue ST");
}

static void copies_outside_memory(void** state) {
  (void)state;
  kernel k;
  uint8_t bytes[64] = {0};
  open_with_buffers(&k, "simnpu");
  uint64_t last = k.args[1] + 4096 - sizeof bytes;
  assert_int_equal(k.ops->copy_in(k.device, last, bytes, sizeof bytes), 0);
  expect_text(&k, k.ops->copy_in(k.device, last + 1, bytes, sizeof bytes), "not within what is allocated");
  expect_text(&k, k.ops->copy_out(k.device, last + 1, bytes, sizeof bytes), "not within what is allocated");
  expect_text(&k, k.ops->copy_in(k.device, 0, bytes, 1), "not within what is allocated");
  expect_text(&k, k.ops->copy_in(k.device, UINT64_MAX - 8, bytes, sizeof bytes), "not within what is allocated");
  kernel_close(&k);
}

static void memory_runs_out(void** state) {
  (void)state;
  kernel k;
  uint64_t address, all = 0;
  open_with_buffers(&k, "simnpu");
  for (int m = 0; m < k.chip->memory_count; ++m)
    if (m == k.chip->system_memory) all = (uint64_t)k.chip->memories[m].bytes;
  expect_text(&k, k.ops->alloc(k.device, all, 64, &address), "do not fit");
  expect_text(&k, k.ops->alloc(k.device, UINT64_MAX, 64, &address), "do not fit");
  kernel_close(&k);
}

// As large as a description allows: more than any process can map.
static void vast_memory(void** state) {
  (void)state;
  kernel k;
  uint64_t address;
  open_with_buffers(&k, PB_SOURCE_DIR "/tests/machine/vast.td");
  expect_text(&k, k.ops->alloc(k.device, (uint64_t)1 << 41, 64, &address), "do not fit");
  put(&k, "LD", "arg=0 n=8 step=1 loc=0 hi=8", "", "");
  if (kernel_run(&k)) fail_msg("%s", k.ops->last_fault(k.device));
  kernel_close(&k);
}

static void bad_submissions(void** state) {
  (void)state;
  kernel k;
  open_with_buffers(&k, "simnpu");
  pb_submission s = {.queue_count = (uint32_t)k.chip->queue_count + 1};
  expect_text(&k, k.ops->submit(k.device, &s), "7 queues");
  s.queue_count = 0;
  s.arg_count = PB_DEVICE_MAX_ARGS + 1;
  expect_text(&k, k.ops->submit(k.device, &s), "17 arguments");
  s.arg_count = 0;
  assert_int_equal(k.ops->submit(k.device, &s), 0);
  expect_text(&k, k.ops->submit(k.device, &s), "running already");
  assert_int_equal(k.ops->wait(k.device), 0);
  kernel_close(&k);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(read_after_write_races),
                                     cmocka_unit_test(no_allocation),
                                     cmocka_unit_test(below_the_memory),
                                     cmocka_unit_test(commands_outside_memory),
                                     cmocka_unit_test(one_command_too_many),
                                     cmocka_unit_test(no_such_instruction),
                                     cmocka_unit_test(count_below_its_least),
                                     cmocka_unit_test(another_queues_instruction),
                                     cmocka_unit_test(copies_outside_memory),
                                     cmocka_unit_test(memory_runs_out),
                                     cmocka_unit_test(vast_memory),
                                     cmocka_unit_test(bad_submissions)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
