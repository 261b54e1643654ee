#include "kernel.h"

#include <assert.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static pb_chip* chip_named(const char* name) {
  static pb_chip* chips[4];
  static const char* names[4];
  int n = 0;
  while (n < 4 && chips[n] && strcmp(names[n], name)) ++n;
  assert(n < 4);
  if (!chips[n]) {
    pb_diag diag = {0};
    names[n] = name;
    if (pb_chip_find(name, NULL, &diag, &chips[n]) != PB_OK) abort();
  }
  return chips[n];
}

void kernel_open(kernel* k, const char* chip, const char* options) {
  *k = (kernel){.chip = chip_named(chip)};
  k->ops = pb_machine_ops(k->chip);
  if (!k->ops || k->ops->open(options, &k->device)) abort();
}

void kernel_clear(kernel* k) {
  for (int q = 0; q < pb_chip_queues(k->chip); ++q) {
    free(k->stream[q]);
    k->stream[q] = NULL;
    k->count[q] = 0;
  }
}

void kernel_close(kernel* k) {
  kernel_clear(k);
  k->ops->close(k->device);
}

uint64_t kernel_argument(kernel* k, const void* data, uint64_t bytes) {
  uint64_t address;
  if (k->ops->alloc(k->device, bytes, 64, &address)) abort();
  if (data && k->ops->copy_in(k->device, address, data, bytes)) abort();
  k->args[k->arg_count++] = address;
  return address;
}

uint64_t kernel_constants(kernel* k, const void* data, uint64_t bytes) {
  uint64_t address;
  assert_int_equal(k->ops->alloc_constants(k->device, bytes, 64, &address), 0);
  assert_int_equal(k->ops->copy_in(k->device, address, data, bytes), 0);
  k->args[k->arg_count++] = address;
  return address;
}

uint64_t kernel_constants_in(kernel* k, uint32_t number, const void* data, uint64_t bytes) {
  uint64_t address;
  assert_int_equal(k->ops->alloc_constants_in(k->device, number, bytes, 64, &address), 0);
  assert_int_equal(k->ops->copy_in(k->device, address, data, bytes), 0);
  k->args[k->arg_count++] = address;
  return address;
}

// Queues, or semaphores: "FREE OPERANDS:2" for two of one of them.
static uint32_t counter_bits(const pb_chip* chip, const char* names, uint64_t* counts) {
  char text[128], *save = NULL;
  uint32_t bits = 0;
  snprintf(text, sizeof text, "%s", names);
  for (char* name = strtok_r(text, " ", &save); name; name = strtok_r(NULL, " ", &save)) {
    int k = 0;
    char* colon = strchr(name, ':');
    if (colon) *colon = 0;
    while (k < pb_chip_counters(chip) && strcmp(pb_counter_name(chip, k), name)) ++k;
    if (k == pb_chip_counters(chip)) abort();
    bits |= 1u << k;
    *counts |= (uint64_t)(colon ? atoi(colon + 1) : 1) << 4 * k;
  }
  return bits;
}

static void set_defaults(pb_command* c) {
  for (int d = 0; d < c->insn->dim_count; ++d)
    if (c->insn->dims[d].field >= 0) c->values[c->insn->dims[d].field] = c->insn->dims[d].min;
  for (int o = 0; o < c->insn->operand_count; ++o)
    for (int n = 0; n < c->insn->operands[o].rank; ++n)
      if (c->insn->operands[o].has_box && c->insn->operands[o].box_hi[n] >= 0)
        c->values[c->insn->operands[o].box_hi[n]] = pb_field_max(&c->insn->fields[c->insn->operands[o].box_hi[n]]);
}

void put(kernel* k, const char* insn, const char* fields, const char* waits, const char* signals) {
  pb_command c = {.insn = pb_chip_insn(k->chip, insn)};
  char text[512], *save = NULL;
  if (!c.insn) abort();
  set_defaults(&c);
  snprintf(text, sizeof text, "%s", fields);
  for (char* name = strtok_r(text, " ", &save); name; name = strtok_r(NULL, " ", &save)) {
    char* value = strchr(name, '=');
    *value = 0;
    int field = pb_insn_field(c.insn, name);
    if (field < 0) fprintf(stderr, "no field %s in %s\n", name, insn), abort();
    c.values[field] = strtoll(value + 1, NULL, 0);
  }
  uint64_t ones = 0;
  c.waits = counter_bits(k->chip, waits, &c.counts);
  c.signals = counter_bits(k->chip, signals, &ones);
  int q = k->core * k->chip->queue_count + c.insn->queue, size = k->chip->command_bytes;
  k->stream[q] = realloc(k->stream[q], (size_t)(k->count[q] + 1) * (size_t)size);
  pb_diag diag = {0};
  if (pb_encode(k->chip, &c, k->stream[q] + k->count[q]++ * (uint32_t)size, &diag) != PB_OK) abort();
  k->last = c;
}

int kernel_run(kernel* k) {
  pb_submission s = {.queue_count = (uint32_t)pb_chip_queues(k->chip), .arg_count = k->arg_count};
  memcpy(s.args, k->args, sizeof s.args);
  s.kept_count = k->kept_count;
  memcpy(s.kept, k->kept, sizeof s.kept);
  int queues = pb_chip_queues(k->chip);
  for (int q = 0; q < queues; ++q) {
    uint64_t bytes = (uint64_t)k->count[q] * (uint64_t)k->chip->command_bytes;
    k->at[q] = 0;
    if (bytes &&
        (k->ops->alloc(k->device, bytes, 64, &k->at[q]) || k->ops->copy_in(k->device, k->at[q], k->stream[q], bytes)))
      abort();
  }
  if (queues > PB_DEVICE_MAX_QUEUES) {
    s.streams = k->at;
    s.counts = k->count;
  } else {
    memcpy(s.stream, k->at, (size_t)queues * sizeof *k->at);
    memcpy(s.count, k->count, (size_t)queues * sizeof *k->count);
  }
  int code = k->ops->submit(k->device, &s);
  return code ? code : k->ops->wait(k->device);
}

uint64_t kernel_counter(kernel* k, const char* name) {
  const char* n;
  for (uint32_t i = 0; (n = k->ops->counter_name(k->device, i)); ++i)
    if (!strcmp(n, name)) return k->ops->counter(k->device, i);
  abort();
}

void kernel_refused(kernel* k, const char* what) {
  assert_int_not_equal(kernel_run(k), 0);
  if (!strstr(k->ops->last_fault(k->device), what)) fail_msg("%s", k->ops->last_fault(k->device));
  kernel_close(k);
}
