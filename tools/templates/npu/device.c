// The driver of @NAME@: what the SDK asks of a simulator, of RTL or of a board (pb/device.h). As generated it keeps the
// system's memory in this process and drives nothing: fill in ring_doorbell and wait_done.
#include <pb/device.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST = 4096 }; // address 0 belongs to no buffer, so that a forgotten address shows

struct pb_device {
  uint8_t* memory; // the chip's system memory, from address 0
  uint64_t bytes, used;
  uint64_t cycles; // of the chip's own counter, since open
  pb_submission kernel;
  char fault[256];
};

static int fault(pb_device* d, const char* text) {
  snprintf(d->fault, sizeof d->fault, "%s", text);
  return 1;
}

// Hand the chip the first command of each queue (kernel->stream, kernel->count commands) and the arguments' addresses
// (kernel->args), and start it.
static int ring_doorbell(pb_device* d, const pb_submission* kernel) {
  (void)kernel;
  return fault(d, "@NAME@: this driver drives nothing yet (device.c: ring_doorbell)");
}

// Until the last write of every queue has arrived. A chip that does not answer is a fault after kernel->cycle_limit
// cycles.
static int wait_done(pb_device* d) { return fault(d, "@NAME@: nothing was started"); }

static int open_device(const char* options, pb_device** out) {
  (void)options; // "key=value,..." from --device-options
  pb_device* d = calloc(1, sizeof *d);
  if (!d) return 1;
  d->bytes = (uint64_t)1 << 28;
  d->memory = malloc(d->bytes); // a board's memory is mapped here
  if (!d->memory) {
    free(d);
    return 1;
  }
  d->used = FIRST;
  *out = d;
  return 0;
}

static void close_device(pb_device* d) {
  free(d->memory);
  free(d);
}

static int alloc(pb_device* d, uint64_t bytes, uint64_t align, uint64_t* address) {
  uint64_t unit = align > 64 ? align : 64, at = (d->used + unit - 1) / unit * unit;
  if (bytes > d->bytes || at > d->bytes - bytes) return fault(d, "@NAME@: no memory left");
  d->used = at + bytes;
  *address = at;
  return 0;
}

static int free_all(pb_device* d) {
  d->used = FIRST;
  return 0;
}

static int outside(const pb_device* d, uint64_t address, uint64_t bytes) {
  return address > d->used || bytes > d->used - address;
}

static int copy_in(pb_device* d, uint64_t address, const void* data, uint64_t bytes) {
  if (outside(d, address, bytes)) return fault(d, "@NAME@: a copy outside of what is allocated");
  memcpy(d->memory + address, data, bytes);
  return 0;
}

static int copy_out(pb_device* d, uint64_t address, void* data, uint64_t bytes) {
  if (outside(d, address, bytes)) return fault(d, "@NAME@: a copy outside of what is allocated");
  memcpy(data, d->memory + address, bytes);
  return 0;
}

static int submit(pb_device* d, const pb_submission* kernel) {
  d->kernel = *kernel;
  return ring_doorbell(d, kernel);
}

static const char* counter_name(pb_device* d, uint32_t index) {
  (void)d;
  return index == 0 ? "cycles" : NULL; // also busy.QUEUE and stall.QUEUE, dram.read, dram.write, dram.fetch
}

static uint64_t counter(pb_device* d, uint32_t index) { return index == 0 ? d->cycles : 0; }

static const char* last_fault(pb_device* d) { return d ? d->fault : "@NAME@: no host memory"; }

const pb_device_ops* pb_device_entry(void) {
  static const pb_device_ops ops = {.abi = PB_DEVICE_ABI,
                                    .name = "@NAME@",
                                    .open = open_device,
                                    .close = close_device,
                                    .alloc = alloc,
                                    .free_all = free_all,
                                    .copy_in = copy_in,
                                    .copy_out = copy_out,
                                    .submit = submit,
                                    .wait = wait_done,
                                    .counter_name = counter_name,
                                    .counter = counter,
                                    .last_fault = last_fault};
  return &ops;
}
