// What moves take of the port of a memory outside: beats of their runs, where these lie across beats too; and commands,
// which come through it.
#include "core/s3/tree/cost_loops.h"

// Bytes that the port of a memory outside moves in a cycle, a beat.
static int64_t beat_of(const pb_chip* chip, int memory) {
  int64_t bytes = chip->memories[memory].bytes_per_cycle;
  return bytes > 0 ? bytes : 1;
}

// ---- commands, and what several cores do ----

int64_t pb__cost_share(int64_t number, int64_t part, int64_t whole, bool up) {
  return number * (part / whole) + (number * (part % whole) + (up ? whole - 1 : 0)) / whole;
}

int64_t pb__port_shared(const pb_tiling* t, const pb_access* read, int64_t cycles) {
  for (int b = 0; b < pb_plan_shared_axes(t->plan); ++b) {
    const pb_axis* axis = &t->plan->axes[b];
    if (!read || pb_access_uses(read, PB_NEST_DIMS + b))
      cycles = pb__cost_share(cycles, t->group->main.extent[axis->dim], axis->step, true);
  }
  return cycles;
}

static int64_t command_beats(const pb_chip* chip) {
  int64_t beat = beat_of(chip, chip->system_memory);
  return (chip->command_bytes + beat - 1) / beat;
}

int64_t pb__port_fetch(const pb_chip* chip) { return chip->command_port ? 0 : command_beats(chip); }

int64_t pb__port_arrival(const pb_chip* chip) {
  return chip->memories[chip->system_memory].latency + command_beats(chip) + chip->start_cycles;
}

int64_t pb__port_rolled(const pb_chip* chip, int64_t commands, int64_t words, int64_t iterations) {
  int64_t plain = words * iterations, loop = 1 + 3 * commands;
  return chip->loop && commands <= chip->loop_most && loop < plain ? loop : plain;
}

// ---- runs ----

// Where in a beat runs start: at `first` and so many `steps` of bytes behind it.
typedef struct starts {
  int64_t first, step, count;
} starts;

// Of an access's runs, in beats of `unit` bytes. `run`: the dim of the flat nest along a run.
static starts starts_of(int64_t unit, const pb_nest* nest, const pb_match* match, int access, int run) {
  const pb_access* a = &nest->access[access];
  const pb_flat_access* flat = &match->nest.access[access];
  int64_t bits = pb_type_bits(flat->type), step = unit;
  for (int k = 0; k < nest->outer_count; ++k) step = pb_gcd(step, pb_access_stride(a, PB_NEST_DIMS + k) * bits / 8);
  for (int d = 0; d < match->nest.dim_count; ++d)
    if (d != run && match->nest.extent[d] > 1) step = pb_gcd(step, flat->stride[d] * bits / 8);
  if (!step) step = unit;
  int64_t first = pb_access_offset(a) * bits / 8 % step;
  return (starts){.first = first < 0 ? first + step : first, .step = step, .count = unit / step};
}

// Elements at the front of a run that a box leaves out, so that nobody reads them.
static int64_t left_out(const pb_nest* nest, int access) {
  const pb_access* a = &nest->access[access];
  int64_t least = 0, most;
  if (!a->boxed || !a->rank || !pb_index_range(nest, &a->index[a->rank - 1], &least, &most)) return 0;
  return larger(-least, 0);
}

// The places of a run's bytes behind the first `bytes`.
static starts behind(starts s, int64_t bytes) {
  s.first = (s.first + bytes) % s.step;
  return s;
}

// Sum of floor((step * k + first) / by) over k from 0 to count - 1 (as in Graham, Knuth, Patashnik, "Concrete
// Mathematics", 3.5), so that wide ports take no longer to plan for.
static int64_t sum_of_quotients(int64_t count, int64_t step, int64_t first, int64_t by) {
  int64_t sum = 0;
  while (count > 0) {
    sum += count * (count - 1) / 2 * (step / by) + count * (first / by);
    step %= by, first %= by;
    int64_t last = step * count + first;
    count = last / by;
    first = last % by;
    int64_t turned = step;
    step = by, by = turned;
    if (!turned) break;
  }
  return sum;
}

// Beats of runs of so many bytes, one from each place.
static int64_t beats_of(int64_t bytes, int64_t unit, const starts* s) {
  return sum_of_quotients(s->count, s->step, s->first + bytes + unit - 1, unit);
}

// Pairs of places whose source lies behind the target in its beat, and whose run has more than one beat to read.
static int64_t reads_ahead(int64_t bytes, int64_t unit, const starts* source, const starts* target) {
  int64_t least = larger(unit - bytes, target->first) + 1; // of such sources
  int64_t first = larger(least - source->first + source->step - 1, 0) / source->step;
  if (first >= source->count) return 0;
  // targets in front of the source: its distance from the first over the steps, rounded up
  int64_t from = source->first + source->step * first - target->first;
  return sum_of_quotients(source->count - first, source->step, from + target->step - 1, target->step);
}

void pb__port_moves(const pb_chip* chip, const pb_nest* nest, const pb_match* match, int64_t* cycles, int64_t* beats) {
  const pb_insn* insn = match->insn;
  const pb_operand *from = &insn->operands[insn->expr[0].operand], *to = &insn->operands[insn->dest];
  int inner = to->rank ? match->dim_of[to->dims[to->rank - 1]] : -1, last = match->nest.access_count - 1;
  int outside = pb_insn_outside(chip, insn);
  int64_t unit = beat_of(chip, outside < 0 ? chip->system_memory : outside), runs = 1, bytes = 1;
  for (int d = 0; d < match->nest.dim_count; ++d)
    if (d != inner) runs *= match->nest.extent[d];
  if (inner >= 0) bytes = match->nest.extent[inner];
  bytes = pb_bytes_of(to->type, bytes);
  starts target = starts_of(unit, nest, match, last, inner), source = {.step = unit, .count = 1};
  int64_t skip = match->fills ? 0 : pb_bytes_of(to->type, left_out(nest, 0)), read = larger(bytes - skip, 1);
  if (!match->fills) source = behind(starts_of(unit, nest, match, 0, inner), skip);
  // over all places in a beat at which a run can begin, on both sides
  int64_t in = match->fills ? 0 : beats_of(read, unit, &source), out = beats_of(bytes, unit, &target);
  target = behind(target, skip);
  int64_t ahead = match->fills ? 0 : reads_ahead(read, unit, &source, &target);
  int64_t wants = pb__cost_share(runs, source.count * out + ahead, source.count * target.count, true);
  if (wants > *cycles) *cycles = wants;
  if (pb_is_outside(&chip->memories[from->memory])) *beats += pb__cost_share(runs, in, source.count, false);
  if (pb_is_outside(&chip->memories[to->memory])) *beats += pb__cost_share(runs, out, target.count, false);
}

// Whether the command walks dim d and window o does not: what it reads once serves them all.
static bool is_kept(const pb_match* match, int o, int d) {
  const pb_operand* window = &match->insn->operands[o];
  bool walked = false;
  for (int t = 0; t < match->insn->dim_count; ++t) {
    if (match->dim_of[t] != d) continue;
    walked = true;
    if (pb_operand_index(window, t) >= 0) return false;
  }
  return walked;
}

int64_t pb__port_beats(const pb_chip* chip, const pb_match* match, bool* loads) {
  const pb_insn* insn = match->insn;
  int outside = pb_insn_outside(chip, insn);
  if (outside < 0) return 0;
  int64_t unit = beat_of(chip, outside), beats = 0;
  for (int o = 0; o < insn->operand_count; ++o) {
    if (insn->operands[o].memory != outside || match->access_of[o] < 0) continue;
    const pb_flat_access* access = &match->nest.access[match->access_of[o]];
    int64_t run = 1, runs = 1;
    for (int d = 0; d < match->nest.dim_count; ++d)
      if (access->stride[d] == 1)
        run *= match->nest.extent[d];
      else if (access->stride[d] || !is_kept(match, o, d))
        runs *= match->nest.extent[d];
    beats += runs * ((pb_bytes_of(access->type, run) + unit - 1) / unit);
    *loads |= o != insn->dest;
  }
  return beats;
}
