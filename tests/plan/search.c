// The planner's search against all plans there are: products of seeded small extents and the step back to codes, every
// sequence of up to three bands in steps of nearly equal tiles, every level, one copy or two. Prints by how much the
// model of cost finds the best of these cheaper than the plan that was chosen (on the machine they take the same within
// some per cent: kernels this small wait more than they work, of which the model knows little); fails past a limit.
//
//   plan_search [KERNELS] [SEED] [PERCENT] [--plans]
#include "core/driver/pipeline.h"
#include "core/poly/text.h"
#include "core/s3/kernels.h"
#include "core/s3/plan/plan.h"

#include <mlir-c/IR.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_BANDS = 3, LANES = 16 };

typedef struct search {
  const pb_chip* chip;
  const pb_group* group;
  pb_plan best;
  bool found;
  long looked_at, legal;
} search;

static uint64_t state = 1;
static int64_t draw(int64_t least, int64_t most) { // splitmix64
  uint64_t z = state += 0x9E3779B97F4A7C15ull;
  z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9ull;
  z = (z ^ z >> 27) * 0x94D049BB133111EBull;
  return least + (int64_t)((z ^ z >> 31) % (uint64_t)(most - least + 1));
}

// rows x terms, in blocks of 16, times terms x columns, then codes again: as layout leaves them.
static const char form[] =
    "module {\n"
    "func.func @k0(%x: memref<KxRx16xi8> {pb.input = \"\"}, %w: memref<NxKx16x16xi8> {pb.const = -1 : i64}, %b: "
    "memref<Nx16xi32> "
    "{pb.const = -1 : i64}, %m: memref<Nx16xf32> {pb.const = -1 : i64}, %y: memref<NxRx16xi8> {pb.output = \"\"}) "
    "attributes {pb.kernel} {\n"
    "  %s = memref.alloc() : memref<NxRx16xi32>\n"
    "  affine.for %n = 0 to N { affine.for %r = 0 to R { affine.for %l = 0 to 16 {\n"
    "    %z = arith.constant 0 : i32\n"
    "    affine.store %z, %s[%n, %r, %l] : memref<NxRx16xi32> } } } {pb.nest = \"p\", pb.part = \"init\"}\n"
    "  affine.for %n = 0 to N { affine.for %r = 0 to R { affine.for %l = 0 to 16 {\n"
    "  affine.for %k = 0 to K { affine.for %t = 0 to 16 {\n"
    "    %0 = affine.load %x[%k, %r, %t] : memref<KxRx16xi8>\n"
    "    %1 = affine.load %w[%n, %k, %t, %l] : memref<NxKx16x16xi8>\n"
    "    %2 = affine.load %s[%n, %r, %l] : memref<NxRx16xi32>\n"
    "    %3 = arith.extsi %0 : i8 to i32\n"
    "    %4 = arith.extsi %1 : i8 to i32\n"
    "    %5 = arith.muli %3, %4 : i32\n"
    "    %6 = arith.addi %2, %5 : i32\n"
    "    affine.store %6, %s[%n, %r, %l] : memref<NxRx16xi32> } } } } } {pb.nest = \"p\", pb.part = \"reduce\"}\n"
    "  affine.for %n = 0 to N { affine.for %r = 0 to R { affine.for %l = 0 to 16 {\n"
    "    %zero = arith.constant 3.0 : f32\n"
    "    %least = arith.constant -128.0 : f32\n"
    "    %most = arith.constant 127.0 : f32\n"
    "    %0 = affine.load %s[%n, %r, %l] : memref<NxRx16xi32>\n"
    "    %1 = affine.load %b[%n, %l] : memref<Nx16xi32>\n"
    "    %2 = affine.load %m[%n, %l] : memref<Nx16xf32>\n"
    "    %3 = arith.addi %0, %1 : i32\n"
    "    %4 = arith.sitofp %3 : i32 to f32\n"
    "    %5 = arith.mulf %4, %2 : f32\n"
    "    %6 = math.roundeven %5 : f32\n"
    "    %7 = arith.addf %6, %zero : f32\n"
    "    %8 = arith.maxnumf %7, %least : f32\n"
    "    %9 = arith.minnumf %8, %most : f32\n"
    "    %10 = arith.fptosi %9 : f32 to i8\n"
    "    affine.store %10, %y[%n, %r, %l] : memref<NxRx16xi8> } } } {pb.nest = \"p\", pb.part = \"point\"}\n"
    "  memref.dealloc %s : memref<NxRx16xi32>\n"
    "  return\n}\n}\n";

static char* product(int64_t rows, int64_t terms, int64_t blocks) {
  pb_text text = {0};
  for (const char* at = form; *at; ++at) {
    int64_t number = *at == 'R' ? rows : *at == 'K' ? terms : *at == 'N' ? blocks : 0;
    if (number)
      pb_text_add(&text, "%lld", (long long)number);
    else
      pb_text_add(&text, "%c", *at);
  }
  return text.data;
}

static void consider(search* s, pb_plan plan) {
  pb_arena scratch = {0};
  const char* why;
  ++s->looked_at;
  if (pb_plan_cost(s->chip, s->group, &plan, &scratch, &why)) {
    ++s->legal;
    if (!s->found || plan.cycles < s->best.cycles) s->best = plan;
    s->found = true;
  }
  pb_arena_free(&scratch);
}

static void all_levels(search* s, pb_plan plan) {
  for (plan.result_level = 0; plan.result_level <= plan.band_count; ++plan.result_level)
    for (plan.x_level = 0; plan.x_level <= plan.band_count; ++plan.x_level)
      for (plan.w_level = 0; plan.w_level <= plan.band_count; ++plan.w_level)
        for (int depths = 0; depths < 8; ++depths) {
          // outside all loops a second copy is of no use
          if ((depths & 1 && !plan.x_level) || (depths & 2 && !plan.w_level) || (depths & 4 && !plan.result_level))
            continue;
          plan.x_depth = 1 + (depths & 1);
          plan.w_depth = 1 + (depths >> 1 & 1);
          plan.result_depth = 1 + (depths >> 2 & 1);
          consider(s, plan);
        }
}

static void all_bands(search* s, pb_plan plan, const int64_t* left) {
  all_levels(s, plan);
  if (plan.band_count == MOST_BANDS) return;
  for (int d = 0; d < s->group->main.dim_count; ++d)
    for (int64_t step = 1; step < left[d]; ++step) {
      int64_t tiles = (left[d] + step - 1) / step;
      if (s->group->main.extent[d] == LANES || step != (left[d] + tiles - 1) / tiles) continue;
      int64_t after[PB_NEST_DIMS];
      pb_plan more = plan;
      memcpy(after, left, sizeof after);
      after[d] = step;
      more.bands[more.band_count++] = (pb_band){d, step};
      all_bands(s, more, after);
    }
}

static int one(const pb_chip* chip, MlirContext context, int64_t rows, int64_t terms, int64_t blocks, double percent,
               bool plans) {
  pb_diag diag = {0};
  char* text = product(rows, terms, blocks);
  pb_unit unit = {.context = context, .chip = chip, .diag = &diag};
  unit.module = mlirModuleCreateParse(context, mlirStringRefCreateFromCString(text));
  free(text);
  if (mlirModuleIsNull(unit.module)) return 1;
  pb_program program;
  pb_group group;
  pb_plan plan;
  pb_status status = pb_program_read(pb_module_func(unit.module, "k0"), &unit.arena, &diag, &program);
  if (status == PB_OK) status = pb_group_read(&program, chip, &unit.arena, &diag, &group);
  if (status == PB_OK) status = pb_plan_make(chip, &group, &unit.arena, &diag, &plan);
  int failed = status != PB_OK;
  if (!failed) {
    search s = {.chip = chip, .group = &group};
    all_bands(&s, (pb_plan){.row_parts = 0}, group.main.extent);
    double off = 100.0 * (double)(plan.cycles - s.best.cycles) / (double)s.best.cycles;
    printf("%lld x %lld x %lld: %lld cycles, the best of %ld (%ld legal) %lld: %+.1f%%\n", (long long)rows,
           (long long)terms * LANES, (long long)blocks * LANES, (long long)plan.cycles, s.looked_at, s.legal,
           (long long)s.best.cycles, off);
    if (off > 0 && plans) {
      pb_text t = {0};
      pb_plan_print(&t, &s.best, &group);
      printf("  best  %s\n", t.data);
      pb_text_free(&t);
      pb_plan_print(&t, &plan, &group);
      printf("  found %s\n", t.data);
      pb_text_free(&t);
    }
    failed = off > percent;
  }
  mlirModuleDestroy(unit.module);
  pb_arena_free(&unit.arena);
  pb_arena_free(&unit.pass);
  return failed;
}

int main(int argc, char** argv) {
  int kernels = argc > 1 ? atoi(argv[1]) : 8, failed = 0;
  pb_diag diag = {0};
  pb_chip* chip = NULL;
  state = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
  double percent = argc > 3 ? atof(argv[3]) : 0;
  bool plans = argc > 4 && !strcmp(argv[4], "--plans");
  if (pb_chip_find("simnpu", NULL, &diag, &chip) != PB_OK) return 1;
  MlirContext context = pb_context_create();
  for (int k = 0; k < kernels; ++k)
    failed += one(chip, context, draw(1, 4) * draw(1, 4), draw(1, 4), draw(1, 4), percent, plans);
  mlirContextDestroy(context);
  pb_chip_free(chip);
  printf("%d kernels, %d off by more than %g%%\n", kernels, failed, percent);
  return failed > 0;
}
