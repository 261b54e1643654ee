#include "core/report/report.h"

#include "core/poly/nest.h"
#include "core/poly/text.h"
#include "core/report/scopes.h"
#include "core/s3/fallback.h"
#include "core/s3/kernels.h"

#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>
#include <string.h>

typedef unsigned long long ull;

static void put_bytes(pb_text* t, const char* text, size_t length) { pb_text_add_json(t, text, length); }
static void put_string(pb_text* t, const char* text) { pb_text_add_json(t, text, strlen(text)); }

// An attribute as JSON: dictionaries, lists, numbers and strings as such, all else as MLIR prints it.
static void put_attribute(pb_text* t, MlirAttribute a) {
  if (mlirAttributeIsADictionary(a)) {
    pb_text_add(t, "{");
    for (intptr_t k = 0; k < mlirDictionaryAttrGetNumElements(a); ++k) {
      MlirNamedAttribute one = mlirDictionaryAttrGetElement(a, k);
      MlirStringRef name = mlirIdentifierStr(one.name);
      pb_text_add(t, "%s", k ? ", " : "");
      put_bytes(t, name.data, name.length);
      pb_text_add(t, ": ");
      put_attribute(t, one.attribute);
    }
    pb_text_add(t, "}");
  } else if (mlirAttributeIsAArray(a) || mlirAttributeIsADenseI64Array(a)) {
    bool dense = mlirAttributeIsADenseI64Array(a);
    intptr_t n = dense ? mlirDenseArrayGetNumElements(a) : mlirArrayAttrGetNumElements(a);
    pb_text_add(t, "[");
    for (intptr_t k = 0; k < n; ++k) {
      pb_text_add(t, "%s", k ? ", " : "");
      if (dense)
        pb_text_add(t, "%lld", (long long)mlirDenseI64ArrayGetElement(a, k));
      else
        put_attribute(t, mlirArrayAttrGetElement(a, k));
    }
    pb_text_add(t, "]");
  } else if (mlirAttributeIsABool(a)) {
    pb_text_add(t, mlirBoolAttrGetValue(a) ? "true" : "false");
  } else if (mlirAttributeIsAInteger(a)) {
    pb_text_add(t, "%lld", (long long)mlirIntegerAttrGetValueInt(a));
  } else if (mlirAttributeIsAString(a)) {
    MlirStringRef s = mlirStringAttrGetValue(a);
    put_bytes(t, s.data, s.length);
  } else {
    pb_text printed = {0};
    mlirAttributePrint(a, pb_text_append, &printed);
    put_bytes(t, printed.data ? printed.data : "", printed.length);
    pb_text_free(&printed);
  }
}

static int memory_of(const pb_chip* chip, MlirAttribute space) {
  if (!mlirAttributeIsNull(space) && mlirAttributeIsAString(space))
    for (int m = 0; m < chip->memory_count; ++m)
      if (mlirStringRefEqual(mlirStringAttrGetValue(space), mlirStringRefCreateFromCString(chip->memories[m].name)))
        return m;
  return chip->system_memory;
}

// Bytes of each memory that the buffers inside the block take, in whole rows as `place` counts them.
static void add_buffers(const pb_chip* chip, MlirBlock block, int64_t* used) {
  MlirOperation op = mlirBlockGetFirstOperation(block);
  for (; !mlirOperationIsNull(op); op = mlirOperationGetNextInBlock(op)) {
    for (intptr_t r = 0; r < mlirOperationGetNumRegions(op); ++r) {
      MlirBlock inner = mlirRegionGetFirstBlock(mlirOperationGetRegion(op, r));
      for (; !mlirBlockIsNull(inner); inner = mlirBlockGetNextInRegion(inner)) add_buffers(chip, inner, used);
    }
    pb_type type;
    int64_t first, all;
    if (!pb_op_is(op, "memref.alloc") && !pb_op_is(op, "memref.alloca")) continue;
    MlirValue v = mlirOperationGetResult(op, 0);
    if (!pb_memref_extent(v, &type, &first, &all)) continue;
    int m = memory_of(chip, mlirMemRefTypeGetMemorySpace(mlirValueGetType(v)));
    bool placed = pb_op_has(op, "pb.address");
    int64_t copies = placed ? first : 1, row = placed ? chip->memories[m].row_bytes : 1;
    int64_t elements = all / copies;
    int64_t bytes = elements * ((pb_type_bits(type) + 7) / 8);
    if (pb_op_integer(op, "pb.packed", 0)) bytes = pb_bytes_of(PB_I4, elements);
    used[m] += (bytes + row - 1) / row * row * copies;
  }
}

void pb_report_memory(const pb_chip* chip, MlirOperation func, int64_t* bytes) {
  MlirBlock body = mlirRegionGetFirstBlock(mlirOperationGetRegion(func, 0));
  add_buffers(chip, body, bytes);
  for (intptr_t k = 0; k < mlirBlockGetNumArguments(body) && chip->constant_memory_count; ++k) {
    pb_access shape;
    MlirValue v = mlirBlockGetArgument(body, k);
    if (!pb_argument_has(v, "pb.memory") || !pb_access_of_value(v, &shape)) continue;
    bool packed = pb_argument_has(v, "pb.packed");
    bytes[pb_memref_memory(chip, v)] += pb_bytes_of(packed ? PB_I4 : shape.type, pb_access_elements(&shape));
  }
}

static void put_memory(pb_text* t, const pb_chip* chip, MlirOperation func) {
  pb_arena scratch = {0};
  int64_t* used = PB_NEW_ARRAY(&scratch, int64_t, (size_t)chip->memory_count + 1);
  if (!mlirOperationIsNull(func)) pb_report_memory(chip, func, used);
  pb_text_add(t, "{");
  bool any = false;
  for (int m = 0; m < chip->memory_count; ++m) {
    if (!used[m]) continue;
    pb_text_add(t, "%s", any ? ", " : "");
    put_string(t, chip->memories[m].name);
    pb_text_add(t, ": %lld", (long long)used[m]);
    any = true;
  }
  pb_text_add(t, "}");
  pb_arena_free(&scratch);
}

static void put_cycles(pb_text* t, const pb_kernel* k) {
  if (k->predicted_cycles)
    pb_text_add(t, "%llu", (ull)k->predicted_cycles);
  else
    pb_text_add(t, "null");
}

static void put_commands(pb_text* t, const pb_chip* chip, const uint64_t* count, int queues) {
  pb_text_add(t, "{");
  for (int q = 0; q < queues && q < pb_chip_streams(chip); ++q) {
    pb_text_add(t, "%s", q ? ", " : "");
    put_string(t, pb_chip_stream_name(chip, q));
    pb_text_add(t, ": %llu", (ull)count[q]);
  }
  pb_text_add(t, "}");
}

// A step's origin names the nodes of a fused kernel as "a + b".
static void put_nodes(pb_text* t, const char* origin) {
  for (const char* end;; origin = end + 3) {
    end = strstr(origin, " + ");
    put_bytes(t, origin, end ? (size_t)(end - origin) : strlen(origin));
    if (!end) return;
    pb_text_add(t, ", ");
  }
}

static void put_kernel(pb_text* t, const pb_unit* unit, const pb_engine* e, int index) {
  const pb_kernel* k = &e->kernels[index];
  MlirOperation func = pb_module_func(unit->module, k->name);
  pb_text_add(t, "    {\"name\": ");
  put_string(t, k->name);
  pb_text_add(t, ", \"nodes\": [");
  int runs = 0;
  for (int s = 0; s < e->step_count; ++s) {
    if (e->steps[s].kernel != index) continue;
    pb_text_add(t, "%s", runs++ ? ", " : "");
    put_nodes(t, e->steps[s].origin);
  }
  pb_text_add(t, "], \"runs\": %d, \"predicted_cycles\": ", runs);
  put_cycles(t, k);
  pb_text_add(t, ", \"bound\": ");
  put_string(t, k->bound ? k->bound : "");
  pb_text_add(t, ",\n     \"plan\": ");
  MlirAttribute plan = mlirOperationIsNull(func) ? mlirAttributeGetNull() : pb_op_attribute(func, "pb.plan");
  if (mlirAttributeIsNull(plan))
    pb_text_add(t, "null");
  else
    put_attribute(t, plan);
  MlirAttribute scalar = mlirOperationIsNull(func) ? mlirAttributeGetNull() : pb_op_attribute(func, "pb.scalar");
  if (!mlirAttributeIsNull(scalar)) { // why it has none
    pb_text_add(t, ", \"scalar\": ");
    put_attribute(t, scalar);
  }
  pb_text_add(t, ",\n     \"memory_bytes\": ");
  put_memory(t, unit->chip, func);
  pb_text_add(t, ", \"commands\": ");
  pb_arena scratch = {0};
  uint64_t* count = PB_NEW_ARRAY(&scratch, uint64_t, (size_t)pb_chip_streams(unit->chip) + 1);
  for (int q = 0; k->is_words && q < k->words.queue_count; ++q) count[q] = k->words.count[q];
  put_commands(t, unit->chip, count, k->is_words ? k->words.queue_count : 0);
  pb_text_add(t, "}");
  pb_arena_free(&scratch);
}

static void put_totals(pb_text* t, const pb_unit* unit, const pb_engine* e) {
  pb_arena scratch = {0};
  uint64_t cycles = 0, macs = 0, *count = PB_NEW_ARRAY(&scratch, uint64_t, (size_t)pb_chip_streams(unit->chip) + 1);
  int queues = 0;
  for (int s = 0; s < e->step_count; ++s) {
    if (e->steps[s].op != PB_HOST_LAUNCH) continue;
    const pb_kernel* k = &e->kernels[e->steps[s].kernel];
    cycles += k->predicted_cycles;
    macs += e->steps[s].macs;
    if (!k->is_words) continue;
    if (k->words.queue_count > queues) queues = k->words.queue_count;
    for (int q = 0; q < k->words.queue_count; ++q) count[q] += k->words.count[q];
  }
  pb_text_add(t, "  \"totals\": {\"kernels\": %d, \"steps\": %d, \"predicted_cycles\": ", e->kernel_count,
              e->step_count);
  pb_text_add(t, cycles ? "%llu" : "null", (ull)cycles);
  pb_text_add(t, ", \"macs\": %llu, \"constant_bytes\": %llu, \"arena_bytes\": %llu, \"native_bytes\": %llu, ",
              (ull)macs, (ull)e->const_bytes, (ull)e->arena_bytes, (ull)e->native_bytes);
  pb_text_add(t, "\"commands\": ");
  put_commands(t, unit->chip, count, queues);
  pb_arena_free(&scratch);
  pb_text_add(t, "},\n");
}

static void put_launch(pb_text* t, const pb_unit* unit, const pb_engine* e, const pb_step* step) {
  const pb_kernel* k = &e->kernels[step->kernel];
  const pb_left_kernel* left = pb_kernel_left(unit, k->name);
  pb_text_add(t, ", \"runs_on\": ");
  put_string(t, left ? unit->fallback->target : e->target);
  if (left) {
    pb_text_add(t, ", \"since\": ");
    put_string(t, left->reason);
  }
  pb_text_add(t, ", \"as\": \"%s\", \"predicted_cycles\": ",
              k->is_words  ? "commands"
              : k->is_grid ? "code of a grid"
                           : "native code");
  put_cycles(t, k);
  pb_text_add(t, ", \"macs\": %llu", (ull)step->macs);
}

// Tensors of kernels before that are on the chip while the step runs.
static void put_kept(pb_text* t, const pb_chip* chip, const pb_step* step) {
  pb_text_add(t, ", \"kept\": [");
  for (int n = 0; n < step->kept_count; ++n)
    pb_text_add(t, "%s{\"memory\": \"%s\", \"address\": %llu, \"bytes\": %llu}", n ? ", " : "",
                chip->memories[step->kept[n].memory].name, (ull)step->kept[n].address, (ull)step->kept[n].bytes);
  pb_text_add(t, "]");
}

static void put_steps(pb_text* t, const pb_unit* unit, const pb_engine* e) {
  pb_arena scratch = {0};
  pb_scopes scopes = pb_scopes_of(e, &scratch);
  pb_text_add(t, "  \"steps\": [\n");
  for (int s = 0; s < e->step_count; ++s) {
    const pb_step* step = &e->steps[s];
    bool launch = step->op == PB_HOST_LAUNCH;
    pb_text_add(t, "    {\"step\": %d, \"%s\": ", s, launch ? "kernel" : "host");
    put_string(t, launch ? e->kernels[step->kernel].name : pb_scopes_step(step, &scratch));
    pb_text_add(t, ", \"node\": ");
    put_string(t, step->origin);
    if (launch) put_launch(t, unit, e, step);
    if (step->kept_count) put_kept(t, unit->chip, step);
    if (scopes.count) {
      pb_text_add(t, ", \"within\": [");
      pb_scopes_print(t, &scopes, scopes.of_step[s]);
      pb_text_add(t, "]");
    }
    pb_text_add(t, "}%s\n", s + 1 < e->step_count ? "," : "");
  }
  pb_text_add(t, "  ]\n");
  pb_arena_free(&scratch);
}

// What the plans took them for: the description's numbers, or those that were read from the machine.
static void put_caches(pb_text* t, const pb_chip* chip) {
  const char* separator = "  \"caches\": {";
  for (int m = 0; m < chip->memory_count; ++m) {
    if (!chip->memories[m].cached) continue;
    pb_text_add(t, "%s\"%s\": %lld", separator, chip->memories[m].name, (long long)chip->memories[m].bytes);
    separator = ", ";
  }
  if (!strcmp(separator, ", ")) pb_text_add(t, "},\n");
}

char* pb_report_make(const pb_unit* unit, const pb_engine* e) {
  pb_text t = {0};
  pb_text_add(&t, "{\n  \"target\": ");
  put_string(&t, e->target);
  pb_text_add(&t, ", \"revision\": %d,\n  \"description_sha256\": \"", e->chip_revision);
  for (size_t k = 0; k < sizeof e->chip_hash; ++k) pb_text_add(&t, "%02x", e->chip_hash[k]);
  pb_text_add(&t, "\",\n");
  put_caches(&t, unit->chip);
  if (unit->codes_like) {
    pb_text_add(&t, "  \"codes\": {\"formula_of\": ");
    put_string(&t, unit->codes_like);
    pb_text_add(&t, ", \"scales_off\": %.3g},\n", unit->scales_off);
  }
  put_totals(&t, unit, e);
  pb_text_add(&t, "  \"kernels\": [\n");
  for (int k = 0; k < e->kernel_count; ++k) {
    put_kernel(&t, unit, e, k);
    pb_text_add(&t, "%s\n", k + 1 < e->kernel_count ? "," : "");
  }
  pb_text_add(&t, "  ],\n");
  put_steps(&t, unit, e);
  pb_text_add(&t, "}\n");
  return t.data;
}
