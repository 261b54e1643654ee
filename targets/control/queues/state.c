// Configuration state: some fields of an instruction stand not in its commands but in state that commands of another
// instruction write. The fewest writes: one stands before a command only when a value that the command needs is not
// there, and it then sets every field of its instruction to what the next command that needs the field wants, so that
// one write serves them all. Writer and readers share a queue, which is in order: no tokens are needed. A writer that
// computes something too (weights move in, and where the next sums go is said) says what the commands after it want;
// when they want another value before it comes again, it is run again, or a command that says it alone (StateOf).
//
// So commands are seen twice: first to learn what each field will be wanted to be, and until which command.
#include "targets/control/queues/unroll.h"

#include <stdlib.h>
#include <string.h>

enum { FIELDS = 32 };

// What a writer's fields hold or should hold; known: that matters to somebody.
typedef struct wanted {
  int64_t value[FIELDS];
  uint32_t known;
} wanted;

// All commands up to `last` that want the field want this value.
typedef struct run {
  size_t last;
  int64_t value;
} run;

typedef struct field_runs {
  run* runs; // in the order of commands
  size_t count, capacity, at;
} field_runs;

// The last command of a writer that computes something too.
typedef struct computed {
  pb_unrolled command;
  pb_region regions[PB_MAX_OPERANDS];
} computed;

struct pb_state_writer {
  const pb_chip* chip;
  pb_diag* diag;
  pb_taker to;
  size_t shown, taken; // commands
  pb_arena arena;
  field_runs (*ahead)[FIELDS]; // by instruction that writes
  wanted* state;               // the same
  computed* last;
  uint32_t* fields; // by instruction: its fields that others read as state
};

static bool uses_state(const pb_insn* insn) {
  for (int f = 0; f < insn->field_count; ++f)
    if (insn->fields[f].state_writer >= 0) return true;
  return false;
}

bool pb_chip_has_state(const pb_chip* chip) {
  for (int i = 0; i < chip->insn_count; ++i)
    if (uses_state(&chip->insns[i])) return true;
  return false;
}

// The fields of `writer` that others read as state.
static uint32_t state_fields(const pb_chip* chip, const pb_insn* writer) {
  uint32_t fields = 0;
  for (int i = 0; i < chip->insn_count; ++i)
    for (int f = 0; f < chip->insns[i].field_count; ++f)
      if (chip->insns[i].fields[f].state_writer == writer->index) fields |= 1u << chip->insns[i].fields[f].state_field;
  return fields;
}

// Adds what the command itself wants of `writer`; false: two of its fields want different values in one place.
static bool want(const pb_unrolled* traced, int writer, wanted* w) {
  const pb_command* c = &traced->command;
  uint32_t own = 0;
  for (int f = 0; f < c->insn->field_count; ++f) {
    const pb_field* field = &c->insn->fields[f];
    if (field->state_writer != writer || traced->idle >> f & 1) continue;
    if (own >> field->state_field & 1 && w->value[field->state_field] != c->values[f]) return false;
    w->value[field->state_field] = c->values[f];
    own |= 1u << field->state_field;
  }
  w->known |= own;
  return true;
}

// Whether the state holds what the command wants of `writer`.
static bool holds(const pb_unrolled* traced, int writer, const wanted* state) {
  const pb_command* c = &traced->command;
  for (int f = 0; f < c->insn->field_count; ++f) {
    const pb_field* field = &c->insn->fields[f];
    if (field->state_writer != writer || traced->idle >> f & 1) continue;
    if (!(state->known >> field->state_field & 1) || state->value[field->state_field] != c->values[f]) return false;
  }
  return true;
}

pb_state_writer* pb_state_start(const pb_chip* chip, pb_diag* diag) {
  pb_state_writer* w = calloc(1, sizeof *w);
  if (!w) pb_no_memory(sizeof *w);
  size_t insns = (size_t)chip->insn_count;
  w->chip = chip;
  w->diag = diag;
  w->ahead = pb_alloc_array(&w->arena, insns, sizeof *w->ahead);
  w->state = PB_NEW_ARRAY(&w->arena, wanted, insns);
  w->last = PB_NEW_ARRAY(&w->arena, computed, insns);
  w->fields = PB_NEW_ARRAY(&w->arena, uint32_t, insns);
  for (int i = 0; i < chip->insn_count; ++i) {
    w->fields[i] = state_fields(chip, &chip->insns[i]);
    for (int f = 0; f < chip->insns[i].field_count; ++f)
      w->state[i].value[f] = pb_field_nearest(&chip->insns[i].fields[f], 0);
  }
  return w;
}

pb_status pb_state_show(void* writer, const pb_unrolled* command) {
  pb_state_writer* w = writer;
  const pb_insn* insn = command->command.insn;
  for (int by = 0; by < w->chip->insn_count; ++by) {
    wanted own = {0};
    if (!w->fields[by]) continue;
    if (!want(command, by, &own))
      return pb_unsupported(w->diag, (pb_place){.what = command->nest}, 4106, NULL,
                            "%s needs two values in one field of %s", insn->name, w->chip->insns[by].name);
    for (int f = 0; f < FIELDS; ++f) {
      field_runs* r = &w->ahead[by][f];
      if (!(own.known >> f & 1)) continue;
      if (r->count && r->runs[r->count - 1].value == own.value[f])
        r->runs[r->count - 1].last = w->shown;
      else
        PB_PUSH(r->runs, r->count, r->capacity, ((run){w->shown, own.value[f]}));
    }
  }
  ++w->shown;
  return PB_OK;
}

void pb_state_begin(pb_state_writer* w, pb_taker to) {
  w->to = to;
  w->taken = 0;
}

// What the command at hand and those after it want of a writer, each field as the first of them wants it.
static wanted wanted_from_here(pb_state_writer* w, int by) {
  wanted plan = {0};
  for (int f = 0; f < FIELDS; ++f) {
    field_runs* r = &w->ahead[by][f];
    while (r->at < r->count && r->runs[r->at].last < w->taken) ++r->at;
    if (r->at == r->count) continue;
    plan.value[f] = r->runs[r->at].value;
    plan.known |= 1u << f;
  }
  return plan;
}

// What the state becomes, and with it the fields of the command that sets it.
static void set_fields(pb_command* c, uint32_t fields, const wanted* plan, wanted* state) {
  for (int f = 0; f < c->insn->field_count; ++f) {
    if (!(fields >> f & 1)) continue;
    if (plan->known >> f & 1) {
      state->value[f] = plan->value[f];
      state->known |= 1u << f;
    }
    c->values[f] = state->value[f];
  }
}

// What does not matter is what the state happens to hold: so the command reads as it will run.
static void take_idle(pb_unrolled* c, const wanted* state) {
  for (int f = 0; f < c->command.insn->field_count; ++f) {
    const pb_field* field = &c->command.insn->fields[f];
    if (field->state_writer >= 0 && c->idle >> f & 1)
      c->command.values[f] = state[field->state_writer].value[field->state_field];
  }
}

static bool computes(const pb_state_writer* w, int insn) {
  return w->chip->insns[insn].operand_count && w->fields[insn];
}

static pb_status put(pb_state_writer* w, pb_unrolled c, bool repeated);

// By the command that writes the state of `by` and does nothing else.
static pb_status provide_alone(pb_state_writer* w, const pb_unrolled* c, int by, const pb_insn* alone,
                               const wanted* plan) {
  pb_unrolled set = {.command = {.insn = &w->chip->insns[by]}, .nest = c->nest, .call = -1};
  set_fields(&set.command, w->fields[by], plan, &w->state[by]);
  pb_unrolled says = {.command = pb_unroll_blank(alone), .nest = c->nest, .call = -1};
  for (int f = 0; f < alone->field_count; ++f)
    if (alone->fields[f].state_of >= 0) says.command.values[f] = set.command.values[alone->fields[f].state_of];
  return w->to.take(w->to.user, &says);
}

// Sets what the command needs of one writer.
static pb_status provide(pb_state_writer* w, const pb_unrolled* c, int by, bool repeated) {
  wanted plan = {0};
  pb_unrolled set = {.command = {.insn = &w->chip->insns[by]}};
  if (repeated)
    want(c, by, &plan);
  else
    plan = wanted_from_here(w, by);
  const pb_insn* alone = computes(w, by) ? pb_state_alone(w->chip, &w->chip->insns[by]) : NULL;
  if (alone) return provide_alone(w, c, by, alone, &plan);
  if (computes(w, by)) {
    if (!w->last[by].command.command.insn)
      return pb_unsupported(
          w->diag, (pb_place){.what = c->nest}, 4107, "this is a bug in the compiler, not in the model",
          "%s needs what %s says, which has not run yet", c->command.insn->name, set.command.insn->name);
    set = w->last[by].command;
  }
  set.nest = c->nest;
  set_fields(&set.command, computes(w, by) ? w->fields[by] : UINT32_MAX, &plan, &w->state[by]);
  return put(w, set, true);
}

// Hands a command on behind all that it needs. Writers that compute come first: they need state of their own, which may
// be another than the command's. `repeated`: a write that a command of the kernel needs.
static pb_status put(pb_state_writer* w, pb_unrolled c, bool repeated) {
  for (int computing = 1; computing >= 0; --computing)
    for (int by = 0; by < w->chip->insn_count; ++by)
      if (w->fields[by] && computes(w, by) == computing && !holds(&c, by, &w->state[by]))
        PB_TRY(provide(w, &c, by, repeated));
  int self = c.command.insn->index;
  if (computes(w, self)) {
    wanted plan = wanted_from_here(w, self);
    computed* last = &w->last[self];
    if (!repeated) set_fields(&c.command, w->fields[self], &plan, &w->state[self]);
    if (c.regions != last->regions) memcpy(last->regions, c.regions, sizeof *c.regions * (size_t)c.region_count);
    c.regions = last->regions;
    last->command = c;
  }
  take_idle(&c, w->state);
  return w->to.take(w->to.user, &c);
}

pb_status pb_state_take(void* writer, const pb_unrolled* command) {
  pb_state_writer* w = writer;
  PB_TRY(put(w, *command, false));
  ++w->taken;
  return PB_OK;
}

void pb_state_free(pb_state_writer* w) {
  if (!w) return;
  for (int i = 0; i < w->chip->insn_count; ++i)
    for (int f = 0; f < FIELDS; ++f) free(w->ahead[i][f].runs);
  pb_arena_free(&w->arena);
  free(w);
}
