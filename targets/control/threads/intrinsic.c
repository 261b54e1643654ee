#include "targets/control/threads/intrinsic.h"

#include "core/s3/kernels.h"

#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>

static void append(MlirStringRef part, void* text) { pb_text_add(text, "%.*s", (int)part.length, part.data); }

static char* type_text(MlirType type, pb_arena* arena) {
  pb_text text = {0};
  mlirTypePrint(type, append, &text);
  char* copy = pb_strdup(arena, text.data);
  pb_text_free(&text);
  return copy;
}

static char* string_of(MlirAttribute attribute, pb_arena* arena) {
  MlirStringRef s = mlirStringAttrGetValue(attribute);
  return pb_printf(arena, "%.*s", (int)s.length, s.data);
}

typedef struct function {
  pb_arena arena;
  pb_text* text;
  MlirBlock body;
  int arguments;
  const char *emit, *result; // result: NULL when it only stores
  // Registers that hold rows: their type, the intrinsics that make one of a vector and a vector of one.
  const char *value, *from_vector, *to_vector;
  pb_text names, types; // of the intrinsic's arguments
} function;

static void add_argument(function* f, const char* name, const char* type) {
  pb_text_add(&f->names, "%s%s", f->names.length ? ", " : "", name);
  pb_text_add(&f->types, "%s%s", f->types.length ? ", " : "", type);
}

static MlirType argument_type(const function* f, int k) { return mlirValueGetType(mlirBlockGetArgument(f->body, k)); }

static MlirType result_type(const function* f) {
  return mlirValueGetType(mlirOperationGetOperand(mlirBlockGetTerminator(f->body), 0));
}

static void open_function(function* f, MlirOperation func, pb_text* text) {
  *f = (function){.text = text, .body = mlirRegionGetFirstBlock(mlirOperationGetRegion(func, 0))};
  f->arguments = (int)mlirBlockGetNumArguments(f->body);
  f->emit = string_of(pb_op_attribute(func, "pb.emit"), &f->arena);
  if (mlirOperationGetNumOperands(mlirBlockGetTerminator(f->body))) f->result = type_text(result_type(f), &f->arena);
  pb_text_add(&f->names, "%s", "");
  pb_text_add(&f->types, "%s", "");
  pb_text_add(text, "func.func private @%s(", pb_func_name(func, &f->arena));
  for (int k = 0; k < f->arguments; ++k)
    pb_text_add(text, "%s%%x%d: %s", k ? ", " : "", k, type_text(argument_type(f, k), &f->arena));
  pb_text_add(text, ")%s%s attributes {llvm.linkage = #llvm.linkage<internal>, passthrough = [\"alwaysinline\"]} {\n",
              f->result ? " -> " : "", f->result ? f->result : "");
}

static void close_function(function* f) {
  pb_text_free(&f->names);
  pb_text_free(&f->types);
  pb_arena_free(&f->arena);
}

// Elements that kernels have as codes of their bits are of the intrinsic's own type there.
static void print_on_vectors(function* f, MlirOperation func) {
  MlirAttribute types = pb_op_attribute(func, "pb.types");
  int64_t added = pb_op_integer(func, "pb.added", -1); // what the intrinsic's result is added to
  for (int k = 0; k < f->arguments; ++k) {
    if (k == added) continue;
    MlirType has = argument_type(f, k), takes = mlirTypeAttrGetValue(mlirArrayAttrGetElement(types, k));
    const char *name = pb_printf(&f->arena, "%%x%d", k), *type = type_text(has, &f->arena);
    if (!mlirTypeEqual(mlirShapedTypeGetElementType(has), takes)) {
      const char *from = type, *bits = pb_printf(&f->arena, "%%b%d", k);
      type = pb_printf(&f->arena, "vector<%lldx%s>", (long long)mlirShapedTypeGetDimSize(has, 0),
                       type_text(takes, &f->arena));
      pb_text_add(f->text, "  %s = llvm.bitcast %s : %s to %s\n", bits, name, from, type);
      name = bits;
    }
    add_argument(f, name, type);
  }
  pb_text_add(f->text, "  %%r = llvm.call_intrinsic \"%s\"(%s) : (%s) -> %s\n", f->emit, f->names.data, f->types.data,
              f->result);
  if (added >= 0)
    pb_text_add(f->text, "  %%s = arith.add%s %%x%d, %%r : %s\n",
                mlirTypeIsAFloat(mlirShapedTypeGetElementType(result_type(f))) ? "f" : "i", (int)added, f->result);
  pb_text_add(f->text, "  return %s : %s\n}\n", added >= 0 ? "%s" : "%r", f->result);
}

// ---- registers that hold rows ----

// The vector of i32 with a register's bytes, as the intrinsics take it that make the one of the other.
static const char* words_type(function* f, MlirType type) {
  MlirType element = mlirShapedTypeGetElementType(type);
  unsigned width = mlirTypeIsAInteger(element) ? mlirIntegerTypeGetWidth(element) : mlirFloatTypeGetWidth(element);
  int64_t bits = mlirShapedTypeGetDimSize(type, 0) * width;
  return pb_printf(&f->arena, "vector<%lldxi32>", (long long)(bits / 32));
}

// A vector becomes a register.
static void print_register(function* f, int k, MlirType type) {
  const char *from = type_text(type, &f->arena), *words = words_type(f, type);
  pb_text_add(f->text, "  %%b%d = llvm.bitcast %%x%d : %s to %s\n", k, k, from, words);
  pb_text_add(f->text, "  %%t%d = llvm.call_intrinsic \"%s\"(%%b%d) : (%s) -> !llvm.%s\n", k, f->from_vector, k, words,
              f->value);
  add_argument(f, pb_printf(&f->arena, "%%t%d", k), pb_printf(&f->arena, "!llvm.%s", f->value));
}

// A flat tensor and the number of an element become a pointer, followed by the bytes between rows.
static void print_rows(function* f, int k, MlirType type, int64_t stride) {
  static const char described[] = "!llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>";
  const char *from = type_text(type, &f->arena), *element = type_text(mlirShapedTypeGetElementType(type), &f->arena);
  pb_text_add(f->text, "  %%d%d = builtin.unrealized_conversion_cast %%x%d : %s to %s\n", k, k, from, described);
  pb_text_add(f->text, "  %%a%d = llvm.extractvalue %%d%d[1] : %s\n", k, k, described);
  pb_text_add(f->text, "  %%n%d = arith.index_cast %%x%d : index to i64\n", k, k + 1);
  pb_text_add(f->text, "  %%p%d = llvm.getelementptr %%a%d[%%n%d] : (!llvm.ptr, i64) -> !llvm.ptr, %s\n", k, k, k,
              element);
  pb_text_add(f->text, "  %%s%d = llvm.mlir.constant(%lld : i64) : i64\n", k, (long long)stride);
  add_argument(f, pb_printf(&f->arena, "%%p%d", k), "!llvm.ptr");
  add_argument(f, pb_printf(&f->arena, "%%s%d", k), "i64");
}

static void print_shape(function* f, MlirAttribute shape) {
  for (intptr_t k = 0; k < mlirDenseArrayGetNumElements(shape); ++k) {
    pb_text_add(f->text, "  %%e%d = llvm.mlir.constant(%lld : i16) : i16\n", (int)k,
                (long long)mlirDenseI64ArrayGetElement(shape, k));
    add_argument(f, pb_printf(&f->arena, "%%e%d", (int)k), "i16");
  }
}

static void print_on_rows(function* f, MlirOperation func) {
  MlirAttribute value = pb_op_attribute(func, "pb.value");
  f->value = string_of(mlirArrayAttrGetElement(value, 0), &f->arena);
  f->from_vector = string_of(mlirArrayAttrGetElement(value, 1), &f->arena);
  f->to_vector = string_of(mlirArrayAttrGetElement(value, 2), &f->arena);
  int64_t stride = mlirIntegerAttrGetValueInt(pb_op_attribute(func, "pb.stride"));
  print_shape(f, pb_op_attribute(func, "pb.shape"));
  for (int k = 0; k < f->arguments; ++k) {
    MlirType type = argument_type(f, k);
    if (mlirTypeIsAVector(type)) print_register(f, k, type);
    if (mlirTypeIsAMemRef(type)) print_rows(f, k, type, stride);
  }
  if (!f->result) {
    pb_text_add(f->text, "  llvm.call_intrinsic \"%s\"(%s) : (%s) -> ()\n  return\n}\n", f->emit, f->names.data,
                f->types.data);
    return;
  }
  const char* words = words_type(f, result_type(f));
  pb_text_add(f->text, "  %%t = llvm.call_intrinsic \"%s\"(%s) : (%s) -> !llvm.%s\n", f->emit, f->names.data,
              f->types.data, f->value);
  pb_text_add(f->text, "  %%b = llvm.call_intrinsic \"%s\"(%%t) : (!llvm.%s) -> %s\n", f->to_vector, f->value, words);
  pb_text_add(f->text, "  %%r = llvm.bitcast %%b : %s to %s\n  return %%r : %s\n}\n", words, f->result, f->result);
}

void pb_intrinsic_print(MlirOperation func, pb_text* text) {
  function f;
  open_function(&f, func, text);
  if (mlirAttributeIsNull(pb_op_attribute(func, "pb.value")))
    print_on_vectors(&f, func);
  else
    print_on_rows(&f, func);
  close_function(&f);
}
