// Banks that are taken in turn: which one a command means, and what is reported. Nothing waits for a bank but commands
// of the queue that fills it: between queues that is what tokens are for, so a bank taken that nothing filled, one
// filled before it was taken, and one that is read when another filling has come over it are faults.
#include "targets/control/queues/machine/state.h"

#include <stdlib.h>

static machine_banks* banks_of(const pb_device* device, int queue, int memory) {
  return (machine_banks*)&device->banks[machine__core(device, queue)][memory];
}

static bool on_banks(const pb_device* device, const pb_operand* o) {
  return o->memory >= 0 && pb_in_banks(&device->chip->memories[o->memory]);
}

// Which filling a window means, in its turn.
static int64_t filling_of(const machine_banks* b, const pb_command* c, const pb_operand* o) {
  return o->written ? b->filled : b->taken - 1 + (c->values[o->take] != 0);
}

static machine_bank* bank_of(const pb_device* device, int queue, const machine_command* c, int operand) {
  const pb_operand* o = &c->command.insn->operands[operand];
  const pb_memory* m = &device->chip->memories[o->memory];
  return &banks_of(device, queue, o->memory)->banks[c->command.values[o->base] * o->unit / (m->bytes / m->banks)];
}

bool machine__banks_open(pb_device* device) {
  for (int core = 0; core < device->chip->cores; ++core)
    for (int m = 0; m < device->chip->memory_count; ++m) {
      if (!pb_in_banks(&device->chip->memories[m])) continue;
      machine_banks* b = &device->banks[core][m];
      b->banks = calloc((size_t)device->chip->memories[m].banks, sizeof *b->banks);
      if (!b->banks) return false;
      device->has_banks = true;
    }
  return true;
}

void machine__banks_close(pb_device* device) {
  for (int core = 0; device->banks && core < device->chip->cores; ++core)
    for (int m = 0; m < device->chip->memory_count; ++m) free(device->banks[core][m].banks);
  free(device->banks);
}

void machine__banks_begin(pb_device* device) {
  for (int core = 0; core < device->chip->cores; ++core)
    for (int m = 0; m < device->chip->memory_count; ++m) {
      machine_banks* b = &device->banks[core][m];
      b->filled = b->taken = 0;
      for (int k = 0; b->banks && k < device->chip->memories[m].banks; ++k) b->banks[k] = (machine_bank){.filling = -1};
    }
}

int machine__banks_end(pb_device* device) {
  for (int core = 0; core < device->chip->cores; ++core)
    for (int m = 0; m < device->chip->memory_count; ++m) {
      const machine_banks* b = &device->banks[core][m];
      if (b->filled > b->taken)
        return machine__fault(device, MACHINE_BANKS,
                              "%lld of the banks of %s that were filled are not taken at the end",
                              (long long)(b->filled - b->taken), device->chip->memories[m].name);
    }
  return MACHINE_OK;
}

int machine__banks_place(pb_device* device, const machine_site* site, machine_command* mc) {
  const pb_insn* insn = mc->command.insn;
  for (int k = 0; k < insn->operand_count && device->has_banks; ++k) {
    const pb_operand* o = &insn->operands[k];
    if (!on_banks(device, o)) continue;
    const pb_memory* m = &device->chip->memories[o->memory];
    int64_t filling = filling_of(banks_of(device, site->queue, o->memory), &mc->command, o);
    if (filling < 0)
      return machine__fault_at(device, MACHINE_BANKS, site, mc,
                               "operand '%s' reads the bank of %s that was taken last, and none was taken", o->name,
                               m->name);
    mc->command.values[o->base] = filling % m->banks * (m->bytes / m->banks / o->unit);
  }
  return MACHINE_OK;
}

void machine__banks_follow(pb_device* device, int queue, const pb_command* c) {
  for (int k = 0; k < c->insn->operand_count && device->has_banks; ++k) {
    const pb_operand* o = &c->insn->operands[k];
    if (!on_banks(device, o)) continue;
    machine_banks* b = banks_of(device, queue, o->memory);
    b->filled += o->written;
    b->taken += !o->written && c->values[o->take];
  }
}

uint64_t machine__banks_ready(const pb_device* device, int queue, const machine_command* c) {
  uint64_t at = 0;
  for (int k = 0; k < c->command.insn->operand_count && device->has_banks; ++k) {
    const pb_operand* o = &c->command.insn->operands[k];
    if (!on_banks(device, o)) continue;
    const machine_bank* bank = bank_of(device, queue, c, k);
    uint64_t until = o->written ? bank->free : bank->there;
    if (until > at) at = until;
  }
  return at;
}

// What is wrong with the bank that the window means; 0: nothing.
static int check(pb_device* device, const machine_site* site, const machine_command* c, int operand) {
  const pb_operand* o = &c->command.insn->operands[operand];
  const pb_memory* m = &device->chip->memories[o->memory];
  const machine_banks* b = banks_of(device, site->queue, o->memory);
  const char* kind = m->kind == PB_MEM_FIFO ? "full" : "waiting to be taken";
  int64_t filling = filling_of(b, &c->command, o);
  if (o->written && b->filled - b->taken >= m->banks)
    return machine__fault_at(device, MACHINE_BANKS, site, c, "operand '%s' fills a bank of %s, whose %d banks are %s",
                             o->name, m->name, m->banks, kind);
  if (o->written) return MACHINE_OK;
  if (filling >= b->filled)
    return machine__fault_at(device, MACHINE_BANKS, site, c,
                             "operand '%s' takes a bank of %s, of which none is filled that was not taken", o->name,
                             m->name);
  if (bank_of(device, site->queue, c, operand)->filling != filling)
    return machine__fault_at(device, MACHINE_BANKS, site, c,
                             "operand '%s' reads a bank of %s that was filled again since it was taken", o->name,
                             m->name);
  return MACHINE_OK;
}

int machine__banks_start(pb_device* device, const machine_site* site, const machine_command* c) {
  for (int written = 0; written < 2 && device->has_banks;
       ++written) // a command may take from one memory and fill another
    for (int k = 0; k < c->command.insn->operand_count; ++k) {
      const pb_operand* o = &c->command.insn->operands[k];
      if (!on_banks(device, o) || o->written != written) continue;
      int code = device->checks ? check(device, site, c, k) : MACHINE_OK;
      if (code) return code;
      if (written) bank_of(device, site->queue, c, k)->filling = banks_of(device, site->queue, o->memory)->filled;
    }
  machine__banks_follow(device, site->queue, &c->command);
  return MACHINE_OK;
}

// Commands of other queues wait by tokens, which come later: these times are for those that have none.
void machine__banks_done(pb_device* device, int queue, const machine_command* c, uint64_t free_at, uint64_t there) {
  for (int k = 0; k < c->command.insn->operand_count && device->has_banks; ++k) {
    const pb_operand* o = &c->command.insn->operands[k];
    if (!on_banks(device, o)) continue;
    machine_bank* bank = bank_of(device, queue, c, k);
    if (o->written)
      bank->there = there;
    else if (free_at > bank->free)
      bank->free = free_at;
  }
}
