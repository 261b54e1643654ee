// chlo.ragged_dot, written out: a product for each group of the ragged dim's places, whose numbers come at run time.
#include "core/frontend/stablehlo/write_out.h"

#include <stdio.h>
#include <string.h>

static const char numbers[] = "ragged_dot_dimension_numbers";

typedef struct ragged {
  int x, z, sizes; // operands
  int64_t contracted[2][PB_FLAT_RANK];
  int count;
  int ragged, group; // of x, and of z; -1: none, the ragged dim is summed over
  int64_t groups;
  int first; // the place where the group at hand begins, a number
} ragged;

static int with_shape(pb_writer* w, int x, int rank, const int64_t* shape) {
  return pb__write(w, "stablehlo.reshape", pb__write_shaped(pb__write_type(w, x), rank, shape), 1, &x, 0, NULL);
}

static int size_of_group(pb_writer* w, const ragged* r, int64_t group) {
  return with_shape(w, pb__write_rows(w, r->sizes, 0, group, group + 1), 0, NULL);
}

static int compared(pb_writer* w, const char* how, int x, int y) {
  pb_flat_type type = pb__write_type(w, x);
  return pb__write_compared(w, how, x, pb__write_spread(w, y, type.rank, type.shape));
}

// x where its place along the dim is the group's, else `other`.
static int within(pb_writer* w, const ragged* r, int x, int dim, int end, int other) {
  pb_flat_type type = pb__write_type(w, x), places = pb__write_type(w, r->sizes);
  pb_flat_attr along = {.name = "iota_dimension", .kind = PB_FLAT_INT, .i = dim, .text = ""};
  places = pb__write_shaped(places, type.rank, type.shape);
  int at = pb__write(w, "stablehlo.iota", places, 0, NULL, 1, &along);
  int behind = compared(w, "GE", at, r->first), in_front = compared(w, "LT", at, end);
  int is = pb__write_binary(w, "stablehlo.and", behind, in_front);
  return pb__write(w, "stablehlo.select", type, 3, (const int[]){is, x, other}, 0, NULL);
}

static int zeros(pb_writer* w, pb_flat_type type) {
  static const int64_t zero[2];
  int one = pb__write_constant(w, pb__write_shaped(type, 0, NULL), zero);
  return pb__write_spread(w, one, type.rank, type.shape);
}

static int product(pb_writer* w, const ragged* r, int x, int z, const int64_t* of_z, pb_flat_type type) {
  char text[256];
  size_t n = 0;
  for (int side = 0; side < 2; ++side) {
    n += (size_t)snprintf(text + n, sizeof text - n, "%s_contracting_dimensions = [", side ? ", rhs" : "lhs");
    for (int k = 0; k < r->count; ++k)
      n += (size_t)snprintf(text + n, sizeof text - n, "%s%lld", k ? ", " : "",
                            (long long)(side ? of_z[k] : r->contracted[0][k]));
    n += (size_t)snprintf(text + n, sizeof text - n, "]");
  }
  pb_flat_attr dims = pb__write_text("dot_dimension_numbers", pb_printf(&w->d->m.program->arena, "%s", text));
  return pb__write(w, "stablehlo.dot_general", type, 2, (const int[]){x, z}, 1, &dims);
}

// Rows of x by their group's part of z: of rows that no group has it is 0.
static int by_rows(pb_writer* w, ragged* r) {
  pb_flat_type result = pb__write_type(w, w->op->results[0]), whole = pb__write_type(w, r->z);
  int64_t of_z[PB_FLAT_RANK], shape[PB_FLAT_RANK];
  int row = r->ragged, rank = 0, y = zeros(w, result);
  for (int k = 0; k < r->count; ++k) {
    row -= r->contracted[0][k] < r->ragged;
    of_z[k] = r->contracted[1][k] - (r->contracted[1][k] > r->group);
  }
  for (int d = 0; d < whole.rank; ++d)
    if (d != r->group) shape[rank++] = whole.shape[d];
  for (int64_t g = 0; g < r->groups; ++g) {
    int end = pb__write_binary(w, "stablehlo.add", r->first, size_of_group(w, r, g));
    int z = with_shape(w, pb__write_rows(w, r->z, r->group, g, g + 1), rank, shape);
    y = within(w, r, product(w, r, r->x, z, of_z, result), row, end, y);
    r->first = end;
  }
  return y;
}

// A product for each group's share of what is summed over, one behind the other.
static int by_sums(pb_writer* w, ragged* r) {
  pb_flat_type result = pb__write_type(w, w->op->results[0]), part = result, one = result;
  int *all = PB_NEW_ARRAY(&w->d->m.program->arena, int, (size_t)r->groups + 1), at = 0;
  while (r->contracted[0][at] != r->ragged) ++at;
  one.shape[0] = 1;
  part = pb__write_shaped(part, result.rank - 1, result.shape + 1);
  int none_of_x = zeros(w, pb__write_type(w, r->x)), none_of_z = zeros(w, pb__write_type(w, r->z));
  for (int64_t g = 0; g < r->groups; ++g) {
    int end = pb__write_binary(w, "stablehlo.add", r->first, size_of_group(w, r, g));
    int x = within(w, r, r->x, r->ragged, end, none_of_x);
    int z = within(w, r, r->z, (int)r->contracted[1][at], end, none_of_z);
    all[g] = with_shape(w, product(w, r, x, z, r->contracted[1], part), one.rank, one.shape);
    r->first = end;
  }
  return pb__write_joined(w, 0, (int)r->groups, all);
}

static int list(const pb_flat_op* op, const char* name, int64_t* items) {
  return pb__door_list(op, numbers, name, PB_FLAT_RANK, items);
}

// NULL, or what is wrong.
static const char* read(pb_door* d, const pb_flat_op* op, ragged* r) {
  int64_t x_dim[PB_FLAT_RANK], z_dim[PB_FLAT_RANK], none[PB_FLAT_RANK];
  const pb_flat_type *x = pb__door_type(d, op->operands[0]), *z = pb__door_type(d, op->operands[1]),
                     *sizes = pb__door_type(d, op->operands[2]), *y = pb__door_type(d, op->results[0]);
  if (list(op, "lhs_batching_dimensions", none) > 0 || list(op, "rhs_batching_dimensions", none) > 0)
    return "of batches";
  r->count = list(op, "lhs_contracting_dimensions", r->contracted[0]);
  if (r->count < 1 || list(op, "rhs_contracting_dimensions", r->contracted[1]) != r->count)
    return "dims that do not fit";
  int groups = list(op, "rhs_group_dimensions", z_dim);
  if (list(op, "lhs_ragged_dimensions", x_dim) != 1 || groups > 1) return "dims that do not fit";
  bool summed = false, fits = sizes->rank == 1 && (sizes->type == PB_I32 || sizes->type == PB_I64) && y->rank > 0;
  for (int k = 0; k < r->count; ++k) {
    fits &= r->contracted[0][k] >= 0 && r->contracted[0][k] < x->rank && r->contracted[1][k] >= 0 &&
            r->contracted[1][k] < z->rank;
    summed |= r->contracted[0][k] == x_dim[0];
    fits &= groups < 1 || r->contracted[1][k] != z_dim[0];
  }
  fits &= x_dim[0] >= 0 && x_dim[0] < x->rank && summed == (groups < 1) && sizes->shape[0] > 0;
  if (!fits || (groups == 1 && (z_dim[0] < 0 || z_dim[0] >= z->rank || z->shape[z_dim[0]] != sizes->shape[0])))
    return "dims that do not fit";
  if (x->rank + z->rank - 2 * r->count - (groups == 1) + summed != y->rank) return "dims that do not fit";
  if (summed && y->shape[0] != sizes->shape[0]) return "dims that do not fit";
  r->ragged = (int)x_dim[0];
  r->group = groups == 1 ? (int)z_dim[0] : -1;
  r->groups = sizes->shape[0];
  return NULL;
}

pb_status pb__door_ragged_dot(pb_door* d, const pb_flat_op* op) {
  ragged r = {.x = op->operands[0], .z = op->operands[1], .sizes = op->operands[2]};
  const char* wrong = read(d, op, &r);
  if (wrong) return pb__door_refuse(d, op, "%s", wrong);
  pb_writer w = pb__write_start(d, op);
  r.first = zeros(&w, pb__write_shaped(pb__write_type(&w, r.sizes), 0, NULL));
  pb__write_result(&w, 0, r.group >= 0 ? by_rows(&w, &r) : by_sums(&w, &r));
  return pb__write_end(&w);
}
