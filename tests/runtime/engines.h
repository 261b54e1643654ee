// Small engines made by hand.
#ifndef PB_TESTS_RUNTIME_ENGINES_H
#define PB_TESTS_RUNTIME_ENGINES_H

#include "core/artefact/engine.h"
#include "pb/device.h"
#include "tdl/chip.h"

enum { COPY_BYTES = 64 };

// Two steps for a chip with queues, y = x through the arena, by 64 bytes: each a load and a store with a token between.
// `name`: of a target with the instructions LDS0 and STS. The engine is good as long as the chip.
typedef struct copy_engine {
  pb_engine engine;
  pb_tensor_info input, output;
  pb_kernel kernel;
  pb_step steps[2];
  uint32_t counts[PB_DEVICE_MAX_QUEUES];
  uint8_t* streams[PB_DEVICE_MAX_QUEUES];
  uint8_t words[2][PB_ENGINE_MAX_COMMAND];
} copy_engine;
void copy_engine_make(copy_engine* out, const pb_chip* chip, bool with_token);

// One native kernel: void scale(void** args, int threads), y = 2 x + constant, for 16 f32. `object` is a shared object.
typedef struct native_engine {
  pb_engine engine;
  pb_tensor_info input, output;
  pb_kernel kernel;
  pb_step step;
  float constant[16];
} native_engine;
void native_engine_make(native_engine* out, uint8_t* object, uint64_t bytes);

#endif
