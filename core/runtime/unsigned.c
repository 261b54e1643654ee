// Unsigned codes: kernels have them 128 less, as i8. Inputs are copied, outputs change where they lie. And inputs of
// i64 that kernels have as i32.
#include "core/runtime/rt.h"

#include <stdlib.h>
#include <string.h>

// Words at a time: byte by byte the codes of an image take longer than some kernels.
void pb__unsigned_turn(uint8_t* to, const uint8_t* from, uint64_t bytes) {
  uint64_t words[8], k = 0;
  for (; k + sizeof words <= bytes; k += sizeof words) {
    memcpy(words, from + k, sizeof words);
    for (int w = 0; w < 8; ++w) words[w] ^= 0x8080808080808080;
    memcpy(to + k, words, sizeof words);
  }
  for (; k < bytes; ++k) to[k] = from[k] ^ 0x80;
}

static pb_status keep_in_words(const pb_rt* rt, int input, int32_t* to, const void* from, pb_diag* diag) {
  const pb_tensor_info* info = &rt->engine->inputs[input];
  for (uint64_t k = 0; k < rt->inputs[input].bytes / sizeof(int64_t); ++k) {
    int64_t number;
    memcpy(&number, (const uint8_t*)from + k * sizeof number, sizeof number);
    if (info->most && (number < -info->most || number > info->most))
      return pb_error(diag, (pb_place){.file = rt->path, .what = info->name}, 5054, "another target, as cpu",
                      "element %llu is %lld: what the chip counts with it is right up to %lld, either way",
                      (unsigned long long)k, (long long)number, (long long)info->most);
    to[k] = (int32_t)(number < INT32_MIN ? INT32_MIN : number > INT32_MAX ? INT32_MAX : number);
  }
  return PB_OK;
}

static pb_status turn_input(pb_rt* rt, int k, const void* from, pb_diag* diag) {
  uint64_t bytes = rt->inputs[k].bytes;
  if (!pb__own_input(rt, k))
    return pb_system_error(diag, (pb_place){.file = rt->path}, 5026, "no memory for input '%s'", rt->inputs[k].name);
  if (rt->engine->inputs[k].type == PB_W64)
    PB_TRY(keep_in_words(rt, k, rt->own_inputs[k], from, diag));
  else
    pb__unsigned_turn(rt->own_inputs[k], from, bytes);
  rt->run_inputs[k] = rt->own_inputs[k];
  return PB_OK;
}

pb_status pb__unsigned_inputs(pb_rt* rt, pb_diag* diag) {
  for (int k = 0; k < rt->engine->input_count; ++k)
    if (rt->engine->inputs[k].type == PB_U8 || rt->engine->inputs[k].type == PB_W64)
      PB_TRY(turn_input(rt, k, rt->run_inputs[k], diag));
  return PB_OK;
}

void pb__unsigned_outputs(pb_rt* rt) {
  for (int k = 0; k < rt->engine->output_count; ++k)
    if (rt->engine->outputs[k].type == PB_U8)
      pb__unsigned_turn(rt->run_outputs[k], rt->run_outputs[k], rt->outputs[k].bytes);
}

void pb__unsigned_free(pb_rt* rt) {
  for (int k = 0; rt->own_inputs && k < rt->engine->input_count; ++k) free(rt->own_inputs[k]);
}
