#include "core/s3/lower/tiled.h"

#include "core/s3/small_codes.h"

#include <mlir-c/AffineExpr.h>
#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/IntegerSet.h>

typedef struct reader {
  pb_unit* unit;
  MlirOperation func;
  pb_tiled* tiled;
  MlirValue loops[PB_NEST_OUTERS];
  int64_t extents[PB_NEST_OUTERS];
  int level;
} reader;

static pb_place place_of(const reader* r) { return (pb_place){.what = pb_func_name(r->func, &r->unit->pass)}; }

static pb_tree* add_node(reader* r, pb_tree* parent, pb_tree_kind kind) {
  pb_tree* node = PB_NEW(&r->unit->pass, pb_tree);
  *node = (pb_tree){.kind = kind, .level = r->level, .buffer = -1};
  pb_tree_put(parent, node);
  return node;
}

// ---- buffers ----

static pb_status add_buffer(reader* r, MlirValue ir, pb_tiled_buffer** added) {
  pb_tiled* t = r->tiled;
  if (t->buffer_count == PB_MAX_BUFFERS)
    return pb_unsupported(r->unit->diag, place_of(r), 4020, NULL, "too many buffers");
  pb_tiled_buffer* b = *added = &t->buffers[t->buffer_count++];
  *b = (pb_tiled_buffer){.ir = ir, .name = "", .depth = 1, .level = r->level, .argument = -1, .place = -1};
  pb_access_of_value(ir, &b->shape);
  b->lies = b->shape.type;
  b->memory = pb_memref_memory(r->unit->chip, ir);
  if (b->memory >= 0) return PB_OK;
  return pb_error(r->unit->diag, place_of(r), 4026, "a memory of the description",
                  "a buffer lies in a memory that %s lacks", r->unit->chip->name);
}

// Tensors that stay on the chip from kernel to kernel.
static pb_status read_residents(reader* r) {
  MlirBlock block = pb_op_body(r->func);
  for (int k = 0; k < (int)mlirBlockGetNumArguments(block); ++k) {
    MlirValue ir = mlirBlockGetArgument(block, k);
    pb_tiled_buffer* b;
    if (pb_is_outside(&r->unit->chip->memories[pb_memref_memory(r->unit->chip, ir)])) continue;
    PB_TRY(add_buffer(r, ir, &b));
    b->argument = k;
  }
  return PB_OK;
}

static pb_status read_alloc(reader* r, MlirOperation op, pb_tree* parent) {
  pb_tiled_buffer* b;
  MlirAttribute name = pb_op_attribute(op, "pb.name");
  PB_TRY(add_buffer(r, mlirOperationGetResult(op, 0), &b));
  if (!mlirAttributeIsNull(name)) b->name = pb_attribute_text(name, &r->unit->pass);
  b->depth = (int)pb_op_integer(op, "pb.depth", 1);
  b->place = pb_op_integer(op, "pb.place", -1);
  b->shape.splat = pb_op_has(op, "pb.splat");
  b->lies = pb_small_codes_alloc(op, b->lies);
  add_node(r, parent, PB_TREE_ALLOC)->buffer = (int)(b - r->tiled->buffers);
  return PB_OK;
}

// ---- nests and loops ----

static pb_status read_nest(reader* r, MlirOperation op, pb_tree* parent) {
  pb_nest* nest = pb_alloc_raw(&r->unit->pass, sizeof *nest);
  const char* why = pb_nest_read(op, &r->unit->pass, nest);
  if (why)
    return pb_unsupported(r->unit->diag, (pb_place){.what = nest->name}, 4021, NULL, "not in value form: %s", why);
  pb_nest_order_outers(nest, r->loops, r->extents, r->level);
  for (int a = 0; a < nest->access_count; ++a) {
    nest->access[a].buffer = -1;
    for (int b = 0; b < r->tiled->buffer_count; ++b)
      if (pb_value_same(r->tiled->buffers[b].ir, nest->access[a].memref)) nest->access[a].buffer = b;
  }
  add_node(r, parent, PB_TREE_NEST)->nest = nest;
  return PB_OK;
}

static pb_status read_block(reader* r, MlirBlock block, pb_tree* parent);

// In how many parts a loop is shared, and the weight of their number.
static void read_parts(MlirOperation loop, pb_tree* node) {
  MlirAttribute parts = pb_op_attribute(loop, "pb.parts");
  if (mlirAttributeIsNull(parts) || !mlirAttributeIsADenseI64Array(parts) || mlirDenseArrayGetNumElements(parts) != 2)
    return;
  int64_t count = mlirDenseI64ArrayGetElement(parts, 0), weight = mlirDenseI64ArrayGetElement(parts, 1);
  node->parts = count > 0 ? count : 0;
  node->parts_step = weight > 0 ? weight : 1;
}

static pb_status read_loop(reader* r, MlirOperation op, pb_tree* parent) {
  if (r->level == PB_NEST_OUTERS)
    return pb_unsupported(r->unit->diag, place_of(r), 4024, NULL, "loops over tiles more than %d deep", PB_NEST_OUTERS);
  pb_tree* loop = add_node(r, parent, PB_TREE_LOOP);
  loop->extent = pb_loop_iterations(op);
  loop->iterations_before = pb_op_integer(op, "pb.first", 0);
  loop->iterations = pb_op_integer(op, "pb.iterations", 0);
  read_parts(op, loop);
  r->loops[r->level] = mlirBlockGetArgument(pb_op_body(op), 0);
  r->extents[r->level++] = loop->extent;
  PB_TRY(read_block(r, pb_op_body(op), loop));
  --r->level;
  return PB_OK;
}

// `d0 - n == 0` of the loop that the condition is about.
static pb_status read_iteration(reader* r, MlirOperation op, pb_tree* parent) {
  pb_tree* node = add_node(r, parent, PB_TREE_ITERATION);
  MlirIntegerSet set = mlirIntegerSetAttrGetValue(pb_op_attribute(op, "condition"));
  MlirAffineExpr distance = mlirIntegerSetGetConstraint(set, 0), from = distance;
  if (mlirAffineExprIsAAdd(distance)) from = mlirAffineBinaryOpExprGetRHS(distance);
  node->iteration = mlirAffineExprIsAConstant(from) ? -mlirAffineConstantExprGetValue(from) : 0;
  while (node->loop < r->level && !pb_value_same(r->loops[node->loop], mlirOperationGetOperand(op, 0))) ++node->loop;
  PB_TRY(read_block(r, pb_op_body(op), node));
  MlirBlock others = mlirRegionGetFirstBlock(mlirOperationGetRegion(op, 1));
  if (mlirBlockIsNull(others)) return PB_OK;
  node->others = PB_NEW(&r->unit->pass, pb_tree);
  return read_block(r, others, node->others);
}

static pb_status read_block(reader* r, MlirBlock block, pb_tree* parent) {
  PB_FOR_OPS (op, block) {
    if (pb_op_is(op, "memref.alloc"))
      PB_TRY(read_alloc(r, op, parent));
    else if (pb_op_has(op, "pb.part"))
      PB_TRY(read_nest(r, op, parent));
    else if (pb_op_is(op, "affine.if"))
      PB_TRY(read_iteration(r, op, parent));
    else if (pb_op_is(op, "affine.for"))
      PB_TRY(read_loop(r, op, parent));
  }
  return PB_OK;
}

pb_status pb_tiled_read(pb_unit* unit, MlirOperation func, pb_tiled* tiled) {
  reader r = {.unit = unit, .func = func, .tiled = tiled};
  tiled->root = (pb_tree){.kind = PB_TREE_LOOP, .extent = 1};
  tiled->buffer_count = 0;
  PB_TRY(read_residents(&r));
  return read_block(&r, pb_op_body(func), &tiled->root);
}

// ---- text ----

static pb_status print_body(pb_tiled_printer* p, const pb_tree* body, int indent, const char* end) {
  PB_TRY(pb_tiled_print(p, body, indent + 1));
  pb_text_line(p->text, indent, "%s", end);
  return PB_OK;
}

// Which iterations of its axis it has, and whose they are, stay with it.
static pb_status print_loop(pb_tiled_printer* p, const pb_tree* loop, int indent) {
  pb_text_line(p->text, indent, "affine.for %%o%d = 0 to %lld {\n", p->levels, (long long)loop->extent);
  p->loops[p->levels++] = loop;
  PB_TRY(print_body(p, loop, indent, "}"));
  --p->levels;
  if (loop->iterations)
    pb_text_add(p->text, " {pb.first = %lld : i64, pb.iterations = %lld : i64", (long long)loop->iterations_before,
                (long long)loop->iterations);
  if (loop->parts)
    pb_text_add(p->text, "%spb.parts = array<i64: %lld, %lld>", loop->iterations ? ", " : " {", (long long)loop->parts,
                (long long)loop->parts_step);
  pb_text_add(p->text, loop->iterations || loop->parts ? "}\n" : "\n");
  return PB_OK;
}

static pb_status print_iteration(pb_tiled_printer* p, const pb_tree* iteration, int indent) {
  pb_text_line(p->text, indent, "affine.if affine_set<(d0) : (d0 - %lld == 0)>(%%o%d) {\n",
               (long long)iteration->iteration, iteration->loop);
  PB_TRY(print_body(p, iteration, indent, iteration->others ? "} else {\n" : "}\n"));
  return iteration->others ? print_body(p, iteration->others, indent, "}\n") : PB_OK;
}

pb_status pb_tiled_print(pb_tiled_printer* p, const pb_tree* tree, int indent) {
  for (const pb_tree* node = tree->first; node; node = node->next) {
    if (node->kind == PB_TREE_ALLOC) p->alloc(p->user, node->buffer, indent);
    if (node->kind == PB_TREE_NEST) PB_TRY(p->nest(p->user, node->nest, indent));
    if (node->kind == PB_TREE_ITERATION) PB_TRY(print_iteration(p, node, indent));
    if (node->kind == PB_TREE_LOOP) PB_TRY(print_loop(p, node, indent));
    if (node->kind == PB_TREE_STAGE) PB_TRY(pb_tiled_print(p, node, indent));
  }
  return PB_OK;
}
