#include "core/driver/check.h"

#include "core/driver/pipeline.h"
#include "core/ir/execute.h"
#include "core/poly/nest.h"
#include "core/s3/kernels.h"

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

static void* input_buffer(const pb_access* shape, uint64_t* state) {
  int64_t n = pb_access_elements(shape);
  char* data = calloc((size_t)n + 1, 4);
  if (!data) abort();
  for (int64_t k = 0; k < n; ++k) {
    float v = next_input(state);
    if (shape->type == PB_F32)
      ((float*)(void*)data)[k] = v;
    else if (shape->type == PB_I32)
      ((int32_t*)(void*)data)[k] = (int32_t)(v * 1000);
    else
      data[k] = (char)(v * 127);
  }
  return data;
}

static MlirAttribute argument_attribute(MlirAttribute all, int k, const char* name) {
  if (mlirAttributeIsNull(all)) return all;
  return mlirDictionaryAttrGetElementByName(mlirArrayAttrGetElement(all, k), mlirStringRefCreateFromCString(name));
}

// Text that a person wrote may be anything that MLIR takes: the arguments of @main must be tensors, and constants
// there.
static pb_status check_main(const pb_unit* unit, MlirOperation main) {
  pb_place place = {.what = "check"};
  if (mlirOperationIsNull(main) || !pb_op_is(main, "func.func"))
    return pb_error(unit->diag, place, 4093, NULL, "there is no function 'main' to run");
  MlirBlock body = mlirRegionGetFirstBlock(mlirOperationGetRegion(main, 0));
  if (mlirBlockIsNull(body)) return pb_error(unit->diag, place, 4093, NULL, "'main' has no body");
  MlirAttribute attrs = pb_op_attribute(main, "arg_attrs");
  for (int k = 0; k < (int)mlirBlockGetNumArguments(body); ++k) {
    pb_access shape;
    if (!pb_access_of_value(mlirBlockGetArgument(body, k), &shape))
      return pb_error(unit->diag, place, 4093, NULL, "argument %d of 'main' is no static memref", k);
    MlirAttribute id = argument_attribute(attrs, k, "pb.const");
    if (mlirAttributeIsNull(id)) continue;
    int64_t n = mlirAttributeIsAInteger(id) ? mlirIntegerAttrGetValueInt(id) : -1;
    uint64_t bytes = (uint64_t)pb_access_elements(&shape) * (uint64_t)(pb_type_bits(shape.type) / 8);
    if (n < 0 || (uint64_t)n >= unit->consts->count || unit->consts->items[n].bytes < bytes)
      return pb_error(unit->diag, place, 4093, NULL, "argument %d of 'main' names a constant that is not there", k);
  }
  return PB_OK;
}

static pb_status run(const pb_unit* unit, MlirModule module, uint64_t seed, pb_results* results) {
  MlirOperation main = pb_module_func(module, "main");
  PB_TRY(check_main(unit, main));
  MlirBlock body = mlirRegionGetFirstBlock(mlirOperationGetRegion(main, 0));
  MlirAttribute attrs = pb_op_attribute(main, "arg_attrs");
  int count = (int)mlirBlockGetNumArguments(body);
  void** buffers = calloc((size_t)count + 1, sizeof *buffers);
  bool* own = calloc((size_t)count + 1, sizeof *own);
  if (!buffers || !own) abort();
  for (int k = 0; k < count; ++k) {
    MlirAttribute id = argument_attribute(attrs, k, "pb.const");
    pb_access shape;
    pb_access_of_value(mlirBlockGetArgument(body, k), &shape);
    own[k] = mlirAttributeIsNull(id);
    if (own[k])
      buffers[k] = input_buffer(&shape, &seed);
    else
      buffers[k] = (void*)(uintptr_t)pb_const_data(unit->consts, (int)mlirIntegerAttrGetValueInt(id));
  }
  pb_status status = pb_ir_execute(module, "main", buffers, count, unit->diag);
  *results = (pb_results){0};
  for (int k = 0; k < count; ++k) {
    MlirAttribute output = argument_attribute(attrs, k, "pb.output");
    if (status == PB_OK && !mlirAttributeIsNull(output)) {
      pb_access shape;
      pb_access_of_value(mlirBlockGetArgument(body, k), &shape);
      size_t bytes = (size_t)pb_access_elements(&shape) * (size_t)(pb_type_bits(shape.type) / 8);
      results->data = realloc(results->data, results->bytes + bytes);
      if (!results->data) abort();
      memcpy(results->data + results->bytes, buffers[k], bytes);
      if (results->part_count < PB_RESULT_PARTS) {
        results->parts[results->part_count].type = shape.type;
        results->parts[results->part_count++].bytes = bytes;
      }
      results->bytes += bytes;
    }
    if (own[k]) free(buffers[k]);
  }
  free(buffers);
  free(own);
  return status;
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

bool pb_results_equal(const pb_results* a, const pb_results* b, size_t* first) {
  *first = 0;
  size_t n = a->bytes < b->bytes ? a->bytes : b->bytes;
  while (*first < n && a->data[*first] == b->data[*first]) ++*first;
  return a->bytes == b->bytes && *first == n;
}

static bool floats_close(const char* a, const char* b, size_t bytes, double relative, size_t* first) {
  float largest = 0, x, y;
  for (size_t k = 0; k + 4 <= bytes; k += 4) {
    memcpy(&x, a + k, 4);
    if (fabsf(x) > largest) largest = fabsf(x); // of finite ones: a NaN is larger than nothing
  }
  for (size_t k = 0; k + 4 <= bytes; k += 4) {
    memcpy(&x, a + k, 4);
    memcpy(&y, b + k, 4);
    bool same = !memcmp(&x, &y, 4) || (isnan(x) && isnan(y));
    if (same || fabs((double)x - (double)y) <= relative * largest) continue;
    *first = k;
    return false;
  }
  return true;
}

bool pb_results_close(const pb_results* a, const pb_results* b, double relative, size_t* first) {
  size_t at = 0;
  if (a->bytes != b->bytes) return pb_results_equal(a, b, first);
  for (int p = 0; p < a->part_count; ++p) {
    size_t bytes = a->parts[p].bytes;
    bool same = a->parts[p].type == PB_F32 ? floats_close(a->data + at, b->data + at, bytes, relative, first)
                                           : !memcmp(a->data + at, b->data + at, bytes);
    if (!same) {
      if (a->parts[p].type != PB_F32) *first = 0;
      *first += at;
      return false;
    }
    at += bytes;
  }
  *first = at;
  return !memcmp(a->data + at, b->data + at, a->bytes - at);
}
