#include "tdl/check/check.h"

#include <stdio.h>
#include <string.h>

// Sums of addresses stay far from the ends of 64 bits, and what is kept for each row on chip fits in memory.
static const int64_t most_bytes = (int64_t)1 << 48, most_rows = 1 << 24;
static const int64_t most_rate = 1 << 16; // bytes a cycle

#define FAULT(code, hint, ...) (++*faults, (void)pb_error(diag, place, code, hint, __VA_ARGS__))

void pb__check_name(const char* what, const char* name, size_t most, pb_place place, pb_diag* diag, int* faults) {
  size_t length = strlen(name);
  bool plain = length && !(name[0] >= '0' && name[0] <= '9');
  for (size_t k = 0; k < length; ++k)
    plain &= name[k] == '_' || (name[k] >= '0' && name[k] <= '9') || ((name[k] | 32) >= 'a' && (name[k] | 32) <= 'z');
  if (!plain)
    FAULT(3270, "letters, digits and '_', and no digit first", "%s is named \"%s\"", what, name);
  else if (length > most)
    FAULT(3271, "a shorter name", "%s is named '%s': %zu characters, at most %zu", what, name, length, most);
}

void pb__check_memory(const pb_memory* m, pb_place place, pb_diag* diag, int* faults) {
  if (m->bytes < 1)
    FAULT(3200, "a positive number", "%s: Bytes is %lld", m->name, (long long)m->bytes);
  else if (m->bytes > most_bytes)
    FAULT(3209, "at most 2^48", "%s: Bytes is %lld", m->name, (long long)m->bytes);
  else if (m->row_bytes < 1)
    FAULT(3201, "a positive number", "%s: RowBytes is %lld", m->name, (long long)m->row_bytes);
  else if (m->bytes % m->row_bytes)
    FAULT(3202, "a multiple of RowBytes", "%s: %lld bytes are not whole rows of %lld", m->name, (long long)m->bytes,
          (long long)m->row_bytes);
  else if (!pb_is_outside(m) && m->bytes / m->row_bytes > most_rows)
    FAULT(3209, "at most 2^24 rows on chip", "%s: %lld rows", m->name, (long long)(m->bytes / m->row_bytes));
  else if (m->scope == PB_SCOPE_SYSTEM && m->bytes < PB_LEAST_SYSTEM_BYTES)
    FAULT(3291, "at least 64 KiB, for tensors, constants and commands", "%s: the system's memory has %lld bytes",
          m->name, (long long)m->bytes);
  if (m->banks < 1 || m->ports < 1)
    FAULT(3203, "1 or more", "%s: %d banks of %d ports", m->name, m->banks, m->ports);
  else if (m->row_bytes > 0 && m->bytes / m->row_bytes % m->banks)
    FAULT(3204, "rows in a multiple of the banks", "%s: its rows do not divide over %d banks", m->name, m->banks);
  if (m->bytes_per_cycle < 1 || m->bytes_per_cycle > most_rate)
    FAULT(3205, "1 to 65536", "%s: BytesPerCycle is %lld", m->name, (long long)m->bytes_per_cycle);
  if (m->latency < 0 || m->latency > PB_MOST_LATENCY)
    FAULT(3206, "0 to 1048576", "%s: Latency is %d", m->name, m->latency);
  if (m->ways < 1 || m->line_bytes < 0)
    FAULT(3263, "positive numbers", "%s: %d ways of lines of %lld bytes", m->name, m->ways, (long long)m->line_bytes);
  if (m->same_at_once < 1) FAULT(3274, "1 or more", "%s: SameAtOnce is %d", m->name, m->same_at_once);
  if (m->each_at_once < 1) FAULT(3274, "1 or more", "%s: EachAtOnce is %d", m->name, m->each_at_once);
  if (m->sector_bytes < 0 || m->sector_bytes > m->line_bytes)
    FAULT(3267, "from 0 to LineBytes", "%s: sectors of %lld bytes, of lines of %lld", m->name,
          (long long)m->sector_bytes, (long long)m->line_bytes);
  if (m->value[0] && (m->kind != PB_MEM_REGISTERS || !m->from_vector[0] || !m->to_vector[0] || m->row_bytes % 4))
    FAULT(3208, "registers with FromVector and ToVector, of whole i32", "%s: its Value is '%s'", m->name, m->value);
  if (m->cached && m->line_bytes < 1) FAULT(3207, "let LineBytes = ...", "%s: a cached memory has lines", m->name);
}

void pb__check_dim(const pb_insn* insn, const pb_dim* d, const char* name, pb_place place, pb_diag* diag, int* faults) {
  if (d->min < 1 || d->max < d->min)
    FAULT(3210, "1 <= Min <= Max", "%s: dim '%s' runs from %d to %d", name, d->name, d->min, d->max);
  if (d->field >= 0 && d->max > pb_field_max(&insn->fields[d->field]))
    FAULT(3211, "widen the field, or lower the dim's largest extent", "%s: dim '%s' goes to %d, its field '%s' to %lld",
          name, d->name, d->max, insn->fields[d->field].name, (long long)pb_field_max(&insn->fields[d->field]));
  for (int k = 0; k + 1 < insn->dim_count; ++k)
    if (!strcmp(insn->dims[k].name, d->name)) FAULT(3212, NULL, "%s: two dims named '%s'", name, d->name);
}

// How many bits of every command say what it waits for, or what it signals.
static int token_bits(const pb_chip* chip, bool signals) {
  if (chip->fence || chip->wait_field) return 0;
  return pb_chip_counters(chip) * (chip->semaphore_count && !signals ? chip->semaphore_wait_bits : 1);
}

static void check_encoding(const pb_chip* chip, const pb_insn* insn, pb_place place, pb_diag* diag, int* faults) {
  int last = -1;
  for (int f = 0; f < insn->field_count; ++f) {
    const pb_field* field = &insn->fields[f];
    for (int b = 0; b < field->width; ++b) {
      if (field->bits[b] > last) last = field->bits[b];
      if (field->bits[b] < 0 && field->state_writer == -1) {
        // A field may be cut short only when the instruction never uses it.
        bool whole = false;
        for (int c = 0; c < field->width; ++c) whole |= field->bits[c] >= 0;
        if (whole)
          FAULT(3220, "encode every bit", "%s: bit %d of field '%s' is not in Inst", insn->name, b, field->name);
        break;
      }
    }
  }
  for (int b = 0; b < PB_COMMAND_BITS; ++b)
    if (insn->fixed_mask[b / 8] >> b % 8 & 1 && b > last) last = b;
  if (chip->control == PB_CONTROL_QUEUES && last >= chip->command_bytes * 8)
    FAULT(3221, "raise CommandBytes", "%s: its encoding needs bit %d, a command has %d", insn->name, last,
          chip->command_bytes * 8);
  for (int side = 0; side < 2; ++side)
    for (int k = 0; k < token_bits(chip, side); ++k) {
      int bit = (side ? chip->signal_bit : chip->wait_bit) + k;
      bool taken = bit < PB_COMMAND_BITS && insn->fixed_mask[bit / 8] >> bit % 8 & 1;
      for (int f = 0; f < insn->field_count; ++f)
        for (int b = 0; b < insn->fields[f].width; ++b) taken |= insn->fields[f].bits[b] == bit;
      if (taken)
        FAULT(3222, "move the field, or WaitBit and SignalBit", "%s: bit %d is also a token bit", insn->name, bit);
    }
}

static bool field_encoded(const pb_insn* insn, int f) {
  return insn->fields[f].bits[0] >= 0 || insn->fields[f].state_writer >= 0;
}

static void need_field(const pb_insn* insn, int f, const char* what, pb_place place, pb_diag* diag, int* faults) {
  if (f >= 0 && !field_encoded(insn, f))
    FAULT(3223, "let Inst{..} = field, or a StateField", "%s: field '%s' carries %s but is not encoded", insn->name,
          insn->fields[f].name, what);
}

// A product of sizes, or the largest number when it is past that.
static int64_t times(int64_t a, int64_t b) {
  int64_t product;
  return __builtin_mul_overflow(a, b, &product) ? INT64_MAX : product;
}

// Where the last window of a memory of so many bytes can begin.
static int64_t last_place(const pb_insn* insn, const pb_operand* w, int64_t bytes) {
  int64_t step = pb_base_unit(insn, w);
  return (bytes / step - 1) * step;
}

static void check_window(const pb_chip* chip, const pb_insn* insn, const pb_operand* w, pb_place place, pb_diag* diag,
                         int* faults) {
  const pb_memory* m = &chip->memories[w->memory];
  int bytes = (int)pb_bytes_of(w->type, 1);
  if (insn->emit) {
    int64_t whole = bytes;
    for (int k = 0; k < w->rank; ++k) whole *= insn->dims[w->dims[k]].max;
    if (m->kind == PB_MEM_REGISTERS && whole != m->row_bytes)
      FAULT(3246, "whole registers", "%s: operand '%s' has %lld bytes, a register of %s has %lld", insn->name, w->name,
            (long long)whole, m->name, (long long)m->row_bytes);
    return;
  }
  if (!insn->fields[w->base].hidden) need_field(insn, w->base, "a base", place, diag, faults);
  need_field(insn, w->slot, "a slot", place, diag, faults);
  if (w->slot >= 0 && chip->arguments <= 16 && pb_field_max(&insn->fields[w->slot]) < chip->arguments - 1)
    FAULT(3258, "widen the field, or lower Arguments", "%s: field '%s' cannot name the last of %d arguments",
          insn->name, insn->fields[w->slot].name, chip->arguments);
  if (pb_is_outside(m) && w->slot < 0)
    FAULT(3230, "let Slot = \"arg\"", "%s: window '%s' is on %s and has no argument slot", insn->name, w->name,
          w->memory == chip->system_memory ? "the system's memory" : m->name);
  if (!pb_is_outside(m) && w->slot >= 0)
    FAULT(3231, NULL, "%s: window '%s' has an argument slot but is not on the system's memory", insn->name, w->name);
  if (w->unit < 1)
    FAULT(3232, "a positive number of bytes", "%s: window '%s' has units of %lld bytes", insn->name, w->name,
          (long long)w->unit);
  else if (w->slot < 0 && times(pb_field_max(&insn->fields[w->base]), w->unit) < last_place(insn, w, m->bytes))
    FAULT(3233, "widen the field", "%s: field '%s' cannot reach the end of %s", insn->name, insn->fields[w->base].name,
          m->name);
  int64_t row = bytes;
  for (int k = 0; k < w->rank; ++k) {
    if (w->strides[k].kind == PB_STRIDE_ELEM)
      row = w->type == PB_I4 ? pb_bytes_of(PB_I4, insn->dims[w->dims[k]].max) : times(row, insn->dims[w->dims[k]].max);
    if (w->strides[k].kind == PB_STRIDE_FIELD) need_field(insn, w->strides[k].field, "a stride", place, diag, faults);
    for (int j = 0; j < k; ++j)
      if (w->dims[j] == w->dims[k]) FAULT(3234, NULL, "%s: window '%s' walks a dim twice", insn->name, w->name);
    if (w->has_box && w->box_lo[k] >= 0) {
      need_field(insn, w->box_lo[k], "a box", place, diag, faults);
      need_field(insn, w->box_hi[k], "a box", place, diag, faults);
      int64_t most = insn->dims[w->dims[k]].max;
      if (pb_field_max(&insn->fields[w->box_lo[k]]) < most || pb_field_max(&insn->fields[w->box_hi[k]]) < most)
        FAULT(3264, "widen the fields, or lower the dim's largest extent",
              "%s: the box of window '%s' does not reach the end of dim '%s', %lld", insn->name, w->name,
              insn->dims[w->dims[k]].name, (long long)most);
    }
  }
  if (w->has_box && w->fill >= 0) {
    need_field(insn, w->fill, "what is read outside a box", place, diag, faults);
    if (insn->fields[w->fill].width < pb_type_bits(w->type))
      FAULT(3265, "as many bits as the elements have", "%s: field '%s' has %d bits, what it fills has %d", insn->name,
            insn->fields[w->fill].name, insn->fields[w->fill].width, pb_type_bits(w->type));
  }
  if (!pb_is_outside(m) && w->unit == m->row_bytes && row > m->row_bytes && !pb_is_table(insn, w))
    FAULT(3235, "fewer lanes, or wider rows", "%s: window '%s' takes %lld bytes of a row of %s, which has %lld",
          insn->name, w->name, (long long)row, m->name, (long long)m->row_bytes);
  if (w->has_box && w->written) FAULT(3236, NULL, "%s: window '%s' is written and has a box", insn->name, w->name);
  if (!w->read && !w->written)
    FAULT(3237, "use it in Semantics", "%s: operand '%s' is neither read nor written", insn->name, w->name);
}

// A table's dim is no loop: its window is only looked up, and no other walks it.
static void check_tables(const pb_insn* insn, pb_place place, pb_diag* diag, int* faults) {
  for (int o = 0; o < insn->operand_count; ++o) {
    const pb_operand* w = &insn->operands[o];
    bool table = w->memory >= 0 && pb_is_table(insn, w);
    for (int k = 0; w->memory >= 0 && k < w->rank; ++k)
      if (insn->dims[w->dims[k]].table && !table)
        FAULT(3280, "a dim of the table's own", "%s: window '%s' walks '%s', along which a table is looked up",
              insn->name, w->name, insn->dims[w->dims[k]].name);
    for (int e = 0; table && e < insn->expr_count; ++e)
      if (insn->expr[e].op == PB_OP_LOAD && insn->expr[e].operand == o && insn->expr[e].args[0] < 0)
        FAULT(3281, "(lookup $t, index)", "%s: table '%s' is read without an index", insn->name, w->name);
    if (table && w->rows < 0 && (w->written || w->has_box || w->strides[0].kind != PB_STRIDE_ELEM))
      FAULT(3282, "neighbouring elements, read alone", "%s: table '%s' is written, boxed, or has gaps", insn->name,
            w->name);
  }
}

// Smallest tile: every fixed dim once, variable dims at their least.
static void check_least_tile(const pb_chip* chip, const pb_insn* insn, const pb_operand* w, pb_place place,
                             pb_diag* diag, int* faults) {
  int64_t bytes = pb_bytes_of(w->type, 1);
  for (int k = 0; k < w->rank; ++k) {
    int64_t least = insn->dims[w->dims[k]].min;
    bytes = times(bytes, w->type == PB_I4 && k + 1 == w->rank ? pb_bytes_of(PB_I4, least) : least);
  }
  if (bytes > chip->memories[w->memory].bytes)
    FAULT(3238, "raise Bytes", "%s: not one tile of window '%s' (%lld bytes) fits in %s", insn->name, w->name,
          (long long)bytes, chip->memories[w->memory].name);
}

// Whether the instruction's own operands or dims need the field.
static bool uses_field(const pb_insn* insn, int field) {
  if (insn->broadcast == field) return true;
  for (int d = 0; d < insn->dim_count; ++d)
    if (insn->dims[d].field == field) return true;
  for (int o = 0; o < insn->operand_count; ++o) {
    const pb_operand* w = &insn->operands[o];
    if (w->base == field || (w->memory >= 0 && w->take == field) || w->slot == field ||
        (w->has_box && w->fill == field))
      return true;
    for (int k = 0; w->memory >= 0 && k < w->rank; ++k)
      if ((w->strides[k].kind == PB_STRIDE_FIELD && w->strides[k].field == field) ||
          (w->has_box && w->box_lo[k] >= 0 && (w->box_lo[k] == field || w->box_hi[k] == field)))
        return true;
  }
  return false;
}

// A command that writes state goes before those that need it in their queue.
static void check_state(const pb_chip* chip, const pb_insn* insn, pb_place place, pb_diag* diag, int* faults) {
  for (int f = 0; f < insn->field_count; ++f) {
    if (insn->fields[f].state_writer < 0 || insn->fields[f].state_field < 0) continue;
    const pb_insn* writer = &chip->insns[insn->fields[f].state_writer];
    if (writer->queue != insn->queue)
      FAULT(3244, "a writer in the same queue", "%s: its field '%s' is state that %s writes from another queue",
            insn->name, insn->fields[f].name, writer->name);
    const pb_field *field = &insn->fields[f], *source = &writer->fields[field->state_field];
    bool whole = true;
    for (int b = 0; b < source->width; ++b) whole &= source->bits[b] >= 0;
    if (!whole)
      FAULT(3268, "let Inst{..} = field in the writer", "%s: its field '%s' is state, but %s does not encode '%s'",
            insn->name, field->name, writer->name, source->name);
    if (source->width != field->width || source->is_signed != field->is_signed)
      FAULT(3269, "the same width and sign on both sides",
            "%s: its field '%s' has %d bits%s, but '%s' of %s, where it stands, has %d%s", insn->name, field->name,
            field->width, field->is_signed ? " with sign" : "", source->name, writer->name, source->width,
            source->is_signed ? " with sign" : "");
    if (uses_field(writer, insn->fields[f].state_field))
      FAULT(3245, "a field of its own, which the writer's windows and dims do not use",
            "%s: its field '%s' is state, but %s uses the field that it comes from itself", insn->name,
            insn->fields[f].name, writer->name);
  }
}

static bool used_in_semantics(const pb_insn* insn, int operand) {
  for (int n = 0; n < insn->expr_count; ++n)
    if (insn->expr[n].op == PB_OP_IMM && insn->expr[n].operand == operand) return true;
  return operand == insn->acc_flag;
}

static bool goes_out(const pb_chip* chip, const pb_insn* insn) {
  return pb_is_outside(&chip->memories[insn->operands[insn->dest].memory]);
}

// A command that copies bits between the chip and the memory outside, and is not said to be a mover, where no other is
// one that way: nobody would bring operands, or results.
static bool is_lost_mover(const pb_chip* chip, const pb_insn* insn) {
  const pb_expr_node* value = &insn->expr[0];
  if (insn->emit || insn->mover || insn->reduce != PB_SET || insn->expr_count != 1 || value->op != PB_OP_LOAD)
    return false;
  const pb_operand *from = &insn->operands[value->operand], *to = &insn->operands[insn->dest];
  if (from->memory < 0 || to->memory < 0 || from->type != to->type ||
      pb_is_outside(&chip->memories[from->memory]) == goes_out(chip, insn))
    return false;
  for (int k = 0; k < chip->insn_count; ++k)
    if (chip->insns[k].mover && goes_out(chip, &chip->insns[k]) == goes_out(chip, insn)) return false;
  return true;
}

// Types that commands have a meaning for: what the generated machine computes with. An instruction of a core is LLVM's.
static void check_type(const pb_chip* chip, const pb_insn* insn, const pb_operand* operand, pb_place place,
                       pb_diag* diag, int* faults) {
  bool window = operand->memory >= 0, half = pb_type_is_narrow(operand->type);
  if (chip->control == PB_CONTROL_QUEUES && (half || (window && operand->type == PB_I1)))
    FAULT(3272, window ? "I8, I16, I32, BF16, F16, F8E4M3, F8E5M2 or F32" : "I1, I8, I16, I32 or F32",
          "%s: %s '%s' has type %s, which no command of a chip with queues computes with yet", insn->name,
          window ? "window" : "immediate", operand->name, pb_type_name(operand->type));
  if (insn->emit && half && pb_type_bits(operand->type) == 8)
    FAULT(3273, "BF16, F16 or F32", "%s: operand '%s' has type %s, which commands of queues alone compute with",
          insn->name, operand->name, pb_type_name(operand->type));
}

void pb__check_insn(const pb_chip* chip, const pb_insn* insn, pb_place place, pb_diag* diag, int* faults) {
  check_encoding(chip, insn, place, diag, faults);
  for (int o = 0; o < insn->operand_count; ++o) {
    const pb_operand* operand = &insn->operands[o];
    for (int p = 0; p < o; ++p)
      if (!strcmp(insn->operands[p].name, operand->name))
        FAULT(3239, NULL, "%s: two operands named '%s'", insn->name, operand->name);
    check_type(chip, insn, operand, place, diag, faults);
    if (operand->memory >= 0) {
      check_window(chip, insn, operand, place, diag, faults);
      check_least_tile(chip, insn, operand, place, diag, faults);
    } else {
      need_field(insn, operand->base, "an immediate", place, diag, faults);
      bool plain = insn->fields[operand->base].form == PB_FORM_PLAIN; // a derived one says few numbers on purpose
      if (plain && insn->fields[operand->base].width < pb_type_bits(operand->type))
        FAULT(3266, "as many bits as the type has", "%s: field '%s' has %d bits, an immediate of %s has %d", insn->name,
              operand->name, insn->fields[operand->base].width, pb_type_name(operand->type),
              pb_type_bits(operand->type));
      if (!used_in_semantics(insn, o))
        FAULT(3237, "use it in Semantics", "%s: operand '%s' is not used", insn->name, operand->name);
    }
  }
  for (int d = 0; d < insn->dim_count; ++d)
    need_field(insn, insn->dims[d].field, "a dim's extent", place, diag, faults);
  check_tables(insn, place, diag, faults);
  if (insn->mover && (insn->reduce != PB_SET || insn->expr_count != 1 || insn->expr[0].op != PB_OP_LOAD))
    FAULT(3240, "let Mover = 0, or (set $dst, $src)", "%s: a mover that does more than move", insn->name);
  if (is_lost_mover(chip, insn))
    FAULT(3387, "let Mover = 1", "%s copies between %s and %s and is no mover: nothing would be brought by it",
          insn->name, chip->memories[insn->operands[insn->expr[0].operand].memory].name,
          chip->memories[insn->operands[insn->dest].memory].name);
  if (insn->buffer < 0 || (insn->buffer && !insn->mover))
    FAULT(3243, "0 or more, for movers", "%s: Buffer is %lld", insn->name, (long long)insn->buffer);
  check_state(chip, insn, place, diag, faults);
  if (insn->latency < 0 || insn->latency > PB_MOST_LATENCY)
    FAULT(3241, "0 to 1048576", "%s: Latency is %d", insn->name, insn->latency);
  if (insn->units < 1 || insn->units > 64) FAULT(3249, "1 to 64", "%s: Units is %d", insn->name, insn->units);
  int64_t least[PB_MAX_INSN_DIMS] = {0}; // cycles only grow with the extents
  for (int d = 0; d < insn->dim_count; ++d) least[d] = insn->dims[d].min;
  if (insn->cost_count && pb_cycles(insn, least) < 1) FAULT(3242, NULL, "%s: its cycles come to nothing", insn->name);
}

static pb_place place_of(const pb_insn* insn) {
  return (pb_place){.file = insn->file, .line = insn->line, .column = 1};
}

// Two commands must differ in a bit that both fix.
static void check_opcodes(const pb_chip* chip, pb_diag* diag, int* faults) {
  const pb_insn* more[2]; // of no queue
  int count = chip->insn_count;
  if (chip->loop) more[count++ - chip->insn_count] = chip->loop;
  if (chip->fence) more[count++ - chip->insn_count] = chip->fence;
  for (int i = 0; i < count; ++i)
    for (int j = i + 1; j < count; ++j) {
      const pb_insn* a = i < chip->insn_count ? &chip->insns[i] : more[i - chip->insn_count];
      const pb_insn* b = j < chip->insn_count ? &chip->insns[j] : more[j - chip->insn_count];
      if (a->emit || b->emit) continue;
      bool differ = false;
      for (int k = 0; k < PB_COMMAND_BITS / 8; ++k)
        differ |= ((a->fixed_value[k] ^ b->fixed_value[k]) & a->fixed_mask[k] & b->fixed_mask[k]) != 0;
      pb_place place = place_of(b);
      if (!differ) FAULT(3250, "give one another opcode", "%s and %s have the same encoding", a->name, b->name);
    }
}

// Everything that is read must be written by something, and what is made must be able to leave.
static void check_reach(const pb_chip* chip, pb_diag* diag, int* faults) {
  if (chip->control != PB_CONTROL_QUEUES) return; // loads and stores of code reach everything
  for (int i = 0; i < chip->insn_count; ++i)
    for (int o = 0; o < chip->insns[i].operand_count; ++o) {
      const pb_operand* operand = &chip->insns[i].operands[o];
      if (operand->memory < 0 || pb_is_outside(&chip->memories[operand->memory]) || !operand->read) continue;
      bool filled = false;
      for (int j = 0; j < chip->insn_count; ++j)
        filled |= chip->insns[j].operands[chip->insns[j].dest].memory == operand->memory;
      pb_place place = place_of(&chip->insns[i]);
      if (!filled)
        FAULT(3251, "add a mover into it", "%s: nothing writes %s, so operand '%s' cannot be reached",
              chip->insns[i].name, chip->memories[operand->memory].name, operand->name);
    }
  bool leaves = false;
  for (int i = 0; i < chip->insn_count; ++i)
    leaves |= chip->insns[i].operands[chip->insns[i].dest].memory == chip->system_memory;
  pb_place place = chip->place;
  if (!leaves && chip->insn_count)
    FAULT(3252, "add a mover to it", "no instruction writes %s: results cannot leave the chip",
          chip->memories[chip->system_memory].name);
  if (!chip->insn_count && chip->control == PB_CONTROL_QUEUES)
    FAULT(3253, "def MYINSN : Instruction<QUEUE> { ... }", "no instructions");
}

// Nobody runs commands of queues on a chip that has none.
static void check_control(const pb_chip* chip, pb_diag* diag, int* faults) {
  pb_place place = chip->place;
  for (int i = 0; i < chip->insn_count && chip->control != PB_CONTROL_QUEUES; ++i) {
    if (chip->insns[i].emit) continue;
    FAULT(3247, "let Control = \"queues\", or a CoreInstruction for each",
          "Control is \"%s\", but %s is a command of a queue", chip->control == PB_CONTROL_GRID ? "grid" : "threads",
          chip->insns[i].name);
    return;
  }
}

static void check_functions(const pb_chip* chip, pb_diag* diag, int* faults) {
  static const struct {
    pb_op op;
    const char* name;
  } needs[] = {{PB_OP_EXP2, "exp2"}, {PB_OP_RECIP, "recip"}, {PB_OP_RSQRT, "rsqrt"}};
  for (int i = 0; i < chip->insn_count; ++i)
    for (int e = 0; e < chip->insns[i].expr_count; ++e)
      for (int k = 0; k < 3; ++k) {
        if (chip->insns[i].expr[e].op != needs[k].op) continue;
        bool there = false;
        for (int f = 0; f < chip->function_count; ++f) there |= !strcmp(chip->functions[f].name, needs[k].name);
        pb_place place = place_of(&chip->insns[i]);
        if (!there)
          FAULT(3254, "def : Function { let Name = ...; }", "%s uses %s, of which there is no Function",
                chip->insns[i].name, needs[k].name);
      }
}

static void check_loop(const pb_chip* chip, pb_diag* diag, int* faults) {
  if (!chip->loop) return;
  pb_place place = place_of(chip->loop);
  check_encoding(chip, chip->loop, place, diag, faults);
  need_field(chip->loop, chip->loop_iterations, "the number of iterations", place, diag, faults);
  need_field(chip->loop, chip->loop_body, "the number of commands", place, diag, faults);
}

static void check_fence(const pb_chip* chip, pb_diag* diag, int* faults) {
  if (!chip->fence) return;
  pb_place place = place_of(chip->fence);
  check_encoding(chip, chip->fence, place, diag, faults);
  need_field(chip->fence, chip->fence_wait, "the queues that it waits for", place, diag, faults);
}

void pb__check_chip(const pb_chip* chip, pb_diag* diag, int* faults) {
  pb_place place = chip->place;
  if (chip->command_bytes < 0 || chip->command_bytes > PB_COMMAND_BITS / 8)
    FAULT(3255, "4 to 32", "CommandBytes is %d", chip->command_bytes);
  if (chip->command_port && chip->control != PB_CONTROL_QUEUES)
    FAULT(3290, "leave it out, or Control = \"queues\"", "CommandPort is set, and no queue fetches commands");
  if (chip->control == PB_CONTROL_QUEUES) {
    if (chip->command_bytes < 4) FAULT(3255, "4 to 32", "CommandBytes is %d", chip->command_bytes);
    place = chip->tokens_place;
    if (chip->wait_bit < chip->signal_bit + token_bits(chip, 1) &&
        chip->signal_bit < chip->wait_bit + token_bits(chip, 0))
      FAULT(3256,
            chip->semaphore_count ? "WaitBits for each semaphore on one side, a bit on the other"
                                  : "a bit for each queue on both sides",
            "WaitBit %d and SignalBit %d overlap", chip->wait_bit, chip->signal_bit);
  }
  place = chip->place;
  if (chip->arguments < 1 || chip->arguments > 16) FAULT(3257, "1 to 16", "Arguments is %d", chip->arguments);
  check_control(chip, diag, faults);
  check_opcodes(chip, diag, faults);
  pb__check_uses(chip, diag, faults);
  pb__check_derived(chip, diag, faults);
  pb__check_order(chip, diag, faults);
  pb__check_banks(chip, diag, faults);
  check_loop(chip, diag, faults);
  check_fence(chip, diag, faults);
  pb__check_small_codes(chip, diag, faults);
  pb__check_outside(chip, diag, faults);
  pb__check_gathers(chip, diag, faults);
  pb__check_palettes(chip, diag, faults);
  pb__check_two_of_four(chip, diag, faults);
  pb__check_broadcasts(chip, diag, faults);
  check_reach(chip, diag, faults);
  check_functions(chip, diag, faults);
}
