// A command with its numbers: windows placed in memories, checked against their bounds.
#include "targets/control/queues/machine/state.h"

#include <stdlib.h>
#include <string.h>

static int64_t element_bytes(pb_type type) { return pb_bytes_of(type, 1); }

static int64_t window_stride(const pb_chip* chip, const pb_command* c, const pb_operand* o, int k) {
  if (o->strides[k].kind == PB_STRIDE_FIELD) return c->values[o->strides[k].field] * o->unit;
  if (o->type == PB_I4 && o->strides[k].kind == PB_STRIDE_ELEM) return 1; // a byte on for every second
  return pb_fixed_stride(chip, o, k);
}

static void set_box(const pb_command* c, machine_window* w) {
  const pb_operand* o = w->operand;
  for (int k = 0; k < w->rank; ++k) {
    w->lo[k] = 0;
    w->hi[k] = w->extent[k];
    if (!o->has_box || o->box_lo[k] < 0) continue;
    int64_t lo = c->values[o->box_lo[k]], hi = c->values[o->box_hi[k]];
    if (lo > 0) w->lo[k] = lo;
    if (hi < w->hi[k]) w->hi[k] = hi;
    if (w->lo[k] > 0 || w->hi[k] < w->extent[k]) w->boxed = true;
    if (w->lo[k] >= w->hi[k]) w->empty = true;
  }
}

// The bytes from the first to the last that it touches.
static void set_hull(machine_window* w) {
  w->first = w->address;
  w->last = w->address + element_bytes(w->operand->type);
  for (int k = 0; k < w->rank; ++k) {
    int64_t a = w->lo[k], b = w->hi[k] - 1;
    if (k == w->half) a /= 2, b /= 2;
    a *= w->stride[k], b *= w->stride[k];
    w->first += a < b ? a : b;
    w->last += a < b ? b : a;
  }
}

static int check_bounds(pb_device* device, const machine_site* site, const machine_command* c,
                        const machine_window* w) {
  const pb_operand* o = w->operand;
  const pb_memory* m = &device->chip->memories[o->memory];
  int which = machine__outside(device, o->memory);
  if (which < 0) {
    if (w->first >= 0 && w->last <= m->bytes) return MACHINE_OK;
    return machine__fault_at(device, MACHINE_BAD_ADDRESS, site, c,
                             "operand '%s' touches bytes [%lld, %lld) of %s, which has %lld", o->name,
                             (long long)w->first, (long long)w->last, m->name, (long long)m->bytes);
  }
  const machine_outside* outside = &device->outside[which];
  uint64_t base = o->slot >= 0 ? device->kernel.args[c->command.values[o->slot]] : (uint64_t)w->first + outside->at;
  const machine_allocation* a = base >= outside->at ? machine__allocation(outside, base - outside->at) : NULL;
  if (a && w->first >= (int64_t)a->address && w->last <= (int64_t)(a->address + a->bytes)) return MACHINE_OK;
  if (!a)
    return machine__fault_at(device, MACHINE_BAD_ADDRESS, site, c, "operand '%s': 0x%llx lies in no allocation of %s",
                             o->name, (unsigned long long)base, m->name);
  return machine__fault_at(
      device, MACHINE_BAD_ADDRESS, site, c,
      "operand '%s' touches bytes [0x%llx, 0x%llx) of %s, out of bounds of its allocation [0x%llx, 0x%llx)", o->name,
      (long long)w->first, (long long)w->last, m->name, (unsigned long long)a->address,
      (unsigned long long)(a->address + a->bytes));
}

static int place_window(pb_device* device, const machine_site* site, machine_command* mc, int index) {
  const pb_command* c = &mc->command;
  const pb_operand* o = &c->insn->operands[index];
  machine_window* w = &mc->windows[index];
  int which = machine__outside(device, o->memory), core = which >= 0 ? 0 : machine__core(device, site->queue);
  *w = (machine_window){.operand = o, .memory = &device->memories[core][o->memory], .rank = o->rank};
  w->half = o->type == PB_I4 ? o->rank - 1 : -1;
  w->address = c->values[o->base] * o->unit;
  if (o->slot >= 0) {
    int64_t slot = c->values[o->slot];
    if (slot < 0 || slot >= device->kernel.arg_count)
      return machine__fault_at(device, MACHINE_BAD_COMMAND, site, mc, "argument %lld of %u", (long long)slot,
                               device->kernel.arg_count);
    w->address += (int64_t)(device->kernel.args[slot] - device->outside[which].at);
  }
  for (int k = 0; k < o->rank; ++k) {
    w->extent[k] = mc->extent[o->dims[k]];
    w->stride[k] = window_stride(device->chip, c, o, k);
  }
  w->fill = o->fill >= 0 ? c->values[o->fill] : 0;
  w->writes = index == c->insn->dest;
  w->reads = w->writes ? c->insn->reduce != PB_SET && mc->accumulates : o->read;
  set_box(c, w);
  if (w->empty) return MACHINE_OK;
  set_hull(w);
  return check_bounds(device, site, mc, w);
}

static void keep_text(void* user, bool error, int code, const char* text) {
  (void)error, (void)code;
  strncat(user, text, 255);
}

const uint8_t* machine__word(pb_device* device, const machine_site* site, uint32_t word) {
  const pb_chip* chip = device->chip;
  uint64_t address = pb_submission_stream(&device->kernel, (uint32_t)pb_chip_stream(chip, site->queue)) +
                     (uint64_t)word * (uint64_t)chip->command_bytes;
  const machine_outside* system = &device->outside[MACHINE_SYSTEM];
  const machine_allocation* a = machine__allocation(system, address);
  if (a && address + (uint64_t)chip->command_bytes <= a->address + a->bytes) return system->memory->data + address;
  machine_command none = {.command = {.insn = NULL}};
  machine__fault_at(device, MACHINE_BAD_ADDRESS, site, &none, "fetched from 0x%llx, which lies in no allocation",
                    (unsigned long long)address);
  return NULL;
}

// The command reads for cores that there are, its own among them.
static int check_cores(pb_device* device, const machine_site* site, const machine_command* mc) {
  uint32_t cores = pb_command_cores(&mc->command);
  int own = machine__core(device, site->queue);
  if (!cores || (cores >> own & 1 && !((uint64_t)cores >> device->chip->cores))) return MACHINE_OK;
  return machine__fault_at(device, MACHINE_BAD_COMMAND, site, mc, "it reads for cores 0x%x, and is core %d's of %d",
                           cores, own, device->chip->cores);
}

int machine__command_read(pb_device* device, const machine_site* site, const uint8_t* bytes, int64_t (*state)[32],
                          machine_command* mc) {
  const pb_chip* chip = device->chip;
  char text[512] = "";
  pb_diag diag = {.sink = keep_text, .user = text};
  if (pb_decode(chip, bytes, &mc->command, &diag) != PB_OK) {
    mc->command.insn = NULL;
    return machine__fault_at(device, MACHINE_BAD_COMMAND, site, mc, "%s", text);
  }
  if (mc->command.insn == chip->loop)
    return machine__fault_at(device, MACHINE_BAD_COMMAND, site, mc, "a loop stands in the body of another");
  const pb_insn* insn = mc->command.insn;
  if (insn->queue != site->queue % chip->queue_count)
    return machine__fault_at(device, MACHINE_BAD_COMMAND, site, mc, "%s belongs to queue %s", insn->name,
                             chip->queues[insn->queue].name);
  for (int f = 0; f < insn->field_count; ++f)
    if (insn->fields[f].state_writer >= 0)
      mc->command.values[f] = state[insn->fields[f].state_writer][insn->fields[f].state_field];
  if (pb_state_extents(&mc->command, &diag) != PB_OK)
    return machine__fault_at(device, MACHINE_BAD_COMMAND, site, mc, "%s", text);
  pb_command_extents(&mc->command, mc->extent);
  mc->accumulates =
      insn->reduce != PB_SET && (insn->acc_flag < 0 || mc->command.values[insn->operands[insn->acc_flag].base] != 0);
  int placed = machine__banks_place(device, site, mc);
  if (placed) return placed;
  if (!insn->operand_count) mc->windows[0] = (machine_window){.operand = &insn->operands[0], .empty = true};
  for (int o = 0; o < insn->operand_count; ++o) {
    if (insn->operands[o].memory < 0) continue;
    int code = place_window(device, site, mc, o);
    if (code) return code;
  }
  return check_cores(device, site, mc);
}

// Dims from `least` in may grow the run, as long as they continue it.
static machine_runs make_runs(const machine_window* w, int least) {
  machine_runs r = {.address = w->address, .bytes = element_bytes(w->operand->type)};
  bool inner = true;
  for (int k = w->rank - 1; k >= 0; --k) {
    int64_t lo = w->lo[k], hi = w->hi[k];
    if (k == w->half) lo /= 2, hi = (hi + 1) / 2;
    int64_t extent = hi - lo;
    r.address += lo * w->stride[k];
    if (extent == 1 || (w->stride[k] == 0 && least == 0)) continue;
    if (inner && k >= least && w->stride[k] == r.bytes) {
      r.bytes *= extent;
      continue;
    }
    inner = false;
    r.extent[r.rank] = extent;
    r.stride[r.rank++] = w->stride[k];
  }
  return r;
}

machine_runs machine__runs(const machine_window* w) { return make_runs(w, 0); }
machine_runs machine__rows(const machine_window* w) { return make_runs(w, w->rank - 1); }

bool machine__next_run(const machine_runs* r, int64_t* at, int64_t* offset) {
  for (int k = 0; k < r->rank; ++k) {
    *offset += r->stride[k];
    if (++at[k] < r->extent[k]) return true;
    *offset -= r->extent[k] * r->stride[k];
    at[k] = 0;
  }
  return false;
}

// Sufficient: every stride steps over all that the smaller ones span.
bool machine__apart(const machine_window* w) {
  bool used[PB_MAX_INSN_DIMS] = {false};
  int64_t span = element_bytes(w->operand->type);
  for (int n = 0; n < w->rank; ++n) {
    int least = -1;
    for (int k = 0; k < w->rank; ++k)
      if (!used[k] && (least < 0 || llabs(w->stride[k]) < llabs(w->stride[least]))) least = k;
    used[least] = true;
    int64_t extent = least == w->half ? (w->extent[least] + 1) / 2 : w->extent[least];
    if (extent == 1) continue;
    if (llabs(w->stride[least]) < span) return false;
    span += (extent - 1) * llabs(w->stride[least]);
  }
  return true;
}
