// Programs that make machine code of text.
#ifndef PB_GRID_ASSEMBLER_H
#define PB_GRID_ASSEMBLER_H

#include <stdbool.h>
#include <stddef.h>

// Runs it; what it says goes to that file. 0: it ended well.
int pb_assembler_run(const char* program, const char* const* arguments, const char* said);
// NVIDIA's ptxas: PB_PTXAS, in the folders of PATH, CUDA_HOME/bin, CUDA_PATH/bin, in its wheel in VIRTUAL_ENV, or in
// /usr/local/cuda/bin. PB_PTXAS= without a path: nowhere. false: it is in none of them.
bool pb_assembler_find(char* path, size_t size);

#endif
