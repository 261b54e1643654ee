// The machine's ceiling: fused multiply-adds on registers alone, in the widest vectors that the compiler may use.
// Prints GFLOP/s of one thread. Usage: fma
#include <stdio.h>
#include <time.h>

#if defined __AVX512F__
enum { LANES = 16, SUMS = 14 }; // more sums than a multiply-add takes cycles, on two units
#else
enum { LANES = 8, SUMS = 12 };
#endif
enum { TURNS = 20000000 };
typedef float vector __attribute__((vector_size(LANES * 4)));

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int main(int argc, char** argv) {
  (void)argv;
  double best = 0;
  for (int round = 0; round < 5; ++round) {
    vector sum[SUMS], x, y;
    for (int l = 0; l < LANES; ++l) {
      x[l] = 1.0f + (float)argc * 1e-7f;
      y[l] = (float)argc * 1e-9f;
    }
    for (int s = 0; s < SUMS; ++s) sum[s] = x * (float)s;
    double start = now();
    for (int t = 0; t < TURNS; ++t) {
      for (int s = 0; s < SUMS; ++s) sum[s] = sum[s] * x + y;
    }
    double took = now() - start, flops = 2.0 * LANES * SUMS * TURNS / took / 1e9;
    float keep = 0;
    for (int s = 0; s < SUMS; ++s) keep += sum[s][0];
    if (keep == 42) puts("");
    if (flops > best) best = flops;
  }
  printf("%.1f\n", best);
  return 0;
}
