// What a loop's turn makes of a value that it carries is made where that value lies, if it is read nowhere else by
// then:
//
//     LOOP                                     LOOP
//     WHILE c                                  WHILE c
//     k3(h, e, h')   h'[i] = f(h[i], e)   ->   k3(h, e, h)
//     k4(e, h', e')  border copied             (its copies are gone)
//     k5(e, h', e')  e'[i] = g(e[i], h')       k5(e, h, e)
//     MOVE h = h'; MOVE e = e'; AGAIN          AGAIN
//
// So a field that is changed in part is not copied, and a turn touches each once. It may take several kernels and
// values between (the chain): each stores an element where it loads that of the one before, as calls say (pb.over), and
// whatever reads one of them otherwise stands in front of what makes the next. What is left moves, or goes in two
// places.
//
// Needs: the segments' kernels, each call with what it makes. Leaves: arguments of segments that have other values'
// numbers, moves of values onto themselves, which are none.
#include "core/driver/compilation.h"
#include "core/poly/nest.h"
#include "core/s3/kernels.h"

#include <mlir-c/BuiltinAttributes.h>
#include <stdlib.h>
#include <string.h>

enum { LEAST_BYTES = 4096, LONGEST = 6, MOST_OPERANDS = 64 };

// A call of a segment, or a mark.
typedef struct event {
  MlirOperation call; // null: a mark
  size_t mark, scope; // its operator; 1 + the innermost mark around it, 0: none
  int count;
  int values[MOST_OPERANDS]; // by operand; those of a mark: what it writes, and what it reads; -1: a constant
} event;

typedef struct chain {
  int values[LONGEST], count; // from the variable on
  size_t first[LONGEST];      // by value: the event that writes it first; of the variable it does not matter
} chain;

typedef struct placer {
  compilation* c;
  event* events;
  size_t count, capacity;
  pb_table own;      // segments' own tensors, by their operations' results: numbers behind the program's values
  MlirValue* tensor; // by such a number, from the first on
  size_t tensor_count, tensor_capacity;
  bool unknown; // there is a call that says nothing
} placer;

// ---- what happens, in its order ----

static int value_of(placer* p, MlirValue operand) {
  MlirValue tensor = pb_tensor_viewed(operand);
  if (mlirValueIsABlockArgument(tensor)) {
    int value = pb__value_of_argument(tensor);
    return value < 0 ? -1 : pb_s1_base(&p->c->s1, value);
  }
  int known = pb_table_find_address(&p->own, tensor.ptr);
  if (known >= 0) return known;
  int number = (int)(p->c->s1.value_count + p->tensor_count);
  pb_table_add_address(&p->own, tensor.ptr, number);
  PB_PUSH(p->tensor, p->tensor_count, p->tensor_capacity, tensor);
  return number;
}

static void add_calls(placer* p, MlirOperation main, size_t scope) {
  PB_FOR_OPS (op, pb_op_body(main)) {
    if (!pb_op_is(op, "func.call")) continue;
    event e = {.call = op, .scope = scope, .count = (int)mlirOperationGetNumOperands(op)};
    p->unknown |= e.count > MOST_OPERANDS;
    for (int k = 0; k < e.count && k < MOST_OPERANDS; ++k) e.values[k] = value_of(p, mlirOperationGetOperand(op, k));
    PB_PUSH(p->events, p->count, p->capacity, e);
  }
}

static void add_mark(placer* p, size_t at, size_t scope) {
  const pb_s1* s1 = &p->c->s1;
  const pb_s1_op* op = &s1->ops[at];
  const int own[4] = {op->y, op->x, op->z, op->third};
  event e = {.mark = at, .scope = scope, .count = 4};
  for (int k = 0; k < 4; ++k) e.values[k] = own[k] < 0 ? -1 : pb_s1_base(s1, own[k]);
  PB_PUSH(p->events, p->count, p->capacity, e);
}

static void list_events(placer* p) {
  compilation* c = p->c;
  size_t segment = 0, depth = 0;
  size_t* open = calloc(c->s1.op_count + 1, sizeof *open);
  if (!open) pb_no_memory(c->s1.op_count);
  for (size_t k = 0; k < c->s1.op_count;) {
    const pb_s1_op* op = &c->s1.ops[k];
    if (!pb_s1_is_control(op)) {
      add_calls(p, c->mains[segment], depth ? open[depth - 1] + 1 : 0);
      k = c->segments.items[segment++].end;
      continue;
    }
    bool ends = op->kind == PB_S1_AGAIN || op->kind == PB_S1_END || op->kind == PB_S1_ELSE;
    if (ends && depth) --depth;
    add_mark(p, k, depth ? open[depth - 1] + 1 : 0);
    if (op->kind == PB_S1_LOOP || op->kind == PB_S1_IF || op->kind == PB_S1_ELSE) open[depth++] = k;
    ++k;
  }
  free(open);
}

static bool is_call(const event* e) { return !mlirOperationIsNull(e->call); }

static bool makes(const event* e, int operand) {
  if (!is_call(e)) return operand == 0;
  MlirAttribute made = pb_op_attribute(e->call, "pb.makes");
  if (mlirAttributeIsNull(made)) return true; // of no turn, or too many tensors: it may be any of them
  for (intptr_t k = 0; k < mlirDenseArrayGetNumElements(made); ++k)
    if (mlirDenseI64ArrayGetElement(made, k) == operand) return true;
  return false;
}

static bool writes(const event* e, int value) {
  for (int k = 0; k < e->count; ++k)
    if (e->values[k] == value && makes(e, k)) return true;
  return false;
}

static bool reads(const event* e, int value) {
  bool unsaid = is_call(e) && !pb_op_has(e->call, "pb.makes");
  for (int k = 0; k < e->count; ++k)
    if (e->values[k] == value && (unsaid || !makes(e, k))) return true;
  return false;
}

// What the call loads where it stores `made`, and nowhere else, from pair *at on, which moves behind it; -1: no more.
static int next_under(const event* e, int made, intptr_t* at) {
  MlirAttribute pairs = is_call(e) ? pb_op_attribute(e->call, "pb.over") : (MlirAttribute){0};
  for (intptr_t k = *at; !mlirAttributeIsNull(pairs) && k < mlirDenseArrayGetNumElements(pairs); k += 2) {
    int m = e->values[mlirDenseI64ArrayGetElement(pairs, k)], r = e->values[mlirDenseI64ArrayGetElement(pairs, k + 1)];
    *at = k + 2;
    if (m == made && r >= 0 && r != made) return r;
  }
  return -1;
}

static bool lies_over(const event* e, int made, int read) {
  intptr_t at = 0;
  for (int under; (under = next_under(e, made, &at)) >= 0;)
    if (under == read) return true;
  return false;
}

// ---- one loop's variable ----

typedef struct turn {
  size_t begin, move, end; // events: of the loop's begin, the move and the jump back
} turn;

static size_t first_write(const placer* p, const turn* t, int value) {
  for (size_t k = t->begin; k < t->end; ++k)
    if (writes(&p->events[k], value)) return k;
  return t->end;
}

// Whether value `later` of the chain may be made where `earlier` lies.
static bool may_follow(const placer* p, const turn* t, const chain* c, int earlier, int later) {
  int value = c->values[earlier];
  for (size_t k = c->first[later]; k < t->end; ++k) {
    const event* e = &p->events[k];
    if (k == t->move) continue;
    if (writes(e, value)) return false;
    if (reads(e, value) && !lies_over(e, c->values[later], value)) return false;
    // Who leaves the loop by then would find the value of a turn that is not over.
    if (!is_call(e) && p->c->s1.ops[e->mark].kind == PB_S1_WHILE && e->scope == p->events[t->move].scope) return false;
  }
  return true;
}

// Whether all that writes the value are calls of the turn itself.
static bool is_of_turn(const placer* p, const turn* t, int value) {
  for (size_t k = 0; k < p->count; ++k) {
    const event* e = &p->events[k];
    if (writes(e, value) && (k < t->begin || k >= t->end || !is_call(e) || e->scope != p->events[t->move].scope))
      return false;
  }
  return true;
}

static bool is_carried(const placer* p, int value) {
  const pb_s1* s1 = &p->c->s1;
  if ((size_t)value >= s1->value_count) return false;
  const pb_s1_value* v = &s1->values[value];
  return v->is_variable || v->is_input || v->is_output || v->const_id >= 0 || v->made_of;
}

// Finds a chain from the variable to the chain's last value, backwards: `tail` values from the end of the array on.
static bool find_chain(const placer* p, const turn* t, chain* c, int variable, int tail) {
  int value = c->values[LONGEST - tail];
  for (size_t k = t->begin; k < t->end; ++k) {
    const event* e = &p->events[k];
    intptr_t at = 0;
    for (int before; (before = next_under(e, value, &at)) >= 0;) {
      bool ends = before == variable;
      if (tail + 1 > LONGEST || (!ends && (is_carried(p, before) || !is_of_turn(p, t, before)))) continue;
      c->values[LONGEST - tail - 1] = before;
      if (!ends && !find_chain(p, t, c, variable, tail + 1)) continue;
      if (ends) c->count = tail + 1;
      return true;
    }
  }
  return false;
}

static bool chain_holds(const placer* p, const turn* t, chain* c) {
  for (int k = 1; k < c->count; ++k) c->first[k] = first_write(p, t, c->values[k]);
  for (int later = 1; later < c->count; ++later)
    for (int earlier = 0; earlier < later; ++earlier)
      if (!may_follow(p, t, c, earlier, later)) return false;
  return true;
}

static int moved_to(const placer* p, const turn* t, int value) {
  int count = 0;
  for (size_t k = t->begin; k < t->end; ++k) count += !is_call(&p->events[k]) && writes(&p->events[k], value);
  return count;
}

static int moved_from(const placer* p, int value) {
  int count = 0;
  for (size_t k = 0; k < p->count; ++k) count += !is_call(&p->events[k]) && reads(&p->events[k], value);
  return count;
}

// ---- carried out ----

// The argument of the segment's function that has the number; null: none has.
static MlirValue argument_of(placer* p, MlirOperation main, int value) {
  MlirBlock body = pb_op_body(main);
  for (intptr_t k = 0; k < mlirBlockGetNumArguments(body); ++k) {
    MlirValue v = mlirBlockGetArgument(body, k);
    if (value_of(p, v) == value) return v;
  }
  return (MlirValue){0};
}

static MlirOperation function_of(MlirValue argument) {
  return mlirBlockGetParentOperation(mlirBlockArgumentGetOwner(argument));
}

// A segment's own tensor becomes the argument that the variable is there. false: it has another type, or there is none.
static bool can_replace(placer* p, int own, int variable) {
  MlirValue tensor = p->tensor[(size_t)own - p->c->s1.value_count];
  MlirOperation main = mlirBlockGetParentOperation(mlirOperationGetBlock(mlirOpResultGetOwner(tensor)));
  MlirValue there = argument_of(p, main, variable);
  return !mlirValueIsNull(there) && mlirTypeEqual(mlirValueGetType(there), mlirValueGetType(tensor));
}

static void replace(placer* p, int own, int variable) {
  MlirValue tensor = p->tensor[(size_t)own - p->c->s1.value_count];
  MlirOperation alloc = mlirOpResultGetOwner(tensor);
  mlirValueReplaceAllUsesOfWith(tensor,
                                argument_of(p, mlirBlockGetParentOperation(mlirOperationGetBlock(alloc)), variable));
  mlirOperationDestroy(alloc);
}

// Wherever a segment has the value it has the variable's number, and so have the marks.
static void rename_value(placer* p, int value, int variable) {
  compilation* c = p->c;
  MlirAttribute name = pb_text_attribute(c->unit.context, pb_printf(&c->unit.arena, "%d", variable));
  for (size_t s = 0; s < c->segments.count; ++s) {
    MlirBlock body = pb_op_body(c->mains[s]);
    for (intptr_t k = 0; k < mlirBlockGetNumArguments(body); ++k) {
      MlirValue v = mlirBlockGetArgument(body, k);
      if (pb__value_of_argument(v) != value) continue;
      bool reads_it = pb_argument_has(v, "pb.input");
      pb_argument_set_attribute(function_of(v), k, reads_it ? "pb.input" : "pb.output", name);
    }
  }
  for (size_t k = 0; k < c->s1.op_count; ++k) {
    pb_s1_op* op = &c->s1.ops[k];
    if (!pb_s1_is_control(op)) continue;
    if (op->x >= 0 && pb_s1_base(&c->s1, op->x) == value) op->x = variable;
    if (op->third >= 0 && pb_s1_base(&c->s1, op->third) == value) op->third = variable;
  }
}

static void drop_event(placer* p, size_t k) {
  mlirOperationDestroy(p->events[k].call);
  memmove(p->events + k, p->events + k + 1, (--p->count - k) * sizeof *p->events);
}

static void join(placer* p, const chain* c) {
  int variable = c->values[0];
  for (int k = 1; k < c->count; ++k) {
    if ((size_t)c->values[k] < p->c->s1.value_count)
      rename_value(p, c->values[k], variable);
    else
      replace(p, c->values[k], variable);
  }
  for (size_t e = 0; e < p->count; ++e)
    for (int k = 0; k < p->events[e].count; ++k)
      for (int v = 1; v < c->count; ++v)
        if (p->events[e].values[k] == c->values[v]) p->events[e].values[k] = variable;
  for (size_t e = 0; e < p->count;) { // what copied the one to the other
    const event* now = &p->events[e];
    bool all = is_call(now) && pb_op_has(now->call, "pb.copies");
    for (int k = 0; all && k < now->count; ++k) all = now->values[k] == variable;
    if (all)
      drop_event(p, e);
    else
      ++e;
  }
}

static bool can_join(placer* p, const chain* c) {
  for (int k = 1; k < c->count; ++k)
    if ((size_t)c->values[k] >= p->c->s1.value_count && !can_replace(p, c->values[k], c->values[0])) return false;
  return true;
}

static void try_move(placer* p, turn* t) {
  const pb_s1* s1 = &p->c->s1;
  const event* move = &p->events[t->move];
  int variable = move->values[0], value = move->values[1];
  chain c = {.count = 1};
  if (variable < 0 || value < 0 || value == variable || pb_s1_bytes(&s1->values[variable]) < LEAST_BYTES) return;
  if (is_carried(p, value) || s1->values[variable].is_output || s1->values[variable].made_of) return;
  if (moved_to(p, t, variable) != 1 || moved_from(p, value) != 1 || !is_of_turn(p, t, value)) return;
  c.values[LONGEST - 1] = value;
  if (!find_chain(p, t, &c, variable, 1)) return;
  memmove(c.values, c.values + LONGEST - c.count, (size_t)c.count * sizeof *c.values);
  if (chain_holds(p, t, &c) && can_join(p, &c)) join(p, &c);
}

// The loop that the event stands in, directly: its begin and its jump back. false: none.
static bool turn_of(const placer* p, size_t move, turn* t) {
  size_t scope = p->events[move].scope;
  if (!scope || p->c->s1.ops[scope - 1].kind != PB_S1_LOOP) return false;
  size_t again = pb_s1_end_of(&p->c->s1, scope - 1);
  *t = (turn){.move = move};
  for (size_t k = 0; k < p->count; ++k) {
    if (is_call(&p->events[k])) continue;
    if (p->events[k].mark == scope - 1) t->begin = k;
    if (p->events[k].mark == again) t->end = k;
  }
  return true;
}

void pb__make_in_place(compilation* c) {
  placer p = {.c = c};
  turn t;
  list_events(&p);
  for (size_t k = 0; k < p.count && !p.unknown; ++k) {
    if (is_call(&p.events[k]) || c->s1.ops[p.events[k].mark].kind != PB_S1_MOVE || !turn_of(&p, k, &t)) continue;
    size_t mark = p.events[k].mark;
    try_move(&p, &t);
    while (is_call(&p.events[k]) || p.events[k].mark != mark) --k; // copies in front of it may be gone
  }
  pb_table_free(&p.own);
  free(p.tensor);
  free(p.events);
}
