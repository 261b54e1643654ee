#include "core/driver/mixed.h"

#include "core/driver/control.h"
#include "core/driver/pipeline.h"
#include "core/s3/compose.h"
#include "core/s3/kernels.h"
#include "core/s3/plan/plan.h"
#include "core/s3/program.h"

#include <string.h>

// Layouts are the chip's, and a pass that lays out what it cannot run may reach past a tensor's end, since its plan
// would refuse that. Another target must not run it.
static pb_status check_bounds(pb_unit* unit, MlirOperation func) {
  pb_program program;
  PB_TRY(pb_program_read(func, &unit->pass, unit->diag, &program));
  for (int n = 0; n < program.nest_count; ++n)
    if (pb_leaves_tensors(&program.nests[n]))
      return pb_unsupported(unit->diag, (pb_place){.what = program.nests[n].name}, 4064,
                            "compile the whole model for the other target",
                            "it cannot be left to another target, as the layout of its tensors has no room for it");
  return PB_OK;
}

// The other target plans and lowers what it gets; layouts and groups are the chip's.
static pb_status run_passes(pb_unit* unit) {
  PB_TRY(pb_kernels_each(unit, check_bounds));
  PB_TRY(pb_pass_run(pb_pass_named("plan"), unit));
  PB_TRY(pb_pass_run(pb_pass_named("tile"), unit));
  return pb_pass_run(pb_pass_named("registers"), unit);
}

static void take_kernels(const pb_engine* from, const char* target, pb_engine* to) {
  for (int k = 0; k < from->kernel_count; ++k)
    to->kernels[to->kernel_count++] = (pb_kernel){.name = pb_strdup(&to->arena, from->kernels[k].name),
                                                  .symbol = pb_strdup(&to->arena, from->kernels[k].symbol),
                                                  .bound = pb_strdup(&to->arena, target)};
  to->features = pb_strdup(&to->arena, from->features);
  to->native = pb_alloc(&to->arena, from->native_bytes);
  to->native_bytes = from->native_bytes;
  memcpy(to->native, from->native, from->native_bytes);
}

pb_status pb_mixed_emit(pb_unit* unit, pb_engine* engine) {
  const pb_fallback* f = unit->fallback;
  pb_text text = {0};
  size_t count = 0;
  pb_text_add(&text, "module attributes {pb.stage = \"s3\"} {\n");
  for (size_t k = 0; f && k < f->count; ++k) {
    if (!f->items[k].reason) continue;
    pb_text_add(&text, "%s\n", f->items[k].text);
    ++count;
  }
  pb_text_add(&text, "}\n");
  if (!count) {
    pb_text_free(&text);
    return PB_OK;
  }
  pb_unit other = {
      .context = unit->context, .chip = f->chip, .consts = unit->consts, .diag = unit->diag, .workers = unit->workers};
  pb_engine scratch = {0};
  scratch.kernels = PB_NEW_ARRAY(&scratch.arena, pb_kernel, count);
  other.module = mlirModuleCreateParse(unit->context, mlirStringRefCreate(text.data, text.length));
  pb_text_free(&text);
  if (mlirModuleIsNull(other.module))
    return pb_error(unit->diag, (pb_place){.what = "fallback"}, 4090, "this is a bug in the compiler, not in the model",
                    "the kernels that were left do not verify");
  pb_status status = run_passes(&other);
  if (status == PB_OK) status = pb_control_of(f->chip)->emit(&other, &scratch);
  if (status == PB_OK) take_kernels(&scratch, f->target, engine);
  mlirModuleDestroy(other.module);
  pb_plan_memo_free(&other);
  pb_arena_free(&other.arena);
  pb_arena_free(&scratch.arena);
  return status;
}
