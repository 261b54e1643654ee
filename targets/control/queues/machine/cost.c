// What one command takes by itself: cycles by its description, and more where its rows meet in a bank or lie across the
// beats of a memory outside.
#include "targets/control/queues/machine/state.h"

#include <string.h>

enum { MAX_BANKS = 256 };

int64_t machine__beat_bytes(const pb_chip* chip, int memory) {
  int64_t bytes = chip->memories[memory].bytes_per_cycle;
  return bytes > 0 ? bytes : 1;
}

// Beats that a window touches, row by row of its innermost dim as movers go, even where rows are neighbours.
static int64_t window_beats(const pb_chip* chip, const machine_window* w) {
  if (w->empty) return 0;
  int64_t unit = machine__beat_bytes(chip, w->operand->memory), beats = 0, at[PB_MAX_INSN_DIMS] = {0}, offset = 0;
  machine_runs rows = machine__rows(w);
  do {
    int64_t first = rows.address + offset;
    beats += (first + rows.bytes - 1) / unit - first / unit + 1;
  } while (machine__next_run(&rows, at, &offset));
  return beats;
}

// The same of the rows that are gathered.
static int64_t gathered_beats(const pb_chip* chip, const machine_command* c, const machine_window* table) {
  machine_gather rows = machine__gather(c, table);
  machine_window row;
  int64_t beats = 0;
  while (machine__gather_next(&rows, &row)) beats += window_beats(chip, &row);
  return beats;
}

int64_t machine__beats(pb_device* device, const machine_command* c) {
  int64_t read = 0, written = 0;
  int outside = pb_insn_outside(device->chip, c->command.insn);
  if (outside < 0) return 0;
  int64_t unit = machine__beat_bytes(device->chip, outside);
  for (int o = 0; o < c->command.insn->operand_count; ++o) {
    const machine_window* w = &c->windows[o];
    if (c->command.insn->operands[o].memory != outside) continue;
    if (w->reads && machine__gathers(w))
      read += gathered_beats(device->chip, c, w);
    else if (w->reads)
      read += window_beats(device->chip, w);
    if (w->writes) written += window_beats(device->chip, w);
  }
  int number = pb_constants_number(device->chip, outside);
  *(number >= 0 ? &device->constant_bytes[number] : &device->read_bytes) += (uint64_t)(read * unit);
  device->written_bytes += (uint64_t)(written * unit);
  return read + written;
}

int64_t machine__passed_over(const machine_command* c) {
  const pb_insn* insn = c->command.insn;
  if (!insn->mover || c->windows[insn->expr[0].operand].empty) return 0;
  const machine_window* from = &c->windows[insn->expr[0].operand];
  int64_t inside = 1, first = 0, last = 0;
  for (int k = 0; k < from->rank - 1; ++k) {
    inside *= from->hi[k] - from->lo[k];
    first = first * from->extent[k] + from->lo[k];
    last = last * from->extent[k] + from->hi[k] - 1;
  }
  return last - first + 1 - inside;
}

static int64_t phase(int64_t address, int64_t unit) { return (address % unit + unit) % unit; }

// Cycles that a mover spends on its rows: it writes a beat a cycle, and reads one ahead of a row whose first beat needs
// two.
static int64_t mover_cycles(const pb_chip* chip, const machine_command* c) {
  const pb_insn* insn = c->command.insn;
  if (!insn->mover) return 0;
  const machine_window *from = &c->windows[insn->expr[0].operand], *to = &c->windows[insn->dest];
  if (from->rank != to->rank || memcmp(from->operand->dims, to->operand->dims, sizeof(int) * (size_t)to->rank) != 0)
    return 0;
  int outside = pb_insn_outside(chip, insn);
  int64_t unit = machine__beat_bytes(chip, outside < 0 ? chip->system_memory : outside);
  int64_t cycles = 0, at[PB_MAX_INSN_DIMS] = {0};
  int inner = to->rank - 1;
  int64_t bytes = inner >= 0 ? pb_bytes_of(to->operand->type, to->extent[inner]) : 1;
  // A box may end rows inside: what is read of each.
  int64_t skip = inner >= 0 ? pb_bytes_of(from->operand->type, from->lo[inner]) : 0;
  int64_t some = inner >= 0 ? pb_bytes_of(from->operand->type, from->hi[inner]) - skip : 1;
  for (bool more = true; more;) {
    int64_t source = from->address, target = to->address;
    bool inside = !from->empty;
    for (int k = 0; k < inner; ++k) {
      source += at[k] * from->stride[k], target += at[k] * to->stride[k];
      inside &= at[k] >= from->lo[k] && at[k] < from->hi[k];
    }
    int64_t from_phase = phase(source + skip, unit), to_phase = phase(target + skip, unit);
    int64_t in = (from_phase + some + unit - 1) / unit, out = (phase(target, unit) + bytes + unit - 1) / unit;
    if (inside && in > 1 && from_phase > to_phase) ++out;
    cycles += inside && in > out ? in : out;
    more = false;
    for (int k = inner - 1; k >= 0 && !more; --k) more = ++at[k] < to->extent[k] || (at[k] = 0);
  }
  return cycles;
}

// The rows that an operand brings from an on-chip memory, one after the other.
typedef struct stream {
  machine_runs rows;
  int64_t at[PB_MAX_INSN_DIMS], offset, done;
  bool more;
} stream;

static int64_t row_count(const machine_window* w) {
  if (w->empty || !w->reads || machine__gathers(w)) return 0; // a row here, a row there
  machine_runs rows = machine__rows(w);
  int64_t count = 1;
  for (int k = 0; k < rows.rank; ++k) count *= rows.extent[k];
  return count;
}

// Operands that walk as many rows of the memory as any: what has fewer is read once and kept.
static int open_streams(const machine_command* c, int memory, int64_t most, stream* streams) {
  int count = 0;
  for (int o = 0; o < c->command.insn->operand_count; ++o) {
    if (c->command.insn->operands[o].memory != memory || row_count(&c->windows[o]) != most) continue;
    streams[count++] = (stream){.rows = machine__rows(&c->windows[o]), .more = true};
  }
  return count;
}

// Of the streams that have rows left and have not been served in this cycle, the one that is furthest behind.
static stream* next_stream(stream* streams, int count, uint32_t served) {
  stream* best = NULL;
  for (int k = 0; k < count; ++k)
    if (!(served >> k & 1) && streams[k].more && (!best || streams[k].done < best->done)) best = &streams[k];
  return best;
}

// Cycles until all rows were read when each bank serves as many rows a cycle as it has ports.
static int64_t bank_cycles(const pb_memory* memory, stream* streams, int count) {
  int64_t cycles = 0;
  for (;; ++cycles) {
    uint8_t used[MAX_BANKS] = {0};
    uint32_t served = 0;
    stream* s = next_stream(streams, count, served);
    if (!s) return cycles;
    for (; s; s = next_stream(streams, count, served)) {
      served |= 1u << (s - streams);
      int64_t bank = phase((s->rows.address + s->offset) / memory->row_bytes, memory->banks);
      if (used[bank] == memory->ports) continue;
      ++used[bank];
      ++s->done;
      s->more = machine__next_run(&s->rows, s->at, &s->offset);
    }
  }
}

// A unit that takes a row a cycle loses what its operands lose; one that takes longer has time to spare.
static int64_t with_conflicts(const pb_chip* chip, const machine_command* c, int64_t cycles) {
  int64_t longest = cycles;
  for (int m = 0; m < chip->memory_count; ++m) {
    const pb_memory* memory = &chip->memories[m];
    if (pb_is_outside(memory) || memory->kind != PB_MEM_ADDRESSED || memory->banks > MAX_BANKS) continue;
    stream streams[PB_MAX_OPERANDS];
    int64_t rows = 0;
    for (int o = 0; o < c->command.insn->operand_count; ++o)
      if (c->command.insn->operands[o].memory == m && row_count(&c->windows[o]) > rows)
        rows = row_count(&c->windows[o]);
    int count = rows > 1 ? open_streams(c, m, rows, streams) : 0;
    if (count < 2) continue;
    int64_t needs = bank_cycles(memory, streams, count);
    if (cycles < 2 * rows) needs += cycles - rows;
    if (needs > longest) longest = needs;
  }
  return longest;
}

int64_t machine__cycles(const pb_chip* chip, const machine_command* c) {
  int64_t cycles = pb_cycles(c->command.insn, c->extent), rows = mover_cycles(chip, c);
  if (rows > cycles) cycles = rows;
  if (!c->command.insn->mover) cycles = with_conflicts(chip, c, cycles);
  return cycles > 1 ? cycles : 1;
}
