// Chips with memories of constants that may be too small: which constants lie where is known once kernels are mapped,
// as each lies where the command that takes it reads. So the passes from `outline` on run on a copy until everything
// has room; what had none is kept out of its memory in the next turn, and comes from another one.
#include "core/driver/compilation.h"
#include "core/driver/pipeline.h"
#include "core/s3/constant_homes.h"

#include <string.h>

// The passes from `first` to `map`, on a copy of the module. *left: how many kernels it leaves to another target.
static pb_status turn(pb_unit* unit, const pb_pass* first, size_t* left, pb_kept_out* kept) {
  MlirModule whole = unit->module;
  size_t before = unit->fallback ? unit->fallback->count : 0;
  pb_status status = PB_OK;
  unit->module = mlirModuleFromOperation(mlirOperationClone(mlirModuleGetOperation(whole)));
  for (const pb_pass* p = first; p->name && status == PB_OK; ++p) {
    status = pb_pass_run(p, unit);
    if (!strcmp(p->name, "map")) break;
  }
  *kept = status == PB_OK ? pb_constants_keep_out(unit) : (pb_kept_out){.id = -1};
  mlirModuleDestroy(unit->module);
  unit->module = whole;
  *left = 0;
  for (size_t k = before; unit->fallback && k < unit->fallback->count; ++k)
    *left += unit->fallback->items[k].reason != NULL;
  if (unit->fallback) unit->fallback->count = before;
  return status;
}

// Each turn keeps a constant out of one more memory, so that there is a last one. What is refused in the first turn the
// passes themselves refuse, and say why; what is refused later cannot do without a memory that it is kept out of.
pb_status pb__settle_constants(compilation* c, const pb_pass* first) {
  pb_unit* unit = &c->unit;
  if (!pb_constants_may_overflow(unit)) return PB_OK;
  pb_diag silent = {.sink = pb_diag_drop}, *diag = unit->diag;
  pb_kept_out kept, last;
  size_t at_first, left;
  unit->diag = &silent;
  pb_status status = turn(unit, first, &at_first, &kept);
  bool homeless = false; // a kernel that ran before runs no longer
  while (kept.id >= 0 && !homeless) {
    last = kept;
    homeless = turn(unit, first, &left, &kept) != PB_OK || left > at_first;
  }
  unit->diag = diag;
  pb__stage_done(c, "homes");
  return status == PB_OK && homeless ? pb_constants_refuse(unit, &last) : PB_OK;
}
