// No field of a command gets two values: `check` refuses a description in which two windows share one, and what the
// check did not see the encoder finds. So the chip is changed behind the check's back.
#include "core/driver/compile.h"
#include "tdl/chip.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

typedef struct told {
  int code; // of the first error
  char text[512];
} told;

static void listen(void* user, bool error, int code, const char* text) {
  told* t = user;
  if (!error || t->code) return;
  t->code = code;
  snprintf(t->text, sizeof t->text, "%s", text);
}

// The digits for a chip whose instruction has the base of one operand in the field of another's.
static told compile_with(const char* name, int from, int to) {
  told t = {0};
  pb_diag diag = {.sink = listen, .user = &t};
  pb_chip* chip;
  assert_int_equal(pb_chip_find("simnpu", NULL, NULL, &chip), PB_OK);
  for (int i = 0; name && i < chip->insn_count; ++i) {
    pb_insn* insn = &chip->insns[i];
    if (!strcmp(insn->name, name)) insn->operands[to].base = insn->operands[from].base;
  }
  pb_compile_options options = {.model = PB_SOURCE_DIR "/tests/models/digits.onnx", .target = "simnpu", .chip = chip};
  pb_compiled compiled;
  pb_status status = pb_compile(&options, &diag, &compiled);
  assert_int_equal(status == PB_OK, t.code == 0);
  pb_compiled_free(&compiled);
  pb_chip_free(chip);
  return t;
}

static void fields_as_described(void** state) {
  (void)state;
  assert_int_equal(compile_with(NULL, 0, 0).code, 0);
}

static void one_field_for_two_bases(void** state) {
  (void)state;
  told t = compile_with("MMA", 0, 1);
  assert_int_equal(t.code, 4108);
  assert_non_null(strstr(t.text, "of MMA gets two values"));
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(fields_as_described), cmocka_unit_test(one_field_for_two_bases)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
