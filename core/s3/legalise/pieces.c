// Pieces: what copies take out of a tensor, or put together in one, inside its rows of lanes, where a product of two
// computed tensors meets it, which takes whole rows of lanes: the pieces come and go by a tensor of their own, which
// lies plainly, and a copy between the two takes whole rows. Requires the program function in value form, leaves it so.
// Behind align, whose copies may be such, and in front of layout. Nothing is inside a row where rows are an element.
//
//   before   a[i, c] = x[i, 8 + c];                    y[i, j] += p[i, k] * x[k, 16 + j]       of x: 20x64, a: 20x8
//   after    t[i, c] = x[i, c];  a[i, c] = t[i, 8 + c];  y[i, j] += p[i, k] * x[k, 16 + j]     of t: 20x64
#include "core/s3/chip_facts.h"
#include "core/s3/compose.h"
#include "core/s3/kernel/contraction_dims.h"
#include "core/s3/program.h"
#include "core/s3/s3.h"

#include <string.h>

enum { NONE = -1 };

typedef struct piecer {
  pb_unit* unit;
  pb_program* from;
  pb_program to;
  int64_t row;  // pb_chip_row
  int* plain;   // by value of `from`: the tensor in which its pieces are, NONE: it has none, or not yet
  bool* pieced; // by value: it is put together of pieces
} piecer;

// Whether the access walks its tensor otherwise than by whole rows of lanes.
static bool is_inside_rows(const piecer* s, const pb_nest* nest, const pb_access* access) {
  const pb_index* last = &access->index[access->rank - 1];
  int64_t neighbours = 1;
  for (int d = 0; d < nest->dim_count; ++d) {
    if (nest->extent[d] == 1 || !last->coef[d]) continue;
    if (last->coef[d] == 1 && neighbours == 1)
      neighbours = nest->extent[d];
    else if (last->coef[d] % s->row)
      return true;
  }
  return last->cst % s->row || neighbours % s->row;
}

static bool is_piece(const piecer* s, int n, int a) {
  const pb_nest* nest = &s->from->nests[n];
  return pb_copies_elements(nest) && nest->access[a].rank && is_inside_rows(s, nest, &nest->access[a]);
}

// Whether its rows are whole rows of lanes, and a product of two computed tensors takes or makes it.
static bool is_multiplied(const piecer* s, int v) {
  const pb_program* p = s->from;
  const pb_value* value = &p->values[v];
  pb_contraction_dims roles;
  if (!pb_program_is_local(p, v) || value->rank < 2 || value->shape[value->rank - 1] % s->row) return false;
  PB_FOR_USES (n, p, v)
    if (pb_nest_contraction_dims(&p->nests[n], NULL, &roles) && !pb_program_multiplies_weights(p, n)) return true;
  return false;
}

// Whether copies alone put the value together, some of them inside its rows.
static bool has_pieces(const piecer* s, int v) {
  bool any = false;
  PB_FOR_WRITERS (n, s->from, v) {
    if (!pb_copies_elements(&s->from->nests[n])) return false;
    any |= is_piece(s, n, s->from->nests[n].access_count - 1);
  }
  return any;
}

static void add_whole_copy(piecer* s, const char* name, int from, int to) {
  pb_access like = pb_value_shape(&s->to.values[from]);
  pb_nest copy;
  pb_nest_begin_over(&copy, name, "copy", 2, &like);
  (void)pb_nest_load(&copy, 0);
  (void)pb_program_add_nest(&s->to, &copy, (const int[PB_NEST_ACCESSES]){from, to});
}

static int add_plain(piecer* s, int v) {
  pb_access like = pb_value_shape(&s->from->values[v]);
  return s->plain[v] = pb_program_add_local(&s->to, &s->unit->pass, &like);
}

static void write_nest(piecer* s, int n) {
  const pb_nest* nest = &s->from->nests[n];
  int value_of[PB_NEST_ACCESSES], x = s->from->value_of[n][0], y = pb_program_stored(s->from, n);
  memcpy(value_of, s->from->value_of[n], sizeof value_of);
  if (is_piece(s, n, 0) && is_multiplied(s, x)) {
    if (s->plain[x] == NONE) add_whole_copy(s, nest->name, x, add_plain(s, x));
    value_of[0] = s->plain[x];
  }
  if (s->pieced[y]) value_of[nest->access_count - 1] = s->plain[y] == NONE ? add_plain(s, y) : s->plain[y];
  (void)pb_program_add_nest(&s->to, nest, value_of);
  if (s->pieced[y] && n == pb_program_last_writer(s->from, y)) add_whole_copy(s, nest->name, s->plain[y], y);
}

// Whether anything is to be done.
static bool find_pieces(piecer* s) {
  bool any = false;
  for (int v = 0; v < s->from->value_count; ++v) {
    s->plain[v] = NONE;
    if (!is_multiplied(s, v)) continue;
    s->pieced[v] = has_pieces(s, v);
    bool taken = false;
    PB_FOR_USES (n, s->from, v) taken |= s->from->value_of[n][0] == v && is_piece(s, n, 0);
    any |= s->pieced[v] || taken;
  }
  return any;
}

bool pb_s3_pieces(pb_unit* unit, pb_program* p) {
  size_t values = (size_t)p->value_count + 1;
  piecer s = {.unit = unit,
              .from = p,
              .row = pb_chip_row(unit->chip),
              .plain = PB_NEW_ARRAY(&unit->pass, int, values),
              .pieced = PB_NEW_ARRAY(&unit->pass, bool, values)};
  if (!find_pieces(&s)) return false;
  pb_program_begin_nests(p, &unit->pass, &s.to);
  for (int n = 0; n < p->nest_count; ++n) write_nest(&s, n);
  *p = s.to;
  return true;
}
