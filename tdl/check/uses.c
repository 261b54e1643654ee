// One use for each encoded field. A command has one number in a field; the compiler sets it, and the machine and the
// RTL read it, for one purpose. Strides of several windows may share one on purpose, as may extents: a command is found
// where all of them are the same number. The language has no meaning for a source and a destination on one base, or for
// a loop whose iterations are its body's length.
#include "tdl/check/check.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { MOST_FIELDS = 32, MOST_TEXT = 160 };

// What several uses of one field may be, when the description says so.
typedef enum purpose { ALONE, STRIDE, EXTENT } purpose;

typedef struct uses {
  const pb_chip* chip;
  const pb_insn* insn;
  pb_diag* diag;
  int* faults;
  char first[MOST_FIELDS][MOST_TEXT]; // what each field says, "": nothing yet
  purpose purposes[MOST_FIELDS];
  uint32_t again; // fields that say two things
} uses;

static pb_place place_of(const pb_insn* insn) {
  return (pb_place){.file = insn->file, .line = insn->line, .column = 1};
}

static void use(uses* u, int field, purpose p, const char* format, ...) __attribute__((format(printf, 4, 5)));
static void use(uses* u, int field, purpose p, const char* format, ...) {
  if (field < 0) return;
  char text[MOST_TEXT];
  va_list args;
  va_start(args, format);
  vsnprintf(text, sizeof text, format, args);
  va_end(args);
  if (!u->first[field][0]) {
    memcpy(u->first[field], text, sizeof text);
    u->purposes[field] = p;
    return;
  }
  u->again |= 1u << field;
  if (u->insn->fields[field].shared && p != ALONE && p == u->purposes[field]) return;
  ++*u->faults;
  (void)pb_error(u->diag, place_of(u->insn), 3260, "a field of its own for each", "%s: field '%s' is %s and %s",
                 u->insn->name, u->insn->fields[field].name, u->first[field], text);
}

static void use_window(uses* u, const pb_operand* w) {
  use(u, w->base, ALONE, "the base of window '%s'", w->name);
  use(u, w->take, ALONE, "the flag by which window '%s' takes a bank", w->name);
  use(u, w->slot, ALONE, "the argument slot of window '%s'", w->name);
  for (int k = 0; k < w->rank; ++k) {
    const char* dim = u->insn->dims[w->dims[k]].name;
    if (w->strides[k].kind == PB_STRIDE_FIELD)
      use(u, w->strides[k].field, STRIDE, "the stride of window '%s' along '%s'", w->name, dim);
    if (!w->has_box || w->box_lo[k] < 0) continue;
    use(u, w->box_lo[k], ALONE, "the least '%s' in the box of window '%s'", dim, w->name);
    use(u, w->box_hi[k], ALONE, "the end along '%s' of the box of window '%s'", dim, w->name);
  }
  if (w->has_box) use(u, w->fill, ALONE, "what window '%s' reads outside its box", w->name);
}

// Two fields that one field of a writer holds are one number as well; so is a field that stands in two places.
static void check_state(uses* u) {
  const pb_insn* insn = u->insn;
  for (int f = 0; f < insn->field_count; ++f) {
    const pb_field* field = &insn->fields[f];
    if (field->state_writer < 0) continue;
    if (field->bits[0] >= 0) {
      ++*u->faults;
      (void)pb_error(u->diag, place_of(insn), 3262, "one of both", "%s: field '%s' is in Inst and in State", insn->name,
                     field->name);
    }
    for (int g = 0; g < f; ++g) {
      const pb_field* other = &insn->fields[g];
      if (other->state_writer != field->state_writer || other->state_field != field->state_field) continue;
      const pb_insn* writer = &u->chip->insns[field->state_writer];
      ++*u->faults;
      (void)pb_error(u->diag, place_of(insn), 3261, "a field of its own for each",
                     "%s: fields '%s' and '%s' are both field '%s' of %s", insn->name, other->name, field->name,
                     writer->fields[field->state_field].name, writer->name);
    }
  }
}

// Dims that share a field are as long as each other, always.
static void check_ranges(uses* u) {
  for (int d = 0; d < u->insn->dim_count; ++d)
    for (int e = 0; e < d; ++e) {
      const pb_dim *a = &u->insn->dims[e], *b = &u->insn->dims[d];
      if (a->field < 0 || a->field != b->field || (a->min == b->min && a->max == b->max)) continue;
      ++*u->faults;
      (void)pb_error(u->diag, place_of(u->insn), 3288, "the same least and largest extent",
                     "%s: dims '%s' and '%s' share field '%s', and run from %d to %d and from %d to %d", u->insn->name,
                     a->name, b->name, u->insn->fields[a->field].name, a->min, a->max, b->min, b->max);
    }
}

static void check_insn(const pb_chip* chip, const pb_insn* insn, pb_diag* diag, int* faults) {
  uses u = {.chip = chip, .insn = insn, .diag = diag, .faults = faults};
  for (int d = 0; d < insn->dim_count; ++d)
    use(&u, insn->dims[d].field, EXTENT, "the extent of dim '%s'", insn->dims[d].name);
  for (int o = 0; o < insn->operand_count; ++o) {
    if (insn->operands[o].memory >= 0)
      use_window(&u, &insn->operands[o]);
    else
      use(&u, insn->operands[o].base, ALONE, "the immediate '%s'", insn->operands[o].name);
  }
  use(&u, insn->broadcast, ALONE, "the cores that '%s' reads for", insn->name);
  check_state(&u);
  check_ranges(&u);
  for (int f = 0; f < insn->field_count; ++f)
    if (insn->fields[f].shared && !(u.again >> f & 1)) {
      ++*faults;
      (void)pb_error(diag, place_of(insn), 3287, "leave it out of Shared", "%s: field '%s' is shared, and is %s alone",
                     insn->name, insn->fields[f].name, u.first[f][0] ? u.first[f] : "used by nothing");
    }
}

void pb__check_uses(const pb_chip* chip, pb_diag* diag, int* faults) {
  for (int i = 0; i < chip->insn_count; ++i)
    if (!chip->insns[i].emit) check_insn(chip, &chip->insns[i], diag, faults);
  if (!chip->loop) return;
  uses u = {.chip = chip, .insn = chip->loop, .diag = diag, .faults = faults};
  use(&u, chip->loop_iterations, ALONE, "how many iterations there are");
  use(&u, chip->loop_body, ALONE, "how many commands an iteration has");
}
