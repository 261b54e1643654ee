// Derived fields say few of the numbers between their least and largest one. What uses them must get by with those: the
// compiler picks the numbers, and what cannot be said at all is a fault of the description.
#include "tdl/check/check.h"

typedef struct checked {
  const pb_chip* chip;
  const pb_insn* insn;
  pb_diag* diag;
  int* faults;
  uint32_t used; // fields
} checked;

static void fault(const checked* c, int field, const char* what, const char* hint) {
  static const char* const holds[PB_FORMS] = {"its number", "a number less another", "a share of its number",
                                              "a logarithm"};
  ++*c->faults;
  (void)pb_error(c->diag, (pb_place){.file = c->insn->file, .line = c->insn->line, .column = 1}, 3283, hint,
                 "%s: field '%s' is %s and holds %s", c->insn->name, c->insn->fields[field].name, what,
                 holds[c->insn->fields[field].form]);
}

// `forms`: a bit for each that this use can do with.
static void use(checked* c, int field, const char* what, uint32_t forms, const char* hint) {
  if (field < 0) return;
  c->used |= 1u << field;
  pb_form form = c->insn->fields[field].form;
  if (form && !(forms >> form & 1)) fault(c, field, what, hint);
}

static const uint32_t minus = 1u << PB_FORM_MINUS, scaled = 1u << PB_FORM_SCALED, log2_ = 1u << PB_FORM_LOG2;
static const char plain[] = "the number itself";

static void check_dim(checked* c, const pb_dim* d) {
  use(c, d->field, "an extent", minus,
      "\"minus\"; of blocks a dim of their own: Dim<\"block\", 64, \"n\">, Dim<\"lane\", 16>");
  if (d->field < 0 || c->insn->fields[d->field].form != PB_FORM_MINUS ||
      d->min >= pb_field_min(&c->insn->fields[d->field]))
    return;
  ++*c->faults;
  (void)pb_error(c->diag, (pb_place){.file = c->insn->file, .line = c->insn->line, .column = 1}, 3284,
                 "subtract less, or raise the dim's least extent", "%s: dim '%s' begins at %d, its field '%s' at %lld",
                 c->insn->name, d->name, d->min, c->insn->fields[d->field].name,
                 (long long)pb_field_min(&c->insn->fields[d->field]));
}

static void check_operand(checked* c, const pb_operand* o) {
  if (o->memory < 0) {
    bool whole = o->type != PB_F32 && o->type != PB_I1;
    use(c, o->base, whole ? "an immediate" : "an immediate of bits", whole ? minus | scaled | log2_ : 0, plain);
    return;
  }
  use(c, o->base, "a base", scaled, "\"scaled\", which 0 is too");
  use(c, o->take, "a flag", 0, plain);
  use(c, o->slot, "an argument slot", 0, plain);
  use(c, o->fill, "what fills", 0, plain);
  for (int k = 0; k < o->rank; ++k) {
    if (o->strides[k].kind == PB_STRIDE_FIELD) use(c, o->strides[k].field, "a stride", minus | scaled | log2_, plain);
    if (!o->has_box || o->box_lo[k] < 0) continue;
    use(c, o->box_lo[k], "a box", 0, "the number itself: a box may be empty");
    use(c, o->box_hi[k], "a box", 0, "the number itself: a box may be empty");
  }
}

// Commands give fields that say nothing any number; a form makes no sense there.
static void check_unused(checked* c) {
  for (int i = 0; i < c->chip->insn_count; ++i)
    for (int f = 0; f < c->chip->insns[i].field_count; ++f) {
      const pb_field* field = &c->chip->insns[i].fields[f]; // the command of loops has no number, and writes no state
      if (field->state_writer >= 0 && field->state_writer == c->insn->index) c->used |= 1u << field->state_field;
    }
  for (int f = 0; f < c->insn->field_count; ++f) // another's state is read there
    if (c->insn->state_of < 0 && c->insn->fields[f].form && !(c->used >> f & 1))
      fault(c, f, "not used", "use it, or leave it out of Derived");
}

void pb__check_derived(const pb_chip* chip, pb_diag* diag, int* faults) {
  for (int i = 0; i < chip->insn_count; ++i) {
    checked c = {.chip = chip, .insn = &chip->insns[i], .diag = diag, .faults = faults};
    if (c.insn->emit) continue;
    for (int d = 0; d < c.insn->dim_count; ++d) check_dim(&c, &c.insn->dims[d]);
    for (int o = 0; o < c.insn->operand_count; ++o) check_operand(&c, &c.insn->operands[o]);
    check_unused(&c);
  }
  if (!chip->loop) return;
  checked c = {.chip = chip, .insn = chip->loop, .diag = diag, .faults = faults};
  use(&c, chip->loop_iterations, "the number of iterations", minus, "\"minus\"");
  use(&c, chip->loop_body, "the number of commands", minus, "\"minus\"");
  check_unused(&c);
}
