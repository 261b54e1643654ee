// pb-opt FILE.mlir --target=NAME --PASS...: runs passes of the pipeline on IR text, for tests and for looking.
#include "core/driver/check.h"
#include "core/driver/pipeline.h"
#include "core/poly/nest.h"
#include "core/s3/kernels.h"
#include "core/s3/plan/plan.h"

#include <mlir-c/BuiltinAttributes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int usage(FILE* to) {
  fputs("usage: pb-opt FILE.mlir --target=NAME[:VARIANT]|FILE.td [--target-dir=DIR] --PASS...\n"
        "Runs the named passes in the order given and prints the IR. FILE may be - for standard input.\n"
        "  --check       runs @main before and after every pass on seeded inputs; the first pass that changes the\n"
        "                results is an error that names it\n"
        "  --seed=N      of those inputs, default 1\n"
        "passes:\n",
        to);
  for (const pb_pass* p = pb_passes; p->name; ++p) fprintf(to, "  --%-11s %s\n", p->name, p->summary);
  return to == stdout ? pb_printed(0) : 1;
}

static void fill_stand_in(char* data, pb_type type, int64_t elements, bool splat) {
  for (int64_t k = 0; k < elements; ++k) {
    int64_t e = splat ? 3 : k;
    bool small = pb_type_bits(type) <= 8;
    bool whole = type == PB_I16 || type == PB_I32 || type == PB_I64 || type == PB_INDEX;
    pb_number_store(data, type, k,
                    small   ? (double)(e * 37 % 17 - 8)
                    : whole ? (double)(e % 11 - 5)
                            : (double)(1.0f / (float)(1 + e % 7)));
  }
}

// Constants that a text names by id but does not carry: small numbers in a fixed pattern, so that passes can pack them;
// one number where the text says that all are the same (pb.splat).
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
      MlirAttribute splat = mlirDictionaryAttrGetElementByName(mlirArrayAttrGetElement(all, k),
                                                               mlirStringRefCreateFromCString("pb.splat"));
      pb_access shape;
      if (mlirAttributeIsNull(id) || !pb_access_of_value(mlirBlockGetArgument(body, k), &shape)) continue;
      size_t want = (size_t)mlirIntegerAttrGetValueInt(id);
      if (want > 4096)
        return pb_error(unit->diag, (pb_place){.what = "main"}, 2002, "0 to 4096", "constant id %zu", want);
      while (unit->consts->count <= want) pb_consts_add(unit->consts, "none", PB_I8, 0, NULL, "");
      int64_t elements = pb_access_elements(&shape);
      size_t size = ((size_t)pb_type_bits(shape.type) + 7) / 8;
      char* data = pb_alloc_array(&unit->consts->arena, (size_t)elements, size);
      fill_stand_in(data, shape.type, elements, !mlirAttributeIsNull(splat));
      pb_const* c = unit->consts->items[want];
      *c = (pb_const){
          .name = "stand-in", .type = shape.type, .rank = shape.rank, .data = data, .bytes = (uint64_t)elements * size};
      memcpy(c->shape, shape.shape, sizeof c->shape);
    }
  return PB_OK;
}

typedef struct options {
  const char *file, *target, *target_dir;
  const pb_pass* passes[64];
  int count;
  bool check;
  uint64_t seed;
} options;

// 0, or the exit code and one more.
static int read_options(int argc, char** argv, options* o) {
  for (int k = 1; k < argc; ++k) {
    const char* a = argv[k];
    char* end = NULL;
    if (!strcmp(a, "--help")) return usage(stdout) + 1;
    if (!strcmp(a, "--version")) return puts("pb-opt 0.1.0"), pb_printed(0) + 1;
    if (!strncmp(a, "--target=", 9))
      o->target = a + 9;
    else if (!strncmp(a, "--target-dir=", 13))
      o->target_dir = a + 13;
    else if (!strcmp(a, "--check"))
      o->check = true;
    else if (!strncmp(a, "--seed=", 7) && (o->seed = strtoull(a + 7, &end, 10), a[7] && !*end))
      continue;
    else if (!strncmp(a, "--", 2)) {
      if (!pb_pass_named(a + 2) || o->count == 64) {
        (void)pb_error(NULL, (pb_place){0}, 1002, "pb-opt --help lists them", "no option or pass '%s'", a);
        return 2;
      }
      o->passes[o->count++] = pb_pass_named(a + 2);
    } else if (o->file) {
      (void)pb_error(NULL, (pb_place){0}, 1005, NULL, "a second file '%s'", a);
      return 2;
    } else
      o->file = a;
  }
  return o->file && o->target ? 0 : usage(stderr) + 1;
}

static pb_status compare(pb_unit* unit, const pb_pass* pass, const pb_results* before, const pb_results* after) {
  size_t first;
  if (pb_results_equal(before, after, &first)) return PB_OK;
  if (pass->kind == PB_PASS_REASSOCIATES && pb_results_close(before, after, PB_REASSOCIATION, &first)) return PB_OK;
  return pb_error(unit->diag, (pb_place){.what = pass->name}, 4092, NULL,
                  "this pass changed a result (byte %zu of the outputs is the first)", first);
}

// Up to outline passes take the program function, behind it kernels.
static pb_status run_passes(pb_unit* unit, const options* o) {
  pb_results before = {0}, after = {0};
  pb_status status = o->check ? pb_check_run(unit, o->seed, &before) : PB_OK;
  for (int k = 0; k < o->count && status == PB_OK; ++k) {
    if (o->passes[k] <= pb_pass_named("outline")) status = pb_check_main(unit, o->passes[k]->name);
    if (status == PB_OK) status = pb_pass_run(o->passes[k], unit);
    if (!o->check || status != PB_OK) continue;
    status = pb_check_run(unit, o->seed, &after);
    if (status == PB_OK) status = compare(unit, o->passes[k], &before, &after);
    pb_results_free(&before);
    before = after;
    after = (pb_results){0};
  }
  pb_results_free(&before);
  return status;
}

int main(int argc, char** argv) {
  options o = {.seed = 1};
  int early = read_options(argc, argv, &o);
  if (early) return early - 1;
  pb_diag diag = {0};
  pb_chip* chip = NULL;
  pb_consts consts = {0};
  if (pb_chip_find(o.target, o.target_dir, &diag, &chip) != PB_OK) return 1;
  pb_unit unit = {.context = pb_context_create(), .chip = chip, .consts = &consts, .diag = &diag};
  pb_status status = pb_module_parse(unit.context, o.file, o.file, &diag, &unit.module);
  bool parsed = status == PB_OK;
  if (parsed) status = stand_in_constants(&unit);
  if (status == PB_OK) status = run_passes(&unit, &o);
  if (status == PB_OK) {
    char* text = pb_module_print(unit.module);
    fputs(text, stdout);
    free(text);
  }
  if (parsed) mlirModuleDestroy(unit.module);
  mlirContextDestroy(unit.context);
  pb_consts_free(&consts);
  pb_plan_memo_free(&unit);
  pb_arena_free(&unit.arena);
  pb_chip_free(chip);
  return pb_printed(status == PB_OK ? 0 : 1);
}
