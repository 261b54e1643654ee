// Instructions of a core as code: the functions that stand for them in the IR, with their intrinsics inside.
#ifndef PB_THREADS_INTRINSIC_H
#define PB_THREADS_INTRINSIC_H

#include "core/poly/text.h"

#include <mlir-c/IR.h>

// The function of an instruction (it has pb.emit) once more, with the intrinsic as its body, to be inlined.
void pb_intrinsic_print(MlirOperation func, pb_text* text);

#endif
