// Selection on the reference chip: each nest is computed by the instruction that is meant for it, with the immediates,
// windows and loops that it should have; and each mutant of it, which is another computation or cannot be said in the
// instruction's addresses, is refused.
#include "core/select/select.h"
#include "core/select/unify.h"
#include "expr.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static pb_chip* chip;

static void begin(pb_flat* f) {
  used = 0;
  *f = (pb_flat){.expr = pool};
}
static pb_flat_access* add_access(pb_flat* f, const char* memory, pb_type type) {
  pb_flat_access* a = &f->access[f->access_count++];
  *a = (pb_flat_access){
      .memory = memory ? pb_chip_memory(chip, memory) : PB_ANY_MEMORY, .type = type, .aligned_rows = true};
  for (int d = 0; d < PB_FLAT_DIMS; ++d) a->box_rank[d] = -1;
  return a;
}
static void strides(pb_flat_access* a, int count, ...) {
  va_list list;
  va_start(list, count);
  for (int d = 0; d < count; ++d) a->stride[d] = va_arg(list, int);
  va_end(list);
}
static void dims(pb_flat* f, int count, ...) {
  va_list list;
  va_start(list, count);
  f->dim_count = count;
  for (int d = 0; d < count; ++d) f->extent[d] = va_arg(list, int);
  va_end(list);
}

// ---- the nests ----

// acc[h, v, n] += sext(x[h, v, k]) * sext(w[k, n]): a row of 14 in a padded image of 16, 16 channels in and out.
static void product(pb_flat* f) {
  begin(f);
  dims(f, 4, 7, 14, 16, 16); // h, v, n, k
  strides(add_access(f, "SPAD", PB_I8), 4, 16 * 16, 16, 0, 1);
  strides(add_access(f, "WREG", PB_I8), 4, 0, 0, 1, 16);
  strides(add_access(f, "ACC", PB_I32), 4, 14 * 16, 16, 1, 0);
  int x = node(PB_OP_SEXT, PB_I32, load(PB_I8, 0), -1), w = node(PB_OP_SEXT, PB_I32, load(PB_I8, 1), -1);
  node(PB_OP_MUL, PB_I32, x, w);
  f->reduce = PB_ACC_ADD;
}

// clamp(roundeven(f32(acc + bias) * m) + zero, lo, hi); without a zero point the model has no such addition.
static void requantise(pb_flat* f, bool zero) {
  begin(f);
  dims(f, 2, 49, 16);
  strides(add_access(f, "ACC", PB_I32), 2, 16, 1);
  strides(add_access(f, "ACC", PB_I32), 2, 0, 1);
  strides(add_access(f, "ACC", PB_F32), 2, 0, 1);
  strides(add_access(f, "SPAD", PB_I8), 2, 16, 1);
  int sum = node(PB_OP_ADD, PB_I32, load(PB_I32, 0), load(PB_I32, 1));
  int v = node(PB_OP_MUL, PB_F32, node(PB_OP_SITOFP, PB_F32, sum, -1), load(PB_F32, 2));
  v = node(PB_OP_ROUNDEVEN, PB_F32, v, -1);
  if (zero) v = node(PB_OP_ADD, PB_F32, v, number(PB_F32, -3));
  v = node(PB_OP_MAX, PB_F32, v, number(PB_F32, -128));
  v = node(PB_OP_MIN, PB_F32, v, number(PB_F32, 100));
  node(PB_OP_FPTOSI8, PB_I8, v, -1);
}
static void with_zero_point(pb_flat* f) { requantise(f, true); }
static void without_zero_point(pb_flat* f) { requantise(f, false); }

// 6 rows of 32 bytes out of an image of 8 x 32, from row -1 on: the first is not there.
static void padded_load(pb_flat* f) {
  begin(f);
  dims(f, 2, 6, 32);
  pb_flat_access* source = add_access(f, "DRAM", PB_I8);
  strides(source, 2, 32, 1);
  source->boxed = true;
  source->box_rank[0] = 0;
  source->box_step[0] = 1;
  strides(add_access(f, "SPAD", PB_I8), 2, 32, 1);
  load(PB_I8, 0);
}

// A fill: a mover whose box is empty.
static void fill(pb_flat* f) {
  begin(f);
  dims(f, 1, 64);
  strides(add_access(f, "SPAD", PB_I8), 1, 1);
  number(PB_I8, -3);
}

static void pooling(pb_flat* f) {
  begin(f);
  dims(f, 4, 4, 2, 2, 16); // out, r, s, lanes
  strides(add_access(f, "SPAD", PB_I8), 4, 2 * 16, 8 * 16, 16, 1);
  strides(add_access(f, "SPAD", PB_I8), 4, 16, 0, 0, 1);
  load(PB_I8, 0);
  f->reduce = PB_ACC_MAX;
}

// y[r, n] = table[x[r, n] + 128], a code; the index is of type index, as in IR.
static void look_up(pb_flat* f) {
  begin(f);
  dims(f, 2, 40, 16);
  strides(add_access(f, "SPAD", PB_I8), 2, 16, 1);
  add_access(f, "ACC", PB_I32)->table = 256;
  strides(add_access(f, "SPAD", PB_I8), 2, 32, 1);
  int at = node(PB_OP_ADD, PB_I32, node(PB_OP_SEXT, PB_I32, load(PB_I8, 0), -1), number(PB_I32, 128));
  int index = node(PB_OP_SEXT, PB_INDEX, at, -1), element = load(PB_I32, 1);
  pool[element].args[0] = index;
  node(PB_OP_TRUNC, PB_I8, element, -1);
}

// d[r, l] += the square of x[r, n] - 7, over n: the same number in all lanes l.
static void squares(pb_flat* f) {
  begin(f);
  dims(f, 3, 30, 16, 16); // r, n, l
  strides(add_access(f, "SPAD", PB_I8), 3, 48, 1, 0);
  strides(add_access(f, "ACC", PB_I32), 3, 16, 0, 1);
  int x = node(PB_OP_SUB, PB_I32, node(PB_OP_SEXT, PB_I32, load(PB_I8, 0), -1), number(PB_I32, -3));
  node(PB_OP_MUL, PB_I32, x, node(PB_OP_SUB, PB_I32, node(PB_OP_SEXT, PB_I32, load(PB_I8, 0), -1), number(PB_I32, -3)));
  f->reduce = PB_ACC_ADD;
}

// Weights whose rows are the array's columns.
static void turned(pb_flat* f) {
  begin(f);
  dims(f, 2, 16, 16); // k, n
  strides(add_access(f, "SPAD", PB_I8), 2, 1, 64);
  strides(add_access(f, "WREG", PB_I8), 2, 16, 1);
  load(PB_I8, 0);
}

// (x + 3) (w - 5)
static void product_of_zeros(pb_flat* f) {
  product(f);
  used = 0;
  int x = node(PB_OP_SUB, PB_I32, node(PB_OP_SEXT, PB_I32, load(PB_I8, 0), -1), number(PB_I32, -3));
  int w = node(PB_OP_SUB, PB_I32, node(PB_OP_SEXT, PB_I32, load(PB_I8, 1), -1), number(PB_I32, 5));
  node(PB_OP_MUL, PB_I32, x, w);
}

// ---- mutants ----

static void shorter_table(pb_flat* f) { f->access[1].table = 255; }
static void no_table(pb_flat* f) { f->access[1].table = 0; }
static void other_place(pb_flat* f) {
  (void)f;
  for (int k = 0; k < used; ++k)
    if (pool[k].op == PB_OP_CONST && pool[k].value == 128) pool[k].value = 127;
}
static void no_index(pb_flat* f) {
  (void)f;
  for (int k = 0; k < used; ++k)
    if (pool[k].op == PB_OP_LOAD && pool[k].operand == 1) pool[k].args[0] = -1;
}
static void two_zeros(pb_flat* f) { // the command has one
  (void)f;
  for (int k = used - 1; k >= 0; --k)
    if (pool[k].op == PB_OP_CONST) {
      pool[k].value = 4;
      return;
    }
}

static void other_operation(pb_flat* f) {
  for (int k = 0; k < used; ++k)
    if (pool[k].op == PB_OP_MUL) pool[k].op = PB_OP_SUB;
  (void)f;
}
static void other_type(pb_flat* f) { f->access[0].type = PB_I16; }
static void other_memory(pb_flat* f) { f->access[0].memory = pb_chip_memory(chip, "DRAM"); }
static void other_destination(pb_flat* f) { f->access[f->access_count - 1].memory = pb_chip_memory(chip, "WREG"); }
static void other_reduction(pb_flat* f) { f->reduce = f->reduce == PB_SET ? PB_ACC_ADD : PB_SET; }
static void lanes_apart(pb_flat* f) {
  for (int d = 0; d < f->dim_count; ++d)
    if (f->access[0].stride[d] == 1) f->access[0].stride[d] = 2;
}
static void uneven_stride(pb_flat* f) { f->access[0].stride[0] += 3; } // no whole rows, which the window counts in
static void uneven_base(pb_flat* f) { f->access[0].aligned_rows = false; }
static void base_inside_a_unit(pb_flat* f) { f->access[0].aligned_rows = false, f->access[0].base = 24; }
static void too_few_lanes(pb_flat* f) { f->extent[f->dim_count - 1] = 10; }
static void zero_out_of_range(pb_flat* f) {
  (void)f;
  for (int k = 0; k < used; ++k)
    if (pool[k].op == PB_OP_CONST && pool[k].value == -3) pool[k].value = -300;
}
static void zero_with_fraction(pb_flat* f) {
  (void)f;
  for (int k = 0; k < used; ++k)
    if (pool[k].op == PB_OP_CONST && pool[k].value == -3) pool[k].value = -3.5;
}
static void clamp_swapped(pb_flat* f) { // max of min is another function than min of max
  (void)f;
  for (int k = 0; k < used; ++k) {
    if (pool[k].op == PB_OP_MAX)
      pool[k].op = PB_OP_MIN;
    else if (pool[k].op == PB_OP_MIN)
      pool[k].op = PB_OP_MAX;
  }
}
static void no_rounding(pb_flat* f) {
  (void)f;
  for (int k = 0; k < used; ++k)
    if (pool[k].op == PB_OP_ROUNDEVEN) pool[k].op = PB_OP_NEG;
}
static void fill_elsewhere(pb_flat* f) { f->access[0].memory = pb_chip_memory(chip, "WREG"); }
static void box_where_none_is(pb_flat* f) {
  f->access[0].boxed = true;
  f->access[0].box_rank[0] = 0;
}
typedef struct row {
  const char* what;
  void (*build)(pb_flat* f);
  const char* insn; // one of the instructions that may be taken
  int loops;        // dims left around it: a window of the maximum cannot stand still
  void (*mutants[12])(pb_flat* f);
} row;

static const row rows[] = {
    {"a product",
     product,
     "MMA",
     0,
     {other_operation, other_type, other_memory, other_destination, other_reduction, lanes_apart, uneven_stride,
      uneven_base, base_inside_a_unit, too_few_lanes, box_where_none_is}},
    {"requantisation",
     with_zero_point,
     "VRQ",
     0,
     {other_operation, other_type, other_memory, other_destination, other_reduction, lanes_apart, uneven_stride,
      zero_out_of_range, zero_with_fraction, clamp_swapped, no_rounding}},
    {"requantisation without a zero point",
     without_zero_point,
     "VRQ",
     0,
     {other_operation, no_rounding, too_few_lanes}},
    {"a padded load", padded_load, "LDS0", 0, {other_destination, other_reduction, fill_elsewhere}},
    {"a fill", fill, "LDS0", 0, {fill_elsewhere, zero_out_of_range}},
    {"a look-up",
     look_up,
     "VLUT",
     0,
     {shorter_table, no_table, other_place, no_index, other_type, other_memory, other_reduction, lanes_apart,
      too_few_lanes}},
    {"squares of rows", squares, "VRSQQ", 0, {two_zeros, zero_out_of_range, other_type, other_memory, lanes_apart}},
    {"weights turned round", turned, "WLDT", 0, {other_memory, lanes_apart, other_type, too_few_lanes}},
    {"a product of codes with zero points", product_of_zeros, "MMA", 0, {zero_out_of_range, zero_with_fraction}},
    {"max pooling", pooling, "VMAXQ", 2, {other_type, other_memory, other_destination, uneven_stride}},
};

static void each_nest_has_its_instruction(void** state) {
  (void)state;
  for (size_t k = 0; k < sizeof rows / sizeof *rows; ++k) {
    pb_flat f;
    pb_match match;
    pb_arena arena = {0};
    const char* why = "";
    rows[k].build(&f);
    f.expr_count = used;
    if (!pb_select(chip, &f, &arena, &match, &why)) fail_msg("%s is refused: %s", rows[k].what, why);
    bool found = false;
    for (int t = 0; t < match.twin_count; ++t) found |= !strcmp(match.twins[t]->name, rows[k].insn);
    if (!found) fail_msg("%s: %s instead of %s", rows[k].what, match.insn->name, rows[k].insn);
    if (match.loop_count != rows[k].loops) fail_msg("%s: %d loops", rows[k].what, match.loop_count);
    pb_arena_free(&arena);
  }
}

// Rows of 16 lanes whose halves are another loop, outside of that over the rows, are rows of lanes again.
static void halves_of_rows_are_joined(void** state) {
  (void)state;
  pb_flat f;
  pb_match match;
  pb_arena arena = {0};
  const char* why = "";
  with_zero_point(&f);
  f.expr_count = used;
  int lanes = f.dim_count - 1;
  assert_int_equal(f.dim_count, 2);
  f.extent[2] = f.extent[lanes] / 2;
  f.extent[1] = f.extent[0], f.extent[0] = 2;
  for (int a = 0; a < f.access_count; ++a) {
    int64_t* stride = f.access[a].stride;
    stride[2] = stride[1], stride[1] = stride[0], stride[0] = stride[2] * f.extent[2];
  }
  f.dim_count = 3;
  if (!pb_select(chip, &f, &arena, &match, &why)) fail_msg("%s", why);
  assert_string_equal(match.insn->name, "VRQ");
  assert_int_equal(match.loop_count, 0);
  pb_arena_free(&arena);
}

static void each_mutant_is_refused(void** state) {
  (void)state;
  for (size_t k = 0; k < sizeof rows / sizeof *rows; ++k)
    for (int m = 0; m < 12 && rows[k].mutants[m]; ++m) {
      pb_flat f;
      pb_match match;
      pb_arena arena = {0};
      const char* why = NULL;
      rows[k].build(&f);
      rows[k].mutants[m](&f);
      f.expr_count = used;
      if (pb_select(chip, &f, &arena, &match, &why)) fail_msg("mutant %d of %s: %s", m, rows[k].what, match.insn->name);
      if (!why || !why[0]) fail_msg("mutant %d of %s is refused without a reason", m, rows[k].what);
      pb_arena_free(&arena);
    }
}

// Immediates that the nest lacks take the value at which they do nothing; those that it has are theirs.
static void immediates(void** state) {
  (void)state;
  const pb_insn* vrq = pb_chip_insn(chip, "VRQ");
  int zp = pb_insn_operand(vrq, "zp"), lo = pb_insn_operand(vrq, "lo"), hi = pb_insn_operand(vrq, "hi");
  for (int zero = 0; zero < 2; ++zero) {
    pb_flat f;
    pb_binding binding;
    requantise(&f, zero);
    f.expr_count = used;
    assert_true(pb__unify(vrq, &f, &binding));
    assert_true(binding.imm_set[zp] && binding.imm_set[lo] && binding.imm_set[hi]);
    assert_true(binding.imm[zp] == (zero ? -3 : 0) && binding.imm[lo] == -128 && binding.imm[hi] == 100);
    assert_int_equal(binding.access_of[pb_insn_operand(vrq, "x")], 0);
    assert_int_equal(binding.access_of[pb_insn_operand(vrq, "bias")], 1);
    assert_int_equal(binding.access_of[pb_insn_operand(vrq, "d")], 3);
  }
}

// a + b is b + a: the operands change places, here and at the product. a - b is not.
static void arguments_may_swap(void** state) {
  (void)state;
  pb_flat f;
  pb_binding binding;
  const pb_insn* mma = pb_chip_insn(chip, "MMA");
  product(&f);
  pool[used - 1].args[0] = 3;
  pool[used - 1].args[1] = 1;
  f.expr_count = used;
  assert_true(pb__unify(mma, &f, &binding));
  assert_int_equal(binding.access_of[pb_insn_operand(mma, "x")], 0);
  assert_int_equal(binding.access_of[pb_insn_operand(mma, "wt")], 1);

  begin(&f); // dequantisation: (x - za) * scale, and za - x
  dims(&f, 2, 4, 16);
  strides(add_access(&f, "SPAD", PB_I8), 2, 16, 1);
  strides(add_access(&f, "ACC", PB_F32), 2, 0, 1);
  strides(add_access(&f, "ACC", PB_F32), 2, 16, 1);
  int x = node(PB_OP_SITOFP, PB_F32, load(PB_I8, 0), -1), za = number(PB_F32, 7);
  int difference = node(PB_OP_SUB, PB_F32, x, za);
  node(PB_OP_MUL, PB_F32, load(PB_F32, 1), difference);
  f.expr_count = used;
  const pb_insn* vdq = pb_chip_insn(chip, "VDQ");
  assert_true(pb__unify(vdq, &f, &binding));
  assert_true(binding.imm[pb_insn_operand(vdq, "za")] == 7);
  pool[difference].args[0] = za;
  pool[difference].args[1] = x;
  assert_false(pb__unify(vdq, &f, &binding));
}

static void longer_dims_are_split(void** state) {
  (void)state;
  pb_flat f;
  pb_match match;
  pb_arena arena = {0};
  const char* why = "";
  padded_load(&f);
  f.access[0].boxed = false;
  f.access[0].box_rank[0] = -1;
  f.access[0].stride[0] = 100; // too far apart to merge
  f.access[1].stride[0] = f.extent[1] = 16;
  f.extent[0] = 2 * 4095;
  f.expr_count = used;
  if (!pb_select(chip, &f, &arena, &match, &why)) fail_msg("%s", why);
  assert_true(match.loop_count == 0 && match.nest.dim_count == 3); // i takes one part, j the other
  f.access[1].stride[0] = 20; // now the outer part's step is past its field: it stays a loop
  if (!pb_select(chip, &f, &arena, &match, &why)) fail_msg("%s", why);
  assert_true(match.loop_count == 1 && match.nest.extent[match.loops[0]] == 2);
  pb_arena_free(&arena);
}

// More padded rows than one command takes: each piece says how much of itself is there.
static void longer_boxes_are_split(void** state) {
  (void)state;
  pb_flat f;
  pb_match match;
  pb_arena arena = {0};
  const char* why;
  padded_load(&f);
  f.extent[0] = 2 * 4095;
  f.expr_count = used;
  if (!pb_select(chip, &f, &arena, &match, &why)) fail_msg("%s", why);
  assert_int_equal(match.loop_count, 1);
  const pb_flat_access* source = &match.nest.access[match.access_of[0]];
  assert_int_equal(match.nest.extent[match.loops[0]], 2);
  assert_int_equal(source->box_rank[match.loops[0]], 0);
  assert_int_equal(source->box_step[match.loops[0]], 4095);
  f.access[0].box_step[0] = 2; // every other row of the tensor: a box counts the command's rows
  assert_false(pb_select(chip, &f, &arena, &match, &why));
  pb_arena_free(&arena);
}

// A mover whose box tests neighbours takes pixels and their channels as one run: the box is told in elements, so many
// for a step of the bounded index as a pixel has channels.
static void boxes_are_told_in_elements(void** state) {
  (void)state;
  pb_chip *simnpu = chip, *cube;
  assert_int_equal(pb_chip_find(PB_SOURCE_DIR "/tests/chips/ascend.td", NULL, NULL, &cube), PB_OK);
  chip = cube;
  pb_flat f;
  pb_match match;
  pb_arena arena = {0};
  const char* why;
  begin(&f); // 5 rows of 7 pixels of 3 channels out of an image of rows of 20 pixels
  dims(&f, 3, 5, 7, 3);
  pb_flat_access* source = add_access(&f, "GM", PB_I8);
  strides(source, 3, 60, 3, 1);
  source->boxed = true;
  for (int d = 0; d < 2; ++d) {
    source->box_rank[d] = d;
    source->box_step[d] = 1;
  }
  strides(add_access(&f, "L1", PB_I8), 3, 32, 3, 1);
  load(PB_I8, 0);
  f.expr_count = used;
  if (!pb_select(chip, &f, &arena, &match, &why)) fail_msg("%s", why);
  assert_int_equal(match.nest.dim_count, 2);
  assert_int_equal(match.cycles, 5);
  const pb_flat_access* box = &match.nest.access[match.access_of[pb_insn_operand(match.insn, "src")]];
  int pixels = match.nest.extent[0] == 21 ? 0 : 1;
  assert_int_equal(match.nest.extent[pixels], 21);
  assert_true(box->box_rank[pixels] == 1 && box->stride[pixels] == 1 && box->box_run[pixels] == 3);
  assert_true(box->box_rank[!pixels] == 0 && box->box_run[!pixels] <= 1);
  f.access[0].box_step[1] = 2; // every other pixel of the tensor: no box of a command counts those
  assert_false(pb_select(chip, &f, &arena, &match, &why));
  pb_arena_free(&arena);
  pb_chip_free(cube);
  chip = simnpu;
}

static void neighbours_merge(void** state) {
  (void)state;
  pb_flat f;
  padded_load(&f);
  f.access[0].boxed = false;
  f.access[0].box_rank[0] = -1;
  pb_flat_merge(&f);
  assert_true(f.dim_count == 1 && f.extent[0] == 6 * 32 && f.access[0].stride[0] == 1);
  padded_load(&f); // what a box tests stays
  pb_flat_merge(&f);
  assert_int_equal(f.dim_count, 2);
  padded_load(&f); // so does what must be moved piece by piece
  f.access[0].boxed = false;
  f.access[0].box_rank[0] = -1;
  f.kept = 1;
  pb_flat_merge(&f);
  assert_int_equal(f.dim_count, 2);
  padded_load(&f); // and rows that lie apart on one side only
  f.access[0].boxed = false;
  f.access[0].box_rank[0] = -1;
  f.access[1].stride[0] = 48;
  pb_flat_merge(&f);
  assert_int_equal(f.dim_count, 2);
}

static int open_chip(void** state) {
  (void)state;
  return pb_chip_find("simnpu", NULL, NULL, &chip) != PB_OK;
}
static int close_chip(void** state) {
  (void)state;
  pb_chip_free(chip);
  return 0;
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(each_nest_has_its_instruction),
                                     cmocka_unit_test(each_mutant_is_refused),
                                     cmocka_unit_test(halves_of_rows_are_joined),
                                     cmocka_unit_test(immediates),
                                     cmocka_unit_test(arguments_may_swap),
                                     cmocka_unit_test(longer_dims_are_split),
                                     cmocka_unit_test(longer_boxes_are_split),
                                     cmocka_unit_test(boxes_are_told_in_elements),
                                     cmocka_unit_test(neighbours_merge)};
  return cmocka_run_group_tests(tests, open_chip, close_chip);
}
