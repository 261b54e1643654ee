// Row numbers: where commands gather rows of a table by numbers that lie in a memory of the chip, the numbers become a
// tensor of their own, in front of the nest that gathers. Requires the program function in value form, leaves it so. In
// front of align, for the nest that makes the numbers is pointwise like others: a unit computes it, or with
// --fallback the processor, which has what comes as i64. Keeping numbers inside the table is the command's. Does
// nothing to what names its rows by a tensor of i32 already.
//
//   before   y[i, c] = t[inside(x[i] < 0 ? x[i] + 64 : x[i]), c]
//   after    n[i] = x[i] < 0 ? x[i] + 64 : x[i];  y[i, c] = t[inside(n[i]), c]
#include "core/s3/kernel/flat.h"
#include "core/s3/legalise/legalise.h"
#include "core/s3/program.h"
#include "core/s3/s3.h"

#include <string.h>

enum { NONE = -1 };

typedef struct numberer {
  pb_unit* unit;
  pb_program* from;
  pb_program to; // its nests are those of `from` and the ones that make numbers
} numberer;

// The access whose rows the nest copies, and nothing else; NONE: it is another nest.
static int table_of(const pb_nest* nest) {
  int table = pb__rows_table(nest);
  return table >= 0 && pb_gathers_rows(&nest->access[table]) ? table : NONE;
}

static bool chip_gathers(const pb_chip* chip, const pb_nest* nest) {
  pb_flat flat;
  pb_flat_begin(nest, &flat);
  return pb_select_knows(chip, &flat);
}

// The number of the row as the body has it, in front of the index that it becomes.
static int number_of(const pb_nest* nest) {
  int n = nest->expr[nest->expr_count - 1].args[0];
  bool index = nest->expr[n].op == PB_OP_SEXT && nest->expr[n].type == PB_INDEX;
  return index ? nest->expr[n].args[0] : n;
}

// x < 0 ? x + rows : x of an i32, which needs no more bits than x has. Returns x as i32; NONE: it is another number.
static int from_end(const pb_nest* nest, int n, int64_t rows) {
  const pb_expr_node *e = nest->expr, *s = &e[n];
  if (s->op != PB_OP_SELECT || e[s->args[0]].op != PB_OP_LESS || e[s->args[1]].op != PB_OP_ADD) return NONE;
  const pb_expr_node *less = &e[s->args[0]], *add = &e[s->args[1]];
  int x = s->args[2];
  if (less->args[0] != x || add->args[0] != x || !pb_is_number(&e[less->args[1]], 0) ||
      !pb_is_number(&e[add->args[1]], rows))
    return NONE;
  if (e[x].op == PB_OP_SEXT) x = e[x].args[0];
  return e[x].op == PB_OP_LOAD && e[x].args[0] < 0 && e[x].type == PB_I32 ? x : NONE;
}

// The value of the numbers, as nodes of `made`: those of the nest up to the number, or fewer. values: of the nest's
// accesses, value_of: of those that it has there.
static void add_number(const pb_nest* nest, const pb_access* table, const int* values, pb_nest* made, int* value_of) {
  int64_t rows = table->shape[table->gathered - 1];
  int whole = number_of(nest), n = pb_row_unclamped(nest->expr, whole, rows), x = from_end(nest, n, rows);
  if (x >= 0) {
    made->access[0] = nest->access[nest->expr[x].operand];
    value_of[0] = values[nest->expr[x].operand];
    int number = pb_nest_load(made, 0), zero = pb_nest_integer(made, PB_I32, 0);
    int below = pb_nest_node(made, PB_OP_LESS, PB_I1, number, zero);
    int turned = pb_nest_node(made, PB_OP_ADD, PB_I32, number, pb_nest_integer(made, PB_I32, rows));
    int chosen = pb_nest_node(made, PB_OP_SELECT, PB_I32, below, turned);
    made->expr[chosen].args[2] = number;
    made->access_count = 1;
    return;
  }
  int access_of[PB_NEST_ACCESSES];
  memset(access_of, 0xff, sizeof access_of);
  for (int k = 0; k <= whole; ++k) {
    made->expr[k] = nest->expr[k];
    if (nest->expr[k].op != PB_OP_LOAD) continue;
    int* a = &access_of[nest->expr[k].operand];
    if (*a < 0) {
      value_of[*a = made->access_count++] = values[nest->expr[k].operand];
      made->access[*a] = nest->access[nest->expr[k].operand];
    }
    made->expr[k].operand = *a;
  }
  made->expr_count = whole + 1;
  if (nest->expr[whole].type != PB_I32) (void)pb_nest_node(made, PB_OP_TRUNC, PB_I32, whole, -1);
}

// The number of each row, by a tensor of one dim. The dims that no number walks stay out. It has a name of its own:
// with --fallback another target may run it, and not what gathers.
static void make_numbers(numberer* w, int n, int table, pb_nest* made, int* value_of, pb_access* walk) {
  const pb_nest* nest = &w->from->nests[n];
  const char* name = pb_printf(&w->unit->pass, "%s.rows", nest->name ? nest->name : "");
  pb_nest_begin(made, name, "point", 0);
  add_number(nest, &nest->access[table], w->from->value_of[n], made, value_of);
  *walk = (pb_access){.type = PB_I32, .rank = 1, .shape = {1}, .buffer = NONE};
  made->dim_count = nest->dim_count;
  memcpy(made->extent, nest->extent, sizeof made->extent);
  bool walked[PB_NEST_DIMS] = {false};
  for (int d = 0; d < nest->dim_count; ++d)
    for (int a = 0; a < made->access_count; ++a) walked[d] |= pb_access_uses(&made->access[a], d);
  for (int d = nest->dim_count - 1; d >= 0; --d) {
    if (!walked[d]) continue;
    walk->index[0].coef[d] = walk->shape[0];
    walk->shape[0] *= nest->extent[d];
  }
  made->access[made->access_count++] = *walk;
  for (int d = nest->dim_count - 1; d >= 0; --d)
    if (!walked[d]) pb_nest_remove_dim(made, d);
}

// The nest that gathers by the tensor of numbers, kept inside the table.
static void gather_by(const pb_nest* nest, int table, const pb_access* walk, pb_nest* gather) {
  pb_nest_begin(gather, nest->name, nest->part, 3);
  gather->dim_count = nest->dim_count;
  memcpy(gather->extent, nest->extent, sizeof gather->extent);
  gather->access[0] = *walk;
  gather->access[1] = nest->access[table];
  gather->access[2] = nest->access[nest->access_count - 1];
  int64_t at = nest->access[table].gathered - 1, rows = nest->access[table].shape[at];
  int number = pb_nest_load(gather, 0);
  number = pb_nest_node(gather, PB_OP_MAX, PB_I32, number, pb_nest_integer(gather, PB_I32, 0));
  number = pb_nest_node(gather, PB_OP_MIN, PB_I32, number, pb_nest_integer(gather, PB_I32, rows - 1));
  number = pb_nest_node(gather, PB_OP_SEXT, PB_INDEX, number, -1);
  (void)pb_nest_gather(gather, 1, (int)at, number);
}

// Whether the chip has a command for the nest once its numbers are a tensor.
static bool can_split(const pb_chip* chip, const pb_nest* nest) {
  int table = table_of(nest);
  pb_nest gather;
  if (table < 0) return false;
  gather_by(nest, table, &(pb_access){.type = PB_I32, .rank = 1, .shape = {1}}, &gather);
  return chip_gathers(chip, &gather);
}

static bool splits(const numberer* w, int n) {
  return can_split(w->unit->chip, &w->from->nests[n]) && !chip_gathers(w->unit->chip, &w->from->nests[n]);
}

// Nests that gather of flat copies gather of what was copied, where a command does that.
static bool unflatten_all(numberer* w) {
  pb_nest* rows = pb_alloc_raw(&w->unit->pass, sizeof *rows);
  bool any = false;
  for (int n = 0; n < w->from->nest_count; ++n) {
    int copy, table = pb__rows_unflatten(w->from, n, rows, &copy);
    if (table < 0 || !can_split(w->unit->chip, rows)) continue;
    int flat = pb_program_stored(w->from, copy);
    pb_nest_copy(&w->from->nests[n], rows);
    pb_program_set_value(w->from, &w->unit->pass, n, pb__rows_table(rows), table);
    w->from->gone[copy] = !pb_program_readers(w->from, flat);
    any = true;
  }
  return any;
}

static void split(numberer* w, int n) {
  const pb_nest* nest = &w->from->nests[n];
  int table = table_of(nest), value_of[PB_NEST_ACCESSES] = {0};
  pb_nest numbers, gather;
  pb_access walk;
  make_numbers(w, n, table, &numbers, value_of, &walk);
  int value = value_of[numbers.access_count - 1] = pb_program_add_local(&w->to, &w->unit->pass, &walk);
  (void)pb_program_add_nest(&w->to, &numbers, value_of);
  gather_by(nest, table, &walk, &gather);
  const int of_gather[PB_NEST_ACCESSES] = {value, w->from->value_of[n][table],
                                           w->from->value_of[n][nest->access_count - 1]};
  (void)pb_program_add_nest(&w->to, &gather, of_gather);
}

bool pb_s3_row_numbers(pb_unit* unit, pb_program* p) {
  numberer w = {.unit = unit, .from = p};
  bool any = unflatten_all(&w);
  for (int n = 0; n < p->nest_count && !any; ++n) any = splits(&w, n);
  if (!any) return false;
  pb_program_begin_nests(p, &unit->pass, &w.to);
  for (int n = 0; n < p->nest_count; ++n)
    if (splits(&w, n))
      split(&w, n);
    else if (!p->gone[n])
      (void)pb_program_add_nest(&w.to, &p->nests[n], p->value_of[n]);
  *p = w.to;
  return true;
}
