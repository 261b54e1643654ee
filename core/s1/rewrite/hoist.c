// What every turn of a loop would compute alike is computed once, in front of it. Needs a program whose unread
// operators are dropped; leaves the values as they are. Values that loops carry and never change are read where they
// come from.
//
//     MOVE w = arg1                            t = transpose arg1
//     LOOP ... WHILE c                         LOOP ... WHILE c
//     t = transpose w                   ->     x = dot t x'
//     x = dot t x'
//     MOVE x' = x; AGAIN                       MOVE x' = x; AGAIN
//
// What would read fewer bytes than it leaves stays where it is: what reads it there makes it on the way. So does what
// stands in a branch, which may never be taken.
#include "core/s1/control.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_OPERANDS = 3 + PB_NEST_ACCESSES };

// Other values than its own that an operator reads; those of other shapes as what they are shapes of.
static int operands_of(const pb_s1* p, const pb_s1_op* op, int* values) {
  const int own[3] = {op->x, op->z, op->third};
  int count = 0, y = op->y >= 0 ? pb_s1_base(p, op->y) : -1;
  for (int k = 0; k < 3; ++k)
    if (own[k] >= 0 && pb_s1_base(p, own[k]) != y) values[count++] = pb_s1_base(p, own[k]);
  for (int a = 0; op->nest && a < op->nest->access_count; ++a) {
    int v = pb_s1_base(p, op->nest->access[a].buffer);
    if (v != y) values[count++] = v;
  }
  return count;
}

// ---- carried and never changed ----

static void rename_value(pb_s1* p, int from, int to) {
  for (size_t k = 0; k < p->op_count; ++k) {
    pb_s1_op* op = &p->ops[k];
    pb_nest* nest = (pb_nest*)(uintptr_t)op->nest; // the program's own
    if (op->x == from) op->x = to;
    if (op->z == from) op->z = to;
    if (op->third == from) op->third = to;
    for (int a = 0; nest && a < nest->access_count; ++a)
      if (nest->access[a].buffer == from) nest->access[a].buffer = to;
  }
  for (size_t v = 0; v < p->value_count; ++v)
    if (p->values[v].alias_of == from) p->values[v].alias_of = to;
}

static bool same_type(const pb_s1_value* a, const pb_s1_value* b) {
  return a->type == b->type && a->rank == b->rank && !memcmp(a->shape, b->shape, sizeof *a->shape * (size_t)a->rank);
}

void pb_s1_drop_unchanged(pb_s1* p) {
  int* writers = calloc(p->value_count + 1, sizeof *writers);
  if (!writers) pb_no_memory(p->value_count);
  for (size_t k = 0; k < p->op_count; ++k)
    if (p->ops[k].y >= 0) ++writers[p->ops[k].y];
  size_t kept = 0;
  for (size_t k = 0; k < p->op_count; ++k) {
    const pb_s1_op op = p->ops[k];
    bool goes = op.kind == PB_S1_MOVE && writers[op.y] == 1;
    if (goes) {
      const pb_s1_value *from = &p->values[op.x], *to = &p->values[op.y];
      goes = !from->is_variable && from->alias_of < 0 && !to->is_output && !to->made_of && same_type(from, to);
    }
    if (goes)
      rename_value(p, op.y, op.x);
    else
      p->ops[kept++] = p->ops[k];
  }
  p->op_count = kept;
  free(writers);
}

// ---- computed alike ----

typedef struct hoister {
  pb_s1* program;
  size_t begin, end; // marks: LOOP, AGAIN
  bool *made, *goes; // by value: made inside of the loop; and may be made in front of it
  double* read;      // by value: bytes that what makes it reads
} hoister;

static double bytes_of(const pb_s1_value* v) {
  double count = pb_type_bits(pb_type_stored(v->type)) / 8.0;
  for (int r = 0; r < v->rank; ++r) count *= (double)v->shape[r];
  return count;
}

// What is made outside of branches and loops of this loop may go; its turns' variables may not.
static void begin_with_all(hoister* h) {
  int depth = 0;
  for (size_t k = h->begin; k <= h->end; ++k) {
    const pb_s1_op* op = &h->program->ops[k];
    depth += pb_s1_opens(op->kind);
    if (op->y < 0) continue;
    int y = pb_s1_base(h->program, op->y);
    bool may = depth == 1 && !pb_s1_is_control(op) && !h->program->values[y].is_output;
    h->goes[y] = may && (!h->made[y] || h->goes[y]);
    h->made[y] = true;
  }
}

// What reads what stays, stays; until nothing more does.
static void keep_readers(hoister* h) {
  for (bool more = true; more;) {
    more = false;
    for (size_t k = h->begin; k <= h->end; ++k) {
      const pb_s1_op* op = &h->program->ops[k];
      int operands[MOST_OPERANDS], y = op->y >= 0 ? pb_s1_base(h->program, op->y) : -1;
      if (y < 0 || !h->goes[y]) continue;
      int count = operands_of(h->program, op, operands);
      for (int a = 0; a < count; ++a)
        if (h->made[operands[a]] && !h->goes[operands[a]]) h->goes[y] = false;
      more |= !h->goes[y];
    }
  }
}

static void keep_what_grows(hoister* h) {
  const pb_s1* p = h->program;
  for (size_t k = h->begin; k <= h->end; ++k) {
    int operands[MOST_OPERANDS];
    if (p->ops[k].y < 0) continue;
    int count = operands_of(p, &p->ops[k], operands);
    for (int a = 0; a < count; ++a) {
      bool again = p->values[operands[a]].const_id >= 0;
      for (int b = 0; b < a; ++b) again |= operands[b] == operands[a];
      if (!again) h->read[pb_s1_base(p, p->ops[k].y)] += bytes_of(&p->values[operands[a]]);
    }
  }
  for (size_t v = 0; v < p->value_count; ++v)
    if (h->goes[v] && bytes_of(&p->values[v]) > h->read[v]) h->goes[v] = false;
}

static bool goes(const hoister* h, const pb_s1_op* op) {
  return !pb_s1_is_control(op) && op->y >= 0 && h->goes[pb_s1_base(h->program, op->y)];
}

static bool is_read(const hoister* h, int variable) {
  for (size_t k = h->begin; k <= h->end; ++k) {
    int operands[MOST_OPERANDS];
    if (!goes(h, &h->program->ops[k])) continue;
    int count = operands_of(h->program, &h->program->ops[k], operands);
    for (int a = 0; a < count; ++a)
      if (operands[a] == variable) return true;
  }
  return false;
}

// In front of the moves by which the loop's variables begin, which so stay beside it.
static void move_out(hoister* h) {
  pb_s1_op* ops = h->program->ops;
  size_t count = h->end + 1 - h->begin, to = h->begin, out = 0, in = 0;
  while (to > 0 && ops[to - 1].kind == PB_S1_MOVE && !is_read(h, ops[to - 1].y)) --to;
  pb_s1_op *first = malloc(count * sizeof *first), *rest = malloc((h->end + 1 - to) * sizeof *rest);
  if (!first || !rest) pb_no_memory(count * sizeof *first);
  for (size_t k = to; k <= h->end; ++k)
    if (k >= h->begin && goes(h, &ops[k]))
      first[out++] = ops[k];
    else
      rest[in++] = ops[k];
  memcpy(ops + to, first, out * sizeof *first);
  memcpy(ops + to + out, rest, in * sizeof *rest);
  free(first);
  free(rest);
}

void pb_s1_hoist(pb_s1* program) {
  if (!pb_s1_has_control(program)) return;
  pb_s1_drop_unchanged(program);
  size_t values = program->value_count;
  for (size_t k = program->op_count; k-- > 0;) { // inner loops first: what leaves one may leave those around it
    if (program->ops[k].kind != PB_S1_LOOP) continue;
    hoister h = {.program = program, .begin = k, .end = pb_s1_end_of(program, k)};
    h.made = calloc(values, sizeof *h.made);
    h.goes = calloc(values, sizeof *h.goes);
    h.read = calloc(values, sizeof *h.read);
    if (!h.made || !h.goes || !h.read) pb_no_memory(values);
    begin_with_all(&h);
    keep_readers(&h);
    keep_what_grows(&h);
    keep_readers(&h);
    move_out(&h);
    free(h.made);
    free(h.goes);
    free(h.read);
  }
}
