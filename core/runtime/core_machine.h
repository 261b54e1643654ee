// The machine of cores that have movers beside them (CoreMover of a description).
#ifndef PB_CORE_MACHINE_H
#define PB_CORE_MACHINE_H

#include "tdl/chip.h"

// In the engine's shared object, by this name: what its code calls, each a function, and the machine that is begun
// with.
#define PB_CORE_MACHINE "pb_core_machine"
typedef enum pb_core_call {
  PB_CORE_OF,    // the machine
  PB_CORE_BEGIN, // a core begins a kernel: returns where its clock stands, and all else of it
  PB_CORE_MOVE,  // starts a move
  PB_CORE_WAIT,  // until a flag's move is done
  PB_CORE_END,   // until all are
  PB_CORE_TOUCH, // code reads or writes
  PB_CORE_CALLS
} pb_core_call;

typedef struct pb__core_machine pb__core_machine;
// Fills the table. The chip stays the caller's.
pb__core_machine* pb__core_machine_open(const pb_chip* chip, uint64_t table[PB_CORE_CALLS]);
void pb__core_machine_close(pb__core_machine* machine);
// Cycles of the slowest core since it was asked before.
uint64_t pb__core_machine_cycles(pb__core_machine* machine);
// What code has done to bytes of a move that it had not waited for, the first of it since it was asked before: in
// `text`, of so many bytes. false: nothing.
bool pb__core_machine_fault(pb__core_machine* machine, char* text, size_t bytes);

#endif
