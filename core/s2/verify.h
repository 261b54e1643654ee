// Checks value form, which stage S2 makes and `layout` keeps: what the passes after them rely on without asking.
#ifndef PB_S2_VERIFY_H
#define PB_S2_VERIFY_H

#include "core/base/diag.h"

#include <mlir-c/IR.h>

// Checks @main of the module; the first breach is PB_ERR_INPUT and names the nest. `after`: the stage or pass that made
// it, for the diagnostic. The rules, by code:
//   4070  the body is allocs, nests and what belongs to them: no calls, no loops that are no nests
//   4071  no views: every memref is a tensor of its own
//   4072  no copies of whole tensors but as nests
//   4073  inputs and constants are never written
//   4074  every element is written once, by one nest or by disjoint pieces; a reduction adds to it once more
//   4075  nothing is read before it is written; a nest whose body combines may read what its turns before have written
//   4076  nothing is written after it was read
//   4077  every element of an output is written
//   4078  no nest reaches outside a tensor, unless it tests its indices
pb_status pb_s2_verify(MlirModule module, const char* after, pb_diag* diag) PB_MUST_CHECK;
// The same but for 4074 to 4077 where they ask each element: in a time that extents do not matter to.
pb_status pb_s2_verify_places(MlirModule module, const char* after, pb_diag* diag) PB_MUST_CHECK;

#endif
