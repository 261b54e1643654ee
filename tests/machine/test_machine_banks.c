// Banks that are taken in turn: what they hold, what they make wait, and what is reported: a bank that is taken and was
// not filled, one filled that nobody took, one read after it was filled again.
#include "kernel.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { TILE = 32, TILES = 64 };

static int8_t source[TILE * TILES];

static void begin(kernel* k, const char* options) {
  for (int n = 0; n < TILE * TILES; ++n) source[n] = (int8_t)(n / TILE + n % 3);
  kernel_open(k, PB_SOURCE_DIR "/tests/machine/banks.td", options);
  kernel_argument(k, source, sizeof source);
  kernel_argument(k, NULL, sizeof source);
}

// Tile `tile` of what the command names: of an argument, of BUF, or of both.
static void put_at(kernel* k, const char* insn, int tile, const char* more, const char* waits, const char* signals) {
  char fields[96];
  if (!strcmp(insn, "PUSH"))
    snprintf(fields, sizeof fields, "arg=0 off=%d %s", tile * TILE, more);
  else if (!strcmp(insn, "LD") || !strcmp(insn, "ST"))
    snprintf(fields, sizeof fields, "arg=%d off=%d loc=%d %s", *insn == 'S', tile * TILE, tile * 4, more);
  else
    snprintf(fields, sizeof fields, "loc=%d %s", tile * 4, more);
  put(k, insn, fields, waits, signals);
}

static void runs(kernel* k) {
  if (kernel_run(k)) fail_msg("%s", k->ops->last_fault(k->device));
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

// Tiles 0 to `count` - 1 lie in BUF, and X may read them.
static void load(kernel* k, int count) {
  for (int n = 0; n < count; ++n) put_at(k, "LD", n, "", "", n + 1 == count ? "X" : "");
}

// Tile `n` of the results is tile `from` of the source and a number.
static void expect_tile(const kernel* k, int n, int from, int more) {
  int8_t found[TILE];
  assert_int_equal(k->ops->copy_out(k->device, k->args[1] + (uint64_t)(n * TILE), found, TILE), 0);
  for (int b = 0; b < TILE; ++b) assert_int_equal(found[b], source[from * TILE + b] + more);
}

// A bank is filled while the other is in use; what is not taken anew stays.
static void banks_change_places(void** state) {
  (void)state;
  kernel k;
  begin(&k, NULL);
  load(&k, 3);
  put_at(&k, "FILL", 0, "", "L", "");
  put_at(&k, "USE", 10, "next=1 k=1", "", "");
  put_at(&k, "FILL", 1, "", "", "");
  put_at(&k, "USE", 11, "next=0 k=2", "", "");
  put_at(&k, "USE", 12, "next=1 k=3", "", "");
  put_at(&k, "FILL", 2, "", "", "");
  put_at(&k, "USE", 13, "next=1 k=4", "", "S");
  for (int n = 10; n < 14; ++n) put_at(&k, "ST", n, "", n == 10 ? "X" : "", "");
  runs(&k);
  expect_tile(&k, 10, 0, 1);
  expect_tile(&k, 11, 0, 2);
  expect_tile(&k, 12, 1, 3);
  expect_tile(&k, 13, 2, 4);
  kernel_close(&k);
}

// Four are pushed ahead; the fifth comes when the first has been read.
static void fifo_keeps_order(void** state) {
  (void)state;
  for (int seed = 0; seed < 8; ++seed) {
    char options[24];
    kernel k;
    snprintf(options, sizeof options, "seed=%d", seed);
    begin(&k, options);
    for (int n = 0; n < 9; ++n) put_at(&k, "PUSH", n, "", n < 4 ? "" : "X", "X");
    for (int n = 0; n < 9; ++n) put_at(&k, "POP", n, "next=1", "L", n < 5 ? "L" : n == 8 ? "S" : "");
    for (int n = 0; n < 9; ++n) put_at(&k, "ST", n, "", n ? "" : "X", "");
    runs(&k);
    for (int n = 0; n < 9; ++n) expect_tile(&k, n, n, 0);
    kernel_close(&k);
  }
}

static void taking_needs_filling(void** state) {
  (void)state;
  kernel k;
  begin(&k, NULL);
  put_at(&k, "USE", 0, "next=1 k=0", "", "");
  EXPECT(&k, "queue X, command 0 (USE s=next[4,8]", "operand 's' takes a bank of SH",
         "none is filled that was not taken");
}

static void reading_needs_taking(void** state) {
  (void)state;
  kernel k;
  begin(&k, NULL);
  load(&k, 1);
  put_at(&k, "FILL", 0, "", "L", "");
  put_at(&k, "USE", 4, "next=0 k=0", "", "");
  EXPECT(&k, "command 1 (USE s=held[4,8]", "operand 's' reads the bank of SH that was taken last, and none was taken");
}

static void popping_empty(void** state) {
  (void)state;
  kernel k;
  begin(&k, NULL);
  put_at(&k, "PUSH", 0, "", "", "X");
  put_at(&k, "POP", 0, "next=1", "L", "");
  put_at(&k, "POP", 1, "next=1", "", "");
  EXPECT(&k, "queue X, command 1 (POP", "takes a bank of FF, of which none is filled that was not taken");
}

// No token makes the pop wait for what is being pushed.
static void popping_too_early(void** state) {
  (void)state;
  kernel k;
  begin(&k, NULL);
  put_at(&k, "PUSH", 0, "", "", "");
  put_at(&k, "PUSH", 1, "", "", "");
  put_at(&k, "POP", 0, "next=1", "", "");
  put_at(&k, "POP", 1, "next=1", "", "");
  EXPECT(&k, "race: operand 's' reads", "of FF, which queue L, command 0 (PUSH");
}

static void pushing_onto_full(void** state) {
  (void)state;
  kernel k;
  begin(&k, NULL);
  for (int n = 0; n < 5; ++n) put_at(&k, "PUSH", n, "", "", "");
  EXPECT(&k, "queue L, command 4 (PUSH", "d=next[4,8]", "operand 'd' fills a bank of FF, whose 4 banks are full");
}

static void filling_what_waits(void** state) {
  (void)state;
  kernel k;
  begin(&k, NULL);
  load(&k, 3);
  for (int n = 0; n < 3; ++n) put_at(&k, "FILL", n, "", n ? "" : "L", "");
  EXPECT(&k, "queue X, command 2 (FILL", "fills a bank of SH, whose 2 banks are waiting to be taken");
}

// The bank in use is filled again, and then read as if it had not been.
static void reading_what_was_filled_again(void** state) {
  (void)state;
  kernel k;
  begin(&k, NULL);
  load(&k, 3);
  put_at(&k, "FILL", 0, "", "L", "");
  put_at(&k, "USE", 4, "next=1 k=0", "", "");
  put_at(&k, "FILL", 1, "", "", "");
  put_at(&k, "FILL", 2, "", "", "");
  put_at(&k, "USE", 5, "next=0 k=0", "", "");
  EXPECT(&k, "queue X, command 4 (USE s=held", "reads a bank of SH that was filled again since it was taken");
}

static void left_at_the_end(void** state) {
  (void)state;
  kernel k;
  begin(&k, NULL);
  put_at(&k, "PUSH", 0, "", "", "X");
  put_at(&k, "PUSH", 1, "", "", "");
  put_at(&k, "POP", 0, "next=1", "L", "");
  EXPECT(&k, "1 of the banks of FF that were filled are not taken at the end");
}

// Overwriting what another queue still reads is a race, and the other command's bank is the one of then.
static void filling_what_is_read(void** state) {
  (void)state;
  kernel k;
  begin(&k, NULL);
  for (int n = 0; n < 4; ++n) put_at(&k, "PUSH", n, "", "", n == 3 ? "X" : "");
  put_at(&k, "POP", 0, "next=1", "L", "L");
  put_at(&k, "POP", 1, "next=1", "", "");
  put_at(&k, "PUSH", 4, "", "X", "X");
  put_at(&k, "PUSH", 5, "", "", "");
  for (int n = 2; n < 6; ++n) put_at(&k, "POP", n, "next=1", n == 2 ? "L" : "", "");
  EXPECT(&k, "queue L, command 5 (PUSH", "writes bytes [32, 40) of FF, which queue X, command 1 (POP s=next");
}

static uint64_t cycles_of(int pairs, bool fills) {
  kernel k;
  begin(&k, NULL);
  load(&k, 1);
  for (int n = 0; n < pairs; ++n) {
    if (fills || n == 0) put_at(&k, "FILL", 0, "", n ? "" : "L", "");
    put_at(&k, "USE", 4, fills || n == 0 ? "next=1 k=1" : "next=0 k=1", "", "");
  }
  runs(&k);
  uint64_t cycles = kernel_counter(&k, "cycles");
  kernel_close(&k);
  return cycles;
}

// Filling takes 16 cycles and 3 until it is there, using 20: it is hidden but for what comes first.
static void filling_goes_on_beside(void** state) {
  (void)state;
  uint64_t alone = cycles_of(20, false), both = cycles_of(20, true);
  assert_true(both <= alone + 20);
  assert_true(cycles_of(40, true) - both <= 20 * 21);
}

// State is written while the command before it goes on, and is there for the one behind.
static void state_is_written_beside(void** state) {
  (void)state;
  uint64_t cycles[2];
  for (int long_one = 0; long_one < 2; ++long_one) {
    kernel k;
    begin(&k, NULL);
    load(&k, 1);
    int count = long_one ? 20 : 10;
    for (int n = 0; n < count; ++n) {
      char fields[64];
      snprintf(fields, sizeof fields, "k=%d", n);
      put(&k, "SET", fields, n ? "" : "L", "");
      snprintf(fields, sizeof fields, "from=0 loc=%d", 8 + 4 * n);
      put(&k, "ADD", fields, "", n + 1 == count ? "S" : "");
    }
    for (int n = 0; n < count; ++n) put_at(&k, "ST", 2 + n, "", n ? "" : "X", "");
    runs(&k);
    for (int n = 0; n < count; ++n) expect_tile(&k, 2 + n, 0, n);
    cycles[long_one] = kernel_counter(&k, "cycles");
    kernel_close(&k);
  }
  assert_true(cycles[1] - cycles[0] <= 10 * 28); // ADD's 20, and a store's; not SET's 15 besides
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(banks_change_places),     cmocka_unit_test(fifo_keeps_order),
      cmocka_unit_test(taking_needs_filling),    cmocka_unit_test(reading_needs_taking),
      cmocka_unit_test(popping_empty),           cmocka_unit_test(popping_too_early),
      cmocka_unit_test(pushing_onto_full),       cmocka_unit_test(filling_what_waits),
      cmocka_unit_test(left_at_the_end),         cmocka_unit_test(reading_what_was_filled_again),
      cmocka_unit_test(filling_what_is_read),    cmocka_unit_test(filling_goes_on_beside),
      cmocka_unit_test(state_is_written_beside),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
