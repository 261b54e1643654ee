// Running an engine in firmware: one file of C, without allocation and without a library but memcpy. The engine lies in
// memory as a whole (`pb-objdump --c-array=NAME` makes C of it); the chip is driven through pb/device.h, of whose
// functions alloc, copy_in, copy_out, submit and wait are called, open and close by the firmware itself.
#ifndef PB_FIRMWARE_H
#define PB_FIRMWARE_H

#include "pb/device.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { PB_FIRMWARE_APART = 4 }; // memories of constants, at most

typedef enum pb_firmware_code {
  PB_FIRMWARE_OK,
  PB_FIRMWARE_NO_ENGINE, // the bytes are no engine of this version
  PB_FIRMWARE_DAMAGED,   // a checksum is wrong, or a list ends too soon
  PB_FIRMWARE_NATIVE,    // a kernel is code of a processor: the whole model must run on the chip
  PB_FIRMWARE_NO_MEMORY, // the device gave no memory
  PB_FIRMWARE_DEVICE,    // the device reported a fault: last_fault says which
  PB_FIRMWARE_NO_TENSOR  // an index past the last input or output
} pb_firmware_code;

typedef struct pb_firmware_tensor {
  const char* name; // in the engine, `name_length` bytes, no zero behind them
  uint32_t name_length;
  uint8_t rank, element_bytes, is_unsigned; // of 8-bit codes: whether they go from 0 to 255
  int64_t shape[8];
  uint64_t bytes;
} pb_firmware_tensor;

// The caller's, of fixed size; what it holds is this file's own.
typedef struct pb_firmware {
  const uint8_t* image;
  uint64_t inputs, outputs, kernels, steps; // where the lists begin in the image
  uint64_t kept;                            // what stays on the chip, step by step; 0: nothing does
  uint64_t program_end, streams, consts, const_bytes, arena_bytes;
  uint32_t input_count, output_count, kernel_count, step_count, command_bytes;
  const pb_device_ops* ops;
  pb_device* device;
  // Where constants begin that lie in the memories of scope "constants", in the order of their names; behind the last
  // one their end. Where they lie on the device.
  uint64_t apart[PB_FIRMWARE_APART + 1], apart_at[PB_FIRMWARE_APART];
  uint64_t consts_at, streams_at, arena_at, tensors_at; // on the device
} pb_firmware;

// Checks the engine and finds its parts. `image` stays where it is as long as `f` is used.
pb_firmware_code pb_firmware_open(pb_firmware* f, const void* image, uint64_t bytes);
uint64_t pb_firmware_memory(const pb_firmware* f);    // bytes that the engine needs of the chip's system memory
uint64_t pb_firmware_constants(const pb_firmware* f); // and of its memories of scope "constants"; 0: nothing
pb_firmware_code pb_firmware_input(const pb_firmware* f, uint32_t index, pb_firmware_tensor* tensor);
pb_firmware_code pb_firmware_output(const pb_firmware* f, uint32_t index, pb_firmware_tensor* tensor);
// Copies constants and commands to the device, once.
pb_firmware_code pb_firmware_load(pb_firmware* f, const pb_device_ops* ops, pb_device* device);
// inputs[k], outputs[k]: the tensors' elements, row-major.
pb_firmware_code pb_firmware_run(const pb_firmware* f, const void* const* inputs, void* const* outputs);

#ifdef __cplusplus
}
#endif
#endif
