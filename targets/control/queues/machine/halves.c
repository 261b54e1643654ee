// Copies of codes of 4 bits: whole bytes, the half behind an odd number of codes among them.
#include "targets/control/queues/machine/state.h"

#include <string.h>

// Where the window lies at a place of the instruction's dims; along the one whose codes are halves, in front.
static uint8_t* row_at(const machine_window* w, const int64_t* at) {
  int64_t address = w->address;
  for (int k = 0; k < w->rank; ++k)
    if (k != w->half) address += at[w->operand->dims[k]] * w->stride[k];
  return w->memory->data + address;
}

void machine__copy_halves(const machine_command* c) {
  const pb_insn* insn = c->command.insn;
  const machine_window *from = &c->windows[insn->expr[0].operand], *to = &c->windows[insn->dest];
  size_t bytes = (size_t)(to->extent[to->half] + 1) / 2;
  int64_t at[PB_MAX_INSN_DIMS] = {0};
  for (bool more = true; more;) {
    memmove(row_at(to, at), row_at(from, at), bytes);
    more = false;
    for (int k = to->half - 1; k >= 0 && !more; --k) {
      int64_t* turn = &at[to->operand->dims[k]];
      more = ++*turn < to->extent[k] || (*turn = 0);
    }
  }
}
