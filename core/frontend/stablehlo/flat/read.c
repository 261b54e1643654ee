// MLIR text to the flat form, through MLIR's own parser. Of StableHLO no dialect is loaded, so that any operation is
// taken and none is verified; of linalg those that MLIR comes with, which it verifies. Every check is the front end's
// all the same.
#include "core/frontend/flat.h"

#include "core/base/table.h"
#include "core/frontend/stablehlo/pretty/pretty.h"
#include "core/ir/module.h"
#include "core/poly/nest.h"

#include <mlir-c/AffineExpr.h>
#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>
#include <mlir-c/Dialect/Arith.h>
#include <mlir-c/Dialect/ControlFlow.h>
#include <mlir-c/Dialect/Func.h>
#include <mlir-c/Dialect/Index.h>
#include <mlir-c/Dialect/Linalg.h>
#include <mlir-c/Dialect/MLProgram.h>
#include <mlir-c/Dialect/Math.h>
#include <mlir-c/Dialect/SCF.h>
#include <mlir-c/Dialect/Tensor.h>
#include <mlir-c/Dialect/Tosa.h>
#include <mlir-c/IR.h>
#include <mlir-c/Transforms.h>
#include <mlir/Conversion/Passes.capi.h.inc>
#include <mlir/Dialect/Tosa/Transforms/Passes.capi.h.inc>
#include <stdlib.h>
#include <string.h>

typedef struct reader {
  pb_flat* flat;
  const char* const* names;
  pb_flat_language language;
  pb_diag* diag;
  pb_table numbers; // of values
  pb_flat_type* values;
  size_t value_count, value_capacity;
  int depth;
  pb_flat_blobs blobs;
  pb_pretty pretty; // the text in the generic form, where it was not
} reader;

enum { MOST_DEPTH = 64 };
static const int64_t most_elements = INT32_MAX;

static MlirStringRef str(const char* text) { return mlirStringRefCreateFromCString(text); }

static void append(MlirStringRef part, void* text) { pb_text_add(text, "%.*s", (int)part.length, part.data); }

static bool op_is(MlirOperation op, const char* name) {
  return mlirStringRefEqual(mlirIdentifierStr(mlirOperationGetName(op)), str(name));
}

static const char* kept(reader* r, MlirStringRef s) {
  return pb_printf(&r->flat->arena, "%.*s", (int)s.length, s.data);
}

static const char* printed(reader* r, MlirAttribute a) {
  pb_text text = {0};
  mlirAttributePrint(a, append, &text);
  const char* copy = pb_strdup(&r->flat->arena, text.data ? text.data : "");
  pb_text_free(&text);
  return copy;
}

static pb_type number_type(MlirType type) {
  pb_type known = pb_type_of(type);
  if (!mlirTypeIsAInteger(type) || !mlirIntegerTypeIsUnsigned(type)) return known;
  return known == PB_I8    ? PB_UI8
         : known == PB_I16 ? PB_UI16
         : known == PB_I32 ? PB_UI32
         : known == PB_I64 ? PB_UI64
                           : PB_TYPE_COUNT;
}

// Integers of fewer bits than a byte, a byte each, and floats of 8 bits.
static pb_type narrow_type(MlirType type) {
  if (mlirTypeIsAFloat8E4M3FN(type)) return PB_F8E4M3FN;
  if (mlirTypeIsAFloat8E5M2(type)) return PB_F8E5M2;
  if (!mlirTypeIsAInteger(type)) return PB_TYPE_COUNT;
  unsigned width = mlirIntegerTypeGetWidth(type);
  bool is_unsigned = mlirIntegerTypeIsUnsigned(type);
  return width == 4 ? (is_unsigned ? PB_U4 : PB_I4) : width == 2 ? (is_unsigned ? PB_U2 : PB_I2) : PB_TYPE_COUNT;
}

static pb_flat_type type_of(reader* r, MlirType type) {
  pb_flat_type out = {.type = PB_TYPE_COUNT};
  pb_text text = {0};
  mlirTypePrint(type, append, &text);
  out.text = pb_strdup(&r->flat->arena, text.data ? text.data : "");
  pb_text_free(&text);
  out.is_element = mlirTypeIsAFloat(type) || mlirTypeIsAInteger(type) || mlirTypeIsAIndex(type);
  if (out.is_element) {
    out.type = number_type(type);
    if (out.type == PB_I128) out.type = PB_TYPE_COUNT;
    return out;
  }
  if (!mlirTypeIsARankedTensor(type) || mlirShapedTypeGetRank(type) > PB_FLAT_RANK) return out;
  MlirType element = mlirShapedTypeGetElementType(type);
  out.is_complex = mlirTypeIsAComplex(element);
  if (out.is_complex) element = mlirComplexTypeGetElementType(element);
  int64_t elements = 1;
  out.rank = (int)mlirShapedTypeGetRank(type);
  for (int k = 0; k < out.rank; ++k) {
    if (mlirShapedTypeIsDynamicDim(type, k) && r->language != PB_FLAT_STABLEHLO) return out;
    if (mlirShapedTypeIsDynamicDim(type, k)) {
      out.is_open = true;
      out.shape[k] = -1;
      continue;
    }
    out.shape[k] = mlirShapedTypeGetDimSize(type, k);
    if (out.shape[k] < 1 || out.shape[k] > most_elements / elements) return out;
    elements *= out.shape[k];
  }
  out.type = number_type(element);
  if (out.type == PB_TYPE_COUNT && r->language == PB_FLAT_STABLEHLO) out.type = narrow_type(element);
  if (out.type == PB_INDEX || out.type == PB_I128) out.type = PB_TYPE_COUNT;
  return out;
}

static int64_t elements_of(const pb_flat_type* type) { return pb_flat_elements(type, 0, type->rank); }

static bool read_tensor(reader* r, MlirAttribute a, pb_flat_attr* out) {
  out->type = type_of(r, mlirAttributeGetType(a));
  if (out->type.type == PB_TYPE_COUNT) return false;
  int64_t n = elements_of(&out->type);
  size_t size = ((size_t)pb_type_bits(out->type.type) + 7) / 8 * (out->type.is_complex ? 2 : 1);
  char* bytes = pb_alloc_array(&r->flat->arena, (size_t)n + 1, size);
  bool splat = mlirDenseElementsAttrIsSplat(a);
  if (out->type.type == PB_I1) {
    for (int64_t k = 0; k < n; ++k) bytes[k] = mlirDenseElementsAttrGetBoolValue(a, splat ? 0 : k);
  } else {
    const char* raw = mlirDenseElementsAttrGetRawData(a);
    for (int64_t k = 0; splat && k < n; ++k) memcpy(bytes + (size_t)k * size, raw, size);
    if (!splat) memcpy(bytes, raw, (size_t)n * size);
  }
  out->kind = PB_FLAT_TENSOR;
  out->bytes = bytes;
  return true;
}

// The blob that the attribute means: its text is dense_resource<name> : type, the name in quotation marks or not.
static const pb_flat_blob* blob_of(reader* r, MlirAttribute a) {
  const char *text = printed(r, a), *from = strchr(text, '<');
  if (!from++) return NULL;
  bool quoted = *from == '"';
  from += quoted;
  size_t length = strcspn(from, quoted ? "\"" : ">");
  return pb_flat_find_blob(&r->blobs, pb_printf(&r->flat->arena, "%.*s", (int)length, from));
}

// The bytes stay in the text. Truths are a byte each there too.
static bool read_blob(reader* r, MlirAttribute a, pb_flat_attr* out) {
  const pb_flat_blob* blob = blob_of(r, a);
  out->type = type_of(r, mlirAttributeGetType(a));
  if (!blob || out->type.type == PB_TYPE_COUNT) return false;
  int64_t size = (pb_type_bits(out->type.type) + 7) / 8 * (out->type.is_complex ? 2 : 1);
  if ((int64_t)blob->count != elements_of(&out->type) * size) return false;
  for (size_t k = 0; out->type.type == PB_I1 && k < blob->count; ++k)
    if (blob->bytes[k] & ~1) return false;
  out->kind = PB_FLAT_TENSOR;
  out->bytes = blob->bytes;
  return true;
}

// A float as a tensor of one: MLIR knows each type's bits.
static bool read_float(reader* r, MlirAttribute a, pb_flat_attr* out) {
  MlirType tensor = mlirRankedTensorTypeGet(0, NULL, mlirAttributeGetType(a), mlirAttributeGetNull());
  return read_tensor(r, mlirDenseElementsAttrSplatGet(tensor, a), out);
}

// ---- indexing maps ----

typedef struct places {
  int64_t* items;
  size_t count, capacity;
} places;

static void add_place(places* p, int64_t item) { PB_PUSH(p->items, p->count, p->capacity, item); }

// Adds `times` the expression to a row of steps by loop, and where it starts behind them; false: it is no such sum.
static bool add_terms(MlirAffineExpr e, int64_t times, int dims, int64_t* row, int depth) {
  const int64_t far = (int64_t)1 << 31;
  if (depth > MOST_DEPTH || times < -far || times > far) return false;
  if (mlirAffineExprIsADim(e)) {
    row[mlirAffineDimExprGetPosition(e)] += times;
  } else if (mlirAffineExprIsAConstant(e)) {
    int64_t value = mlirAffineConstantExprGetValue(e);
    if (value < -far || value > far) return false;
    row[dims] += times * value;
  } else if (mlirAffineExprIsAAdd(e)) {
    return add_terms(mlirAffineBinaryOpExprGetLHS(e), times, dims, row, depth + 1) &&
           add_terms(mlirAffineBinaryOpExprGetRHS(e), times, dims, row, depth + 1);
  } else if (mlirAffineExprIsAMul(e) && mlirAffineExprIsAConstant(mlirAffineBinaryOpExprGetRHS(e))) {
    int64_t by = mlirAffineConstantExprGetValue(mlirAffineBinaryOpExprGetRHS(e));
    return by >= -far && by <= far && add_terms(mlirAffineBinaryOpExprGetLHS(e), times * by, dims, row, depth + 1);
  } else {
    return false;
  }
  return true;
}

static bool add_map(MlirAttribute a, places* p) {
  if (!mlirAttributeIsAAffineMap(a)) return false;
  MlirAffineMap map = mlirAffineMapAttrGetValue(a);
  int dims = (int)mlirAffineMapGetNumDims(map), results = (int)mlirAffineMapGetNumResults(map);
  if (mlirAffineMapGetNumSymbols(map) || dims > PB_FLAT_LOOPS || results > PB_FLAT_RANK) return false;
  add_place(p, dims);
  add_place(p, results);
  for (int k = 0; k < results; ++k) {
    int64_t row[PB_FLAT_LOOPS + 1] = {0};
    if (!add_terms(mlirAffineMapGetResult(map, k), 1, dims, row, 0)) return false;
    for (int d = 0; d <= dims; ++d) add_place(p, row[d]);
  }
  return true;
}

static bool read_maps(reader* r, MlirAttribute a, pb_flat_attr* out) {
  places p = {0};
  bool good = mlirAttributeIsAArray(a);
  for (intptr_t k = 0; good && k < mlirArrayAttrGetNumElements(a); ++k)
    good = add_map(mlirArrayAttrGetElement(a, k), &p);
  if (good) {
    int64_t* ints = PB_NEW_ARRAY(&r->flat->arena, int64_t, p.count + 1);
    if (p.count) memcpy(ints, p.items, p.count * sizeof *ints);
    out->ints = ints;
    out->count = (int)p.count;
    out->kind = PB_FLAT_INTS;
  }
  free(p.items);
  return good;
}

static int64_t array_element(MlirAttribute a, intptr_t k) {
  if (mlirAttributeIsADenseI64Array(a)) return mlirDenseI64ArrayGetElement(a, k);
  if (mlirAttributeIsADenseI32Array(a)) return mlirDenseI32ArrayGetElement(a, k);
  return mlirDenseBoolArrayGetElement(a, k);
}

// Tensors of i64 are arrays too: paddings come so.
static void read_ints(reader* r, MlirAttribute a, pb_flat_attr* out) {
  bool array =
      mlirAttributeIsADenseI64Array(a) || mlirAttributeIsADenseI32Array(a) || mlirAttributeIsADenseBoolArray(a);
  if (array) {
    int64_t* ints = PB_NEW_ARRAY(&r->flat->arena, int64_t, (size_t)mlirDenseArrayGetNumElements(a) + 1);
    out->count = (int)mlirDenseArrayGetNumElements(a);
    for (int k = 0; k < out->count; ++k) ints[k] = array_element(a, k);
    out->ints = ints;
    out->kind = PB_FLAT_INTS;
  } else if (out->kind == PB_FLAT_TENSOR && out->type.type == PB_I64 && out->type.rank <= 2) {
    out->count = (int)elements_of(&out->type);
    out->ints = out->bytes;
  }
}

static bool read_attribute(reader* r, MlirOperation op, const char* name, pb_flat_attr* out) {
  bool maps = !strcmp(name, "indexing_maps");
  MlirAttribute a = maps ? mlirLinalgGetIndexingMapsAttribute(op) : (MlirAttribute){NULL};
  if (mlirAttributeIsNull(a)) a = mlirOperationGetInherentAttributeByName(op, str(name));
  if (mlirAttributeIsNull(a)) a = mlirOperationGetDiscardableAttributeByName(op, str(name));
  if (mlirAttributeIsNull(a)) return false;
  *out = (pb_flat_attr){.name = name, .kind = PB_FLAT_TEXT, .text = ""};
  if (mlirAttributeIsADenseElements(a) && read_tensor(r, a, out)) {
    read_ints(r, a, out);
  } else if (maps && read_maps(r, a, out)) {
    out->text = "";
  } else if (mlirAttributeIsADenseResourceElements(a) && read_blob(r, a, out)) {
    out->text = "";
  } else if (mlirAttributeIsAFloat(a) && read_float(r, a, out)) {
    out->text = "";
  } else if (mlirAttributeIsAInteger(a)) { // more than 64 bits: text
    MlirType type = mlirAttributeGetType(a);
    if (!mlirTypeIsAInteger(type) || mlirIntegerTypeGetWidth(type) <= 64) {
      out->kind = PB_FLAT_INT;
      out->i = mlirIntegerAttrGetValueInt(a);
    }
    out->text = printed(r, a);
  } else if (mlirAttributeIsABool(a)) {
    out->kind = PB_FLAT_INT;
    out->i = mlirBoolAttrGetValue(a);
    out->text = out->i ? "true" : "false";
  } else if (mlirAttributeIsAString(a)) {
    out->text = kept(r, mlirStringAttrGetValue(a));
  } else if (mlirAttributeIsAFlatSymbolRef(a)) {
    out->text = kept(r, mlirFlatSymbolRefAttrGetValue(a));
  } else {
    read_ints(r, a, out);
    out->text = printed(r, a);
  }
  return true;
}

static int add_value(reader* r, MlirValue v) {
  pb_table_add_address(&r->numbers, v.ptr, (int)r->value_count);
  PB_PUSH(r->values, r->value_count, r->value_capacity, type_of(r, mlirValueGetType(v)));
  return (int)r->value_count - 1;
}

static void place_of(const reader* r, MlirOperation op, int* line, int* column) {
  MlirLocation loc = mlirOperationGetLocation(op);
  *line = *column = 0;
  if (!mlirLocationIsAFileLineColRange(loc)) return;
  *line = mlirLocationFileLineColRangeGetStartLine(loc);
  *column = mlirLocationFileLineColRangeGetStartColumn(loc);
  pb_pretty_place(&r->pretty, line, column);
}

static pb_status read_region(reader* r, MlirRegion region, MlirOperation owner, pb_flat_block* out);

static pb_status refuse(reader* r, MlirOperation op, const char* why) {
  pb_place place = {.file = r->flat->file};
  place_of(r, op, &place.line, &place.column);
  return pb_unsupported(r->diag, place, 2101, NULL, "%s", why);
}

static pb_status read_op(reader* r, MlirOperation op, pb_flat_op* out) {
  pb_arena* arena = &r->flat->arena;
  pb_flat_attr found[64];
  out->name = kept(r, mlirIdentifierStr(mlirOperationGetName(op)));
  place_of(r, op, &out->line, &out->column);
  for (int k = 0; r->names[k] && out->attr_count < 64; ++k)
    if (read_attribute(r, op, r->names[k], &found[out->attr_count])) ++out->attr_count;
  pb_flat_attr* attrs = PB_NEW_ARRAY(arena, pb_flat_attr, (size_t)out->attr_count + 1);
  memcpy(attrs, found, sizeof *attrs * (size_t)out->attr_count);
  out->attrs = attrs;
  out->operand_count = (int)mlirOperationGetNumOperands(op);
  int* operands = PB_NEW_ARRAY(arena, int, (size_t)out->operand_count + 1);
  for (int k = 0; k < out->operand_count; ++k) {
    operands[k] = pb_table_find_address(&r->numbers, mlirOperationGetOperand(op, k).ptr);
    if (operands[k] < 0) return refuse(r, op, "an operand that no operation before it makes");
  }
  out->operands = operands;
  out->region_count = (int)mlirOperationGetNumRegions(op);
  pb_flat_block* regions = PB_NEW_ARRAY(arena, pb_flat_block, (size_t)out->region_count + 1);
  for (int k = 0; k < out->region_count; ++k) PB_TRY(read_region(r, mlirOperationGetRegion(op, k), op, &regions[k]));
  out->regions = regions;
  out->result_count = (int)mlirOperationGetNumResults(op);
  int* results = PB_NEW_ARRAY(arena, int, (size_t)out->result_count + 1);
  for (int k = 0; k < out->result_count; ++k) results[k] = add_value(r, mlirOperationGetResult(op, k));
  out->results = results;
  return PB_OK;
}

static pb_status read_block(reader* r, MlirBlock block, pb_flat_block* out) {
  pb_arena* arena = &r->flat->arena;
  out->argument_count = (int)mlirBlockGetNumArguments(block);
  int* arguments = PB_NEW_ARRAY(arena, int, (size_t)out->argument_count + 1);
  for (int k = 0; k < out->argument_count; ++k) arguments[k] = add_value(r, mlirBlockGetArgument(block, k));
  out->arguments = arguments;
  MlirOperation op = mlirBlockGetFirstOperation(block);
  for (; !mlirOperationIsNull(op); op = mlirOperationGetNextInBlock(op)) ++out->op_count;
  pb_flat_op* ops = PB_NEW_ARRAY(arena, pb_flat_op, (size_t)out->op_count + 1);
  int k = 0;
  for (op = mlirBlockGetFirstOperation(block); !mlirOperationIsNull(op); op = mlirOperationGetNextInBlock(op))
    PB_TRY(read_op(r, op, &ops[k++]));
  out->ops = ops;
  return PB_OK;
}

static pb_status read_region(reader* r, MlirRegion region, MlirOperation owner, pb_flat_block* out) {
  MlirBlock block = mlirRegionGetFirstBlock(region);
  if (mlirBlockIsNull(block)) return PB_OK;
  if (!mlirBlockIsNull(mlirBlockGetNextInRegion(block))) return refuse(r, owner, "a region of several blocks");
  if (++r->depth > MOST_DEPTH) return refuse(r, owner, "regions inside each other too deep");
  PB_TRY(read_block(r, block, out));
  --r->depth;
  return PB_OK;
}

static MlirOperation last_of(MlirBlock body) {
  MlirOperation last = mlirBlockGetFirstOperation(body);
  for (MlirOperation o = last; !mlirOperationIsNull(o); o = mlirOperationGetNextInBlock(o)) last = o;
  return last;
}

// Whether the function's type is that of its block's arguments and of what its end returns: MLIR's verifier, which
// knows, does not run on dialects that are not loaded.
static bool is_of_its_type(MlirOperation op) {
  MlirAttribute is = mlirOperationGetInherentAttributeByName(op, str("function_type"));
  if (mlirAttributeIsNull(is)) is = mlirOperationGetDiscardableAttributeByName(op, str("function_type"));
  if (mlirAttributeIsNull(is) || !mlirAttributeIsAType(is)) return false;
  MlirType type = mlirTypeAttrGetValue(is);
  MlirBlock body = mlirRegionGetFirstBlock(mlirOperationGetRegion(op, 0));
  if (!mlirTypeIsAFunction(type) || mlirBlockIsNull(body)) return false;
  intptr_t count = mlirBlockGetNumArguments(body);
  bool same = mlirFunctionTypeGetNumInputs(type) == count;
  for (intptr_t k = 0; k < count && same; ++k)
    same = mlirTypeEqual(mlirFunctionTypeGetInput(type, k), mlirValueGetType(mlirBlockGetArgument(body, k)));
  MlirOperation end = last_of(body);
  if (mlirOperationIsNull(end) || !op_is(end, "func.return")) return same; // which is refused later
  count = mlirOperationGetNumOperands(end);
  same = same && mlirFunctionTypeGetNumResults(type) == count;
  for (intptr_t k = 0; k < count && same; ++k)
    same = mlirTypeEqual(mlirFunctionTypeGetResult(type, k), mlirValueGetType(mlirOperationGetOperand(end, k)));
  return same;
}

static pb_status read_func(reader* r, MlirOperation op, pb_flat_func* out) {
  MlirAttribute name = mlirOperationGetInherentAttributeByName(op, str("sym_name"));
  if (mlirAttributeIsNull(name)) name = mlirOperationGetDiscardableAttributeByName(op, str("sym_name"));
  if (mlirAttributeIsNull(name) || !mlirAttributeIsAString(name) || mlirOperationGetNumRegions(op) != 1)
    return refuse(r, op, "a function without a name or a body");
  out->name = kept(r, mlirStringAttrGetValue(name));
  place_of(r, op, &out->line, &out->column);
  if (!is_of_its_type(op)) return refuse(r, op, "a function of another type than its body");
  return read_region(r, mlirOperationGetRegion(op, 0), op, &out->body);
}

static pb_status read_module(reader* r, MlirModule module) {
  MlirBlock body = mlirModuleGetBody(module);
  MlirOperation op = mlirBlockGetFirstOperation(body);
  if (!mlirOperationIsNull(op) && op_is(op, "builtin.module")) { // an outer module that the parser put around it
    MlirOperation next = mlirOperationGetNextInBlock(op);
    if (!mlirOperationIsNull(next)) return refuse(r, next, "more than one module in a file");
    body = mlirRegionGetFirstBlock(mlirOperationGetRegion(op, 0));
    op = mlirBlockGetFirstOperation(body);
  }
  size_t count = 0;
  for (MlirOperation o = op; !mlirOperationIsNull(o); o = mlirOperationGetNextInBlock(o)) ++count;
  pb_flat_func* funcs = PB_NEW_ARRAY(&r->flat->arena, pb_flat_func, count + 1);
  for (; !mlirOperationIsNull(op); op = mlirOperationGetNextInBlock(op)) {
    if (op_is(op, "sdy.mesh")) continue;          // of several devices: here is one
    if (op_is(op, "ml_program.global")) continue; // what loads or stores it is refused
    if (!op_is(op, "func.func")) return refuse(r, op, "something that is no function in the module");
    PB_TRY(read_func(r, op, &funcs[r->flat->func_count++]));
  }
  r->flat->funcs = funcs;
  return PB_OK;
}

static void load_dialects(MlirContext context) {
  MlirDialectHandle handles[] = {mlirGetDialectHandle__arith__(), mlirGetDialectHandle__cf__(),
                                 mlirGetDialectHandle__func__(),  mlirGetDialectHandle__linalg__(),
                                 mlirGetDialectHandle__math__(),  mlirGetDialectHandle__ml_program__(),
                                 mlirGetDialectHandle__scf__(),   mlirGetDialectHandle__tensor__(),
                                 mlirGetDialectHandle__tosa__(),  mlirGetDialectHandle__index__()};
  for (size_t k = 0; k < sizeof handles / sizeof *handles; ++k) mlirDialectHandleLoadDialect(handles[k], context);
}

// ---- TOSA ----

typedef struct tosa_seen {
  reader* r;
  bool any, unknown;
} tosa_seen;

// Notes whether there is any; those that are not read are named, all of them.
static MlirWalkResult see_tosa(MlirOperation op, void* user) {
#define TOSA(name, summary) name,
  static const char* const rows[] = {
#include "core/frontend/linalg/tosa.def"
  };
#undef TOSA
  tosa_seen* seen = user;
  MlirStringRef name = mlirIdentifierStr(mlirOperationGetName(op));
  if (name.length < 6 || strncmp(name.data, "tosa.", 5) != 0) return MlirWalkResultAdvance;
  bool is_row = false;
  for (size_t k = 0; k < sizeof rows / sizeof *rows && !is_row; ++k) is_row = mlirStringRefEqual(name, str(rows[k]));
  seen->any = true;
  if (is_row) return MlirWalkResultAdvance;
  pb_place place = {.file = seen->r->flat->file};
  place_of(seen->r, op, &place.line, &place.column);
  (void)pb_unsupported(seen->r->diag, place, 2111, NULL, "operator '%.*s' is not read", (int)name.length, name.data);
  seen->unknown = true;
  return MlirWalkResultAdvance;
}

// MLIR's own conversions say each operator in linalg, tensor, arith and scf: integers by the specification's formulas.
static pb_status lower_tosa(reader* r, MlirModule module) {
  static const char pipeline[] =
      "func.func(tosa-optional-decompositions,tosa-to-scf,tosa-to-linalg-named,"
      "tosa-to-linalg,tosa-to-tensor,tosa-to-arith{include-apply-rescale=true},canonicalize)";
  tosa_seen seen = {.r = r};
  mlirOperationWalk(mlirModuleGetOperation(module), see_tosa, &seen, MlirWalkPreOrder);
  if (seen.unknown) return PB_ERR_UNSUPPORTED;
  if (!seen.any) return PB_OK;
  mlirRegisterTransformsCanonicalizer();
  mlirRegisterTosaTosaOptionalDecompositionsPass();
  mlirRegisterConversionTosaToSCFPass();
  mlirRegisterConversionTosaToLinalgNamed();
  mlirRegisterConversionTosaToLinalg();
  mlirRegisterConversionTosaToTensorPass();
  mlirRegisterConversionTosaToArithPass();
  return pb_module_lower(module, pipeline, r->flat->file, r->diag);
}

static void own_place(const void* pretty, int* line, int* column) { pb_pretty_place(pretty, line, column); }

// The text becomes the module; `text` is in either form.
static pb_status parse(reader* r, MlirContext context, char* text, size_t length, const char* name,
                       MlirModule* module) {
  const pb_module_origin origin = {own_place, &r->pretty};
  pb_flat_pack_truths(text);
  if (r->language == PB_FLAT_STABLEHLO) PB_TRY(pb_pretty_read(text, length, name, r->diag, &r->pretty));
  const pb_text* made = &r->pretty.text;
  if (!made->length) return pb_module_parse_text(context, text, length, name, NULL, r->diag, module);
  return pb_module_parse_text(context, made->data, made->length, name, &origin, r->diag, module);
}

pb_status pb_flat_parse(const char* name, pb_flat_language language, const char* const* attributes, pb_diag* diag,
                        pb_flat* flat) {
  MlirContext context = mlirContextCreateWithThreading(false);
  mlirContextSetAllowUnregisteredDialects(context, true);
  if (language == PB_FLAT_LINALG) load_dialects(context);
  reader r = {.flat = flat, .names = attributes, .language = language, .diag = diag};
  MlirModule module;
  size_t length;
  char* text = pb_module_text("-", &length);
  flat->file = pb_strdup(&flat->arena, name);
  pb_status status = text ? pb_flat_take_blobs(text, &length, name, diag, &flat->arena, &r.blobs)
                          : pb_system_error(diag, (pb_place){.file = name}, 1001, "cannot be read");
  if (status == PB_OK) status = parse(&r, context, text, length, name, &module);
  if (status == PB_OK) {
    if (language == PB_FLAT_LINALG) status = lower_tosa(&r, module);
    if (status == PB_OK) status = read_module(&r, module);
    mlirModuleDestroy(module);
  }
  flat->data = text; // blobs lie there
  pb_flat_type* values = PB_NEW_ARRAY(&flat->arena, pb_flat_type, r.value_count + 1);
  if (r.value_count) memcpy(values, r.values, sizeof *values * r.value_count);
  flat->values = values;
  flat->value_count = (int)r.value_count;
  free(r.values);
  pb_table_free(&r.numbers);
  pb_flat_blobs_free(&r.blobs);
  pb_pretty_free(&r.pretty);
  mlirContextDestroy(context);
  return status;
}
