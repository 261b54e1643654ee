// Control by a grid, as the core sees it: kernels become entries that blocks of warps run, through LLVM.
#include "core/driver/control.h"
#include "targets/control/grid/emit.h"

#include <string.h>

static pb_status emit(pb_unit* unit, pb_engine* e) {
  return pb_grid_emit(unit->chip, unit->module, unit->workers, e, unit->diag);
}

static pb_status print(pb_unit* unit, const char* form, char** text) {
  if (!strcmp(form, "commands"))
    return pb_unsupported(unit->diag, (pb_place){.what = unit->chip->name}, 4062, "--emit=asm",
                          "it is controlled by a grid and has no commands");
  return pb_grid_print(unit->chip, unit->module, !strcmp(form, "asm"), unit->diag, text);
}

const pb_control_ops pb_control_grid = {
    .control = PB_CONTROL_GRID, .name = "grid", .loops = true, .emit = emit, .print = print};
