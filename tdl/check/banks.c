// Memories whose banks are taken in turn: who fills them, who takes them, and that what is filled whole can be read
// whole. Where commands do not name a bank, their order says which one is meant: so one queue fills and one queue
// takes. What may go on beside other commands; and what may write another command's state.
#include "tdl/check/check.h"

#include <string.h>

typedef struct banks {
  const pb_chip* chip;
  const pb_memory* memory;
  int index;
  const pb_insn *fills, *takes; // the first that does, NULL: none
  pb_diag* diag;
  int* faults;
} banks;

#define FAULT(b, where, code, hint, ...) (++*(b)->faults, (void)pb_error((b)->diag, where, code, hint, __VA_ARGS__))

static pb_place place_of(const pb_insn* insn) {
  return (pb_place){.file = insn->file, .line = insn->line, .column = 1};
}

// Bytes from a bank's first on that the window touches at its largest; -1: it begins before it.
static int64_t reach_of(const banks* b, const pb_insn* insn, const pb_operand* w) {
  int64_t reach = pb_type_bits(w->type) / 8;
  for (int k = 0; k < w->rank; ++k) {
    int64_t stride = pb_fixed_stride(b->chip, w, k), steps = insn->dims[w->dims[k]].max - 1, more;
    if (stride < 0 && steps > 0) return -1;
    if (__builtin_mul_overflow(stride, steps, &more) || __builtin_add_overflow(reach, more, &reach)) return INT64_MAX;
  }
  return reach;
}

static void check_layout(const banks* b, const pb_insn* insn, const pb_operand* w) {
  int64_t bank = b->memory->bytes / b->memory->banks;
  for (int k = 0; k < w->rank; ++k)
    if (w->strides[k].kind == PB_STRIDE_FIELD) {
      FAULT(b, place_of(insn), 3293, "\"row\", \"elem\", \"none\" or a number: a bank has one layout",
            "%s: window '%s' is on banks of %s and has a stride in the field '%s'", insn->name, w->name,
            b->memory->name, insn->fields[w->strides[k].field].name);
      return;
    }
  int64_t reach = reach_of(b, insn, w);
  if (reach < 0 || reach > bank)
    FAULT(b, place_of(insn), 3294, "smaller dims, or larger banks: Bytes / Banks",
          "%s: window '%s' reaches past the end of a bank of %s, which has %lld bytes", insn->name, w->name,
          b->memory->name, (long long)bank);
  if (w->unit != b->memory->row_bytes)
    FAULT(b, place_of(insn), 3295, "leave it out", "%s: window '%s' is on banks of %s, where nothing has a unit",
          insn->name, w->name, b->memory->name);
  if (w->has_box)
    FAULT(b, place_of(insn), 3295, "leave it out", "%s: window '%s' is on banks of %s, and has a box", insn->name,
          w->name, b->memory->name);
}

static void check_fills(banks* b, const pb_insn* insn, const pb_operand* w) {
  if (w->take >= 0)
    FAULT(b, place_of(insn), 3296, "\"\": what is written is the next bank",
          "%s: window '%s' fills a bank of %s, and has the flag '%s'", insn->name, w->name, b->memory->name,
          insn->fields[w->take].name);
  if (insn->reduce != PB_SET)
    FAULT(b, place_of(insn), 3297, "(set $d, ...): what was in the bank is nobody's",
          "%s: window '%s' adds to a bank of %s", insn->name, w->name, b->memory->name);
  if (b->fills && b->fills->queue != insn->queue)
    FAULT(b, place_of(insn), 3298, "one queue: the order of its commands says which bank is next",
          "%s and %s fill banks of %s from two queues", b->fills->name, insn->name, b->memory->name);
  if (!b->fills) b->fills = insn;
}

static void check_takes(banks* b, const pb_insn* insn, const pb_operand* w) {
  const pb_field* flag = w->take >= 0 ? &insn->fields[w->take] : NULL;
  if (!flag)
    FAULT(b, place_of(insn), 3296, "its flag, bits<1>: 1 takes the next bank first",
          "%s: window '%s' reads a bank of %s, and has no flag as its Base", insn->name, w->name, b->memory->name);
  else if (flag->width != 1 || flag->is_signed || flag->form || flag->state_writer != -1 || flag->bits[0] < 0)
    FAULT(b, place_of(insn), 3296, "one bit of the command itself: bits<1>, and let Inst{..} = ...",
          "%s: window '%s' takes banks of %s by the field '%s', which is no flag", insn->name, w->name, b->memory->name,
          flag->name);
  if (b->takes && b->takes->queue != insn->queue)
    FAULT(b, place_of(insn), 3298, "one queue: the order of its commands says which bank is meant",
          "%s and %s take banks of %s from two queues", b->takes->name, insn->name, b->memory->name);
  if (!b->takes) b->takes = insn;
}

static void check_insn(banks* b, const pb_insn* insn) {
  int windows = 0;
  for (int o = 0; o < insn->operand_count; ++o) {
    const pb_operand* w = &insn->operands[o];
    if (w->memory != b->index || w->base < 0) continue;
    if (++windows == 2)
      FAULT(b, place_of(insn), 3299, "one: the others have no order",
            "%s: several windows on banks of %s, which are taken in turn", insn->name, b->memory->name);
    check_layout(b, insn, w);
    (w->written ? check_fills : check_takes)(b, insn, w);
  }
}

static void check_memory(const pb_chip* chip, int m, pb_diag* diag, int* faults) {
  banks b = {.chip = chip, .memory = &chip->memories[m], .index = m, .diag = diag, .faults = faults};
  if (!pb_in_banks(b.memory)) return;
  const char* kind = b.memory->kind == PB_MEM_SHADOW ? "shadow" : "fifo";
  if (chip->control != PB_CONTROL_QUEUES || pb_is_outside(b.memory) || b.memory->cached) {
    FAULT(&b, b.memory->place, 3292, "an addressed one",
          "%s: a memory of kind \"%s\" is on the chip, for commands of queues", b.memory->name, kind);
    return;
  }
  int most = b.memory->kind == PB_MEM_SHADOW ? 2 : PB_MAX_BANKS;
  if (b.memory->banks < 2 || b.memory->banks > most)
    FAULT(&b, b.memory->place, 3292, most == 2 ? "let Banks = 2" : "2 to 64",
          "%s: a memory of kind \"%s\" has %d banks", b.memory->name, kind, b.memory->banks);
  if (b.memory->banks < 1) return;
  for (int i = 0; i < chip->insn_count; ++i) check_insn(&b, &chip->insns[i]);
  for (int side = 0; side < 2; ++side) {
    const pb_insn* insn = side ? b.takes : b.fills;
    if (insn && insn->queue >= 0 && !chip->queues[insn->queue].in_order)
      FAULT(&b, place_of(insn), 3327, "let InOrder = 1 for its queue", "%s %s banks of %s in %s, which is not in order",
            insn->name, side ? "takes" : "fills", b.memory->name, chip->queues[insn->queue].name);
  }
  if (b.fills && !b.takes)
    FAULT(&b, place_of(b.fills), 3289, "an instruction with a window on it that is read",
          "%s fills banks of %s, which nothing takes", b.fills->name, b.memory->name);
}

static bool is_state(const pb_chip* chip, int writer, int field) {
  for (int i = 0; i < chip->insn_count; ++i)
    for (int f = 0; f < chip->insns[i].field_count; ++f)
      if (chip->insns[i].fields[f].state_writer == writer &&
          (field < 0 || chip->insns[i].fields[f].state_field == field))
        return true;
  return false;
}

// Another instruction's state is written whole, and nothing else with it.
static void check_state_of(const pb_chip* chip, const pb_insn* insn, pb_diag* diag, int* faults) {
  banks b = {.chip = chip, .diag = diag, .faults = faults};
  if (insn->state_of < 0) return;
  const pb_insn* of = &chip->insns[insn->state_of];
  const char *name = insn->name, *whose = of->name;
  if (insn->operand_count || insn->queue != of->queue || of->state_of >= 0)
    FAULT(&b, place_of(insn), 3313, "let Operands = (ins), in its queue",
          "%s writes the state of %s, and is not a command that does that alone", name, whose);
  if (is_state(chip, insn->index, -1))
    FAULT(&b, place_of(insn), 3314, "the fields of one of the two in every StateField",
          "%s writes the state of %s, and is named as a writer itself", name, whose);
  if (pb_state_alone(chip, of) != insn)
    FAULT(&b, place_of(insn), 3315, "one", "%s and %s both write the state of %s", pb_state_alone(chip, of)->name, name,
          whose);
  for (int f = 0; f < of->field_count; ++f) {
    bool said = false;
    for (int g = 0; g < insn->field_count; ++g) said |= insn->fields[g].state_of == f && insn->fields[g].bits[0] >= 0;
    if (said != is_state(chip, of->index, f))
      FAULT(&b, place_of(insn), 3316, "the fields that StateFields name, all of them",
            said ? "%s writes '%s' of %s, which is nobody's state" : "%s writes the state of %s without '%s'", name,
            said ? of->fields[f].name : whose, said ? whose : of->fields[f].name);
  }
}

static void check_beside(const pb_chip* chip, const pb_insn* insn, pb_diag* diag, int* faults) {
  banks b = {.chip = chip, .diag = diag, .faults = faults};
  if (!insn->beside) return;
  bool fills = insn->operand_count && insn->operands[insn->dest].memory >= 0 &&
               pb_in_banks(&chip->memories[insn->operands[insn->dest].memory]);
  if (!fills && insn->operand_count)
    FAULT(&b, place_of(insn), 3310,
          "let Beside = 0; or fill a memory of kind \"shadow\" or \"fifo\", or write state alone",
          "%s goes on beside the commands behind it, which could read what it has yet to write", insn->name);
  if (insn->queue >= 0 && !chip->queues[insn->queue].in_order)
    FAULT(&b, place_of(insn), 3328, "leave Beside out, or let InOrder = 1",
          "%s goes on beside the commands behind it, as all in %s do", insn->name, chip->queues[insn->queue].name);
  for (int o = 0; o < insn->operand_count; ++o)
    if (insn->operands[o].memory >= 0 && pb_is_outside(&chip->memories[insn->operands[o].memory]))
      FAULT(&b, place_of(insn), 3311, "a queue of its own", "%s: operand '%s' is in %s, and Beside is set", insn->name,
            insn->operands[o].name, chip->memories[insn->operands[o].memory].name);
}

void pb__check_banks(const pb_chip* chip, pb_diag* diag, int* faults) {
  for (int m = 0; m < chip->memory_count; ++m) check_memory(chip, m, diag, faults);
  for (int i = 0; i < chip->insn_count; ++i) {
    if (chip->insns[i].emit) continue;
    check_beside(chip, &chip->insns[i], diag, faults);
    check_state_of(chip, &chip->insns[i], diag, faults);
  }
  banks b = {.chip = chip, .diag = diag, .faults = faults};
  if (chip->unit_count > PB_CORE_QUEUES)
    FAULT(&b, chip->tokens_place, 3312, "fewer queues with commands that go on beside others",
          "%d queues and units beside them, more than %d", chip->unit_count, PB_CORE_QUEUES);
}
