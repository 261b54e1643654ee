// Codes of 4 bits in the chip's own memories: edge_npu_packed.td, whose array's weights lie two in a byte in its SRAM.
// And those that come as a palette's, or as places of two of four: edge_npu_palette.td, edge_npu_sparse.td.
#include "kernel.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

enum { N = 32, HALVES = N * N / 2, WORDS = 3 * N, ROW = 5 };

static const char* const words = "arg=1 off=0 si=0 sj=0 ni=1 nj=1 nb=96 loc=128 li=0 lj=0";
static const char* const input = "arg=2 off=0 si=0 sj=0 ni=1 nj=1 nb=32 loc=4096 li=0 lj=0 ilo=0 ihi=1 jlo=0 jhi=1";
static const char* const tile = "arg=0 off=0 si=0 sj=0 ni=1 nj=1 nb=1023 loc=64 li=0 lj=0"; // but for the last code
static const char* const product = "bank=1 keep=0 a=128 ai=1 aj=1 c=0 ci=1 cj=1 ni=1 nj=1";
static const char* const scale = "c=0 ci=1 cj=1 pb=1 pf=2 ps=3 lo=-128 y=256 yi=1 yj=1 ni=1 nj=1";
static const char* const output = "arg=3 off=0 si=0 sj=0 ni=1 nj=1 nb=32 loc=8192 li=0 lj=0";

static uint8_t code(int k, int n) { return (uint8_t)((k * 5 + n * 3) % 16); }

// Weights of every code; biases of 0, factors of 1, shifts of 0; a 1 that picks row ROW of the weights. Returns where
// its codes go.
static uint64_t open_weights(kernel* k) {
  static uint8_t packed[HALVES];
  static int32_t parameters[WORDS];
  static int8_t x[N];
  for (int e = 0; e < N * N; e += 2) packed[e / 2] = (uint8_t)(code(e / N, e % N) | code(e / N, e % N + 1) << 4);
  for (int n = 0; n < N; ++n) parameters[N + n] = 1;
  x[ROW] = 1;
  kernel_open(k, PB_SOURCE_DIR "/tests/chips/edge_npu_packed.td", NULL);
  kernel_constants(k, packed, sizeof packed);
  kernel_constants(k, parameters, sizeof parameters);
  kernel_argument(k, x, sizeof x);
  return kernel_argument(k, NULL, N);
}

static void put_product(kernel* k, const char* widening) {
  put(k, "PARAMETERS", words, "", "OU");
  put(k, "IN", input, "", "MX");
  put(k, "PACKED_WEIGHTS", tile, "", "TL");
  put(k, widening, "bank=1 src=4 step=1", "WT", "MX");
  put(k, "MULTIPLY", product, "LD TL", "OU");
  put(k, "SCALE", scale, "WT MX", "ST");
  put(k, "OUT", output, "OU", "");
}

// The array's command reads them in halves: with a sign, and without. Their bytes are half as many as their number.
static void codes_are_widened(void** state) {
  (void)state;
  for (int is_unsigned = 0; is_unsigned < 2; ++is_unsigned) {
    kernel k;
    int8_t y[N];
    uint64_t to = open_weights(&k);
    put_product(&k, is_unsigned ? "UNSIGNED_TILE" : "SMALL_TILE");
    if (kernel_run(&k)) fail_msg("%s", k.ops->last_fault(k.device));
    assert_int_equal(k.ops->copy_out(k.device, to, y, sizeof y), 0);
    for (int n = 0; n < N; ++n) assert_int_equal(y[n], is_unsigned ? code(ROW, n) : (code(ROW, n) ^ 8) - 8);
    assert_int_equal(kernel_counter(&k, "constants.read"), HALVES + 4 * WORDS);
    kernel_close(&k);
  }
}

// Of an odd number the half behind comes too: whole bytes are copied, row by row.
static void whole_bytes_are_copied(void** state) {
  (void)state;
  kernel k;
  uint8_t y[12];
  uint64_t to = open_weights(&k);
  put(&k, "PACKED_WEIGHTS", "arg=0 off=3 si=16 sj=5 ni=3 nj=2 nb=3 loc=100 li=4 lj=2", "", "ST");
  put(&k, "OUT", "arg=3 off=0 si=0 sj=0 ni=1 nj=1 nb=12 loc=100 li=0 lj=0", "WT", "");
  if (kernel_run(&k)) fail_msg("%s", k.ops->last_fault(k.device));
  assert_int_equal(k.ops->copy_out(k.device, to, y, sizeof y), 0);
  for (int e = 0; e < 12; ++e) {
    int at = 3 + e / 4 * 16 + e / 2 % 2 * 5 + e % 2, k_ = 2 * at / N, n = 2 * at % N;
    assert_int_equal(y[e], code(k_, n) | code(k_, n + 1) << 4);
  }
  kernel_close(&k);
}

static void codes_must_be_there(void** state) {
  (void)state;
  kernel k;
  open_weights(&k);
  put(&k, "PACKED_WEIGHTS", "arg=0 off=0 si=0 sj=0 ni=1 nj=1 nb=1022 loc=64 li=0 lj=0", "", "TL");
  put(&k, "SMALL_TILE", "bank=1 src=4 step=1", "WT", "");
  kernel_refused(&k, "operand 's' reads bytes [64, 576) of SRAM; byte 575 is uninitialised");
}

static void both_memories_are_bounded(void** state) {
  (void)state;
  kernel k;
  open_weights(&k);
  put(&k, "PACKED_WEIGHTS", "arg=0 off=1 si=0 sj=0 ni=1 nj=1 nb=1023 loc=64 li=0 lj=0", "", "");
  kernel_refused(&k, "operand 'src' touches bytes");
  open_weights(&k);
  put(&k, "PACKED_WEIGHTS", "arg=0 off=0 si=0 sj=0 ni=1 nj=1 nb=1023 loc=523777 li=0 lj=0", "", "");
  kernel_refused(&k, "operand 'dst' touches bytes [523777, 524289) of SRAM, which has 524288");
}

// Bytes that codes lie in are bytes of others too: who writes them and who reads them are put in order.
static void codes_are_ordered(void** state) {
  (void)state;
  kernel k;
  open_weights(&k);
  put(&k, "PACKED_WEIGHTS", tile, "", "TL");
  put(&k, "SMALL_TILE", "bank=1 src=4 step=1", "WT", "");
  put(&k, "IN", "arg=2 off=0 si=0 sj=0 ni=1 nj=1 nb=1 loc=575 li=0 lj=0 ilo=0 ihi=1 jlo=0 jhi=1", "", "");
  kernel_refused(&k, "race");
}

// ---- a palette ----

static const char* const values = "arg=0 off=0 si=0 sj=0 ni=1 nj=1 nb=64 loc=0 li=0 lj=0"; // of four, all of the table
static const char* const coded = "arg=1 off=0 si=0 sj=0 ni=1 nj=1 nb=16 loc=64 li=0 lj=0 table=3";

static int8_t value(int k) { return (int8_t)(k * 37 - 90); }

static uint64_t open_palette(kernel* k) {
  static int8_t palettes[64];
  static uint8_t packed[8];
  for (int e = 0; e < 64; ++e) palettes[e] = value(e);
  for (int e = 0; e < 16; e += 2) packed[e / 2] = (uint8_t)((15 - e) | (14 - e) << 4);
  kernel_open(k, PB_SOURCE_DIR "/tests/chips/edge_npu_palette.td", NULL);
  kernel_constants(k, palettes, sizeof palettes);
  kernel_constants(k, packed, sizeof packed);
  return kernel_argument(k, NULL, 16);
}

static void codes_are_looked_up(void** state) {
  (void)state;
  kernel k;
  int8_t y[16];
  uint64_t to = open_palette(&k);
  put(&k, "VALUES", values, "", "");
  put(&k, "CODED_WEIGHTS", coded, "", "ST");
  put(&k, "OUT", "arg=2 off=0 si=0 sj=0 ni=1 nj=1 nb=16 loc=64 li=0 lj=0", "WT", "");
  if (kernel_run(&k)) fail_msg("%s", k.ops->last_fault(k.device));
  assert_int_equal(k.ops->copy_out(k.device, to, y, sizeof y), 0);
  for (int e = 0; e < 16; ++e) assert_int_equal(y[e], value(48 + 15 - e));
  assert_int_equal(kernel_counter(&k, "constants.read"), 64 + 8);
  kernel_close(&k);
}

static void palettes_must_be_there(void** state) {
  (void)state;
  kernel k;
  open_palette(&k);
  put(&k, "VALUES", "arg=0 off=0 si=0 sj=0 ni=1 nj=1 nb=63 loc=0 li=0 lj=0", "", "");
  put(&k, "CODED_WEIGHTS", coded, "", "");
  kernel_refused(&k, "operand 't' reads bytes [48, 64) of LUT; byte 63 is uninitialised");
}

// ---- two of four ----

enum { GROUPS = 3, LANES = 32 };

static int8_t kept(int group, int lane, int which) { return (int8_t)(group * 50 + lane * 2 + which * 7 - 90); }
static int place_of(int group, int lane, int which) { return (group + lane + which * (1 + lane % 3)) % 4; }

static void two_of_four_are_put_where_they_belong(void** state) {
  (void)state;
  kernel k;
  static int8_t two[2][GROUPS * LANES];
  static uint8_t places[GROUPS * LANES / 2];
  int8_t y[GROUPS * 4 * LANES];
  for (int e = 0; e < GROUPS * LANES; ++e) {
    int group = e / LANES, lane = e % LANES, code = place_of(group, lane, 0) | place_of(group, lane, 1) << 2;
    for (int p = 0; p < 2; ++p) two[p][e] = kept(group, lane, p);
    places[e / 2] = (uint8_t)(e % 2 ? places[e / 2] | code << 4 : code);
  }
  kernel_open(&k, PB_SOURCE_DIR "/tests/chips/edge_npu_sparse.td", NULL);
  for (int p = 0; p < 2; ++p) kernel_constants(&k, two[p], sizeof two[p]);
  kernel_constants(&k, places, sizeof places);
  uint64_t to = kernel_argument(&k, NULL, sizeof y);
  put(&k, "SPARSE_WEIGHTS", "arg=0 off=0 arg2=1 off2=0 arg3=2 off3=0 si=32 sp=16 ng=3 nb=32 loc=64 li=128 lj=32", "",
      "ST");
  put(&k, "OUT", "arg=3 off=0 si=0 sj=0 ni=1 nj=1 nb=384 loc=64 li=0 lj=0", "WT", "");
  if (kernel_run(&k)) fail_msg("%s", k.ops->last_fault(k.device));
  assert_int_equal(k.ops->copy_out(k.device, to, y, sizeof y), 0);
  for (int e = 0; e < GROUPS * 4 * LANES; ++e) {
    int group = e / LANES / 4, at = e / LANES % 4, lane = e % LANES;
    assert_int_equal(y[e], at == place_of(group, lane, 0)   ? kept(group, lane, 0)
                           : at == place_of(group, lane, 1) ? kept(group, lane, 1)
                                                            : 0);
  }
  assert_int_equal(kernel_counter(&k, "constants.read"), 2 * GROUPS * LANES + GROUPS * LANES / 2);
  kernel_close(&k);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(codes_are_widened),      cmocka_unit_test(whole_bytes_are_copied),
      cmocka_unit_test(codes_must_be_there),    cmocka_unit_test(both_memories_are_bounded),
      cmocka_unit_test(codes_are_ordered),      cmocka_unit_test(codes_are_looked_up),
      cmocka_unit_test(palettes_must_be_there), cmocka_unit_test(two_of_four_are_put_where_they_belong),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
