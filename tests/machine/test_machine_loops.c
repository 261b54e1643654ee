// Hardware loops: rolling a stream keeps what it means, the machine runs loops as what they stand for, and a loop that
// is none is a fault with its place.
#include "kernel.h"
#include "targets/control/queues/reroll.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { WORD = PB_COMMAND_BITS / 8 };

static uint64_t random_state = 1;
static uint32_t draw(uint32_t below) {
  random_state = random_state * 6364136223846793005ull + 1442695040888963407ull;
  return (uint32_t)(random_state >> 33) % below;
}

// What the words of a queue stand for. Returns how many commands.
static size_t unroll(const pb_chip* chip, const uint8_t* words, size_t count, uint8_t* commands) {
  size_t made = 0;
  for (size_t at = 0; at < count; ++at) {
    const uint8_t* word = words + at * WORD;
    if (!pb_is_loop(chip, word)) {
      memcpy(commands + WORD * made++, word, WORD);
      continue;
    }
    pb_command header;
    assert_int_equal(pb_decode(chip, word, &header, NULL), PB_OK);
    int64_t iterations = header.values[chip->loop_iterations], body = header.values[chip->loop_body];
    assert_in_range(body, 1, chip->loop_most);
    assert_int_equal(header.waits | header.signals, 0);
    for (int64_t iteration = 0; iteration < iterations; ++iteration)
      for (int64_t k = 0; k < body; ++k) {
        uint8_t* to = commands + WORD * made++;
        if (iteration == 0)
          memcpy(to, word + (1 + 2 * k) * WORD, WORD);
        else
          memcpy(to, to - body * WORD, WORD);
        if (iteration) pb_command_step(chip, to, word + (2 + 2 * k) * WORD);
      }
    at += 2 * (size_t)body;
  }
  return made;
}

// Streams in which pieces repeat, with steps that carry over fields and wrap around the whole word too.
static void rolling_keeps_the_commands(void** state) {
  (void)state;
  enum { MOST = 600 };
  pb_chip* chip;
  assert_int_equal(pb_chip_find("simnpu", NULL, NULL, &chip), PB_OK);
  uint8_t *stream = malloc(MOST * WORD), *rolled = malloc(MOST * WORD), *back = malloc(MOST * WORD);
  size_t words = 0, commands = 0;
  for (int n = 0; n < 300; ++n) {
    size_t count = 0;
    while (count + 150 < MOST) {
      size_t length = 1 + draw(40), iterations = draw(3) ? 1 : 2 + draw(12);
      for (size_t k = 0; k < length; ++k)
        for (int b = 0; b < WORD; ++b) stream[(count + k) * WORD + (size_t)b] = (uint8_t)(b ? draw(256) : 1);
      count += length;
      uint8_t step[40][WORD] = {{0}};
      for (size_t k = 0; k < length; ++k)
        for (int b = 1; b < WORD; ++b) step[k][b] = (uint8_t)(draw(4) ? 0 : draw(2) ? 255 : draw(256));
      for (; iterations > 1 && count + length < MOST; --iterations)
        for (size_t k = 0; k < length; ++k, ++count) {
          memcpy(stream + count * WORD, stream + (count - length) * WORD, WORD);
          pb_command_step(chip, stream + count * WORD, step[k]);
        }
    }
    memcpy(rolled, stream, count * WORD);
    size_t left = pb_reroll(chip, rolled, count);
    assert_true(left <= count);
    assert_int_equal(unroll(chip, rolled, left, back), count);
    assert_memory_equal(back, stream, count * WORD);
    words += left, commands += count;
  }
  assert_true(words < commands * 3 / 4); // else nothing was tested
  free(stream), free(rolled), free(back);
  pb_chip_free(chip);
}

static int queue_of(const kernel* k, const char* name) {
  int q = 0;
  while (strcmp(k->chip->queues[q].name, name)) ++q;
  return q;
}

// Adds one to 24 rows, each by a command of its own, which two queues hand to each other.
static void put_rows(kernel* k) {
  put(k, "LDA0", "arg=2 nb=16 loc=0", "", "");
  for (int n = 0; n < 24; ++n) {
    char text[96];
    snprintf(text, sizeof text, "arg=0 off=%d nb=16 loc=%d", n * 64, 64 + n * 64);
    put(k, "LDA0", text, "", "VX");
    snprintf(text, sizeof text, "a=%d b=0 y=%d", 1 + n, 101 + n);
    put(k, "VADD", text, "L0", "ST");
    snprintf(text, sizeof text, "arg=1 off=%d nb=16 loc=%d", n * 64, (101 + n) * 64);
    put(k, "STA", text, "VX", "");
  }
}

static void loops_run_as_what_they_stand_for(void** state) {
  (void)state;
  float rows[24][16], one[16], result[2][24][16];
  for (int n = 0; n < 24 * 16; ++n) rows[n / 16][n % 16] = (float)n;
  for (int n = 0; n < 16; ++n) one[n] = 1;
  uint64_t fetched[2];
  for (int loops = 0; loops < 2; ++loops) {
    kernel k;
    kernel_open(&k, "simnpu", NULL);
    kernel_argument(&k, rows, sizeof rows);
    uint64_t out = kernel_argument(&k, NULL, sizeof rows);
    kernel_argument(&k, one, sizeof one);
    put_rows(&k);
    for (int q = 0; loops && q < k.chip->queue_count; ++q)
      k.count[q] = (uint32_t)pb_reroll(k.chip, k.stream[q], k.count[q]);
    if (loops) assert_int_equal(k.count[queue_of(&k, "VX")], 3); // a header, a command, a step
    if (kernel_run(&k)) fail_msg("%s", k.ops->last_fault(k.device));
    k.ops->copy_out(k.device, out, result[loops], sizeof rows);
    fetched[loops] = kernel_counter(&k, "dram.fetch");
    kernel_close(&k);
  }
  assert_memory_equal(result[0], result[1], sizeof rows);
  for (int n = 0; n < 24 * 16; ++n) assert_true(result[1][n / 16][n % 16] == (float)n + 1);
  assert_int_equal(fetched[0], 73 * WORD);
  assert_int_equal(fetched[1], (4 + 3 + 3) * WORD);
}

static void append(kernel* k, int q, const pb_command* c) {
  k->stream[q] = realloc(k->stream[q], (size_t)(k->count[q] + 1) * WORD);
  assert_int_equal(pb_encode(k->chip, c, k->stream[q] + (size_t)k->count[q]++ * WORD, NULL), PB_OK);
}

// A loop over one vector command, right but for what `header` and `behind` say: how many words follow it.
static void expect_fault(int iterations, int body, uint32_t waits, int behind, bool nested, const char* word) {
  kernel k;
  kernel_open(&k, "simnpu", NULL);
  int q = queue_of(&k, "VX");
  pb_command header = {.insn = k.chip->loop, .waits = waits};
  header.values[k.chip->loop_iterations] = iterations;
  header.values[k.chip->loop_body] = body;
  pb_command zero = {.insn = pb_chip_insn(k.chip, "VADD")};
  zero.values[pb_insn_field(zero.insn, "ni")] = zero.values[pb_insn_field(zero.insn, "nj")] = 1;
  append(&k, q, &header);
  for (int n = 0; n < behind; ++n) append(&k, q, nested ? &header : &zero);
  assert_int_not_equal(kernel_run(&k), 0);
  const char* text = k.ops->last_fault(k.device);
  if (!strstr(text, word)) fail_msg("'%s' is not in: %s", word, text);
  if (!strstr(text, "queue VX")) fail_msg("no place in: %s", text);
  kernel_close(&k);
}

static void what_is_no_loop_is_a_fault(void** state) {
  (void)state;
  expect_fault(0, 1, 0, 2, false, "0 times");
  expect_fault(2, 0, 0, 2, false, "of 0 commands");
  expect_fault(2, 33, 0, 66, false, "of 33 commands");
  expect_fault(2, 2, 0, 3, false, "before the end of its queue");
  expect_fault(2, 1, 1, 2, false, "tokens");
  expect_fault(2, 1, 0, 2, true, "in the body of another");
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(rolling_keeps_the_commands),
                                     cmocka_unit_test(loops_run_as_what_they_stand_for),
                                     cmocka_unit_test(what_is_no_loop_is_a_fault)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
