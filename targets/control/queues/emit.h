// Stage S5 for control by queues: a placed kernel to the words that its queues fetch.
#ifndef PB_QUEUES_EMIT_H
#define PB_QUEUES_EMIT_H

#include "core/artefact/engine.h"
#include "tdl/chip.h"

#include <mlir-c/IR.h>

// Traces each kernel, encodes its commands, puts state and tokens in and rolls each queue's words into hardware loops
// where the chip has them: on `workers` threads at most (0: any number), with the same words whatever their number.
// Memory of the words, and no more, comes from `arena`.
pb_status pb_queues_emit(const pb_chip* chip, const MlirOperation* funcs, int count, int workers, pb_arena* arena,
                         pb_diag* diag, pb_words_kernel* words) PB_MUST_CHECK;
// The commands in program order with their queues and tokens, before loops, for --emit=s4. malloc'ed text.
pb_status pb_queues_print(const pb_chip* chip, MlirOperation func, pb_diag* diag, char** text) PB_MUST_CHECK;

#endif
