#include "core/driver/check.h"

#include "core/base/half.h"
#include "core/driver/pipeline.h"
#include "core/ir/execute.h"
#include "core/poly/nest.h"
#include "core/s3/kernels.h"

#include <float.h>
#include <math.h>
#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>
#include <stdlib.h>
#include <string.h>

// Memory spaces mean nothing to the JIT: `, "SPAD">` becomes `>`.
static void drop_spaces(char* text, const pb_chip* chip) {
  for (int m = 0; m < chip->memory_count; ++m) {
    pb_arena scratch = {0};
    const char* space = pb_printf(&scratch, ", \"%s\">", chip->memories[m].name);
    size_t n = strlen(space);
    char* to = text;
    for (char* from = text; *from;) {
      if (*from == ',' && !strncmp(from, space, n)) {
        *to++ = '>';
        from += n;
      } else {
        *to++ = *from++;
      }
    }
    *to = 0;
    pb_arena_free(&scratch);
  }
}

static float next_input(uint64_t* state) { // splitmix64
  uint64_t z = *state += 0x9E3779B97F4A7C15ull;
  z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9ull;
  z = (z ^ z >> 27) * 0x94D049BB133111EBull;
  return (float)((z ^ z >> 31) >> 40) / 8388608.0f - 1.0f;
}

void pb_number_store(void* data, pb_type type, int64_t index, double number) {
  char* at = (char*)data + index * ((pb_type_bits(type) + 7) / 8);
  float f32 = (float)number;
  int64_t integer = isfinite(number) ? (int64_t)number : 0;
  uint32_t bits;
  memcpy(&bits, &f32, sizeof bits);
  if (type == PB_F64)
    memcpy(at, &number, sizeof number);
  else if (type == PB_F32)
    memcpy(at, &f32, sizeof f32);
  else if (type == PB_BF16)
    memcpy(at, (const char*)&bits + 2, 2);
  else if (type == PB_F16) { // whole halves: 0, -0.5, 1
    uint16_t half = number == 0 ? 0 : number < 0 ? 0xb800 : 0x3c00;
    memcpy(at, &half, sizeof half);
  } else if (type == PB_I1)
    *at = integer & 1;
  else
    memcpy(at, &integer, (size_t)pb_type_bits(type) / 8); // the low bytes of a little-endian number
}

static bool is_float(pb_type type) { return type == PB_F32 || type == PB_F64; }

static size_t bytes_of(const pb_access* shape) {
  return (size_t)pb_access_elements(shape) * (((size_t)pb_type_bits(shape->type) + 7) / 8);
}

// `odd`: among floats NaN, infinities and -0, of each one in 64.
static void fill_input(void* data, const pb_access* shape, bool odd, uint64_t* state) {
  static const double odds[] = {NAN, INFINITY, -INFINITY, -0.0};
  const double large = 1000, code = 127;
  int64_t n = pb_access_elements(shape);
  for (int64_t k = 0; k < n; ++k) {
    double v = (double)next_input(state);
    int32_t which = (int32_t)((v + 1) * 4096) & 63; // of bits that the number itself has too
    if (is_float(shape->type))
      pb_number_store(data, shape->type, k, odd && which < 4 ? odds[which] : v);
    else
      pb_number_store(data, shape->type, k, v * (shape->type == PB_I32 || shape->type == PB_I64 ? large : code));
  }
}

// Text that a person wrote may be anything that MLIR takes: the arguments of @main must be tensors, and constants
// there.
static pb_status check_main(const pb_unit* unit, MlirOperation main, const char* what) {
  pb_place place = {.what = what};
  if (mlirOperationIsNull(main) || !pb_op_is(main, "func.func"))
    return pb_error(unit->diag, place, 4093, NULL, "there is no function 'main' to run");
  MlirBlock body = mlirRegionGetFirstBlock(mlirOperationGetRegion(main, 0));
  if (mlirBlockIsNull(body)) return pb_error(unit->diag, place, 4093, NULL, "'main' has no body");
  for (int k = 0; k < (int)mlirBlockGetNumArguments(body); ++k) {
    pb_access shape;
    MlirType type = mlirValueGetType(mlirBlockGetArgument(body, k));
    if (mlirTypeIsAMemRef(type) && mlirShapedTypeGetRank(type) > PB_NEST_RANK)
      return pb_unsupported(unit->diag, place, 4002, NULL, "argument %d of 'main' has more than %d dims", k,
                            PB_NEST_RANK);
    if (!pb_access_of_value(mlirBlockGetArgument(body, k), &shape))
      return pb_error(unit->diag, place, 4093, NULL, "argument %d of 'main' is no static memref", k);
    MlirAttribute id = pb_argument_attribute(mlirBlockGetArgument(body, k), "pb.const");
    if (mlirAttributeIsNull(id)) continue;
    int64_t n = mlirAttributeIsAInteger(id) ? mlirIntegerAttrGetValueInt(id) : -1;
    uint64_t bytes = (uint64_t)bytes_of(&shape);
    if (n < 0 || (uint64_t)n >= unit->consts->count || unit->consts->items[n]->bytes < bytes)
      return pb_error(unit->diag, place, 4093, NULL, "argument %d of 'main' names a constant that is not there", k);
  }
  return PB_OK;
}

pb_status pb_check_main(const pb_unit* unit, const char* what) {
  return check_main(unit, pb_module_func(unit->module, "main"), what);
}

static void take_result(const pb_access* shape, MlirStringRef name, const void* data, pb_results* results) {
  size_t bytes = bytes_of(shape);
  results->data = realloc(results->data, results->bytes + bytes + 1);
  if (!results->data) pb_no_memory(results->bytes + bytes);
  memcpy(results->data + results->bytes, data, bytes);
  results->bytes += bytes;
  PB_PUSH(results->parts, results->part_count, results->part_capacity,
          ((struct pb_result_part){shape->type, bytes, name}));
}

typedef struct argument {
  pb_access shape;
  int constant; // -1: the buffer is the check's own
  bool output;
  MlirStringRef name; // of an output
  bool turned; // codes that lie there without sign: those that the check draws, and compares, with their sign bit
               // flipped
} argument;

// From pass `unsigned` on these are as the model has them.
static bool is_turned(const pb_unit* unit, MlirValue value) {
  MlirAttribute name = pb_argument_attribute(value, "pb.input");
  if (mlirAttributeIsNull(name)) name = pb_argument_attribute(value, "pb.output");
  if (!unit->codes_unsigned || mlirAttributeIsNull(name)) return false;
  MlirStringRef text = mlirStringAttrGetValue(name);
  return pb_unit_names_unsigned(unit, text.data, text.length);
}

static void turn(const argument* a, void* data) {
  size_t bytes = a->turned ? bytes_of(&a->shape) : 0;
  for (size_t k = 0; k < bytes; ++k) ((uint8_t*)data)[k] ^= 0x80;
}

static void read_argument(const pb_unit* unit, MlirOperation main, int k, argument* a) {
  MlirValue value = mlirBlockGetArgument(mlirRegionGetFirstBlock(mlirOperationGetRegion(main, 0)), k);
  MlirAttribute id = pb_argument_attribute(value, "pb.const");
  pb_access_of_value(value, &a->shape);
  a->constant = mlirAttributeIsNull(id) ? -1 : (int)mlirIntegerAttrGetValueInt(id);
  MlirAttribute output = pb_argument_attribute(value, "pb.output");
  a->output = !mlirAttributeIsNull(output);
  if (a->output) a->name = mlirStringAttrGetValue(output);
  a->turned = is_turned(unit, value);
}

enum { SETS = 2 }; // of inputs: numbers, and odd ones among them

static pb_status run(const pb_unit* unit, MlirModule module, uint64_t seed, pb_results* results) {
  MlirOperation main = pb_module_func(module, "main");
  PB_TRY(check_main(unit, main, "check"));
  int count = (int)mlirBlockGetNumArguments(mlirRegionGetFirstBlock(mlirOperationGetRegion(main, 0)));
  pb_arena arena = {0};
  argument* arguments = PB_NEW_ARRAY(&arena, argument, (size_t)count + 1);
  void** buffers = PB_NEW_ARRAY(&arena, void*, (size_t)count* SETS + 1);
  pb_status status = PB_OK;
  for (int k = 0; k < count * SETS; ++k) {
    argument* a = &arguments[k % count];
    read_argument(unit, main, k % count, a);
    if (a->constant >= 0)
      buffers[k] = (void*)(uintptr_t)pb_const_data(unit->consts, a->constant);
    else if (!(buffers[k] = calloc(bytes_of(&a->shape) + 1, 1)))
      status = pb_error(unit->diag, (pb_place){.what = "check"}, 4094, NULL, "no memory for argument %d of 'main'",
                        k % count);
  }
  for (int s = 0; s < SETS && status == PB_OK; ++s) {
    uint64_t state = seed;
    for (int k = 0; k < count; ++k)
      if (arguments[k].constant < 0) {
        fill_input(buffers[s * count + k], &arguments[k].shape, s > 0, &state);
        turn(&arguments[k], buffers[s * count + k]);
      }
  }
  if (status == PB_OK) status = pb_ir_execute_sets(module, "main", buffers, count, SETS, unit->diag);
  for (int k = 0; k < count * SETS; ++k) {
    const argument* a = &arguments[k % count];
    if (a->output) turn(a, buffers[k]);
    if (status == PB_OK && a->output) take_result(&a->shape, a->name, buffers[k], results);
    if (a->constant < 0) free(buffers[k]);
  }
  pb_arena_free(&arena);
  return status;
}

void pb_results_free(pb_results* results) {
  free(results->data);
  free(results->parts);
  *results = (pb_results){0};
}

pb_status pb_check_run(const pb_unit* unit, uint64_t seed, pb_results* results) {
  char* text = pb_module_print(unit->module);
  drop_spaces(text, unit->chip);
  MlirModule module = mlirModuleCreateParse(unit->context, mlirStringRefCreateFromCString(text));
  free(text);
  *results = (pb_results){0};
  if (mlirModuleIsNull(module))
    return pb_error(unit->diag, (pb_place){.what = "check"}, 4091, NULL, "the IR cannot be parsed back");
  pb_status status = run(unit, module, seed, results);
  mlirModuleDestroy(module);
  return status;
}

// Bits, but of NaN: which one comes out hangs on the order of operands, which nobody promises.
static bool floats_equal(const char* a, const char* b, size_t bytes, size_t* first) {
  float x, y;
  for (*first = 0; *first + 4 <= bytes; *first += 4) {
    memcpy(&x, a + *first, 4);
    memcpy(&y, b + *first, 4);
    if (memcmp(&x, &y, 4) && !(isnan(x) && isnan(y))) return false;
  }
  return true;
}

static bool bytes_equal(const char* a, const char* b, size_t bytes, size_t* first) {
  for (*first = 0; *first < bytes && a[*first] == b[*first];) ++*first;
  return *first == bytes;
}

bool pb_results_equal(const pb_results* a, const pb_results* b, size_t* first) {
  size_t at = 0;
  if (a->bytes != b->bytes)
    return bytes_equal(a->data, b->data, a->bytes < b->bytes ? a->bytes : b->bytes, first), false;
  for (size_t p = 0; p < a->part_count; ++p) {
    size_t bytes = a->parts[p].bytes;
    bool same = a->parts[p].type == PB_F32 ? floats_equal(a->data + at, b->data + at, bytes, first)
                                           : bytes_equal(a->data + at, b->data + at, bytes, first);
    *first += at;
    if (!same) return false;
    at += bytes;
  }
  *first = at;
  return true;
}

static double number_at(pb_type type, const char* data) {
  uint16_t half;
  float single;
  double number;
  if (type == PB_F64) return memcpy(&number, data, sizeof number), number;
  if (type == PB_F32) return memcpy(&single, data, sizeof single), (double)single;
  memcpy(&half, data, sizeof half);
  return (double)(type == PB_F16 ? pb_half_number(half) : pb_bfloat_number(half));
}

// How far elements may be apart, of the largest, where f32 ones may be by `relative`.
static double relative_of(pb_type type, double relative) {
  if (type == PB_F64) return relative * (DBL_EPSILON / FLT_EPSILON);
  double place = type == PB_F16 ? 0x1p-10 : type == PB_BF16 ? 0x1p-7 : 0;
  return relative + place;
}

static bool floats_close(pb_type type, const char* a, const char* b, size_t bytes, double relative, size_t* first) {
  size_t each = (size_t)pb_type_bits(type) / 8;
  double largest = 0;
  for (size_t k = 0; k + each <= bytes; k += each) {
    double x = number_at(type, a + k);
    if (isfinite(x) && fabs(x) > largest) largest = fabs(x);
  }
  for (size_t k = 0; k + each <= bytes; k += each) {
    double x = number_at(type, a + k), y = number_at(type, b + k);
    bool same = !memcmp(a + k, b + k, each) || (isnan(x) && isnan(y));
    if (same || (isfinite(x) && isfinite(y) && fabs(x - y) <= relative * largest)) continue;
    *first = k;
    return false;
  }
  return true;
}

bool pb_results_close(const pb_results* a, const pb_results* b, double relative, size_t* first) {
  size_t at = 0;
  if (a->bytes != b->bytes) return pb_results_equal(a, b, first);
  for (size_t p = 0; p < a->part_count; ++p) {
    pb_type type = a->parts[p].type;
    size_t bytes = a->parts[p].bytes;
    bool floats = type == PB_F64 || type == PB_F32 || type == PB_F16 || type == PB_BF16;
    bool same = floats ? floats_close(type, a->data + at, b->data + at, bytes, relative_of(type, relative), first)
                       : !memcmp(a->data + at, b->data + at, bytes);
    if (!same) {
      if (!floats) *first = 0;
      *first += at;
      return false;
    }
    at += bytes;
  }
  *first = at;
  return !memcmp(a->data + at, b->data + at, a->bytes - at);
}
