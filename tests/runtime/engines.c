#include "engines.h"

#include <assert.h>
#include <string.h>

static void set(pb_command* command, const char* name, int64_t value) {
  int field = pb_insn_field(command->insn, name);
  assert(field >= 0);
  command->values[field] = value;
}

static pb_command move(const pb_chip* chip, const char* insn, int slot) {
  pb_command command = {.insn = pb_chip_insn(chip, insn)};
  assert(command.insn);
  set(&command, "arg", slot);
  set(&command, "ni", 1);
  set(&command, "nj", 1);
  set(&command, "nb", COPY_BYTES);
  return command;
}

void copy_engine_make(copy_engine* out, const pb_chip* chip, bool with_token) {
  memset(out, 0, sizeof *out);
  pb_command load = move(chip, "LDS0", 0), store = move(chip, "STS", 1);
  set(&load, "ihi", 1);
  set(&load, "jhi", 1);
  if (with_token) {
    load.signals = 1u << store.insn->queue;
    store.waits = 1u << load.insn->queue;
  }
  bool good =
      pb_encode(chip, &load, out->words[0], NULL) == PB_OK && pb_encode(chip, &store, out->words[1], NULL) == PB_OK;
  assert(good);
  (void)good;
  out->counts[load.insn->queue] = out->counts[store.insn->queue] = 1;
  out->streams[load.insn->queue] = out->words[0];
  out->streams[store.insn->queue] = out->words[1];
  out->input = (pb_tensor_info){"x", PB_I8, 2, {1, COPY_BYTES}, false, 0};
  out->output = (pb_tensor_info){"y", PB_I8, 2, {1, COPY_BYTES}, false, 0};
  out->kernel = (pb_kernel){
      .name = "copy", .is_words = true, .words = {chip->queue_count, out->counts, out->streams}, .bound = "DRAM"};
  out->steps[0] = (pb_step){.origin = "first", .arg_count = 2, .args = {{PB_SPACE_INPUT, 0}, {PB_SPACE_ARENA, 64}}};
  out->steps[1] = (pb_step){.origin = "second", .arg_count = 2, .args = {{PB_SPACE_ARENA, 64}, {PB_SPACE_OUTPUT, 0}}};
  out->engine = (pb_engine){.target = chip->name,
                            .chip_revision = chip->revision,
                            .command_bytes = chip->command_bytes,
                            .features = "",
                            .input_count = 1,
                            .inputs = &out->input,
                            .output_count = 1,
                            .outputs = &out->output,
                            .kernel_count = 1,
                            .kernels = &out->kernel,
                            .step_count = 2,
                            .steps = out->steps,
                            .arena_bytes = 128,
                            .description = (char*)(uintptr_t)chip->json};
  memcpy(out->engine.chip_hash, chip->hash, sizeof chip->hash);
}

void native_engine_make(native_engine* out, uint8_t* object, uint64_t bytes) {
  memset(out, 0, sizeof *out);
  for (int k = 0; k < 16; ++k) out->constant[k] = (float)k;
  out->input = (pb_tensor_info){"x", PB_F32, 1, {16}, false, 0};
  out->output = (pb_tensor_info){"y", PB_F32, 1, {16}, false, 0};
  out->kernel = (pb_kernel){.name = "scale", .symbol = "scale", .bound = ""};
  out->step = (pb_step){
      .origin = "scale", .arg_count = 3, .args = {{PB_SPACE_INPUT, 0}, {PB_SPACE_CONST, 0}, {PB_SPACE_OUTPUT, 0}}};
  out->engine = (pb_engine){.target = "host",
                            .features = "",
                            .input_count = 1,
                            .inputs = &out->input,
                            .output_count = 1,
                            .outputs = &out->output,
                            .kernel_count = 1,
                            .kernels = &out->kernel,
                            .step_count = 1,
                            .steps = &out->step,
                            .consts = (uint8_t*)out->constant,
                            .const_bytes = sizeof out->constant,
                            .native = object,
                            .native_bytes = bytes};
}
