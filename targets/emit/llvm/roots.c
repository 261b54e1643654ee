#include "targets/emit/llvm/roots.h"

#include "core/s3/chip_facts.h"
#include "core/s3/kernels.h"
#include "targets/emit/llvm/kernels.h"
#include "targets/emit/llvm/operation.h"

#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>

typedef struct roots {
  int64_t lanes;
  bool any;
} roots;

// What s * sqrt(s) is made of, where nothing else takes any of it; null: the value is something else.
static MlirValue number_of(MlirValue value) {
  MlirOperation product = pb_made_by(value, "arith.mulf");
  for (int k = 0; k < 2 && !mlirOperationIsNull(product) && pb_is_used_once(value); ++k) {
    MlirValue taken = mlirOperationGetOperand(product, k), other = mlirOperationGetOperand(product, 1 - k);
    MlirOperation root = pb_made_by(taken, "math.sqrt");
    if (!mlirOperationIsNull(root) && pb_is_used_once(taken) && mlirValueEqual(mlirOperationGetOperand(root, 0), other))
      return other;
  }
  return (MlirValue){NULL};
}

static void rewrite(void* user, MlirOperation op) {
  roots* r = user;
  if (!pb_op_is(op, "arith.divf")) return;
  MlirType type = mlirValueGetType(mlirOperationGetResult(op, 0));
  bool row = mlirTypeIsAVector(type) && mlirTypeIsAF32(mlirShapedTypeGetElementType(type)) &&
             mlirShapedTypeGetRank(type) == 1 && mlirShapedTypeGetDimSize(type, 0) == r->lanes;
  MlirValue s = row ? number_of(mlirOperationGetOperand(op, 1)) : (MlirValue){NULL};
  if (mlirValueIsNull(s)) return;
  MlirContext context = mlirOperationGetContext(op);
  MlirAttribute callee = mlirFlatSymbolRefAttrGet(context, mlirStringRefCreateFromCString("pb_over_root"));
  MlirValue made = pb_operation_make(op, &(pb_operation){.name = "func.call",
                                                         .type = type,
                                                         .operands = {mlirOperationGetOperand(op, 0), s},
                                                         .operand_count = 2,
                                                         .attributes = {pb_named(context, "callee", callee)},
                                                         .attribute_count = 1});
  mlirValueReplaceAllUsesOfWith(mlirOperationGetResult(op, 0), made);
  mlirOperationDestroy(op); // what it was made of goes when nothing takes it
  r->any = true;
}

static void rewrite_body(void* user, MlirBlock body) { pb_each_operation(body, rewrite, user); }

// In the text: $v is the type of a row, $w that of its bits, $i that of a mask, $e the intrinsic. 1 / sqrt(s * s * s)
// is estimated and one step of Newton's better. Where some s is below 2^-40 or not below 2^40, which no estimate is
// good for (0, infinity and NaN among them), a function of its own, which hardly ever runs, does what was written.
static const char functions[] =
    "func.func private @pb_over_root(%x: $v, %s: $v) -> $v attributes "
    "{llvm.linkage = #llvm.linkage<internal>, passthrough = [\"alwaysinline\"]} {\n"
    "  %least = arith.constant dense<729808896> : $w\n" // the bits of 2^-40, and how many numbers there are to 2^40
    "  %span = arith.constant dense<671088640> : $w\n"
    "  %half = arith.constant dense<0.5> : $v\n"
    "  %mask = arith.constant -1 : $i\n"
    "  %bits = vector.bitcast %s : $v to $w\n"
    "  %above = arith.subi %bits, %least : $w\n"
    "  %inside = arith.cmpi ult, %above, %span : $w\n"
    "  %all = vector.reduction <and>, %inside : $t into i1\n"
    "  %y = scf.if %all -> ($v) {\n"
    "    %square = arith.mulf %s, %s : $v\n"
    "    %cube = arith.mulf %square, %s : $v\n"
    "    %e = llvm.call_intrinsic \"$e\"(%cube, %half, %mask) : ($v, $v, $i) -> $v\n"
    "    %g = arith.mulf %cube, %e : $v\n"
    "    %m = arith.negf %g : $v\n"
    "    %h = arith.mulf %e, %half : $v\n"
    "    %t = math.fma %m, %h, %half : $v\n"
    "    %u = math.fma %e, %t, %e : $v\n"
    "    %q = arith.mulf %x, %u : $v\n"
    "    scf.yield %q : $v\n"
    "  } else {\n"
    "    %q = func.call @pb_over_root_exact(%x, %s) : ($v, $v) -> $v\n"
    "    scf.yield %q : $v\n"
    "  }\n"
    "  return %y : $v\n"
    "}\n"
    "func.func private @pb_over_root_exact(%x: $v, %s: $v) -> $v attributes "
    "{llvm.linkage = #llvm.linkage<internal>, passthrough = [\"cold\", \"noinline\"]} {\n"
    "  %root = math.sqrt %s : $v\n"
    "  %product = arith.mulf %s, %root : $v\n"
    "  %y = arith.divf %x, %product : $v\n"
    "  return %y : $v\n"
    "}\n";

static void add_functions(MlirModule module, int64_t lanes, const char* intrinsic) {
  pb_text text = {0};
  for (const char* at = functions; *at; ++at) {
    if (*at != '$')
      pb_text_add(&text, "%c", *at);
    else if (*++at == 'e')
      pb_text_add(&text, "%s", intrinsic);
    else if (*at == 'i')
      pb_text_add(&text, "i%lld", (long long)lanes);
    else
      pb_text_add(&text, "vector<%lldx%s>", (long long)lanes, *at == 'v' ? "f32" : *at == 'w' ? "i32" : "i1");
  }
  (void)pb_llvm_add(module, mlirStringRefCreateFromCString(text.data));
  pb_text_free(&text);
}

void pb_llvm_roots(MlirModule module, const pb_chip* chip) {
  if (!*chip->root_estimate) return;
  roots r = {.lanes = pb_vector_facts_of(chip).lanes};
  pb_each_body(module, rewrite_body, &r);
  if (r.any) add_functions(module, r.lanes, chip->root_estimate);
}
