#include "core/s1/control.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

bool pb_s1_has_control(const pb_s1* program) {
  for (size_t k = 0; k < program->op_count; ++k)
    if (pb_s1_is_control(&program->ops[k])) return true;
  return false;
}

size_t pb_s1_end_of(const pb_s1* p, size_t begin) {
  size_t k = begin;
  for (int depth = pb_s1_opens(p->ops[k].kind); depth; depth += pb_s1_opens(p->ops[k].kind)) ++k;
  return k;
}

// ---- made ----

int pb_control_variable(pb_maker* m, int like) {
  const pb_s1_value from = *pb_made(m, like);
  int v = pb_make_value(m, from.type, from.rank, from.shape);
  m->program->values[v].is_variable = true;
  return v;
}

void pb_control_mark(pb_maker* m, pb_s1_kind kind, int x) { (void)pb_make_op(m, kind, x, -1); }

void pb_control_place(pb_maker* m, int variable, int x, int axis, int index) {
  pb_s1_op* op = pb_make_op(m, PB_S1_PLACE, x, variable);
  op->axis = axis;
  op->third = index;
}

void pb_control_assign(pb_maker* m, int count, const int* variables, const int* values) {
  int* from = PB_NEW_ARRAY(&m->program->arena, int, (size_t)count + 1);
  for (int k = 0; k < count; ++k) {
    from[k] = pb_s1_base(m->program, values[k]);
    bool changes = false; // before it is read
    for (int j = 0; j < count; ++j) changes |= j != k && from[k] == variables[j];
    if (!changes) continue;
    const pb_s1_value old = *pb_made(m, from[k]);
    int kept = pb_make_value(m, old.type, old.rank, old.shape);
    pb_make_copy(m, from[k], kept);
    from[k] = kept;
  }
  for (int k = 0; k < count; ++k)
    if (from[k] != variables[k]) (void)pb_make_op(m, PB_S1_MOVE, from[k], variables[k]);
}

// ---- jumps ----

int pb_brackets_take(pb_brackets* b, pb_s1_kind kind, int jump, int next, pb_jump* jumps) {
  struct pb_bracket* top = b->depth ? &b->open[b->depth - 1] : NULL;
  int count = 0;
  switch (kind) {
  case PB_S1_LOOP:
  case PB_S1_IF:
    b->open[b->depth++] = (struct pb_bracket){kind == PB_S1_LOOP ? next : -1, jump};
    break;
  case PB_S1_WHILE:
    top->leave = jump;
    break;
  case PB_S1_ELSE:
    jumps[count++] = (pb_jump){top->leave, next};
    top->leave = jump;
    break;
  default: // PB_S1_AGAIN, PB_S1_END
    if (kind == PB_S1_AGAIN) jumps[count++] = (pb_jump){jump, top->begin};
    jumps[count++] = (pb_jump){top->leave, next};
    --b->depth;
  }
  return count;
}

// ---- what operators read ----

enum { MOST_OPERANDS = 3 + PB_NEST_ACCESSES };

// A nest's own result is among them.
static int operands_of(const pb_s1* program, const pb_s1_op* op, int* values) {
  const int own[3] = {op->x, op->z, op->third};
  int count = 0;
  for (int k = 0; k < 3; ++k)
    if (own[k] >= 0) values[count++] = pb_s1_base(program, own[k]);
  for (int a = 0; op->nest && a < op->nest->access_count; ++a)
    values[count++] = pb_s1_base(program, op->nest->access[a].buffer);
  return count;
}

// By operator, the mark that opens the loop or branch around it, from 1 on; of such a mark and of the others of its
// loop or branch that one itself. 0: none.
static size_t* brackets_of(const pb_s1* program) {
  size_t *opened = calloc(program->op_count + 1, sizeof *opened), around = 0;
  if (!opened) pb_no_memory(program->op_count);
  for (size_t k = 0; k < program->op_count; ++k) {
    int opens = pb_s1_opens(program->ops[k].kind);
    if (opens > 0) {
      opened[k] = around; // as long as it is open
      around = k + 1;
      continue;
    }
    opened[k] = around;
    if (opens < 0) around = opened[around - 1];
  }
  return opened;
}

static bool is_bracket(const pb_s1_op* op) {
  return pb_s1_opens(op->kind) || op->kind == PB_S1_WHILE || op->kind == PB_S1_ELSE;
}

// The loops and branches around something that counts do so, with what decides them.
static bool keep_around(size_t* opened, bool* kept, size_t k) {
  bool more = false;
  for (size_t around = opened[k]; around && !kept[around - 1]; around = opened[around - 1])
    more = kept[around - 1] = true;
  return more;
}

// What is read by what counts, counts; until no more does, as a turn reads what the one before made. A loop or a branch
// counts that holds what does.
void pb_s1_drop_unread(pb_s1* program) {
  bool* read = calloc(program->value_count + 1, sizeof *read);
  bool* kept = calloc(program->op_count + 1, sizeof *kept);
  bool* seen = calloc(program->op_count + 1, sizeof *seen); // what it reads is known
  if (!read || !kept || !seen) pb_no_memory(program->value_count + program->op_count);
  size_t* opened = brackets_of(program);
  for (bool more = true; more;) {
    more = false;
    for (size_t k = program->op_count; k-- > 0;) {
      const pb_s1_op* op = &program->ops[k];
      bool unread = op->y >= 0 && !program->values[op->y].is_output && !read[op->y];
      bool left_out = is_bracket(op) && pb_s1_opens(op->kind) <= 0 && !kept[opened[k] - 1];
      if (pb_s1_opens(op->kind) > 0 && !kept[k]) continue;
      if (seen[k] || unread || left_out) continue;
      int operands[MOST_OPERANDS], count = operands_of(program, op, operands);
      kept[k] = seen[k] = true;
      more |= keep_around(opened, kept, k);
      for (int a = 0; a < count; ++a) {
        more |= !read[operands[a]] && program->values[operands[a]].is_variable;
        read[operands[a]] = true;
      }
    }
  }
  size_t count = 0;
  for (size_t k = 0; k < program->op_count; ++k)
    if (kept[k]) program->ops[count++] = program->ops[k];
  program->op_count = count;
  free(read);
  free(kept);
  free(seen);
  free(opened);
}
