// The errors that the description states for the chip's functions, over samples of all floats; and their special
// values.
#include "tdl/chip.h"
#include "tdl/function.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static double exact(const char* name, double x) {
  if (strcmp(name, "exp2") == 0) return exp2(x);
  return strcmp(name, "recip") == 0 ? 1 / x : 1 / sqrt(x);
}

// Distance from the exact value in units of the last place of its nearest float.
static double ulps(float got, double want) {
  float nearest = (float)want;
  if (isinf(nearest)) return isinf(got) || fabsf(got) > 0x1.fffff0p127f ? 0 : INFINITY;
  double unit = (double)nextafterf(fabsf(nearest), INFINITY) - fabs((double)nearest);
  return fabs((double)got - want) / unit;
}

static void test_stated_errors(void** state) {
  (void)state;
  pb_diag diag = {0};
  pb_chip* chip;
  assert_int_equal(pb_chip_find("simnpu", NULL, &diag, &chip), PB_OK);
  assert_int_equal(chip->function_count, 3);
  for (int n = 0; n < chip->function_count; ++n) {
    const pb_function* f = &chip->functions[n];
    double worst = 0;
    for (uint64_t bits = 0; bits < UINT64_C(1) << 32; bits += 1511) {
      uint32_t word = (uint32_t)bits;
      float x;
      memcpy(&x, &word, 4);
      double want = exact(f->name, x);
      float got = pb_function_eval(f->name, f->table_bits, f->degree, x);
      if (isnan(want))
        assert_true(isnan(got));
      else
        worst = fmax(worst, ulps(got, want));
    }
    assert_true(worst > 0.5 && worst <= f->max_ulp);
  }
  pb_chip_free(chip);
}

static void test_special_values(void** state) {
  (void)state;
  assert_true(pb_function_eval("exp2", 6, 2, 0) == 1 && pb_function_eval("exp2", 6, 2, -149) == 0x1p-149f);
  assert_true(pb_function_eval("exp2", 6, 2, -INFINITY) == 0 && isinf(pb_function_eval("exp2", 6, 2, 128)));
  assert_true(isinf(pb_function_eval("recip", 6, 2, -0.0f)) && signbit(pb_function_eval("recip", 6, 2, -0.0f)));
  assert_true(pb_function_eval("recip", 6, 2, INFINITY) == 0 && pb_function_eval("rsqrt", 6, 2, INFINITY) == 0);
  float nan = pb_function_eval("rsqrt", 6, 2, -1);
  uint32_t bits;
  memcpy(&bits, &nan, 4);
  assert_int_equal(bits, 0x7fc00000);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_stated_errors), cmocka_unit_test(test_special_values)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
