// Control by threads, as the core sees it: kernels become functions of a shared object, through LLVM.
#include "core/driver/control.h"
#include "targets/control/threads/check.h"
#include "targets/control/threads/emit.h"

#include <string.h>

static pb_status emit(pb_unit* unit, pb_engine* e) {
  return pb_threads_emit(unit->chip, unit->module, unit->workers, e, unit->diag);
}

static pb_status print(pb_unit* unit, const char* form, char** text) {
  if (!strcmp(form, "commands"))
    return pb_unsupported(unit->diag, (pb_place){.what = unit->chip->name}, 4062, "--emit=asm",
                          "it is controlled by threads and has no commands");
  return pb_threads_print(unit->chip, unit->module, !strcmp(form, "asm"), unit->diag, text);
}

const pb_control_ops pb_control_threads = {.control = PB_CONTROL_THREADS,
                                           .name = "threads",
                                           .native = true,
                                           .loops = true,
                                           .emit = emit,
                                           .print = print,
                                           .saved = pb_threads_saved,
                                           .check = pb_threads_check};
