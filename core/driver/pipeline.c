#include "core/driver/pipeline.h"

#include "core/s3/chip_facts.h"
#include "core/s3/kernel/contraction_dims.h"
#include "core/s3/kernels.h"
#include "core/s3/transfer_paths.h"

#include <string.h>

#define EXACT PB_PASS_EXACT
#define REASSOCIATES PB_PASS_REASSOCIATES
#define EVERYWHERE NULL
const pb_pass pb_passes[] = {
#define MODULE_PASS(name, function, kind, summary) {#name, function, NULL, NULL, kind, summary},
#define PROGRAM_PASS(name, function, where, kind, summary) {#name, NULL, function, where, kind, summary},
#include "core/s3/pipeline.def"
#undef MODULE_PASS
#undef PROGRAM_PASS
    {0}};

const pb_pass* pb_pass_named(const char* name) {
  for (const pb_pass* p = pb_passes; p->name; ++p)
    if (!strcmp(p->name, name)) return p;
  return NULL;
}

// The other target gets what the chip cannot run, not what the chip runs in several steps, which this pass writes.
static bool ignores_fallback(const pb_pass* pass) { return !strcmp(pass->name, "reductions"); }

static pb_status run(const pb_pass* pass, pb_unit* unit) {
  if (pass->run) return pass->run(unit);
  bool runs = !pass->where || pass->where(unit->chip);
  return runs ? pb_program_change(unit, pass->change, pass->name) : PB_OK;
}

pb_status pb_pass_run(const pb_pass* pass, pb_unit* unit) {
  struct pb_fallback* fallback = unit->fallback;
  if (ignores_fallback(pass)) unit->fallback = NULL;
  pb_status status = run(pass, unit);
  unit->fallback = fallback;
  pb_arena_free(&unit->pass);
  return status;
}
