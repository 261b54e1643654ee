// The affine IR to nests. Only the value form's nests are understood: constant bounds from 0 by 1, linear accesses,
// straight-line bodies with one store at the end, an affine.if where a load has a box.
#include "core/poly/nest.h"

#include <mlir-c/AffineExpr.h>
#include <mlir-c/AffineMap.h>
#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>
#include <string.h>

typedef struct reader {
  pb_nest* nest;
  MlirValue ivs[PB_NEST_DIMS];
  MlirValue values[PB_NEST_EXPR]; // SSA value of each node
} reader;

static bool name_is(MlirOperation op, const char* name) {
  MlirStringRef s = mlirIdentifierStr(mlirOperationGetName(op));
  return s.length == strlen(name) && !memcmp(s.data, name, s.length);
}

static MlirAttribute attribute(MlirOperation op, const char* name) {
  return mlirOperationGetAttributeByName(op, mlirStringRefCreateFromCString(name));
}

static const char* string_attribute(MlirOperation op, const char* name, pb_arena* arena) {
  MlirAttribute a = attribute(op, name);
  if (mlirAttributeIsNull(a) || !mlirAttributeIsAString(a)) return "";
  MlirStringRef s = mlirStringAttrGetValue(a);
  return pb_printf(arena, "%.*s", (int)s.length, s.data);
}

static int integer_attribute(MlirOperation op, const char* name) {
  MlirAttribute a = attribute(op, name);
  return mlirAttributeIsNull(a) || !mlirAttributeIsAInteger(a) ? 0 : (int)mlirIntegerAttrGetValueInt(a);
}

pb_type pb_type_of(MlirType type) {
  if (mlirTypeIsAF32(type)) return PB_F32;
  if (mlirTypeIsAF64(type)) return PB_F64;
  if (mlirTypeIsAF16(type)) return PB_F16;
  if (mlirTypeIsABF16(type)) return PB_BF16;
  if (mlirTypeIsAIndex(type)) return PB_INDEX;
  if (!mlirTypeIsAInteger(type)) return PB_TYPE_COUNT;
  switch (mlirIntegerTypeGetWidth(type)) {
  case 1:
    return PB_I1;
  case 8:
    return PB_I8;
  case 16:
    return PB_I16;
  case 32:
    return PB_I32;
  case 64:
    return PB_I64;
  case 128:
    return PB_I128;
  default:
    return PB_TYPE_COUNT;
  }
}

bool pb_access_of_value(MlirValue value, pb_access* access) {
  MlirType type = mlirValueGetType(value);
  if (!mlirTypeIsAMemRef(type)) return false;
  memset(access, 0, sizeof *access);
  access->memref = value;
  access->buffer = -1;
  access->type = pb_type_of(mlirShapedTypeGetElementType(type));
  access->rank = (int)mlirShapedTypeGetRank(type);
  if (access->type == PB_TYPE_COUNT || access->rank > PB_NEST_RANK) return false;
  for (int r = 0; r < access->rank; ++r) {
    if (mlirShapedTypeIsDynamicDim(type, r)) return false;
    access->shape[r] = mlirShapedTypeGetDimSize(type, r);
  }
  return true;
}

bool pb_memref_extent(MlirValue value, pb_type* type, int64_t* first, int64_t* elements) {
  MlirType memref = mlirValueGetType(value);
  if (!mlirTypeIsAMemRef(memref) || !mlirShapedTypeHasStaticShape(memref)) return false;
  *type = pb_type_of(mlirShapedTypeGetElementType(memref));
  *first = *elements = 1;
  for (intptr_t r = mlirShapedTypeGetRank(memref) - 1; r >= 0; --r)
    *elements *= *first = mlirShapedTypeGetDimSize(memref, r);
  return *type != PB_TYPE_COUNT;
}

bool pb_value_same(MlirValue a, MlirValue b) { return a.ptr == b.ptr; }

// The column of a value that an access map uses: an own loop, or an outer one (noted on first sight).
static int column_of(reader* r, MlirValue v) {
  for (int d = 0; d < r->nest->dim_count; ++d)
    if (pb_value_same(r->ivs[d], v)) return d;
  for (int k = 0; k < r->nest->outer_count; ++k)
    if (pb_value_same(r->nest->outer[k], v)) return PB_NEST_DIMS + k;
  if (r->nest->outer_count == PB_NEST_OUTERS) return -1;
  r->nest->outer[r->nest->outer_count] = v;
  return PB_NEST_DIMS + r->nest->outer_count++;
}

// Adds scale * expr to the index; false when it is not linear.
static bool add_linear(MlirAffineExpr e, int64_t scale, const int* columns, intptr_t dims, pb_index* index) {
  if (mlirAffineExprIsAConstant(e)) {
    index->cst += scale * mlirAffineConstantExprGetValue(e);
    return true;
  }
  if (mlirAffineExprIsADim(e)) {
    index->coef[columns[mlirAffineDimExprGetPosition(e)]] += scale;
    return true;
  }
  if (mlirAffineExprIsASymbol(e)) {
    index->coef[columns[dims + mlirAffineSymbolExprGetPosition(e)]] += scale;
    return true;
  }
  if (!mlirAffineExprIsAAdd(e) && !mlirAffineExprIsAMul(e)) return false;
  MlirAffineExpr a = mlirAffineBinaryOpExprGetLHS(e), b = mlirAffineBinaryOpExprGetRHS(e);
  if (mlirAffineExprIsAAdd(e))
    return add_linear(a, scale, columns, dims, index) && add_linear(b, scale, columns, dims, index);
  if (mlirAffineExprIsAConstant(b))
    return add_linear(a, scale * mlirAffineConstantExprGetValue(b), columns, dims, index);
  if (mlirAffineExprIsAConstant(a))
    return add_linear(b, scale * mlirAffineConstantExprGetValue(a), columns, dims, index);
  return false;
}

// memref operand number `at`, then the map's operands.
static const char* read_access(reader* r, MlirOperation op, intptr_t at, pb_access* access) {
  if (!pb_access_of_value(mlirOperationGetOperand(op, at), access)) return "a memref that is not static";
  MlirAffineMap map = mlirAffineMapAttrGetValue(attribute(op, "map"));
  int columns[PB_NEST_COLS];
  intptr_t inputs = mlirAffineMapGetNumInputs(map);
  if (inputs > PB_NEST_COLS) return "an access over too many loops";
  for (intptr_t k = 0; k < inputs; ++k) {
    columns[k] = column_of(r, mlirOperationGetOperand(op, at + 1 + k));
    if (columns[k] < 0) return "an access over too many loops";
  }
  for (int i = 0; i < access->rank; ++i)
    if (!add_linear(mlirAffineMapGetResult(map, i), 1, columns, mlirAffineMapGetNumDims(map), &access->index[i]))
      return "an access that is not linear";
  return NULL;
}

// Of arith.cmpf's and arith.cmpi's predicates.
enum { ORDERED_EQUAL = 1, ORDERED_LESS = 4, ORDERED_LESS_EQUAL = 5 };
enum { EQUAL = 0, SIGNED_LESS = 2, SIGNED_LESS_EQUAL = 3, UNSIGNED_LESS = 6, UNSIGNED_LESS_EQUAL = 7 };

static pb_op comparison_of(int predicate, bool floats) {
  static const struct {
    bool floats;
    int predicate;
    pb_op op;
  } known[] = {{true, ORDERED_EQUAL, PB_OP_EQUAL},
               {true, ORDERED_LESS, PB_OP_LESS},
               {true, ORDERED_LESS_EQUAL, PB_OP_LESS_EQUAL},
               {false, EQUAL, PB_OP_EQUAL},
               {false, SIGNED_LESS, PB_OP_LESS},
               {false, SIGNED_LESS_EQUAL, PB_OP_LESS_EQUAL},
               {false, UNSIGNED_LESS, PB_OP_LESSU},
               {false, UNSIGNED_LESS_EQUAL, PB_OP_LESS_EQUALU}};
  for (size_t k = 0; k < sizeof known / sizeof *known; ++k)
    if (known[k].floats == floats && known[k].predicate == predicate) return known[k].op;
  return PB_OP_OTHER;
}

static pb_op op_of(MlirOperation op, pb_type result) {
  if (name_is(op, "arith.fptosi"))
    return result == PB_I8 ? PB_OP_FPTOSI8 : result == PB_I32 || result == PB_I64 ? PB_OP_FPTOSI : PB_OP_OTHER;
  bool floats = name_is(op, "arith.cmpf");
  if (floats || name_is(op, "arith.cmpi")) return comparison_of(integer_attribute(op, "predicate"), floats);
  MlirStringRef name = mlirIdentifierStr(mlirOperationGetName(op));
  return pb_op_spelt(name.data, name.length);
}

static int add_node(reader* r, pb_expr_node node, MlirValue value) {
  if (r->nest->expr_count == PB_NEST_EXPR) return -1;
  r->values[r->nest->expr_count] = value;
  r->nest->expr[r->nest->expr_count] = node;
  return r->nest->expr_count++;
}

static int node_of(const reader* r, MlirValue v) {
  for (int k = 0; k < r->nest->expr_count; ++k)
    if (pb_value_same(r->values[k], v)) return k;
  return -1;
}

static const char* read_load(reader* r, MlirOperation op, MlirValue result) {
  pb_nest* nest = r->nest;
  if (nest->access_count + 1 >= PB_NEST_ACCESSES) return "too many loads";
  const char* why = read_access(r, op, 0, &nest->access[nest->access_count]);
  if (why) return why;
  pb_expr_node node = {.op = PB_OP_LOAD,
                       .type = nest->access[nest->access_count].type,
                       .args = {-1, -1, -1},
                       .operand = nest->access_count};
  ++nest->access_count;
  return add_node(r, node, result) < 0 ? "too many operations" : NULL;
}

static double constant_value(MlirAttribute a) {
  if (mlirAttributeIsAFloat(a)) return mlirFloatAttrGetValueDouble(a);
  return (double)mlirIntegerAttrGetValueInt(a);
}

// The index as what the loops make of it, and perhaps a number that the body computed: its node is *gathered.
static const char* read_index(reader* r, MlirValue v, pb_index* index, int* gathered) {
  *gathered = node_of(r, v);
  if (*gathered >= 0) return NULL;
  MlirOperation op = mlirValueIsAOpResult(v) ? mlirOpResultGetOwner(v) : (MlirOperation){NULL};
  if (mlirOperationIsNull(op)) {
    int column = column_of(r, v);
    if (column < 0) return "an access over too many loops";
    index->coef[column] += 1;
    return NULL;
  }
  if (name_is(op, "arith.addi")) {
    int other;
    const char* why = read_index(r, mlirOperationGetOperand(op, 0), index, gathered);
    if (!why) why = read_index(r, mlirOperationGetOperand(op, 1), index, &other);
    if (!why && *gathered >= 0 && other >= 0) return "an index that adds two numbers of the body";
    if (other >= 0) *gathered = other;
    return why;
  }
  if (!name_is(op, "affine.apply")) return "an index that is neither of its loops nor of its body";
  MlirAffineMap map = mlirAffineMapAttrGetValue(attribute(op, "map"));
  int columns[PB_NEST_COLS];
  intptr_t inputs = mlirAffineMapGetNumInputs(map);
  if (inputs > PB_NEST_COLS) return "an access over too many loops";
  for (intptr_t k = 0; k < inputs; ++k) {
    columns[k] = column_of(r, mlirOperationGetOperand(op, k));
    if (columns[k] < 0) return "an access over too many loops";
  }
  return add_linear(mlirAffineMapGetResult(map, 0), 1, columns, mlirAffineMapGetNumDims(map), index)
             ? NULL
             : "an access that is not linear";
}

// An access of which one index adds what the body computes: node *at. The memref is operand `first`.
static const char* read_computed(reader* r, MlirOperation op, int first, pb_access* access, int* at) {
  if (!pb_access_of_value(mlirOperationGetOperand(op, first), access)) return "a memref that is not static";
  for (int i = 0; i < access->rank; ++i) {
    int gathered = -1;
    const char* why = read_index(r, mlirOperationGetOperand(op, first + 1 + i), &access->index[i], &gathered);
    if (why) return why;
    if (gathered < 0) continue;
    if (access->gathered) return "two indices that its body computes";
    access->gathered = i + 1;
    *at = gathered;
  }
  return NULL;
}

static const char* read_gather(reader* r, MlirOperation op) {
  pb_nest* nest = r->nest;
  if (nest->access_count + 1 >= PB_NEST_ACCESSES) return "too many loads";
  pb_access* access = &nest->access[nest->access_count];
  pb_expr_node node = {.op = PB_OP_LOAD, .args = {-1, -1, -1}, .operand = nest->access_count};
  const char* why = read_computed(r, op, 0, access, &node.args[0]);
  if (why) return why;
  node.type = access->type;
  ++nest->access_count;
  return add_node(r, node, mlirOperationGetResult(op, 0)) < 0 ? "too many operations" : NULL;
}

// An affine.if that yields a load, or a constant outside the tensor.
static const char* read_box(reader* r, MlirOperation op) {
  if (mlirOperationGetNumResults(op) != 1 || mlirOperationGetNumRegions(op) != 2) return "an affine.if that is no box";
  MlirOperation load = mlirBlockGetFirstOperation(mlirRegionGetFirstBlock(mlirOperationGetRegion(op, 0)));
  MlirOperation other = mlirBlockGetFirstOperation(mlirRegionGetFirstBlock(mlirOperationGetRegion(op, 1)));
  if (!name_is(load, "affine.load") || !name_is(other, "arith.constant")) return "an affine.if that is no box";
  const char* why = read_load(r, load, mlirOperationGetResult(op, 0));
  if (why) return why;
  pb_access* access = &r->nest->access[r->nest->access_count - 1];
  access->boxed = true;
  access->fill = constant_value(attribute(other, "value"));
  return NULL;
}

static const char* read_body_op(reader* r, MlirOperation op) {
  if (name_is(op, "affine.load")) return read_load(r, op, mlirOperationGetResult(op, 0));
  if (name_is(op, "affine.if")) return read_box(r, op);
  if (name_is(op, "memref.load")) return read_gather(r, op);
  if (name_is(op, "affine.apply")) return NULL; // read where it is an index
  if (mlirOperationGetNumResults(op) != 1) return "an operation with effects in its body";
  MlirValue result = mlirOperationGetResult(op, 0);
  pb_expr_node node = {.type = pb_type_of(mlirValueGetType(result)), .args = {-1, -1, -1}};
  if (node.type == PB_INDEX && name_is(op, "arith.addi")) return NULL;
  for (int d = 0; name_is(op, "arith.index_cast") && d < r->nest->dim_count; ++d)
    if (pb_value_same(r->ivs[d], mlirOperationGetOperand(op, 0))) {
      node.op = PB_OP_INDEX;
      node.operand = d;
      return add_node(r, node, result) < 0 ? "too many operations" : NULL;
    }
  if (name_is(op, "arith.constant")) {
    MlirAttribute value = attribute(op, "value");
    node.op = PB_OP_CONST;
    node.value = constant_value(value);
    if (mlirAttributeIsAInteger(value)) node.integer = mlirIntegerAttrGetValueInt(value);
  } else {
    node.op = op_of(op, node.type);
    intptr_t n = mlirOperationGetNumOperands(op);
    if (n > 3) return "an operation of more than three operands";
    for (intptr_t k = 0; k < n; ++k) {
      node.args[k] = node_of(r, mlirOperationGetOperand(op, k));
      if (node.args[k] < 0) { // a constant from outside the nest
        MlirValue v = mlirOperationGetOperand(op, k);
        if (!mlirValueIsAOpResult(v) || !name_is(mlirOpResultGetOwner(v), "arith.constant"))
          return "a scalar from outside";
        const char* why = read_body_op(r, mlirOpResultGetOwner(v));
        if (why) return why;
        node.args[k] = node_of(r, v);
      }
    }
  }
  return add_node(r, node, result) < 0 ? "too many operations" : NULL;
}

static bool same_place(const pb_access* a, const pb_access* b) {
  if (!pb_value_same(a->memref, b->memref)) return false;
  for (int r = 0; r < a->rank; ++r)
    if (memcmp(&a->index[r], &b->index[r], sizeof a->index[r])) return false;
  return true;
}

static void drop_node(pb_nest* nest, int id) {
  memmove(&nest->expr[id], &nest->expr[id + 1], sizeof nest->expr[0] * (size_t)(nest->expr_count - id - 1));
  --nest->expr_count;
  for (int k = 0; k < nest->expr_count; ++k)
    for (int a = 0; a < 3; ++a)
      if (nest->expr[k].args[a] > id) --nest->expr[k].args[a];
}

// `store (old + e)` where old is what was there: a reduction. The load of old, its access and the add go.
static void recognise_reduction(pb_nest* nest) {
  int top = nest->expr_count - 1;
  pb_expr_node* n = &nest->expr[top];
  pb_reduce reduce = n->op == PB_OP_ADD       ? PB_ACC_ADD
                     : n->op == PB_OP_MAX     ? PB_ACC_MAX
                     : n->op == PB_OP_MAXIMUM ? PB_ACC_MAXIMUM
                     : n->op == PB_OP_MAXU    ? PB_ACC_MAXU
                                              : PB_SET;
  if (reduce == PB_SET) return;
  for (int side = 0; side < 2; ++side) {
    pb_expr_node* old = &nest->expr[n->args[side]];
    if (old->op != PB_OP_LOAD || old->args[0] >= 0 || !same_place(&nest->access[old->operand], pb_nest_store(nest)))
      continue;
    int value = n->args[1 - side], gone = n->args[side], access = old->operand;
    nest->reduce = reduce;
    --nest->expr_count; // the add
    if (value != top - 1 && gone != top - 1) return;
    drop_node(nest, gone);
    memmove(&nest->access[access], &nest->access[access + 1],
            sizeof nest->access[0] * (size_t)(nest->access_count - access - 1));
    --nest->access_count;
    for (int k = 0; k < nest->expr_count; ++k)
      if (nest->expr[k].op == PB_OP_LOAD && nest->expr[k].operand > access) --nest->expr[k].operand;
    return;
  }
}

static int64_t constant_bound(MlirOperation loop, const char* name) {
  MlirAffineMap map = mlirAffineMapAttrGetValue(attribute(loop, name));
  if (mlirAffineMapGetNumResults(map) != 1) return -1;
  MlirAffineExpr e = mlirAffineMapGetResult(map, 0);
  return mlirAffineExprIsAConstant(e) ? mlirAffineConstantExprGetValue(e) : -1;
}

static const char* read_store(reader* r, MlirOperation op) {
  pb_nest* nest = r->nest;
  int value = node_of(r, mlirOperationGetOperand(op, 0));
  if (value < 0) {
    MlirValue v = mlirOperationGetOperand(op, 0);
    if (!mlirValueIsAOpResult(v) || !name_is(mlirOpResultGetOwner(v), "arith.constant"))
      return "a store of a foreign scalar";
    const char* why = read_body_op(r, mlirOpResultGetOwner(v));
    if (why) return why;
    value = node_of(r, v);
  }
  pb_access* access = &nest->access[nest->access_count++];
  const char* why =
      name_is(op, "memref.store") ? read_computed(r, op, 1, access, &nest->stored_at) : read_access(r, op, 1, access);
  if (why) return why;
  if (value != nest->expr_count - 1) return "a store of a value that is not the body's last";
  // What is made in place of one of its terms is no sum, though it reads like one.
  if (nest->reduce == PB_SET && strcmp(nest->part, "point")) recognise_reduction(nest);
  return NULL;
}

static const char* read_body(reader* r, MlirBlock block) {
  for (MlirOperation op = mlirBlockGetFirstOperation(block); !mlirOperationIsNull(op);
       op = mlirOperationGetNextInBlock(op)) {
    if (name_is(op, "affine.store") || name_is(op, "memref.store")) {
      MlirOperation end = mlirOperationGetNextInBlock(op);
      if (mlirOperationIsNull(end) || !name_is(end, "affine.yield")) return "something after the store";
      return read_store(r, op);
    }
    const char* why = read_body_op(r, op);
    if (why) return why;
  }
  return "no store";
}

const char* pb_nest_read(MlirOperation op, pb_arena* arena, pb_nest* nest) {
  reader r; // its values and loops are set before anyone asks for them
  r.nest = nest;
  pb_nest_begin(nest, "", "", 0); // accesses are cleared one by one: most of a nest is not in use, nor touched
  nest->op = op;
  nest->name = string_attribute(op, "pb.nest", arena);
  nest->part = string_attribute(op, "pb.part", arena);
  MlirAttribute macs = attribute(op, "pb.macs");
  if (!mlirAttributeIsNull(macs) && mlirAttributeIsAInteger(macs)) nest->macs = mlirIntegerAttrGetValueInt(macs);
  nest->stream = integer_attribute(op, "pb.stream");
  nest->kept = integer_attribute(op, "pb.kept");
  if (!mlirAttributeIsNull(attribute(op, "pb.body"))) nest->reduce = PB_ACC_BODY;
  if (name_is(op, "affine.store")) { // every extent is 1: the operations that prologue it stand before it
    MlirBlock block = mlirOperationGetBlock(op);
    MlirOperation first = op;
    for (MlirOperation o = mlirBlockGetFirstOperation(block); o.ptr != op.ptr; o = mlirOperationGetNextInBlock(o))
      if (name_is(o, "affine.for") || name_is(o, "affine.store") || name_is(o, "func.call") ||
          name_is(o, "memref.alloc"))
        first = op;
      else if (first.ptr == op.ptr)
        first = o;
    for (MlirOperation o = first; o.ptr != op.ptr; o = mlirOperationGetNextInBlock(o)) {
      if (name_is(o, "memref.alloc")) continue;
      const char* why = read_body_op(&r, o);
      if (why) return why;
    }
    return read_store(&r, op);
  }
  for (;;) {
    if (nest->dim_count == PB_NEST_DIMS) return "a nest of too many loops";
    int64_t lower = constant_bound(op, "lowerBoundMap"), upper = constant_bound(op, "upperBoundMap");
    if (lower != 0 || upper < 1 || mlirOperationGetNumResults(op))
      return "a loop that does not run from 0 to a constant";
    if (mlirIntegerAttrGetValueInt(attribute(op, "step")) != 1) return "a loop whose step is not 1";
    MlirBlock body = mlirRegionGetFirstBlock(mlirOperationGetRegion(op, 0));
    r.ivs[nest->dim_count] = mlirBlockGetArgument(body, 0);
    nest->extent[nest->dim_count++] = upper;
    MlirOperation first = mlirBlockGetFirstOperation(body);
    if (!name_is(first, "affine.for")) return read_body(&r, body);
    op = first;
    MlirOperation next = mlirOperationGetNextInBlock(first);
    if (mlirOperationIsNull(next) || !name_is(next, "affine.yield")) return "loops that are not perfectly nested";
  }
}
