// Vectorise: carries out the plan of a kernel on cores with vector registers: tiles unrolled and jammed, sums in
// registers, the contraction instruction called, tails on registers before the one store. Requires a kernel function in
// value form with pb.plan; leaves loops over tiles and vector operations on flat tensors. A kernel that is not of the
// form (see vector_kernel.h) stays as it is. Sums keep their order; an instruction may round a product and a sum at
// once.
//
//   %lo, %hi = call @pb_share(items)                    this thread's share of the work
//   for item { for sum block { for column tile, row tile {
//     acc = init; for k { acc = call @VFMADD(x, w, acc) ... }  y = tail(acc); store } } }
#include "core/s3/kernels.h"
#include "core/s3/lower/vector_emit.h"
#include "core/s3/plan/plan.h"
#include "core/s3/plan/plan_stages.h"

#include <mlir-c/BuiltinAttributes.h>
#include <stdlib.h>
#include <string.h>

static bool is_spatial(const pb_vemit* e, int d) { return pb_vplan_is_spatial(e->k, d); }

// ---- tiles ----

// Where the tile begins along each dim, as %s<d>_<id>, in elements; then one tile's body.
static void print_variants(pb_vemit* e, int d, int indent) {
  while (d < e->k->main.nest->dim_count && !is_spatial(e, d)) ++d;
  if (d == e->k->main.nest->dim_count) {
    pb_vemit_tile(e, indent);
    return;
  }
  pb_vtiles t = pb_vplan_tiles(e->k, e->plan, d);
  int64_t step = pb_vkernel_unit(e->k, d), rest = e->k->main.nest->extent[d] % step;
  bool last_big = t.big == t.count;
  // Alternatives: big tiles, small ones, and the last one when its last vector or matrix is short.
  const struct {
    bool there, big, last;
  } alternatives[] = {{t.big > (rest && last_big), true, false},
                      {t.count - t.big > (rest && !last_big), false, false},
                      {rest != 0, last_big, true}};
  int open = 0, left = 0;
  for (int a = 0; a < 3; ++a) left += alternatives[a].there;
  for (int a = 2; a >= 0; --a) {
    if (!alternatives[a].there) continue;
    if (--left > 0) {
      pb_text_indent(e->text, indent + open);
      pb_text_add(e->text, "affine.if affine_set<(d0) : (d0 - %lld >= 0)>(%%t%d) {\n",
                  (long long)(a == 2 ? t.count - 1 : t.big), d);
      ++open;
    }
    int deeper = indent + open;
    e->size[d] = alternatives[a].big ? t.size : t.size - 1;
    e->short_lanes[d] = alternatives[a].last ? (int)rest : 0;
    pb_text_indent(e->text, deeper);
    int id = e->serial++;
    if (alternatives[a].big)
      pb_text_add(e->text, "%%s%d_%d = affine.apply affine_map<(d0) -> (d0 * %lld)>(%%t%d)\n", d, id,
                  (long long)(t.size * step), d);
    else
      pb_text_add(e->text, "%%s%d_%d = affine.apply affine_map<(d0) -> (d0 * %lld + %lld)>(%%t%d)\n", d, id,
                  (long long)((t.size - 1) * step), (long long)(t.big * step), d);
    e->start[d] = id;
    print_variants(e, d + 1, deeper);
    if (left > 0) {
      pb_text_indent(e->text, indent + open - 1);
      pb_text_add(e->text, "} else {\n");
    }
  }
  for (; open > 0; --open) {
    pb_text_indent(e->text, indent + open - 1);
    pb_text_add(e->text, "}\n");
  }
}

// %t<d> from the running number of a tile among the rows or the columns; the last dim runs fastest.
static void print_decode(pb_vemit* e, bool columns, const char* number, int indent) {
  int64_t stride = 1;
  for (int d = e->k->main.nest->dim_count - 1; d >= 0; --d) {
    if (!is_spatial(e, d) || pb_vplan_is_column(e->k, d) != columns) continue;
    pb_vtiles t = pb_vplan_tiles(e->k, e->plan, d);
    pb_text_indent(e->text, indent);
    pb_text_add(e->text, "%%t%d = affine.apply affine_map<(d0) -> ((d0 floordiv %lld) mod %lld)>(%s)\n", d,
                (long long)stride, (long long)t.count, number);
    stride *= t.count;
  }
}

static int64_t tile_count(const pb_vemit* e, bool columns) {
  int64_t tiles = 1;
  for (int d = 0; d < e->k->main.nest->dim_count; ++d)
    if (is_spatial(e, d) && pb_vplan_is_column(e->k, d) == columns) tiles *= pb_vplan_tiles(e->k, e->plan, d).count;
  return tiles;
}

// for %row = this part's first tile to its last
static void open_tiles(pb_vemit* e, bool columns, int indent) {
  int64_t tiles = tile_count(e, columns), chunks = columns ? e->plan->column_chunks : e->plan->row_chunks;
  const char* name = columns ? "column" : "row";
  pb_text_indent(e->text, indent);
  if (e->k->alone)
    pb_text_add(e->text, "affine.for %%%s = 0 to %lld {\n", name, (long long)tiles);
  else
    pb_text_add(e->text,
                "affine.for %%%s = affine_map<(d0) -> ((d0 * %lld) floordiv %lld)>(%%%s_part) to "
                "affine_map<(d0) -> ((d0 * %lld + %lld) floordiv %lld)>(%%%s_part) {\n",
                name, (long long)tiles, (long long)chunks, name, (long long)tiles, (long long)tiles, (long long)chunks,
                name);
  print_decode(e, columns, columns ? "%column" : "%row", indent + 1);
}

static void close(pb_vemit* e, int indent) {
  pb_text_indent(e->text, indent);
  pb_text_add(e->text, "}\n");
}

// ---- the kernel ----

static void print_fills(pb_vemit* e) {
  if (!e->k->fill_count) return;
  pb_text_add(e->text, "  affine.if affine_set<()[s0, s1] : (-s0 >= 0, s1 - 1 >= 0)>()[%%lo#0, %%lo#1] {\n");
  int serial = 0;
  for (int f = 0; f < e->k->fill_count; ++f) {
    pb_nest fill = *e->k->fills[f];
    for (int v = 0; v < e->k->program->value_count; ++v)
      if (pb_value_same(e->k->program->values[v].ir, fill.access[0].memref))
        fill.access[0].ref = pb_printf(e->arena, "%%a%d", e->k->program->values[v].argument);
    pb_nest_print(e->text, &fill, 2, &serial);
  }
  pb_text_add(e->text, "  }\n");
}

void pb_vemit_flats(pb_vemit* e, const pb_program* program) {
  for (int v = 0; v < program->value_count; ++v) {
    const pb_value* value = &program->values[v];
    if (value->argument < 0) continue;
    pb_access type = {.type = value->type, .rank = value->rank};
    memcpy(type.shape, value->shape, sizeof type.shape);
    if (value->rank == 1) continue;
    if (value->rank == 0) {
      const char* name = pb_type_name(value->type);
      pb_text_add(e->text, "  %%f%d = memref.expand_shape %%a%d [] output_shape [1] : memref<%s> into memref<1x%s>\n",
                  value->argument, value->argument, name, name);
      continue;
    }
    pb_text_add(e->text, "  %%f%d = memref.collapse_shape %%a%d [[", value->argument, value->argument);
    for (int r = 0; r < value->rank; ++r) pb_text_add(e->text, "%s%d", r ? ", " : "", r);
    pb_text_add(e->text, "]] : ");
    pb_access_print_type(e->text, &type);
    pb_text_add(e->text, " into memref<%lldx%s>\n", (long long)pb_access_elements(&type), pb_type_name(value->type));
  }
}

void pb_vemit_loops(pb_vemit* e, int indent) {
  int begin = indent;
  if (e->plan->sum_blocks > 1) {
    pb_text_indent(e->text, indent++);
    pb_text_add(e->text, "affine.for %%block = 0 to %lld {\n", (long long)e->plan->sum_blocks);
  }
  open_tiles(e, !e->plan->columns_inside, indent++);
  open_tiles(e, e->plan->columns_inside, indent++);
  print_variants(e, 0, indent);
  while (indent > begin) close(e, --indent);
}

static void print_shares(pb_vemit* e) {
  int64_t items = e->plan->row_chunks * e->plan->column_chunks;
  pb_text_add(e->text, "  %%items = arith.constant %lld : index\n", (long long)items);
  pb_text_add(e->text, "  %%lo:2 = func.call @pb_share(%%items) : (index) -> (index, index)\n");
  pb_vemit_flats(e, e->k->program);
  print_fills(e);
  pb_text_add(e->text, "  affine.for %%item = %%lo#0 to %%lo#1 {\n");
  pb_text_add(e->text, "    %%row_part = affine.apply affine_map<(d0) -> (d0 floordiv %lld)>(%%item)\n",
              (long long)e->plan->column_chunks);
  pb_text_add(e->text, "    %%column_part = affine.apply affine_map<(d0) -> (d0 mod %lld)>(%%item)\n",
              (long long)e->plan->column_chunks);
  pb_vemit_loops(e, 2);
  close(e, 1);
}

pb_status pb_vemit_replace(pb_unit* unit, MlirOperation func, pb_vemit* e) {
  pb_text text = {0};
  pb_func_print_head(&text, func, "pb.shared", NULL);
  pb_text_add(&text, "%s%s  return\n}\n", e->constants.data ? e->constants.data : "", e->text->data);
  pb_text_add(&text, "func.func private @pb_share(%%n: index) -> (index, index) {\n"
                     "  %%zero = arith.constant 0 : index\n  return %%zero, %%n : index, index\n}\n");
  pb_vemit_instructions(e, &text);
  pb_status status = pb_kernel_replace(unit, func, &text, "vectorise");
  pb_text_free(&text);
  pb_vemit_free(e);
  return status;
}

void pb_vemit_free(pb_vemit* e) {
  pb_text_free(e->text);
  pb_text_free(&e->constants);
  free(e->matrices);
  free(e->insns);
}

static pb_status vectorise_kernel(pb_unit* unit, MlirOperation func) {
  if (pb_stage_plan_is(pb_op_attribute(func, "pb.plan"))) return pb_vectorise_stages(unit, func);
  pb_program program;
  PB_TRY(pb_program_read(func, &unit->pass, unit->diag, &program));
  pb_group group;
  PB_TRY(pb_group_read(&program, unit->chip, &unit->pass, unit->diag, &group));
  if (group.plain) return PB_OK;
  pb_plan plan;
  pb_vplan tiles;
  const char* why;
  PB_TRY(pb_plan_read(func, &unit->pass, unit->diag, &plan));
  if (!pb_plan_cost(unit->chip, &group, &plan, &unit->pass, &why) || !pb_vplan_of(group.registers, &plan, &tiles, &why))
    return pb_error(unit->diag, (pb_place){.what = pb_func_name(func, &unit->pass)}, 4012, NULL,
                    "its plan is illegal: %s", why);
  pb_text body = {0};
  pb_vemit e = {.k = group.registers, .plan = &tiles, .chip = unit->chip, .arena = &unit->pass, .text = &body};
  print_shares(&e);
  return pb_vemit_replace(unit, func, &e);
}

pb_status pb_s3_vectorise(pb_unit* unit) {
  return pb_chip_runs_code(unit->chip) ? pb_kernels_each(unit, vectorise_kernel) : PB_OK;
}
