// One list of commands with fences: which queue runs what, what waits, and what the machine says when nothing does.
#include "kernel.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { DM = 1, MX = 2, VX = 4, BYTES = 64 };

typedef struct list {
  kernel k;
  uint8_t words[64 * 32];
  uint32_t count;
  uint64_t out;
} list;

static void begin(list* l, const char* options) {
  static int8_t data[4096];
  for (int b = 0; b < 4096; ++b) data[b] = (int8_t)(b * 7 + 3);
  memset(l, 0, sizeof *l);
  kernel_open(&l->k, PB_SOURCE_DIR "/tests/chips/tinynpu_fence.td", options);
  kernel_argument(&l->k, data, sizeof data);
  l->out = kernel_argument(&l->k, NULL, 4096);
}

static void add(list* l, const pb_command* c) {
  if (pb_encode(l->k.chip, c, l->words + l->count++ * (uint32_t)l->k.chip->command_bytes, NULL) != PB_OK) abort();
}

// put() encodes it; here it stands in the one list.
static void command(list* l, const char* insn, const char* fields) {
  put(&l->k, insn, fields, "", "");
  add(l, &l->k.last);
}

static void fence(list* l, uint32_t queues) {
  pb_command c = pb_fence(l->k.chip, queues);
  add(l, &c);
}

static int run(list* l) {
  pb_submission s = {.queue_count = 1, .arg_count = l->k.arg_count};
  memcpy(s.args, l->k.args, sizeof s.args);
  uint64_t bytes = (uint64_t)l->count * (uint64_t)l->k.chip->command_bytes;
  s.count[0] = l->count;
  if (l->k.ops->alloc(l->k.device, bytes, 64, &s.stream[0]) ||
      l->k.ops->copy_in(l->k.device, s.stream[0], l->words, bytes))
    abort();
  int code = l->k.ops->submit(l->k.device, &s);
  return code ? code : l->k.ops->wait(l->k.device);
}

static void passes(list* l) {
  if (run(l)) fail_msg("%s", l->k.ops->last_fault(l->k.device));
}

// The data's first bytes lie in the output.
static void expect_copied(list* l) {
  int8_t got[BYTES];
  l->k.ops->copy_out(l->k.device, l->out, got, sizeof got);
  for (int b = 0; b < BYTES; ++b) assert_int_equal(got[b], (int8_t)(b * 7 + 3));
}

static void load(list* l) { command(l, "GETB", "arg=0 off=0 nb=64 loc=0"); }
static void store(list* l, const char* fields) { command(l, "PUTB", fields); }
static void larger(list* l) { command(l, "MAXC", "n_=8 a=0 da=1 y=8 dy=1"); } // rows 0 to 7 to rows 8 to 15

// What VX makes of what DM loads, and DM stores.
static void copy_by_way_of_vx(list* l, uint32_t first, uint32_t second) {
  load(l);
  if (first) fence(l, first);
  larger(l);
  if (second) fence(l, second);
  store(l, "arg=1 off=0 nb=64 loc=64");
}

static void fences_make_order(void** state) {
  (void)state;
  for (int seed = 0; seed < 4; ++seed) {
    list l;
    char options[24];
    snprintf(options, sizeof options, "seed=%d", seed);
    begin(&l, options);
    copy_by_way_of_vx(&l, DM, VX);
    passes(&l);
    expect_copied(&l);
    kernel_close(&l.k);
  }
}

static void faults(uint32_t first, uint32_t second, const char* word) {
  list l;
  begin(&l, NULL);
  copy_by_way_of_vx(&l, first, second);
  assert_int_not_equal(run(&l), 0);
  const char* text = l.k.ops->last_fault(l.k.device);
  if (!strstr(text, word) || (!strstr(text, "no fence orders the two") && !strstr(text, "uninitialised")))
    fail_msg("%s", text);
  kernel_close(&l.k);
}

// A fence for another queue, and none: what is read is not there yet, or is in nobody's order.
static void a_fence_waits_for_what_it_names(void** state) {
  (void)state;
  faults(MX, VX, "queue VX, command 2 (MAXC");
  faults(0, VX, "queue VX, command 1 (MAXC");
  faults(DM, MX, "queue DM, command 4 (PUTB");
  faults(DM, DM, "queue DM, command 4 (PUTB");
}

// The same rows again: what was there is read by luck, and the order is missing all the same. VX is behind the load
// for the fence that DM was waited for with; DM is not behind VX.
static void races_are_found(void** state) {
  (void)state;
  list l;
  begin(&l, NULL);
  load(&l);
  fence(&l, DM);
  larger(&l);
  load(&l);
  assert_int_not_equal(run(&l), 0);
  const char* text = l.k.ops->last_fault(l.k.device);
  assert_non_null(strstr(text, "race"));
  assert_non_null(strstr(text, "queue DM, command 3 (GETB"));
  assert_non_null(strstr(text, "queue VX, command 2 (MAXC"));
  kernel_close(&l.k);
}

// What a queue that was waited for was behind itself, what comes behind the fence is behind too.
static void order_is_transitive(void** state) {
  (void)state;
  list l;
  begin(&l, NULL);
  load(&l);
  fence(&l, DM);
  larger(&l);
  fence(&l, VX);
  command(&l, "SETW", "bank=0 src=8 step=1"); // reads what VX wrote
  command(&l, "MAXC", "n_=8 a=0 da=1 y=16 dy=1");
  passes(&l);
  kernel_close(&l.k);
}

// The list stops where a queue is full, and nothing is lost.
static void full_queues(void** state) {
  (void)state;
  list l;
  begin(&l, NULL);
  load(&l);
  fence(&l, DM);
  for (int n = 0; n < 30; ++n) larger(&l);
  fence(&l, VX | DM | MX);
  store(&l, "arg=1 off=0 nb=64 loc=64");
  passes(&l);
  expect_copied(&l);
  assert_int_equal(kernel_counter(&l.k, "busy.VX"), 30 * 16);
  kernel_close(&l.k);
}

static void no_such_command(void** state) {
  (void)state;
  list l;
  begin(&l, NULL);
  load(&l);
  ++l.count; // all zeros
  assert_int_not_equal(run(&l), 0);
  assert_non_null(strstr(l.k.ops->last_fault(l.k.device), "list, command 1: "));
  kernel_close(&l.k);
}

static uint64_t starts[4], ends[4];
static void note(void* user, uint32_t queue, uint32_t index, uint64_t start, uint64_t end) {
  (void)user, (void)queue;
  if (index < 4) starts[index] = start, ends[index] = end;
}

// Behind a fence the list goes on so many cycles after the queues are done: 2 here, and one more for the next command.
static void fences_take_time(void** state) {
  (void)state;
  list l;
  begin(&l, NULL);
  l.k.ops->set_trace(l.k.device, note, NULL);
  load(&l);
  fence(&l, DM);
  larger(&l);
  passes(&l);
  assert_int_equal(starts[2], ends[0] + 3);
  kernel_close(&l.k);
}

// A loop in the list repeats commands of a queue, and fences.
static void loops_stand_in_the_list(void** state) {
  (void)state;
  list l;
  begin(&l, NULL);
  kernel_close(&l.k);
  kernel_open(&l.k, PB_SOURCE_DIR "/tests/chips/tinynpu_fence_loop.td", NULL);
  static int8_t data[64];
  kernel_argument(&l.k, data, sizeof data);
  load(&l);
  pb_command again = {.insn = l.k.chip->loop};
  again.values[l.k.chip->loop_iterations] = 5;
  again.values[l.k.chip->loop_body] = 2;
  add(&l, &again);
  uint32_t step = (uint32_t)l.k.chip->command_bytes;
  fence(&l, DM);
  memset(l.words + l.count++ * step, 0, step);
  larger(&l);
  memset(l.words + l.count++ * step, 0, step);
  passes(&l);
  assert_int_equal(kernel_counter(&l.k, "busy.VX"), 5 * 16);
  add(&l, &again); // inside the last words of another
  assert_int_not_equal(run(&l), 0);
  kernel_close(&l.k);
}

static void one_stream(void** state) {
  (void)state;
  list l;
  begin(&l, NULL);
  load(&l);
  l.k.last.waits = DM | MX | VX; // a command says nothing of other queues: fences do
  add(&l, &l.k.last);
  assert_memory_equal(l.words, l.words + l.k.chip->command_bytes, (size_t)l.k.chip->command_bytes);
  pb_submission s = {.queue_count = 2};
  assert_int_not_equal(l.k.ops->submit(l.k.device, &s), 0);
  assert_non_null(strstr(l.k.ops->last_fault(l.k.device), "2 queues"));
  kernel_close(&l.k);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(fences_make_order),
      cmocka_unit_test(a_fence_waits_for_what_it_names),
      cmocka_unit_test(races_are_found),
      cmocka_unit_test(order_is_transitive),
      cmocka_unit_test(full_queues),
      cmocka_unit_test(no_such_command),
      cmocka_unit_test(fences_take_time),
      cmocka_unit_test(one_stream),
      cmocka_unit_test(loops_stand_in_the_list),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
