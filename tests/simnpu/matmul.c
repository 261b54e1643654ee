// An int8 matrix product written as a kernel would be: weights of the next tile load while the array works on this one,
// results are requantised and stored behind it. Prints the array's use; fails below the share of peak asked for.
//   matmul MODEL SIZE MIN_PERCENT [OPTIONS [OTHER]]
// With OTHER, e.g. machine_16, that model too must come to the right result, and to within 10% of the same cycles.
#include "program.h"
#include "reference.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { ARG_A, ARG_B, ARG_C, ARG_PARAMETERS };

typedef struct plan {
  int d, size, rows;          // rows of A held at once, twice
  int a[2], strip[2], out[2]; // rows of the scratchpad
  int sums[2], bias, scale;   // rows of the accumulator
} plan;

static plan make_plan(int d, int size) {
  plan p = {.d = d, .size = size};
  int tiles = size / d, spad_rows = 256 * 1024 / d, acc_rows = 2048;
  p.rows = size;
  while (2 * p.rows * tiles + 2 * size + 2 * p.rows > spad_rows || 2 * p.rows + 2 > acc_rows) p.rows /= 2;
  int at = 0;
  for (int n = 0; n < 2; ++n, at += p.rows * tiles) p.a[n] = at;
  for (int n = 0; n < 2; ++n, at += size) p.strip[n] = at;
  for (int n = 0; n < 2; ++n, at += p.rows) p.out[n] = at;
  p.sums[1] = p.rows;
  p.bias = 2 * p.rows;
  p.scale = p.bias + 1;
  return p;
}

// Columns of A in blocks: block k of the rows is contiguous, so that the array reads the banks in turn.
static void load_a(program* g, const plan* p, int m) {
  int tiles = p->size / p->d, step = tiles < 4 ? tiles : 4;
  for (int k = 0; k < tiles; k += step)
    ADD(g, "LDS0", {"arg", ARG_A}, {"off", m * p->rows * p->size + k * p->d}, {"ni", step}, {"nj", p->rows},
        {"nb", p->d}, {"si", p->d}, {"sj", p->size}, {"loc", (p->a[m & 1] + k * p->rows) * p->d},
        {"li", p->rows * p->d}, {"lj", p->d}, {"ihi", step}, {"jhi", p->rows});
}

static void add_tile(program* g, const plan* p, int m, int n, int* turn, int* bank) {
  int tiles = p->size / p->d, s = *turn & 1;
  ADD(g, "LDS1", {"arg", ARG_B}, {"off", n * p->d}, {"ni", 1}, {"nj", p->size}, {"nb", p->d}, {"sj", p->size},
      {"loc", p->strip[s] * p->d}, {"lj", p->d}, {"ihi", 1}, {"jhi", p->size});
  for (int k = 0; k < tiles; ++k, *bank ^= 1) {
    ADD(g, "WLD", {"src", p->strip[s] + k * p->d}, {"sk", 1}, {"w", *bank});
    ADD(g, "MMA", {"a", p->a[m & 1] + k * p->rows}, {"aj", 1}, {"c", p->sums[s]}, {"cj", 1}, {"ni", 1}, {"nj", p->rows},
        {"w", *bank}, {"acc", k > 0});
  }
  ADD(g, "VRQ", {"a", p->sums[s]}, {"aj", 1}, {"pb", p->bias}, {"ps", p->scale}, {"y", p->out[s]}, {"yj", 1}, {"ni", 1},
      {"nj", p->rows}, {"zp", 3}, {"lo", -128}, {"hi", 127});
  ADD(g, "STS", {"arg", ARG_C}, {"off", m * p->rows * p->size + n * p->d}, {"ni", 1}, {"nj", p->rows}, {"nb", p->d},
      {"sj", p->size}, {"loc", p->out[s] * p->d}, {"lj", p->d});
  ++*turn;
}

static uint32_t noise(uint32_t* state) { return (*state = *state * 1664525u + 1013904223u) >> 8; }

static void fill(reference* r, const program* g, int d) {
  uint32_t state = 1;
  for (int n = 0; n < 2; ++n)
    for (uint64_t b = 0; b < g->arg_bytes[n]; ++b) r->dram[g->args[n] + b] = (uint8_t)noise(&state);
  for (int l = 0; l < d; ++l) {
    int32_t bias = (int32_t)noise(&state) % 5000;
    float scale = 1e-4f * (float)(1 + l);
    memcpy(r->dram + g->args[ARG_PARAMETERS] + 4 * l, &bias, 4);
    memcpy(r->dram + g->args[ARG_PARAMETERS] + 4 * (d + l), &scale, 4);
  }
}

static void write_program(program* g, const plan* p) {
  ADD(g, "LDA1", {"arg", ARG_PARAMETERS}, {"ni", 1}, {"nj", 1}, {"nb", 2 * p->d}, {"loc", p->bias * p->d * 4},
      {"ihi", 1}, {"jhi", 1});
  int turn = 0, bank = 0, blocks = p->size / p->rows;
  load_a(g, p, 0);
  for (int m = 0; m < blocks; ++m)
    for (int n = 0; n < p->size / p->d; ++n) {
      if (n == 1 && m + 1 < blocks) load_a(g, p, m + 1);
      add_tile(g, p, m, n, &turn, &bank);
    }
  program_order(g);
}

// Cycles; 0: a fault, or a wrong result.
static double multiply(const char* model, int size, const char* options) {
  device dev;
  device_start(&dev, model, options);
  int d = dev.lanes;
  plan p = make_plan(d, size);
  program g;
  program_init(&g, dev.chip);
  uint64_t bytes = (uint64_t)size * (uint64_t)size;
  for (int n = 0; n < 3; ++n) device_argument(&dev, &g, bytes);
  device_argument(&dev, &g, (uint64_t)d * 8);
  write_program(&g, &p);
  reference r;
  reference_init(&r, dev.chip, g.args[ARG_PARAMETERS] + g.arg_bytes[ARG_PARAMETERS]);
  fill(&r, &g, d);
  device_fill(&dev, &g, r.dram);

  clock_t begin = clock();
  int code = device_run(&dev, &g, 0);
  double seconds = (double)(clock() - begin) / CLOCKS_PER_SEC;
  if (code) printf("fault: %s\n", dev.ops->last_fault(dev.handle));
  reference_run(&r, &g);
  char difference[128] = "";
  if (!code) reference_compare(&r, &g, &dev, difference, sizeof difference);
  if (difference[0]) printf("wrong: %s\n", difference);

  double cycles = (double)device_counter(&dev, "cycles"), ideal = (double)size * size * size / ((double)d * d);
  printf("%s, %d^3: %.0f cycles, %.1f%% of peak, %.2f Mcycles/s\n", model, size, cycles, 100 * ideal / cycles,
         cycles / seconds / 1e6);
  const char* name;
  for (uint32_t n = 0; (name = dev.ops->counter_name(dev.handle, n)); ++n)
    printf("  %s %llu\n", name, (unsigned long long)dev.ops->counter(dev.handle, n));
  reference_free(&r);
  program_free(&g);
  device_stop(&dev);
  return code || difference[0] ? 0 : cycles;
}

int main(int argc, char** argv) {
  if (argc < 4) return 2;
  int size = atoi(argv[2]), d = atoi(strncmp(argv[1], "machine_", 8) ? argv[1] : argv[1] + 8);
  double cycles = multiply(argv[1], size, argc > 4 ? argv[4] : NULL);
  if (cycles == 0 || 100.0 * size * size * size / ((double)d * d) < atof(argv[3]) * cycles) return 1;
  if (argc <= 5) return 0;
  double other = multiply(argv[5], size, NULL);
  return other >= 0.9 * cycles && other <= 1.1 * cycles ? 0 : 1;
}
