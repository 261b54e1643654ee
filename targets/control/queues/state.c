// Configuration state: some fields of an instruction stand not in its commands but in state that commands of another
// instruction write. The fewest writes: one stands before a command only when a value that the command needs is not
// there, and it then sets every field of its instruction to what the next command that needs the field wants, so that
// one write serves them all. Writer and readers share a queue, which is in order: no tokens are needed.
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
static pb_status look_ahead(const pb_chip* chip, const pb_trace* trace, wanted** plans, pb_arena* arena,
                            pb_diag* diag) {
  wanted* next = PB_NEW_ARRAY(arena, wanted, (size_t)chip->insn_count);
  for (size_t k = trace->count; k-- > 0;) {
    const pb_command* c = &trace->commands[k].command;
    if (!uses_state(c->insn)) continue;
    plans[k] = PB_NEW_ARRAY(arena, wanted, (size_t)chip->insn_count);
    for (int w = 0; w < chip->insn_count; ++w)
      if (!want(&trace->commands[k], w, &next[w]))
        return pb_unsupported(diag, (pb_place){.what = trace->commands[k].nest}, 4106, NULL,
                              "%s needs two values in one field of %s", c->insn->name, chip->insns[w].name);
    memcpy(plans[k], next, sizeof *next * (size_t)chip->insn_count);
  }
  return PB_OK;
}

static void write_state(pb_trace* out, const pb_insn* writer, const wanted* plan, const char* nest, wanted* state) {
  pb_traced c = {.command = {.insn = writer}, .nest = nest};
  for (int f = 0; f < writer->field_count; ++f) {
    if (plan->known >> f & 1) {
      state->value[f] = plan->value[f];
      state->known |= 1u << f;
    }
    c.command.values[f] = state->value[f];
  }
  PB_PUSH(out->commands, out->count, out->capacity, c);
}

// What does not matter is what the state happens to hold: so the command reads as it will run.
static void take_idle(pb_traced* c, const wanted* state) {
  for (int f = 0; f < c->command.insn->field_count; ++f) {
    const pb_field* field = &c->command.insn->fields[f];
    if (field->state_writer >= 0 && c->idle >> f & 1)
      c->command.values[f] = state[field->state_writer].value[field->state_field];
  }
}

pb_status pb_trace_state(const pb_chip* chip, pb_trace* trace, pb_diag* diag) {
  bool any = false;
  for (size_t k = 0; k < trace->count && !any; ++k) any = uses_state(trace->commands[k].command.insn);
  if (!any) return PB_OK;
  pb_arena arena = {0};
  wanted** plans = PB_NEW_ARRAY(&arena, wanted*, trace->count);
  wanted* state = PB_NEW_ARRAY(&arena, wanted, (size_t)chip->insn_count);
  pb_status status = look_ahead(chip, trace, plans, &arena, diag);
  pb_trace out = {.argument_count = trace->argument_count};
  for (size_t k = 0; k < trace->count && status == PB_OK; ++k) {
    const pb_traced* c = &trace->commands[k];
    for (int w = 0; w < chip->insn_count && plans[k]; ++w)
      if (!holds(c, w, &state[w])) write_state(&out, &chip->insns[w], &plans[k][w], c->nest, &state[w]);
    PB_PUSH(out.commands, out.count, out.capacity, *c);
    take_idle(&out.commands[out.count - 1], state);
  }
  pb_arena_free(&arena);
  if (status == PB_OK) {
    free(trace->commands);
    *trace = out;
  } else {
    free(out.commands);
  }
  return status;
}
