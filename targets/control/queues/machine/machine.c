// The machine as a pb_device: options, buffers, counters. What open() opens is told by which function it is, since the
// interface passes no context: each chip in use has a slot with an open() of its own.
#include "targets/control/queues/machine/machine.h"
#include "targets/control/queues/machine/state.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const uint64_t default_limit = 1000000000000;
static _Thread_local char open_fault[256] = "no fault";

int machine__fault(pb_device* device, int code, const char* format, ...) {
  va_list args;
  va_start(args, format);
  vsnprintf(device->fault, sizeof device->fault, format, args);
  va_end(args);
  return device->fault_code = code;
}

int machine__fault_at(pb_device* device, int code, const machine_site* site, const machine_command* command,
                      const char* format, ...) {
  char what[MACHINE_FAULT_BYTES / 2];
  va_list args;
  va_start(args, format);
  vsnprintf(what, sizeof what, format, args);
  va_end(args);
  pb_arena arena = {0};
  const char* text = command && command->command.insn ? pb_disassemble(device->chip, &command->command, &arena) : "?";
  machine__fault(device, code, "queue %s, command %u (%s): %s", pb_chip_queue_name(device->chip, site->queue),
                 site->index, text, what);
  pb_arena_free(&arena);
  return code;
}

static bool read_options(pb_device* device, const char* options) {
  device->limit = default_limit;
  device->checks = true;
  for (const char* at = options; at && *at;) {
    size_t key = strcspn(at, "=,"), length = strcspn(at, ",");
    char* end = NULL;
    bool stop = key == 4 && at[4] == '=' && (!memcmp(at, "stop", 4) || !memcmp(at, "dump", 4));
    if (stop && (*at == 's' ? machine__read_stop(device, at + 5, length - 5)
                            : machine__read_dump(device, at + 5, length - 5))) {
      device->stop.set |= *at == 's';
      at += length + (at[length] == ',');
      continue;
    }
    uint64_t value = at[key] == '=' ? strtoull(at + key + 1, &end, 10) : 0;
    bool good = end && end != at + key + 1 && (*end == ',' || *end == 0);
    if (good && key == 4 && !memcmp(at, "seed", 4))
      device->seed = value;
    else if (good && key == 6 && !memcmp(at, "checks", 6) && value <= 1)
      device->checks = value;
    else if (good && key == 5 && !memcmp(at, "limit", 5) && value > 0)
      device->limit = value;
    else {
      snprintf(
          open_fault, sizeof open_fault,
          "option '%.*s': seed=N, checks=0|1, limit=CYCLES, stop=KERNEL:QUEUE:COMMAND and dump=MEMORY:FILE are known",
          (int)length, at);
      return false;
    }
    at = *end ? end + 1 : end;
  }
  return true;
}

// The machine holds a value in 32 bits.
static bool check_chip(const pb_chip* chip) {
  for (int i = 0; i < chip->insn_count; ++i) {
    const pb_insn* insn = &chip->insns[i];
    for (int o = 0; o < insn->operand_count; ++o) {
      pb_type t = insn->operands[o].type;
      if (t == PB_I1 || t == PB_I4 || t == PB_I8 || t == PB_I16 || t == PB_I32 || t == PB_F32) continue;
      snprintf(open_fault, sizeof open_fault, "%s: operand '%s' of %s has type %s, which the machine lacks", chip->name,
               insn->operands[o].name, insn->name, pb_type_name(t));
      return false;
    }
  }
  return chip->memory_count <= MACHINE_MAX_MEMORIES;
}

enum { SLOTS = 16 };
static struct {
  const pb_chip* chip;
  pb_device_ops ops;
  int devices;    // open
  uint64_t asked; // when pb_machine_ops last gave it
} slots[SLOTS];
static pthread_mutex_t slots_lock = PTHREAD_MUTEX_INITIALIZER; // engines may be loaded by several threads

static void count_devices(const pb_chip* chip, int more) {
  pthread_mutex_lock(&slots_lock);
  for (int n = 0; n < SLOTS; ++n)
    if (slots[n].chip == chip) slots[n].devices += more;
  pthread_mutex_unlock(&slots_lock);
}

static void close_device(pb_device* device) {
  if (!device) return;
  count_devices(device->chip, -1);
  machine__timing_close(device->timing);
  machine__tokens_close(device->tokens);
  machine__vectors_close(device->vectors);
  machine__memory_close(device);
  for (int k = 0; k < MACHINE_OUTSIDE; ++k) free(device->outside[k].allocations);
  free(device->state);
  free(device->busy);
  free(device->counter_names);
  free(device);
}

static void name_counters(pb_device* device) {
  int n = 0, size = sizeof device->counter_names[0], queues = pb_chip_queues(device->chip);
  size_t names = 2 * (size_t)queues + 5 + PB_MAX_CONSTANT_MEMORIES;
  device->counter_names = calloc(names, sizeof *device->counter_names);
  if (!device->counter_names) pb_no_memory(names * sizeof *device->counter_names);
  snprintf(device->counter_names[n++], size, "cycles");
  for (int q = 0; q < queues; ++q) {
    snprintf(device->counter_names[n++], size, "busy.%.23s", pb_chip_queue_name(device->chip, q));
    snprintf(device->counter_names[n++], size, "stall.%.23s", pb_chip_queue_name(device->chip, q));
  }
  snprintf(device->counter_names[n++], size, "dram.read");
  snprintf(device->counter_names[n++], size, "dram.write");
  snprintf(device->counter_names[n++], size, "dram.fetch");
  int count = device->chip->constant_memory_count;
  if (count) snprintf(device->counter_names[n++], size, "constants.read");
  for (int k = 0; k < count && count > 1; ++k)
    snprintf(device->counter_names[n++], size, "constants.read.%.63s",
             device->chip->memories[device->chip->constant_memories[k]].name);
  device->counter_count = (uint32_t)n;
}

static int open_device(const pb_chip* chip, const char* options, pb_device** out) {
  *out = NULL;
  pb_device* device = calloc(1, sizeof *device);
  if (!device) return MACHINE_OUT_OF_MEMORY;
  device->chip = chip;
  snprintf(device->fault, sizeof device->fault, "no fault");
  if (!check_chip(chip) || !read_options(device, options)) {
    free(device);
    return MACHINE_BAD_OPTION;
  }
  count_devices(chip, 1);
  if (!machine__memory_open(device)) {
    snprintf(open_fault, sizeof open_fault, "no host memory for the memories of %s", chip->name);
    close_device(device);
    return MACHINE_OUT_OF_MEMORY;
  }
  device->timing = machine__timing_open(chip);
  device->tokens = machine__tokens_open(chip);
  device->vectors = machine__vectors_open(chip);
  device->state = calloc((size_t)(chip->insn_count * chip->cores) + 1, sizeof *device->state);
  device->busy = calloc(2 * (size_t)pb_chip_queues(chip), sizeof *device->busy);
  if (!device->state || !device->busy) pb_no_memory(sizeof *device->state);
  device->stall = device->busy + pb_chip_queues(chip);
  name_counters(device);
  *out = device;
  return MACHINE_OK;
}

static int submit(pb_device* device, const pb_submission* kernel) {
  if (device->submitted) return machine__fault(device, MACHINE_BAD_SUBMISSION, "a kernel is running already");
  if (kernel->queue_count > (uint32_t)pb_chip_streams(device->chip) || kernel->arg_count > PB_DEVICE_MAX_ARGS)
    return machine__fault(device, MACHINE_BAD_SUBMISSION, "%u queues and %u arguments; %s has %d and %d",
                          kernel->queue_count, kernel->arg_count, device->chip->name, pb_chip_streams(device->chip),
                          device->chip->arguments);
  if (kernel->queue_count > PB_DEVICE_MAX_QUEUES && (!kernel->streams || !kernel->counts))
    return machine__fault(device, MACHINE_BAD_SUBMISSION, "%u queues, and no list of their streams",
                          kernel->queue_count);
  for (uint32_t k = 0; k < kernel->kept_count; ++k) {
    const pb_device_kept* kept = &kernel->kept[k];
    if (k >= PB_DEVICE_MAX_KEPT || !pb_is_on_chip(device->chip, kept->memory, kept->address, kept->bytes))
      return machine__fault(device, MACHINE_BAD_SUBMISSION, "what is to be kept, number %u, lies in no memory of %s", k,
                            device->chip->name);
  }
  device->kernel = *kernel;
  device->submitted = true;
  return MACHINE_OK;
}

static int wait_device(pb_device* device) {
  if (!device->submitted) return MACHINE_OK;
  device->submitted = false;
  ++device->launches;
  machine__memory_begin(device);
  for (int core = 0; core < device->chip->cores; ++core)
    pb_state_clear(device->chip, device->state + core * device->chip->insn_count);
  return machine__run(device);
}

static const char* counter_name(pb_device* device, uint32_t index) {
  return index < device->counter_count ? device->counter_names[index] : NULL;
}

static uint64_t constants_read(const pb_device* device) {
  uint64_t bytes = 0;
  for (int k = 0; k < PB_MAX_CONSTANT_MEMORIES; ++k) bytes += device->constant_bytes[k];
  return bytes;
}

static uint64_t counter(pb_device* device, uint32_t index) {
  uint32_t queues = (uint32_t)pb_chip_queues(device->chip);
  if (index == 0) return device->cycles;
  if (index <= 2 * queues) return (index - 1) % 2 ? device->stall[(index - 1) / 2] : device->busy[(index - 1) / 2];
  switch (index - 2 * queues) {
  case 1:
    return device->read_bytes;
  case 2:
    return device->written_bytes;
  case 3:
    return device->fetched_bytes;
  case 4:
    return constants_read(device);
  default: // of several memories each
    return index < device->counter_count ? device->constant_bytes[index - 2 * queues - 5] : 0;
  }
}

static const char* last_fault(pb_device* device) { return device ? device->fault : open_fault; }

static void set_trace(pb_device* device, void (*event)(void*, uint32_t, uint32_t, uint64_t, uint64_t), void* user) {
  device->trace = event;
  device->trace_user = user;
}

#define OPEN(n)                                                                                                        \
  static int open_##n(const char* options, pb_device** device) { return open_device(slots[n].chip, options, device); }
// A list of macros without semicolons is laid out anew at each iteration.
// clang-format off
OPEN(0) OPEN(1) OPEN(2) OPEN(3) OPEN(4) OPEN(5) OPEN(6) OPEN(7)
OPEN(8) OPEN(9) OPEN(10) OPEN(11) OPEN(12) OPEN(13) OPEN(14) OPEN(15)

static int (*const opens[SLOTS])(const char*, pb_device**) = {
    open_0, open_1, open_2,  open_3,  open_4,  open_5,  open_6,  open_7,
    open_8, open_9, open_10, open_11, open_12, open_13, open_14, open_15};
// clang-format on

// The chip's own slot, else a free one, else the one that was asked for longest ago and has no device open.
static int slot_for(const pb_chip* chip) {
  int best = -1;
  for (int n = 0; n < SLOTS; ++n)
    if (slots[n].chip == chip) return n;
  for (int n = 0; n < SLOTS; ++n)
    if (!slots[n].devices && (best < 0 || slots[n].asked < slots[best].asked)) best = n;
  return best;
}

static void fill_slot(int n, const pb_chip* chip) {
  slots[n].chip = chip;
  slots[n].ops = (pb_device_ops){.abi = PB_DEVICE_ABI,
                                 .name = chip->name,
                                 .open = opens[n],
                                 .close = close_device,
                                 .alloc = machine__alloc,
                                 .free_all = machine__free_all,
                                 .copy_in = machine__copy_in,
                                 .copy_out = machine__copy_out,
                                 .submit = submit,
                                 .wait = wait_device,
                                 .counter_name = counter_name,
                                 .counter = counter,
                                 .last_fault = last_fault,
                                 .set_trace = set_trace,
                                 .alloc_constants = machine__alloc_constants,
                                 .alloc_constants_in = machine__alloc_constants_in};
}

const pb_device_ops* pb_machine_ops(const pb_chip* chip) {
  if (chip->control != PB_CONTROL_QUEUES || chip->system_memory < 0) return NULL;
  static uint64_t asked;
  pthread_mutex_lock(&slots_lock);
  int n = slot_for(chip);
  if (n >= 0) {
    slots[n].asked = ++asked;
    if (slots[n].chip != chip || !slots[n].devices) fill_slot(n, chip);
  }
  pthread_mutex_unlock(&slots_lock);
  return n < 0 ? NULL : &slots[n].ops;
}
