#include "core/driver/pipeline.h"

#include "core/s3/kernels.h"

#include <string.h>

#define EXACT PB_PASS_EXACT
#define REASSOCIATES PB_PASS_REASSOCIATES
const pb_pass pb_passes[] = {
#define PASS(stage, name, function, kind, summary) {#stage, #name, function, kind, summary},
#include "core/driver/pipeline.def"
#undef PASS
    {0}};

const pb_pass* pb_pass_named(const char* name) {
  for (const pb_pass* p = pb_passes; p->name; ++p)
    if (!strcmp(p->name, name)) return p;
  return NULL;
}

// The other target gets what the chip cannot run, not what the chip runs in several steps, which this pass writes.
static bool ignores_fallback(const pb_pass* pass) { return !strcmp(pass->name, "reductions"); }

pb_status pb_pass_run(const pb_pass* pass, pb_unit* unit) {
  struct pb_fallback* fallback = unit->fallback;
  if (ignores_fallback(pass)) unit->fallback = NULL;
  pb_status status = pass->run(unit);
  unit->fallback = fallback;
  pb_arena_free(&unit->pass);
  return status;
}
