#include "targets/control/queues/emit.h"

#include "core/poly/text.h"
#include "targets/control/queues/roll.h"

#include <string.h>

pb_status pb_queues_emit(const pb_chip* chip, MlirOperation func, pb_arena* arena, pb_diag* diag,
                         pb_words_kernel* words) {
  pb_trace trace;
  pb_arena scratch = {0};
  pb_status status = pb_trace_kernel(chip, func, &scratch, diag, &trace);
  if (status == PB_OK) status = pb_trace_state(chip, &trace, diag);
  if (status == PB_OK) status = pb_trace_tokens(chip, &trace, diag);
  words->queue_count = chip->queue_count;
  words->count = PB_NEW_ARRAY(arena, uint32_t, (size_t)chip->queue_count);
  words->streams = PB_NEW_ARRAY(arena, uint8_t*, (size_t)chip->queue_count);
  for (size_t k = 0; k < trace.count && status == PB_OK; ++k) ++words->count[trace.commands[k].command.insn->queue];
  uint32_t at[PB_MAX_QUEUES] = {0};
  for (int q = 0; q < chip->queue_count; ++q)
    words->streams[q] = pb_alloc(arena, (size_t)words->count[q] * (size_t)chip->command_bytes);
  for (size_t k = 0; k < trace.count && status == PB_OK; ++k) {
    int q = trace.commands[k].command.insn->queue;
    status = pb_encode(chip, &trace.commands[k].command,
                       words->streams[q] + (size_t)at[q]++ * (size_t)chip->command_bytes, diag);
  }
  for (int q = 0; q < chip->queue_count && status == PB_OK; ++q)
    words->count[q] = (uint32_t)pb_roll(chip, words->streams[q], words->count[q]);
  pb_trace_free(&trace);
  pb_arena_free(&scratch);
  return status;
}

pb_status pb_queues_print(const pb_chip* chip, MlirOperation func, pb_diag* diag, char** text) {
  pb_trace trace;
  pb_arena scratch = {0};
  pb_text out = {0};
  pb_status status = pb_trace_kernel(chip, func, &scratch, diag, &trace);
  if (status == PB_OK) status = pb_trace_state(chip, &trace, diag);
  if (status == PB_OK) status = pb_trace_tokens(chip, &trace, diag);
  for (size_t k = 0; k < trace.count && status == PB_OK; ++k) {
    const pb_traced* c = &trace.commands[k];
    pb_text_add(&out, "%-3s %s%s%s\n", chip->queues[c->command.insn->queue].name,
                pb_disassemble(chip, &c->command, &scratch), c->nest && c->nest[0] ? " // " : "",
                c->nest ? c->nest : "");
  }
  pb_trace_free(&trace);
  pb_arena_free(&scratch);
  *text = out.data;
  return status;
}
