// Loading and running through the public interface, on the machine and natively.
#include "engines.h"
#include "pb/pb.h"
#include "targets/control/queues/machine/machine.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#define PATH PB_BINARY_DIR "/test_runtime.pbe"

static pb_chip* chip;

static int load_chip(void** state) {
  (void)state;
  pb_rt_add_machine();
  return pb_chip_find("simnpu", NULL, NULL, &chip) == PB_OK ? 0 : 1;
}
static int free_chip(void** state) {
  (void)state;
  pb_chip_free(chip);
  return 0;
}

static pb_rt* load_copy(bool with_token) {
  copy_engine copy;
  copy_engine_make(&copy, chip, with_token);
  assert_int_equal(pb_engine_write(&copy.engine, PATH, NULL), PB_OK);
  pb_rt* rt;
  if (pb_rt_load(PATH, 0, &rt)) fail_msg("%s", pb_rt_error());
  return rt;
}

typedef struct events {
  int count[2], backwards;
} events;
static void count_event(void* user, int step, int queue, uint32_t index, uint64_t start, uint64_t end) {
  events* e = user;
  (void)queue, (void)index;
  ++e->count[step];
  e->backwards += end <= start;
}

static void words(void** state) {
  (void)state;
  pb_rt* rt = load_copy(true);
  assert_int_equal(pb_rt_input_count(rt), 1);
  const pb_rt_tensor* x = pb_rt_input(rt, 0);
  assert_string_equal(x->name, "x");
  assert_string_equal(x->type, "i8");
  assert_int_equal(x->bytes, COPY_BYTES);
  uint8_t in[COPY_BYTES], out[COPY_BYTES];
  events seen = {0};
  pb_rt_set_trace(rt, count_event, &seen);
  for (int run = 0; run < 3; ++run) {
    for (int k = 0; k < COPY_BYTES; ++k) in[k] = (uint8_t)(k * 3 + run);
    memset(out, 0xee, sizeof out);
    if (pb_rt_run(rt, (const void*[]){in}, (void*[]){out})) fail_msg("%s", pb_rt_error());
    assert_memory_equal(in, out, COPY_BYTES);
  }
  assert_string_equal(pb_rt_device(rt), "machine");
  assert_int_equal(seen.count[0], 6);
  assert_int_equal(seen.count[1], 6);
  assert_int_equal(seen.backwards, 0);
  for (int s = 0; s < 2; ++s) {
    const pb_rt_step* step = pb_rt_step_info(rt, s);
    assert_string_equal(step->origin, s ? "second" : "first");
    assert_int_equal(step->commands, 2);
    assert_in_range(step->cycles, 2 * COPY_BYTES / 16, 2000);
    uint64_t busy = 0;
    for (int q = 0; q < pb_rt_queue_count(rt); ++q) busy += step->busy[q];
    assert_in_range(busy, 2 * COPY_BYTES / 16, step->cycles * 2);
  }
  assert_int_equal(pb_rt_peak_macs(rt), 256);
  pb_rt_free(rt);
}

// The machine notices that the store does not wait for the load.
static void missing_token(void** state) {
  (void)state;
  pb_rt* rt = load_copy(false);
  uint8_t in[COPY_BYTES] = {0}, out[COPY_BYTES];
  assert_int_equal(pb_rt_run(rt, (const void*[]){in}, (void*[]){out}), 6002);
  assert_non_null(strstr(pb_rt_error(), "'copy' (first)"));
  pb_rt_free(rt);
}

static void wrong_description(void** state) {
  (void)state;
  copy_engine copy;
  copy_engine_make(&copy, chip, true);
  copy.engine.chip_hash[0] ^= 1;
  assert_int_equal(pb_engine_write(&copy.engine, PATH, NULL), PB_OK);
  pb_rt* rt;
  assert_int_equal(pb_rt_load(PATH, 0, &rt), 0);
  assert_int_equal(pb_rt_set_device(rt, "machine", NULL), 5025);
  pb_rt_free(rt);
}

static void read_arguments(void** state) {
  (void)state;
  pb_rt* rt = load_copy(true);
  uint8_t in[COPY_BYTES], out[COPY_BYTES], arena[COPY_BYTES];
  for (int k = 0; k < COPY_BYTES; ++k) in[k] = (uint8_t)k;
  assert_int_equal(pb_rt_run(rt, (const void*[]){in}, (void*[]){out}), 0);
  uint64_t size;
  assert_int_equal(pb_rt_read_arg(rt, 0, 1, arena, sizeof arena, &size), 0);
  assert_int_equal(size, 64);
  assert_memory_equal(arena, in, COPY_BYTES);
  pb_rt_free(rt);
}

// A step of the host's own in front of kernels: all of them are told of.
static void steps_of_the_host(void** state) {
  (void)state;
  copy_engine copy;
  copy_engine_make(&copy, chip, true);
  pb_step steps[3] = {{.op = PB_HOST_MOVE,
                       .bytes = COPY_BYTES,
                       .origin = "moved",
                       .arg_count = 2,
                       .args = {{PB_SPACE_ARENA, 0}, {PB_SPACE_INPUT, 0}}},
                      copy.steps[0],
                      copy.steps[1]};
  steps[1].args[0] = (pb_arg){PB_SPACE_ARENA, 0};
  copy.engine.step_count = 3;
  copy.engine.steps = steps;
  assert_int_equal(pb_engine_write(&copy.engine, PATH, NULL), PB_OK);
  pb_rt* rt;
  if (pb_rt_load(PATH, 0, &rt)) fail_msg("%s", pb_rt_error());
  uint8_t in[COPY_BYTES], out[COPY_BYTES];
  for (int k = 0; k < COPY_BYTES; ++k) in[k] = (uint8_t)(k * 7);
  if (pb_rt_run(rt, (const void*[]){in}, (void*[]){out})) fail_msg("%s", pb_rt_error());
  assert_memory_equal(in, out, COPY_BYTES);
  for (int s = 0; s < 3; ++s) {
    const pb_rt_step* step = pb_rt_step_info(rt, s);
    assert_string_equal(step->kernel, s ? "copy" : "move");
    assert_string_equal(step->origin, s == 0 ? "moved" : s == 1 ? "first" : "second");
    assert_int_equal(step->commands, s ? 2 : 0);
  }
  pb_rt_free(rt);
}

static pb_rt* load_native(const char* features, unsigned flags, int* code) {
  static uint8_t object[1 << 20];
  FILE* file = fopen(PB_SCALE_OBJECT, "rb");
  assert_non_null(file);
  size_t bytes = fread(object, 1, sizeof object, file);
  fclose(file);
  native_engine native;
  native_engine_make(&native, object, bytes);
  native.engine.features = features;
  assert_int_equal(pb_engine_write(&native.engine, PATH, NULL), PB_OK);
  pb_rt* rt;
  *code = pb_rt_load(PATH, flags, &rt);
  return rt;
}

static void native_code(void** state) {
  (void)state;
  int code;
  pb_rt* rt = load_native("", 0, &code);
  assert_int_equal(code, 0);
  float in[16], out[16];
  for (int k = 0; k < 16; ++k) in[k] = (float)k * 0.5f;
  if (pb_rt_run(rt, (const void*[]){in}, (void*[]){out})) fail_msg("%s", pb_rt_error());
  for (int k = 0; k < 16; ++k) assert_true(out[k] == 2 * (float)k);
  pb_rt_free(rt);
}

static void native_refused(void** state) {
  (void)state;
  int code;
  assert_null(load_native("", PB_LOAD_NO_NATIVE, &code));
  assert_int_equal(code, 5020);
  pb_rt* rt = load_native("no-such-feature", 0, &code);
  assert_int_equal(code, 0);
  assert_int_equal(pb_rt_set_device(rt, "native", NULL), 5021);
  assert_non_null(strstr(pb_rt_error(), "no-such-feature"));
  assert_int_equal(pb_rt_set_device(rt, "rtl", NULL), 5027);
  pb_rt_free(rt);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(words),          cmocka_unit_test(missing_token),     cmocka_unit_test(wrong_description),
      cmocka_unit_test(read_arguments), cmocka_unit_test(steps_of_the_host), cmocka_unit_test(native_code),
      cmocka_unit_test(native_refused)};
  return cmocka_run_group_tests(tests, load_chip, free_chip);
}
