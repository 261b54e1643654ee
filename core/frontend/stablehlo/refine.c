// Extents that a text leaves open, from those of the operands. A front end works on numbers: once an operator's
// operands are there, so are the extents of its results. Operators that take extents as operands become those that say
// them.
#include "core/frontend/stablehlo/door.h"

#include <ctype.h>
#include <string.h>

// A type of no elements is one that is known by its text alone.
static pb_status be_empty(pb_door* d, pb_flat_type* type) {
  const char *extents = pb_shape_text(&d->m.program->arena, type->rank, type->shape), *element = type->text;
  for (element += strlen("tensor<"); *element == '?' || isdigit((unsigned char)*element); ++element)
    element = strchr(element, 'x');
  type->text = pb_printf(&d->m.program->arena, "tensor<%sx%s", extents, element);
  type->type = PB_TYPE_COUNT;
  return PB_OK;
}

pb_status pb__door_refine_as(pb_door* d, const pb_flat_op* op, int value, int rank, const int64_t* shape) {
  const pb_flat_type* said = &d->flat->values[value];
  pb_flat_type* type = &d->types[value];
  int64_t elements = 1;
  bool fits = said->type != PB_TYPE_COUNT && said->rank == rank;
  for (int r = 0; fits && r < rank; ++r) {
    fits = (said->shape[r] < 0 || said->shape[r] == shape[r]) && shape[r] >= 0 &&
           shape[r] <= pb_most_elements(d->m.consts) / (elements ? elements : 1);
    if (fits) elements *= shape[r];
  }
  if (!fits)
    return pb__door_refuse(d, op, "a value of %s would be %s", said->text,
                           pb_shape_text(&d->m.program->arena, rank, shape));
  memcpy(type->shape, shape, sizeof *shape * (size_t)rank);
  type->is_open = false;
  return elements ? PB_OK : be_empty(d, type);
}

typedef struct shape {
  int rank;
  int64_t at[PB_FLAT_RANK];
} shape;

static shape of(const pb_door* d, const pb_flat_op* op, int operand) {
  shape s = {0};
  if (operand >= op->operand_count) return s;
  const pb_flat_type* type = pb__door_type(d, op->operands[operand]);
  s.rank = type->rank;
  memcpy(s.at, type->shape, sizeof s.at);
  return s;
}

typedef bool rule(pb_door* d, const pb_flat_op* op, int result, shape* y);

static bool as_operand(pb_door* d, const pb_flat_op* op, int result, shape* y) {
  *y = of(d, op, result);
  return true;
}

// Operators of elements: all operands have the result's shape, but those that are one number.
static bool as_elements(pb_door* d, const pb_flat_op* op, int result, shape* y) {
  (void)result;
  for (int k = op->operand_count - 1; k >= 0; --k)
    if (of(d, op, k).rank) *y = of(d, op, k);
  return true;
}

static bool as_last_says(pb_door* d, const pb_flat_op* op, int result, shape* y) {
  (void)result;
  int last = op->operand_count - 1;
  y->rank = pb__door_integers(d, pb__door_in(d, op, last), PB_FLAT_RANK, y->at);
  return y->rank >= 0;
}

static bool transposed(pb_door* d, const pb_flat_op* op, int result, shape* y) {
  (void)result;
  shape x = of(d, op, 0);
  const int64_t* order = pb__door_ints(d, op, "permutation", x.rank, 0);
  y->rank = x.rank;
  for (int r = 0; order && r < x.rank; ++r) {
    if (order[r] < 0 || order[r] >= x.rank) return false;
    y->at[r] = x.at[order[r]];
  }
  return order;
}

static bool sliced(pb_door* d, const pb_flat_op* op, int result, shape* y) {
  (void)result;
  shape x = of(d, op, 0);
  const int64_t *start = pb__door_ints(d, op, "start_indices", x.rank, 0),
                *limit = pb__door_ints(d, op, "limit_indices", x.rank, 0),
                *step = pb__door_ints(d, op, "strides", x.rank, 1);
  y->rank = x.rank;
  for (int r = 0; start && limit && step && r < x.rank; ++r) {
    if (step[r] < 1) return false;
    y->at[r] = (limit[r] - start[r] + step[r] - 1) / step[r];
  }
  return start && limit && step;
}

static bool joined(pb_door* d, const pb_flat_op* op, int result, shape* y) {
  (void)result;
  int64_t axis = pb__door_int(op, "dimension", 0);
  *y = of(d, op, 0);
  for (int k = 1; k < op->operand_count; ++k) {
    shape x = of(d, op, k);
    if (axis < 0 || axis >= x.rank || x.rank != y->rank) return false;
    y->at[axis] += x.at[axis];
  }
  return true;
}

static bool padded(pb_door* d, const pb_flat_op* op, int result, shape* y) {
  (void)result;
  *y = of(d, op, 0);
  const int64_t *low = pb__door_ints(d, op, "edge_padding_low", y->rank, 0),
                *high = pb__door_ints(d, op, "edge_padding_high", y->rank, 0),
                *gap = pb__door_ints(d, op, "interior_padding", y->rank, 0);
  for (int r = 0; low && high && gap && r < y->rank; ++r) y->at[r] += low[r] + high[r] + (y->at[r] - 1) * gap[r];
  return low && high && gap;
}

static bool reduced(pb_door* d, const pb_flat_op* op, int result, shape* y) {
  (void)result;
  const pb_flat_attr* gone = pb_flat_find(op, "dimensions");
  shape x = of(d, op, 0);
  for (int r = 0; r < x.rank; ++r) {
    bool stays = true;
    for (int k = 0; gone && gone->ints && k < gone->count; ++k) stays &= gone->ints[k] != r;
    if (stays) y->at[y->rank++] = x.at[r];
  }
  return true;
}

static bool of_windows(pb_door* d, const pb_flat_op* op, int result, shape* y) {
  (void)result;
  *y = of(d, op, 0);
  const int64_t *size = pb__door_ints(d, op, "window_dimensions", y->rank, 1),
                *step = pb__door_ints(d, op, "window_strides", y->rank, 1),
                *base = pb__door_ints(d, op, "base_dilations", y->rank, 1),
                *wide = pb__door_ints(d, op, "window_dilations", y->rank, 1),
                *pad = pb__door_ints(d, op, "padding", 2 * y->rank, 0);
  if (!size || !step || !base || !wide || !pad) return false;
  for (int r = 0; r < y->rank; ++r) {
    int64_t all = (y->at[r] - 1) * base[r] + 1 + pad[2 * r] + pad[2 * r + 1];
    if (step[r] < 1) return false;
    y->at[r] = pb__door_places(all, (size[r] - 1) * wide[r] + 1, step[r]);
  }
  return true;
}

static bool is_in(const int64_t* list, int count, int64_t item) {
  for (int k = 0; k < count; ++k)
    if (list[k] == item) return true;
  return false;
}

static bool multiplied(pb_door* d, const pb_flat_op* op, int result, shape* y) {
  (void)result;
  static const char* const names[] = {"lhs_batching_dimensions", "lhs_contracting_dimensions",
                                      "rhs_batching_dimensions", "rhs_contracting_dimensions"};
  int64_t lists[4][PB_FLAT_RANK];
  int counts[4];
  for (int k = 0; k < 4; ++k) {
    counts[k] = pb__door_list(op, "dot_dimension_numbers", names[k], PB_FLAT_RANK, lists[k]);
    if (counts[k] < 0) return false;
  }
  shape in[2] = {of(d, op, 0), of(d, op, 1)};
  for (int k = 0; k < counts[0]; ++k) {
    if (lists[0][k] < 0 || lists[0][k] >= in[0].rank) return false;
    y->at[y->rank++] = in[0].at[lists[0][k]];
  }
  for (int o = 0; o < 2; ++o)
    for (int r = 0; r < in[o].rank; ++r) {
      if (is_in(lists[2 * o], counts[2 * o], r) || is_in(lists[2 * o + 1], counts[2 * o + 1], r)) continue;
      if (y->rank == PB_FLAT_RANK) return false;
      y->at[y->rank++] = in[o].at[r];
    }
  return true;
}

// Dims of windows in their places, those of the indices in the others.
static bool gathered(pb_door* d, const pb_flat_op* op, int result, shape* y) {
  (void)result;
  static const char* const names[] = {"offset_dims", "collapsed_slice_dims", "operand_batching_dims"};
  int64_t lists[3][PB_FLAT_RANK], windows[PB_FLAT_RANK];
  int counts[3], window_count = 0, next = 0, index = 0;
  for (int k = 0; k < 3; ++k) {
    counts[k] = pb__door_list(op, "dimension_numbers", names[k], PB_FLAT_RANK, lists[k]);
    if (counts[k] < 0) return false;
  }
  shape x = of(d, op, 0), places = of(d, op, 1);
  const int64_t *size = pb__door_ints(d, op, "slice_sizes", x.rank, 0),
                vector = pb__door_field(op, "dimension_numbers", "index_vector_dim", 0);
  if (!size) return false;
  for (int r = 0; r < x.rank; ++r)
    if (!is_in(lists[1], counts[1], r) && !is_in(lists[2], counts[2], r)) windows[window_count++] = size[r];
  y->rank = window_count + places.rank - (vector < places.rank);
  if (y->rank > PB_FLAT_RANK || window_count != counts[0]) return false;
  for (int r = 0; r < y->rank; ++r) {
    if (is_in(lists[0], counts[0], r)) {
      y->at[r] = windows[next++];
      continue;
    }
    index += index == vector;
    if (index >= places.rank) return false;
    y->at[r] = places.at[index++];
  }
  return true;
}

static bool of_sizes(pb_door* d, const pb_flat_op* op, int result, shape* y) {
  (void)result;
  *y = of(d, op, 0);
  const int64_t* size = pb__door_ints(d, op, "slice_sizes", y->rank, 0);
  if (size) memcpy(y->at, size, sizeof *size * (size_t)y->rank);
  return size;
}

// Of the right side, which the solution goes beside.
static bool solved(pb_door* d, const pb_flat_op* op, int result, shape* y) {
  (void)result;
  *y = of(d, op, 1);
  return true;
}

// The last dim of a transform to half of what there is, or back, is its length's.
static bool transformed(pb_door* d, const pb_flat_op* op, int result, shape* y) {
  (void)result;
  const pb_flat_attr* length = pb_flat_find(op, "fft_length");
  bool to_half = pb__door_says(op, "fft_type", "RFFT"), from_half = pb__door_says(op, "fft_type", "IRFFT");
  *y = of(d, op, 0);
  if (!length || !length->ints || length->count < 1 || !y->rank) return false;
  int64_t last = length->ints[length->count - 1];
  if (to_half || from_half) y->at[y->rank - 1] = to_half ? last / 2 + 1 : last;
  return true;
}

static bool topped(pb_door* d, const pb_flat_op* op, int result, shape* y) {
  (void)result;
  *y = of(d, op, 0);
  if (y->rank) y->at[y->rank - 1] = pb__door_int(op, "k", 0);
  return y->rank > 0;
}

// Extents of space by the windows, the others by the operands, all where the text of the numbers says.
static bool convolved(pb_door* d, const pb_flat_op* op, int result, shape* y);

static const struct {
  const char* name;
  rule* rule;
} rules[] = {{"stablehlo.dynamic_broadcast_in_dim", as_last_says},
             {"stablehlo.dynamic_reshape", as_last_says},
             {"stablehlo.dynamic_iota", as_last_says},
             {"stablehlo.transpose", transposed},
             {"stablehlo.slice", sliced},
             {"stablehlo.concatenate", joined},
             {"stablehlo.pad", padded},
             {"stablehlo.reduce", reduced},
             {"stablehlo.reduce_window", of_windows},
             {"stablehlo.dot_general", multiplied},
             {"stablehlo.gather", gathered},
             {"stablehlo.convolution", convolved},
             {"stablehlo.dynamic_slice", of_sizes},
             {"stablehlo.dynamic_update_slice", as_operand},
             {"stablehlo.reverse", as_operand},
             {"stablehlo.scatter", as_operand},
             {"stablehlo.sort", as_operand},
             {"stablehlo.select_and_scatter", as_operand},
             {"stablehlo.optimization_barrier", as_operand},
             {"stablehlo.complex", as_operand},
             {"stablehlo.real", as_operand},
             {"stablehlo.imag", as_operand},
             {"stablehlo.bitcast_convert", as_operand},
             {"stablehlo.cholesky", as_operand},
             {"stablehlo.triangular_solve", solved},
             {"stablehlo.fft", transformed},
             {"stablehlo.map", as_operand},
             {"chlo.conj", as_operand},
             {"chlo.top_k", topped}};

// Where the name's letters stand in "[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]": part 0 to 2. at[0], at[1]: of the two
// letters; then of the numbers.
static int places(const char* text, int part, char first, char second, int* at) {
  int rank = 0, spaces = 0;
  for (; text && part; --part) text = strchr(text + 1, '[');
  if (!text || !(text = strchr(text, '['))) return -1;
  for (++text; *text && *text != ']' && rank < PB_FLAT_RANK; ++text) {
    if (*text == first) at[0] = rank++;
    if (*text == second) at[1] = rank++;
    if (*text < '0' || *text > '9') continue;
    at[2 + *text - '0'] = rank++;
    ++spaces;
  }
  return spaces;
}

static bool convolved(pb_door* d, const pb_flat_op* op, int result, shape* y) {
  (void)result;
  const pb_flat_attr* numbers = pb_flat_find(op, "dimension_numbers");
  const char* text = numbers ? strchr(numbers->text, '[') : NULL;
  shape x = of(d, op, 0), w = of(d, op, 1);
  int a[12] = {0}, b[12] = {0}, c[12] = {0}, spaces = places(text, 0, 'b', 'f', a);
  if (spaces < 0 || spaces > 6 || x.rank != spaces + 2 || w.rank != x.rank || places(text, 1, 'i', 'o', b) != spaces ||
      places(text, 2, 'b', 'f', c) != spaces)
    return false;
  const int64_t *step = pb__door_ints(d, op, "window_strides", spaces, 1),
                *pad = pb__door_ints(d, op, "padding", 2 * spaces, 0),
                *base = pb__door_ints(d, op, "lhs_dilation", spaces, 1),
                *wide = pb__door_ints(d, op, "rhs_dilation", spaces, 1);
  if (!step || !pad || !base || !wide) return false;
  y->rank = x.rank;
  int64_t groups = pb__door_int(op, "batch_group_count", 1);
  y->at[c[0]] = groups > 0 ? x.at[a[0]] / groups : 0;
  y->at[c[1]] = w.at[b[1]];
  for (int s = 0; s < spaces; ++s) {
    int64_t all = (x.at[a[2 + s]] - 1) * base[s] + 1 + pad[2 * s] + pad[2 * s + 1];
    if (step[s] < 1) return false;
    y->at[c[2 + s]] = pb__door_places(all, (w.at[b[2 + s]] - 1) * wide[s] + 1, step[s]);
  }
  return true;
}

// Operators with values inside bind them to their names themselves.
static bool binds(const pb_flat_op* op) {
  return !strcmp(op->name, "func.call") || !strcmp(op->name, "stablehlo.while") || !strcmp(op->name, "stablehlo.if") ||
         !strcmp(op->name, "stablehlo.case");
}

static bool becomes_another(const pb_flat_op* op) {
  return !strcmp(op->name, "stablehlo.real_dynamic_slice") || !strcmp(op->name, "stablehlo.dynamic_pad") ||
         !strcmp(op->name, "stablehlo.dynamic_gather") || !strcmp(op->name, "stablehlo.dynamic_conv");
}

// Operands that must have one shape: open dims in which they differ are one from now on.
static pb_status unify(pb_door* d, const pb_flat_op* op) {
  static const struct {
    const char* name;
    int parts; // the first of so many equal parts of the operands are those
  } alike[] = {{"stablehlo.complex", 1},
               {"stablehlo.sort", 1},
               {"stablehlo.map", 1},
               {"stablehlo.reduce", 2},
               {"stablehlo.reduce_window", 2}};
  int count = 0;
  for (size_t k = 0; k < sizeof alike / sizeof *alike; ++k)
    if (!strcmp(alike[k].name, op->name)) count = op->operand_count / alike[k].parts;
  for (int k = 1; k < count; ++k) {
    shape a = of(d, op, 0), b = of(d, op, k);
    if (a.rank == b.rank && pb__door_unifies(d, a.rank, a.at, b.at)) return PB_ERR_UNSUPPORTED; // it is read again
  }
  return PB_OK;
}

pb_status pb__door_refine(pb_door* d, const pb_flat_op* op) {
  PB_TRY(unify(d, op));
  if (binds(op) || becomes_another(op)) return PB_OK;
  for (int k = 0; k < op->result_count; ++k) {
    if (!d->flat->values[op->results[k]].is_open) continue;
    shape y = {0};
    rule* how = pb__door_is_scalar(op) ? as_elements : NULL;
    for (size_t r = 0; r < sizeof rules / sizeof *rules && !how; ++r)
      if (!strcmp(rules[r].name, op->name)) how = rules[r].rule;
    if (!how) return pb__door_refuse(d, op, "a result of open extents");
    if (!how(d, op, k, &y)) return pb__door_refuse(d, op, "extents of its result that other extents do not decide");
    PB_TRY(pb__door_refine_as(d, op, op->results[k], y.rank, y.at));
  }
  return PB_OK;
}

// ---- operators with extents as operands ----

// One more attribute in front of the operator's own: the integers of an operand.
static pb_status say(pb_door* d, pb_flat_op* op, const char* name, const pb_flat_op* from, int operand) {
  pb_arena* arena = &d->m.program->arena;
  int64_t* ints = PB_NEW_ARRAY(arena, int64_t, 2 * PB_FLAT_RANK);
  int count = pb__door_integers(d, pb__door_in(d, from, operand), 2 * PB_FLAT_RANK, ints);
  if (count < 0) return pb__door_refuse(d, from, "operand %d, %s, which extents alone do not decide", operand, name);
  pb_flat_attr* attrs = PB_NEW_ARRAY(arena, pb_flat_attr, (size_t)op->attr_count + 1);
  attrs[0] = (pb_flat_attr){.name = name, .kind = PB_FLAT_INTS, .count = count, .ints = ints, .text = ""};
  if (op->attr_count) memcpy(attrs + 1, op->attrs, sizeof *attrs * (size_t)op->attr_count);
  op->attrs = attrs;
  ++op->attr_count;
  return PB_OK;
}

// The operator as the static one of that name, of its first operands; the others, in order, are these attributes.
static pb_status make(pb_door* d, const pb_flat_op* op, const char* name, int operands, const char* const* attributes) {
  pb_flat_op said = *op;
  said.name = name;
  said.operand_count = operands;
  for (int k = 0; attributes[k]; ++k) PB_TRY(say(d, &said, attributes[k], op, operands + k));
  PB_TRY(pb__door_refine(d, &said));
  return pb__door_op(d, &said);
}

// The sizes of a slice that ends where it begins and so much more, which extents decide, one step at a time.
static bool has_sizes(pb_door* d, const pb_flat_op* op, int64_t* size) {
  const pb_flat_op* end = pb__door_maker_of(d, op->operands[2]);
  int64_t step[PB_FLAT_RANK];
  int rank = pb_made(&d->m, pb__door_in(d, op, 0))->rank, by = -1;
  if (!end || strcmp(end->name, "stablehlo.add") != 0 || end->operand_count != 2) return false;
  if (pb__door_type(d, op->operands[0])->is_complex) return false;
  for (int k = 0; k < 2; ++k)
    if (end->operands[k] == op->operands[1]) by = end->operands[1 - k];
  if (by < 0 || d->value[by] < 0 || pb__door_integers(d, d->value[by], PB_FLAT_RANK, size) != rank ||
      pb__door_integers(d, pb__door_in(d, op, 3), PB_FLAT_RANK, step) != rank)
    return false;
  for (int r = 0; r < rank; ++r)
    if (step[r] != 1) return false;
  return true;
}

pb_status pb__door_real_dynamic_slice(pb_door* d, const pb_flat_op* op) {
  int64_t known[PB_FLAT_RANK], size[PB_FLAT_RANK];
  int rank = pb_made(&d->m, pb__door_in(d, op, 0))->rank;
  if (pb__door_integers(d, pb__door_in(d, op, 1), PB_FLAT_RANK, known) < 0 && has_sizes(d, op, size)) {
    if (d->flat->values[op->results[0]].is_open) PB_TRY(pb__door_refine_as(d, op, op->results[0], rank, size));
    return pb__door_slice_at(d, op, size);
  }
  return make(d, op, "stablehlo.slice", 1, (const char*[]){"start_indices", "limit_indices", "strides", NULL});
}

pb_status pb__door_dynamic_pad(pb_door* d, const pb_flat_op* op) {
  return make(d, op, "stablehlo.pad", 2,
              (const char*[]){"edge_padding_low", "edge_padding_high", "interior_padding", NULL});
}

pb_status pb__door_dynamic_gather(pb_door* d, const pb_flat_op* op) {
  return make(d, op, "stablehlo.gather", 2, (const char*[]){"slice_sizes", NULL});
}

pb_status pb__door_dynamic_conv(pb_door* d, const pb_flat_op* op) {
  return make(d, op, "stablehlo.convolution", 2, (const char*[]){"padding", NULL});
}
