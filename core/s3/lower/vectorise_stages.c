// Vectorise kernels of several stages: the loops over tiles that `tile` made, shared among threads as far as nothing
// stands between them, and in a turn one stage after the other on buffers of the thread's own.
#include "core/s3/kernels.h"
#include "core/s3/lower/vector_emit.h"
#include "core/s3/plan/plan.h"
#include "core/s3/plan/plan_stages.h"

#include <mlir-c/BuiltinAttributes.h>
#include <string.h>

typedef struct stager {
  pb_unit* unit;
  MlirOperation func;
  pb_vemit e;
  pb_program kernel; // its arguments, and buffers as they come
  MlirAttribute plans;
  MlirValue loops[PB_NEST_OUTERS];
  int64_t extents[PB_NEST_OUTERS];
  int level;
} stager;

static MlirBlock body_of(MlirOperation op) { return mlirRegionGetFirstBlock(mlirOperationGetRegion(op, 0)); }

static bool is_nest(MlirOperation op) { return !mlirAttributeIsNull(pb_op_attribute(op, "pb.part")); }

static bool is_tile_loop(MlirOperation op) { return pb_op_is(op, "affine.for") && !is_nest(op); }

static pb_status enter(stager* s, MlirOperation loop) {
  if (s->level == PB_NEST_OUTERS)
    return pb_unsupported(s->unit->diag, (pb_place){.what = pb_func_name(s->func, &s->unit->pass)}, 4024, NULL,
                          "loops over tiles more than %d deep", PB_NEST_OUTERS);
  s->loops[s->level] = mlirBlockGetArgument(body_of(loop), 0);
  s->extents[s->level++] = pb_loop_turns(loop);
  return PB_OK;
}

// A buffer is an argument more, in the thread's own memory.
static void add_buffer(stager* s, MlirOperation op) {
  MlirValue ir = mlirOperationGetResult(op, 0);
  pb_access shape;
  pb_access_of_value(ir, &shape);
  pb_value value = {.ir = ir,
                    .kind = PB_VALUE_LOCAL,
                    .argument = s->kernel.value_count,
                    .const_id = -1,
                    .type = shape.type,
                    .rank = shape.rank};
  memcpy(value.shape, shape.shape, sizeof value.shape);
  (void)pb_program_add_value(&s->kernel, &s->unit->pass, &value);
}

static void declare_buffer(stager* s, const pb_value* value) {
  pb_access shape = pb_value_shape(value);
  pb_text_add(&s->e.constants, "  %%%s%d = memref.alloca() {alignment = 64 : i64} : memref<%lldx%s>\n",
              value->rank == 1 ? "a" : "f", value->argument, (long long)pb_access_elements(&shape),
              pb_type_name(value->type));
}

static pb_status add_nest(stager* s, MlirOperation op, pb_program* turn) {
  pb_nest* nest = &turn->nests[turn->nest_count];
  const char* why = pb_nest_read(op, &s->unit->pass, nest);
  if (why)
    return pb_unsupported(s->unit->diag, (pb_place){.what = nest->name}, 4002, NULL, "not in value form: %s", why);
  pb_nest_order_outers(nest, s->loops, s->extents, s->level);
  for (int a = 0; a < nest->access_count; ++a)
    for (int v = 0; v < turn->value_count; ++v)
      if (pb_value_same(turn->values[v].ir, nest->access[a].memref)) turn->value_of[turn->nest_count][a] = v;
  ++turn->nest_count;
  return PB_OK;
}

// The nests of a block: with the kernel's arguments, and the buffers in front of them, a program.
static pb_status read_turn(stager* s, MlirBlock block, pb_program* turn) {
  size_t nests = 0;
  for (MlirOperation op = mlirBlockGetFirstOperation(block); !mlirOperationIsNull(op);
       op = mlirOperationGetNextInBlock(op)) {
    nests += is_nest(op);
    if (pb_op_is(op, "memref.alloc")) add_buffer(s, op);
  }
  *turn = s->kernel;
  turn->nest_count = 0;
  turn->nests = pb_alloc_raw(&s->unit->pass, nests * sizeof *turn->nests);
  turn->value_of = pb_alloc_array(&s->unit->pass, nests + 1, sizeof *turn->value_of);
  for (MlirOperation op = mlirBlockGetFirstOperation(block); !mlirOperationIsNull(op);
       op = mlirOperationGetNextInBlock(op))
    if (is_nest(op)) PB_TRY(add_nest(s, op, turn));
  pb_program_index(turn, &s->unit->pass);
  return PB_OK;
}

// Full turns as the kernel's plan says; what they leave over is planned here.
static pb_status plan_of(stager* s, const pb_group* group, int stage, bool rest, pb_vplan* tiles) {
  const char* why;
  pb_plan plan;
  pb_place place = {.what = pb_func_name(s->func, &s->unit->pass)};
  if (stage >= mlirArrayAttrGetNumElements(s->plans))
    return pb_error(s->unit->diag, place, 4011, "--emit=plan prints whole ones", "its plan has no stage %d", stage);
  if (rest)
    PB_TRY(pb_plan_make(s->unit->chip, group, &s->unit->pass, s->unit->diag, &plan));
  else
    PB_TRY(pb_plan_from(mlirArrayAttrGetElement(s->plans, stage), place, 4011, &s->unit->pass, s->unit->diag, &plan));
  if (pb_plan_cost(s->unit->chip, group, &plan, &s->unit->pass, &why) &&
      pb_vplan_of(group->registers, &plan, tiles, &why))
    return PB_OK;
  return pb_error(s->unit->diag, place, 4012, NULL, "its plan is illegal: %s", why);
}

static pb_status print_turn(stager* s, MlirBlock block, bool rest, int indent) {
  pb_program program;
  pb_turn turn;
  PB_TRY(read_turn(s, block, &program));
  if (!pb_turn_read(s->unit->chip, &program, &s->unit->pass, &turn))
    return pb_error(s->unit->diag, (pb_place){.what = pb_func_name(s->func, &s->unit->pass)}, 4012, NULL,
                    "stage %d is of no form that vectors walk: %s", turn.count - 1, turn.groups[turn.count - 1].plain);
  bool* declared = PB_NEW_ARRAY(&s->unit->pass, bool, (size_t)program.value_count + 1);
  for (int k = 0; k < turn.count; ++k) {
    pb_vplan plan;
    PB_TRY(plan_of(s, &turn.groups[k], k, rest, &plan));
    for (int v = 0; v < turn.views[k].value_count; ++v) { // buffers that the stage makes
      const pb_value* value = &turn.views[k].values[v];
      bool makes = false;
      for (int n = 0; n < turn.views[k].nest_count; ++n) makes |= pb_program_writes(&turn.views[k], n, v);
      if (!makes || value->argument < 0 || s->kernel.values[value->argument].kind != PB_VALUE_LOCAL) continue;
      if (!declared[value->argument]) declare_buffer(s, value);
      declared[value->argument] = true;
    }
    s->e.k = turn.groups[k].registers;
    s->e.plan = &plan;
    pb_vemit_loops(&s->e, indent);
  }
  return PB_OK;
}

static pb_status print_block(stager* s, MlirBlock block, bool rest, int indent) {
  bool any = false;
  for (MlirOperation op = mlirBlockGetFirstOperation(block); !mlirOperationIsNull(op);
       op = mlirOperationGetNextInBlock(op)) {
    any |= is_nest(op);
    if (!is_tile_loop(op)) continue;
    pb_text_indent(s->e.text, indent);
    pb_text_add(s->e.text, "affine.for %%o%d = 0 to %lld {\n", s->level, (long long)pb_loop_turns(op));
    PB_TRY(enter(s, op));
    PB_TRY(print_block(s, body_of(op), rest || pb_op_integer(op, "pb.first", 0) > 0, indent + 1));
    --s->level;
    pb_text_indent(s->e.text, indent);
    pb_text_add(s->e.text, "}\n");
  }
  return any ? print_turn(s, block, rest, indent) : PB_OK;
}

// The one loop over tiles that is all of a block; null: there is none.
static MlirOperation only_loop(MlirBlock block) {
  MlirOperation op = mlirBlockGetFirstOperation(block);
  bool only = is_tile_loop(op) && mlirOperationEqual(mlirOperationGetNextInBlock(op), mlirBlockGetTerminator(block));
  return only ? op : (MlirOperation){NULL};
}

// Threads share the turns of the outermost loops.
static pb_status print_shares(stager* s, MlirBlock block) {
  pb_text* text = s->e.text;
  int64_t items = 1, inside = 1;
  for (MlirOperation op; !mlirOperationIsNull(op = only_loop(block)); block = body_of(op)) {
    PB_TRY(enter(s, op));
    items *= s->extents[s->level - 1];
  }
  pb_text_add(text, "  %%items = arith.constant %lld : index\n", (long long)items);
  pb_text_add(text, "  %%lo:2 = func.call @pb_share(%%items) : (index) -> (index, index)\n");
  pb_vemit_flats(&s->e, &s->kernel);
  pb_text_add(text, "  affine.for %%item = %%lo#0 to %%lo#1 {\n");
  for (int k = s->level - 1; k >= 0; --k) {
    pb_text_add(text, "    %%o%d = affine.apply affine_map<(d0) -> ((d0 floordiv %lld) mod %lld)>(%%item)\n", k,
                (long long)inside, (long long)s->extents[k]);
    inside *= s->extents[k];
  }
  PB_TRY(print_block(s, block, false, 2));
  pb_text_add(text, "  }\n");
  return PB_OK;
}

pb_status pb_vectorise_stages(pb_unit* unit, MlirOperation func) {
  pb_text body = {0};
  stager s = {.unit = unit, .func = func, .e = {.chip = unit->chip, .arena = &unit->pass, .text = &body}};
  s.plans = pb_member(pb_op_attribute(func, "pb.plan"), "stages");
  pb_program_read_arguments(func, &unit->pass, &s.kernel);
  pb_status status = print_shares(&s, body_of(func));
  if (status == PB_OK) return pb_vemit_replace(unit, func, &s.e);
  pb_vemit_free(&s.e);
  return status;
}
