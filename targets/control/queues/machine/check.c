// Uninitialised reads, and accesses that no queue order and no chain of tokens puts in order. Vector clocks as in
// Mattern, "Virtual Time and Global States of Distributed Systems" (1989): a token carries the clock of its sender.
#include "targets/control/queues/machine/state.h"

#include <string.h>

static machine_shadow* shadow_of(pb_device* device, machine_memory* m, int64_t granule) {
  size_t entry = sizeof(machine_shadow) + sizeof(uint32_t) * (size_t)m->readers;
  machine_shadow* s = (machine_shadow*)(m->shadow + (size_t)granule * entry);
  if (s->epoch != device->epoch) {
    memset(s, 0, entry);
    s->epoch = device->epoch;
  }
  return s;
}

// Rows and granules are coarse: a clash is one only when the other command touched these very bytes.
static bool touches(const machine_command* c, const machine_memory* memory, bool writes, int64_t first, int64_t last) {
  for (int o = 0; o < c->command.insn->operand_count; ++o) {
    const machine_window* w = &c->windows[o];
    if (c->command.insn->operands[o].memory < 0 || w->memory != memory || w->empty || !(writes ? w->writes : w->reads))
      continue;
    if (w->last <= first || last <= w->first) continue;
    machine_runs r = machine__runs(w);
    int64_t at[PB_MAX_INSN_DIMS] = {0}, offset = 0;
    do {
      int64_t from = r.address + offset;
      if (from < last && first < from + r.bytes) return true;
    } while (machine__next_run(&r, at, &offset));
  }
  return false;
}

typedef struct clash {
  int queue;
  uint32_t index;
  bool wrote;
} clash;

static int report_race(pb_device* device, const machine_site* site, const machine_command* c, const machine_window* w,
                       clash with, int64_t first, int64_t last) {
  machine_command other;
  machine_site place = {.queue = with.queue, .index = with.index};
  if (machine__command_again(device, &place, &other)) return device->fault_code;
  if (!touches(&other, w->memory, with.wrote, first, last)) return MACHINE_OK;
  pb_arena arena = {0};
  machine__fault_at(
      device, MACHINE_RACE, site, c,
      "race: operand '%s' %s bytes [%lld, %lld) of %s, which queue %s, command %u (%s) %s, and no %s orders "
      "the two",
      w->operand->name, w->writes ? "writes" : "reads", (long long)first, (long long)last,
      device->chip->memories[w->operand->memory].name, pb_chip_queue_name(device->chip, with.queue), with.index,
      pb_disassemble(device->chip, &other.command, &arena), with.wrote ? "writes" : "reads",
      device->chip->fence ? "fence" : "chain of tokens");
  pb_arena_free(&arena);
  return MACHINE_RACE;
}

static int check_granule(pb_device* device, const machine_site* site, const machine_command* c, const machine_window* w,
                         machine_shadow* s, int64_t first, int64_t last) {
  int q = site->queue, readers = w->memory->readers;
  // its core's queues alone read a memory on the chip: of all queues those from `from` on
  int from = readers < pb_chip_queues(device->chip) ? q - q % device->chip->queue_count : 0;
  bool in_order = device->chip->queues[q % device->chip->queue_count].in_order; // else its queue is one of the others
  bool own = in_order || s->writer == site->index + 1;
  if (s->writer && ((int)s->writer_queue != q || !own) &&
      machine__known(device, site, (int)s->writer_queue) < s->writer) {
    int code = report_race(device, site, c, w, (clash){(int)s->writer_queue, s->writer - 1, true}, first, last);
    if (code) return code;
  }
  if (!w->writes) {
    s->reader[q - from] = site->index + 1;
    return MACHINE_OK;
  }
  for (int p = from; p < from + readers; ++p) {
    uint32_t reader = s->reader[p - from];
    if (!reader || (p == q && (in_order || reader == site->index + 1)) || machine__known(device, site, p) >= reader)
      continue;
    int code = report_race(device, site, c, w, (clash){p, reader - 1, false}, first, last);
    if (code) return code;
  }
  memset(s->reader, 0, sizeof(uint32_t) * (size_t)readers);
  s->writer = site->index + 1;
  s->writer_queue = (uint32_t)q;
  return MACHINE_OK;
}

// What the kernel must leave as it is; NULL: nothing of these bytes.
static const pb_device_kept* kept_at(const pb_device* device, int memory, int64_t address, int64_t bytes) {
  for (uint32_t k = 0; k < device->kernel.kept_count; ++k) {
    const pb_device_kept* kept = &device->kernel.kept[k];
    if (kept->memory == (uint32_t)memory && (uint64_t)address < kept->address + kept->bytes &&
        kept->address < (uint64_t)(address + bytes))
      return kept;
  }
  return NULL;
}

static int check_run(pb_device* device, const machine_site* site, const machine_command* c, const machine_window* w,
                     int64_t address, int64_t bytes) {
  machine_memory* m = w->memory;
  if (w->reads) {
    int64_t bad = machine__first_invalid(m, address, bytes);
    if (bad >= 0)
      return machine__fault_at(device, MACHINE_UNINITIALISED, site, c,
                               "operand '%s' reads bytes [%lld, %lld) of %s; byte %lld is uninitialised",
                               w->operand->name, (long long)address, (long long)(address + bytes),
                               device->chip->memories[w->operand->memory].name, (long long)bad);
  }
  const pb_device_kept* over = w->writes ? kept_at(device, w->operand->memory, address, bytes) : NULL;
  if (over)
    return machine__fault_at(device, MACHINE_KEPT, site, c,
                             "operand '%s' writes bytes [%lld, %lld) of %s, over what stays there, [%llu, %llu)",
                             w->operand->name, (long long)address, (long long)(address + bytes),
                             device->chip->memories[w->operand->memory].name, (unsigned long long)over->address,
                             (unsigned long long)(over->address + over->bytes));
  int64_t from = address / m->granule, to = (address + bytes - 1) / m->granule;
  for (int64_t g = from; g <= to; ++g) {
    int64_t first = g == from ? address : g * m->granule, last = g == to ? address + bytes : (g + 1) * m->granule;
    int code = check_granule(device, site, c, w, shadow_of(device, m, g), first, last);
    if (code) return code;
  }
  return MACHINE_OK;
}

static int check_window(pb_device* device, const machine_site* site, const machine_command* c,
                        const machine_window* w) {
  machine_runs r = machine__runs(w);
  int64_t at[PB_MAX_INSN_DIMS] = {0}, offset = 0;
  do {
    int code = check_run(device, site, c, w, r.address + offset, r.bytes);
    if (code) return code;
  } while (machine__next_run(&r, at, &offset));
  return MACHINE_OK;
}

// Of a table no other row is read than those that are gathered.
static int check_gathered(pb_device* device, const machine_site* site, const machine_command* c,
                          const machine_window* table) {
  machine_gather rows = machine__gather(c, table);
  machine_window row;
  while (machine__gather_next(&rows, &row)) {
    int code = check_window(device, site, c, &row);
    if (code) return code;
  }
  return MACHINE_OK;
}

int machine__check(pb_device* device, const machine_site* site, const machine_command* c) {
  const pb_insn* insn = c->command.insn;
  // Reads first: a command may read what it writes. Numbers of rows are looked at before the rows.
  for (int pass = 0; pass < 3; ++pass)
    for (int o = 0; o < insn->operand_count; ++o) {
      const machine_window* w = &c->windows[o];
      if (insn->operands[o].memory < 0 || w->empty || !(w->reads || w->writes)) continue;
      bool gathers = machine__gathers(w);
      if (pass != (w->writes ? 2 : gathers ? 1 : 0)) continue;
      int code = gathers ? check_gathered(device, site, c, w) : check_window(device, site, c, w);
      if (code) return code;
    }
  return MACHINE_OK;
}

void machine__define(const machine_command* c) {
  const machine_window* w = &c->windows[c->command.insn->dest];
  if (w->empty) return;
  machine_runs r = machine__runs(w);
  int64_t at[PB_MAX_INSN_DIMS] = {0}, offset = 0;
  do machine__mark_valid(w->memory, r.address + offset, r.bytes);
  while (machine__next_run(&r, at, &offset));
}
