// The machine's cycles against the RTL's, part by part: what the planner is told must be what the chip does.
#include "tests/simnpu/program.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

enum { DATA_BYTES = 1 << 20 };
static const double tolerance = 0.10;
static int lanes; // D of the model under test

// Fills the scratchpad and the accumulator, so that what follows reads what is defined.
static void fill(program* p) {
  ADD(p, "LDS0", {"arg", 0}, {"ni", 16}, {"nj", 4}, {"nb", 2048}, {"si", 8192}, {"sj", 2048}, {"li", 8192},
      {"lj", 2048}, {"ihi", 16}, {"jhi", 4});
  ADD(p, "LDA1", {"arg", 0}, {"ni", 1}, {"nj", 64}, {"nb", 8 * lanes}, {"sj", 32 * lanes}, {"lj", 32 * lanes},
      {"ihi", 1}, {"jhi", 64});
  ADD(p, "WLD", {"src", 0}, {"sk", 1}, {"w", 0});
  ADD(p, "WLD", {"src", 0}, {"sk", 1}, {"w", 1});
}

static void fill_words(program* p) {
  ADD(p, "LDA1", {"arg", 0}, {"ni", 1}, {"nj", 16}, {"nb", 8 * lanes}, {"sj", 32 * lanes}, {"lj", 32 * lanes},
      {"ihi", 1}, {"jhi", 16});
}

static void long_loads(program* p) {
  for (int n = 0; n < 8; ++n)
    ADD(p, "LDS0", {"arg", 0}, {"ni", 1}, {"nj", 1}, {"nb", 4080}, {"loc", 4096 * n}, {"ihi", 1}, {"jhi", 1});
}

static void two_loads_at_once(program* p) {
  long_loads(p);
  for (int n = 0; n < 4; ++n)
    ADD(p, "LDS1", {"arg", 0}, {"ni", 1}, {"nj", 1}, {"nb", 4080}, {"loc", 65536 + 4096 * n}, {"ihi", 1}, {"jhi", 1});
}

static void crooked_loads(program* p) {
  for (int n = 0; n < 8; ++n)
    ADD(p, "LDS0", {"arg", 0}, {"off", 3}, {"ni", 10}, {"nj", 20}, {"nb", 20}, {"si", 1000}, {"sj", 37},
        {"loc", 8192 * n}, {"li", 400}, {"lj", 20}, {"ilo", 1}, {"ihi", 9}, {"jhi", 20});
}

static void short_commands(program* p) {
  for (int n = 0; n < 100; ++n)
    ADD(p, "LDS0", {"arg", 0}, {"ni", 1}, {"nj", 1}, {"nb", 16}, {"loc", 64 * n}, {"ihi", 1}, {"jhi", 1});
}

static void stores_and_loads(program* p) {
  fill(p);
  for (int n = 0; n < 8; ++n) {
    ADD(p, "STS", {"arg", 1}, {"off", 4096 * n}, {"ni", 1}, {"nj", 1}, {"nb", 4080}, {"loc", 4096 * n});
    ADD(p, "LDS1", {"arg", 0}, {"ni", 1}, {"nj", 1}, {"nb", 4080}, {"loc", 65536 + 4096 * n}, {"ihi", 1}, {"jhi", 1});
  }
}

// Stores whose data the next load fetches: every iteration waits for the write.
static void round_trips(program* p) {
  fill(p);
  for (int n = 0; n < 10; ++n) {
    ADD(p, "STS", {"arg", 1}, {"ni", 1}, {"nj", 1}, {"nb", 256}, {"loc", 0});
    ADD(p, "LDS0", {"arg", 1}, {"ni", 1}, {"nj", 1}, {"nb", 256}, {"loc", 0}, {"ihi", 1}, {"jhi", 1});
  }
}

static void matrix_tiles(program* p) {
  fill(p);
  for (int n = 0; n < 40; ++n) {
    ADD(p, "WLD", {"src", 1024 + 8 * n}, {"sk", 1}, {"w", n & 1});
    ADD(p, "MMA", {"a", 64}, {"ai", 8}, {"aj", 1}, {"c", 0}, {"ci", 8}, {"cj", 1}, {"ni", 6}, {"nj", 8}, {"w", n & 1},
        {"acc", n % 4 > 0});
  }
}

static void small_matrix_tiles(program* p) {
  fill(p);
  for (int n = 0; n < 60; ++n) {
    ADD(p, "WLD", {"src", 1024 + 8 * n}, {"sk", 1}, {"w", n & 1});
    ADD(p, "MMA", {"a", 64}, {"aj", 1}, {"c", 0}, {"cj", 1}, {"ni", 1}, {"nj", 4}, {"w", n & 1}, {"acc", 1});
  }
}

static void vectors(program* p) {
  fill(p);
  for (int n = 0; n < 30; ++n)
    ADD(p, "VRQ", {"a", 0}, {"ai", 8}, {"aj", 1}, {"pb", 100}, {"ps", 101}, {"y", 2048}, {"yi", 8}, {"yj", 1},
        {"ni", 6}, {"nj", 8}, {"lo", -128}, {"hi", 127});
}

// Each reads what the former wrote.
static void dependent_vectors(program* p) {
  fill_words(p);
  for (int n = 0; n < 30; ++n)
    ADD(p, "VADD", {"a", 32 * (n & 1)}, {"aj", 1}, {"b", 64}, {"bj", 1}, {"y", 32 * (~n & 1)}, {"yj", 1}, {"ni", 1},
        {"nj", 16});
}

// Pooling: nine taps of rows two apart, each added to the same rows. The two operands meet in banks.
static void pooling(program* p) {
  fill(p);
  for (int n = 0; n < 18; ++n)
    ADD(p, "VMAXQ", {"a", 64 * (n % 9 / 3) + n % 3}, {"ai", 128}, {"aj", 2}, {"y", 1024}, {"yi", 28}, {"yj", 1},
        {"ni", 2}, {"nj", 28}, {"acc", n % 9 > 0});
}

// The same with the sums elsewhere: `phase` rows on, `step` rows apart.
static int phase, step;
static void pooling_elsewhere(program* p) {
  fill(p);
  for (int n = 0; n < 18; ++n)
    ADD(p, "VMAXQ", {"a", 64 * (n % 9 / 3) + n % 3}, {"ai", 128}, {"aj", 2}, {"y", 1024 + phase}, {"yi", 28 * step},
        {"yj", step}, {"ni", 2}, {"nj", 28}, {"acc", n % 9 > 0});
}

// Weights that are loaded beside short products: the array's rows come first.
static void tiles_elsewhere(program* p) {
  fill(p);
  for (int n = 0; n < 60; ++n) {
    ADD(p, "WLD", {"src", 1024 + 16 * n}, {"sk", 1}, {"w", n & 1});
    ADD(p, "MMA", {"a", 64 + phase + n % 3}, {"ai", 6}, {"aj", 1}, {"c", 0}, {"ci", 2}, {"cj", 1}, {"ni", 2}, {"nj", 2},
        {"w", n & 1}, {"acc", 1});
  }
}

// The first layer: many runs of a few bytes, at the port beside long loads, which a mover that reads ahead makes up
// for.
static void short_runs(program* p) {
  for (int n = 0; n < 60; ++n) {
    ADD(p, "LDS0", {"arg", 0}, {"off", 2 * n}, {"ni", 3}, {"nj", 7}, {"nb", 7}, {"si", 52900}, {"sj", 230},
        {"loc", 160 * n}, {"li", 49}, {"lj", 7}, {"ihi", 3}, {"jhi", 7});
    if (n % 4 == 0)
      ADD(p, "LDS1", {"arg", 0}, {"ni", 1}, {"nj", 1}, {"nb", 512}, {"loc", 32768 + 512 * n}, {"ihi", 1}, {"jhi", 1});
  }
}

// Boxes of as many beats as the mover's buffer holds, which take twice as long to write: half of their rows are filled.
static void full_buffers(program* p) {
  for (int n = 0; n < 8; ++n)
    ADD(p, "LDS0", {"arg", 0}, {"ni", 1}, {"nj", 256}, {"nb", 16}, {"sj", 16}, {"loc", 4096 * n}, {"lj", 16},
        {"ihi", 1}, {"jhi", 128});
  for (int n = 0; n < 8; ++n)
    ADD(p, "LDS1", {"arg", 0}, {"ni", 1}, {"nj", 1}, {"nb", 4080}, {"loc", 65536 + 4096 * n}, {"ihi", 1}, {"jhi", 1});
}

static void pipeline(program* p) {
  fill(p);
  for (int n = 0; n < 20; ++n) {
    ADD(p, "LDS0", {"arg", 0}, {"ni", 1}, {"nj", 1}, {"nb", 32 * lanes}, {"loc", 1024 * lanes}, {"ihi", 1}, {"jhi", 1});
    ADD(p, "WLD", {"src", 1024}, {"sk", 1}, {"w", 0});
    ADD(p, "MMA", {"a", 1024}, {"aj", 1}, {"c", 0}, {"cj", 1}, {"ni", 1}, {"nj", 32}, {"w", 0});
    ADD(p, "VRQ", {"a", 0}, {"aj", 1}, {"pb", 100}, {"ps", 101}, {"y", 2048}, {"yj", 1}, {"ni", 1}, {"nj", 32},
        {"lo", -128}, {"hi", 127});
    ADD(p, "STS", {"arg", 1}, {"off", 4096 * n}, {"ni", 1}, {"nj", 1}, {"nb", 32 * lanes}, {"loc", 2048 * lanes});
  }
}

static uint64_t cycles_on(const char* model, void (*build)(program*)) {
  static uint8_t data[DATA_BYTES];
  device d;
  program p;
  device_start(&d, model, NULL);
  lanes = d.lanes;
  program_init(&p, d.chip);
  for (int n = 0; n < 2; ++n) {
    p.args[n] = device_buffer(&d, DATA_BYTES);
    assert_int_equal(d.ops->copy_in(d.handle, p.args[n], data, DATA_BYTES), 0);
  }
  build(&p);
  program_order(&p);
  if (device_run(&d, &p, 0)) fail_msg("%s: %s", model, d.ops->last_fault(d.handle));
  uint64_t cycles = device_counter(&d, "cycles");
  program_free(&p);
  device_stop(&d);
  return cycles;
}

static void nothing(program* p) { (void)p; }

// `before` is part of the program, and its cycles are taken off: they are long, and would hide the rest.
static int compare(const char* name, void (*before)(program*), void (*build)(program*)) {
  static const char* const models[] = {"8", "16", "32"};
  int bad = 0;
  for (int m = 0; m < 3; ++m) {
    char machine[32];
    snprintf(machine, sizeof machine, "machine_%s", models[m]);
    double rtl = (double)(cycles_on(models[m], build) - cycles_on(models[m], before));
    double ours = (double)(cycles_on(machine, build) - cycles_on(machine, before)), error = ours / rtl - 1;
    printf("  D=%-2s %-20s RTL %7.0f, machine %7.0f: %+5.1f%%\n", models[m], name, rtl, ours, 100 * error);
    bad += error > tolerance || error < -tolerance;
  }
  return bad;
}

#define TIMED(before, name)                                                                                            \
  static void name##_take_as_long(void** state) {                                                                      \
    (void)state;                                                                                                       \
    assert_int_equal(compare(#name, before, name), 0);                                                                 \
  }
TIMED(nothing, long_loads)
TIMED(nothing, two_loads_at_once)
TIMED(nothing, crooked_loads)
TIMED(nothing, short_commands)
TIMED(fill, stores_and_loads)
TIMED(fill, round_trips)
TIMED(fill, matrix_tiles)
TIMED(fill, small_matrix_tiles)
TIMED(fill, vectors)
TIMED(fill_words, dependent_vectors)
TIMED(fill, pooling)
TIMED(nothing, short_runs)
TIMED(fill, pipeline)

// A range of cycles over all phases of the scratchpad's banks.
typedef struct range {
  double lo, hi;
} range;

static range over_phases(const char* model, void (*build)(program*)) {
  range r = {1e30, 0};
  double before = (double)cycles_on(model, fill);
  for (phase = 0; phase < 4; ++phase) {
    double cycles = (double)cycles_on(model, build) - before;
    if (cycles < r.lo) r.lo = cycles;
    if (cycles > r.hi) r.hi = cycles;
  }
  return r;
}

// Why `place` packs buffers densely: rows interleave over the banks, so an address can only change in which bank a
// buffer begins. That changes next to nothing, even where operands meet most often; how far apart their rows are does.
static void first_banks_do_not_matter(void** state) {
  (void)state;
  static const char* const models[] = {"16", "machine_16"};
  for (int m = 0; m < 2; ++m) {
    step = 1;
    range pool = over_phases(models[m], pooling_elsewhere), tiles = over_phases(models[m], tiles_elsewhere);
    step = 2;
    range apart = over_phases(models[m], pooling_elsewhere);
    printf("%s: pooling %.0f to %.0f, sums two rows apart %.0f to %.0f, tiles %.0f to %.0f\n", models[m], pool.lo,
           pool.hi, apart.lo, apart.hi, tiles.lo, tiles.hi);
    assert_true(pool.hi < 1.01 * pool.lo);
    assert_true(tiles.hi < 1.01 * tiles.lo);
    assert_true(1.1 * apart.hi < pool.lo);
  }
}

// Reading ahead ends with the buffer, not a beat sooner: so few cycles hang on it that a tenth would hide them.
static void a_buffer_may_be_full(void** state) {
  (void)state;
  double rtl = (double)cycles_on("8", full_buffers), ours = (double)cycles_on("machine_8", full_buffers);
  printf("full buffers: RTL %.0f, machine %.0f\n", rtl, ours);
  assert_true(ours > 0.998 * rtl && ours < 1.002 * rtl);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(long_loads_take_as_long),       cmocka_unit_test(two_loads_at_once_take_as_long),
      cmocka_unit_test(crooked_loads_take_as_long),    cmocka_unit_test(short_commands_take_as_long),
      cmocka_unit_test(stores_and_loads_take_as_long), cmocka_unit_test(round_trips_take_as_long),
      cmocka_unit_test(matrix_tiles_take_as_long),     cmocka_unit_test(small_matrix_tiles_take_as_long),
      cmocka_unit_test(vectors_take_as_long),          cmocka_unit_test(dependent_vectors_take_as_long),
      cmocka_unit_test(pooling_take_as_long),          cmocka_unit_test(short_runs_take_as_long),
      cmocka_unit_test(pipeline_take_as_long),         cmocka_unit_test(first_banks_do_not_matter),
      cmocka_unit_test(a_buffer_may_be_full)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
