// Slices by isl against slices found by walking every element.
#include "core/poly/slice.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { LOOPS = 2, OWN = 3 };
#ifdef PB_SHORT // what sanitizers look at few accesses run
enum { RANDOM = 30 };
#else
enum { RANDOM = 200 };
#endif

typedef struct example {
  pb_access access;
  int64_t extents[PB_NEST_COLS];
} example;

static example begin(int rank) {
  example e = {.access = {.type = PB_I8, .rank = rank}};
  for (int c = 0; c < PB_NEST_COLS; ++c) e.extents[c] = 1;
  return e;
}

// Least and largest index `r` in one iteration of the loops around.
static void walk(const example* e, int r, const int64_t* iteration, int64_t* least, int64_t* most) {
  const pb_index* index = &e->access.index[r];
  *least = INT64_MAX;
  *most = INT64_MIN;
  for (int64_t a = 0; a < e->extents[0]; ++a)
    for (int64_t b = 0; b < e->extents[1]; ++b)
      for (int64_t c = 0; c < e->extents[2]; ++c) {
        int64_t at = index->cst + index->coef[0] * a + index->coef[1] * b + index->coef[2] * c;
        for (int k = 0; k < LOOPS; ++k) at += index->coef[PB_NEST_DIMS + k] * iteration[k];
        if (at < *least) *least = at;
        if (at > *most) *most = at;
      }
}

// The box that one iteration shows, in the iterations after it where the loops around take it: the least one, unless
// what is touched moves otherwise.
static pb_slice walk_slice(const example* e) {
  pb_slice slice = {0};
  int64_t iteration[LOOPS] = {0};
  for (int r = 0; r < e->access.rank; ++r) {
    int64_t least, most;
    walk(e, r, iteration, &least, &most);
    for (int k = 0; k < LOOPS; ++k) slice.origin[r].coef[PB_NEST_DIMS + k] = e->access.index[r].coef[PB_NEST_DIMS + k];
    slice.origin[r].cst = least;
    slice.extent[r] = most - least + 1;
  }
  return slice;
}

// Each box that is wrong by one number must not be proved.
static void assert_mutants_fail(const example* e, const pb_slice* right) {
  for (int r = 0; r < e->access.rank; ++r)
    for (int by = -1; by <= 1; by += 2) {
      pb_slice wrong = *right;
      wrong.extent[r] += by;
      assert_false(pb_slice_is_least(&e->access, e->extents, LOOPS, &wrong, NULL));
      wrong = *right;
      wrong.origin[r].cst += by;
      assert_false(pb_slice_is_least(&e->access, e->extents, LOOPS, &wrong, NULL));
      for (int k = 0; k < LOOPS; ++k) {
        if (e->extents[PB_NEST_DIMS + k] == 1 || !e->access.index[r].coef[PB_NEST_DIMS + k]) continue;
        wrong = *right;
        wrong.origin[r].coef[PB_NEST_DIMS + k] += by;
        assert_false(pb_slice_is_least(&e->access, e->extents, LOOPS, &wrong, NULL));
      }
    }
}

static void assert_least_box(const example* e) {
  pb_slice slice = walk_slice(e);
  assert_true(pb_slice_is_least(&e->access, e->extents, LOOPS, &slice, NULL));
  assert_mutants_fail(e, &slice);
}

// Rows 2 (4 t + h) + r - 3 of a 7x7 convolution of stride 2 whose tiles are 4 rows high.
static void a_window_with_its_halo(void** state) {
  (void)state;
  example e = begin(1);
  e.extents[0] = 4;
  e.extents[1] = 7;
  e.extents[PB_NEST_DIMS] = 28;
  e.access.index[0] = (pb_index){.cst = -3};
  e.access.index[0].coef[0] = 2;
  e.access.index[0].coef[1] = 1;
  e.access.index[0].coef[PB_NEST_DIMS] = 8;
  pb_slice slice = {.extent = {13}};
  slice.origin[0].cst = -3;
  slice.origin[0].coef[PB_NEST_DIMS] = 8;
  assert_true(pb_slice_is_least(&e.access, e.extents, 1, &slice, NULL));
  assert_least_box(&e);
}

static void backwards(void** state) {
  (void)state;
  example e = begin(1);
  e.extents[0] = 5;
  e.extents[PB_NEST_DIMS] = 3;
  e.access.index[0].cst = 20;
  e.access.index[0].coef[0] = -1;
  e.access.index[0].coef[PB_NEST_DIMS] = -5;
  assert_least_box(&e);
}

// What a tile and its slice both move with is no part of a proof.
static void one_proof_wherever_a_tile_stands(void** state) {
  (void)state;
  example e = begin(1);
  e.extents[0] = 4;
  e.extents[PB_NEST_DIMS] = 28;
  e.access.index[0].coef[0] = 2;
  e.access.index[0].coef[PB_NEST_DIMS] = 8;
  pb_slice slice = {.extent = {7}};
  slice.origin[0].coef[PB_NEST_DIMS] = 8;
  pb_arena arena = {0};
  pb_proofs proofs = {.arena = &arena};
  assert_true(pb_slice_is_least(&e.access, e.extents, 1, &slice, &proofs));
  assert_int_equal(proofs.known.count, 1);
  e.extents[PB_NEST_DIMS] = 5;
  e.access.index[0].cst = slice.origin[0].cst = -3;
  e.access.index[0].coef[PB_NEST_DIMS] = slice.origin[0].coef[PB_NEST_DIMS] = 9;
  assert_true(pb_slice_is_least(&e.access, e.extents, 1, &slice, &proofs));
  assert_int_equal(proofs.known.count, 1);
  slice.origin[0].cst = -4; // one in front of what is touched
  assert_false(pb_slice_is_least(&e.access, e.extents, 1, &slice, &proofs));
  slice.origin[0] = e.access.index[0]; // further behind than numbers go
  slice.origin[0].coef[0] = 0;
  slice.origin[0].cst = INT64_MAX;
  assert_false(pb_slice_is_least(&e.access, e.extents, 1, &slice, &proofs));
  pb_table_free(&proofs.known);
  pb_arena_free(&arena);
}

static void a_number_and_nothing(void** state) {
  (void)state;
  example e = begin(2);
  e.access.index[1].cst = 7;
  assert_least_box(&e);
  e.access.rank = 0;
  assert_least_box(&e);
}

// 5 w + 3 s, a stride over a dilated kernel: every second row or so is left out.
static void a_window_with_gaps(void** state) {
  (void)state;
  for (int step = 2; step <= 7; ++step)
    for (int dilation = 2; dilation <= 4; ++dilation) {
      example e = begin(1);
      e.extents[0] = 5;
      e.extents[1] = 3;
      e.extents[PB_NEST_DIMS] = 3;
      e.access.index[0].coef[0] = step;
      e.access.index[0].coef[1] = dilation;
      e.access.index[0].coef[PB_NEST_DIMS] = 5 * step;
      assert_least_box(&e);
    }
}

// A row of one number may be held whole, and so may all rows of a table, but that index alone, and what is touched must
// be held.
static void an_index_held_whole(void** state) {
  (void)state;
  for (int r = 0; r < 2; ++r) {
    example e = begin(2);
    e.extents[0] = 4;
    e.access.index[r].coef[0] = 1;
    pb_slice slice = walk_slice(&e);
    slice.extent[r] = 16;
    assert_false(pb_slice_is_least(&e.access, e.extents, LOOPS, &slice, NULL));
    slice.wider = 2 - r;
    assert_false(pb_slice_is_least(&e.access, e.extents, LOOPS, &slice, NULL));
    slice.wider = 1 + r;
    assert_true(pb_slice_is_least(&e.access, e.extents, LOOPS, &slice, NULL));
    slice.extent[r] = 3;
    assert_false(pb_slice_is_least(&e.access, e.extents, LOOPS, &slice, NULL));
  }
}

static void random_accesses(void** state) {
  (void)state;
  srand(1);
  for (int n = 0; n < RANDOM; ++n) {
    example e = begin(1 + rand() % 3);
    for (int c = 0; c < OWN; ++c) e.extents[c] = 1 + rand() % 5;
    for (int k = 0; k < LOOPS; ++k) e.extents[PB_NEST_DIMS + k] = 1 + rand() % 4;
    for (int r = 0; r < e.access.rank; ++r) {
      pb_index* index = &e.access.index[r];
      index->cst = rand() % 9 - 4;
      for (int c = 0; c < OWN; ++c) index->coef[c] = rand() % 4;
      for (int k = 0; k < LOOPS; ++k) index->coef[PB_NEST_DIMS + k] = rand() % 9;
    }
    assert_least_box(&e);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_window_with_its_halo),
      cmocka_unit_test(backwards),
      cmocka_unit_test(one_proof_wherever_a_tile_stands),
      cmocka_unit_test(a_number_and_nothing),
      cmocka_unit_test(a_window_with_gaps),
      cmocka_unit_test(an_index_held_whole),
      cmocka_unit_test(random_accesses),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
