// Follows a placed kernel: a small interpreter of affine.for and affine.if, index arithmetic, windows and calls.
#include "targets/control/queues/trace.h"

#include "core/poly/nest.h"
#include "core/s3/kernels.h"

#include <mlir-c/AffineExpr.h>
#include <mlir-c/AffineMap.h>
#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>
#include <mlir-c/IntegerSet.h>
#include <stdlib.h>
#include <string.h>

// What an SSA value is at this point of the run: a number, a buffer, or a window on one.
typedef struct bound {
  double number; // integers up to 2^53 and f32 are exact
  int memory, argument;
  int64_t base, element; // bytes
  int rank;
  int64_t extent[PB_NEST_RANK], stride[PB_NEST_RANK]; // elements
} bound;

typedef struct entry {
  const void* key;
  bound value;
} entry;

typedef struct tracer {
  const pb_chip* chip;
  pb_arena* arena;
  pb_diag* diag;
  pb_trace* trace;
  entry* table; // open addressing
  size_t capacity, count;
  const char *name_data, *name; // the node that was named last
} tracer;

static bound* slot(tracer* t, MlirValue v) {
  if (2 * (t->count + 1) > t->capacity) {
    size_t old = t->capacity;
    entry* from = t->table;
    t->capacity = old ? old * 2 : 1024;
    t->table = calloc(t->capacity, sizeof *t->table);
    t->count = 0;
    for (size_t k = 0; k < old; ++k)
      if (from[k].key) *slot(t, (MlirValue){from[k].key}) = from[k].value;
    free(from);
  }
  size_t at = ((uintptr_t)v.ptr >> 3) * 0x9E3779B97F4A7C15ull >> 20 & (t->capacity - 1);
  while (t->table[at].key && t->table[at].key != v.ptr) at = (at + 1) & (t->capacity - 1);
  if (!t->table[at].key) {
    t->table[at].key = v.ptr;
    ++t->count;
  }
  return &t->table[at].value;
}

static int64_t number(tracer* t, MlirValue v) { return (int64_t)slot(t, v)->number; }

static int64_t floor_div(int64_t a, int64_t b) { return a / b - (a % b != 0 && (a < 0) != (b < 0)); }

static int64_t evaluate(MlirAffineExpr e, const int64_t* inputs, intptr_t dims) {
  if (mlirAffineExprIsAConstant(e)) return mlirAffineConstantExprGetValue(e);
  if (mlirAffineExprIsADim(e)) return inputs[mlirAffineDimExprGetPosition(e)];
  if (mlirAffineExprIsASymbol(e)) return inputs[dims + mlirAffineSymbolExprGetPosition(e)];
  int64_t a = evaluate(mlirAffineBinaryOpExprGetLHS(e), inputs, dims);
  int64_t b = evaluate(mlirAffineBinaryOpExprGetRHS(e), inputs, dims);
  if (mlirAffineExprIsAAdd(e)) return a + b;
  if (mlirAffineExprIsAMul(e)) return a * b;
  if (mlirAffineExprIsAMod(e)) return a - b * floor_div(a, b);
  if (mlirAffineExprIsAFloorDiv(e)) return floor_div(a, b);
  return -floor_div(-a, b);
}

// affine.apply, affine.max and affine.min: the map over the operands, its results folded.
static void run_affine(tracer* t, MlirOperation op) {
  bool max = pb_op_is(op, "affine.max");
  MlirAffineMap map = mlirAffineMapAttrGetValue(pb_op_attribute(op, "map"));
  int64_t inputs[64] = {0}, result = 0;
  for (intptr_t k = 0; k < mlirOperationGetNumOperands(op) && k < 64; ++k)
    inputs[k] = number(t, mlirOperationGetOperand(op, k));
  for (intptr_t k = 0; k < mlirAffineMapGetNumResults(map); ++k) {
    int64_t value = evaluate(mlirAffineMapGetResult(map, k), inputs, mlirAffineMapGetNumDims(map));
    result = k == 0 ? value : max ? (value > result ? value : result) : (value < result ? value : result);
  }
  slot(t, mlirOperationGetResult(op, 0))->number = (double)result;
}

static void run_constant(tracer* t, MlirOperation op) {
  MlirAttribute a = pb_op_attribute(op, "value");
  double value = mlirAttributeIsAFloat(a) ? mlirFloatAttrGetValueDouble(a) : (double)mlirIntegerAttrGetValueInt(a);
  slot(t, mlirOperationGetResult(op, 0))->number = value;
}

static int memory_named(const pb_chip* chip, MlirAttribute space) {
  if (mlirAttributeIsNull(space) || !mlirAttributeIsAString(space)) return chip->system_memory;
  MlirStringRef s = mlirStringAttrGetValue(space);
  for (int k = 0; k < chip->memory_count; ++k)
    if (strlen(chip->memories[k].name) == s.length && !memcmp(chip->memories[k].name, s.data, s.length)) return k;
  return -1;
}

static void bind_memref(tracer* t, MlirValue v, int argument, int64_t address) {
  MlirType type = mlirValueGetType(v);
  *slot(t, v) = (bound){.memory = memory_named(t->chip, mlirMemRefTypeGetMemorySpace(type)),
                        .argument = argument,
                        .base = address,
                        .element = pb_type_bits(pb_type_of(mlirShapedTypeGetElementType(type))) / 8};
}

// Operands: the buffer, one offset, then extents, then strides (all dynamic, as `map` prints them); those that the
// parser folded into the type are static.
static void run_window(tracer* t, MlirOperation op) {
  bound window = *slot(t, mlirOperationGetOperand(op, 0));
  MlirAttribute offsets = pb_op_attribute(op, "static_offsets"), sizes = pb_op_attribute(op, "static_sizes"),
                strides = pb_op_attribute(op, "static_strides");
  intptr_t next = 1;
  int64_t dynamic = INT64_MIN;
  int64_t offset = mlirDenseI64ArrayGetElement(offsets, 0);
  if (offset == dynamic) offset = number(t, mlirOperationGetOperand(op, next++));
  window.rank = (int)mlirDenseArrayGetNumElements(sizes);
  for (int k = 0; k < window.rank; ++k) {
    window.extent[k] = mlirDenseI64ArrayGetElement(sizes, k);
    if (window.extent[k] == dynamic) window.extent[k] = number(t, mlirOperationGetOperand(op, next++));
  }
  for (int k = 0; k < window.rank; ++k) {
    window.stride[k] = mlirDenseI64ArrayGetElement(strides, k);
    if (window.stride[k] == dynamic) window.stride[k] = number(t, mlirOperationGetOperand(op, next++));
  }
  window.base += offset * window.element;
  *slot(t, mlirOperationGetResult(op, 0)) = window;
}

static pb_status refuse(tracer* t, const pb_traced* c, const char* field, int64_t value) {
  return pb_unsupported(t->diag, (pb_place){.what = c->nest}, 4101, "another plan for this kernel may fit",
                        "%s cannot carry %lld in its field '%s'", c->command.insn->name, (long long)value, field);
}

static pb_status set_field(tracer* t, pb_traced* c, int field, int64_t value) {
  const pb_field* f = &c->command.insn->fields[field];
  if (value < pb_field_min(f) || value > pb_field_max(f)) return refuse(t, c, f->name, value);
  c->command.values[field] = value;
  return PB_OK;
}

static pb_status set_window(tracer* t, pb_traced* c, const pb_operand* operand, const bound* window, bool fills) {
  if (window->base % operand->unit && !fills)
    return refuse(t, c, c->command.insn->fields[operand->base].name, window->base);
  PB_TRY(set_field(t, c, operand->base, window->base / operand->unit));
  if (operand->slot >= 0) PB_TRY(set_field(t, c, operand->slot, window->argument));
  pb_region region = {.memory = operand->memory,
                      .argument = window->argument,
                      .base = window->base,
                      .rank = operand->rank,
                      .element = window->element,
                      .written = operand->written};
  for (int k = 0; k < operand->rank; ++k) {
    int64_t bytes = window->stride[k] * window->element;
    region.extent[k] = window->extent[k];
    region.stride[k] = bytes;
    if (operand->strides[k].kind != PB_STRIDE_FIELD) continue;
    if (bytes % operand->unit && window->extent[k] > 1)
      return refuse(t, c, c->command.insn->fields[operand->strides[k].field].name, bytes);
    if (window->extent[k] > 1) {
      PB_TRY(set_field(t, c, operand->strides[k].field, bytes / operand->unit));
      c->idle &= ~(1u << operand->strides[k].field);
    } else if (!c->command.values[operand->strides[k].field]) {
      c->idle |= 1u << operand->strides[k].field;
    }
  }
  if (!fills) c->regions[c->region_count++] = region;
  return PB_OK;
}

static int64_t clamp(int64_t v, int64_t lo, int64_t hi) { return v < lo ? lo : v > hi ? hi : v; }

// The operands in the order that core/s3/instruction.h says.
static pb_status run_call(tracer* t, MlirOperation op, const pb_insn* insn) {
  pb_region regions[PB_MAX_OPERANDS];
  pb_traced c = {.command = {.insn = insn}, .regions = regions};
  MlirAttribute nest = pb_op_attribute(op, "pb.nest");
  if (!mlirAttributeIsNull(nest)) {
    MlirStringRef s = mlirStringAttrGetValue(nest);
    if (s.data != t->name_data) t->name = pb_printf(t->arena, "%.*s", (int)s.length, s.data);
    t->name_data = s.data; // attributes are unique: the same text is the same pointer
    c.nest = t->name;
  }
  intptr_t boxes = insn->operand_count;
  int64_t extents[PB_MAX_INSN_DIMS];
  for (int d = 0; d < insn->dim_count; ++d) {
    extents[d] = insn->dims[d].max;
    if (insn->dims[d].field < 0) continue;
    extents[d] = number(t, mlirOperationGetOperand(op, boxes++));
    PB_TRY(set_field(t, &c, insn->dims[d].field, extents[d]));
  }
  bool fills = false;
  for (int o = 0; o < insn->operand_count; ++o) {
    const pb_operand* operand = &insn->operands[o];
    if (operand->memory < 0 || !operand->has_box) continue;
    fills = false;
    for (int k = 0; k < operand->rank; ++k) {
      if (operand->box_lo[k] < 0) continue;
      int64_t most = extents[operand->dims[k]];
      int64_t lo = clamp(number(t, mlirOperationGetOperand(op, boxes++)), 0, most);
      int64_t hi = clamp(number(t, mlirOperationGetOperand(op, boxes++)), 0, most);
      fills |= hi <= lo;
      PB_TRY(set_field(t, &c, operand->box_lo[k], lo));
      PB_TRY(set_field(t, &c, operand->box_hi[k], hi));
    }
    if (operand->fill >= 0) PB_TRY(set_field(t, &c, operand->fill, number(t, mlirOperationGetOperand(op, boxes++))));
  }
  for (int o = 0; o < insn->operand_count; ++o) {
    const pb_operand* operand = &insn->operands[o];
    const bound* value = slot(t, mlirOperationGetOperand(op, o));
    if (operand->memory >= 0)
      PB_TRY(set_window(t, &c, operand, value, fills && operand->has_box));
    else if (operand->type == PB_F32) {
      float f = (float)value->number;
      uint32_t bits;
      memcpy(&bits, &f, sizeof bits);
      PB_TRY(set_field(t, &c, operand->base, bits));
    } else {
      // i1 true is printed as -1
      PB_TRY(set_field(t, &c, operand->base, operand->type == PB_I1 ? value->number != 0 : (int64_t)value->number));
    }
  }
  c.regions = PB_NEW_ARRAY(t->arena, pb_region, (size_t)c.region_count);
  memcpy(c.regions, regions, sizeof *regions * (size_t)c.region_count);
  PB_PUSH(t->trace->commands, t->trace->count, t->trace->capacity, c);
  return PB_OK;
}

static pb_status run_block(tracer* t, MlirBlock block);

static pb_status run_loop(tracer* t, MlirOperation op) {
  MlirBlock body = mlirRegionGetFirstBlock(mlirOperationGetRegion(op, 0));
  MlirAffineMap upper = mlirAffineMapAttrGetValue(pb_op_attribute(op, "upperBoundMap"));
  int64_t extent = mlirAffineConstantExprGetValue(mlirAffineMapGetResult(upper, 0));
  for (int64_t k = 0; k < extent; ++k) {
    slot(t, mlirBlockGetArgument(body, 0))->number = (double)k;
    PB_TRY(run_block(t, body));
  }
  return PB_OK;
}

// affine.if over one number: what is done in one turn of a loop.
static pb_status run_turn(tracer* t, MlirOperation op) {
  MlirIntegerSet set = mlirIntegerSetAttrGetValue(pb_op_attribute(op, "condition"));
  int64_t input = number(t, mlirOperationGetOperand(op, 0));
  for (intptr_t k = 0; k < mlirIntegerSetGetNumConstraints(set); ++k) {
    int64_t value = evaluate(mlirIntegerSetGetConstraint(set, k), &input, mlirIntegerSetGetNumDims(set));
    if (mlirIntegerSetIsConstraintEq(set, k) ? value != 0 : value < 0) return PB_OK;
  }
  return run_block(t, mlirRegionGetFirstBlock(mlirOperationGetRegion(op, 0)));
}

static const pb_insn* called(tracer* t, MlirOperation op) {
  MlirStringRef s = mlirFlatSymbolRefAttrGetValue(pb_op_attribute(op, "callee"));
  const char* name = pb_printf(t->arena, "%.*s", (int)s.length, s.data); // chip.INSN or chip.INSN.type
  const char* insn = strchr(name, '.');
  if (!insn) return NULL;
  char* own = pb_strdup(t->arena, insn + 1);
  char* type = strchr(own, '.');
  if (type) *type = 0;
  return pb_chip_insn(t->chip, own);
}

static pb_status run_block(tracer* t, MlirBlock block) {
  for (MlirOperation op = mlirBlockGetFirstOperation(block); !mlirOperationIsNull(op);
       op = mlirOperationGetNextInBlock(op)) {
    if (pb_op_is(op, "affine.for"))
      PB_TRY(run_loop(t, op));
    else if (pb_op_is(op, "affine.if"))
      PB_TRY(run_turn(t, op));
    else if (pb_op_is(op, "affine.apply") || pb_op_is(op, "affine.max") || pb_op_is(op, "affine.min"))
      run_affine(t, op);
    else if (pb_op_is(op, "arith.constant"))
      run_constant(t, op);
    else if (pb_op_is(op, "arith.cmpi")) { // the one comparison that `map` makes: not equal
      int64_t a = number(t, mlirOperationGetOperand(op, 0)), b = number(t, mlirOperationGetOperand(op, 1));
      slot(t, mlirOperationGetResult(op, 0))->number = a != b;
    } else if (pb_op_is(op, "memref.alloc")) {
      bind_memref(t, mlirOperationGetResult(op, 0), -1, pb_op_integer(op, "pb.address", 0));
    } else if (pb_op_is(op, "memref.reinterpret_cast"))
      run_window(t, op);
    else if (pb_op_is(op, "func.call")) {
      const pb_insn* insn = called(t, op);
      if (!insn)
        return pb_unsupported(t->diag, (pb_place){0}, 4102, NULL, "a call of something that is no instruction");
      PB_TRY(run_call(t, op, insn));
    } else if (!pb_op_is(op, "affine.yield") && !pb_op_is(op, "func.return")) {
      MlirStringRef s = mlirIdentifierStr(mlirOperationGetName(op));
      return pb_unsupported(t->diag, (pb_place){0}, 4103, NULL, "'%.*s' in a placed kernel", (int)s.length, s.data);
    }
  }
  return PB_OK;
}

pb_status pb_trace_kernel(const pb_chip* chip, MlirOperation func, pb_arena* arena, pb_diag* diag, pb_trace* trace) {
  *trace = (pb_trace){0};
  tracer t = {.chip = chip, .arena = arena, .diag = diag, .trace = trace};
  MlirBlock body = mlirRegionGetFirstBlock(mlirOperationGetRegion(func, 0));
  trace->argument_count = (int)mlirBlockGetNumArguments(body);
  if (trace->argument_count > chip->arguments)
    return pb_unsupported(diag, (pb_place){.what = pb_func_name(func, arena)}, 4104, NULL,
                          "%d tensors in one kernel; commands can name %d", trace->argument_count, chip->arguments);
  for (int k = 0; k < trace->argument_count; ++k) bind_memref(&t, mlirBlockGetArgument(body, k), k, 0);
  pb_status status = run_block(&t, body);
  free(t.table);
  return status;
}

void pb_trace_free(pb_trace* trace) {
  free(trace->commands);
  *trace = (pb_trace){0};
}
