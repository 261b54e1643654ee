// The RTL through its device interface: every instruction against the reference, tokens, faults, and what rows and
// beats a cycle the units reach.
#include "program.h"
#include "reference.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { IN_CODES, IN_WORDS, OUT_CODES, OUT_WORDS, BUFFERS };
enum { SPAD_ROWS = 512, ACC_ROWS = 128, OUTPUT_ROWS = 64 };
static int sizes[] = {8, 16, 32}, size_count = 3;

// A device with random data in the first rows of both memories; results are stored at the end and compared.
typedef struct bench {
  device dev;
  program p;
  reference r;
  uint64_t state;
} bench;

static uint32_t draw(bench* b) {
  b->state = b->state * 6364136223846793005u + 1442695040888963407u;
  return (uint32_t)(b->state >> 32);
}

// Floats of every kind, with most near enough to each other to meet.
static uint32_t float_bits(bench* b) {
  uint32_t sign = draw(b) & 0x80000000u, mantissa = draw(b) & 0x7fffff;
  switch (draw(b) % 10) {
  case 0:
    return draw(b);
  case 1:
    return sign | mantissa >> draw(b) % 23; // subnormal
  case 2:
    return sign | (draw(b) % 2 ? 0x7f800000u : 0) | (draw(b) % 4 == 0); // infinity, zero, their neighbours
  case 3:
    return sign | (64 + draw(b) % 4) << 23 | mantissa; // products near the least normal
  case 4:
    return sign | (189 + draw(b) % 4) << 23 | mantissa; // and the largest
  case 5:
    return sign | (127 + draw(b) % 10) << 23 | (mantissa & 0x7f0000); // halves
  default:
    return sign | (120 + draw(b) % 12) << 23 | mantissa;
  }
}

static void bench_open(bench* b, int lanes, const char* options, uint64_t seed) {
  memset(b, 0, sizeof *b);
  b->state = seed;
  char model[16];
  snprintf(model, sizeof model, "%d", lanes);
  device_start(&b->dev, model, options);
  program_init(&b->p, b->dev.chip);
  uint64_t bytes[BUFFERS] = {(uint64_t)(SPAD_ROWS * lanes), (uint64_t)(4 * ACC_ROWS * lanes),
                             (uint64_t)(SPAD_ROWS * lanes), (uint64_t)(4 * ACC_ROWS * lanes)};
  uint64_t end = 0;
  for (int n = 0; n < BUFFERS; ++n) {
    device_argument(&b->dev, &b->p, bytes[n]);
    end = b->p.args[n] + bytes[n];
  }
  reference_init(&b->r, b->dev.chip, end);
  for (uint64_t at = b->p.args[IN_CODES]; at < b->p.args[OUT_CODES]; at += 4) {
    uint32_t word = at < b->p.args[IN_WORDS] ? draw(b) : float_bits(b);
    memcpy(b->r.dram + at, &word, 4);
  }
  device_fill(&b->dev, &b->p, b->r.dram);
}

static void load_all(bench* b) {
  int d = b->dev.lanes;
  ADD(&b->p, "LDS0", {"arg", IN_CODES}, {"ni", 1}, {"nj", SPAD_ROWS}, {"nb", d}, {"sj", d}, {"lj", d}, {"ihi", 1},
      {"jhi", SPAD_ROWS});
  ADD(&b->p, "LDA0", {"arg", IN_WORDS}, {"ni", 1}, {"nj", ACC_ROWS}, {"nb", d}, {"sj", 4 * d}, {"lj", 4 * d},
      {"ihi", 1}, {"jhi", ACC_ROWS});
}

static void store_all(bench* b) {
  int d = b->dev.lanes;
  ADD(&b->p, "STS", {"arg", OUT_CODES}, {"ni", 1}, {"nj", SPAD_ROWS}, {"nb", d}, {"sj", d}, {"lj", d});
  ADD(&b->p, "STA", {"arg", OUT_WORDS}, {"ni", 1}, {"nj", ACC_ROWS}, {"nb", d}, {"sj", 4 * d}, {"lj", 4 * d});
}

static void bench_close(bench* b) {
  reference_free(&b->r);
  program_free(&b->p);
  device_stop(&b->dev);
}

static void run_and_compare(bench* b) {
  program_order(&b->p);
  if (device_run(&b->dev, &b->p, 1000000)) fail_msg("%s", b->dev.ops->last_fault(b->dev.handle));
  reference_run(&b->r, &b->p);
  char difference[128];
  reference_compare(&b->r, &b->p, &b->dev, difference, sizeof difference);
  if (difference[0]) fail_msg("D=%d: %s", b->dev.lanes, difference);
}

static void test_matrix_product(void** state) {
  (void)state;
  for (int n = 0; n < size_count; ++n) {
    bench b;
    bench_open(&b, sizes[n], NULL, 1);
    load_all(&b);
    int d = sizes[n];
    for (int w = 0; w < 2; ++w) ADD(&b.p, "WLD", {"src", 100 + w * d}, {"sk", 1 + w}, {"w", w});
    ADD(&b.p, "MMA", {"a", 0}, {"ai", 9}, {"aj", 2}, {"c", 4}, {"ci", 5}, {"cj", 1}, {"ni", 3}, {"nj", 5}, {"w", 0});
    ADD(&b.p, "MMA", {"a", 40}, {"ai", 9}, {"aj", 1}, {"c", 4}, {"ci", 5}, {"cj", 1}, {"ni", 3}, {"nj", 5}, {"w", 1},
        {"acc", 1});
    // Every row of A on one row of C: each sum needs the one before.
    ADD(&b.p, "MMA", {"a", 7}, {"aj", 3}, {"c", 30}, {"ni", 1}, {"nj", 17}, {"w", 1}, {"acc", 1});
    ADD(&b.p, "MMA", {"a", 80}, {"c", 30}, {"ni", 1}, {"nj", 1}, {"acc", 1});
    store_all(&b);
    run_and_compare(&b);
    bench_close(&b);
  }
}

// Runs of every length and alignment; rows, columns and bytes outside a box.
static void test_movers(void** state) {
  (void)state;
  for (int n = 0; n < size_count; ++n)
    for (int seed = 0; seed < 6; ++seed) {
      bench b;
      bench_open(&b, sizes[n], seed & 1 ? "random=1,stall=20" : NULL, (uint64_t)seed);
      load_all(&b);
      for (int k = 1; k < 40; ++k)
        ADD(&b.p, k & 1 ? "LDS0" : "LDS1", {"arg", IN_CODES}, {"off", draw(&b) % 99}, {"ni", 3}, {"nj", 4}, {"nb", k},
            {"si", 150 + k}, {"sj", 7 * seed}, {"loc", draw(&b) % 60 + (uint32_t)(k & 3) * 900}, {"li", 220},
            {"lj", 50 + seed}, {"ilo", draw(&b) % 2}, {"ihi", 2 + draw(&b) % 2}, {"jlo", draw(&b) % 3},
            {"jhi", 1 + draw(&b) % 4}, {"fill", -3 * k});
      for (int k = 1; k < 60; ++k)
        ADD(&b.p, k & 1 ? "LDR0" : "LDR1", {"arg", IN_CODES}, {"off", draw(&b) % 99}, {"ni", 3}, {"nj", 4}, {"nb", k},
            {"si", 150 + k}, {"sj", 7 * seed}, {"loc", draw(&b) % 60 + (uint32_t)(k & 3) * 900}, {"li", 280},
            {"lj", 65 + seed}, {"ilo", draw(&b) % 2}, {"ihi", 2 + draw(&b) % 2}, {"blo", draw(&b) % (k & 4 ? 3 : 40)},
            {"bhi", draw(&b) % (uint32_t)(k + 2)}, {"fill", 3 * k - 90});
      for (int k = 1; k < 20; ++k)
        ADD(&b.p, "LDA1", {"arg", IN_WORDS}, {"off", 4 * k}, {"ni", 2}, {"nj", 3}, {"nb", k}, {"si", 244},
            {"sj", 4 * seed}, {"loc", 4 * (draw(&b) % 64)}, {"li", 400}, {"lj", 84}, {"ilo", draw(&b) % 2},
            {"ihi", 1 + draw(&b) % 2}, {"jlo", draw(&b) % 2}, {"jhi", 1 + draw(&b) % 3});
      for (int k = 1; k < 40; ++k)
        ADD(&b.p, "STS", {"arg", OUT_CODES}, {"off", draw(&b) % 60 + (uint32_t)(k & 3) * 900}, {"ni", 3}, {"nj", 4},
            {"nb", k}, {"si", 220}, {"sj", 50 + seed}, {"loc", draw(&b) % 99}, {"li", 150 + k}, {"lj", 7 * seed});
      ADD(&b.p, "STA", {"arg", OUT_WORDS}, {"off", 12}, {"ni", 2}, {"nj", 4}, {"nb", 5}, {"si", 200}, {"sj", 20},
          {"loc", 36}, {"li", 0}, {"lj", 44});
      run_and_compare(&b);
      bench_close(&b);
    }
}

// Instructions of the vector unit on all rows, each into rows of its own where memory allows.
static void test_vector(void** state) {
  (void)state;
  static const char* const words[] = {"VI2F",  "VADD",   "VSUB",   "VMUL",  "VMAX",  "VMIN", "VSUM", "VMOST",
                                      "VEXP2", "VRECIP", "VRSQRT", "VRSUM", "VRMAX", "VDIV", "VSQRT"};
  for (int n = 0; n < size_count; ++n)
    for (uint64_t seed = 0; seed < 12; ++seed)
      for (size_t k = 0; k < sizeof words / sizeof *words; ++k) {
        bench b;
        bench_open(&b, sizes[n], NULL, 100 * seed + k);
        load_all(&b);
        pb_command* c =
            ADD(&b.p, words[k], {"a", 1}, {"ai", 8}, {"aj", 1}, {"y", 66}, {"yi", 8}, {"yj", 1}, {"ni", 6}, {"nj", 8});
        if (pb_insn_field(c->insn, "b") >= 0) {
          c->values[pb_insn_field(c->insn, "b")] = 9;
          c->values[pb_insn_field(c->insn, "bi")] = 8;
          c->values[pb_insn_field(c->insn, "bj")] = 1;
        }
        if (pb_insn_field(c->insn, "acc") >= 0) c->values[pb_insn_field(c->insn, "acc")] = seed & 1;
        if (pb_insn_field(c->insn, "nn") >= 0)
          c->values[pb_insn_field(c->insn, "nn")] = seed & 2 ? 1 + (int)seed % sizes[n] : sizes[n];
        store_all(&b);
        run_and_compare(&b);
        bench_close(&b);
      }
}

static void test_codes(void** state) {
  (void)state;
  for (int n = 0; n < size_count; ++n)
    for (uint64_t seed = 0; seed < 12; ++seed) {
      bench b;
      bench_open(&b, sizes[n], NULL, 7 * seed);
      load_all(&b);
      int zp = (int)(draw(&b) % 256) - 128;
      ADD(&b.p, "VRQ", {"a", 0}, {"ai", 8}, {"aj", 1}, {"pb", 50}, {"ps", 51}, {"y", 128}, {"yi", 8}, {"yj", 1},
          {"ni", 4}, {"nj", 8}, {"zp", zp}, {"lo", -128}, {"hi", 127});
      ADD(&b.p, "VQ", {"a", 0}, {"ai", 8}, {"aj", 1}, {"ps", 60 + seed}, {"y", 160}, {"yi", 8}, {"yj", 1}, {"ni", 4},
          {"nj", 8}, {"zp", zp}, {"lo", -100}, {"hi", 90});
      ADD(&b.p, "VADDQ", {"a", 0}, {"ai", 8}, {"aj", 1}, {"b", 64}, {"bi", 1}, {"bj", 3}, {"psa", 70 + seed},
          {"psb", 80}, {"za", zp}, {"zb", 5}, {"y", 192}, {"yi", 8}, {"yj", 1}, {"ni", 4}, {"nj", 8}, {"zp", 7},
          {"lo", -128}, {"hi", 127});
      // Pooling: each reads what the one before wrote.
      for (int k = 0; k < 5; ++k)
        ADD(&b.p, "VMAXQ", {"a", 3 * k}, {"ai", 8}, {"aj", 2}, {"y", 224}, {"yi", 4}, {"yj", 1}, {"ni", 4}, {"nj", 4},
            {"acc", k > 0});
      ADD(&b.p, "VSUMQ", {"a", 5}, {"ai", 8}, {"aj", 1}, {"y", 110}, {"ni", 4}, {"nj", 7}, {"acc", 0});
      ADD(&b.p, "VSUMQ", {"a", 50}, {"ai", 0}, {"aj", 0}, {"y", 110}, {"ni", 4}, {"nj", 7}, {"acc", 1});
      ADD(&b.p, "VDQ", {"a", 5}, {"ai", 8}, {"aj", 1}, {"ps", 40}, {"za", zp}, {"y", 90}, {"yi", 8}, {"yj", 1},
          {"ni", 2}, {"nj", 8});
      store_all(&b);
      run_and_compare(&b);
      bench_close(&b);
    }
}

// A command may follow close behind the one before where it keeps the same rows in the same order; others wait. In each
// of these the second row that is read is one of the last that the command before writes.
static void test_kept_rows(void** state) {
  (void)state;
  static const struct {
    int ni, nj, yi, yj, row, kept_yi, kept_yj;
  } cases[] = {{1, 32, 0, 1, 0, 0, 1}, {1, 32, 0, 1, 30, 0, 1}, {1, 32, 0, 1, 0, 0, 31}, {12, 2, 2, 1, 0, 23, 1}};
  for (int n = 0; n < size_count; ++n)
    for (size_t k = 0; k < sizeof cases / sizeof *cases; ++k) {
      bench b;
      bench_open(&b, sizes[n], NULL, 10 + k);
      load_all(&b);
      ADD(&b.p, "VMAXQ", {"a", 0}, {"ai", 3}, {"aj", 1}, {"y", 224}, {"yi", cases[k].yi}, {"yj", cases[k].yj},
          {"ni", cases[k].ni}, {"nj", cases[k].nj}, {"acc", 0});
      ADD(&b.p, "VMAXQ", {"a", 64}, {"ai", 3}, {"aj", 1}, {"y", 224 + cases[k].row}, {"yi", cases[k].kept_yi},
          {"yj", cases[k].kept_yj}, {"ni", cases[k].ni}, {"nj", cases[k].nj}, {"acc", 1});
      store_all(&b);
      run_and_compare(&b);
      bench_close(&b);
    }
}

// Extents that need all their bits.
static void test_long_commands(void** state) {
  (void)state;
  for (int n = 0; n < size_count; ++n)
    for (int turned = 0; turned < 2; ++turned) {
      bench b;
      bench_open(&b, sizes[n], NULL, 6);
      load_all(&b);
      int ni = turned ? 4095 : 1, nj = turned ? 1 : 4095;
      ADD(&b.p, "WLD", {"src", 100}, {"sk", 1});
      ADD(&b.p, "MMA", {"a", 7}, {"c", 30}, {"ni", ni}, {"nj", nj}, {"acc", 1});
      ADD(&b.p, "VSUMQ", {"a", 5}, {"y", 110}, {"ni", ni}, {"nj", nj}, {"acc", 0});
      store_all(&b);
      run_and_compare(&b);
      bench_close(&b);
    }
}

// What transformers do with codes: each instruction, tables of commands close behind each other, sums row upon row.
static void test_transformers(void** state) {
  (void)state;
  for (int n = 0; n < size_count; ++n)
    for (uint64_t seed = 0; seed < 8; ++seed) {
      bench b;
      bench_open(&b, sizes[n], seed & 1 ? "random=1,stall=20" : NULL, 31 * seed);
      load_all(&b);
      int za = (int)(draw(&b) % 256) - 128, zp = (int)(draw(&b) % 256) - 128, rows = seed & 2 ? 3 : 9;
      for (int k = 0; k < 5; ++k) { // tables take turns
        ADD(&b.p, "VLUT", {"a", 40 * k}, {"ai", rows}, {"aj", 1}, {"pt", 7 * k}, {"y", 256 + 32 * k}, {"yi", rows},
            {"yj", 1}, {"ni", 3}, {"nj", rows});
        ADD(&b.p, "VLUTQ", {"a", 30 * k}, {"ai", 0}, {"aj", 1}, {"pt", 64 - 7 * k}, {"b", 3 * k}, {"bi", 1}, {"bj", 0},
            {"y", 416 + 16 * k}, {"yi", 3}, {"yj", 1}, {"ni", 2}, {"nj", 3}, {"zp", zp}, {"lo", -120}, {"hi", 100});
      }
      static const char* const sums[] = {"VRMAXQ", "VRSUMQ", "VRSQQ", "VRLUT"};
      for (int k = 0; k < 4; ++k)
        for (int part = 0; part < 3; ++part) { // fields that an instruction lacks are 0
          pb_command* c = ADD(&b.p, sums[k], {"a", 25 * k + part}, {"aj", 3}, {"y", 100 + 7 * k}, {"yj", 1}, {"ni", 1},
                              {"nj", 7}, {"acc", part > 0}, {"nn", part == 2 ? 1 + (int)(seed % 7) : sizes[n]});
          if (pb_insn_field(c->insn, "za") >= 0) c->values[pb_insn_field(c->insn, "za")] = za;
          if (pb_insn_field(c->insn, "pt") >= 0) c->values[pb_insn_field(c->insn, "pt")] = 40;
        }
      // More rows than can be under way: each adds to what the command before it wrote.
      for (int part = 0; part < 3; ++part)
        ADD(&b.p, "VRSUMQ", {"a", part}, {"aj", 2}, {"y", 66}, {"yj", 1}, {"ni", 1}, {"nj", 30}, {"acc", part > 0},
            {"nn", sizes[n]});
      ADD(&b.p, "VBELOW", {"a", 5}, {"ai", 4}, {"aj", 1}, {"b", 100}, {"bi", 1}, {"y", 240}, {"yi", 4}, {"yj", 1},
          {"ni", 3}, {"nj", 4});
      ADD(&b.p, "VSUBQ", {"a", 9}, {"ai", 1}, {"aj", 6}, {"za", za}, {"b", 2}, {"bi", 1}, {"y", 96}, {"yi", 1},
          {"yj", 1}, {"ni", 2}, {"nj", 1});
      ADD(&b.p, "VNQ", {"a", 1}, {"ai", 5}, {"aj", 1}, {"b", 30}, {"bi", 1}, {"ps", 50}, {"pb", 51}, {"y", 200},
          {"yi", 5}, {"yj", 1}, {"ni", 4}, {"nj", 5}, {"zp", zp}, {"lo", -128}, {"hi", 127});
      // Weights by columns, both zero points, into either bank.
      for (int w = 0; w < 2; ++w) ADD(&b.p, w ? "WLD" : "WLDT", {"src", 90 + w}, {w ? "sk" : "sn", 1 + w}, {"w", w});
      for (int w = 0; w < 2; ++w)
        ADD(&b.p, "MMA", {"a", 11}, {"aj", 3}, {"c", 40 + 10 * w}, {"cj", 1}, {"ni", 1}, {"nj", 9}, {"w", w},
            {"acc", w}, {"zx", za}, {"zw", w ? 0 : zp});
      store_all(&b);
      run_and_compare(&b);
      bench_close(&b);
    }
}

// Windows of channels: lines in banks of their own, in one, and the same line; weights across two banks; commands that
// follow each other on the same rows.
static void test_windows(void** state) {
  (void)state;
  static const char* const names[] = {"MMC3", "MMC3X2", "MMC5", "MMC5X2"};
  for (int n = 0; n < size_count; ++n)
    for (int k = 0; k < 4; ++k)
      for (int pitch = 0; pitch < 17; ++pitch) {
        bench b;
        bench_open(&b, sizes[n], NULL, 30 + (uint64_t)pitch);
        load_all(&b);
        int d = sizes[n], nr = pb_chip_insn(b.dev.chip, names[k])->dims[3].max, nt = 3 + k / 2 * 2;
        for (int w = 0; w < 2; ++w) ADD(&b.p, "WLD", {"src", 100 + w * d}, {"sk", 1 + w}, {"w", w});
        ADD(&b.p, "WLDR", {"src", 60}, {"sk", 3}, {"nk", d / 2}, {"w", d - d / 4});
        for (int turn = 0; turn < 2; ++turn)
          ADD(&b.p, names[k], {"a", 3 + turn}, {"ai", 20}, {"ar", pitch}, {"c", 4}, {"ci", 8}, {"cj", 1}, {"ni", 3},
              {"nj", 7}, {"nr", turn ? 1 : nr}, {"nt", turn ? nt - 1 : nt}, {"w", turn ? 5 : d - 2},
              {"zx", 9 * pitch - 70}, {"acc", turn});
        ADD(&b.p, "MMA", {"a", 40}, {"ai", 9}, {"aj", 1}, {"c", 4}, {"ci", 5}, {"cj", 1}, {"ni", 3}, {"nj", 5},
            {"w", 1}, {"acc", 1});
        ADD(&b.p, names[k], {"a", 7}, {"ai", 1}, {"ar", 11}, {"c", 4}, {"ni", 5}, {"nj", 1}, {"ci", 0}, {"nr", nr},
            {"nt", 1}, {"w", 1}, {"acc", 1});
        store_all(&b);
        run_and_compare(&b);
        bench_close(&b);
      }
}

// Quotients and roots at their corners: the two nearest halves, subnormals in and out, powers of two, the largest.
static void test_division_corners(void** state) {
  (void)state;
  static const uint32_t corners[] = {0x00000000, 0x80000000, 0x00000001, 0x00000002, 0x00000003, 0x007fffff,
                                     0x00800000, 0x00800001, 0x00ffffff, 0x3f7fffff, 0x3f800000, 0x3f800001,
                                     0x3fffffff, 0x40000000, 0x40400000, 0x7f7fffff, 0x7f800000, 0x7fc00000,
                                     0xff800000, 0xbf800001, 0x34000000, 0x4b000001, 0x7effffff, 0x01000001};
  enum { CORNERS = sizeof corners / sizeof *corners, LANES = 16, GROUPS = 2 };
  bench b;
  bench_open(&b, LANES, NULL, 5);
  // Rows 0 to 23: a corner in all lanes. Rows 24 and 25: all corners.
  for (int row = 0; row < CORNERS + GROUPS; ++row)
    for (int l = 0; l < LANES; ++l) {
      uint32_t word = corners[row < CORNERS ? row : ((row - CORNERS) * LANES + l) % CORNERS];
      memcpy(b.r.dram + b.p.args[IN_WORDS] + 4 * (row * LANES + l), &word, 4);
    }
  device_fill(&b.dev, &b.p, b.r.dram);
  load_all(&b);
  for (int group = 0; group < GROUPS; ++group)
    ADD(&b.p, "VDIV", {"a", 0}, {"aj", 1}, {"b", CORNERS + group}, {"y", 30 + group * CORNERS}, {"yj", 1}, {"ni", 1},
        {"nj", CORNERS});
  ADD(&b.p, "VSQRT", {"a", CORNERS}, {"aj", 1}, {"y", 90}, {"yj", 1}, {"ni", 1}, {"nj", GROUPS});
  store_all(&b);
  run_and_compare(&b);
  bench_close(&b);
}

// Significands one after the other, of both parities of the exponent: every way in which a root can round.
static void test_many_roots(void** state) {
  (void)state;
  for (uint32_t from = 0; from < 8; ++from) {
    bench b;
    bench_open(&b, 16, NULL, 5);
    for (int k = 0; k < 64 * 16; ++k) {
      uint32_t square = 4097 + (from * 64 * 16 + (uint32_t)k) / 2 * 3; // near squares of numbers of 12 bits and more
      float x = (float)square * (float)square + (k & 1 ? -1.0f : 1.0f), y = 1.0f + (float)k * 0x1p-23f;
      memcpy(b.r.dram + b.p.args[IN_WORDS] + 4 * k, from & 1 ? &y : &x, 4);
    }
    device_fill(&b.dev, &b.p, b.r.dram);
    load_all(&b);
    ADD(&b.p, "VSQRT", {"a", 0}, {"aj", 1}, {"y", 64}, {"yj", 1}, {"ni", 1}, {"nj", 32});
    ADD(&b.p, "VDIV", {"a", 0}, {"aj", 1}, {"b", 32}, {"bj", 1}, {"y", 96}, {"yj", 1}, {"ni", 1}, {"nj", 32});
    store_all(&b);
    run_and_compare(&b);
    bench_close(&b);
  }
}

// More tokens than a counter holds: the giver must wait, and none may be lost.
static void test_full_counter(void** state) {
  (void)state;
  bench b;
  bench_open(&b, 16, NULL, 3);
  unsigned l0 = 1u << 0, l1 = 1u << 1, wx = 1u << 2;
  int d = 16;
  for (int k = 0; k < 150; ++k)
    ADD(&b.p, "LDS0", {"arg", IN_CODES}, {"ni", 1}, {"nj", 1}, {"nb", d}, {"ihi", 1}, {"jhi", 1})->signals = wx;
  // A long load keeps the taker waiting.
  ADD(&b.p, "LDS1", {"arg", IN_CODES}, {"ni", 4000}, {"nj", 1}, {"nb", d}, {"loc", 1024}, {"ihi", 4000}, {"jhi", 1})
      ->signals = wx;
  for (int k = 0; k < 150; ++k) ADD(&b.p, "WLD", {"src", 0}, {"sk", 0})->waits = l0 | (k == 0 ? l1 : 0);
  assert_int_equal(device_run(&b.dev, &b.p, 100000), 0);
  // One too many taken: the last waits for ever.
  ADD(&b.p, "WLD", {"src", 0}, {"sk", 0})->waits = l0;
  assert_int_not_equal(device_run(&b.dev, &b.p, 100000), 0);
  bench_close(&b);
}

// As many products of one row as are on their way through the array, and none may complete: each still has its place.
static void test_full_array(void** state) {
  (void)state;
  for (int n = 0; n < size_count; ++n) {
    bench b;
    bench_open(&b, sizes[n], NULL, 4);
    unsigned l1 = 1u << 1, wx = 1u << 2, mx = 1u << 3, vx = 1u << 4;
    ADD(&b.p, "WLD", {"src", 0}, {"sk", 0})->signals = mx;
    for (int k = 0; k < 600; ++k) {
      pb_command* c = ADD(&b.p, "MMA", {"a", k}, {"c", k % 64}, {"ni", 1}, {"nj", 1});
      c->waits = k == 0 ? wx : 0;
      c->signals = k % 3 == 0 ? vx : 0; // one for another would be seen
    }
    // A long load keeps the taker waiting.
    ADD(&b.p, "LDS1", {"arg", IN_CODES}, {"ni", 4000}, {"nj", 1}, {"nb", 16}, {"loc", 8192}, {"ihi", 4000}, {"jhi", 1})
        ->signals = vx;
    for (int k = 0; k < 200; ++k)
      ADD(&b.p, "VI2F", {"a", k % 64}, {"y", 64}, {"ni", 1}, {"nj", 1})->waits = mx | (k == 0 ? l1 : 0);
    assert_int_equal(device_run(&b.dev, &b.p, 100000), 0);
    ADD(&b.p, "VI2F", {"a", 0}, {"y", 64}, {"ni", 1}, {"nj", 1})->waits = mx; // one too many
    assert_int_not_equal(device_run(&b.dev, &b.p, 100000), 0);
    bench_close(&b);
  }
}

static void test_hang_is_reported(void** state) {
  (void)state;
  bench b;
  bench_open(&b, 16, NULL, 3);
  load_all(&b);
  ADD(&b.p, "WLD", {"src", 0}, {"sk", 1});
  ADD(&b.p, "MMA", {"a", 0}, {"aj", 1}, {"ni", 1}, {"nj", 4})->waits = 1u << 4 | 1u << 2;
  assert_int_not_equal(device_run(&b.dev, &b.p, 5000), 0);
  const char* fault = b.dev.ops->last_fault(b.dev.handle);
  assert_non_null(strstr(fault, "not done after 5000 cycles"));
  assert_non_null(strstr(fault, "MX: 0 commands completed, command 0 waits for WX VX"));
  assert_null(strstr(fault, "L0:"));
  // The device is as good as new.
  b.p.count = 0;
  load_all(&b);
  store_all(&b);
  run_and_compare(&b);
  bench_close(&b);
}

static void test_faults(void** state) {
  (void)state;
  bench b;
  bench_open(&b, 16, NULL, 3);
  b.p.args[9] = 0x70000000;
  ADD(&b.p, "LDS0", {"arg", 9}, {"ni", 1}, {"nj", 1}, {"nb", 16}, {"ihi", 1}, {"jhi", 1});
  assert_int_not_equal(device_run(&b.dev, &b.p, 5000), 0);
  assert_non_null(strstr(b.dev.ops->last_fault(b.dev.handle), "0x70000000, which is not allocated"));
  // A command in the wrong queue.
  uint64_t address = device_buffer(&b.dev, 32);
  uint8_t bytes[32] = {0xee};
  assert_int_equal(b.dev.ops->copy_in(b.dev.handle, address, bytes, 32), 0);
  pb_submission kernel = {.queue_count = QUEUES, .stream = {0, 0, 0, 0, address}, .count = {0, 0, 0, 0, 1}};
  assert_int_equal(b.dev.ops->submit(b.dev.handle, &kernel), 0);
  assert_int_not_equal(b.dev.ops->wait(b.dev.handle), 0);
  assert_string_equal(b.dev.ops->last_fault(b.dev.handle), "command 0 of queue VX is not an instruction of that queue");
  assert_int_not_equal(b.dev.ops->wait(b.dev.handle), 0); // nothing was submitted
  assert_int_not_equal(b.dev.ops->copy_in(b.dev.handle, 0x60000000, bytes, 32), 0);
  pb_device* none;
  static const char* const bad[] = {"latency", "latency=", "latency=0", "latency=x",
                                    "speed=3", "random=2", "stall=100", "powered=2"};
  for (size_t n = 0; n < sizeof bad / sizeof *bad; ++n) assert_int_not_equal(b.dev.ops->open(bad[n], &none), 0);
  bench_close(&b);
}

typedef struct events {
  int count[QUEUES];
  uint64_t last_end[QUEUES];
  bool ordered;
} events;

static void on_event(void* user, uint32_t queue, uint32_t index, uint64_t start, uint64_t end) {
  events* e = user;
  e->ordered &= (int)index == e->count[queue]++ && end >= e->last_end[queue] && start < end;
  e->last_end[queue] = end;
}

static void test_trace(void** state) {
  (void)state;
  bench b;
  bench_open(&b, 16, NULL, 3);
  events e = {.ordered = true};
  b.dev.ops->set_trace(b.dev.handle, on_event, &e);
  load_all(&b);
  store_all(&b);
  run_and_compare(&b);
  assert_true(e.ordered);
  assert_int_equal(e.count[0], 2);
  assert_int_equal(e.count[5], 2);
  assert_int_equal(device_counter(&b.dev, "dram.read"), SPAD_ROWS * 16 + ACC_ROWS * 64);
  assert_int_equal(device_counter(&b.dev, "dram.write"), SPAD_ROWS * 16 + ACC_ROWS * 64);
  assert_int_equal(device_counter(&b.dev, "dram.fetch"), 4 * 32);
  bench_close(&b);
}

// Cycles of a program beyond what a program with nothing to do in the unit under test takes.
static uint64_t cycles_of(bench* b) {
  uint64_t before = device_counter(&b->dev, "cycles");
  program_order(&b->p);
  if (device_run(&b->dev, &b->p, 1000000)) fail_msg("%s", b->dev.ops->last_fault(b->dev.handle));
  return device_counter(&b->dev, "cycles") - before;
}

#define ASSERT_CYCLES(b, ideal, slack)                                                                                 \
  do {                                                                                                                 \
    uint64_t taken = cycles_of(b);                                                                                     \
    if (taken < (ideal) || taken > (ideal) + (slack))                                                                  \
      fail_msg("%llu cycles, ideal %d", (unsigned long long)taken, (int)(ideal));                                      \
    (b)->p.count = 0;                                                                                                  \
  } while (0)

// One row or beat a cycle, with no gap between commands; the slack is fetch, pipeline and the last acknowledgement.
// Commands that keep the rows of the one before follow it closely.
static void test_kept_rates(void** state) {
  (void)state;
  for (int n = 0; n < size_count; ++n) {
    bench b;
    bench_open(&b, sizes[n], NULL, 3);
    for (int k = 0; k < 8; ++k)
      ADD(&b.p, "VMAXQ", {"a", 300 * k}, {"aj", 1}, {"y", 4000}, {"yj", 1}, {"ni", 1}, {"nj", 200}, {"acc", 1});
    ASSERT_CYCLES(&b, 1600, 150);
    bench_close(&b);
  }
}

static void test_rates(void** state) {
  (void)state;
  bench b;
  bench_open(&b, 16, NULL, 3);
  for (int k = 0; k < 8; ++k)
    ADD(&b.p, "MMA", {"aj", 1}, {"cj", 1}, {"ni", 4}, {"nj", 100}, {"ai", 100}, {"ci", 100}, {"acc", 1});
  ASSERT_CYCLES(&b, 3200, 140);
  for (int k = 0; k < 8; ++k)
    ADD(&b.p, "VRQ", {"a", 0}, {"aj", 1}, {"pb", 200}, {"ps", 201}, {"y", 300 * k}, {"yj", 1}, {"ni", 1}, {"nj", 200},
        {"lo", 0}, {"hi", 9});
  ASSERT_CYCLES(&b, 1600, 150);
  for (int k = 0; k < 8; ++k) // both operands start in the same bank
    ADD(&b.p, "VADDQ", {"a", 0}, {"aj", 1}, {"b", 400}, {"bj", 1}, {"psa", 200}, {"psb", 201}, {"y", 800 + 200 * k},
        {"yj", 1}, {"ni", 1}, {"nj", 200});
  ASSERT_CYCLES(&b, 1600, 160);
  for (int k = 0; k < 4; ++k)
    ADD(&b.p, "VMUL", {"a", 0}, {"aj", 1}, {"b", 200}, {"bj", 1}, {"y", 400 + 200 * k}, {"yj", 1}, {"ni", 1},
        {"nj", 200});
  ASSERT_CYCLES(&b, 800, 150);
  // A long run, then runs of a beat, then short unaligned ones, across commands.
  for (int k = 0; k < 4; ++k)
    ADD(&b.p, "LDS0", {"arg", IN_CODES}, {"ni", 1}, {"nj", 1}, {"nb", 4000}, {"ihi", 1}, {"jhi", 1});
  ASSERT_CYCLES(&b, 1000, 240);
  for (int k = 0; k < 4; ++k)
    ADD(&b.p, "LDS0", {"arg", IN_CODES}, {"ni", 1}, {"nj", 250}, {"nb", 16}, {"sj", 32}, {"lj", 16}, {"ihi", 1},
        {"jhi", 250});
  ASSERT_CYCLES(&b, 1000, 240);
  for (int k = 0; k < 4; ++k)
    ADD(&b.p, "LDS0", {"arg", IN_CODES}, {"off", 1}, {"ni", 1}, {"nj", 250}, {"nb", 7}, {"sj", 16}, {"loc", 4},
        {"lj", 16}, {"ihi", 1}, {"jhi", 250});
  ASSERT_CYCLES(&b, 1000, 240);
  // Rows of 7 bytes that lie one behind the other, in rows of lanes: some of them in two beats.
  for (int k = 0; k < 4; ++k)
    ADD(&b.p, "LDR0", {"arg", IN_CODES}, {"ni", 1}, {"nj", 250}, {"nb", 16}, {"sj", 7}, {"lj", 16}, {"ihi", 1},
        {"bhi", 7});
  ASSERT_CYCLES(&b, 1375, 240);
  for (int k = 0; k < 4; ++k)
    ADD(&b.p, "STS", {"arg", OUT_CODES}, {"ni", 1}, {"nj", 250}, {"nb", 16}, {"sj", 16}, {"lj", 16});
  ASSERT_CYCLES(&b, 1000, 240);
  for (int k = 0; k < 4; ++k)
    ADD(&b.p, "LDS0", {"arg", IN_CODES}, {"ni", 1}, {"nj", 250}, {"nb", 16}, {"lj", 16}); // an empty box: fill only
  ASSERT_CYCLES(&b, 1000, 140);
  bench_close(&b);
}

// With an argument: of one model alone, what all models are asked.
int main(int argc, char** argv) {
  const struct CMUnitTest of_each[] = {
      cmocka_unit_test(test_windows),      cmocka_unit_test(test_matrix_product), cmocka_unit_test(test_movers),
      cmocka_unit_test(test_vector),       cmocka_unit_test(test_codes),          cmocka_unit_test(test_kept_rows),
      cmocka_unit_test(test_transformers), cmocka_unit_test(test_full_array),     cmocka_unit_test(test_long_commands),
      cmocka_unit_test(test_kept_rates),
  };
  const struct CMUnitTest of_16[] = {
      cmocka_unit_test(test_division_corners),
      cmocka_unit_test(test_many_roots),
      cmocka_unit_test(test_full_counter),
      cmocka_unit_test(test_hang_is_reported),
      cmocka_unit_test(test_faults),
      cmocka_unit_test(test_trace),
      cmocka_unit_test(test_rates),
  };
  if (argc > 1) {
    sizes[0] = atoi(argv[1]);
    size_count = 1;
  }
  int failed = cmocka_run_group_tests(of_each, NULL, NULL);
  return argc > 1 ? failed : failed + cmocka_run_group_tests(of_16, NULL, NULL);
}
