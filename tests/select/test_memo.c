// Remembered selections: what is found again is what selection would find now. Every field that tells two nests apart
// is changed alone; were it left out of the memo's key, the answer for the nest before the change would come back.
#include "core/select/memo.h"
#include "expr.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static pb_chip* chip;

// 6 rows of 32 bytes out of an image of 8 x 32, from row -1 on: the first is not there, and reads as -7.
static void padded_load(pb_flat* f) {
  used = 0;
  *f = (pb_flat){.expr = pool, .dim_count = 2, .extent = {6, 32}, .access_count = 2};
  for (int a = 0; a < 2; ++a) {
    f->access[a] = (pb_flat_access){
        .memory = pb_chip_memory(chip, a ? "SPAD" : "DRAM"), .type = PB_I8, .stride = {32, 1}, .aligned_rows = true};
    for (int d = 0; d < PB_FLAT_DIMS; ++d) f->access[a].box_rank[d] = -1;
  }
  f->access[0].boxed = true;
  f->access[0].box_rank[0] = 0;
  f->access[0].box_step[0] = 1;
  f->access[0].fill = -7;
  load(PB_I8, 0);
  f->expr_count = used;
}

// clamp(roundeven(f32(acc)), -3, 100): numbers in the expression tell nests apart too.
static void clamp(pb_flat* f) {
  padded_load(f);
  used = 0;
  f->access[0].boxed = false;
  f->access[0].box_rank[0] = -1;
  f->access[0].memory = f->access[1].memory = PB_ANY_MEMORY;
  f->access[0].type = PB_I32;
  f->extent[1] = 16;
  f->access[0].stride[0] = f->access[1].stride[0] = 16;
  int v = node(PB_OP_SITOFP, PB_F32, load(PB_I32, 0), -1);
  v = node(PB_OP_MIN, PB_F32, node(PB_OP_MAX, PB_F32, v, number(PB_F32, -3)), number(PB_F32, 100));
  node(PB_OP_FPTOSI8, PB_I8, v, -1);
  f->expr_count = used;
}

// Codes looked up in a table of 256 words.
static void look_up(pb_flat* f) {
  used = 0;
  *f = (pb_flat){.expr = pool, .dim_count = 2, .extent = {6, 16}, .access_count = 3};
  for (int a = 0; a < 3; ++a) {
    f->access[a] = (pb_flat_access){.memory = PB_ANY_MEMORY, .type = PB_I8, .stride = {16, 1}, .aligned_rows = true};
    for (int d = 0; d < PB_FLAT_DIMS; ++d) f->access[a].box_rank[d] = -1;
  }
  f->access[1].type = PB_I32;
  f->access[1].table = 256;
  f->access[1].stride[0] = f->access[1].stride[1] = 0;
  int code = node(PB_OP_SEXT, PB_I32, load(PB_I8, 0), -1), at = node(PB_OP_ADD, PB_I32, code, number(PB_I32, 128));
  int index = node(PB_OP_SEXT, PB_INDEX, at, -1), element = load(PB_I32, 1);
  pool[element].args[0] = index;
  node(PB_OP_TRUNC, PB_I8, element, -1);
  f->expr_count = used;
}

static void other_fill(pb_flat* f) { f->access[0].fill = 5; }
static void fill_no_byte_has(pb_flat* f) { f->access[0].fill = 1000; }
static void no_box(pb_flat* f) { f->access[0].boxed = false; }
static void other_index(pb_flat* f) {
  f->access[0].box_rank[0] = -1, f->access[0].box_rank[1] = 1, f->access[0].box_step[1] = 1;
}
static void other_step(pb_flat* f) { f->access[0].box_step[0] = 2; }
static void other_extent(pb_flat* f) { f->extent[0] = 7; }
static void other_stride(pb_flat* f) { f->access[1].stride[0] = 48; }
static void other_memory(pb_flat* f) { f->access[1].memory = pb_chip_memory(chip, "ACC"); }
static void other_type(pb_flat* f) { f->access[0].type = f->access[1].type = PB_I32; }
static void kept(pb_flat* f) { f->kept = 1; }
static void unaligned(pb_flat* f) { f->access[1].aligned_rows = false; }
static void other_table(pb_flat* f) { f->access[1].table = 128; }
static void reduces(pb_flat* f) { f->reduce = PB_ACC_MAX; }
static void other_number(pb_flat* f) {
  for (int n = 0; n < f->expr_count; ++n)
    if (pool[n].op == PB_OP_CONST) pool[n].value += 1;
}

static void same_answer(pb_select_memo* memo, const pb_flat* nest) {
  pb_arena scratch = {0};
  pb_match now = {0}, again = {0};
  const char *why = NULL, *why_again = NULL;
  bool found = pb_select(chip, nest, &scratch, &now, &why);
  for (int iteration = 0; iteration < 2; ++iteration) { // asked, then remembered
    assert_int_equal(pb_select_again(memo, nest, &again, &why_again), found);
    if (!found) {
      assert_string_equal(why_again, why);
      continue;
    }
    assert_ptr_equal(again.insn, now.insn);
    assert_int_equal(again.cycles, now.cycles);
    assert_int_equal(again.loop_count, now.loop_count);
    assert_memory_equal(again.dim_of, now.dim_of, sizeof now.dim_of);
    assert_memory_equal(again.imm, now.imm, sizeof now.imm);
    assert_memory_equal(again.nest.extent, now.nest.extent, sizeof now.nest.extent);
    for (int a = 0; a < now.nest.access_count; ++a) {
      assert_memory_equal(again.nest.access[a].stride, now.nest.access[a].stride, sizeof now.nest.access[a].stride);
      assert_int_equal(again.nest.access[a].boxed, now.nest.access[a].boxed);
      if (now.nest.access[a].boxed) assert_true(again.nest.access[a].fill == now.nest.access[a].fill);
    }
  }
  pb_arena_free(&scratch);
}

static void every_field_counts(void** state) {
  (void)state;
  static void (*const nests[])(pb_flat*) = {padded_load, clamp, look_up};
  static void (*const changes[])(pb_flat*) = {other_fill,   fill_no_byte_has, no_box,       other_index, other_step,
                                              other_extent, other_stride,     other_memory, other_type,  kept,
                                              unaligned,    reduces,          other_number, other_table};
  for (size_t n = 0; n < sizeof nests / sizeof *nests; ++n) {
    pb_arena arena = {0};
    pb_select_memo memo = {.chip = chip, .arena = &arena};
    pb_flat flat;
    nests[n](&flat);
    same_answer(&memo, &flat);
    for (size_t c = 0; c < sizeof changes / sizeof *changes; ++c) {
      nests[n](&flat);
      changes[c](&flat);
      same_answer(&memo, &flat);
    }
    pb_arena_free(&arena);
  }
}

// More nests than the table begins with room for.
static void many_nests(void** state) {
  (void)state;
  pb_arena arena = {0};
  pb_select_memo memo = {.chip = chip, .arena = &arena};
  for (int iteration = 0; iteration < 2; ++iteration)
    for (int rows = 1; rows < 300; ++rows) {
      pb_flat flat;
      padded_load(&flat);
      flat.extent[0] = rows;
      same_answer(&memo, &flat);
    }
  assert_int_equal(memo.count, 299);
  pb_arena_free(&arena);
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
  const struct CMUnitTest tests[] = {cmocka_unit_test(every_field_counts), cmocka_unit_test(many_nests)};
  return cmocka_run_group_tests(tests, open_chip, close_chip);
}
