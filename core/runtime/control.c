// Steps of the host's program that launch nothing: moves and jumps, of tensors in this process or on the device.
#include "core/runtime/rt.h"

#include <stdlib.h>
#include <string.h>

static bool is_on_device(const pb_rt* rt, pb_arg arg) {
  return rt->has_words && !rt->tensors_in_process && arg.space != PB_SPACE_CONST && arg.space != PB_SPACE_INPUT;
}

static pb_status read_bytes(pb_rt* rt, pb_arg arg, void* data, uint64_t bytes, pb_diag* diag) {
  if (is_on_device(rt, arg)) return pb__words_read(rt, pb__words_address(rt, arg), data, bytes, diag);
  memcpy(data, pb__native_address(rt, arg), bytes);
  return PB_OK;
}

static pb_status move(pb_rt* rt, const pb_step* step, pb_diag* diag) {
  if (!is_on_device(rt, step->args[0])) { // then the other is not either
    const void* from = pb__native_address(rt, step->args[1]);
    memmove(pb__native_address(rt, step->args[0]), from, step->bytes);
    return PB_OK;
  }
  void* data = malloc(step->bytes);
  if (!data)
    return pb_system_error(diag, (pb_place){.file = rt->path}, 5026, "no memory for %llu bytes",
                           (unsigned long long)step->bytes);
  pb_status status = read_bytes(rt, step->args[1], data, step->bytes, diag);
  if (status == PB_OK) status = pb__words_write(rt, pb__words_address(rt, step->args[0]), data, step->bytes, diag);
  free(data);
  return status;
}

pb_status pb__control_step(pb_rt* rt, int* at, pb_diag* diag) {
  const pb_step* step = &rt->engine->steps[*at];
  char truth = 0;
  switch (step->op) {
  case PB_HOST_MOVE:
    PB_TRY(move(rt, step, diag));
    ++*at;
    break;
  case PB_HOST_JUMP:
    *at = step->target;
    break;
  case PB_HOST_UNLESS:
    PB_TRY(read_bytes(rt, step->args[0], &truth, 1, diag));
    *at = truth ? *at + 1 : step->target;
    break;
  case PB_HOST_LAUNCH:
    break;
  }
  return PB_OK;
}
