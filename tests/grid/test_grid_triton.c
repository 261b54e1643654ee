// Kernels that Triton made of triton_kernels.py, on the machine in each schedule: right, and without a report. They
// have what others here lack: masks by predicates on inline assembly, copies that run beside products, products of a
// warp.
#include "grid.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char* const options[] = {"repeats=1,schedule=early,threads=1", "repeats=1,schedule=late,threads=2",
                                      "repeats=1,schedule=random,seed=7,threads=2"};
enum { THREADS = 128, MOST = 96 * 96 };

typedef struct numbers {
  float x[MOST];
} numbers;

// Small multiples of 1/8: sums and products of some hundreds are exact in f32, in any order.
static void fill(numbers* of, uint32_t seed) {
  for (int k = 0; k < MOST; ++k) {
    seed = seed * 1664525 + 1013904223;
    of->x[k] = (float)((int)(seed >> 27) - 16) / 8.0f;
  }
}

static uint32_t bits(float f) {
  uint32_t u;
  memcpy(&u, &f, 4);
  return u;
}

// The file says how much memory of a block each kernel wants.
static uint32_t shared_of(const char* kernel) {
  char *text = grid_text("triton.ptx"), said[64];
  unsigned bytes = 0;
  snprintf(said, sizeof said, "// %s: ", kernel);
  const char* at = strstr(text, said);
  if (!at || sscanf(at + strlen(said), "%u", &bytes) != 1) fail_msg("%s is not in the file", kernel);
  free(text);
  return bytes;
}

// Behind its own parameters each entry has two pointers to memory that these kernels do not ask for.
static void run(grid* g, const char* kernel, int blocks) {
  grid_number(g, 0);
  grid_number(g, 0);
  g->launch.shared_bytes = shared_of(kernel);
  grid_runs(g, kernel, (uint32_t)blocks, THREADS);
}

static void add_scaled(grid* g) {
  enum { N = 1000 };
  numbers x, y, z;
  fill(&x, 1);
  fill(&y, 2);
  uint64_t at = grid_buffer(g, y.x, N * 4);
  grid_buffer(g, x.x, N * 4);
  grid_number(g, bits(1.5f));
  grid_number(g, N);
  run(g, "add_scaled", 4);
  grid_read(g, at, z.x, N * 4);
  for (int k = 0; k < N; ++k) assert_true(z.x[k] == fmaf(1.5f, x.x[k], y.x[k]));
}

enum { ROWS = 5, COLUMNS = 300 };

static void row_sum(grid* g) {
  numbers x;
  float sums[ROWS];
  fill(&x, 3);
  uint64_t at = grid_buffer(g, NULL, sizeof sums);
  grid_buffer(g, x.x, ROWS * COLUMNS * 4);
  grid_number(g, COLUMNS);
  run(g, "row_sum", ROWS);
  grid_read(g, at, sums, sizeof sums);
  for (int r = 0; r < ROWS; ++r) {
    float sum = 0;
    for (int k = 0; k < COLUMNS; ++k) sum += x.x[r * COLUMNS + k];
    assert_true(sums[r] == sum);
  }
}

static void softmax(grid* g) {
  numbers x, y;
  fill(&x, 4);
  uint64_t at = grid_buffer(g, NULL, ROWS * COLUMNS * 4);
  grid_buffer(g, x.x, ROWS * COLUMNS * 4);
  grid_number(g, COLUMNS);
  run(g, "softmax", ROWS);
  grid_read(g, at, y.x, ROWS * COLUMNS * 4);
  for (int r = 0; r < ROWS; ++r) {
    double sum = 0;
    for (int k = 0; k < COLUMNS; ++k) sum += exp(x.x[r * COLUMNS + k]);
    for (int k = 0; k < COLUMNS; ++k) {
      double right = exp(x.x[r * COLUMNS + k]) / sum;
      assert_true(fabs(y.x[r * COLUMNS + k] - right) <= 1e-6 * right);
    }
  }
}

static void layer_norm(grid* g) {
  numbers x, y, scale, shift;
  fill(&x, 5);
  fill(&scale, 6);
  fill(&shift, 7);
  uint64_t at = grid_buffer(g, NULL, ROWS * COLUMNS * 4);
  grid_buffer(g, x.x, ROWS * COLUMNS * 4);
  grid_buffer(g, scale.x, COLUMNS * 4);
  grid_buffer(g, shift.x, COLUMNS * 4);
  grid_number(g, COLUMNS);
  grid_number(g, bits(1e-5f));
  run(g, "layer_norm", ROWS);
  grid_read(g, at, y.x, ROWS * COLUMNS * 4);
  for (int r = 0; r < ROWS; ++r) {
    const float* row = x.x + r * COLUMNS;
    double mean = 0, apart = 0;
    for (int k = 0; k < COLUMNS; ++k) mean += row[k] / (double)COLUMNS;
    for (int k = 0; k < COLUMNS; ++k) apart += (row[k] - mean) * (row[k] - mean) / COLUMNS;
    for (int k = 0; k < COLUMNS; ++k) {
      double right = (row[k] - mean) / sqrt(apart + 1e-5) * scale.x[k] + shift.x[k];
      assert_true(fabs(y.x[r * COLUMNS + k] - right) <= 1e-5);
    }
  }
}

// Sizes that are multiples of no tile.
enum { M = 70, N = 90, K = 75 };

static void check_product(const float* c, const float* a, const float* b) {
  for (int i = 0; i < M; ++i)
    for (int j = 0; j < N; ++j) {
      float sum = 0;
      for (int k = 0; k < K; ++k) sum += a[i * K + k] * b[k * N + j];
      assert_true(c[i * N + j] == sum);
    }
}

static void multiply(grid* g, const char* kernel, int blocks, const void* a, const void* b, int bytes, numbers* c) {
  uint64_t at = grid_buffer(g, NULL, M * N * 4);
  grid_buffer(g, a, (uint64_t)(M * K * bytes));
  grid_buffer(g, b, (uint64_t)(K * N * bytes));
  grid_number(g, M);
  grid_number(g, N);
  grid_number(g, K);
  run(g, kernel, blocks);
  grid_read(g, at, c->x, M * N * 4);
}

static void matmul_f32(grid* g) {
  numbers a, b, c;
  fill(&a, 8);
  fill(&b, 9);
  multiply(g, "matmul_f32", 3 * 3, a.x, b.x, 4, &c);
  check_product(c.x, a.x, b.x);
}

// Of multiples of 1/8 below 2: exact.
static uint16_t half_of(float x) {
  uint32_t u = bits(x);
  if (x == 0) return 0;
  return (uint16_t)((u >> 16 & 0x8000) | (((u >> 23 & 0xff) - 127 + 15) << 10) | (u >> 13 & 0x3ff));
}

static void matmul_f16(grid* g) {
  numbers a, b, c;
  uint16_t left[M * K], right[K * N];
  fill(&a, 10);
  fill(&b, 11);
  for (int k = 0; k < M * K; ++k) left[k] = half_of(a.x[k]);
  for (int k = 0; k < K * N; ++k) right[k] = half_of(b.x[k]);
  multiply(g, "matmul_f16", 2 * 2, left, right, 2, &c);
  check_product(c.x, a.x, b.x);
}

static void transpose(grid* g) {
  numbers x, y;
  fill(&x, 12);
  uint64_t at = grid_buffer(g, NULL, M * N * 4);
  grid_buffer(g, x.x, M * N * 4);
  grid_number(g, M);
  grid_number(g, N);
  run(g, "transpose", 3 * 3);
  grid_read(g, at, y.x, M * N * 4);
  for (int r = 0; r < M; ++r)
    for (int c = 0; c < N; ++c) assert_true(y.x[c * M + r] == x.x[r * N + c]);
}

static void histogram(grid* g) {
  enum { COUNT = 1300 };
  unsigned char in[COUNT];
  int bins[256] = {0}, right[256] = {0};
  for (int k = 0; k < COUNT; ++k) ++right[in[k] = (unsigned char)(k * k)];
  uint64_t at = grid_buffer(g, bins, sizeof bins);
  grid_buffer(g, in, sizeof in);
  grid_number(g, COUNT);
  run(g, "histogram", 3);
  grid_read(g, at, bins, sizeof bins);
  assert_memory_equal(bins, right, sizeof bins);
}

static void scan(grid* g) {
  int in[ROWS * COLUMNS], out[ROWS * COLUMNS];
  for (int k = 0; k < ROWS * COLUMNS; ++k) in[k] = k * 37 % 101 - 50;
  uint64_t at = grid_buffer(g, NULL, sizeof out);
  grid_buffer(g, in, sizeof in);
  grid_number(g, COLUMNS);
  run(g, "scan", ROWS);
  grid_read(g, at, out, sizeof out);
  for (int r = 0; r < ROWS; ++r)
    for (int k = 0, sum = 0; k < COLUMNS; ++k) {
      sum += in[r * COLUMNS + k];
      assert_int_equal(out[r * COLUMNS + k], sum);
    }
}

static void stencil(grid* g) {
  enum { COUNT = 1000 };
  numbers x, y;
  fill(&x, 13);
  uint64_t at = grid_buffer(g, NULL, COUNT * 4);
  grid_buffer(g, x.x, COUNT * 4);
  grid_number(g, COUNT);
  run(g, "stencil", 4);
  grid_read(g, at, y.x, COUNT * 4);
  for (int k = 0; k < COUNT; ++k) {
    float left = k ? x.x[k - 1] : 0, right = k + 1 < COUNT ? x.x[k + 1] : 0;
    assert_true(y.x[k] == 0.25f * left + 0.5f * x.x[k] + 0.25f * right);
  }
}

static void (*const kernels[])(grid*) = {add_scaled, row_sum,   softmax,   layer_norm, matmul_f32,
                                         matmul_f16, transpose, histogram, scan,       stencil};

static void of_triton(void** state) {
  (void)state;
  for (size_t o = 0; o < sizeof options / sizeof *options; ++o) {
    grid g;
    grid_open(&g, options[o]);
    grid_load_file(&g, "triton.ptx");
    for (size_t k = 0; k < sizeof kernels / sizeof *kernels; ++k) kernels[k](&g);
    assert_true(grid_counter(&g, "matrix.macs") >= M * N * K);
    grid_close(&g);
  }
}

// Takes out the instruction of that name that stands n-th in the text; false: there are not so many.
static bool drop(char* text, const char* name, int n) {
  for (char* at = text; (at = strstr(at, name)); ++at)
    if (!n--) {
      memset(at, ' ', strcspn(at, ";") + 1);
      return true;
    }
  return false;
}

// Whether one of the kernels is reported, where each ends when its launch does.
static bool reported(const char* text) {
  grid g;
  bool found = false;
  grid_open(&g, "repeats=1,threads=1,schedule=late");
  grid_load(&g, text);
  for (volatile size_t k = 0; k < sizeof kernels / sizeof *kernels && !found; ++k) {
    jmp_buf after;
    g.after = &after;
    int result = setjmp(after);
    if (!result) kernels[k](&g);
    found = result > 1;
  }
  grid_close(&g);
  return found;
}

// Without any one of its barriers, or of the waits for copies, a kernel is reported.
static void dropped(void** state) {
  (void)state;
  static const char* const names[] = {"bar.sync", "cp.async.wait_group"};
  int count = 0;
  char* whole = grid_text("triton.ptx");
  assert_false(reported(whole));
  free(whole);
  for (int k = 0; k < 2; ++k)
    for (int n = 0;; ++n) {
      char* text = grid_text("triton.ptx");
      bool there = drop(text, names[k], n), found = there && reported(text);
      free(text);
      if (!there) break;
      if (!found) fail_msg("nothing is reported without number %d of %s", n, names[k]);
      ++count;
    }
  assert_int_equal(count, 23);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(of_triton), cmocka_unit_test(dropped)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
