// The slices that a tiling's buffers hold are proved before a plan is carried out, in every build: of what is walked
// forwards and backwards. Boxes that are wrong are test_slice.c's.
#include "core/poly/slice.h"
#include "core/s3/tree/tiling.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

enum { ROWS = 4, WINDOW = 3, LANES = 16 };

static pb_chip* chip;
static char tensors[2]; // two different values

// y[i, n] = max over k of x[from + step * i, k, n]
static pb_group rows_maximum(int64_t from, int64_t step, pb_select_memo* memo) {
  static const pb_program none = {.value_count = 0}; // nests that are given straight
  pb_group g = {.program = &none, .reduces = true, .lanes = LANES, .x = 0, .memo = memo};
  pb_nest* main = &g.main;
  *main = (pb_nest){.name = "maximum", .part = "reduce", .dim_count = 3, .access_count = 2, .reduce = PB_ACC_MAX};
  memcpy(main->extent, (int64_t[]){ROWS, WINDOW, LANES}, 3 * sizeof(int64_t));
  pb_access *x = &main->access[0], *y = &main->access[1];
  *x = (pb_access){.memref = {&tensors[0]}, .type = PB_I8, .rank = 3, .shape = {ROWS, WINDOW, LANES}};
  *y = (pb_access){.memref = {&tensors[1]}, .type = PB_I8, .rank = 2, .shape = {ROWS, LANES}};
  x->index[0].coef[0] = step;
  x->index[0].cst = from;
  x->index[1].coef[1] = x->index[2].coef[2] = 1;
  y->index[0].coef[0] = y->index[1].coef[2] = 1;
  pb_nest_load(main, 0);
  return g;
}

static const pb_plan plan = {
    .axis_count = 1, .axes = {{0, 1, 0}}, .chain = {[PB_OF_X] = {1, {{0, 1, 0}}}, [PB_OF_RESULT] = {1, {{1, 1, 0}}}}};

static void a_box_is_proved(void** state) {
  (void)state;
  pb_arena arena = {0};
  pb_tiling tiling;
  pb_select_memo memo = {.chip = chip, .arena = &arena};
  pb_group forwards = rows_maximum(0, 1, &memo);
  pb_proofs proofs = {.arena = &arena};
  assert_true(pb_tiling_build(chip, &forwards, &plan, &arena, &tiling));
  assert_true(pb_tiling_prove(chip, &forwards, &plan, &arena, &proofs, &tiling));
  size_t count = proofs.known.count;
  assert_true(count > 0);
  assert_true(pb_tiling_prove(chip, &forwards, &plan, &arena, &proofs, &tiling)); // from memory
  assert_true(proofs.known.count == count);
  pb_table_free(&proofs.known);
  assert_int_equal(tiling.buffers[0].shape[0], ROWS);
  pb_arena_free(&arena);
}

static void a_box_of_what_is_walked_backwards_is_proved(void** state) {
  (void)state;
  pb_arena arena = {0};
  pb_tiling tiling;
  pb_select_memo memo = {.chip = chip, .arena = &arena};
  pb_group backwards = rows_maximum(ROWS - 1, -1, &memo);
  pb_proofs proofs = {.arena = &arena};
  assert_true(pb_tiling_build(chip, &backwards, &plan, &arena, &tiling));
  assert_true(pb_tiling_prove(chip, &backwards, &plan, &arena, &proofs, &tiling));
  assert_true(proofs.known.count > 0);
  assert_int_equal(tiling.buffers[0].shape[0], ROWS);
  pb_table_free(&proofs.known);
  pb_arena_free(&arena);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_box_is_proved),
      cmocka_unit_test(a_box_of_what_is_walked_backwards_is_proved),
  };
  if (pb_chip_find("simnpu", NULL, NULL, &chip) != PB_OK) return 1;
  int failed = cmocka_run_group_tests(tests, NULL, NULL);
  pb_chip_free(chip);
  return failed;
}
