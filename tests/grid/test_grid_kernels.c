// Kernels that other compilers made of kernels.cu, on the machine in each schedule: right, and without a report.
#include "grid.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char* const files[] = {"nvcc.ptx", "clang.ptx", "gfx942.hsaco", "gfx90a.hsaco", "nvrtc.ptx"};
static const char* const options[] = {"schedule=early,threads=1", "schedule=late,threads=2",
                                      "schedule=random,seed=7,threads=2"};
enum { N = 1000 };

// A kernel that is reported leaves in the middle: nothing here is to be freed.
static float* room(int count) {
  static float rooms[8][64 * 96];
  static int next;
  assert_true(count <= 64 * 96);
  return rooms[next++ % 8];
}

static float* numbers(int count, uint32_t seed) {
  float* x = room(count);
  for (int k = 0; k < count; ++k) {
    seed = seed * 1664525 + 1013904223;
    x[k] = (float)(int)(seed >> 20) / 1024.0f - 2.0f;
  }
  return x;
}

static uint32_t bits(float f) {
  uint32_t u;
  memcpy(&u, &f, 4);
  return u;
}

static void saxpy(grid* g) {
  float *x = numbers(N, 1), *y = numbers(N, 2), z[N];
  uint64_t at = grid_buffer(g, y, sizeof z);
  grid_buffer(g, x, sizeof z);
  grid_number(g, bits(1.5f));
  grid_number(g, N);
  grid_runs(g, "saxpy", 8, 128);
  grid_read(g, at, z, sizeof z);
  for (int k = 0; k < N; ++k) assert_true(z[k] == fmaf(1.5f, x[k], y[k]));
}

static void reduce(grid* g) {
  float *x = numbers(N, 3), sums[4];
  uint64_t at = grid_buffer(g, NULL, sizeof sums);
  grid_buffer(g, x, N * 4);
  grid_number(g, N);
  grid_runs(g, "reduce", 4, 256);
  grid_read(g, at, sums, sizeof sums);
  for (int b = 0; b < 4; ++b) {
    float sum = 0; // multiples of 2^-10 below 2^13: exact in any order
    for (int k = 256 * b; k < 256 * b + 256 && k < N; ++k) sum += x[k];
    assert_true(sums[b] == sum);
  }
}

static void transpose(grid* g) {
  float *x = numbers(64 * 96, 4), *y = room(64 * 96);
  uint64_t at = grid_buffer(g, NULL, 64 * 96 * 4);
  grid_buffer(g, x, 64 * 96 * 4);
  grid_number(g, 64);
  grid_number(g, 96);
  grid_runs(g, "transpose", 6, 256);
  grid_read(g, at, y, 64 * 96 * 4);
  for (int r = 0; r < 64; ++r)
    for (int c = 0; c < 96; ++c) assert_true(y[c * 64 + r] == x[r * 96 + c]);
}

static void matmul(grid* g) {
  enum { M = 64 };
  float *a = numbers(M * M, 5), *b = numbers(M * M, 6), *c = room(M * M);
  uint64_t at = grid_buffer(g, NULL, M * M * 4);
  grid_buffer(g, a, M * M * 4);
  grid_buffer(g, b, M * M * 4);
  grid_number(g, M);
  grid_runs(g, "matmul", 16, 256);
  grid_read(g, at, c, M * M * 4);
  for (int i = 0; i < M; ++i)
    for (int j = 0; j < M; ++j) {
      float sum = 0;
      for (int k = 0; k < M; ++k) sum = fmaf(a[i * M + k], b[k * M + j], sum);
      assert_true(c[i * M + j] == sum);
    }
}

static void softmax(grid* g) {
  enum { ROWS = 3, COLUMNS = 300 };
  float *x = numbers(ROWS * COLUMNS, 7), *y = room(ROWS * COLUMNS);
  uint64_t at = grid_buffer(g, NULL, ROWS * COLUMNS * 4);
  grid_buffer(g, x, ROWS * COLUMNS * 4);
  grid_number(g, COLUMNS);
  grid_runs(g, "softmax", ROWS, 128);
  grid_read(g, at, y, ROWS * COLUMNS * 4);
  for (int r = 0; r < ROWS; ++r) {
    double sum = 0;
    for (int k = 0; k < COLUMNS; ++k) sum += exp(x[r * COLUMNS + k]);
    for (int k = 0; k < COLUMNS; ++k) {
      double right = exp(x[r * COLUMNS + k]) / sum;
      assert_true(fabs(y[r * COLUMNS + k] - right) <= 1e-6 * right);
    }
  }
}

static void histogram(grid* g) {
  unsigned char in[N];
  unsigned bins[256] = {0}, right[256] = {0};
  for (int k = 0; k < N; ++k) ++right[in[k] = (unsigned char)(k * k)];
  uint64_t at = grid_buffer(g, bins, sizeof bins);
  grid_buffer(g, in, sizeof in);
  grid_number(g, N);
  grid_runs(g, "histogram", 3, 256);
  grid_read(g, at, bins, sizeof bins);
  assert_memory_equal(bins, right, sizeof bins);
}

static int steps_of(int n) {
  long long v = n;
  int steps = 0;
  for (; v != 1; ++steps) {
    if (v & 1 && steps > 500) break;
    v = v & 1 ? 3 * v + 1 : v >> 1;
  }
  switch (n % 5) {
  case 0:
    return steps + 10;
  case 1:
    return steps * 3;
  case 2:
    return steps - 7;
  case 3:
    return steps ^ 0x55;
  }
  return steps;
}

static void diverge(grid* g) {
  int in[N], out[N];
  for (int k = 0; k < N; ++k) in[k] = k * 7 + 1;
  uint64_t at = grid_buffer(g, NULL, sizeof out);
  grid_buffer(g, in, sizeof in);
  grid_number(g, N);
  grid_runs(g, "diverge", 16, 64);
  grid_read(g, at, out, sizeof out);
  for (int k = 0; k < N; ++k) assert_int_equal(out[k], steps_of(in[k]));
}

static void scan(grid* g) {
  signed char in[64];
  int out[64];
  for (int k = 0; k < 64; ++k) in[k] = (signed char)(k * 37);
  uint64_t at = grid_buffer(g, NULL, sizeof out);
  grid_buffer(g, in, sizeof in);
  grid_runs(g, "scan", 2, 32);
  grid_read(g, at, out, sizeof out);
  for (int k = 0, sum = 0; k < 64; ++k) {
    sum = k % 32 ? sum + in[k] : in[k];
    assert_int_equal(out[k], sum);
  }
}

static float polynomial(float x, int degree) {
  float y = 0;
  for (int k = degree; k >= 0; --k) y = fmaf(y, x, 1.0f / (float)(k % 8 + 1));
  return y;
}

static void called(grid* g) {
  float *x = numbers(100, 8), y[100];
  uint64_t at = grid_buffer(g, NULL, sizeof y);
  grid_buffer(g, x, sizeof y);
  grid_number(g, 100);
  grid_number(g, 9);
  grid_runs(g, "called", 2, 64);
  grid_read(g, at, y, sizeof y);
  for (int k = 0; k < 100; ++k) assert_true(y[k] == polynomial(x[k], 9) + polynomial(-x[k], 4));
}

static void convolve(grid* g) {
  static const float taps[] = {0.0625f, 0.25f, 0.375f, 0.25f, 0.0625f};
  float *x = numbers(N, 9), y[N];
  uint64_t at = grid_buffer(g, NULL, sizeof y);
  grid_buffer(g, x, sizeof y);
  grid_number(g, N);
  grid_runs(g, "convolve", 4, 256);
  grid_read(g, at, y, sizeof y);
  for (int k = 0; k < N; ++k) {
    float sum = 0;
    for (int t = 0; t < 5; ++t) sum = fmaf(taps[t], k + t - 2 >= 0 && k + t - 2 < N ? x[k + t - 2] : 0, sum);
    assert_true(y[k] == sum);
  }
}

static void (*const kernels[])(grid*) = {saxpy,     reduce,  transpose, matmul, softmax,
                                         histogram, diverge, scan,      called, convolve};

static void run_all(const char* file) {
  for (size_t o = 0; o < sizeof options / sizeof *options; ++o) {
    grid g;
    grid_open(&g, options[o]);
    grid_load_file(&g, file);
    for (size_t k = 0; k < sizeof kernels / sizeof *kernels; ++k) kernels[k](&g);
    assert_true(grid_counter(&g, "thread.instructions") > 100000);
    grid_close(&g);
  }
}

static void of_nvcc(void** state) {
  (void)state;
  run_all(files[0]);
}

static void of_clang(void** state) {
  (void)state;
  run_all(files[1]);
}

static void of_nvrtc(void** state) {
  (void)state;
  run_all(files[4]);
}

static void of_amd(void** state) {
  (void)state;
  run_all(files[2]);
  run_all(files[3]);
}

// Takes out the barrier that stands n-th in the text; false: there are not so many.
static bool drop_barrier(char* text, int n) {
  for (char* at = text; (at = strstr(at, "bar.sync")); ++at)
    if (!n--) {
      memset(at, ' ', strcspn(at, ";"));
      at[strcspn(at, ";")] = ' ';
      return true;
    }
  return false;
}

// Whether the kernel, as `code` has it, is reported, and for nothing but `what`.
static bool reported(const char* code, uint64_t bytes, void (*kernel)(grid*), const char* const* what) {
  grid g;
  grid_open(&g, "threads=1");
  if (bytes)
    grid_load_object(&g, code, bytes);
  else
    grid_load(&g, code);
  jmp_buf after;
  g.after = &after;
  int result = setjmp(after);
  if (!result) kernel(&g);
  const char* fault = g.ops->last_fault(g.device);
  if (result > 1 && !strstr(fault, what[0]) && !strstr(fault, what[1])) fail_msg("%s", fault);
  grid_close(&g);
  return result > 1;
}

static int reports(const char* code, uint64_t bytes, const char* const* what) {
  int found = 0;
  for (size_t k = 0; k < sizeof kernels / sizeof *kernels; ++k) found += reported(code, bytes, kernels[k], what);
  return found;
}
static const char* const of_order[] = {"race", "never written"};

// Each barrier is needed by one of the kernels, and without it that one is reported: not by its values, by its order.
static void dropped_barriers(void** state) {
  (void)state;
  int dropped = 0;
  for (int f = 0; f < 5; f += f == 1 ? 3 : 1)
    for (int n = 0;; ++n, ++dropped) {
      char* text = grid_text(files[f]);
      bool there = drop_barrier(text, n);
      int found = there ? reports(text, 0, of_order) : 0;
      free(text);
      if (!there) break;
      if (found != 1) fail_msg("%s without barrier %d: %d kernels are reported", files[f], n, found);
    }
  assert_true(dropped >= 27);
}

// The n-th word that is `word` under `mask` becomes s_nop; false: there are not so many.
static bool drop_word(char* bytes, uint64_t count, uint32_t word, uint32_t mask, int n) {
  for (uint64_t at = 0x1000; at + 4 <= count; at += 4) {
    uint32_t w;
    memcpy(&w, bytes + at, 4);
    if ((w & mask) != word || n--) continue;
    memcpy(bytes + at, &(uint32_t){0xbf800000}, 4);
    return true;
  }
  return false;
}

static int drop_each(uint32_t word, uint32_t mask, const char* const* what, int* silent) {
  int dropped = 0;
  for (;; ++dropped) {
    uint64_t count;
    char* bytes = grid_bytes(files[2], &count);
    bool there = drop_word(bytes, count, word, mask, dropped);
    int found = there ? reports(bytes, count, what) : 0;
    free(bytes);
    if (!there) return dropped;
    if (found > 1) fail_msg("without %#x, number %d: %d kernels are reported", word, dropped, found);
    *silent += !found;
  }
}

// AMD's waits: without one the register that a load is to fill is used too early. Those of fences that order stores no
// other thread reads are needed by nobody here.
static void dropped_waits(void** state) {
  (void)state;
  static const char* const of_waits[] = {"before s_waitcnt", "race"};
  int silent = 0, barriers = drop_each(0xbf8a0000, 0xffffffff, of_order, &silent);
  assert_int_equal(barriers, 10);
  assert_int_equal(silent, 0);
  int waits = drop_each(0xbf8c0000, 0xffff0000, of_waits, &silent);
  printf("%d waits, %d of them needed by nothing\n", waits, silent);
  assert_true(waits > 60 && silent <= 5);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(of_nvcc),          cmocka_unit_test(of_clang),
                                     cmocka_unit_test(of_nvrtc),         cmocka_unit_test(of_amd),
                                     cmocka_unit_test(dropped_barriers), cmocka_unit_test(dropped_waits)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
