// A driver whose chip is another than the one under test: the machine made from the description that the option td=FILE
// names. So a fault of a device is a line of a description. With td=FILE,says=WHAT it says something wrong of its
// commands' times, and all else as it is; or it crashes.
#include "pb/device.h"
#include "targets/control/queues/machine/machine.h"

#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static pb_chip* chip; // read by open, and kept: the machine's operations are its

static char
    says[16]; // number, end, early, few: of the trace; still, idle: of the counters; crash: in the tenth program
static void (*event)(void* user, uint32_t queue, uint32_t index, uint64_t start, uint64_t end);

static bool is_said(const char* what) { return !strcmp(says, what); }

static int open_other(const char* options, pb_device** device) {
  pb_diag diag = {0};
  char path[1024] = "";
  *says = 0;
  if (!options || sscanf(options, "td=%1023[^,],says=%15s", path, says) < 1) return 1;
  if (pb_chip_read(path, "", &diag, &chip) != PB_OK) return 1;
  return pb_machine_ops(chip)->open(NULL, device);
}
static void close_other(pb_device* d) {
  pb_machine_ops(chip)->close(d);
  pb_chip_free(chip);
}
static int alloc(pb_device* d, uint64_t bytes, uint64_t align, uint64_t* at) {
  return pb_machine_ops(chip)->alloc(d, bytes, align, at);
}
static int alloc_constants(pb_device* d, uint64_t bytes, uint64_t align, uint64_t* at) {
  return pb_machine_ops(chip)->alloc_constants(d, bytes, align, at);
}
static int alloc_constants_in(pb_device* d, uint32_t number, uint64_t bytes, uint64_t align, uint64_t* at) {
  return pb_machine_ops(chip)->alloc_constants_in(d, number, bytes, align, at);
}
static int free_all(pb_device* d) { return pb_machine_ops(chip)->free_all(d); }
static int copy_in(pb_device* d, uint64_t at, const void* data, uint64_t bytes) {
  return pb_machine_ops(chip)->copy_in(d, at, data, bytes);
}
static int copy_out(pb_device* d, uint64_t at, void* data, uint64_t bytes) {
  return pb_machine_ops(chip)->copy_out(d, at, data, bytes);
}
static int submit(pb_device* d, const pb_submission* kernel) { return pb_machine_ops(chip)->submit(d, kernel); }
static int wait_for(pb_device* d) {
  static int programs;
  if (is_said("crash") && ++programs == 10) raise(SIGSEGV);
  return pb_machine_ops(chip)->wait(d);
}
static const char* counter_name(pb_device* d, uint32_t k) { return pb_machine_ops(chip)->counter_name(d, k); }
static uint64_t counter(pb_device* d, uint32_t k) {
  const char* name = counter_name(d, k);
  if (is_said("still") && !strcmp(name, "cycles")) return 0;
  if (is_said("idle") && !strncmp(name, "busy.", 5)) return 0;
  return pb_machine_ops(chip)->counter(d, k);
}
static void note(void* user, uint32_t queue, uint32_t index, uint64_t start, uint64_t end) {
  if (is_said("few") && queue == 0) return;
  event(user, queue, is_said("number") ? index + 1 : index, is_said("early") ? 0 : start, is_said("end") ? start : end);
}
static void set_trace(pb_device* d, void (*to)(void*, uint32_t, uint32_t, uint64_t, uint64_t), void* user) {
  event = to;
  pb_machine_ops(chip)->set_trace(d, to ? note : NULL, user);
}
static const char* fault(pb_device* d) {
  return d ? pb_machine_ops(chip)->last_fault(d) : "td=FILE.td names the other chip";
}

const pb_device_ops* pb_device_entry(void) {
  static const pb_device_ops ops = {.abi = PB_DEVICE_ABI,
                                    .name = "other machine",
                                    .open = open_other,
                                    .close = close_other,
                                    .alloc = alloc,
                                    .free_all = free_all,
                                    .copy_in = copy_in,
                                    .copy_out = copy_out,
                                    .submit = submit,
                                    .wait = wait_for,
                                    .counter_name = counter_name,
                                    .counter = counter,
                                    .last_fault = fault,
                                    .set_trace = set_trace,
                                    .alloc_constants = alloc_constants,
                                    .alloc_constants_in = alloc_constants_in};
  return &ops;
}
