// Engines for a grid: modules in several forms and launches come back as they were; what is wrong with them is said.
#include "core/artefact/format.h"
#include "pb/device.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint8_t text[] = ".version 7.0", cubin[70] = {0x7f, 'E', 'L', 'F'}, other[] = ".version 7.1";
static pb_tensor_info inputs[] = {{"x", PB_F32, 1, {64}, false, 0}};
static pb_tensor_info outputs[] = {{"y", PB_F32, 1, {64}, false, 0}};

typedef struct sample {
  pb_kernel kernels[2];
  pb_grid_code codes[3];
  pb_step steps[2];
  pb_engine engine;
} sample;

static void make(sample* s) {
  *s =
      (sample){.kernels = {{.name = "k0", .is_grid = true, .symbol = "pb_k0", .grid = {0, 3, 128, 0}, .bound = "DRAM"},
                           {.name = "k1", .is_grid = true, .symbol = "pb_k1", .grid = {1, 108, 32, 4096}, .bound = ""}},
               .codes = {{0, PB_DEVICE_PTX, sizeof text, text},
                         {0, PB_DEVICE_CUBIN, sizeof cubin, cubin},
                         {1, PB_DEVICE_PTX, sizeof other, other}},
               .steps = {{.kernel = 0, .target = -1, .origin = "a", .arg_count = 1, .args = {{PB_SPACE_INPUT, 0}}},
                         {.kernel = 1, .target = -1, .origin = "b", .arg_count = 1, .args = {{PB_SPACE_OUTPUT, 0}}}}};
  s->engine = (pb_engine){.target = "gpu",
                          .features = "",
                          .input_count = 1,
                          .inputs = inputs,
                          .output_count = 1,
                          .outputs = outputs,
                          .kernel_count = 2,
                          .kernels = s->kernels,
                          .step_count = 2,
                          .steps = s->steps,
                          .processor = "sm_80",
                          .module_count = 2,
                          .grid_code_count = 3,
                          .grid_codes = s->codes,
                          .description = "{}"};
}

static char said[512];
static void keep(void* user, bool error, int code, const char* words) {
  (void)user, (void)error;
  snprintf(said, sizeof said, "PB%d %s", code, words);
}
static pb_diag diag = {.sink = keep};

static void comes_back(void** state) {
  (void)state;
  sample s;
  void* bytes;
  uint64_t count;
  pb_engine* out;
  make(&s);
  assert_int_equal(pb_engine_pack(&s.engine, &diag, &bytes, &count), PB_OK);
  assert_int_equal(pb__get((uint8_t*)bytes + 8, 4), PB_ENGINE_GRID_VERSION);
  assert_int_equal(pb_engine_parse(bytes, count, "engine", &diag, &out), PB_OK);
  assert_string_equal(out->processor, "sm_80");
  assert_int_equal(out->module_count, 2);
  assert_int_equal(out->grid_code_count, 3);
  for (int k = 0; k < 3; ++k) {
    assert_int_equal(out->grid_codes[k].module, s.codes[k].module);
    assert_int_equal(out->grid_codes[k].form, s.codes[k].form);
    assert_int_equal(out->grid_codes[k].bytes, s.codes[k].bytes);
    assert_memory_equal(out->grid_codes[k].data, s.codes[k].data, s.codes[k].bytes);
  }
  assert_true(out->kernels[1].is_grid && !out->kernels[1].is_words);
  assert_string_equal(out->kernels[1].symbol, "pb_k1");
  assert_memory_equal(&out->kernels[1].grid, &s.kernels[1].grid, sizeof s.kernels[1].grid);
  pb_engine_free(out);
  free(bytes);
}

static void refused(sample* s, const char* words) {
  void* bytes;
  uint64_t count;
  said[0] = 0;
  assert_int_equal(pb_engine_pack(&s->engine, &diag, &bytes, &count), PB_ERR_INPUT);
  if (!strstr(said, words)) fail_msg("'%s' is not in '%s'", words, said);
  make(s);
}

static void says_what_is_wrong(void** state) {
  (void)state;
  sample s;
  make(&s);
  s.kernels[0].grid.module = 2;
  refused(&s, "kernel 'k0' is in module 2 of 2");
  s.kernels[1].grid.threads = 1025;
  refused(&s, "108 blocks of 1025 threads");
  s.kernels[1].grid.blocks = 0;
  refused(&s, "0 blocks");
  s.kernels[0].symbol = "pb k";
  refused(&s, "has no symbol");
  s.engine.processor = NULL;
  refused(&s, "for no processor");
  s.codes[2].module = 0;
  refused(&s, "code of no form"); // a second text of one module
  s.engine.grid_code_count = 2;
  refused(&s, "module 1 of a grid has no code");
  s.codes[1].form = 3;
  refused(&s, "code of no form");
  s.codes[0].module = 1;
  refused(&s, "module 1 of a grid is out of place");
  s.engine.description = NULL;
  refused(&s, "no description");
  s.steps[1].arg_count = PB_ENGINE_MAX_ARGS;
  for (int a = 0; a < PB_ENGINE_MAX_ARGS; ++a) s.steps[1].args[a] = (pb_arg){PB_SPACE_OUTPUT, 0};
  refused(&s, "arguments beside its memory");
}

// Whatever byte is another one, it is noticed; so is a text without its end.
static void notices_damage(void** state) {
  (void)state;
  sample s;
  void* bytes;
  uint64_t count;
  pb_engine* out;
  make(&s);
  assert_int_equal(pb_engine_pack(&s.engine, &diag, &bytes, &count), PB_OK);
  for (uint64_t k = 0; k < count; ++k) {
    ((uint8_t*)bytes)[k] ^= 0x40;
    assert_int_not_equal(pb_engine_parse(bytes, count, "engine", &diag, &out), PB_OK);
    ((uint8_t*)bytes)[k] ^= 0x40;
  }
  free(bytes);
  other[sizeof other - 1] = '7';
  assert_int_equal(pb_engine_pack(&s.engine, &diag, &bytes, &count), PB_OK);
  other[sizeof other - 1] = 0;
  assert_int_not_equal(pb_engine_parse(bytes, count, "engine", &diag, &out), PB_OK);
  assert_non_null(strstr(said, "a module that is no text"));
  free(bytes);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(comes_back), cmocka_unit_test(says_what_is_wrong),
                                     cmocka_unit_test(notices_damage)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
