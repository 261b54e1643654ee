// Constants whose codes have 4 bits, though they lie in bytes: where a command of the chip makes bytes of such codes on
// their way in, they lie two in a byte outside.
#include "core/s3/transfer_paths.h"

#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>
#include <mlir-c/Dialect/Func.h>
#include <stdlib.h>

unsigned pb_small_codes_of(MlirValue value) {
  MlirAttribute a = pb_argument_attribute(value, "pb.codes");
  return mlirAttributeIsNull(a) || !mlirAttributeIsAInteger(a) ? 0 : (unsigned)mlirIntegerAttrGetValueInt(a);
}

static bool has_unpacking(const pb_chip* chip) {
  for (int i = 0; i < chip->insn_count; ++i)
    if (pb_insn_unpacks(&chip->insns[i]) != PB_OP_COUNT) return true;
  return false;
}

static unsigned narrow_of(const pb_consts* consts, int id) {
  const pb_const* c = &consts->items[id];
  unsigned narrow = PB_CODES_SIGNED | PB_CODES_UNSIGNED;
  if (c->type != PB_I8 || c->rank < 1 || !c->bytes || c->shape[c->rank - 1] % 2) return 0;
  int8_t* codes = malloc(c->bytes);
  if (!codes) pb_no_memory(c->bytes);
  pb_const_write(consts, id, codes);
  for (uint64_t k = 0; k < c->bytes && narrow; ++k) {
    if (codes[k] < -8 || codes[k] > 7) narrow &= ~(unsigned)PB_CODES_SIGNED;
    if (codes[k] < 0 || codes[k] > 15) narrow &= ~(unsigned)PB_CODES_UNSIGNED;
  }
  free(codes);
  return narrow;
}

void pb_small_codes_mark(const pb_unit* unit, MlirOperation func) {
  if (!has_unpacking(unit->chip)) return;
  MlirBlock body = mlirRegionGetFirstBlock(mlirOperationGetRegion(func, 0));
  for (intptr_t k = 0; k < mlirBlockGetNumArguments(body); ++k) {
    MlirAttribute id = pb_argument_attribute(mlirBlockGetArgument(body, k), "pb.const");
    unsigned narrow = mlirAttributeIsNull(id) ? 0 : narrow_of(unit->consts, (int)mlirIntegerAttrGetValueInt(id));
    if (narrow)
      mlirFuncSetArgAttr(func, k, mlirStringRefCreateFromCString("pb.codes"),
                         mlirIntegerAttrGet(mlirIntegerTypeGet(unit->context, 64), narrow));
  }
}
