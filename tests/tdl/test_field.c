// What fields say, by all numbers that small ones can: the set is built here from the codes, one after the other.
#include "tdl/chip.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

enum { MOST_CODES = 512, BEYOND = 40 };

typedef struct said {
  int64_t numbers[MOST_CODES]; // rising
  int count;
} said;

static said said_by(const pb_field* field) {
  said s = {0};
  int64_t codes = (int64_t)1 << field->width, first = field->is_signed ? -codes / 2 : 0;
  for (int64_t code = first; code < first + codes; ++code) {
    int64_t number = code;
    if (field->form == PB_FORM_MINUS) number = code + field->by;
    if (field->form == PB_FORM_SCALED) number = code * field->by;
    if (field->form == PB_FORM_LOG2) {
      number = 1;
      for (int64_t k = 0; k < code; ++k) number *= 2;
    }
    s.numbers[s.count++] = number;
  }
  return s;
}

// Away from 0 where the number is none of them; the end behind which it lies.
static int64_t nearest(const said* s, int64_t number) {
  if (number >= 0)
    for (int k = 0; k < s->count; ++k)
      if (s->numbers[k] >= number) return s->numbers[k];
  if (number < 0)
    for (int k = s->count - 1; k >= 0; --k)
      if (s->numbers[k] <= number) return s->numbers[k];
  return s->numbers[number < 0 ? 0 : s->count - 1];
}

static void check(const pb_field* field) {
  said s = said_by(field);
  int64_t least = s.numbers[0], most = s.numbers[s.count - 1];
  assert_int_equal(pb_field_min(field), least);
  assert_int_equal(pb_field_max(field), most);
  int known = 0;
  for (int64_t n = least - BEYOND; n <= most + BEYOND; ++n) {
    bool is_said = false;
    for (int k = 0; k < s.count; ++k) is_said |= s.numbers[k] == n;
    known += is_said;
    assert_int_equal(pb_field_holds(field, n), is_said);
    assert_int_equal(pb_field_nearest(field, n), nearest(&s, n));
    if (is_said) assert_int_equal(pb_field_number(field, pb_field_code(field, n)), n);
  }
  assert_int_equal(known, s.count);
}

static void numbers_of_every_form(void** state) {
  (void)state;
  for (int width = 1; width <= 8; ++width)
    for (int is_signed = 0; is_signed < 2; ++is_signed) {
      pb_field field = {.name = "f", .width = width, .is_signed = is_signed, .by = 1};
      check(&field);
      for (field.by = 1; field.by < 4; ++field.by) {
        field.form = PB_FORM_MINUS;
        check(&field);
        field.form = PB_FORM_SCALED;
        check(&field);
      }
    }
  for (int width = 1; width <= 3; ++width)
    check(&(pb_field){.name = "f", .width = width, .form = PB_FORM_LOG2, .by = 1});
}

static void ends_of_wide_fields(void** state) {
  (void)state;
  assert_true(pb_field_max(&(pb_field){.width = 32, .by = 1}) == UINT32_MAX);
  assert_true(pb_field_max(&(pb_field){.width = 32, .is_signed = true, .by = 1}) == INT32_MAX);
  assert_true(pb_field_min(&(pb_field){.width = 32, .is_signed = true, .by = 1}) == INT32_MIN);
  assert_true(pb_field_max(&(pb_field){.width = 62, .by = 1}) == ((int64_t)1 << 62) - 1);
  assert_true(pb_field_max(&(pb_field){.width = 63, .by = 1}) == INT64_MAX);
  assert_true(pb_field_max(&(pb_field){.width = 64, .by = 1}) == INT64_MAX);
}

static void bits_of_a_float(void** state) {
  (void)state;
  const pb_field with_sign = {.width = 32, .is_signed = true, .by = 1}, without = {.width = 32, .by = 1};
  assert_true(pb_field_bits(&with_sign, 0xbf800000) == (int64_t)0xbf800000 - ((int64_t)1 << 32));
  assert_true(pb_field_bits(&with_sign, 0x3f800000) == 0x3f800000);
  assert_true(pb_field_bits(&without, 0xbf800000) == 0xbf800000);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(numbers_of_every_form), cmocka_unit_test(ends_of_wide_fields),
                                     cmocka_unit_test(bits_of_a_float)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
