// Engines with steps that are no launches: what is written comes back, and each rule of such steps has an engine that
// breaks it alone.
#include "tests/artefact/refused.h"

#include <stdlib.h>
#include <string.h>

enum { LAUNCH, FIRST, TEST, BODY, NEXT, BACK, RESULT, PLACE, STEPS };

// y = x; while (k(y) > 0) y = k(y)
typedef struct sample {
  pb_engine engine;
  uint8_t native[5], consts[64];
  pb_tensor_info inputs[2], output;
  pb_kernel kernel;
  pb_step steps[STEPS];
  int aliases[1];
  pb_kept kept[2];
} sample;

static void make(sample* s) {
  *s = (sample){
      .native = {0x7f, 'E', 'L', 'F', 1},
      .inputs = {{.name = "x", .type = PB_F32, .rank = 1, .shape = {4}},
                 {.name = "none", .type = PB_I8, .rank = 2, .shape = {0, 3}}},
      .output = {.name = "y", .type = PB_F32, .rank = 1, .shape = {4}},
      .kernel = {.name = "k", .symbol = "pb_k", .bound = ""},
      .steps = {[LAUNCH] = {.target = -1, .origin = "k", .arg_count = 1, .args = {{PB_SPACE_ARENA, 128}}},
                [FIRST] = {.op = PB_HOST_MOVE,
                           .kernel = -1,
                           .bytes = 16,
                           .origin = "a",
                           .arg_count = 2,
                           .args = {{PB_SPACE_ARENA, 0}, {PB_SPACE_INPUT, 0}}},
                [TEST] = {.op = PB_HOST_UNLESS,
                          .kernel = -1,
                          .target = RESULT,
                          .origin = "b",
                          .arg_count = 1,
                          .args = {{PB_SPACE_ARENA, 128}}},
                [BODY] = {.target = -1, .origin = "k", .arg_count = 1, .args = {{PB_SPACE_ARENA, 64}}},
                [NEXT] = {.op = PB_HOST_MOVE,
                          .kernel = -1,
                          .bytes = 16,
                          .origin = "c",
                          .arg_count = 2,
                          .args = {{PB_SPACE_ARENA, 0}, {PB_SPACE_ARENA, 64}}},
                [BACK] = {.op = PB_HOST_JUMP, .kernel = -1, .target = TEST, .origin = "d"},
                [RESULT] = {.op = PB_HOST_MOVE,
                            .kernel = -1,
                            .bytes = 16,
                            .origin = "e",
                            .arg_count = 2,
                            .args = {{PB_SPACE_OUTPUT, 0}, {PB_SPACE_ARENA, 0}}},
                [PLACE] = {.op = PB_HOST_PLACE, // two pieces of two bytes, at most three units on: 2 + 4 + 3 of 16
                           .kernel = -1,
                           .bytes = 2,
                           .rows = {.count = 2, .stride = 8, .unit = 2, .most = 3, .index = PB_I64},
                           .origin = "f",
                           .arg_count = 3,
                           .args = {{PB_SPACE_OUTPUT, 0}, {PB_SPACE_ARENA, 64}, {PB_SPACE_CONST, 56}}}}};
  s->kept[0] = (pb_kept){1, 4096, 512};
  s->kept[1] = (pb_kept){0, 0, 16};
  s->steps[BODY].kept_count = 2;
  s->steps[BODY].kept = s->kept;
  s->engine = (pb_engine){.target = "toy",
                          .features = "",
                          .input_count = 2,
                          .inputs = s->inputs,
                          .output_count = 1,
                          .outputs = &s->output,
                          .kernel_count = 1,
                          .kernels = &s->kernel,
                          .step_count = STEPS,
                          .steps = s->steps,
                          .aliases = s->aliases,
                          .consts = s->consts,
                          .const_bytes = sizeof s->consts,
                          .arena_bytes = 192,
                          .native = s->native,
                          .native_bytes = sizeof s->native};
}

static void comes_back(void** state) {
  (void)state;
  sample s;
  pb_diag diag = {.sink = pb_diag_drop};
  void* bytes;
  uint64_t count;
  pb_engine* read;
  make(&s);
  assert_int_equal(pb_engine_pack(&s.engine, &diag, &bytes, &count), PB_OK);
  assert_int_equal(pb__get((uint8_t*)bytes + 8, 4), PB_ENGINE_HOST_VERSION);
  assert_int_equal(pb_engine_parse(bytes, count, "control", &diag, &read), PB_OK);
  assert_null(read->open);
  assert_int_equal(read->step_count, STEPS);
  for (int k = 0; k < STEPS; ++k) {
    const pb_step *a = &s.steps[k], *b = &read->steps[k];
    assert_int_equal(a->op, b->op);
    assert_int_equal(a->kernel, b->kernel);
    assert_int_equal(a->target, b->target);
    assert_int_equal(a->bytes, b->bytes);
    assert_int_equal(a->arg_count, b->arg_count);
    assert_memory_equal(a->args, b->args, sizeof *a->args * (size_t)a->arg_count);
    assert_string_equal(a->origin, b->origin);
    assert_int_equal(a->rows.count, b->rows.count);
    assert_int_equal(a->rows.stride, b->rows.stride);
    assert_int_equal(a->rows.unit, b->rows.unit);
    assert_int_equal(a->rows.most, b->rows.most);
    assert_int_equal(a->rows.index, b->rows.index);
    assert_int_equal(a->kept_count, b->kept_count);
    for (int n = 0; n < a->kept_count; ++n) {
      assert_int_equal(a->kept[n].memory, b->kept[n].memory);
      assert_int_equal(a->kept[n].address, b->kept[n].address);
      assert_int_equal(a->kept[n].bytes, b->kept[n].bytes);
    }
  }
  assert_int_equal(read->aliases[0], 0);
  pb_engine_free(read);
  free(bytes);
}

// An engine of the other version than it needs, its sums put right.
static void version_that_is_another(void** state) {
  (void)state;
  sample s;
  pb_diag diag = {.sink = pb_diag_drop};
  void* bytes;
  uint64_t count, table = PB_HEADER_BYTES + PB_SECTION_BYTES * PB_SECTION_COUNT;
  pb_engine* read;
  make(&s);
  assert_int_equal(pb_engine_pack(&s.engine, &diag, &bytes, &count), PB_OK);
  pb__put((uint8_t*)bytes + 8, 4, PB_ENGINE_VERSION);
  pb__put((uint8_t*)bytes + 24, 8, 0);
  pb__put((uint8_t*)bytes + 24, 8, pb__crc64(0, bytes, table));
  assert_int_not_equal(pb_engine_parse(bytes, count, "control", &diag, &read), PB_OK);
  free(bytes);
}

static void an_operation_that_is_none(sample* s) { s->steps[BACK].op = (pb_host_op)5; }
static void a_launch_of_no_kernel(sample* s) { s->steps[BODY].kernel = 1; }
static void a_move_of_one(sample* s) { s->steps[NEXT].arg_count = 1; }
static void a_move_to_an_input(sample* s) { s->steps[NEXT].args[0] = (pb_arg){PB_SPACE_INPUT, 0}; }
static void a_move_to_a_constant(sample* s) { s->steps[NEXT].args[0] = (pb_arg){PB_SPACE_CONST, 0}; }
static void a_move_of_nothing(sample* s) { s->steps[NEXT].bytes = 0; }
static void a_move_past_the_arena(sample* s) { s->steps[NEXT].args[1].value = 192 - 8; }
static void a_move_past_what_it_writes(sample* s) { s->steps[NEXT].args[0].value = 192 - 8; }
static void a_move_past_an_input(sample* s) { s->steps[FIRST].bytes = 17; }
static void a_move_past_an_output(sample* s) { s->steps[RESULT].bytes = 17; }
static void a_move_past_the_constants(sample* s) { s->steps[FIRST].args[1] = (pb_arg){PB_SPACE_CONST, 49}; }
static void a_move_of_all_memory(sample* s) { s->steps[NEXT].bytes = UINT64_MAX; }
static void a_move_of_what_is_empty(sample* s) { s->steps[FIRST].args[1].value = 1; }
static void a_move_of_no_input(sample* s) { s->steps[FIRST].args[1].value = 2; }
static void a_move_that_jumps(sample* s) { s->steps[NEXT].target = 1; }
static void a_jump_that_looks(sample* s) { s->steps[BACK].arg_count = 1; }
static void a_jump_that_moves(sample* s) { s->steps[BACK].bytes = 1; }
static void a_jump_below(sample* s) { s->steps[BACK].target = -1; }
static void a_jump_past_the_end(sample* s) { s->steps[BACK].target = STEPS + 1; }
static void a_jump_to_itself(sample* s) { s->steps[BACK].target = BACK; }
static void a_jump_behind_the_test(sample* s) { s->steps[BACK].target = BODY; }
static void a_test_that_looks_at_nothing(sample* s) { s->steps[TEST].arg_count = 0; }
static void a_test_of_what_is_empty(sample* s) { s->steps[TEST].args[0] = (pb_arg){PB_SPACE_INPUT, 1}; }
static void a_test_outside(sample* s) { s->steps[TEST].args[0].value = 192; }
static void a_test_of_a_constant(sample* s) { s->steps[TEST].args[0] = (pb_arg){PB_SPACE_CONST, 0}; }
static void a_test_that_jumps_back(sample* s) { s->steps[TEST].target = TEST; }
static void a_test_that_jumps_past_the_end(sample* s) { s->steps[TEST].target = STEPS + 1; }
static void a_test_that_does_not_leave(sample* s) { s->steps[TEST].target = BACK; }
static void a_block_of_sizes(sample* s) { s->steps[TEST].args[0] = (pb_arg){PB_SPACE_SIZES, 0}; }
static void too_many_arguments(sample* s) { s->steps[BODY].arg_count = PB_ENGINE_MAX_ARGS + 1; }

static void a_place_in_an_input(sample* s) { s->steps[PLACE].args[0] = (pb_arg){PB_SPACE_INPUT, 0}; }
static void a_place_of_two(sample* s) { s->steps[PLACE].arg_count = 2; }
static void a_place_that_jumps(sample* s) { s->steps[PLACE].target = 1; }
static void a_place_of_nothing(sample* s) { s->steps[PLACE].bytes = 0; }
static void a_place_of_no_piece(sample* s) { s->steps[PLACE].rows.count = 0; }
static void a_place_past_what_it_writes(sample* s) { s->steps[PLACE].rows.most = 4; }
static void a_place_of_pieces_past_it(sample* s) { s->steps[PLACE].rows.stride = 9; }
static void a_place_of_long_pieces(sample* s) { s->steps[PLACE].bytes = 3; }
static void a_place_far_away(sample* s) { s->steps[PLACE].rows.most = UINT64_MAX / 2 + 1; }
static void a_place_of_all_memory(sample* s) { s->steps[PLACE].rows.stride = UINT64_MAX; }
static void a_place_past_what_it_reads(sample* s) { s->steps[PLACE].args[1].value = 189; }
static void a_place_without_an_index(sample* s) { s->steps[PLACE].args[2].value = 57; }
static void an_index_of_no_type(sample* s) { s->steps[PLACE].rows.index = PB_F32; }
static void too_much_is_kept(sample* s) { s->steps[BODY].kept_count = PB_ENGINE_MAX_KEPT + 1; }
static void nothing_is_kept(sample* s) { s->kept[1].bytes = 0; }
static void all_memory_is_kept(sample* s) { s->kept[1].bytes = UINT64_MAX; }
static void what_is_kept_far_away(sample* s) { s->kept[0].address = UINT64_MAX; }
static void an_alias_of_no_input(sample* s) { s->aliases[0] = 2; }
static void an_alias_below(sample* s) { s->aliases[0] = -2; }
static void an_alias_of_another_type(sample* s) { s->inputs[0].type = PB_I32; }
static void an_alias_of_another_shape(sample* s) { s->inputs[0].shape[0] = 5; }

static void each_rule(void** state) {
  (void)state;
  void (*const rules[])(sample*) = {an_operation_that_is_none,
                                    a_launch_of_no_kernel,
                                    a_move_of_one,
                                    a_move_to_an_input,
                                    a_move_to_a_constant,
                                    a_move_of_nothing,
                                    a_move_past_the_arena,
                                    a_move_past_what_it_writes,
                                    a_move_past_an_input,
                                    a_move_past_an_output,
                                    a_move_past_the_constants,
                                    a_move_of_all_memory,
                                    a_move_of_what_is_empty,
                                    a_move_of_no_input,
                                    a_move_that_jumps,
                                    a_jump_that_looks,
                                    a_jump_that_moves,
                                    a_jump_below,
                                    a_jump_past_the_end,
                                    a_jump_to_itself,
                                    a_jump_behind_the_test,
                                    a_test_that_looks_at_nothing,
                                    a_test_of_what_is_empty,
                                    a_test_outside,
                                    a_test_of_a_constant,
                                    a_test_that_jumps_back,
                                    a_test_that_jumps_past_the_end,
                                    a_test_that_does_not_leave,
                                    a_block_of_sizes,
                                    too_many_arguments,
                                    a_place_in_an_input,
                                    a_place_of_two,
                                    a_place_that_jumps,
                                    a_place_of_nothing,
                                    a_place_of_no_piece,
                                    a_place_past_what_it_writes,
                                    a_place_of_pieces_past_it,
                                    a_place_of_long_pieces,
                                    a_place_far_away,
                                    a_place_of_all_memory,
                                    a_place_past_what_it_reads,
                                    a_place_without_an_index,
                                    an_index_of_no_type,
                                    too_much_is_kept,
                                    nothing_is_kept,
                                    all_memory_is_kept,
                                    what_is_kept_far_away,
                                    an_alias_of_no_input,
                                    an_alias_below,
                                    an_alias_of_another_type,
                                    an_alias_of_another_shape};
  for (size_t k = 0; k < sizeof rules / sizeof *rules; ++k) {
    sample s;
    make(&s);
    rules[k](&s);
    assert_refused(&s.engine, k);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(comes_back), cmocka_unit_test(version_that_is_another),
                                     cmocka_unit_test(each_rule)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
