// Numbers: nests that differ in numbers alone, as the layers of a quantised network do in scales and zero
// points, read them from a constant each: then they are parts of equal kernels, and code is made once for all of them.
// Only where tensors are read where they are: numbers in a memory of a core's own would have to be brought there.
// Where commands carry numbers, kernels cost little and nothing is done. Requires the program function in value form;
// leaves it so. Exact.
//
// Zero points are kept as codes, so that who rounds to codes sees that they are whole (lower/vector_codes.c).
//
//   before   y = x * 0.031 + 3.0;                  z = y * 0.027 - 5.0
//   after    y = x * n0[0] + float(m0[0]);         z = y * n1[0] + float(m1[0])
#include "core/base/table.h"
#include "core/s3/program.h"
#include "core/s3/s3.h"

#include <math.h>
#include <string.h>

// Nests that are equal but for numbers: a list of them, in the program's order.
typedef struct alike {
  int first, last;
} alike;

typedef struct finder {
  pb_unit* unit;
  pb_program* program;
  pb_table known; // numbers of `kinds`, by the nests' text
  alike* kinds;
  int* next; // by nest, the next of its kind; -1: it is the last
  int kind_count;
} finder;

static bool is_number(const pb_expr_node* node) {
  return node->op == PB_OP_CONST && (node->type == PB_F32 || node->type == PB_I32) && isfinite(node->value);
}

static bool may_load_numbers(const pb_nest* nest) {
  bool any = false;
  for (int e = 0; e < nest->expr_count; ++e) any |= is_number(&nest->expr[e]);
  bool room = nest->expr_count + PB_NEST_ACCESSES <= PB_NEST_EXPR; // for conversions of zero points
  return any && room && nest->access_count > 1 && nest->access_count < PB_NEST_ACCESSES && !pb_nest_is_fixed(nest);
}

// The nest without the numbers, and without names.
static void print_key(const pb_nest* nest, pb_text* text) {
  pb_arena scratch = {0};
  pb_nest* bare = pb_nest_kept(&scratch, nest);
  int serial = 0;
  bare->name = "";
  bare->macs = 0;
  for (int a = 0; a < bare->access_count; ++a) bare->access[a].ref = "%t";
  for (int e = 0; e < bare->expr_count; ++e)
    if (is_number(&bare->expr[e])) bare->expr[e].value = 2, bare->expr[e].integer = 2;
  pb_nest_print(text, bare, 0, &serial);
  pb_arena_free(&scratch);
}

static void note_nest(finder* f, int n) {
  const pb_nest* nest = &f->program->nests[n];
  pb_text key = {0};
  if (!may_load_numbers(nest)) return;
  print_key(nest, &key);
  int at = pb_table_number(&f->known, &f->unit->pass, key.data, key.length, f->kind_count);
  pb_text_free(&key);
  f->next[n] = -1;
  if (at == f->kind_count)
    f->kinds[f->kind_count++].first = n;
  else
    f->next[f->kinds[at].last] = n;
  f->kinds[at].last = n;
}

// ---- numbers become loads ----

// Which load a number becomes: numbers that are equal in every nest are one.
typedef struct slots {
  int count, of[PB_NEST_EXPR];    // by node, -1: it stays
  int node[PB_NEST_ACCESSES];     // by slot, the first of its nodes
  pb_type type[PB_NEST_ACCESSES]; // and what it is kept as: its own type, or PB_I8
} slots;

static bool same_number(const pb_expr_node* a, const pb_expr_node* b) {
  return a->type == b->type && a->value == b->value && a->integer == b->integer;
}

static bool equal_everywhere(const finder* f, const alike* kind, int a, int b) {
  for (int n = kind->first; n >= 0; n = f->next[n])
    if (!same_number(&f->program->nests[n].expr[a], &f->program->nests[n].expr[b])) return false;
  return true;
}

static bool differs(const finder* f, const alike* kind, int e) {
  const pb_expr_node* first = &f->program->nests[kind->first].expr[e];
  for (int n = f->next[kind->first]; n >= 0 && is_number(first); n = f->next[n])
    if (!same_number(first, &f->program->nests[n].expr[e])) return true;
  return false;
}

// What a number is added to is rounded: it is a zero point.
static bool is_zero_point(const pb_nest* nest, int e) {
  for (int n = e + 1; n < nest->expr_count; ++n) {
    const pb_expr_node* sum = &nest->expr[n];
    if (sum->op != PB_OP_ADD || (sum->args[0] != e && sum->args[1] != e)) continue;
    if (nest->expr[sum->args[sum->args[0] == e]].op == PB_OP_ROUNDEVEN) return true;
  }
  return false;
}

static pb_type kept_as(const finder* f, const alike* kind, int e) {
  const pb_nest* first = &f->program->nests[kind->first];
  if (first->expr[e].type != PB_F32 || !is_zero_point(first, e)) return first->expr[e].type;
  for (int n = kind->first; n >= 0; n = f->next[n]) {
    double value = f->program->nests[n].expr[e].value;
    if (value != trunc(value) || value < INT8_MIN || value > INT8_MAX) return PB_F32;
  }
  return PB_I8;
}

// false: a nest cannot read so many: a sum reads what is there as well, until it is known for one.
static bool find_slots(const finder* f, const alike* kind, slots* s) {
  const pb_nest* first = &f->program->nests[kind->first];
  int most = PB_NEST_ACCESSES - (first->reduce != PB_SET) - first->access_count;
  s->count = 0;
  for (int e = 0; e < first->expr_count; ++e) {
    s->of[e] = -1;
    if (!differs(f, kind, e)) continue;
    for (int k = 0; k < s->count && s->of[e] < 0; ++k)
      if (equal_everywhere(f, kind, s->node[k], e)) s->of[e] = k;
    if (s->of[e] >= 0) continue;
    if (s->count >= most) return false;
    s->node[s->count] = e;
    s->type[s->count] = kept_as(f, kind, e);
    s->of[e] = s->count++;
  }
  return s->count > 0;
}

// The nest's numbers of one type as a constant, an argument of the program: its value. -1: there are none. at[]: by
// slot, the element.
static int add_constant(finder* f, const pb_nest* nest, const slots* s, pb_type type, int64_t* at) {
  pb_consts* consts = f->unit->consts;
  char* data = pb_alloc(&consts->arena, 4 * PB_NEST_ACCESSES);
  int64_t count = 0;
  for (int k = 0; k < s->count; ++k) {
    const pb_expr_node* node = &nest->expr[s->node[k]];
    if (s->type[k] != type) continue;
    float number = (float)node->value;
    int32_t integer = (int32_t)node->integer;
    at[k] = count++;
    if (type == PB_I8)
      data[at[k]] = (char)(int8_t)node->value;
    else
      memcpy(data + 4 * at[k], type == PB_F32 ? (void*)&number : (void*)&integer, 4);
  }
  if (!count) return -1;
  return pb_program_add_const(f->program, &f->unit->pass, consts, "numbers", type, 1, &count, data);
}

// The node becomes a load of a code and, behind it, the number that it is.
static void convert_behind(pb_nest* nest, int e) {
  memmove(&nest->expr[e + 1], &nest->expr[e], sizeof *nest->expr * (size_t)(nest->expr_count - e));
  ++nest->expr_count;
  for (int n = e + 2; n < nest->expr_count; ++n)
    for (int k = 0; k < 3; ++k)
      if (nest->expr[n].args[k] >= e) ++nest->expr[n].args[k];
  nest->expr[e + 1] = (pb_expr_node){.op = PB_OP_SITOFP, .type = PB_F32, .args = {e, -1, -1}};
}

static void load_numbers(finder* f, int n, const slots* s) {
  pb_nest* nest = &f->program->nests[n];
  int access[PB_NEST_ACCESSES] = {0};
  const pb_type types[] = {PB_F32, PB_I32, PB_I8};
  for (size_t t = 0; t < sizeof types / sizeof *types; ++t) {
    int64_t at[PB_NEST_ACCESSES];
    int value = add_constant(f, nest, s, types[t], at);
    for (int k = 0; k < s->count; ++k) {
      if (s->type[k] != types[t]) continue;
      access[k] = pb_program_add_access(f->program, &f->unit->pass, n, value);
      nest->access[access[k]].index[0].cst = at[k];
    }
  }
  for (int e = 0; e < nest->expr_count; ++e) {
    pb_expr_node* node = &nest->expr[e];
    for (int k = 0; k < 3; ++k)
      if (node->args[k] >= 0 && s->of[node->args[k]] >= 0) node->args[k] = s->node[s->of[node->args[k]]];
    if (s->of[e] < 0) continue;
    if (s->node[s->of[e]] == e)
      *node = (pb_expr_node){
          .op = PB_OP_LOAD, .type = s->type[s->of[e]], .operand = access[s->of[e]], .args = {-1, -1, -1}};
    else
      node->value = 0, node->integer = 0; // nobody takes it any more
  }
  for (int e = nest->expr_count - 1; e >= 0; --e)
    if (s->of[e] >= 0 && s->type[s->of[e]] == PB_I8 && s->node[s->of[e]] == e) convert_behind(nest, e);
}

bool pb_s3_numbers(pb_unit* unit, pb_program* p) {
  finder f = {.unit = unit, .program = p};
  f.kinds = PB_NEW_ARRAY(&unit->pass, alike, (size_t)p->nest_count + 1);
  f.next = PB_NEW_ARRAY(&unit->pass, int, (size_t)p->nest_count + 1);
  for (int n = 0; n < p->nest_count; ++n) note_nest(&f, n);
  pb_table_free(&f.known);
  int before = pb_program_given(p);
  slots* s = PB_NEW(&unit->pass, slots);
  for (int k = 0; k < f.kind_count; ++k) {
    if (!find_slots(&f, &f.kinds[k], s)) continue;
    for (int n = f.kinds[k].first; n >= 0; n = f.next[n]) load_numbers(&f, n, s);
  }
  return pb_program_given(p) > before;
}
