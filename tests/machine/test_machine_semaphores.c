// Semaphores that several queues give or take: a wait takes as many as it says, a full one holds its giver back, and
// what is right by luck alone is reported.
#include "kernel.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static int8_t data[4096];
static const char* const chip = PB_SOURCE_DIR "/tests/chips/tinynpu_semaphores.td";

static void begin(kernel* k) {
  for (int b = 0; b < 4096; ++b) data[b] = (int8_t)(b * 5 + 1);
  kernel_open(k, chip, NULL);
  kernel_argument(k, data, sizeof data);
}

// Runs it; all of the words must be in the fault, or there is none.
static void expect(kernel* k, const char* const* words) {
  int code = kernel_run(k);
  const char* fault = k->ops->last_fault(k->device);
  if (!words && code) fail_msg("%s", fault);
  for (; words && *words; ++words)
    if (!code || !strstr(fault, *words)) fail_msg("no '%s' in: %s", *words, code ? fault : "no fault");
  kernel_close(k);
}

#define EXPECT(k, ...) expect(k, (const char* const[]){__VA_ARGS__, NULL})

// A tile comes from outside, and codes from the vector unit: the array waits for both.
static void put_two_givers(kernel* k, const char* waits) {
  put(k, "GETB", "arg=0 off=0 ni=1 nj=8 nb=8 sj=8 lj=8 loc=0", "", "OPERANDS");
  put(k, "GETB", "arg=0 off=0 nb=64 loc=512", "", "LOADED");
  put(k, "MAXC", "n_=8 a=64 da=1 y=128 dy=1 keep=0", "LOADED", "OPERANDS");
  put(k, "SETW", "bank=0 src=0 step=1", waits, "");
}

static void waits_for_both(void** state) {
  (void)state;
  kernel k;
  begin(&k);
  put_two_givers(&k, "OPERANDS:2");
  put(&k, "MUL", "bank=0 keep=0 n_=8 a=128 da=1 c=0 dc=1", "", "");
  expect(&k, NULL);
}

// One is there when it starts, and by luck it is the load's: it could have been the vector unit's, which is late.
static void counts_whose_it_is_not(void** state) {
  (void)state;
  kernel k;
  begin(&k);
  put(&k, "GETB", "arg=0 off=0 ni=1 nj=8 nb=8 sj=8 lj=8 loc=0", "", "OPERANDS");
  for (int n = 0; n < 100; ++n) put(&k, "VPASS", "", "", n == 99 ? "OPERANDS" : "");
  put(&k, "SETW", "bank=0 src=0 step=1", "OPERANDS:1", "");
  put(&k, "PASS", "", "OPERANDS:1", "");
  EXPECT(&k, "race", "signals OPERANDS for another wait than", "nothing puts it behind that");
}

static void one_too_many_is_waited_for(void** state) {
  (void)state;
  kernel k;
  begin(&k);
  put_two_givers(&k, "OPERANDS:3");
  EXPECT(&k, "hang", "waits for OPERANDS");
}

static void one_is_left(void** state) {
  (void)state;
  kernel k;
  begin(&k);
  put_two_givers(&k, "OPERANDS:2");
  put(&k, "VPASS", "", "", "CODES");
  EXPECT(&k, "semaphore CODES is at 1 at the end");
}

// Five in all, by two queues, where three have room: the givers wait until some are taken.
static void a_full_one_holds_its_giver(void** state) {
  (void)state;
  for (int takes = 0; takes < 2; ++takes) {
    kernel k;
    begin(&k);
    for (int n = 0; n < 4; ++n) put(&k, "WAIT", "", "", "OPERANDS");
    if (takes)
      for (int n = 0; n < 4; ++n) put(&k, "PASS", "", "OPERANDS:1", "");
    if (takes)
      expect(&k, NULL);
    else
      EXPECT(&k, "hang", "command 3 cannot signal OPERANDS, whose counter is full");
  }
}

// What two queues take: the second must be behind the first by another semaphore.
static void takers_have_an_order(void** state) {
  (void)state;
  for (int ordered = 0; ordered < 2; ++ordered) {
    kernel k;
    begin(&k);
    put(&k, "WAIT", "", "", "LOADED");
    put(&k, "PASS", "", "LOADED:1", ordered ? "FREE SUMS" : "");
    if (!ordered) put(&k, "GETB", "arg=0 off=0 nb=64 loc=512", "", ""); // long after
    put(&k, "WAIT", "", ordered ? "FREE" : "", "LOADED");
    put(&k, "VPASS", "", ordered ? "LOADED:1 SUMS" : "LOADED:1", "");
    if (ordered)
      expect(&k, NULL);
    else
      EXPECT(&k, "race", "LOADED");
  }
}

// Commands of their own: what stands behind one waits, what stands in front of one is done.
static void commands_of_their_own(void** state) {
  (void)state;
  kernel k;
  for (int b = 0; b < 4096; ++b) data[b] = (int8_t)(b * 5 + 1);
  kernel_open(&k, PB_SOURCE_DIR "/tests/chips/tinynpu_events.td", NULL);
  kernel_argument(&k, data, sizeof data);
  put(&k, "GETB", "arg=0 off=0 ni=1 nj=8 nb=8 sj=8 lj=8 loc=0", "", "");
  put(&k, "DM_SIGNAL", "signal=0", "", "");
  put(&k, "VX_SIGNAL", "signal=0", "", "");
  put(&k, "MX_WAIT", "event=0 number=2", "", "");
  put(&k, "SETW", "bank=0 src=0 step=1", "", "");
  pb_command back;
  uint8_t bytes[PB_COMMAND_BITS / 8];
  pb_diag quiet = {.sink = pb_diag_drop};
  pb_command wait = {.insn = pb_chip_insn(k.chip, "MX_WAIT")};
  wait.values[pb_insn_field(wait.insn, "number")] = 1;
  for (int n = 0; n < 8; ++n) { // 0 and 1 are the queue's, 5 and up are none
    wait.values[pb_insn_field(wait.insn, "event")] = n;
    assert_int_equal(pb_encode(k.chip, &wait, bytes, NULL), PB_OK);
    assert_int_equal(pb_decode(k.chip, bytes, &back, &quiet), n < 2 ? PB_OK : PB_ERR_INPUT);
  }
  expect(&k, NULL);
}

// A queue says semaphores that are its own: others are no command of this chip.
static void others_are_refused(void** state) {
  (void)state;
  pb_arena arena = {0};
  uint8_t bytes[PB_COMMAND_BITS / 8];
  char* text;
  kernel k;
  begin(&k);
  put(&k, "SETW", "bank=0 src=0 step=1", "OPERANDS:2", "FREE");
  text = pb_disassemble(k.chip, &k.last, &arena);
  if (!strstr(text, "; waits OPERANDS:2 ; signals FREE")) fail_msg("%s", text);
  pb_command wrong = k.last, back;
  wrong.signals = 1; // OPERANDS, which the array takes
  assert_int_equal(pb_encode(k.chip, &wrong, bytes, NULL), PB_OK);
  pb_diag quiet = {.sink = pb_diag_drop};
  assert_int_equal(pb_decode(k.chip, bytes, &back, &quiet), PB_ERR_INPUT);
  pb_arena_free(&arena);
  kernel_close(&k);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(waits_for_both),
      cmocka_unit_test(counts_whose_it_is_not),
      cmocka_unit_test(one_too_many_is_waited_for),
      cmocka_unit_test(one_is_left),
      cmocka_unit_test(a_full_one_holds_its_giver),
      cmocka_unit_test(takers_have_an_order),
      cmocka_unit_test(others_are_refused),
      cmocka_unit_test(commands_of_their_own),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
