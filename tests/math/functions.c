// The functions of core/math as an engine: one input, an output for each row of the table, through the passes and the
// back end as any network goes. Prints a line for each row: its name and its error as stated.
//   functions ELEMENTS TARGET OUT.pbe
#include "core/driver/host.h"
#include "core/driver/pipeline.h"
#include "core/math/math.h"
#include "core/s3/kernels.h"
#include "core/s3/plan/plan_memo.h"
#include "targets/control/threads/emit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void print_module(pb_text* text, const char* elements) {
  pb_text_add(text, "module {\nfunc.func @main(%%x: memref<%sxf32> {pb.input = \"x\"}", elements);
  for (const pb_math_row* row = pb_math_table; row->name; ++row)
    if (row->expand) pb_text_add(text, ", %%%s: memref<%sxf32> {pb.output = \"%s\"}", row->name, elements, row->name);
  pb_text_add(text, ") {\n");
  int serial = 0;
  for (const pb_math_row* row = pb_math_table; row->name; ++row) {
    if (!row->expand) continue;
    pb_nest nest = {.name = row->name, .part = "point", .dim_count = 1, .access_count = 2};
    char name[32];
    snprintf(name, sizeof name, "%%%s", row->name);
    nest.extent[0] = atoll(elements);
    for (int a = 0; a < 2; ++a) {
      nest.access[a] = (pb_access){.ref = a ? name : "%x", .type = PB_F32, .rank = 1, .shape = {nest.extent[0]}};
      nest.access[a].index[0].coef[0] = 1;
    }
    int x = pb_nest_load(&nest, 0);
    pb_nest_node(&nest, row->op, PB_F32, x, -1);
    pb_nest_print(text, &nest, 1, &serial);
    printf("%s %g\n", row->name, row->ulp);
  }
  pb_text_add(text, "return\n}\n}\n");
}

static pb_status compile(pb_unit* unit, const char* target, pb_engine* engine) {
  for (const pb_pass* p = pb_passes; p->name; ++p) PB_TRY(pb_pass_run(p, unit));
  engine->target = target;
  engine->chip_revision = unit->chip->revision;
  memcpy(engine->chip_hash, unit->chip->hash, sizeof engine->chip_hash);
  engine->description = pb_strdup(&engine->arena, unit->chip->json);
  engine->kernels = PB_NEW_ARRAY(&engine->arena, pb_kernel, 64);
  PB_TRY(pb_threads_emit(unit->chip, unit->module, 0, engine, unit->diag));
  return pb_host_build(unit, engine);
}

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  pb_diag diag = {0};
  pb_consts consts = {0};
  pb_chip* chip;
  pb_text text = {0};
  pb_unit unit = {.diag = &diag, .consts = &consts};
  pb_engine* engine = calloc(1, sizeof *engine);
  if (!engine || pb_chip_find(argv[2], NULL, &diag, &chip) != PB_OK) return 1;
  unit.chip = chip;
  unit.context = pb_context_create();
  print_module(&text, argv[1]);
  unit.module = mlirModuleCreateParse(unit.context, mlirStringRefCreateFromCString(text.data));
  if (mlirModuleIsNull(unit.module)) return 1;
  pb_status status = compile(&unit, argv[2], engine);
  if (status == PB_OK) status = pb_engine_write(engine, argv[3], &diag);
  pb_engine_free(engine);
  mlirModuleDestroy(unit.module);
  mlirContextDestroy(unit.context);
  pb_text_free(&text);
  pb_consts_free(&consts);
  pb_plan_memo_free(&unit);
  pb_arena_free(&unit.arena);
  pb_chip_free(chip);
  return status != PB_OK;
}
