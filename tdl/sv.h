// A chip's facts as a SystemVerilog package, so that RTL states nothing of the description a second time.
#ifndef PB_TDL_SV_H
#define PB_TDL_SV_H

#include "tdl/chip.h"

#include <stdio.h>

// Prints `package <name>_pkg`, all localparams:
//   <MEM>_BYTES, _ROW_BYTES, _ROWS, _BANKS, _LATENCY     for each memory
//   QUEUES, Q_<QUEUE>, QUEUE_DEPTH[], QUEUE_TOKENS[], MAX_TOKENS, WAIT_BIT, SIGNAL_BIT
//   COMMAND_BYTES, ARGUMENTS
//   OP_<INSN>                                            bits 7 to 0 of the command
//   <INSN>_<FIELD>_LSB, _W                               fields that stand in the command in one piece
//   <INSN>_<DIM>_MAX
//   <FUNCTION>_TABLE_BITS, _DEGREE, _C0[], _C1[] ...     as tdl/function.h evaluates them
// Names are upper case.
void pb_chip_print_sv(const pb_chip* chip, FILE* out);

#endif
