#include "targets/emit/llvm/intrinsic.h"

#include "core/s3/kernels.h"

#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>
#include <string.h>

static void append(MlirStringRef part, void* text) { pb_text_add(text, "%.*s", (int)part.length, part.data); }

static char* type_text(MlirType type, pb_arena* arena) {
  pb_text text = {0};
  mlirTypePrint(type, append, &text);
  char* copy = pb_strdup(arena, text.data);
  pb_text_free(&text);
  return copy;
}

typedef struct function {
  pb_arena arena;
  pb_text* text;
  const pb_insn* insn;
  const pb_memory* file; // of its registers
  MlirOperation func;
  MlirBlock body;
  int arguments;
  const char* result;   // NULL when it only stores
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

static const pb_memory* file_of(const pb_chip* chip, const pb_insn* insn) {
  int o = 0;
  while (chip->memories[insn->operands[o].memory].kind != PB_MEM_REGISTERS) ++o;
  return &chip->memories[insn->operands[o].memory];
}

static void open_function(function* f, const pb_chip* chip, const pb_insn* insn, MlirOperation func, pb_text* text) {
  *f = (function){.text = text,
                  .insn = insn,
                  .file = file_of(chip, insn),
                  .func = func,
                  .body = mlirRegionGetFirstBlock(mlirOperationGetRegion(func, 0))};
  f->arguments = (int)mlirBlockGetNumArguments(f->body);
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

// ---- products of narrow floats by llvm.fma ----

// llvm.fma is of one type and of one term: floats narrower than its result come to it widened, which code generators
// make one instruction of where there is one, and of several terms of a result, neighbours, one comes after the other.
static bool is_by_terms(const function* f) {
  bool narrow = false;
  for (int k = 0; k < f->insn->operand_count; ++k) narrow |= f->insn->operands[k].type != PB_F32;
  return !strcmp(f->insn->emit, "llvm.fma") && narrow;
}

static int64_t elements_of(MlirType type) { return mlirShapedTypeGetDimSize(type, 0); }

// %wK: the operand, widened.
static void print_widened(function* f, int k) {
  const char *from = type_text(argument_type(f, k), &f->arena), *name = pb_type_name(f->insn->operands[k].type);
  long long count = (long long)elements_of(argument_type(f, k));
  pb_text_add(f->text, "  %%b%d = llvm.bitcast %%x%d : %s to vector<%lldx%s>\n", k, k, from, count, name);
  pb_text_add(f->text, "  %%w%d = llvm.fpext %%b%d : vector<%lldx%s> to vector<%lldxf32>\n", k, k, count, name, count);
}

// %wK_T: of each group of neighbours the one of that number.
static void print_term(function* f, int k, long long term, long long count, long long all) {
  pb_text_add(f->text, "  %%w%d_%lld = llvm.shufflevector %%w%d, %%w%d [", k, term, k, k);
  for (long long n = 0; n < count; ++n) pb_text_add(f->text, "%s%lld", n ? ", " : "", n * (all / count) + term);
  pb_text_add(f->text, "] : vector<%lldxf32>\n", all);
}

static void print_by_terms(function* f) {
  int dest = f->insn->dest, factors[2], found = 0;
  for (int k = 0; k < f->arguments && found < 2; ++k)
    if (k != dest) factors[found++] = k;
  long long count = (long long)elements_of(argument_type(f, dest)),
            all = (long long)elements_of(argument_type(f, factors[0]));
  for (int k = 0; k < 2; ++k) print_widened(f, factors[k]);
  for (long long t = 0; t < all / count; ++t) {
    const char* sum = t ? pb_printf(&f->arena, "%%r%lld", t - 1) : pb_printf(&f->arena, "%%x%d", dest);
    for (int k = 0; k < 2; ++k) print_term(f, factors[k], t, count, all);
    pb_text_add(f->text,
                "  %%r%lld = llvm.call_intrinsic \"llvm.fma\"(%%w%d_%lld, %%w%d_%lld, %s) : (%s, %s, %s) -> %s\n", t,
                factors[0], t, factors[1], t, sum, f->result, f->result, f->result, f->result);
  }
  pb_text_add(f->text, "  return %%r%lld : %s\n}\n", all / count - 1, f->result);
}

// ---- on one lane's registers ----

// Of processors of lanes an intrinsic takes what one lane has: the vectors go to a function of no body that is named
// after it, until they are values of lanes (PB_LLVM_OF_LANE).
static bool is_of_lane(const pb_chip* chip, const function* f) {
  return chip->grid.triple && *chip->grid.triple && strcmp(f->insn->emit, "llvm.fma") != 0;
}

static void print_of_lane(function* f) {
  const char* name = pb_func_name(f->func, &f->arena);
  for (int k = 0; k < f->arguments; ++k)
    add_argument(f, pb_printf(&f->arena, "%%x%d", k), type_text(argument_type(f, k), &f->arena));
  pb_text_add(f->text, "  %%r = func.call @%s.lane(%s) : (%s) -> %s\n  return %%r : %s\n}\n", name, f->names.data,
              f->types.data, f->result, f->result);
  pb_text_add(f->text,
              "func.func private @%s.lane(%s) -> %s attributes {passthrough = [\"nounwind\", [\"" PB_LLVM_OF_LANE
              "\", \"%s %s\"]]}\n",
              name, f->types.data, f->result, f->insn->emit, f->insn->options);
}

// Elements that kernels have as codes of their bits are of the intrinsic's own type there.
static void print_on_vectors(function* f) {
  int added = f->insn->adds ? -1 : f->insn->dest; // what the intrinsic's result is added to
  for (int k = 0; k < f->arguments; ++k) {
    if (k == added) continue;
    MlirType has = argument_type(f, k);
    const char *name = pb_printf(&f->arena, "%%x%d", k), *type = type_text(has, &f->arena), *from = type;
    type = pb_printf(&f->arena, "vector<%lldx%s>", (long long)mlirShapedTypeGetDimSize(has, 0),
                     pb_type_name(f->insn->operands[k].type));
    if (strcmp(type, from)) {
      const char* bits = pb_printf(&f->arena, "%%b%d", k);
      pb_text_add(f->text, "  %s = llvm.bitcast %s : %s to %s\n", bits, name, from, type);
      name = bits;
    }
    add_argument(f, name, type);
  }
  pb_text_add(f->text, "  %%r = llvm.call_intrinsic \"%s\"(%s) : (%s) -> %s\n", f->insn->emit, f->names.data,
              f->types.data, f->result);
  if (added >= 0)
    pb_text_add(f->text, "  %%s = arith.add%s %%x%d, %%r : %s\n",
                mlirTypeIsAFloat(mlirShapedTypeGetElementType(result_type(f))) ? "f" : "i", added, f->result);
  pb_text_add(f->text, "  return %s : %s\n}\n", added >= 0 ? "%s" : "%r", f->result);
}

// ---- registers that hold rows ----

static int64_t element_bytes(MlirType type) {
  MlirType element = mlirShapedTypeGetElementType(type);
  return (mlirTypeIsAInteger(element) ? mlirIntegerTypeGetWidth(element) : mlirFloatTypeGetWidth(element)) / 8;
}

// The vector of i32 with a register's bytes, as the intrinsics take it that make the one of the other.
static const char* words_type(function* f, MlirType type) {
  return pb_printf(&f->arena, "vector<%lldxi32>",
                   (long long)(mlirShapedTypeGetDimSize(type, 0) * element_bytes(type) / 4));
}

// A vector becomes a register.
static void print_register(function* f, int k, MlirType type) {
  const char *from = type_text(type, &f->arena), *words = words_type(f, type);
  pb_text_add(f->text, "  %%b%d = llvm.bitcast %%x%d : %s to %s\n", k, k, from, words);
  pb_text_add(f->text, "  %%t%d = llvm.call_intrinsic \"%s\"(%%b%d) : (%s) -> !llvm.%s\n", k, f->file->from_vector, k,
              words, f->file->value);
  add_argument(f, pb_printf(&f->arena, "%%t%d", k), pb_printf(&f->arena, "!llvm.%s", f->file->value));
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

// What the code generator has to know of the registers' extents.
static void print_shape(function* f) {
  MlirAttribute told = pb_op_attribute(f->func, "pb.extents");
  int64_t extents[PB_MAX_INSN_DIMS];
  for (int d = 0; d < f->insn->dim_count; ++d) extents[d] = mlirDenseI64ArrayGetElement(told, d);
  for (int k = 0; k < f->insn->shape_count; ++k) {
    pb_text_add(f->text, "  %%e%d = llvm.mlir.constant(%lld : i16) : i16\n", k,
                (long long)pb_shape(f->insn, k, extents));
    add_argument(f, pb_printf(&f->arena, "%%e%d", k), "i16");
  }
}

static void print_on_rows(function* f) {
  int64_t stride = pb_op_integer(f->func, "pb.stride", 0);
  print_shape(f);
  for (int k = 0; k < f->arguments; ++k) {
    MlirType type = argument_type(f, k);
    if (mlirTypeIsAVector(type)) print_register(f, k, type);
    if (mlirTypeIsAMemRef(type)) print_rows(f, k, type, stride * element_bytes(type));
  }
  if (!f->result) {
    pb_text_add(f->text, "  llvm.call_intrinsic \"%s\"(%s) : (%s) -> ()\n  return\n}\n", f->insn->emit, f->names.data,
                f->types.data);
    return;
  }
  const char* words = words_type(f, result_type(f));
  pb_text_add(f->text, "  %%t = llvm.call_intrinsic \"%s\"(%s) : (%s) -> !llvm.%s\n", f->insn->emit, f->names.data,
              f->types.data, f->file->value);
  pb_text_add(f->text, "  %%b = llvm.call_intrinsic \"%s\"(%%t) : (!llvm.%s) -> %s\n", f->file->to_vector,
              f->file->value, words);
  pb_text_add(f->text, "  %%r = llvm.bitcast %%b : %s to %s\n  return %%r : %s\n}\n", words, f->result, f->result);
}

const pb_insn* pb_intrinsic_of(const pb_chip* chip, MlirOperation func) {
  MlirAttribute name = pb_op_attribute(func, "pb.instruction");
  if (mlirAttributeIsNull(name)) return NULL;
  pb_arena scratch = {0};
  MlirStringRef s = mlirStringAttrGetValue(name);
  const pb_insn* insn = pb_chip_insn(chip, pb_printf(&scratch, "%.*s", (int)s.length, s.data));
  pb_arena_free(&scratch);
  return insn;
}

void pb_intrinsic_print(const pb_chip* chip, const pb_insn* insn, MlirOperation func, pb_text* text) {
  function f;
  open_function(&f, chip, insn, func, text);
  if (f.file->value[0])
    print_on_rows(&f);
  else if (is_of_lane(chip, &f))
    print_of_lane(&f);
  else if (is_by_terms(&f))
    print_by_terms(&f);
  else
    print_on_vectors(&f);
  close_function(&f);
}
