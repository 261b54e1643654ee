// Loads of numbers of 16 bits as words.
#ifndef PB_GRID_WORDS_H
#define PB_GRID_WORDS_H

#include <llvm-c/Core.h>

// LLVM's vectoriser of loads joins up to 16 words, as scalar loads bring at once, but of numbers that are less than a
// word no more than 4. Here what has whole words, and is aligned to them, is loaded as words, and taken for what it is
// behind that.
//
//   before   %h = load <2 x half>, ptr addrspace(1) %p, align 4
//   after    %w = load i32, ptr addrspace(1) %p, align 4
//            %h = bitcast i32 %w to <2 x half>
void pb_grid_load_words(LLVMModuleRef module);

#endif
