// A chip that the machine never saw: its numbers and shapes come from the description alone.
#include "kernel.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static const char* const toy = PB_SOURCE_DIR "/tests/machine/toy.td";

static void run_or_fail(kernel* k) {
  if (kernel_run(k)) fail_msg("%s", k->ops->last_fault(k->device));
}

// Fills BUF from `data`, 15 words a command, then computes and stores `words` words from byte `from`.
static void load_all(kernel* k, const void* data, int bytes) {
  kernel_argument(k, data, (uint64_t)bytes);
  for (int at = 0; at < bytes; at += 30) {
    char text[128];
    int n = bytes - at < 30 ? (bytes - at) / 2 : 15;
    snprintf(text, sizeof text, "arg=0 off=%d step=1 loc=%d n=%d", at / 2, at, n);
    put(k, "LD", text, "", at + 30 >= bytes ? "B" : "");
  }
}

static void store_all(kernel* k, int from, int bytes) {
  kernel_argument(k, NULL, (uint64_t)bytes);
  for (int at = 0; at < bytes; at += 30) {
    char text[128];
    int n = bytes - at < 30 ? (bytes - at) / 2 : 15;
    snprintf(text, sizeof text, "arg=1 off=%d step=1 loc=%d n=%d", at / 2, from + at, n);
    put(k, "ST", text, at == 0 ? "B" : "", "");
  }
}

static void backwards_with_a_box(void** state) {
  (void)state;
  kernel k;
  kernel_open(&k, toy, NULL);
  int16_t words[8] = {100, -200, 300, -400, 500, -600, 700, -800}, y[6];
  uint64_t out;
  kernel_argument(&k, words, sizeof words);
  out = kernel_argument(&k, NULL, sizeof y);
  put(&k, "LD", "arg=0 off=7 step=-2 loc=10 n=6 lo=1 hi=4 fill=-9", "", "");
  put(&k, "ST", "arg=1 off=5 step=-1 loc=10 n=6", "", "");
  run_or_fail(&k);
  k.ops->copy_out(k.device, out, y, sizeof y);
  const int16_t loaded[6] = {-9, words[5], words[3], words[1], -9, -9};
  for (int n = 0; n < 6; ++n) assert_int_equal(y[5 - n], loaded[n]);
  kernel_close(&k);
}

static void transposed_contraction(void** state) {
  (void)state;
  kernel k;
  kernel_open(&k, toy, NULL);
  enum { N = 7, X = 0, W = 56, Y = 96 };
  int8_t data[Y];
  for (int i = 0; i < Y; ++i) data[i] = (int8_t)(i * 37 + 11);
  load_all(&k, data, sizeof data);
  put(&k, "DOT", "x=0 w=56 y=96 n=7 stride=24 acc=0", "A", "");
  put(&k, "DOT", "x=0 w=56 y=96 n=7 stride=24 acc=1", "", "A");
  put(&k, "ST", "arg=1 n=1 loc=96", "B", "");
  uint64_t out = kernel_argument(&k, NULL, 4096);
  for (int n = 0; n < N; ++n) {
    char text[128];
    snprintf(text, sizeof text, "arg=1 off=%d step=1 loc=%d n=10", n * 10, Y + 24 * n);
    put(&k, "ST", text, "", "");
  }
  run_or_fail(&k);
  int32_t y[N][5];
  k.ops->copy_out(k.device, out, y, sizeof y);
  for (int n = 0; n < N; ++n)
    for (int m = 0; m < 5; ++m) {
      int32_t sum = 0;
      for (int q = 0; q < 3; ++q) sum += data[X + 8 * n + q] * data[W + 8 * m + q];
      assert_int_equal(y[n][m], 2 * sum);
    }
  kernel_close(&k);
}

// Seven rows: the tree has a leftover at two of its levels.
static void sums_over_outer_dims(void** state) {
  (void)state;
  kernel k;
  kernel_open(&k, toy, NULL);
  float data[7][2], t[7];
  for (int i = 0; i < 14; ++i) ((float*)data)[i] = ldexpf((float)(i % 3 - 1) - 0.001f * (float)i, i % 4 * 7);
  load_all(&k, data, sizeof data);
  put(&k, "COLS", "x=0 y=64 n=7 acc=0", "A", "");
  put(&k, "COLS", "x=0 y=64 n=7 acc=1", "", "A");
  store_all(&k, 64, 8);
  run_or_fail(&k);
  float y[2];
  k.ops->copy_out(k.device, k.args[1], y, sizeof y);
  for (int m = 0; m < 2; ++m) {
    for (int i = 0; i < 7; ++i) t[i] = (data[i][m] > -1.5f ? data[i][m] : -1.5f) * 0.5f;
    float sum = ((t[0] + t[1]) + (t[2] + t[3])) + ((t[4] + t[5]) + t[6]), twice = sum + sum;
    assert_memory_equal(&y[m], &twice, 4);
  }
  kernel_close(&k);
}

// No flag: it adds to what is there, and what nobody wrote before is a fault.
static void bytes_without_sign_always_add(void** state) {
  (void)state;
  kernel k;
  kernel_open(&k, toy, NULL);
  enum { N = 12, W = 16, Y = 32 };
  union {
    uint8_t bytes[Y + 4 * N];
    int32_t words[Y / 4 + N];
  } data;
  for (int i = 0; i < Y; ++i) data.bytes[i] = (uint8_t)(i * 41 + 7);
  for (int i = 0; i < N; ++i) data.words[Y / 4 + i] = i * 1000 - 3000;
  load_all(&k, &data, sizeof data);
  put(&k, "UADD", "x=0 w=16 y=32 n=12", "A", "A");
  store_all(&k, Y, 4 * N);
  run_or_fail(&k);
  int32_t y[N];
  k.ops->copy_out(k.device, k.args[1], y, sizeof y);
  for (int i = 0; i < N; ++i) assert_int_equal(y[i], data.words[Y / 4 + i] + data.bytes[i] * (int8_t)data.bytes[W + i]);
  kernel_clear(&k);
  put(&k, "UADD", "x=0 w=16 y=512 n=12", "", "");
  assert_int_not_equal(kernel_run(&k), 0);
  kernel_close(&k);
}

// 200 in a field without sign is the i8 of these bits, -56.
static void immediates_are_of_their_type(void** state) {
  (void)state;
  kernel k;
  kernel_open(&k, toy, NULL);
  int8_t data[6] = {0, 56, -72, 100, 127, -128};
  load_all(&k, data, sizeof data);
  put(&k, "ADDI", "x=0 b=200 y=64 n=6", "A", "A");
  store_all(&k, 64, 4 * (int)sizeof data);
  run_or_fail(&k);
  int32_t y[sizeof data];
  k.ops->copy_out(k.device, k.args[1], y, sizeof y);
  for (size_t i = 0; i < sizeof data; ++i) assert_int_equal(y[i], data[i] - 56);
  kernel_close(&k);
}

// Counters of this chip hold three tokens: the fourth waits until one is taken, and is not lost.
static void counters_hold_back(void** state) {
  (void)state;
  kernel k;
  kernel_open(&k, toy, NULL);
  int8_t data[96] = {0};
  kernel_argument(&k, data, sizeof data);
  static const char* const loads[5] = {"arg=0 step=1 n=12 loc=0", "arg=0 step=1 n=12 loc=128",
                                       "arg=0 step=1 n=12 loc=256", "arg=0 step=1 n=12 loc=384",
                                       "arg=0 step=1 n=12 loc=512"};
  for (int n = 0; n < 5; ++n) put(&k, "LD", loads[n], "", "B");
  put(&k, "LD", "arg=0 step=1 loc=1024 n=12", "B", "B");
  for (int n = 0; n < 5; ++n) put(&k, "COLS", "x=0 y=64 n=3", "A", n == 4 ? "A" : "");
  put(&k, "COLS", "x=1024 y=64 n=3", "A", "");
  run_or_fail(&k);
  kernel_close(&k);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(backwards_with_a_box),         cmocka_unit_test(transposed_contraction),
      cmocka_unit_test(sums_over_outer_dims),         cmocka_unit_test(bytes_without_sign_always_add),
      cmocka_unit_test(immediates_are_of_their_type), cmocka_unit_test(counters_hold_back)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
