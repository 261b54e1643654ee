// pb-opt FILE.mlir --target=NAME --PASS...: runs passes of the pipeline on IR text, for tests and for looking.
#include "core/driver/pipeline.h"
#include "core/poly/nest.h"
#include "core/s3/kernels.h"

#include <mlir-c/BuiltinAttributes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int usage(FILE* to) {
  fputs("usage: pb-opt FILE.mlir --target=NAME[:VARIANT]|FILE.td [--target-dir=DIR] --PASS...\n"
        "Runs the named passes in the order given and prints the IR. FILE may be - for standard input.\npasses:\n",
        to);
  for (const pb_pass* p = pb_passes; p->name; ++p) fprintf(to, "  --%-10s %s\n", p->name, p->summary);
  return to == stdout ? 0 : 1;
}

// Constants that a text names by id but does not carry: small numbers in a fixed pattern, so that passes can pack them.
static pb_status stand_in_constants(pb_unit* unit) {
  MlirOperation main = pb_module_func(unit->module, "main");
  if (mlirOperationIsNull(main)) return PB_OK;
  MlirAttribute all = pb_op_attribute(main, "arg_attrs");
  MlirBlock body = mlirRegionGetFirstBlock(mlirOperationGetRegion(main, 0));
  if (mlirAttributeIsNull(all)) return PB_OK;
  for (int pass = 0; pass < 2; ++pass)
    for (intptr_t k = 0; k < mlirBlockGetNumArguments(body); ++k) {
      MlirAttribute id = mlirDictionaryAttrGetElementByName(mlirArrayAttrGetElement(all, k),
                                                            mlirStringRefCreateFromCString("pb.const"));
      pb_access shape;
      if (mlirAttributeIsNull(id) || !pb_access_of_value(mlirBlockGetArgument(body, k), &shape)) continue;
      size_t want = (size_t)mlirIntegerAttrGetValueInt(id);
      if (want > 4096)
        return pb_error(unit->diag, (pb_place){.what = "main"}, 2002, "0 to 4096", "constant id %zu", want);
      while (unit->consts->count <= want) pb_consts_add(unit->consts, "none", PB_I8, 0, NULL, "");
      int64_t elements = pb_access_elements(&shape);
      char* data = pb_alloc(&unit->consts->arena, (size_t)elements * 4);
      for (int64_t e = 0; e < elements; ++e) {
        if (shape.type == PB_F32)
          ((float*)(void*)data)[e] = 1.0f / (float)(1 + e % 7);
        else if (shape.type == PB_I32)
          ((int32_t*)(void*)data)[e] = (int32_t)(e % 11) - 5;
        else
          data[e] = (char)(e * 37 % 17 - 8);
      }
      pb_const* c = &unit->consts->items[want];
      *c = (pb_const){.name = "stand-in",
                      .type = shape.type,
                      .rank = shape.rank,
                      .data = data,
                      .bytes = (uint64_t)(elements * pb_type_bits(shape.type) / 8)};
      memcpy(c->shape, shape.shape, sizeof c->shape);
    }
  return PB_OK;
}

int main(int argc, char** argv) {
  const char *file = NULL, *target = NULL, *target_dir = NULL;
  const pb_pass* passes[64];
  int count = 0;
  for (int k = 1; k < argc; ++k) {
    const char* a = argv[k];
    if (!strcmp(a, "--help")) return usage(stdout);
    if (!strncmp(a, "--target=", 9))
      target = a + 9;
    else if (!strncmp(a, "--target-dir=", 13))
      target_dir = a + 13;
    else if (!strncmp(a, "--", 2)) {
      if (!pb_pass_named(a + 2) || count == 64) {
        (void)pb_error(NULL, (pb_place){0}, 1002, "pb-opt --help lists them", "no option or pass '%s'", a);
        return 1;
      }
      passes[count++] = pb_pass_named(a + 2);
    } else
      file = a;
  }
  if (!file || !target) return usage(stderr);
  pb_diag diag = {0};
  pb_chip* chip = NULL;
  pb_consts consts = {0};
  if (pb_chip_find(target, target_dir, &diag, &chip) != PB_OK) return 1;
  pb_unit unit = {.context = pb_context_create(), .chip = chip, .consts = &consts, .diag = &diag};
  pb_status status = pb_module_parse(unit.context, file, &diag, &unit.module);
  bool parsed = status == PB_OK;
  if (parsed) status = stand_in_constants(&unit);
  for (int k = 0; k < count && status == PB_OK; ++k) status = passes[k]->run(&unit);
  if (status == PB_OK) {
    char* text = pb_module_print(unit.module);
    fputs(text, stdout);
    free(text);
  }
  if (parsed) mlirModuleDestroy(unit.module);
  mlirContextDestroy(unit.context);
  pb_consts_free(&consts);
  pb_arena_free(&unit.arena);
  pb_chip_free(chip);
  return status == PB_OK ? 0 : 1;
}
