// Movers that each core has beside its code.
#include "tdl/check/check.h"

#define FAULT(code, hint, ...) (++*faults, (void)pb_error(diag, mover->place, code, hint, __VA_ARGS__))

void pb__check_core_mover(const pb_chip* chip, const pb_core_mover* mover, pb_diag* diag, int* faults) {
  const pb_memory* near = mover->near < 0 ? NULL : &chip->memories[mover->near];
  bool own = near && (near->scope == PB_SCOPE_CORE || near->scope == PB_SCOPE_THREAD);
  if (chip->control != PB_CONTROL_THREADS)
    FAULT(3400, "an Instruction of a queue that is a Mover", "%s: code of cores starts it, and there is none",
          mover->name);
  if (!own || near->cached || near->kind != PB_MEM_ADDRESSED)
    FAULT(3402, "let Near = TCM, of scope \"core\" or \"thread\", addressed and not cached",
          "%s: Near is no memory of a core's own that code fills", mover->name);
  if (!mover->in && !mover->out) FAULT(3403, "let In = 1", "%s: it neither brings nor takes", mover->name);
  if (mover->loops < 0 || mover->loops > PB_MOST_MOVE_LOOPS)
    FAULT(3404, "0 to 3", "%s: Loops is %d", mover->name, mover->loops);
  if (mover->depth < 1 || mover->depth > PB_MOST_MOVES)
    FAULT(3405, "1 to 64", "%s: Depth is %d", mover->name, mover->depth);
  if (mover->start_cycles < 0 || mover->start_cycles > PB_MOST_LATENCY)
    FAULT(3406, "0 to 1048576", "%s: StartCycles is %d", mover->name, mover->start_cycles);
}

int pb_core_mover_of(const pb_chip* chip, int memory, bool out) {
  for (int k = 0; k < chip->core_mover_count; ++k)
    if (chip->core_movers[k].near == memory && (out ? chip->core_movers[k].out : chip->core_movers[k].in)) return k;
  return -1;
}
