// Numbers of all samples as expressions: what is one is found and right at other extents too, what is none is refused.
#include "core/open/open.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

static int64_t at_all(int which, int64_t b, int64_t s) {
  switch (which) {
  case 0:
    return 7;
  case 1:
    return s;
  case 2:
    return b * s;
  case 3:
    return 12 * b * s * s;
  case 4:
    return (b + 2) * (s + 3);
  case 5:
    return b + s - 1;
  case 6:
    return -s + 1;
  case 7:
    return (s + 1) / 2;
  case 8:
    return (s - 1) / 2 * 3 + 1;
  case 9:
    return (s + 1) / 2 * b;
  case 10:
    return (s + 6) / 7;
  case 11: // half of what a stride leaves over
    return ((s + 6) / 7 * 7 - s + 1) / 2;
  case 12: // of quotients, which were found before
    return 6 * ((s + 1) / 2) * ((s + 6) / 7) * b;
  case 13: // no expression from here on
    return s > 100 ? s : 100;
  case 14:
    return s % 7 * (s % 5);
  case 15:
    return s == 62 ? s + 1 : s; // one of the samples
  default:
    return s * s * s * s * s / 3;
  }
}

static int64_t value_of(const pb_sizes* sizes, int size, const int64_t* symbols) {
  enum { MOST = 2048 };
  int64_t values[MOST];
  assert_true(sizes->count < MOST);
  for (int k = 0; k <= size; ++k) assert_true(pb_size_value(sizes->items[k], symbols, values, &values[k]));
  return values[size];
}

static void finds_what_is_one(void** state) {
  (void)state;
  pb_symbols symbols = {0};
  pb_sizes sizes = {0};
  assert_int_equal(pb_symbol_named(&symbols, "b"), 0);
  assert_int_equal(pb_symbol_named(&symbols, "s"), 1);
  pb_fit* fit = pb_fit_start(&sizes, &symbols, &sizes.arena);
  for (int which = 0; which < 17; ++which) {
    int64_t numbers[PB_OPEN_SAMPLES];
    for (int k = 0; k < PB_OPEN_SAMPLES; ++k) {
      symbols.sample = k;
      numbers[k] = at_all(which, pb_symbol_extent(&symbols, 0), pb_symbol_extent(&symbols, 1));
    }
    int size = pb_fit_find(fit, numbers);
    if ((size >= 0) != (which < 13)) fail_msg("number %d: %d", which, size);
    for (int64_t b = 1; b < 9 && size >= 0; ++b)
      for (int64_t s = 1; s < 300; ++s)
        if (value_of(&sizes, size, (int64_t[]){b, s}) != at_all(which, b, s)) fail_msg("number %d", which);
  }
  pb_fit_end(fit);
  pb_sizes_free(&sizes);
  pb_symbols_free(&symbols);
}

// Half of what lies between s and a number that stands for a smaller one: where two of those numbers would do, and they
// are of two sizes, it is not known which one it is.
static void refuses_what_is_two(void** state) {
  (void)state;
  for (int atoms = 1; atoms <= 2; ++atoms) {
    pb_symbols symbols = {0};
    pb_sizes sizes = {0};
    int64_t s[PB_OPEN_SAMPLES], rough[2][PB_OPEN_SAMPLES], half[PB_OPEN_SAMPLES];
    bool moved = false;
    assert_int_equal(pb_symbol_named(&symbols, "s"), 0);
    pb_fit* fit = pb_fit_start(&sizes, &symbols, &sizes.arena);
    for (int k = 0; k < PB_OPEN_SAMPLES; ++k) {
      symbols.sample = k;
      s[k] = pb_symbol_extent(&symbols, 0);
      rough[0][k] = rough[1][k] = 7 + k * k % 11 * 3;
      half[k] = (s[k] - rough[0][k]) / 2;
      if (moved || (s[k] - rough[0][k]) % 2) continue;
      --rough[1][k]; // which is lost when it is halved
      moved = true;
    }
    int nine = pb_size_make(&sizes, PB_SIZE_MIN, pb_size_symbol(&sizes, 0), pb_size_number(&sizes, 9));
    int eleven = pb_size_make(&sizes, PB_SIZE_MIN, pb_size_symbol(&sizes, 0), pb_size_number(&sizes, 11));
    assert_false(pb_fit_add(fit, nine, s)); // the symbol's
    assert_true(pb_fit_add(fit, nine, rough[0]));
    assert_true(pb_fit_add(fit, nine, rough[0])); // its own
    assert_false(pb_fit_add(fit, eleven, rough[0]));
    if (atoms == 2) assert_true(pb_fit_add(fit, eleven, rough[1]));
    assert_int_equal(pb_fit_find(fit, half) >= 0, atoms == 1);
    pb_fit_end(fit);
    pb_sizes_free(&sizes);
    pb_symbols_free(&symbols);
  }
}

// As many symbols as there may be: each is told from all others, and so are products of two and sums of two.
static void finds_among_many(void** state) {
  (void)state;
  pb_symbols symbols = {0};
  pb_sizes sizes = {0};
  int64_t numbers[PB_OPEN_SAMPLES], at[PB_MOST_SYMBOLS], is;
  for (int k = 0; k < PB_MOST_SYMBOLS; ++k) {
    assert_int_equal(pb_symbol_named(&symbols, (char[]){'a', (char)('0' + k), 0}), k);
    at[k] = 1000 + 7 * k;
  }
  pb_fit* fit = pb_fit_start(&sizes, &symbols, &sizes.arena);
  for (int a = 0; a < PB_MOST_SYMBOLS; ++a)
    for (int b = 0; b < PB_MOST_SYMBOLS; b += 5)
      for (int how = 0; how < 3; ++how) {
        for (symbols.sample = 0; symbols.sample < PB_OPEN_SAMPLES; ++symbols.sample) {
          int64_t x = pb_symbol_extent(&symbols, a), y = pb_symbol_extent(&symbols, b);
          numbers[symbols.sample] = how == 0 ? 3 * x - 1 : how == 1 ? x * y + 2 : x + 2 * y;
        }
        int size = pb_fit_find(fit, numbers);
        assert_true(size >= 0);
        int64_t* values = calloc(sizes.count, sizeof *values);
        for (int k = 0; k <= size; ++k) assert_true(pb_size_value(sizes.items[k], at, values, &values[k]));
        is = how == 0 ? 3 * at[a] - 1 : how == 1 ? at[a] * at[b] + 2 : at[a] + 2 * at[b];
        assert_int_equal(values[size], is);
        free(values);
      }
  pb_fit_end(fit);
  pb_sizes_free(&sizes);
  pb_symbols_free(&symbols);
}

static void symbols_are_apart(void** state) {
  (void)state;
  pb_symbols s = {0};
  for (int k = 0; k < PB_MOST_SYMBOLS; ++k) assert_int_equal(pb_symbol_named(&s, (char[]){'a', (char)('0' + k), 0}), k);
  assert_int_equal(pb_symbol_named(&s, "i"), -1);
  for (s.sample = 0; s.sample < PB_SYMBOL_SAMPLES; ++s.sample)
    for (int k = 0; k < PB_MOST_SYMBOLS; ++k)
      for (int j = 0; j < k; ++j) assert_int_not_equal(pb_symbol_extent(&s, k), pb_symbol_extent(&s, j));
  for (int k = 0; k < PB_MOST_SYMBOLS; ++k) // all remainders of small divisors
    for (int by = 2; by <= 8; ++by) {
      unsigned seen = 0;
      for (s.sample = 0; s.sample < PB_SYMBOL_SAMPLES; ++s.sample) seen |= 1u << pb_symbol_extent(&s, k) % by;
      assert_int_equal(seen, (1u << by) - 1);
    }
  s.sample = 3;
  assert_true(pb_symbols_unify(&s, pb_symbol_extent(&s, 2), pb_symbol_extent(&s, 5)));
  assert_true(s.again);
  assert_int_equal(pb_symbol_extent(&s, 5), pb_symbol_extent(&s, 2));
  assert_false(pb_symbols_unify(&s, pb_symbol_extent(&s, 5), pb_symbol_extent(&s, 2)));
  assert_false(pb_symbols_unify(&s, 1, pb_symbol_extent(&s, 2)));
  pb_symbols_free(&s);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(finds_what_is_one), cmocka_unit_test(refuses_what_is_two),
                                     cmocka_unit_test(finds_among_many), cmocka_unit_test(symbols_are_apart)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
