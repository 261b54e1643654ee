// The functions of core/math as an engine: one input, or two, an output for each row of the table that takes as many of
// that type, through the passes and the back end as any network goes. Prints a line for each row: its name and its
// error as stated.
//   functions ELEMENTS TARGET OUT.pbe [f32|f64 [1|2]]
#include "core/driver/host.h"
#include "core/driver/pipeline.h"
#include "core/math/math.h"
#include "core/s3/kernels.h"
#include "core/s3/plan/plan.h"
#include "targets/control/threads/emit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct table {
  const char* elements;
  pb_type type;
  int operands;
} table;

static bool has(const table* t, const pb_math_row* row) {
  if (t->operands == 2) return t->type == PB_F64 ? row->wide_two : row->expand_two;
  return t->type == PB_F64 ? row->wide : row->expand;
}

static void print_module(pb_text* text, const table* t) {
  static const char* const operands[] = {"x", "y"};
  const char* type = pb_type_name(t->type);
  pb_text_add(text, "module {\nfunc.func @main(");
  for (int k = 0; k < t->operands; ++k)
    pb_text_add(text, "%s%%%s: memref<%sx%s> {pb.input = \"%s\"}", k ? ", " : "", operands[k], t->elements, type,
                operands[k]);
  for (const pb_math_row* row = pb_math_table; row->name; ++row)
    if (has(t, row))
      pb_text_add(text, ", %%%s: memref<%sx%s> {pb.output = \"%s\"}", row->name, t->elements, type, row->name);
  pb_text_add(text, ") {\n");
  int serial = 0;
  for (const pb_math_row* row = pb_math_table; row->name; ++row) {
    if (!has(t, row)) continue;
    pb_nest nest = {.name = row->name, .part = "point", .dim_count = 1, .access_count = t->operands + 1};
    char names[3][32] = {"%x", "%y"};
    snprintf(names[t->operands], sizeof names[0], "%%%s", row->name);
    nest.extent[0] = atoll(t->elements);
    for (int a = 0; a <= t->operands; ++a) {
      nest.access[a] = (pb_access){.ref = names[a], .type = t->type, .rank = 1, .shape = {nest.extent[0]}};
      nest.access[a].index[0].coef[0] = 1;
    }
    int x = pb_nest_load(&nest, 0), y = t->operands == 2 ? pb_nest_load(&nest, 1) : -1;
    pb_nest_node(&nest, row->op, t->type, x, y);
    pb_nest_print(text, &nest, 1, &serial);
    printf("%s %g\n", row->name, t->type == PB_F64 ? row->wide_ulp : row->ulp);
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
  if (argc < 4) return 2;
  table t = {argv[1], argc > 4 && !strcmp(argv[4], "f64") ? PB_F64 : PB_F32, argc > 5 ? atoi(argv[5]) : 1};
  pb_diag diag = {0};
  pb_consts consts = {0};
  pb_chip* chip;
  pb_text text = {0};
  pb_unit unit = {.diag = &diag, .consts = &consts};
  pb_engine* engine = calloc(1, sizeof *engine);
  if (!engine || pb_chip_find(argv[2], NULL, &diag, &chip) != PB_OK) return 1;
  unit.chip = chip;
  unit.context = pb_context_create();
  print_module(&text, &t);
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
