// The engine file: what is written comes back; a file that is changed or cut anywhere is refused.
#include "core/artefact/format.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PATH PB_BINARY_DIR "/test_engine.pbe"

static uint8_t commands[3][8] = {{1, 2, 3, 4, 5, 6, 7, 8}, {9}, {10}};
static uint32_t counts[2] = {2, 1};
static uint8_t* streams[2] = {commands[0], commands[2]};
static uint8_t consts[70] = {7, 8, 9};
static uint8_t native[5] = {0x7f, 'E', 'L', 'F', 1};
static pb_tensor_info inputs[] = {{"x", PB_F32, 2, {4, 8}, false, 0}};
static pb_tensor_info outputs[] = {{"y", PB_I8, 1, {32}, false, 0}, {"scalar", PB_I64, 0, {0}, false, 0}};
static pb_kernel kernels[] = {
    {.name = "k0", .is_words = true, .words = {2, counts, streams}, .predicted_cycles = 99, .bound = "MX"},
    {.name = "k1", .symbol = "k1_entry", .alone = true, .bound = ""}};
static pb_step steps[] = {
    {.kernel = 0,
     .origin = "Conv_1",
     .macs = 256,
     .arg_count = 3,
     .args = {{PB_SPACE_INPUT, 0}, {PB_SPACE_CONST, 64}, {PB_SPACE_ARENA, 128}}},
    {.kernel = 1, .origin = "Relu_2", .arg_count = 2, .args = {{PB_SPACE_ARENA, 0}, {PB_SPACE_OUTPUT, 1}}}};

static pb_engine sample(void) {
  pb_engine engine = {.target = "toy",
                      .chip_hash = {1, 2, 3},
                      .chip_revision = 4,
                      .command_bytes = 8,
                      .features = "",
                      .input_count = 1,
                      .inputs = inputs,
                      .output_count = 2,
                      .outputs = outputs,
                      .kernel_count = 2,
                      .kernels = kernels,
                      .step_count = 2,
                      .steps = steps,
                      .consts = consts,
                      .const_bytes = sizeof consts,
                      .arena_bytes = 192,
                      .native = native,
                      .native_bytes = sizeof native,
                      .description = "{}"};
  return engine;
}

static int last_code;
static char last_text[200];
static void keep_code(void* user, bool error, int code, const char* text) {
  (void)user;
  if (error) last_code = code;
  if (error) snprintf(last_text, sizeof last_text, "%s", text);
}
static pb_diag quiet = {.sink = keep_code};

static uint8_t* load(const char* path, size_t* count) {
  FILE* file = fopen(path, "rb");
  assert_non_null(file);
  uint8_t* bytes = malloc(1 << 20);
  *count = fread(bytes, 1, 1 << 20, file);
  fclose(file);
  return bytes;
}
static void assert_same_tensors(const pb_tensor_info* a, const pb_tensor_info* b, int count) {
  for (int k = 0; k < count; ++k) {
    assert_string_equal(a[k].name, b[k].name);
    assert_int_equal(a[k].type, b[k].type);
    assert_int_equal(a[k].rank, b[k].rank);
    assert_memory_equal(a[k].shape, b[k].shape, sizeof a[k].shape);
  }
}

static void round_trip(void** state) {
  (void)state;
  pb_engine in = sample();
  pb_engine* out = NULL;
  assert_int_equal(pb_engine_write(&in, PATH, NULL), PB_OK);
  assert_int_equal(pb_engine_read(PATH, NULL, &out), PB_OK);
  assert_string_equal(out->target, "toy");
  assert_memory_equal(out->chip_hash, in.chip_hash, 32);
  assert_int_equal(out->chip_revision, 4);
  assert_int_equal(out->command_bytes, 8);
  assert_int_equal(out->arena_bytes, 192);
  assert_int_equal(out->input_count, 1);
  assert_int_equal(out->output_count, 2);
  assert_same_tensors(inputs, out->inputs, 1);
  assert_same_tensors(outputs, out->outputs, 2);
  assert_true(out->kernels[0].is_words);
  assert_memory_equal(out->kernels[0].words.count, counts, sizeof counts);
  assert_memory_equal(out->kernels[0].words.streams[0], commands, 16);
  assert_memory_equal(out->kernels[0].words.streams[1], commands[2], 8);
  assert_int_equal(out->steps[0].macs, 256);
  assert_int_equal(out->kernels[0].predicted_cycles, 99);
  assert_string_equal(out->kernels[0].bound, "MX");
  assert_string_equal(out->kernels[1].symbol, "k1_entry");
  assert_true(out->kernels[1].alone);
  assert_int_equal(out->step_count, 2);
  assert_string_equal(out->steps[1].origin, "Relu_2");
  assert_int_equal(out->steps[0].arg_count, 3);
  assert_memory_equal(out->steps[0].args, steps[0].args, sizeof(pb_arg) * 3);
  assert_int_equal(out->const_bytes, sizeof consts);
  assert_memory_equal(out->consts, consts, sizeof consts);
  assert_int_equal((uintptr_t)out->consts % 4096, 0);
  assert_int_equal(out->native_bytes, sizeof native);
  assert_memory_equal(out->native, native, sizeof native);
  assert_string_equal(out->description, "{}");
  pb_engine_free(out);
}

static void same_bytes(void** state) {
  (void)state;
  pb_engine in = sample();
  size_t n, m;
  assert_int_equal(pb_engine_write(&in, PATH, NULL), PB_OK);
  assert_int_equal(pb_engine_write(&in, PATH ".2", NULL), PB_OK);
  uint8_t *a = load(PATH, &n), *b = load(PATH ".2", &m);
  assert_int_equal(n, m);
  assert_memory_equal(a, b, n);
  free(a);
  free(b);
}

static void expect_refused(const char* what, size_t where) {
  pb_engine* out = NULL;
  last_code = 0;
  pb_status status = pb_engine_read(PATH ".bad", &quiet, &out);
  if (status == PB_OK || out || last_code < 5000 || last_code > 5999)
    fail_msg("%s %zu: status %d, code %d", what, where, status, last_code);
}

// A device or a pipe is written to; a rename over it would replace it.
static void devices_stay(void** state) {
  (void)state;
  pb_engine in = sample();
  struct stat before, after;
  assert_int_equal(mkfifo(PATH ".pipe", 0600), 0);
  int reader = open(PATH ".pipe", O_RDONLY | O_NONBLOCK);
  assert_true(reader >= 0);
  assert_int_equal(stat(PATH ".pipe", &before), 0);
  assert_int_equal(pb_engine_write(&in, PATH ".pipe", NULL), PB_OK);
  assert_int_equal(stat(PATH ".pipe", &after), 0);
  assert_true(S_ISFIFO(after.st_mode) && after.st_ino == before.st_ino);
  char magic[4];
  assert_int_equal(read(reader, magic, sizeof magic), sizeof magic);
  close(reader);
  remove(PATH ".pipe");
}

// In place: to write thousands of files would take longer than to check them.
static void poke(int file, size_t where, uint8_t byte) { assert_int_equal(pwrite(file, &byte, 1, (off_t)where), 1); }

static void every_change(void** state) {
  (void)state;
  pb_engine in = sample();
  size_t count;
  assert_int_equal(pb_engine_write(&in, PATH ".bad", NULL), PB_OK);
  uint8_t* bytes = load(PATH ".bad", &count);
  int file = open(PATH ".bad", O_RDWR);
  assert_true(file >= 0);
  for (size_t k = 0; k < count; ++k) {
    static const uint8_t masks[] = {0x01, 0x80, 0xff};
    for (int m = 0; m < 3; ++m) {
      poke(file, k, bytes[k] ^ masks[m]);
      expect_refused("byte", k);
    }
    poke(file, k, bytes[k]);
  }
  close(file);
  pb_engine* out = NULL;
  assert_int_equal(pb_engine_read(PATH ".bad", NULL, &out), PB_OK);
  pb_engine_free(out);
  free(bytes);
}

static void every_length(void** state) {
  (void)state;
  pb_engine in = sample();
  size_t count;
  assert_int_equal(pb_engine_write(&in, PATH ".bad", NULL), PB_OK);
  free(load(PATH ".bad", &count));
  int file = open(PATH ".bad", O_RDWR);
  assert_true(file >= 0);
  poke(file, count, 0);
  expect_refused("length", count + 1);
  for (size_t k = count; k-- > 0;) {
    assert_int_equal(ftruncate(file, (off_t)k), 0);
    expect_refused("length", k);
    assert_int_equal(strstr(last_text, "too short for a header") != NULL, k < PB_HEADER_BYTES);
  }
  close(file);
}

// What the sums would say of the file as it is now.
static void sign(uint8_t* bytes) {
  uint32_t sections = (uint32_t)pb__get(bytes + 12, 4);
  for (uint32_t k = 0; k < sections; ++k) {
    uint8_t* row = bytes + PB_HEADER_BYTES + (size_t)k * PB_SECTION_BYTES;
    uint64_t sum = pb__crc64(0, bytes + pb__get(row + 8, 8), (size_t)pb__get(row + 16, 8));
    memcpy(row + 24, &sum, 8);
  }
  memset(bytes + 24, 0, 8);
  uint64_t sum = pb__crc64(0, bytes, PB_HEADER_BYTES + sections * PB_SECTION_BYTES);
  memcpy(bytes + 24, &sum, 8);
}

// The damaged engine as PATH.bad, its sums right; frees it.
static void write_signed(uint8_t* bytes, size_t count) {
  sign(bytes);
  FILE* file = fopen(PATH ".bad", "wb");
  assert_non_null(file);
  assert_int_equal(fwrite(bytes, 1, count, file), count);
  fclose(file);
  free(bytes);
}

// A text that ends inside itself would be another text to whoever reads it as C does.
static void a_zero_in_a_text(void** state) {
  (void)state;
  static const char* const texts[] = {"toy", "Conv_1", "k1_entry", "scalar", "{}"};
  for (size_t t = 0; t < sizeof texts / sizeof *texts; ++t) {
    pb_engine in = sample();
    size_t count, length = strlen(texts[t]);
    int found = 0;
    assert_int_equal(pb_engine_write(&in, PATH ".bad", NULL), PB_OK);
    uint8_t* bytes = load(PATH ".bad", &count);
    for (size_t k = 0; k + length <= count; ++k)
      if (!memcmp(bytes + k, texts[t], length)) {
        bytes[k + 1] = 0;
        ++found;
      }
    assert_true(found > 0);
    write_signed(bytes, count);
    expect_refused(texts[t], t);
    assert_int_equal(last_code, 5006); // not for a sum
  }
}

// A byte of each section changed, its sum left: it is the sum that is told of, not what the byte would have meant.
static void a_sum_for_each_section(void** state) {
  (void)state;
  pb_engine in = sample();
  size_t count;
  assert_int_equal(pb_engine_write(&in, PATH ".bad", NULL), PB_OK);
  uint8_t* bytes = load(PATH ".bad", &count);
  uint32_t sections = (uint32_t)pb__get(bytes + 12, 4);
  assert_true(sections > 0);
  for (uint32_t k = 0; k < sections; ++k) {
    const uint8_t* row = bytes + PB_HEADER_BYTES + (size_t)k * PB_SECTION_BYTES;
    if (!pb__get(row + 16, 8)) continue;
    uint64_t last = pb__get(row + 8, 8) + pb__get(row + 16, 8) - 1;
    bytes[last] ^= 1;
    FILE* file = fopen(PATH ".bad", "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, count, file), count);
    fclose(file);
    expect_refused("section", k);
    assert_int_equal(last_code, 5005);
    bytes[last] ^= 1;
  }
  free(bytes);
}

// Well formed, and not what an engine may say: a smaller arena than a step's argument lies in.
static void an_argument_outside(void** state) {
  (void)state;
  static const uint64_t room = 0x1234560, less = 64;
  pb_engine in = sample();
  in.arena_bytes = room;
  size_t count;
  int found = 0;
  assert_int_equal(pb_engine_write(&in, PATH ".bad", NULL), PB_OK);
  uint8_t* bytes = load(PATH ".bad", &count);
  for (size_t k = 0; k + sizeof room <= count; ++k)
    if (!memcmp(bytes + k, &room, sizeof room)) {
      memcpy(bytes + k, &less, sizeof less);
      ++found;
    }
  assert_int_equal(found, 1);
  write_signed(bytes, count);
  expect_refused("an argument outside", 0);
  assert_int_equal(last_code, 5007);
}

static void expect_not_written(pb_engine engine, const char* what) {
  last_code = 0;
  if (pb_engine_write(&engine, PATH ".bad", &quiet) == PB_OK || last_code != 5010) fail_msg("%s was written", what);
}

static void broken_engines(void** state) {
  (void)state;
  pb_step bad[2] = {steps[0], steps[1]};
  pb_engine e = sample();
  e.steps = bad;
  bad[0].kernel = 2;
  expect_not_written(e, "kernel out of range");
  bad[0] = steps[0];
  bad[0].args[0].value = 1;
  expect_not_written(e, "input out of range");
  bad[0] = steps[0];
  bad[0].args[1].value = sizeof consts;
  expect_not_written(e, "constant out of range");
  bad[0] = steps[0];
  bad[0].args[2].value = 192;
  expect_not_written(e, "arena out of range");
  bad[0] = steps[0];
  bad[0].args[2].space = (pb_space)9;
  expect_not_written(e, "unknown space");
  bad[0] = steps[0];
  bad[1].args[0] = (pb_arg){PB_SPACE_CONST_APART, 64};
  expect_not_written(e, "native code that reads what only commands reach");
  bad[1] = steps[1];
  bad[0].args[0] = (pb_arg){PB_SPACE_CONST_APART, 64}; // where a constant of the system's memory begins
  expect_not_written(e, "constants of two memories that mix");
  bad[0] = steps[0];
  bad[0].args[0] = (pb_arg){PB_SPACE_CONST_LAST, sizeof consts};
  expect_not_written(e, "constant out of range of the last memory");
  bad[0].args[0] = (pb_arg){(pb_space)(PB_SPACE_CONST_APART + 1), 64};
  bad[0].args[1] = (pb_arg){PB_SPACE_CONST_APART, 64};
  expect_not_written(e, "constants of two memories apart that mix");
  e = sample();
  e.native_bytes = 0;
  expect_not_written(e, "native kernel without native code");
  e = sample();
  e.command_bytes = 0;
  expect_not_written(e, "commands without a size");
  e = sample();
  e.description = NULL;
  expect_not_written(e, "commands without a description");
  static const struct {
    pb_tensor_info of;
    const char* what;
  } complex[] = {{{"x", PB_I32, 2, {4, 2}, true, 0}, "complex numbers of integers"},
                 {{"x", PB_F16, 2, {4, 2}, true, 0}, "complex numbers of f16"},
                 {{"x", PB_F32, 2, {2, 4}, true, 0}, "complex numbers of four parts"},
                 {{"x", PB_F32, 0, {0}, true, 0}, "complex numbers without parts"}};
  for (size_t k = 0; k < sizeof complex / sizeof *complex; ++k) {
    pb_tensor_info one = complex[k].of;
    e = sample();
    e.inputs = &one;
    expect_not_written(e, complex[k].what);
  }
  pb_tensor_info huge[] = {{"x", PB_F32, 3, {1 << 30, 1 << 30, 1 << 30}, false, 0}};
  e = sample();
  e.inputs = huge;
  expect_not_written(e, "a tensor larger than memory");
}

static void not_there(void** state) {
  (void)state;
  pb_engine* out = NULL;
  assert_int_equal(pb_engine_read(PB_BINARY_DIR "/no_such.pbe", &quiet, &out), PB_ERR_SYSTEM);
  assert_int_equal(last_code, 5001);
  assert_int_equal(pb_engine_read(PB_BINARY_DIR, &quiet, &out), PB_ERR_INPUT);
  assert_int_equal(last_code, 5001);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(round_trip),          cmocka_unit_test(same_bytes),
                                     cmocka_unit_test(every_change),        cmocka_unit_test(every_length),
                                     cmocka_unit_test(broken_engines),      cmocka_unit_test(not_there),
                                     cmocka_unit_test(a_zero_in_a_text),    cmocka_unit_test(a_sum_for_each_section),
                                     cmocka_unit_test(an_argument_outside), cmocka_unit_test(devices_stay)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
