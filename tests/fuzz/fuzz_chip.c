// The reader of descriptions as JSON (an engine carries one) on any text; what it takes, the decoder can use.
#include "fuzz.h"

#include "tdl/chip.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void ignore(void* user, bool error, int code, const char* text) {
  (void)user, (void)error, (void)code, (void)text;
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  char* text = malloc(size + 1);
  if (!text) abort();
  memcpy(text, data, size);
  text[size] = 0;
  pb_diag diag = {.sink = ignore};
  pb_chip* chip = NULL;
  pb_status status = pb_chip_from_json(text, "fuzz", "", &diag, &chip);
  if (status == PB_OK) {
    uint8_t bytes[PB_COMMAND_BITS / 8] = {0}; // every instruction's bits with all fields 0
    pb_command command;
    pb_arena arena = {0};
    for (int i = 0; i < chip->insn_count; ++i) {
      memcpy(bytes, chip->insns[i].fixed_value, sizeof bytes);
      if (pb_decode(chip, bytes, &command, &diag) == PB_OK && !pb_disassemble(chip, &command, &arena)) abort();
    }
    pb_arena_free(&arena);
    pb_chip_free(chip);
  } else if (!diag.errors) {
    abort(); // a refusal says why
  }
  free(text);
  return 0;
}
