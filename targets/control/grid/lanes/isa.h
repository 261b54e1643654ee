// What an instruction set of grids has of its own, as far as lanes need it: where a thread is, how the lanes of a warp
// exchange values, and how they see what one of them wrote. All else LLVM's targets know.
#ifndef PB_GRID_ISA_H
#define PB_GRID_ISA_H

#include "pb/device.h"

#include <llvm-c/Core.h>

#include <stdbool.h>

// Where code is written, and of which warps: as many lanes, which may be a part of what the processor has as one.
typedef struct pb_isa_place {
  LLVMModuleRef module;
  LLVMBuilderRef at;
  int width;
  LLVMValueRef thread; // its number in the block, an i32
} pb_isa_place;

// shuffle: the i32 that the lane of that number, an i32, has. All lanes of the warp come here.
// sync: all lanes of the warp come here, and what each wrote in front of it all read behind it.
// uniform: the same i32, which is known to be one for all lanes.
typedef struct pb_isa {
  const char* arch;           // the first word of LLVM's triple
  unsigned convention;        // of a kernel's entry, as LLVM counts calling conventions
  const char *thread, *block; // intrinsics: i32, the thread's number in its block, the block's in the grid
  const char* scope;          // LLVM's name of all that a grid's warps share
  unsigned constants;         // the address space of tables that nobody writes
  const char* option;         // of LLVM's code generator; NULL: none
  const char* features;       // of LLVM's processors that are not to be used; NULL: none
  bool scalar;                // a unit for what all lanes share has registers of its own
  pb_device_code code;        // what a driver takes
  LLVMValueRef (*shuffle)(const pb_isa_place* p, LLVMValueRef value, LLVMValueRef lane);
  void (*sync)(const pb_isa_place* p);
  LLVMValueRef (*uniform)(const pb_isa_place* p, LLVMValueRef value);
  void (*wait)(const pb_isa_place* p);           // the same of all threads of the block
  void (*mark)(LLVMValueRef entry, int threads); // what the code generator is told of a block
} pb_isa;

const pb_isa* pb_isa_of(const char* triple); // NULL: there is none
// The most lanes that wait for each other and exchange numbers.
int pb_isa_lanes(const pb_isa* isa, const char* processor);

// Whether two products may be one instruction, as long as what they take lies in vector registers (RDNA 3 ISA, 7.6:
// VOPD).
bool pb_isa_pairs(const pb_isa* isa, const char* processor);

// A call of an intrinsic that no type is left open of; its name is one of LLVM's.
LLVMValueRef pb_isa_call(LLVMModuleRef module, LLVMBuilderRef at, const char* name, LLVMValueRef* operands,
                         unsigned count);

#endif
