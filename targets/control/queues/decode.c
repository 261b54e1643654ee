#include "targets/control/queues/decode.h"

#include "core/s3/kernels.h"

#include <mlir-c/AffineExpr.h>
#include <mlir-c/AffineMap.h>
#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>
#include <mlir-c/IntegerSet.h>
#include <stdlib.h>
#include <string.h>

typedef struct entry {
  const void* key;
  int value;
} entry;

typedef struct decoder {
  const pb_chip* chip;
  pb_arena* arena;
  pb_diag* diag;
  pb_decoded* out;
  entry* table; // SSA value to number, open addressing
  size_t capacity, count;
  const char *name_data, *name; // the node that was named last
} decoder;

static int new_value(decoder* d) {
  pb_decoded* out = d->out;
  PB_PUSH(out->values, out->value_count, out->value_capacity, ((pb_unrolled_value){0}));
  return (int)out->value_count - 1;
}

static entry* find(const decoder* d, const void* key) {
  size_t at = ((uintptr_t)key >> 3) * 0x9E3779B97F4A7C15ull >> 20 & (d->capacity - 1);
  while (d->table[at].key && d->table[at].key != key) at = (at + 1) & (d->capacity - 1);
  return &d->table[at];
}

static void widen(decoder* d) {
  entry* from = d->table;
  size_t old = d->capacity;
  d->capacity = old ? old * 2 : 1024;
  d->table = calloc(d->capacity, sizeof *d->table);
  if (!d->table) pb_no_memory(d->capacity * sizeof *d->table);
  for (size_t k = 0; k < old; ++k)
    if (from[k].key) *find(d, from[k].key) = from[k];
  free(from);
}

static int value_of(decoder* d, MlirValue v) {
  if (2 * (d->count + 1) > d->capacity) widen(d);
  entry* e = find(d, v.ptr);
  if (!e->key) {
    *e = (entry){v.ptr, new_value(d)};
    ++d->count;
  }
  return e->value;
}

static pb_unrolled_value* result_of(decoder* d, MlirOperation op) {
  int value = value_of(d, mlirOperationGetResult(op, 0));
  return &d->out->values[value];
}

static int constant(decoder* d, int64_t number) {
  int value = new_value(d);
  d->out->values[value].number = (double)number;
  return value;
}

static pb_decoded_op* add(decoder* d, pb_decoded_kind kind) {
  pb_decoded* out = d->out;
  PB_PUSH(out->ops, out->op_count, out->op_capacity, ((pb_decoded_op){.kind = kind}));
  return &out->ops[out->op_count - 1];
}

static int* operands_of(decoder* d, MlirOperation op) {
  int count = (int)mlirOperationGetNumOperands(op);
  int* list = PB_NEW_ARRAY(d->arena, int, (size_t)count + 1);
  for (int k = 0; k < count; ++k) list[k] = value_of(d, mlirOperationGetOperand(op, k));
  return list;
}

static int expr_nodes(MlirAffineExpr e) {
  if (mlirAffineExprIsAConstant(e) || mlirAffineExprIsADim(e) || mlirAffineExprIsASymbol(e)) return 1;
  return 1 + expr_nodes(mlirAffineBinaryOpExprGetLHS(e)) + expr_nodes(mlirAffineBinaryOpExprGetRHS(e));
}

// Appends the expression's nodes; returns the last one's index.
static int decode_expr(MlirAffineExpr e, pb_decoded_op* op, int dims) {
  pb_affine_node node = {.kind = PB_AFFINE_INPUT};
  if (mlirAffineExprIsAConstant(e))
    node = (pb_affine_node){.kind = PB_AFFINE_CONST, .value = mlirAffineConstantExprGetValue(e)};
  else if (mlirAffineExprIsADim(e))
    node.a = op->operands[mlirAffineDimExprGetPosition(e)];
  else if (mlirAffineExprIsASymbol(e))
    node.a = op->operands[dims + mlirAffineSymbolExprGetPosition(e)];
  else {
    node.kind = mlirAffineExprIsAAdd(e)        ? PB_AFFINE_ADD
                : mlirAffineExprIsAMul(e)      ? PB_AFFINE_MUL
                : mlirAffineExprIsAMod(e)      ? PB_AFFINE_MOD
                : mlirAffineExprIsAFloorDiv(e) ? PB_AFFINE_FLOORDIV
                                               : PB_AFFINE_CEILDIV;
    node.a = decode_expr(mlirAffineBinaryOpExprGetLHS(e), op, dims);
    node.b = decode_expr(mlirAffineBinaryOpExprGetRHS(e), op, dims);
  }
  op->nodes[op->node_count] = node;
  return op->node_count++;
}

// Adds what makes `result` of expressions over the operands, the first `dims` of which are their dims.
static void decode_exprs(decoder* d, pb_decoded_kind kind, int result, int* operands, const MlirAffineExpr* exprs,
                         int count, int dims) {
  int nodes = 0;
  for (int k = 0; k < count; ++k) nodes += expr_nodes(exprs[k]);
  pb_decoded_op* out = add(d, kind);
  out->result = result;
  out->operands = operands;
  out->result_count = count;
  out->nodes = PB_NEW_ARRAY(d->arena, pb_affine_node, (size_t)nodes);
  out->results = PB_NEW_ARRAY(d->arena, int, (size_t)count);
  for (int k = 0; k < count; ++k) out->results[k] = decode_expr(exprs[k], out, dims);
  if (nodes > d->out->most_nodes) d->out->most_nodes = nodes;
}

static void decode_affine(decoder* d, MlirOperation op, pb_decoded_kind kind) {
  MlirAffineMap map = mlirAffineMapAttrGetValue(pb_op_attribute(op, "map"));
  int *operands = operands_of(d, op), count = (int)mlirAffineMapGetNumResults(map);
  MlirAffineExpr* exprs = PB_NEW_ARRAY(d->arena, MlirAffineExpr, (size_t)count + 1);
  for (int k = 0; k < count; ++k) exprs[k] = mlirAffineMapGetResult(map, k);
  decode_exprs(d, kind, value_of(d, mlirOperationGetResult(op, 0)), operands, exprs, count,
               (int)mlirAffineMapGetNumDims(map));
}

static void decode_constant(decoder* d, MlirOperation op) {
  MlirAttribute a = pb_op_attribute(op, "value");
  double value = mlirAttributeIsAFloat(a) ? mlirFloatAttrGetValueDouble(a) : (double)mlirIntegerAttrGetValueInt(a);
  result_of(d, op)->number = value;
  result_of(d, op)->is_float = mlirAttributeIsAFloat(a);
}

static void bind_memref(decoder* d, MlirValue v, int argument, int64_t address) {
  MlirType type = mlirValueGetType(v);
  int value = value_of(d, v);
  d->out->values[value] =
      (pb_unrolled_value){.memory = pb_memref_memory(d->chip, v),
                          .argument = argument,
                          .base = address,
                          .element = pb_type_bits(pb_type_of(mlirShapedTypeGetElementType(type))) / 8};
}

// Operands: the buffer, one offset, then extents, then strides (all dynamic, as `map` prints them); those that the
// parser folded into the type are static.
static void decode_window(decoder* d, MlirOperation op) {
  static const char* const parts[] = {"static_offsets", "static_sizes", "static_strides"};
  int rank = (int)mlirDenseArrayGetNumElements(pb_op_attribute(op, "static_sizes")), count = 0;
  int* operands = PB_NEW_ARRAY(d->arena, int, 2 + 2 * (size_t)rank);
  intptr_t next = 1;
  operands[count++] = value_of(d, mlirOperationGetOperand(op, 0));
  for (int p = 0; p < 3; ++p) {
    MlirAttribute fixed = pb_op_attribute(op, parts[p]);
    for (int k = 0; k < (p ? rank : 1); ++k) {
      int64_t value = mlirDenseI64ArrayGetElement(fixed, k);
      operands[count++] = value == INT64_MIN ? value_of(d, mlirOperationGetOperand(op, next++))
                                             : constant(d, value); // the minimum: dynamic
    }
  }
  int result = value_of(d, mlirOperationGetResult(op, 0));
  pb_decoded_op* out = add(d, PB_DECODED_WINDOW);
  out->result = result;
  out->operands = operands;
  out->operand_count = count;
  out->rank = rank;
}

static const pb_insn* called(decoder* d, MlirOperation op) {
  MlirStringRef s = mlirFlatSymbolRefAttrGetValue(pb_op_attribute(op, "callee"));
  char* name = pb_printf(d->arena, "%.*s", (int)s.length, s.data); // chip.INSN or chip.INSN.type
  char* insn = strchr(name, '.');
  if (!insn) return NULL;
  char* type = strchr(insn + 1, '.');
  if (type) *type = 0;
  return pb_chip_insn(d->chip, insn + 1);
}

static pb_status decode_call(decoder* d, MlirOperation op) {
  const pb_insn* insn = called(d, op);
  if (!insn) return pb_unsupported(d->diag, (pb_place){0}, 4102, NULL, "a call of something that is no instruction");
  MlirAttribute nest = pb_op_attribute(op, "pb.nest");
  const char* name = NULL;
  if (!mlirAttributeIsNull(nest)) {
    MlirStringRef s = mlirStringAttrGetValue(nest);
    if (s.data != d->name_data) d->name = pb_printf(d->arena, "%.*s", (int)s.length, s.data);
    d->name_data = s.data; // attributes are unique: the same text is the same pointer
    name = d->name;
  }
  int* operands = operands_of(d, op);
  pb_decoded_op* out = add(d, PB_DECODED_CALL);
  out->insn = insn;
  out->nest = name;
  out->operands = operands;
  out->operand_count = (int)mlirOperationGetNumOperands(op);
  return PB_OK;
}

static pb_status decode_block(decoder* d, MlirBlock block);

static void decode_share(decoder* d, MlirOperation op, pb_decoded_op* loop) {
  MlirAttribute parts = pb_op_attribute(op, "pb.parts");
  if (mlirAttributeIsNull(parts)) return;
  loop->parts = mlirDenseI64ArrayGetElement(parts, 0);
  loop->weight = mlirDenseI64ArrayGetElement(parts, 1);
  loop->first = pb_op_integer(op, "pb.first", 0);
  loop->iterations = pb_op_integer(op, "pb.iterations", loop->extent);
  int cores = (int)(loop->parts * loop->weight);
  if (cores > d->out->cores) d->out->cores = cores;
}

static pb_status decode_loop(decoder* d, MlirOperation op) {
  MlirBlock body = mlirRegionGetFirstBlock(mlirOperationGetRegion(op, 0));
  MlirAffineMap upper = mlirAffineMapAttrGetValue(pb_op_attribute(op, "upperBoundMap"));
  int result = value_of(d, mlirBlockGetArgument(body, 0));
  pb_decoded_op* loop = add(d, PB_DECODED_LOOP);
  int begin = (int)d->out->op_count - 1;
  loop->result = result;
  loop->extent = mlirAffineConstantExprGetValue(mlirAffineMapGetResult(upper, 0));
  decode_share(d, op, loop);
  PB_TRY(decode_block(d, body));
  int end = (int)d->out->op_count;
  add(d, PB_DECODED_END)->other = begin;
  d->out->ops[begin].other = end;
  return PB_OK;
}

// What is done in one iteration of a loop: where one expression is 0.
static pb_status decode_if(decoder* d, MlirOperation op) {
  MlirIntegerSet set = mlirIntegerSetAttrGetValue(pb_op_attribute(op, "condition"));
  if (mlirIntegerSetGetNumConstraints(set) != 1 || !mlirIntegerSetIsConstraintEq(set, 0))
    return pb_unsupported(d->diag, (pb_place){0}, 4103, NULL, "a condition in a placed kernel that is no equation");
  MlirAffineExpr zero = mlirIntegerSetGetConstraint(set, 0);
  int *operands = operands_of(d, op), *tested = PB_NEW(d->arena, int);
  *tested = new_value(d);
  decode_exprs(d, PB_DECODED_APPLY, *tested, operands, &zero, 1, (int)mlirIntegerSetGetNumDims(set));
  int begin = (int)d->out->op_count;
  pb_decoded_op* test = add(d, PB_DECODED_IF);
  test->operands = tested;
  test->operand_count = 1;
  PB_TRY(decode_block(d, mlirRegionGetFirstBlock(mlirOperationGetRegion(op, 0))));
  d->out->ops[begin].other = (int)d->out->op_count - 1;
  return PB_OK;
}

static pb_status decode_block(decoder* d, MlirBlock block) {
  for (MlirOperation op = mlirBlockGetFirstOperation(block); !mlirOperationIsNull(op);
       op = mlirOperationGetNextInBlock(op)) {
    if (pb_op_is(op, "affine.for"))
      PB_TRY(decode_loop(d, op));
    else if (pb_op_is(op, "affine.if"))
      PB_TRY(decode_if(d, op));
    else if (pb_op_is(op, "affine.apply"))
      decode_affine(d, op, PB_DECODED_APPLY);
    else if (pb_op_is(op, "affine.max"))
      decode_affine(d, op, PB_DECODED_MAX);
    else if (pb_op_is(op, "affine.min"))
      decode_affine(d, op, PB_DECODED_MIN);
    else if (pb_op_is(op, "arith.constant"))
      decode_constant(d, op);
    else if (pb_op_is(op, "arith.cmpi")) { // the one comparison that `map` makes: not equal
      int *operands = operands_of(d, op), result = value_of(d, mlirOperationGetResult(op, 0));
      pb_decoded_op* out = add(d, PB_DECODED_DIFFERS);
      out->result = result;
      out->operands = operands;
      out->operand_count = 2;
    } else if (pb_op_is(op, "memref.alloc")) // of codes two of which lie in a byte, where as many bytes would begin
      bind_memref(d, mlirOperationGetResult(op, 0), -1,
                  pb_op_integer(op, "pb.address", 0) * (pb_op_integer(op, "pb.packed", 0) ? 2 : 1));
    else if (pb_op_is(op, "memref.reinterpret_cast"))
      decode_window(d, op);
    else if (pb_op_is(op, "func.call"))
      PB_TRY(decode_call(d, op));
    else if (!pb_op_is(op, "affine.yield") && !pb_op_is(op, "func.return")) {
      MlirStringRef s = mlirIdentifierStr(mlirOperationGetName(op));
      return pb_unsupported(d->diag, (pb_place){0}, 4103, NULL, "'%.*s' in a placed kernel", (int)s.length, s.data);
    }
  }
  return PB_OK;
}

// Those that stay on the chip have an address there; commands name the others by their numbers among themselves.
static void bind_arguments(decoder* d, MlirBlock body) {
  for (int k = 0; k < (int)mlirBlockGetNumArguments(body); ++k) {
    MlirValue argument = mlirBlockGetArgument(body, k);
    bool outside = pb_is_outside(&d->chip->memories[pb_memref_memory(d->chip, argument)]);
    bind_memref(d, argument, outside ? d->out->argument_count++ : -1,
                outside ? 0 : mlirIntegerAttrGetValueInt(pb_argument_attribute(argument, "pb.address")));
  }
}

pb_status pb_decode_kernel(const pb_chip* chip, MlirOperation func, pb_arena* arena, pb_diag* diag,
                           pb_decoded* decoded) {
  *decoded = (pb_decoded){.cores = 1};
  decoder d = {.chip = chip, .arena = arena, .diag = diag, .out = decoded};
  MlirBlock body = mlirRegionGetFirstBlock(mlirOperationGetRegion(func, 0));
  bind_arguments(&d, body);
  pb_status status = PB_OK;
  if (decoded->argument_count > chip->arguments)
    status = pb_unsupported(diag, (pb_place){.what = pb_func_name(func, arena)}, 4104, NULL,
                            "%d tensors in one kernel; commands can name %d", decoded->argument_count, chip->arguments);
  if (status == PB_OK) status = decode_block(&d, body);
  free(d.table);
  return status;
}

void pb_decoded_free(pb_decoded* decoded) {
  free(decoded->ops);
  free(decoded->values);
  *decoded = (pb_decoded){0};
}
