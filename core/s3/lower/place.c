// Place: every buffer gets an address in its memory. Requires mapped kernels, whose buffers all live for the whole
// kernel, or take turns at one place (pb.place); leaves pb.address (bytes) on each alloc. Buffers begin on rows; the
// plan has counted exactly these bytes. They are packed densely: rows interleave over banks, and in which bank a buffer
// begins was measured to matter next to nothing (sdk-docs/how-it-works.md, banks and addresses).
#include "core/poly/nest.h"
#include "core/s3/kernels.h"
#include "core/s3/small_codes.h"

#include <mlir-c/BuiltinAttributes.h>

// The buffer in front that lies where this one is to lie (pb.place); null: none.
static MlirOperation same_place(MlirOperation first, MlirOperation op) {
  int64_t place = pb_op_integer(op, "pb.place", -1);
  for (; place >= 0 && !mlirOperationEqual(first, op); first = mlirOperationGetNextInBlock(first))
    if (pb_op_is(first, "memref.alloc") && pb_op_integer(first, "pb.place", -1) == place) return first;
  return (MlirOperation){NULL};
}

static pb_status place_kernel(pb_unit* unit, MlirOperation func) {
  const pb_chip* chip = unit->chip;
  int64_t* used = PB_NEW_ARRAY(&unit->pass, int64_t, (size_t)chip->memory_count);
  MlirBlock body = pb_op_body(func);
  bool reserved = pb_op_has(func, "pb.reserved"); // behind them, by other kernels' tensors
  PB_FOR_OPS (op, body) {
    if (!pb_op_is(op, "memref.alloc")) continue;
    MlirValue v = mlirOperationGetResult(op, 0);
    pb_type type;
    int64_t copies, elements;
    int m = pb_memref_memory(chip, v);
    if (m < 0 || pb_is_outside(&chip->memories[m]) || !pb_memref_extent(v, &type, &copies, &elements)) continue;
    const pb_memory* memory = &chip->memories[m];
    int64_t bytes = pb_bytes_of(pb_small_codes_alloc(op, type), elements / copies);
    int64_t rows = (bytes + memory->row_bytes - 1) / memory->row_bytes;
    ++unit->changes;
    MlirOperation before = same_place(mlirBlockGetFirstOperation(body), op);
    if (!mlirOperationIsNull(before)) {
      pb_op_set_attribute(op, "pb.address", pb_op_attribute(before, "pb.address"));
      continue;
    }
    pb_op_set_attribute(op, "pb.address", pb_number_attribute(unit->context, used[m]));
    used[m] += rows * memory->row_bytes * copies;
    if (used[m] > memory->bytes - (reserved ? mlirDenseI64ArrayGetElement(pb_op_attribute(func, "pb.reserved"), m) : 0))
      return pb_unsupported(unit->diag, (pb_place){.what = pb_func_name(func, &unit->pass)}, 4030, NULL,
                            "its buffers take %lld bytes of %s, which has %lld", (long long)used[m], memory->name,
                            (long long)memory->bytes);
  }
  return PB_OK;
}

pb_status pb_s3_place(pb_unit* unit) { return pb_kernels_each(unit, place_kernel); }
