// The kernels of a module, some of them alone, with the code of the instructions that they call.
#ifndef PB_LLVM_KERNELS_H
#define PB_LLVM_KERNELS_H

#include "core/base/diag.h"
#include "tdl/chip.h"

#include <mlir-c/IR.h>

bool pb_llvm_is_kernel(MlirOperation func);   // pb.kernel
bool pb_llvm_is_shared(MlirOperation kernel); // pb.shared: it wants to know its thread

// Puts the functions of a text, which is the compiler's own, in front of the module's. false: it does not parse.
bool pb_llvm_add(MlirModule module, MlirStringRef text);

// The group's kernels, those whose number leaves `group` over `groups`, in a module of their own with the functions of
// instructions. visit: told of each with its number; NULL: nobody is. false: the instructions do not parse.
bool pb_llvm_copy(const pb_chip* chip, MlirModule module, int group, int groups,
                  void (*visit)(void* user, int number, MlirOperation kernel), void* user, MlirModule* copy);

#endif
