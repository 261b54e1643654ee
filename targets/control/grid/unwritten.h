// Loads from tensors that their kernel does not write.
#ifndef PB_GRID_UNWRITTEN_H
#define PB_GRID_UNWRITTEN_H

#include <llvm-c/Core.h>

// What is one for all lanes AMD's code loads into scalar registers, which products take as they are, where no store of
// the kernel may have changed it. LLVM looks for such stores when loops have made pointers that step from one turn to
// the next, and no longer finds the tensor. Here, where pointers still name it, such loads are marked.
void pb_grid_mark_unwritten(LLVMModuleRef module);

// The attribute of a kernel that says how many such words each of its blocks may have; and how many those are.
#define PB_GRID_SCALAR_WORDS "pb-scalar-words"
int pb_grid_scalar_words(LLVMValueRef kernel);

// What a kernel's attribute of that name says, or the other number, where it says nothing.
int pb_grid_number_of(LLVMValueRef kernel, const char* name, int otherwise);

#endif
