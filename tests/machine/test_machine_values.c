// What commands compute, against plain C.
#include "kernel.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static uint32_t noise_state = 12345;
static int8_t noise(void) { return (int8_t)((noise_state = noise_state * 1664525u + 1013904223u) >> 24); }

static void run_or_fail(kernel* k) {
  if (kernel_run(k)) fail_msg("%s", k->ops->last_fault(k->device));
}

// y[m][n] = sum over k of x[m][k] * w[k][n], m = 32, k = 32 (two tiles of 16), n = 16, with bias-free requantisation.
enum { M = 32, K = 32, N = 16 };
static int8_t x[M][K], w[K][N];
static int32_t bias[N];
static float scale[N];

static void fill_inputs(void) {
  for (int i = 0; i < M * K; ++i) ((int8_t*)x)[i] = noise();
  for (int i = 0; i < K * N; ++i) ((int8_t*)w)[i] = noise();
  for (int n = 0; n < N; ++n) bias[n] = 37 * noise(), scale[n] = 0.0007f * (float)(n + 1);
}

// Rows of the scratchpad are 16 bytes: x is at rows 0.., two rows to a row of x; w at row 64.
static void put_matmul(kernel* k) {
  put(k, "LDS0", "arg=0 ni=1 nj=32 nb=32 sj=32 loc=0 lj=32", "", "MX");
  put(k, "LDS1", "arg=1 ni=1 nj=32 nb=16 sj=16 loc=1024 lj=16", "", "WX");
  put(k, "WLD", "src=64 sk=1 w=0", "L1", "MX");
  put(k, "WLD", "src=80 sk=1 w=1", "", "MX");
  put(k, "MMA", "a=0 aj=2 c=0 cj=1 ni=1 nj=32 w=0 acc=0", "L0 WX", "");
  put(k, "MMA", "a=1 aj=2 c=0 cj=1 ni=1 nj=32 w=1 acc=1", "WX", "VX");
}

static float clamp(float v, float lo, float hi) { return v < lo ? lo : v > hi ? hi : v; }

static void matmul_and_requantise(void** state) {
  (void)state;
  const char* const options[] = {NULL, "seed=7", "checks=0"};
  for (int o = 0; o < 3; ++o) {
    kernel k;
    kernel_open(&k, "simnpu", options[o]);
    fill_inputs();
    kernel_argument(&k, x, sizeof x);
    kernel_argument(&k, w, sizeof w);
    kernel_argument(&k, bias, sizeof bias);
    kernel_argument(&k, scale, sizeof scale);
    uint64_t out = kernel_argument(&k, NULL, M * N);
    put_matmul(&k);
    put(&k, "LDA0", "arg=2 nb=16 loc=6400", "", "");
    put(&k, "LDA0", "arg=3 nb=16 loc=6464", "", "VX");
    put(&k, "VRQ", "ni=1 nj=32 a=0 aj=1 pb=100 ps=101 y=200 yj=1 zp=3 lo=-100 hi=90", "MX L0", "ST");
    put(&k, "STS", "arg=4 nj=32 nb=16 sj=16 loc=3200 lj=16", "VX", "");
    run_or_fail(&k);
    int8_t y[M][N];
    assert_int_equal(k.ops->copy_out(k.device, out, y, sizeof y), 0);
    for (int m = 0; m < M; ++m)
      for (int n = 0; n < N; ++n) {
        int32_t sum = 0;
        for (int q = 0; q < K; ++q) sum += x[m][q] * w[q][n];
        float r = nearbyintf((float)(sum + bias[n]) * scale[n]) + 3.0f;
        assert_int_equal(y[m][n], (int)clamp(r, -100, 90));
      }
    assert_int_equal(kernel_counter(&k, "busy.MX"), 2 * 32);
    assert_int_equal(kernel_counter(&k, "dram.write"), M * N);
    assert_in_range(kernel_counter(&k, "cycles"), 400, 2000);
    kernel_close(&k);
  }
}

// Numbers half way between two codes, and sums that wrap.
static void requantisation_is_exact(void** state) {
  (void)state;
  kernel k;
  kernel_open(&k, "simnpu", NULL);
  int32_t a[4][16], none[16];
  float half[16];
  for (int n = 0; n < 16; ++n) {
    for (int i = 0; i < 4; ++i) a[i][n] = (i - 2) * 16 + n;
    none[n] = 0;
    half[n] = 0.5f;
  }
  a[0][0] = INT32_MAX, none[0] = 1; // wraps to the least
  kernel_argument(&k, a, sizeof a);
  kernel_argument(&k, none, sizeof none);
  kernel_argument(&k, half, sizeof half);
  uint64_t out = kernel_argument(&k, NULL, 64);
  put(&k, "LDA0", "arg=0 nb=64 loc=0", "", "");
  put(&k, "LDA0", "arg=1 nb=16 loc=640", "", "");
  put(&k, "LDA0", "arg=2 nb=16 loc=704", "", "VX");
  put(&k, "VRQ", "nj=4 a=0 aj=1 pb=10 ps=11 y=0 yj=1 lo=-128 hi=127", "L0", "ST");
  put(&k, "STS", "arg=3 nb=64 loc=0", "VX", "");
  run_or_fail(&k);
  int8_t y[4][16];
  k.ops->copy_out(k.device, out, y, sizeof y);
  assert_int_equal(y[0][0], -128);
  for (int i = 0; i < 4; ++i)
    for (int n = 1; n < 16; ++n) assert_int_equal(y[i][n], (int)nearbyint(a[i][n] * 0.5));
  kernel_close(&k);
}

static void box_reads_fill_outside(void** state) {
  (void)state;
  kernel k;
  kernel_open(&k, "simnpu", NULL);
  int8_t image[3][4][16];
  for (int i = 0; i < (int)sizeof image; ++i) ((int8_t*)image)[i] = noise();
  kernel_argument(&k, image, sizeof image);
  uint64_t out = kernel_argument(&k, NULL, 5 * 6 * 16);
  // a border of one around 3 x 4: the window starts before the tensor
  put(&k, "LDS0", "arg=0 off=-80 ni=5 nj=6 nb=16 si=64 sj=16 li=96 lj=16 ilo=1 ihi=4 jlo=1 jhi=5 fill=-7", "", "ST");
  put(&k, "STS", "arg=1 nb=480", "L0", "");
  run_or_fail(&k);
  int8_t y[5][6][16];
  k.ops->copy_out(k.device, out, y, sizeof y);
  for (int i = 0; i < 5; ++i)
    for (int j = 0; j < 6; ++j)
      for (int b = 0; b < 16; ++b) {
        bool inside = i >= 1 && i < 4 && j >= 1 && j < 5;
        assert_int_equal(y[i][j][b], inside ? image[i - 1][j - 1][b] : -7);
      }
  kernel_close(&k);
}

static void reductions(void** state) {
  (void)state;
  kernel k;
  kernel_open(&k, "simnpu", NULL);
  float f[16];
  int8_t q[6][16];
  for (int n = 0; n < 16; ++n) f[n] = ldexpf(1.0f + 0.37f * (float)n, n % 5 * 6); // the order of the sum shows
  for (int i = 0; i < 96; ++i) ((int8_t*)q)[i] = noise();
  kernel_argument(&k, f, sizeof f);
  kernel_argument(&k, q, sizeof q);
  uint64_t sums = kernel_argument(&k, NULL, 4), codes = kernel_argument(&k, NULL, 64),
           most = kernel_argument(&k, NULL, 16);
  put(&k, "LDA0", "arg=0 nb=16 loc=0", "", "");
  put(&k, "LDS0", "arg=1 nb=96 loc=0", "", "VX");
  put(&k, "VRSUM", "a=0 y=4 nn=16", "L0", "");
  put(&k, "VSUMQ", "ni=2 nj=3 a=0 ai=3 aj=1 y=5", "", "");
  put(&k, "VMAXQ", "a=0 y=10 acc=0", "", "");
  put(&k, "VMAXQ", "nj=1 a=4 y=10 acc=1", "", "ST");
  put(&k, "STA", "arg=2 nb=1 loc=256", "VX", "");
  put(&k, "STA", "arg=3 nb=16 loc=320", "", "");
  put(&k, "STS", "arg=4 nb=16 loc=160", "", "");
  run_or_fail(&k);
  float sum, t[16];
  memcpy(t, f, sizeof t);
  for (int n = 16; n > 1; n /= 2)
    for (int i = 0; i < n / 2; ++i) t[i] = t[2 * i] + t[2 * i + 1];
  k.ops->copy_out(k.device, sums, &sum, 4);
  assert_memory_equal(&sum, t, 4);
  int32_t total[16];
  int8_t max[16];
  k.ops->copy_out(k.device, codes, total, 64);
  k.ops->copy_out(k.device, most, max, 16);
  for (int n = 0; n < 16; ++n) {
    int32_t s = 0;
    for (int i = 0; i < 6; ++i) s += q[i][n];
    assert_int_equal(total[n], s);
    assert_int_equal(max[n], q[0][n] > q[4][n] ? q[0][n] : q[4][n]);
  }
  kernel_close(&k);
}

// A number wins over NaN, -0 < +0; every NaN that arithmetic makes is the same.
static void special_floats(void** state) {
  (void)state;
  kernel k;
  kernel_open(&k, "simnpu", NULL);
  static const uint32_t a[16] = {0x7fc00000, 0x80000000, 0, 0x7f800000, 0x7fc12345, 0x3f800000},
                        b[16] = {0x3f800000, 0, 0x80000000, 0xff800000, 0xffc00001, 0x7fc00000};
  static const uint32_t max[6] = {0x3f800000, 0, 0, 0x7f800000, 0x7fc00000, 0x3f800000};
  static const uint32_t min[6] = {0x3f800000, 0x80000000, 0x80000000, 0xff800000, 0x7fc00000, 0x3f800000};
  static const uint32_t sum[6] = {0x7fc00000, 0, 0, 0x7fc00000, 0x7fc00000, 0x7fc00000};
  kernel_argument(&k, a, sizeof a);
  kernel_argument(&k, b, sizeof b);
  uint64_t out = kernel_argument(&k, NULL, 192);
  put(&k, "LDA0", "arg=0 nb=16 loc=0", "", "");
  put(&k, "LDA0", "arg=1 nb=16 loc=64", "", "VX");
  put(&k, "VMAX", "a=0 b=1 y=2", "L0", "");
  put(&k, "VMIN", "a=0 b=1 y=3", "", "");
  put(&k, "VADD", "a=0 b=1 y=4", "", "ST");
  put(&k, "STA", "arg=2 nb=48 loc=128", "VX", "");
  run_or_fail(&k);
  uint32_t y[3][16];
  k.ops->copy_out(k.device, out, y, sizeof y);
  assert_memory_equal(y[0], max, sizeof max);
  assert_memory_equal(y[1], min, sizeof min);
  assert_memory_equal(y[2], sum, sizeof sum);
  kernel_close(&k);
}

// Sums that meet in one element are added to it one after the other, as single points are.
static void sums_meet(void** state) {
  (void)state;
  kernel k;
  kernel_open(&k, "simnpu", NULL);
  float rows[5][16] = {{0}}, y;
  for (int r = 0; r < 4; ++r)
    for (int l = 0; l < 16; ++l) rows[r][l] = (float)(r + 1);
  kernel_argument(&k, rows, sizeof rows);
  uint64_t out = kernel_argument(&k, NULL, sizeof y);
  put(&k, "LDA0", "arg=0 nb=80 loc=0", "", "VX");
  put(&k, "VRSUM", "a=0 aj=1 y=4 yj=0 nj=4 acc=1 nn=16", "L0", "ST");
  put(&k, "STA", "arg=1 nb=1 loc=256", "VX", "");
  run_or_fail(&k);
  k.ops->copy_out(k.device, out, &y, sizeof y);
  assert_true(y == 16 * (1 + 2 + 3 + 4));
  kernel_close(&k);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(matmul_and_requantise),  cmocka_unit_test(requantisation_is_exact),
      cmocka_unit_test(box_reads_fill_outside), cmocka_unit_test(reductions),
      cmocka_unit_test(special_floats),         cmocka_unit_test(sums_meet)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
