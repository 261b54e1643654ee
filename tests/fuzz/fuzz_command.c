// The decoder of commands on any bits; what it takes, the encoder gives back, but for bits that no field has.
#include "fuzz.h"

#include "tdl/chip.h"

#include <stdlib.h>
#include <string.h>

static void ignore(void* user, bool error, int code, const char* text) {
  (void)user, (void)error, (void)code, (void)text;
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static pb_chip* chip;
  if (!chip && pb_chip_find("simnpu", NULL, NULL, &chip) != PB_OK) abort();
  uint8_t bytes[PB_COMMAND_BITS / 8] = {0}, again[PB_COMMAND_BITS / 8];
  memcpy(bytes, data, size < sizeof bytes ? size : sizeof bytes);
  pb_diag diag = {.sink = ignore};
  pb_command command, second;
  pb_arena arena = {0};
  if (pb_decode(chip, bytes, &command, &diag) == PB_OK) {
    if (!pb_disassemble(chip, &command, &arena)[0]) abort();
    if (pb_encode(chip, &command, again, &diag) != PB_OK || pb_decode(chip, again, &second, &diag) != PB_OK) abort();
    if (second.insn != command.insn || second.waits != command.waits || second.signals != command.signals ||
        second.counts != command.counts || memcmp(second.values, command.values, sizeof command.values))
      abort();
  } else if (!diag.errors) {
    abort();
  }
  pb_arena_free(&arena);
  return 0;
}
