// Control flow (9.7.12 of the PTX ISA), barriers and fences (9.7.13).
#include "targets/control/grid/machine/ptx/decode.h"

static void branch(ptx_decoder* d) {
  ptx__operands(d, 1, 1);
  ptx__drop(d, "uni");
  const ptx_operand* to = ptx__operand(d, 0);
  if (to->kind != PTX_OPERAND_NAME) ptx__wrong(d, "a branch goes to a label");
  d->class = GRID_CLASS_CONTROL;
  ptx__emit(d, GRID_OP_BRANCH);
  ptx__branch_to(d, (uint32_t)d->k->count - 1, NULL, to->name);
}

static void branch_by_index(ptx_decoder* d) {
  ptx__operands(d, 2, 2);
  const char* name = ptx__operand(d, 1)->name;
  const ptx_function* f = d->frame->function;
  const ptx_statement* list = NULL;
  for (size_t n = 0; n + 1 < f->statement_count && name; ++n)
    if (f->statements[n].op && !strcmp(f->statements[n].op, ".branchtargets") && !strcmp(f->statements[n].name, name))
      list = &f->statements[n];
  if (!list) ptx__wrong(d, "no list of targets %s", name ? name : "");
  d->class = GRID_CLASS_CONTROL;
  uint32_t index = ptx__source(d, ptx__operand(d, 0), 4);
  uint32_t* slots = PB_NEW_ARRAY(d->r->arena, uint32_t, list->count + 1);
  for (int k = 0; k < list->count; ++k) {
    if (!list->operands[k].name) ptx__wrong(d, "a target that is no label");
    ptx__branch_to(d, 0, &slots[k], list->operands[k].name);
  }
  grid_insn* i = ptx__emit(d, GRID_OP_SWITCH);
  i->a = index;
  i->list = slots;
  i->offset = list->count;
}

// A parameter of a call in a register is moved; one in memory is the caller's own variable.
static void pass(ptx_decoder* d, const ptx_frame* to, const ptx_variable* formal, const ptx_operand* actual,
                 bool back) {
  if (formal->space == PTX_REG) {
    uint32_t bytes = strcmp(formal->type, "pred") ? formal->bytes : 0;
    uint32_t inner = to->rows[formal->first];
    uint32_t outer = back ? ptx__destination(d, actual, bytes) : ptx__source(d, actual, bytes);
    if (!bytes)
      ptx__logic(d, PTX_COPY, back ? outer : inner, back ? inner : outer, 0);
    else
      ptx__lanes(d,
                 bytes == 2   ? "mov.b16"
                 : bytes == 4 ? "mov.b32"
                              : "mov.b64",
                 back ? outer : inner, back ? inner : outer, 0, 0);
    return;
  }
  if (back) return;
  if (actual->kind != PTX_OPERAND_VARIABLE || actual->variable->space != PTX_PARAM ||
      actual->variable->size < formal->size)
    ptx__wrong(d, "parameter %s is given what does not fit", formal->name);
  uint64_t at = ptx__place(d, actual->variable);
  // The scope's variable is what the body names.
  ptx_function* f = to->function;
  for (size_t n = 0; n + 1 < f->statement_count; ++n)
    for (int k = 0; k < f->statements[n].count; ++k) {
      ptx_operand* o = &f->statements[n].operands[k];
      if (o->kind == PTX_OPERAND_MEMORY) o = o->parts;
      if (o->kind == PTX_OPERAND_VARIABLE && o->variable->space == PTX_PARAM &&
          !strcmp(o->variable->name, formal->name)) {
        o->variable->owner = d->k;
        o->variable->address = at;
      }
    }
}

static void call(ptx_decoder* d) {
  ptx__drop(d, "uni");
  ptx__operands(d, 1, 4);
  int n = ptx__operand(d, 0)->kind == PTX_OPERAND_LIST;
  const ptx_operand* name = ptx__operand(d, n);
  if (name->kind != PTX_OPERAND_NAME) ptx__wrong(d, "a call by an address: the machine knows none");
  ptx_function* f = ptx__find_function(d, name->name);
  if (!f || !f->has_body) ptx__wrong(d, "%s is nowhere defined", name->name);
  if (f->on_path) ptx__wrong(d, "%s calls itself: the machine has no stack for it", name->name);
  const ptx_operand none = {.kind = PTX_OPERAND_LIST};
  const ptx_operand* results = n ? ptx__operand(d, 0) : &none;
  const ptx_operand* args = d->s->count > n + 1 ? ptx__operand(d, n + 1) : &none;
  if (results->count != f->result_count || args->count != f->param_count)
    ptx__wrong(d, "%s takes %d parameters and gives %d", f->name, f->param_count, f->result_count);
  ptx_frame frame = {.function = f,
                     .instance = ++d->instances,
                     .caller = d->frame,
                     .depth = d->frame->depth + 1,
                     .rows = PB_NEW_ARRAY(d->r->arena, uint32_t, f->register_count + 1)};
  for (uint32_t k = 0; k < f->register_count; ++k)
    frame.rows[k] = ptx__row(d, strcmp(f->registers[k]->type, "pred") ? f->registers[k]->bytes : 0);
  // Lanes that do not call go around all of it.
  uint32_t guard = d->guard, around = GRID_NONE;
  if (guard != GRID_NONE) {
    d->negate = !d->negate;
    d->class = GRID_CLASS_CONTROL;
    ptx__emit(d, GRID_OP_BRANCH);
    around = (uint32_t)d->k->count - 1;
    d->guard = GRID_NONE;
  }
  const ptx_variable* formal = f->params;
  for (int k = 0; k < args->count; ++k, formal = formal->next) pass(d, &frame, formal, &args->parts[k], false);
  formal = f->results;
  for (int k = 0; k < results->count; ++k, formal = formal->next)
    if (formal->space != PTX_REG) pass(d, &frame, formal, &results->parts[k], false);
  ptx__function(d, &frame);
  d->guard = GRID_NONE;
  ptx_label end = {"ret", 0, frame.instance, (uint32_t)d->k->count};
  PB_PUSH(d->labels, d->label_count, d->label_capacity, end);
  formal = f->results;
  for (int k = 0; k < results->count; ++k, formal = formal->next) pass(d, &frame, formal, &results->parts[k], true);
  if (around != GRID_NONE) d->k->code[around].target = (uint32_t)d->k->count;
}

static void leave(ptx_decoder* d) {
  d->class = GRID_CLASS_CONTROL;
  if (!d->frame->caller) {
    ptx__emit(d, GRID_OP_EXIT);
    return;
  }
  ptx__emit(d, GRID_OP_BRANCH);
  ptx_fixup x = {"ret", 0, d->frame->instance, d->s->line, (uint32_t)d->k->count - 1, NULL, d->frame->function};
  PB_PUSH(d->fixups, d->fixup_count, d->fixup_capacity, x);
}

// bar{.cta}.sync|arrive|red, barrier{.cta}.…{.aligned}: bar is aligned always.
static void barrier(ptx_decoder* d) {
  int mode = !strcmp(d->words[0], "bar") || ptx__drop(d, "aligned") ? GRID_BARRIER_ALIGNED : 0;
  ptx__drop(d, "cta");
  d->class = GRID_CLASS_BARRIER;
  bool red = ptx__drop(d, "red"), arrive = ptx__drop(d, "arrive");
  if (!red && !arrive && !ptx__drop(d, "sync")) ptx__wrong(d, "sync, arrive or red must stand there");
  mode |= (arrive ? GRID_BARRIER_ARRIVE : 0) | (red ? GRID_BARRIER_RED : 0);
  uint32_t result = 0, source = 0;
  int first = 0, last = d->s->count, kind = 0;
  if (red) {
    ptx__operands(d, 3, 4);
    kind = ptx__drop(d, "popc") ? 1 : ptx__drop(d, "and") ? 2 : ptx__drop(d, "or") ? 3 : 0;
    if (!kind) ptx__wrong(d, "popc, and or or must stand there");
    result = ptx__destination(d, ptx__operand(d, 0), kind == 1 ? 4 : 0);
    source = ptx__source(d, ptx__operand(d, d->s->count - 1), 0);
    first = 1;
    --last;
  }
  if (last - first < 1 || last - first > 2)
    ptx__wrong(d, "a barrier's number and perhaps a count of threads must stand there");
  uint32_t number = ptx__source(d, ptx__operand(d, first), 4);
  uint32_t count = last - first == 2 ? ptx__source(d, ptx__operand(d, first + 1), 4) : GRID_NONE;
  if (arrive && count == GRID_NONE) ptx__wrong(d, "arrive wants a count of threads");
  grid_insn* i = ptx__emit(d, GRID_OP_BARRIER);
  i->a = number;
  i->b = count;
  i->c = source;
  i->d = result;
  i->mode = (uint8_t)mode;
  i->count = (uint8_t)kind;
}

static bool nothing(const ptx_decoder* d) {
  static const char* const words[] = {"nanosleep",     "prefetch", "prefetchu", "griddepcontrol", "discard",
                                      "applypriority", "pmevent",  "brkpt",     "setmaxnreg",     "createpolicy"};
  for (size_t k = 0; k < sizeof words / sizeof *words; ++k)
    if (!strcmp(d->words[0], words[k])) return true;
  return false;
}

bool ptx__decode_flow(ptx_decoder* d) {
  const char* op = d->words[0];
  if (!strcmp(op, "bra")) {
    branch(d);
  } else if (!strcmp(op, "brx") && ptx__has(d, "idx")) {
    branch_by_index(d);
  } else if (!strcmp(op, "call")) {
    call(d);
  } else if (!strcmp(op, "ret")) {
    leave(d);
  } else if (!strcmp(op, "exit")) {
    d->class = GRID_CLASS_CONTROL;
    ptx__emit(d, GRID_OP_EXIT);
  } else if (!strcmp(op, "trap")) {
    d->class = GRID_CLASS_CONTROL;
    ptx__emit(d, GRID_OP_TRAP);
  } else if (!strcmp(op, "bar") && ptx__has(d, "warp")) {
    ptx__operands(d, 1, 1);
    d->class = GRID_CLASS_BARRIER;
    uint32_t mask = ptx__source(d, ptx__operand(d, 0), 4);
    ptx__emit(d, GRID_OP_WARP_SYNC)->a = mask;
  } else if (!strcmp(op, "bar") || !strcmp(op, "barrier")) {
    if (ptx__has(d, "cluster")) return false;
    barrier(d);
  } else if (!strcmp(op, "membar") || !strcmp(op, "fence")) {
    d->class = GRID_CLASS_BARRIER;
    ptx__emit(d, GRID_OP_FENCE)->mode = (uint8_t)(ptx__has(d, "cta") ? 0 : 1);
  } else if (nothing(d)) {
    d->class = GRID_CLASS_CONTROL;
    ptx__emit(d, GRID_OP_NOTHING);
    if (!strcmp(op, "createpolicy")) {
      uint32_t policy = ptx__destination(d, ptx__operand(d, 0), 8);
      ptx__lanes(d, "mov.b64", policy, ptx__constant(d, 0, 8), 0, 0);
    }
  } else {
    return false;
  }
  return true;
}
