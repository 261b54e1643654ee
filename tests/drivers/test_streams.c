// Engines on tensors of the device's own, on streams of the caller's and in graphs. Arguments: the device (cuda or
// hip), the folder of engines, the fake library; none: the machine, which has one stream that is never behind.
#include "pb/pb.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
  IMAGE = 64,
  LOGITS = 10,
  CODES = 64,
  LOOP = 64,
  BAD_POINTER = 5064,
  NO_STREAMS = 5062,
  NO_GRAPH = 5063,
  NO_CODE = 5065
};

static const char *device = "machine", *folder = PB_ENGINES, *library;
static void* driver;

static bool is(const char* name) { return !strcmp(device, name); }

// A function of the fake library by NVIDIA's name or AMD's.
typedef int (*any)();
static any call(const char* cuda, const char* hip) {
  void* symbol = dlsym(driver, is("cuda") ? cuda : hip);
  any function = NULL;
  assert_non_null(symbol);
  memcpy(&function, &symbol, sizeof function);
  return function;
}

static pb_rt* load(const char* name) {
  char path[1024];
  pb_rt* rt;
  snprintf(path, sizeof path, "%s/%s_%s.pbe", folder, name, is("hip") ? "amdgpu" : "nvgpu");
  if (pb_rt_load(path, 0, &rt) || pb_rt_set_device(rt, device, NULL)) fail_msg("%s", pb_rt_error());
  return rt;
}

#define DONE(code)                                                                                                     \
  do {                                                                                                                 \
    if (code) fail_msg("%s", pb_rt_error());                                                                           \
  } while (0)
#define SAYS(code, number, text)                                                                                       \
  do {                                                                                                                 \
    assert_int_equal(code, number);                                                                                    \
    if (!strstr(pb_rt_error(), text)) fail_msg("'%s' is not in: %s", text, pb_rt_error());                             \
  } while (0)

static void* place(pb_rt* rt, const void* data, uint64_t bytes) {
  void* memory;
  DONE(pb_rt_device_alloc(rt, bytes, &memory));
  if (data) DONE(pb_rt_copy_to_device(rt, memory, data, bytes));
  return memory;
}

// What the engine computes from memory of this process.
static void image_of(int seed, float* image, pb_rt* rt, float* logits) {
  for (int k = 0; k < IMAGE; ++k) image[k] = (float)((k * 37 + seed * 11) % 17);
  DONE(pb_rt_run(rt, (const void*[]){image}, (void*[]){logits}));
}

static void check_logits(pb_rt* rt, const void* memory, const float* wanted) {
  float logits[LOGITS];
  DONE(pb_rt_copy_from_device(rt, logits, memory, sizeof logits));
  assert_memory_equal(logits, wanted, sizeof logits);
}

static void runs_where_tensors_lie(void** state) {
  (void)state;
  float image[IMAGE], wanted[LOGITS];
  pb_rt* rt = load("digits");
  image_of(1, image, rt, wanted);
  void *in = place(rt, image, sizeof image), *out = place(rt, NULL, sizeof wanted);
  DONE(pb_rt_run_on(rt, NULL, (const void*[]){in}, (void*[]){out}));
  DONE(pb_rt_wait(rt));
  check_logits(rt, out, wanted);
  DONE(pb_rt_device_free(rt, in));
  DONE(pb_rt_device_free(rt, out));
  SAYS(pb_rt_device_free(rt, out), 6001, "freeing memory");
  pb_rt_free(rt);
}

// Two runs on two streams share what lies between kernels: the second waits for the first, which nobody has waited for.
static void streams_come_in_order(void** state) {
  (void)state;
  float images[2][IMAGE], wanted[2][LOGITS];
  void *streams[2] = {NULL, NULL}, *in[2], *out[2];
  pb_rt* rt = load("digits");
  for (int k = 0; k < 2; ++k) {
    image_of(k, images[k], rt, wanted[k]);
    in[k] = place(rt, images[k], sizeof images[k]);
    out[k] = place(rt, NULL, sizeof wanted[k]);
    if (driver) assert_int_equal(call("cuStreamCreate", "hipStreamCreateWithFlags")(&streams[k], 1u), 0);
  }
  for (int k = 0; k < 2; ++k) DONE(pb_rt_run_on(rt, streams[k], (const void*[]){in[k]}, (void*[]){out[k]}));
  if (driver) assert_int_equal(call("cuStreamSynchronize", "hipStreamSynchronize")(streams[1]), 0);
  for (int k = 0; k < 2; ++k) check_logits(rt, out[k], wanted[k]);
  for (int k = 0; k < 2 && driver; ++k) assert_int_equal(call("cuStreamDestroy_v2", "hipStreamDestroy")(streams[k]), 0);
  pb_rt_free(rt);
}

// The caller's stream is being captured: the run becomes a part of its graph, and is done when that is.
static void a_stream_is_captured(void** state) {
  (void)state;
  float image[IMAGE], other[IMAGE], wanted[2][LOGITS];
  void *stream, *graph, *made;
  if (!driver) skip();
  pb_rt* rt = load("digits");
  image_of(1, image, rt, wanted[0]);
  image_of(2, other, rt, wanted[1]);
  void *in = place(rt, image, sizeof image), *out = place(rt, NULL, sizeof wanted[0]);
  assert_int_equal(call("cuStreamCreate", "hipStreamCreateWithFlags")(&stream, 1u), 0);
  assert_int_equal(call("cuStreamBeginCapture_v2", "hipStreamBeginCapture")(stream, 2), 0);
  DONE(pb_rt_run_on(rt, stream, (const void*[]){in}, (void*[]){out}));
  assert_int_equal(call("cuStreamEndCapture", "hipStreamEndCapture")(stream, &graph), 0);
  assert_int_equal(call("cuGraphInstantiateWithFlags", "hipGraphInstantiateWithFlags")(&made, graph, 0ull), 0);
  for (int k = 0; k < 2; ++k) {
    if (k) DONE(pb_rt_copy_to_device(rt, in, other, sizeof other));
    assert_int_equal(call("cuGraphLaunch", "hipGraphLaunch")(made, stream), 0);
    assert_int_equal(call("cuStreamSynchronize", "hipStreamSynchronize")(stream), 0);
    check_logits(rt, out, wanted[k]);
  }
  assert_int_equal(call("cuGraphExecDestroy", "hipGraphExecDestroy")(made), 0);
  assert_int_equal(call("cuGraphDestroy", "hipGraphDestroy")(graph), 0);
  assert_int_equal(call("cuStreamDestroy_v2", "hipStreamDestroy")(stream), 0);
  pb_rt_free(rt);
}

static void graphs_are_made_once(void** state) {
  (void)state;
  float image[IMAGE], wanted[3][LOGITS], got[LOGITS];
  pb_rt* rt = load("digits");
  for (int k = 0; k < 3; ++k) image_of(k, image, rt, wanted[k]);
  if (!driver) {
    SAYS(pb_rt_use_graph(rt, true), NO_GRAPH, "device 'machine' has none");
    pb_rt_free(rt);
    return;
  }
  DONE(pb_rt_use_graph(rt, true));
  for (int k = 0; k < 3; ++k) {
    image_of(k, image, rt, got);
    assert_memory_equal(got, wanted[k], sizeof got);
  }
  DONE(pb_rt_use_graph(rt, false));
  image_of(1, image, rt, got);
  assert_memory_equal(got, wanted[1], sizeof got);
  pb_rt_free(rt);
}

static void workspace_is_the_callers(void** state) {
  (void)state;
  float image[IMAGE], wanted[LOGITS];
  pb_rt* rt = load("digits");
  uint64_t bytes = pb_rt_workspace_bytes(rt);
  assert_true(bytes > 0);
  image_of(3, image, rt, wanted);
  void *in = place(rt, image, sizeof image), *out = place(rt, NULL, sizeof wanted), *memory = place(rt, NULL, bytes);
  SAYS(pb_rt_set_workspace(rt, memory, bytes - 1), BAD_POINTER, "are needed");
  for (int k = 0; k < 2; ++k) {
    DONE(pb_rt_set_workspace(rt, k ? NULL : memory, k ? 0 : bytes));
    DONE(pb_rt_run_on(rt, NULL, (const void*[]){in}, (void*[]){out}));
    check_logits(rt, out, wanted);
  }
  pb_rt_free(rt);
}

static void pointers_are_looked_at(void** state) {
  (void)state;
  float image[IMAGE] = {0};
  pb_rt* rt = load("digits");
  char *in = place(rt, image, sizeof image), *out = place(rt, NULL, sizeof(float[LOGITS]));
  SAYS(pb_rt_run_on(rt, NULL, (const void*[]){in + 4}, (void*[]){out}), BAD_POINTER, "is not aligned");
  SAYS(pb_rt_run_on(rt, NULL, (const void*[]){in + 64}, (void*[]){out}), BAD_POINTER, "input of 256 bytes");
  SAYS(pb_rt_run_on(rt, NULL, (const void*[]){in}, (void*[]){NULL}), BAD_POINTER, "output of 40 bytes");
  void* here = aligned_alloc(64, sizeof image);
  SAYS(pb_rt_run_on(rt, NULL, (const void*[]){here}, (void*[]){out}), BAD_POINTER, "input of 256 bytes");
  free(here);
  DONE(pb_rt_run_on(rt, NULL, (const void*[]){in}, (void*[]){out}));
  pb_rt_free(rt);
}

static void codes_without_sign(void** state) {
  (void)state;
  uint8_t a[CODES], b[CODES], sum[CODES];
  pb_rt* rt = load("codes");
  for (int k = 0; k < CODES; ++k) {
    a[k] = (uint8_t)(3 * k);
    b[k] = (uint8_t)(200 - k);
  }
  void *x = place(rt, a, CODES), *y = place(rt, b, CODES), *z = place(rt, NULL, CODES);
  DONE(pb_rt_run_on(rt, NULL, (const void*[]){x, y}, (void*[]){z}));
  DONE(pb_rt_copy_from_device(rt, sum, z, CODES));
  for (int k = 0; k < CODES; ++k) assert_int_equal(sum[k], (uint8_t)(a[k] + b[k]));
  pb_rt_free(rt);
}

// A loop goes on by what kernels leave: the host waits for that, which no graph can.
static void loops_wait(void** state) {
  (void)state;
  float x[LOOP], y[LOOP];
  int32_t turns = 3;
  pb_rt* rt = load("loop");
  for (int k = 0; k < LOOP; ++k) x[k] = (float)k;
  void *n = place(rt, &turns, sizeof turns), *in = place(rt, x, sizeof x), *out = place(rt, NULL, sizeof y);
  DONE(pb_rt_run_on(rt, NULL, (const void*[]){n, in}, (void*[]){out}));
  DONE(pb_rt_copy_from_device(rt, y, out, sizeof y));
  for (int k = 0; k < LOOP; ++k) assert_true(y[k] == 8 * x[k]);
  DONE(pb_rt_run(rt, (const void*[]){&turns, x}, (void*[]){y}));
  for (int k = 0; k < LOOP; ++k) assert_true(y[k] == 8 * x[k]);
  if (driver) {
    void *stream, *graph;
    SAYS(pb_rt_use_graph(rt, true), NO_GRAPH, "reads what is there");
    assert_int_equal(call("cuStreamCreate", "hipStreamCreateWithFlags")(&stream, 1u), 0);
    assert_int_equal(call("cuStreamBeginCapture_v2", "hipStreamBeginCapture")(stream, 2), 0);
    SAYS(pb_rt_run_on(rt, stream, (const void*[]){n, in}, (void*[]){out}), 6001, "the stream is being captured");
    assert_int_equal(call("cuStreamEndCapture", "hipStreamEndCapture")(stream, &graph), 0);
    assert_int_equal(call("cuGraphDestroy", "hipGraphDestroy")(graph), 0);
    assert_int_equal(call("cuStreamDestroy_v2", "hipStreamDestroy")(stream), 0);
  }
  pb_rt_free(rt);
}

// Marks between launches give each step its time, ranges its name.
static void steps_have_times(void** state) {
  (void)state;
  float image[IMAGE], logits[LOGITS];
  if (!driver) skip();
  pb_rt* rt = load("digits");
  image_of(1, image, rt, logits);
  for (int k = 0; k < pb_rt_step_count(rt); ++k) assert_true(pb_rt_step_info(rt, k)->seconds == 2e-3); // launch, mark
  assert_int_equal(call("fake_most_ranges", "fake_most_ranges")(), 1);
  pb_rt_free(rt);
}

// One engine for three targets: the device says which runs, unless the caller does.
static void targets_by_device(void** state) {
  (void)state;
  static const struct {
    const char *device, *capability, *target;
  } choices[] = {{"cuda", "80", "nvgpu:sm_80"},  {"cuda", "86", "nvgpu:sm_80"}, {"cuda", "90", "nvgpu:sm_90a"},
                 {"cuda", "100", "nvgpu:sm_80"}, {"hip", "", "amdgpu:gfx942"},  {"machine", "", "nvgpu:sm_80"}};
  float image[IMAGE], wanted[LOGITS], got[LOGITS];
  char path[1024];
  snprintf(path, sizeof path, "%s/several.pbe", folder);
  pb_rt* one = load("digits");
  image_of(1, image, one, wanted);
  pb_rt_free(one);
  for (size_t k = 0; k < sizeof choices / sizeof *choices; ++k) {
    pb_rt* rt;
    if (!is(choices[k].device)) continue;
    setenv("PB_FAKE_CAPABILITY", choices[k].capability, 1);
    DONE(pb_rt_load(path, 0, &rt));
    DONE(pb_rt_set_device(rt, device, NULL));
    assert_string_equal(pb_rt_target(rt), choices[k].target);
    image_of(1, image, rt, got);
    for (int n = 0; n < LOGITS; ++n) assert_true(got[n] == wanted[n]);
    pb_rt_free(rt);
  }
  pb_rt* rt;
  DONE(pb_rt_load(path, 0, &rt));
  assert_int_equal(pb_rt_target_count(rt), 3);
  assert_null(pb_rt_target_name(rt, 3));
  SAYS(pb_rt_set_target(rt, 3), NO_CODE, "target 3 of 3");
  SAYS(pb_rt_set_device(rt, is("hip") ? "cpu" : "simnpu", NULL), NO_CODE, "nvgpu:sm_80, nvgpu:sm_90a, amdgpu:gfx942");
  setenv("PB_FAKE_CAPABILITY", "75", 1);
  if (is("cuda")) SAYS(pb_rt_set_device(rt, device, NULL), NO_CODE, "of compute capability 7.5");
  if (is("cuda")) DONE(pb_rt_set_target(rt, 0));
  if (is("cuda")) SAYS(pb_rt_set_device(rt, device, NULL), 6003, "runs no code for 'sm_80'");
  unsetenv("PB_FAKE_CAPABILITY");
  for (int k = 0; k < 3 && is("machine"); ++k) {
    DONE(pb_rt_set_target(rt, k));
    DONE(pb_rt_set_device(rt, device, NULL));
    assert_string_equal(pb_rt_target(rt), pb_rt_target_name(rt, k));
    image_of(1, image, rt, got);
    for (int n = 0; n < LOGITS; ++n) assert_true(got[n] == wanted[n]);
  }
  pb_rt_free(rt);
}

static void steps_that_are_looked_at(void** state) {
  (void)state;
  float image[IMAGE] = {0}, logits[LOGITS];
  pb_rt* rt = load("digits");
  pb_rt_set_after_step(rt, (pb_rt_after_step)abort, NULL);
  SAYS(pb_rt_run_on(rt, NULL, (const void*[]){image}, (void*[]){logits}), NO_STREAMS, "one by one");
  pb_rt_free(rt);
}

int main(int argc, char** argv) {
  if (argc == 4) {
    device = argv[1];
    folder = argv[2];
    library = argv[3];
    driver = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    if (!driver) return fprintf(stderr, "%s\n", dlerror()), 1;
  }
  pb_rt_add_machine();
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(runs_where_tensors_lie),   cmocka_unit_test(streams_come_in_order),
      cmocka_unit_test(a_stream_is_captured),     cmocka_unit_test(graphs_are_made_once),
      cmocka_unit_test(workspace_is_the_callers), cmocka_unit_test(pointers_are_looked_at),
      cmocka_unit_test(codes_without_sign),       cmocka_unit_test(loops_wait),
      cmocka_unit_test(steps_have_times),         cmocka_unit_test(targets_by_device),
      cmocka_unit_test(steps_that_are_looked_at)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
