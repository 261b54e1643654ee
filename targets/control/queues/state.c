// Configuration state: some fields of an instruction stand not in its commands but in state that commands of another
// instruction write. The fewest writes: one stands before a command only when a value that the command needs is not
// there, and it then sets every field of its instruction to what the next command that needs the field wants, so that
// one write serves them all. Writer and readers share a queue, which is in order: no tokens are needed. A writer that
// computes something too (weights move in, and where the next sums go is said) says what the commands after it want;
// when they want another value before it comes again, it is run again.
#include "targets/control/queues/trace.h"

#include <stdlib.h>
#include <string.h>

enum { FIELDS = 32 };

// What commands from here on want of a writer's fields; known: somebody wants it.
typedef struct wanted {
  int64_t value[FIELDS];
  uint32_t known;
} wanted;

static bool uses_state(const pb_insn* insn) {
  for (int f = 0; f < insn->field_count; ++f)
    if (insn->fields[f].state_writer >= 0) return true;
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
static bool want(const pb_traced* traced, int writer, wanted* w) {
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
static bool holds(const pb_traced* traced, int writer, const wanted* state) {
  const pb_command* c = &traced->command;
  for (int f = 0; f < c->insn->field_count; ++f) {
    const pb_field* field = &c->insn->fields[f];
    if (field->state_writer != writer || traced->idle >> f & 1) continue;
    if (!(state->known >> field->state_field & 1) || state->value[field->state_field] != c->values[f]) return false;
  }
  return true;
}

// Backwards over the commands: for each and each writer that it depends on, what that writer's fields should be.
static pb_status look_ahead(const pb_chip* chip, const pb_trace* trace, const uint32_t* fields, wanted** plans,
                            pb_arena* arena, pb_diag* diag) {
  wanted* next = PB_NEW_ARRAY(arena, wanted, (size_t)chip->insn_count);
  for (size_t k = trace->count; k-- > 0;) {
    const pb_command* c = &trace->commands[k].command;
    if (!uses_state(c->insn) && !(c->insn->operand_count && fields[c->insn->index])) continue;
    plans[k] = PB_NEW_ARRAY(arena, wanted, (size_t)chip->insn_count);
    for (int w = 0; w < chip->insn_count; ++w)
      if (!want(&trace->commands[k], w, &next[w]))
        return pb_unsupported(diag, (pb_place){.what = trace->commands[k].nest}, 4106, NULL,
                              "%s needs two values in one field of %s", c->insn->name, chip->insns[w].name);
    memcpy(plans[k], next, sizeof *next * (size_t)chip->insn_count);
  }
  return PB_OK;
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
static void take_idle(pb_traced* c, const wanted* state) {
  for (int f = 0; f < c->command.insn->field_count; ++f) {
    const pb_field* field = &c->command.insn->fields[f];
    if (field->state_writer >= 0 && c->idle >> f & 1)
      c->command.values[f] = state[field->state_writer].value[field->state_field];
  }
}

typedef struct writer {
  const pb_chip* chip;
  pb_diag* diag;
  pb_trace out;
  wanted* state;    // by instruction that writes it
  pb_traced* last;  // by instruction that computes something too: its last command
  uint32_t* fields; // by instruction: its fields that others read as state
} writer;

static bool computes(const writer* w, int insn) { return w->chip->insns[insn].operand_count && w->fields[insn]; }

static pb_status put(writer* w, pb_traced c, const wanted* plans);

// Sets what the command needs of one writer.
static pb_status provide(writer* w, const pb_traced* c, int by, const wanted* plans) {
  wanted own = {0};
  const wanted* plan = plans ? &plans[by] : &own;
  pb_traced set = {.command = {.insn = &w->chip->insns[by]}};
  want(c, by, &own);
  if (computes(w, by)) {
    if (!w->last[by].command.insn)
      return pb_unsupported(
          w->diag, (pb_place){.what = c->nest}, 4107, "this is a bug in the compiler, not in the model",
          "%s needs what %s says, which has not run yet", c->command.insn->name, set.command.insn->name);
    set = w->last[by];
  }
  set.nest = c->nest;
  set_fields(&set.command, computes(w, by) ? w->fields[by] : UINT32_MAX, plan, &w->state[by]);
  return put(w, set, NULL);
}

// Adds a command behind all that it needs. Writers that compute come first: they need state of their own, which may be
// another than the command's.
static pb_status put(writer* w, pb_traced c, const wanted* plans) {
  for (int computing = 1; computing >= 0; --computing)
    for (int by = 0; by < w->chip->insn_count; ++by)
      if (computes(w, by) == computing && !holds(&c, by, &w->state[by])) PB_TRY(provide(w, &c, by, plans));
  int self = c.command.insn->index;
  if (computes(w, self)) {
    if (plans) set_fields(&c.command, w->fields[self], &plans[self], &w->state[self]);
    w->last[self] = c;
  }
  take_idle(&c, w->state);
  PB_PUSH(w->out.commands, w->out.count, w->out.capacity, c);
  return PB_OK;
}

pb_status pb_trace_state(const pb_chip* chip, pb_trace* trace, pb_diag* diag) {
  bool any = false;
  for (size_t k = 0; k < trace->count && !any; ++k) any = uses_state(trace->commands[k].command.insn);
  if (!any) return PB_OK;
  pb_arena arena = {0};
  size_t insns = (size_t)chip->insn_count;
  writer w = {.chip = chip,
              .diag = diag,
              .out = {.argument_count = trace->argument_count},
              .state = PB_NEW_ARRAY(&arena, wanted, insns),
              .last = PB_NEW_ARRAY(&arena, pb_traced, insns),
              .fields = PB_NEW_ARRAY(&arena, uint32_t, insns)};
  for (int i = 0; i < chip->insn_count; ++i) w.fields[i] = state_fields(chip, &chip->insns[i]);
  wanted** plans = PB_NEW_ARRAY(&arena, wanted*, trace->count);
  pb_status status = look_ahead(chip, trace, w.fields, plans, &arena, diag);
  for (size_t k = 0; k < trace->count && status == PB_OK; ++k) status = put(&w, trace->commands[k], plans[k]);
  pb_arena_free(&arena);
  if (status == PB_OK) {
    free(trace->commands);
    *trace = w.out;
  } else {
    free(w.out.commands);
  }
  return status;
}
