// Floats of 8 bits: f8npu.td and f8npu_e5m2.td round f32 to them and widen them, held to the type's definition.
#include "kernel.h"

#include "core/base/half.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

enum { N = 32, ROWS = 511, SOME = N * ROWS };

static const struct {
  const char* chip;
  pb_type type;
} chips[] = {{PB_SOURCE_DIR "/tests/chips/f8npu.td", PB_E4M3}, {PB_SOURCE_DIR "/tests/chips/f8npu_e5m2.td", PB_E5M2}};

static float from_bits(uint32_t bits) {
  float number;
  memcpy(&number, &bits, sizeof number);
  return number;
}

static void run(kernel* k, uint64_t from, void* to, uint64_t bytes) {
  if (kernel_run(k)) fail_msg("%s", k->ops->last_fault(k->device));
  assert_int_equal(k->ops->copy_out(k->device, from, to, bytes), 0);
}

// Words of which the lower 20 bits are none, about the middle between two codes, or just past it; every upper 12.
static uint32_t word(uint32_t number) {
  static const uint32_t below[] = {0, 1, 0x7ffff, 0x80000, 0x80001, 0xfffff, 0x100000 - 0x20000, 0x40000};
  return (number >> 3) << 20 | below[number & 7];
}

static void numbers_are_rounded(void** state) {
  (void)state;
  static float x[SOME];
  static uint8_t y[SOME];
  for (size_t c = 0; c < sizeof chips / sizeof *chips; ++c) {
    kernel k;
    kernel_open(&k, chips[c].chip, NULL);
    kernel_argument(&k, x, sizeof x);
    uint64_t to = kernel_argument(&k, NULL, sizeof y);
    for (uint32_t first = 0; first < 1 << 15; first += SOME) {
      for (uint32_t e = 0; e < SOME; ++e) x[e] = from_bits(word(first + e));
      assert_int_equal(k.ops->copy_in(k.device, k.args[0], x, sizeof x), 0);
      kernel_clear(&k);
      for (int part = 0; part < 2; ++part) {
        const char* rows =
            part ? "arg=0 off=32640 si=128 sj=0 ni=255 nj=1 nb=32 loc=32640 li=128 lj=0 ilo=0 ihi=255 jlo=0 jhi=1"
                 : "arg=0 off=0 si=128 sj=0 ni=255 nj=1 nb=32 loc=0 li=128 lj=0 ilo=0 ihi=255 jlo=0 jhi=1";
        put(&k, "IN_VEC", rows, "", "");
      }
      put(&k, "IN_VEC", "arg=0 off=65280 si=0 sj=0 ni=1 nj=1 nb=32 loc=65280 li=0 lj=0 ilo=0 ihi=1 jlo=0 jhi=1", "",
          "VX");
      put(&k, "ROUND", "y=0 yi=1 yj=0 ni=511 nj=1 a=0 ai=1 aj=0", "LD", "ST");
      put(&k, "OUT", "arg=1 off=0 si=32 sj=0 ni=255 nj=1 nb=32 loc=0 li=32 lj=0", "VX", "");
      put(&k, "OUT", "arg=1 off=8160 si=32 sj=0 ni=255 nj=1 nb=32 loc=8160 li=32 lj=0", "", "");
      put(&k, "OUT", "arg=1 off=16320 si=0 sj=0 ni=1 nj=1 nb=32 loc=16320 li=0 lj=0", "", "");
      run(&k, to, y, sizeof y);
      for (uint32_t e = 0; e < SOME; ++e) {
        uint16_t code = pb_narrow_of(chips[c].type, (double)x[e]);
        bool is_nan = x[e] != x[e]; // with its sign
        if (y[e] != code && !(is_nan && (y[e] & 0x7f) == (code & 0x7f)))
          fail_msg("0x%x is rounded to 0x%x, not 0x%x", word(first + e), y[e], code);
      }
    }
    kernel_close(&k);
  }
}

static void codes_are_widened(void** state) {
  (void)state;
  uint8_t x[256];
  float y[256];
  for (int code = 0; code < 256; ++code) x[code] = (uint8_t)code;
  for (size_t c = 0; c < sizeof chips / sizeof *chips; ++c) {
    kernel k;
    kernel_open(&k, chips[c].chip, NULL);
    kernel_argument(&k, x, sizeof x);
    uint64_t to = kernel_argument(&k, NULL, sizeof y);
    put(&k, "IN", "arg=0 off=0 si=0 sj=0 ni=1 nj=1 nb=256 loc=0 li=0 lj=0 ilo=0 ihi=1 jlo=0 jhi=1", "", "VX");
    put(&k, "WIDEN", "y=0 yi=1 yj=0 ni=8 nj=1 a=0 ai=1 aj=0", "LD", "ST");
    put(&k, "OUT_VEC", "arg=1 off=0 si=0 sj=0 ni=1 nj=1 nb=256 loc=0 li=0 lj=0", "VX", "");
    run(&k, to, y, sizeof y);
    for (int code = 0; code < 256; ++code) {
      float number = pb_narrow_number(chips[c].type, (uint16_t)code);
      if (number == number)
        assert_memory_equal(&y[code], &number, sizeof number);
      else
        assert_true(y[code] != y[code]);
    }
    kernel_close(&k);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(numbers_are_rounded), cmocka_unit_test(codes_are_widened)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
