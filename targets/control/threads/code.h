// A group of kernels through LLVM: from IR to an object file or text. Groups are modules of their own, so that several
// can be compiled at the same time, of one context if it allows several threads.
#ifndef PB_THREADS_CODE_H
#define PB_THREADS_CODE_H

#include "core/base/diag.h"
#include "core/poly/text.h"
#include "tdl/chip.h"

#include <mlir-c/IR.h>

typedef enum pb_code_form { PB_CODE_OBJECT, PB_CODE_ASSEMBLY, PB_CODE_LLVM } pb_code_form;

typedef struct pb_code {
  const pb_chip* chip;
  MlirModule kernels; // kernel functions, and those of instructions with pb.instruction; pb_code_make's to change
  pb_text entries;    // text of the functions that the engine names, in the LLVM dialect
  const char* object; // PB_CODE_OBJECT: the file to write
  int error;          // why it could not be written, as errno has it; 0: it was
  pb_code_form form;
  char* text; // the other forms: the result, malloc'ed
  char* why;  // malloc'ed; NULL: it went well
} pb_code;

// Call before the first group of a context, from one thread.
void pb_code_start(MlirContext context);
// Compiles the group. Safe from any thread, if the context is.
void pb_code_make(pb_code* code);
void pb_code_free(pb_code* code);

enum { PB_CODE_OBJECTS = 16 }; // that are linked at most
// Links object files to the shared library at that path.
pb_status pb_code_link(const char* const* objects, int count, const char* shared, pb_diag* diag);

#endif
