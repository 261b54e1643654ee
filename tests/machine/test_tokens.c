// Tokens between queues: every need is met, and no counter is asked for one token more than it holds. Commands that run
// in the program's order are a legal run, in which a signal to a full counter would wait for a command behind it: so
// in that order each counter must stay within its limit, whatever the queues do.
#include "targets/control/queues/unroll.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MOST = 4000, ROWS = 512 };

// A command of a queue that touches one row of a memory on the chip.
typedef struct step {
  int queue, row;
  bool writes;
} step;

static const pb_insn* insn_of(const pb_chip* chip, int queue) {
  for (int i = 0; i < chip->insn_count; ++i)
    if (chip->insns[i].queue == queue) return &chip->insns[i];
  return NULL;
}

static pb_tokens* add_all(const pb_chip* chip, const step* steps, int count) {
  pb_tokens* t = pb_tokens_start(chip, NULL, (pb_taker){0});
  int memory = 0;
  while (memory == chip->system_memory) ++memory;
  int64_t row = chip->memories[memory].row_bytes;
  for (int k = 0; k < count; ++k) {
    pb_region region = {.memory = memory, .argument = -1, .base = steps[k].row * row, .rank = 1, .element = 1};
    region.extent[0] = row;
    region.stride[0] = 1;
    region.written = steps[k].writes;
    pb_unrolled c = {.command = {.insn = insn_of(chip, steps[k].queue)}, .region_count = 1, .regions = &region};
    assert_int_equal(pb_tokens_add(t, &c), PB_OK);
  }
  return t;
}

// What command k must come after, by its row, is before it in its queue or has handed on, through whichever queues.
// Runs in the program's order and returns the highest count that any counter reaches.
static int check(const pb_chip* chip, const step* steps, int count) {
  enum { Q = PB_CORE_QUEUES };
  pb_tokens* t = add_all(chip, steps, count);
  static int32_t clock[MOST][Q], handed[Q][Q][MOST];
  int32_t now[Q][Q] = {0}, done[Q] = {0}, signals[Q][Q] = {0}, waits[Q][Q] = {0}, position[MOST];
  int writer[ROWS], readers[ROWS][Q], most = 0;
  memset(writer, 0xff, sizeof writer);
  memset(readers, 0xff, sizeof readers);
  for (int k = 0; k < count; ++k) {
    int row = steps[k].row;
    pb_order order = pb_tokens_of(t, (size_t)k);
    int q = order.queue;
    uint32_t waited = order.waits, signalled = order.signals;
    assert_int_equal(q, steps[k].queue);
    for (int p = 0; p < chip->queue_count; ++p) {
      if (!(waited >> p & 1)) continue;
      assert_true(waits[p][q] < signals[p][q]); // there in time
      int32_t from = handed[p][q][waits[p][q]++];
      for (int r = 0; r < chip->queue_count; ++r)
        if (clock[from][r] > now[q][r]) now[q][r] = clock[from][r];
    }
    position[k] = ++done[q];
    if (chip->queues[q].in_order) now[q][q] = done[q];
    memcpy(clock[k], now[q], sizeof clock[k]);
    clock[k][q] = done[q]; // its token goes out behind those of all before it
    int before[Q + 1], befores = 0;
    before[befores++] = writer[row];
    for (int r = 0; steps[k].writes && r < chip->queue_count; ++r) before[befores++] = readers[row][r];
    for (int b = 0; b < befores; ++b)
      if (before[b] >= 0) assert_true(now[q][steps[before[b]].queue] >= position[before[b]]);
    for (int c = 0; c < chip->queue_count; ++c) {
      if (!(signalled >> c & 1)) continue;
      handed[q][c][signals[q][c]++] = k;
      int there = signals[q][c] - waits[q][c];
      assert_true(there <= chip->queues[q].tokens);
      if (there > most) most = there;
    }
    if (steps[k].writes) {
      writer[row] = k;
      memset(readers[row], 0xff, sizeof readers[row]);
    } else
      readers[row][q] = k;
  }
  pb_tokens_free(t);
  return most;
}

static pb_chip* chip_of(const char* spec) {
  pb_chip* chip;
  assert_int_equal(pb_chip_find(spec, NULL, NULL, &chip), PB_OK);
  return chip;
}

static const char* const chips[] = {"simnpu", PB_SOURCE_DIR "/tests/chips/tinynpu_short.td",
                                    PB_SOURCE_DIR "/tests/chips/tinynpu.td",
                                    PB_SOURCE_DIR "/tests/chips/tinynpu_async.td"};

// One queue makes many rows before another takes the first: one token more than the counter holds would be asked for.
static void a_counter_is_filled_and_no_more(void** state) {
  (void)state;
  for (size_t n = 0; n < sizeof chips / sizeof *chips; ++n) {
    pb_chip* chip = chip_of(chips[n]);
    int limit = chip->queues[0].tokens;
    for (int rows = limit; rows <= limit + 3; ++rows) {
      step steps[256];
      for (int k = 0; k < rows; ++k) steps[k] = (step){0, k, true}, steps[rows + k] = (step){1, k, false};
      int most = check(chip, steps, 2 * rows);
      if (rows == limit) assert_int_equal(most, limit);
    }
    pb_chip_free(chip);
  }
}

static void random_commands(void** state) {
  (void)state;
  static step steps[MOST];
  for (size_t n = 0; n < sizeof chips / sizeof *chips; ++n) {
    pb_chip* chip = chip_of(chips[n]);
    srand(1);
    int reached = 0;
    for (int iteration = 0; iteration < 40; ++iteration) {
      int count = 200 + rand() % 1000, rows = iteration % 2 ? 8 : 256, batch = 1 + rand() % 150, queue = 0;
      for (int k = 0; k < count; ++k) {
        if (k % batch == 0) queue = rand() % chip->queue_count;
        steps[k] = (step){queue, rand() % rows, rand() % 2 == 0};
      }
      int most = check(chip, steps, count);
      if (most > reached) reached = most;
    }
    printf("%s: counters of %d reach %d\n", chip->name, chip->queues[0].tokens, reached);
    assert_true(reached >= (chip->queues[0].tokens < 5 ? chip->queues[0].tokens : 5));
    pb_chip_free(chip);
  }
}

// In one list: every command once, those of a queue in their order, and what a command must come after in front of a
// fence for its queue. Returns how many fences there are.
static int check_list(const pb_chip* chip, const step* steps, int count, int32_t cycles) {
  static int at[MOST];
  static pb_cost_of_command costs[MOST];
  int writer[ROWS], readers[ROWS][PB_CORE_QUEUES], fences = 0, last[PB_CORE_QUEUES];
  size_t length, seen = 0;
  pb_tokens* t = add_all(chip, steps, count);
  for (int k = 0; k < count; ++k) costs[k] = (pb_cost_of_command){cycles, 5};
  pb_listed* list = pb_fences_put(chip, t, costs, &length);
  memset(last, 0xff, sizeof last);
  for (size_t n = 0; n < length; ++n) {
    if (list[n].queues) {
      ++fences;
      continue;
    }
    int k = (int)list[n].command;
    assert_true(k > last[steps[k].queue]);
    last[steps[k].queue] = k;
    at[k] = (int)n;
    ++seen;
  }
  assert_int_equal(seen, count);
  memset(writer, 0xff, sizeof writer);
  memset(readers, 0xff, sizeof readers);
  for (int k = 0; k < count; ++k) {
    int q = steps[k].queue, row = steps[k].row, before[PB_CORE_QUEUES + 1], befores = 0;
    before[befores++] = writer[row];
    for (int r = 0; steps[k].writes && r < chip->queue_count; ++r) before[befores++] = readers[row][r];
    for (int b = 0; b < befores; ++b) {
      if (before[b] < 0 || (steps[before[b]].queue == q && chip->queues[q].in_order)) continue;
      bool fence = false;
      for (int n = at[before[b]]; n < at[k]; ++n) fence |= list[n].queues >> steps[before[b]].queue & 1;
      assert_true(fence);
    }
    if (steps[k].writes) {
      writer[row] = k;
      memset(readers[row], 0xff, sizeof readers[row]);
    } else
      readers[row][q] = k;
  }
  free(list);
  pb_tokens_free(t);
  return fences;
}

static void fences_put_all_in_order(void** state) {
  (void)state;
  static step steps[MOST];
  for (int iteration = 0; iteration < 80; ++iteration) {
    pb_chip* chip = chip_of(iteration < 40 ? PB_SOURCE_DIR "/tests/chips/tinynpu_fence.td"
                                           : PB_SOURCE_DIR "/tests/chips/tinynpu_fence_async.td");
    srand((unsigned)iteration);
    int count = 200 + rand() % 500, rows = iteration % 2 ? 8 : 256, batch = 1 + rand() % 150, queue = 0;
    for (int k = 0; k < count; ++k) {
      if (k % batch == 0) queue = rand() % chip->queue_count;
      steps[k] = (step){queue, rand() % rows, rand() % 2 == 0};
    }
    (void)check_list(chip, steps, count, 1 + rand() % 20);
    pb_chip_free(chip);
  }
}

// Tiles go in and are used, in two places in turn. In the program's order each would have two fences, and nothing would
// run beside anything.
static void queues_go_on_together(void** state) {
  (void)state;
  enum { TILES = 40 };
  step steps[2 * TILES];
  pb_chip* chip = chip_of(PB_SOURCE_DIR "/tests/chips/tinynpu_fence.td");
  for (int k = 0; k < TILES; ++k) steps[2 * k] = (step){0, k % 2, true}, steps[2 * k + 1] = (step){1, k % 2, false};
  int fences = check_list(chip, steps, 2 * TILES, 200);
  if (fences > TILES + 2) fail_msg("%d fences for %d tiles", fences, TILES);
  pb_chip_free(chip);
}

// Cycles of the list: it hands commands on in no time, and stops at a fence.
static int64_t list_cycles(const pb_chip* chip, const pb_listed* list, size_t length, const step* steps,
                           const pb_cost_of_command* costs) {
  int64_t free_at[PB_CORE_QUEUES] = {0}, there[PB_CORE_QUEUES] = {0}, now = 0;
  for (size_t n = 0; n < length; ++n) {
    const pb_cost_of_command* c = &costs[list[n].command];
    int q = steps[list[n].command].queue;
    for (int p = 0; p < chip->queue_count && list[n].queues; ++p)
      if (list[n].queues >> p & 1 && there[p] > now) now = there[p];
    now += list[n].queues ? chip->fence_cycles : 0;
    if (list[n].queues) continue;
    free_at[q] = (free_at[q] > now ? free_at[q] : now) + c->cycles;
    there[q] = free_at[q] + c->latency;
  }
  return now;
}

// Tiles take long to go in, and their products little, but for the latency: a fence for the products that are nearly
// done, in front of the next one, holds the tiles up less than one behind it.
static void a_fence_comes_before_what_is_late(void** state) {
  (void)state;
  enum { TILES = 80 };
  step steps[2 * TILES];
  pb_cost_of_command costs[2 * TILES];
  size_t length;
  pb_chip* chip = chip_of(PB_SOURCE_DIR "/tests/chips/tinynpu_fence.td");
  for (int k = 0; k < TILES; ++k) {
    steps[2 * k] = (step){0, k % 4, true}, costs[2 * k] = (pb_cost_of_command){32, 2};
    steps[2 * k + 1] = (step){1, k % 4, false}, costs[2 * k + 1] = (pb_cost_of_command){5, 36};
  }
  pb_tokens* t = add_all(chip, steps, 2 * TILES);
  pb_listed* list = pb_fences_put(chip, t, costs, &length);
  int64_t cycles = list_cycles(chip, list, length, steps, costs);
  if (cycles > 41 * TILES) fail_msg("%lld cycles for %d tiles", (long long)cycles, TILES);
  free(list);
  pb_tokens_free(t);
  pb_chip_free(chip);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_counter_is_filled_and_no_more),   cmocka_unit_test(random_commands),
      cmocka_unit_test(fences_put_all_in_order),           cmocka_unit_test(queues_go_on_together),
      cmocka_unit_test(a_fence_comes_before_what_is_late),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
