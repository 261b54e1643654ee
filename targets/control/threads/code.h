// A group of kernels through LLVM: from IR as bytes to an object file or text. Groups are independent of each other, so
// that several can be compiled at the same time.
#ifndef PB_THREADS_CODE_H
#define PB_THREADS_CODE_H

#include "core/base/diag.h"
#include "core/poly/text.h"
#include "tdl/chip.h"

typedef enum pb_code_form { PB_CODE_OBJECT, PB_CODE_ASSEMBLY, PB_CODE_LLVM } pb_code_form;

typedef struct pb_code {
  const pb_chip* chip;
  pb_text kernels; // MLIR bytecode: kernel functions, and declarations of instructions' functions with pb.instruction
  pb_text entries; // text of the functions that the engine names, in the LLVM dialect
  const char* object; // PB_CODE_OBJECT: the file to write
  pb_code_form form;
  char* text; // the other forms: the result, malloc'ed
  char* why;  // malloc'ed; NULL: it went well
} pb_code;

// Call once in a process, before the first group, from one thread.
void pb_code_start(void);
// Compiles the group in a context of its own. Safe from any thread.
void pb_code_make(pb_code* code);
void pb_code_free(pb_code* code);

enum { PB_CODE_OBJECTS = 16 }; // that are linked at most
// Links object files to the shared library at that path.
pb_status pb_code_link(const char* const* objects, int count, const char* shared, pb_diag* diag);
// How ld.lld ended with these arguments, as waitpid says.
pb_status pb__lld_run(char* const* arguments, pb_diag* diag, int* code);

#endif
