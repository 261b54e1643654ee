// pb-check-core: makes one instruction of a core into code, and runs it where this processor can. LLVM ends the process
// where the features do not allow it, so it is one of its own. Started by the check of a description. Usage:
// pb-check-core INSTRUCTION VARIANT <DESCRIPTION.json
#include "core/poly/text.h"
#include "targets/control/threads/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_SECONDS = 20 };

int main(int argc, char** argv) {
  if (argc != 3 || !strcmp(argv[1], "--help"))
    return fputs("usage: pb-check-core INSTRUCTION VARIANT <DESCRIPTION.json\n", stderr), PB_CORE_NO_CODE;
  pb_text text = {0};
  char part[4096];
  for (size_t n; (n = fread(part, 1, sizeof part, stdin)) > 0;) pb_text_add_bytes(&text, part, n);
  pb_diag diag = {.sink = pb_diag_drop};
  pb_chip* chip;
  (void)alarm(MOST_SECONDS);
  if (!text.data || pb_chip_from_json(text.data, "description", argv[2], &diag, &chip) != PB_OK) return PB_CORE_NO_CODE;
  pb_core_verdict verdict = pb_threads_try(chip, argv[1]);
  _exit((int)verdict); // with what LLVM holds
}
