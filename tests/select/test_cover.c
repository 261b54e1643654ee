// Covers on a chip without a vector unit: a value that no instruction computes is put together from moves that scale,
// add and requantise, each leaving what it made where the next one reads it.
#include "core/select/cover.h"

#include "expr.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static pb_chip* chip;
static void access(pb_flat* f, const char* memory, pb_type type) {
  pb_flat_access* a = &f->access[f->access_count++];
  *a = (pb_flat_access){.memory = memory ? pb_chip_memory(chip, memory) : PB_ANY_MEMORY, .type = type};
}
static void begin(pb_flat* f) {
  used = 0;
  *f = (pb_flat){.expr = pool, .dim_count = 2, .extent = {49, 16}};
}

static void codes(pb_flat* f, int value) {
  int v = node(PB_OP_ADD, PB_F32, node(PB_OP_ROUNDEVEN, PB_F32, value, -1), number(PB_F32, -3));
  v = node(PB_OP_MAX, PB_F32, v, number(PB_F32, -128));
  node(PB_OP_FPTOSI8, PB_I8, node(PB_OP_MIN, PB_F32, v, number(PB_F32, 100)), -1);
  f->expr_count = used;
}

// clamp(roundeven(f32(acc + bias) * m) + zero): sums in `place`.
static void requantise(pb_flat* f, const char* place) {
  begin(f);
  access(f, place, PB_I32);
  access(f, NULL, PB_I32);
  access(f, NULL, PB_F32);
  access(f, NULL, PB_I8);
  int sum = node(PB_OP_ADD, PB_I32, load(PB_I32, 0), load(PB_I32, 1));
  codes(f, node(PB_OP_MUL, PB_F32, node(PB_OP_SITOFP, PB_F32, sum, -1), load(PB_F32, 2)));
}

static int scaled(int access, double zero, double scale) {
  int v = node(PB_OP_SITOFP, PB_F32, load(PB_I8, access), -1);
  return node(PB_OP_MUL, PB_F32, node(PB_OP_SUB, PB_F32, v, number(PB_F32, zero)), number(PB_F32, scale));
}

static void residual(pb_flat* f) {
  begin(f);
  for (int k = 0; k < 3; ++k) access(f, NULL, PB_I8);
  int a = scaled(0, 4, 0.25), b = scaled(1, -7, 0.75);
  codes(f, node(PB_OP_ADD, PB_F32, a, b));
}

static const char* name(const pb_cover* cover, int piece) { return cover->pieces[piece].insn->name; }

static void a_bias_moves_onto_the_sums(void** state) {
  (void)state;
  pb_flat f;
  pb_cover cover;
  requantise(&f, "ACC");
  assert_true(pb_cover_find(chip, &f, 0, true, &cover));
  assert_int_equal(cover.count, 2);
  assert_string_equal(name(&cover, 0), "MVIN_ADD");
  assert_string_equal(name(&cover, 1), "MVOUT_REQUANT");
  assert_int_equal(cover.pieces[0].onto_access, 0);
  assert_int_equal(cover.pieces[1].leaves[0], cover.pieces[0].node);
  assert_int_equal(cover.pieces[1].memory, chip->system_memory);
}

// An addition has no first operand: the sums may stand on either side.
static void a_bias_may_stand_in_front(void** state) {
  (void)state;
  pb_flat f;
  pb_cover cover;
  requantise(&f, "ACC");
  for (int n = 0; n < f.expr_count; ++n)
    if (pool[n].op == PB_OP_ADD && pool[n].type == PB_I32) {
      int first = pool[n].args[0];
      pool[n].args[0] = pool[n].args[1];
      pool[n].args[1] = first;
    }
  assert_true(pb_cover_find(chip, &f, 0, true, &cover));
  assert_int_equal(cover.count, 2);
  assert_string_equal(name(&cover, 0), "MVIN_ADD");
  assert_int_equal(cover.pieces[0].onto_access, 0);
}

static void sums_that_others_need_stay(void** state) {
  (void)state;
  pb_flat f;
  pb_cover cover;
  requantise(&f, "ACC");
  assert_false(pb_cover_find(chip, &f, -1, true, &cover)); // not to be overwritten
  requantise(&f, "SP");
  assert_false(pb_cover_find(chip, &f, 0, true, &cover)); // not where the move adds
  requantise(&f, "ACC");
  pool[0].operand = pool[1].operand = 0; // the sums twice: the second time they would have the bias
  assert_false(pb_cover_find(chip, &f, 0, true, &cover));
}

static void a_residual_is_three_moves(void** state) {
  (void)state;
  pb_flat f;
  pb_cover cover;
  residual(&f);
  assert_true(pb_cover_find(chip, &f, -1, true, &cover));
  assert_int_equal(cover.count, 3);
  assert_string_equal(name(&cover, 0), "MVIN_SCALE");
  assert_string_equal(name(&cover, 1), "MVIN_SCALE_ADD");
  assert_string_equal(name(&cover, 2), "MVOUT_ROUND");
  assert_int_equal(cover.pieces[1].onto, cover.pieces[0].node);
  assert_true(cover.pieces[1].addend >= 0 && cover.pieces[1].addend != cover.pieces[0].node);
}

static void what_no_instruction_computes_is_refused(void** state) {
  (void)state;
  pb_flat f;
  pb_cover cover;
  residual(&f);
  for (int n = 0; n < used; ++n)
    if (pool[n].op == PB_OP_ROUNDEVEN) pool[n].op = PB_OP_SQRT;
  assert_false(pb_cover_find(chip, &f, -1, true, &cover));
  residual(&f); // a zero point that no field carries
  for (int n = 0; n < used; ++n)
    if (pool[n].op == PB_OP_CONST && pool[n].value == 4) pool[n].value = 400;
  assert_false(pb_cover_find(chip, &f, -1, true, &cover));
  residual(&f);
  f.access[2].memory = pb_chip_memory(chip, "SP"); // codes are made on the way out only
  assert_false(pb_cover_find(chip, &f, -1, true, &cover));
}

static int open_chip(void** state) {
  (void)state;
  return pb_chip_read(PB_SOURCE_DIR "/tests/chips/gemmini.td", NULL, NULL, &chip) != PB_OK;
}
static int close_chip(void** state) {
  (void)state;
  pb_chip_free(chip);
  return 0;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_bias_moves_onto_the_sums), cmocka_unit_test(a_bias_may_stand_in_front),
      cmocka_unit_test(sums_that_others_need_stay), cmocka_unit_test(a_residual_is_three_moves),
      cmocka_unit_test(what_no_instruction_computes_is_refused)};
  return cmocka_run_group_tests(tests, open_chip, close_chip);
}
