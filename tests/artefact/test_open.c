// Engines with open dims: what is written comes back, and each rule of their part has an engine that breaks it alone.
#include "tests/artefact/refused.h"

#include <stdlib.h>
#include <string.h>

// y[2 s] = kernel(x[s], a tensor of s, its sizes)
typedef struct sample {
  pb_engine engine;
  pb_open open;
  uint8_t native[5];
  const char* symbols[1];
  pb_size sizes[6];
  int input_dims[1][PB_MAX_RANK], output_dims[1][PB_MAX_RANK], block[2];
  pb_tensor_info input, output;
  pb_kernel kernel;
  pb_step steps[2];
  pb_open_check check;
  pb_open_block blocks[1];
  pb_open_buffer buffers[1];
} sample;

static void make(sample* s) {
  *s = (sample){
      .native = {0x7f, 'E', 'L', 'F', 1},
      .symbols = {"s"},
      .sizes = {{.op = PB_SIZE_SYMBOL},
                {.op = PB_SIZE_NUMBER, .number = 2},
                {.op = PB_SIZE_MUL, .a = 0, .b = 1},
                {.op = PB_SIZE_NUMBER, .number = 4},
                {.op = PB_SIZE_MUL, .a = 0, .b = 3},
                {.op = PB_SIZE_DIV, .a = 4, .b = 1}},
      .input_dims = {{0}},
      .output_dims = {{2}},
      .block = {0, 5},
      .input = {.name = "x", .type = PB_F32, .rank = 1, .shape = {-1}},
      .output = {.name = "y", .type = PB_F32, .rank = 1, .shape = {-1}},
      .kernel = {.name = "k", .symbol = "pb_k", .bound = ""},
      .steps = {{.origin = "a",
                 .arg_count = 3,
                 .args = {{PB_SPACE_INPUT, 0}, {PB_SPACE_ARENA, 0}, {PB_SPACE_SIZES, 0}}},
                {.origin = "b", .arg_count = 2, .args = {{PB_SPACE_ARENA, 0}, {PB_SPACE_OUTPUT, 0}}}},
      .check = {false, 1, 0, "two at least"},
      .buffers = {{4, 0, 1}},
  };
  s->blocks[0] = (pb_open_block){PB_I64, 2, s->block};
  s->open = (pb_open){.symbol_count = 1,
                      .size_count = 6,
                      .check_count = 1,
                      .block_count = 1,
                      .buffer_count = 1,
                      .symbols = s->symbols,
                      .sizes = s->sizes,
                      .inputs = s->input_dims,
                      .outputs = s->output_dims,
                      .checks = &s->check,
                      .blocks = s->blocks,
                      .buffers = s->buffers};
  s->engine = (pb_engine){.target = "toy",
                          .features = "",
                          .input_count = 1,
                          .inputs = &s->input,
                          .output_count = 1,
                          .outputs = &s->output,
                          .kernel_count = 1,
                          .kernels = &s->kernel,
                          .step_count = 2,
                          .steps = s->steps,
                          .native = s->native,
                          .native_bytes = sizeof s->native,
                          .open = &s->open};
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
  assert_int_equal(pb_engine_parse(bytes, count, "open", &diag, &read), PB_OK);
  const pb_open* o = read->open;
  assert_non_null(o);
  assert_string_equal(o->symbols[0], "s");
  assert_int_equal(o->size_count, 6);
  for (int k = 0; k < 6; ++k) assert_memory_equal(&o->sizes[k], &s.sizes[k], sizeof *o->sizes);
  assert_int_equal(o->inputs[0][0], 0);
  assert_int_equal(o->outputs[0][0], 2);
  assert_string_equal(o->checks[0].text, "two at least");
  assert_int_equal(o->blocks[0].sizes[1], 5);
  assert_memory_equal(o->buffers, s.buffers, sizeof s.buffers);
  assert_int_equal(read->inputs[0].shape[0], -1);
  for (uint64_t k = 8; k < count; k += 7) { // changed anywhere it is refused
    pb_engine* other;
    ((uint8_t*)bytes)[k] ^= 0x40;
    assert_int_not_equal(pb_engine_parse(bytes, count, "open", &diag, &other), PB_OK);
    ((uint8_t*)bytes)[k] ^= 0x40;
  }
  pb_engine_free(read);
  free(bytes);
}

// ---- extents that data say ----

// y[t]: the first step makes the numbers, the second reads them, the third works with what they say.
typedef struct said {
  sample s;
  const char* symbols[2];
  pb_size sizes[4];
  pb_step steps[3];
  pb_open_buffer buffers[2];
  pb_open_source source;
} said;

static void make_said(said* d) {
  make(&d->s);
  d->symbols[0] = "s";
  d->symbols[1] = "y.0";
  const pb_size sizes[] = {{.op = PB_SIZE_SYMBOL},
                           {.op = PB_SIZE_SYMBOL, .number = 1},
                           {.op = PB_SIZE_NUMBER, .number = 16},
                           {.op = PB_SIZE_MUL, .a = 1, .b = 2}};
  const pb_step steps[] = {
      {.origin = "a", .arg_count = 2, .args = {{PB_SPACE_INPUT, 0}, {PB_SPACE_ARENA, 0}}},
      {.op = PB_HOST_EXTENTS, .kernel = -1, .origin = "b", .arg_count = 1, .args = {{PB_SPACE_ARENA, 0}}},
      {.origin = "c", .arg_count = 2, .args = {{PB_SPACE_ARENA, 1}, {PB_SPACE_OUTPUT, 0}}}};
  memcpy(d->sizes, sizes, sizeof sizes);
  memcpy(d->steps, steps, sizeof steps);
  d->buffers[0] = (pb_open_buffer){2, 0, 1};
  d->buffers[1] = (pb_open_buffer){3, 2, 2};
  d->source = (pb_open_source){.count = 1, .symbol = {1}};
  d->s.output_dims[0][0] = 1;
  pb_open* o = &d->s.open;
  o->symbol_count = 2;
  o->symbols = d->symbols;
  o->size_count = 4;
  o->sizes = d->sizes;
  o->check_count = o->block_count = 0;
  o->buffer_count = 2;
  o->buffers = d->buffers;
  o->source_count = 1;
  o->sources = &d->source;
  d->s.engine.steps = d->steps;
  d->s.engine.step_count = 3;
}

static void sources_come_back(void** state) {
  (void)state;
  said d;
  pb_diag diag = {.sink = pb_diag_drop};
  void* bytes;
  uint64_t count;
  pb_engine* read;
  pb_arena arena = {0};
  pb_open_stages stages;
  make_said(&d);
  assert_int_equal(pb_engine_pack(&d.s.engine, &diag, &bytes, &count), PB_OK);
  assert_int_equal(pb_engine_parse(bytes, count, "open", &diag, &read), PB_OK);
  assert_int_equal(read->open->source_count, 1);
  assert_int_equal(read->open->sources[0].count, 1);
  assert_int_equal(read->open->sources[0].symbol[0], 1);
  assert_int_equal(read->steps[1].op, PB_HOST_EXTENTS);
  pb_open_find_stages(read, &arena, &stages);
  assert_int_equal(stages.sizes[0], 0);
  assert_int_equal(stages.sizes[3], 1);
  assert_int_equal(stages.outputs[0], 1);
  pb_arena_free(&arena);
  pb_engine_free(read);
  free(bytes);
}

static void a_source_of_no_symbol(said* d) { d->source.symbol[0] = 2; }
static void a_symbol_of_an_input(said* d) { d->source.symbol[0] = 0; }
static void a_symbol_that_nobody_says(said* d) { d->source.symbol[0] = -1; }
static void a_source_without_a_step(said* d) { d->steps[1] = d->steps[0]; }
static void a_step_of_no_source(said* d) { d->steps[1].target = 1; }
static void a_source_twice(said* d) { d->steps[2] = d->steps[1]; }
static void numbers_of_an_input(said* d) { d->steps[1].args[0] = (pb_arg){PB_SPACE_INPUT, 0}; }
static void numbers_of_two(said* d) { d->steps[1].arg_count = 2; }
static void a_size_before_it_is_known(said* d) {
  d->steps[0].args[1].value = 1;
  d->buffers[1].first = 0;
}
static void an_output_before_it_is_known(said* d) { d->steps[0].args[0] = (pb_arg){PB_SPACE_OUTPUT, 0}; }
static void no_sources(said* d) { d->s.open.source_count = 0; }

static void each_rule_of_sources(void** state) {
  (void)state;
  void (*const rules[])(said*) = {a_source_of_no_symbol,
                                  a_symbol_of_an_input,
                                  a_symbol_that_nobody_says,
                                  a_source_without_a_step,
                                  a_step_of_no_source,
                                  a_source_twice,
                                  numbers_of_an_input,
                                  numbers_of_two,
                                  a_size_before_it_is_known,
                                  an_output_before_it_is_known,
                                  no_sources};
  for (size_t k = 0; k < sizeof rules / sizeof *rules; ++k) {
    said d;
    make_said(&d);
    rules[k](&d);
    assert_refused(&d.s.engine, k);
  }
}

static void without_symbols(sample* s) { s->open.symbol_count = 0; }
static void too_many_symbols(sample* s) { s->open.symbol_count = PB_MOST_SYMBOLS + 1; }
static void a_symbol_that_is_not_there(sample* s) { s->sizes[0].number = 1; }
static void a_symbol_of_no_input(sample* s) { s->input_dims[0][0] = 2; }
static void an_operation_that_is_none(sample* s) { s->sizes[2].op = PB_SIZE_OPS; }
static void an_operand_behind(sample* s) { s->sizes[2].b = 3; }
static void an_operand_below(sample* s) { s->sizes[2].a = -1; }
static void an_operand_of_a_number(sample* s) { s->sizes[3].a = 1; }
static void a_number_in_a_product(sample* s) { s->sizes[2].number = 1; }
static void a_quotient_by_a_symbol(sample* s) { s->sizes[5].b = 0; }
static void a_quotient_by_nothing(sample* s) { s->sizes[1].number = 0; }
static void a_dim_of_no_size(sample* s) { s->output_dims[0][0] = 6; }
static void a_dim_that_is_said_otherwise(sample* s) { s->output.shape[0] = 2; }
static void an_open_dim_that_is_a_number(sample* s) { s->output_dims[0][0] = 1; }
static void a_check_of_no_size(sample* s) { s->check.b = 6; }
static void a_block_of_no_type(sample* s) { s->blocks[0].type = PB_F32; }
static void a_block_of_no_size(sample* s) { s->block[1] = 6; }
static void a_buffer_of_no_size(sample* s) { s->buffers[0].bytes = -1; }
static void a_buffer_that_ends_before(sample* s) { s->buffers[0].first = 1, s->buffers[0].last = 0; }
static void a_buffer_past_the_steps(sample* s) { s->buffers[0].last = 2; }
static void a_buffer_that_is_gone(sample* s) { s->buffers[0].last = 0; }
static void an_argument_of_no_buffer(sample* s) { s->steps[1].args[0].value = 1; }
static void an_argument_of_no_block(sample* s) { s->steps[0].args[2].value = 1; }
static void an_arena(sample* s) { s->engine.arena_bytes = 64; }
static void a_profile(sample* s) { s->engine.shares = true; }
static void sizes_without_open_dims(sample* s) { s->engine.open = NULL; }

static void each_rule(void** state) {
  (void)state;
  void (*const rules[])(sample*) = {without_symbols,
                                    too_many_symbols,
                                    a_symbol_that_is_not_there,
                                    a_symbol_of_no_input,
                                    an_operation_that_is_none,
                                    an_operand_behind,
                                    an_operand_below,
                                    an_operand_of_a_number,
                                    a_number_in_a_product,
                                    a_quotient_by_a_symbol,
                                    a_quotient_by_nothing,
                                    a_dim_of_no_size,
                                    a_dim_that_is_said_otherwise,
                                    an_open_dim_that_is_a_number,
                                    a_check_of_no_size,
                                    a_block_of_no_type,
                                    a_block_of_no_size,
                                    a_buffer_of_no_size,
                                    a_buffer_that_ends_before,
                                    a_buffer_past_the_steps,
                                    a_buffer_that_is_gone,
                                    an_argument_of_no_buffer,
                                    an_argument_of_no_block,
                                    an_arena,
                                    a_profile,
                                    sizes_without_open_dims};
  for (size_t k = 0; k < sizeof rules / sizeof *rules; ++k) {
    sample s;
    make(&s);
    rules[k](&s);
    assert_refused(&s.engine, k);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(comes_back), cmocka_unit_test(each_rule),
                                     cmocka_unit_test(sources_come_back), cmocka_unit_test(each_rule_of_sources)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
