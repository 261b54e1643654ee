#include "targets/emit/llvm/convert.h"

#include "core/base/half_expr.h"
#include "core/poly/nest.h"
#include "core/s3/kernels.h"
#include "targets/emit/llvm/operation.h"

#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>
#include <string.h>

enum { MOST_NODES = 64 };

// One conversion as half_expr.h writes it: node 0 is what is converted, `root` what comes out.
typedef struct pattern {
  pb_type type; // the narrow one
  bool rounds;
  pb_expr_node nodes[MOST_NODES];
  int count, root;
} pattern;

typedef struct patterns {
  pattern all[2 * PB_NARROW_TYPES];
  int count;
} patterns;

static int add(void* user, const pb_expr_node* node) {
  pattern* p = user;
  p->nodes[p->count] = *node;
  return p->count++;
}

static void add_pattern(patterns* all, pb_type type, bool rounds) {
  pattern* p = &all->all[all->count++];
  *p = (pattern){.type = type, .rounds = rounds};
  const pb_expr_writer w = {add, p};
  pb_type from = rounds ? PB_F32 : pb_type_stored(type);
  int begin = add(p, &(pb_expr_node){.op = PB_OP_LOAD, .type = from, .args = {-1, -1, -1}});
  p->root = rounds ? pb_half_rounded(&w, type, begin) : pb_half_widened(&w, type, begin);
}

static MlirType element_of(MlirType type) {
  return mlirTypeIsAVector(type) ? mlirShapedTypeGetElementType(type) : type;
}

static bool is_of(MlirValue value, pb_type type) {
  MlirType element = element_of(mlirValueGetType(value));
  if (pb_type_is_float(type)) return type == PB_F32 && mlirTypeIsAF32(element);
  return mlirTypeIsAInteger(element) && (int)mlirIntegerTypeGetWidth(element) == pb_type_bits(type);
}

// The constant, in each element.
static bool is_constant(MlirOperation op, const pb_expr_node* node) {
  MlirAttribute value = pb_op_attribute(op, "value");
  if (!pb_op_is(op, "arith.constant") || mlirAttributeIsNull(value)) return false;
  if (mlirAttributeIsADenseElements(value)) {
    if (!mlirDenseElementsAttrIsSplat(value)) return false;
    value = mlirDenseElementsAttrGetSplatValue(value);
  }
  if (pb_type_is_float(node->type))
    return mlirAttributeIsAFloat(value) && mlirFloatAttrGetValueDouble(value) == node->value;
  return mlirAttributeIsAInteger(value) && mlirIntegerAttrGetValueInt(value) == node->integer;
}

// The operation's name as the pattern has it, which ends in a predicate where it compares.
static bool is_spelt(MlirOperation op, const pattern* p, int at) {
  static const char* const of_integers[] = {"eq,", "ne,", "slt,", "sle,", "sgt,", "sge,", "ult,", "ule,"};
  static const char* const of_floats[] = {"false,", "oeq,", "ogt,", "oge,", "olt,", "ole,"};
  const char* spelling = pb_node_spelling(p->nodes, at);
  size_t length = strcspn(spelling, " ");
  MlirStringRef name = mlirIdentifierStr(mlirOperationGetName(op));
  if (name.length != length || memcmp(name.data, spelling, length) != 0) return false;
  if (!spelling[length]) return true;
  bool floats = pb_type_is_float(p->nodes[p->nodes[at].args[0]].type);
  int64_t predicate = pb_op_integer(op, "predicate", -1), most = floats ? 6 : 8;
  return predicate >= 0 && predicate < most &&
         !strcmp(spelling + length + 1, floats ? of_floats[predicate] : of_integers[predicate]);
}

// Whether the value is the pattern's node `at`; *begin: what is converted, NULL: not met yet.
static bool matches(const pattern* p, int at, MlirValue value, MlirValue* begin) {
  const pb_expr_node* node = &p->nodes[at];
  if (!is_of(value, node->type)) return false;
  if (node->op == PB_OP_LOAD) {
    bool same = mlirValueIsNull(*begin) || mlirValueEqual(*begin, value);
    *begin = value;
    return same;
  }
  if (!mlirValueIsAOpResult(value)) return false;
  MlirOperation op = mlirOpResultGetOwner(value);
  if (node->op == PB_OP_CONST) return is_constant(op, node);
  if (!is_spelt(op, p, at)) return false;
  for (int a = 0; a < 3 && node->args[a] >= 0; ++a)
    if (a >= mlirOperationGetNumOperands(op) || !matches(p, node->args[a], mlirOperationGetOperand(op, a), begin))
      return false;
  return true;
}

static MlirType like(MlirType type, MlirType element) {
  if (!mlirTypeIsAVector(type)) return element;
  int64_t lanes = mlirShapedTypeGetDimSize(type, 0);
  return mlirVectorTypeGet(1, &lanes, element);
}

static MlirValue cast(MlirOperation before, const char* name, MlirValue from, MlirType to) {
  return pb_operation_make(before, &(pb_operation){.name = name, .type = to, .operands = {from}, .operand_count = 1});
}

static MlirValue converted(MlirOperation op, const pattern* p, MlirValue from) {
  MlirContext context = mlirOperationGetContext(op);
  MlirType result = mlirValueGetType(mlirOperationGetResult(op, 0));
  MlirType narrow = like(result, p->type == PB_F16 ? mlirF16TypeGet(context) : mlirBF16TypeGet(context));
  if (p->rounds) return cast(op, "llvm.bitcast", cast(op, "llvm.fptrunc", from, narrow), result);
  return cast(op, "llvm.fpext", cast(op, "llvm.bitcast", from, narrow), result);
}

// What it was made of goes when nothing takes it: later passes see to that.
static void rewrite(void* user, MlirOperation op) {
  const patterns* all = user;
  bool narrows = pb_op_is(op, "arith.trunci");
  if (!narrows && !pb_op_is(op, "arith.bitcast")) return;
  MlirValue result = mlirOperationGetResult(op, 0);
  if (!pb_llvm_has(mlirValueGetType(result))) return;
  for (int k = 0; k < all->count; ++k) {
    const pattern* p = &all->all[k];
    MlirValue begin = {NULL};
    if (p->rounds != narrows || !matches(p, p->root, result, &begin)) continue;
    mlirValueReplaceAllUsesOfWith(result, converted(op, p, begin));
    mlirOperationDestroy(op);
    return;
  }
}

static void rewrite_body(void* user, MlirBlock body) { pb_each_operation(body, rewrite, user); }

void pb_llvm_convert(MlirModule module, const pb_chip* chip) {
  patterns all = {.count = 0};
  for (int k = 0; k < PB_NARROW_TYPES; ++k)
    for (int rounds = 0; rounds < 2 && chip->converts[k]; ++rounds) add_pattern(&all, pb_narrow_type(k), rounds);
  if (all.count) pb_each_body(module, rewrite_body, &all);
}
