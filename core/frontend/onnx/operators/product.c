// Products that are summed, by matrices and by letters.
#include "core/frontend/onnx/rows.h"

#include <ctype.h>
#include <string.h>

#define IN(k) pb__o_in(o, k)
#define OUT(v) pb__o_out(o, 0, v)

int pb__o_matmul(pb_onnx* o, int x, int z, pb_type type) {
  const pb_flat_type a = *pb__o_type(o, x), b = *pb__o_type(o, z);
  int64_t shape[PB_FLAT_RANK] = {0}, of_x[PB_FLAT_RANK + 1], of_z[PB_FLAT_RANK + 1];
  int rank = 0;
  if (!a.rank || !b.rank) {
    pb__o_refuse(o, "of a number");
    return x;
  }
  if (a.rank == 1) x = pb__o_reshape(o, x, 2, (const int64_t[]){1, a.shape[0]});
  if (b.rank == 1) z = pb__o_reshape(o, z, 2, (const int64_t[]){b.shape[0], 1});
  const pb_flat_type c = *pb__o_type(o, x), d = *pb__o_type(o, z);
  bool fits = pb__broadcast(shape, &rank, c.shape, c.rank - 2) && pb__broadcast(shape, &rank, d.shape, d.rank - 2) &&
              pb__o_meet(o, c.shape[c.rank - 1], d.shape[d.rank - 2]);
  if (!fits) pb__o_refuse(o, "shapes that do not fit");
  if (pb__o_bad(o)) return x;
  memcpy(of_x, shape, sizeof shape);
  memcpy(of_z, shape, sizeof shape);
  memcpy(of_x + rank, c.shape + c.rank - 2, 2 * sizeof *of_x);
  memcpy(of_z + rank, d.shape + d.rank - 2, 2 * sizeof *of_z);
  x = pb__o_expand(o, x, rank + 2, of_x);
  z = pb__o_expand(o, z, rank + 2, of_z);
  pb_onnx_pairs p = {.batches = rank, .sums = 1, .sum = {{rank + 1}, {rank}}};
  for (int r = 0; r < rank; ++r) p.batch[0][r] = p.batch[1][r] = r;
  int y = pb__o_dot(o, x, z, &p, type);
  int64_t made[PB_FLAT_RANK];
  int kept = 0;
  for (int r = 0; r < rank + 2; ++r)
    if (!(r == rank && a.rank == 1) && !(r == rank + 1 && b.rank == 1)) made[kept++] = pb__o_type(o, y)->shape[r];
  return pb__o_reshape(o, y, kept, made);
}

void pb__o_op_matmul(pb_onnx* o) {
  int x = IN(0), z = IN(1);
  if (pb__o_type(o, x)->type != pb__o_type(o, z)->type) pb__o_refuse(o, "operands of several types");
  OUT(pb__o_matmul(o, x, z, pb__o_type(o, x)->type));
}

void pb__o_op_gemm(pb_onnx* o) {
  static const int64_t turned[] = {1, 0};
  int x = IN(0), z = IN(1);
  if (pb__o_type(o, x)->rank != 2 || pb__o_type(o, z)->rank != 2) pb__o_refuse(o, "of other than matrices");
  if (pb__o_bad(o)) return;
  if (pb__o_int(o, "transA", 0)) x = pb__o_transpose(o, x, turned);
  if (pb__o_int(o, "transB", 0)) z = pb__o_transpose(o, z, turned);
  double alpha = pb__o_real(o, "alpha", 1), beta = pb__o_real(o, "beta", 1);
  bool whole = !pb_type_is_float(pb__o_type(o, x)->type);
  if (whole && (alpha != (double)(int64_t)alpha || beta != (double)(int64_t)beta))
    pb__o_refuse(o, "integers by factors that are none");
  pb_type type = pb__o_type(o, x)->type;
  int y = pb__o_matmul(o, x, z, pb__o_between(type, alpha != 1 || pb__o_has(o, 2)));
  if (alpha != 1) y = pb__o_mul(o, y, pb__o_like(o, y, alpha));
  if (pb__o_has(o, 2)) {
    int c = pb__o_cast(o, IN(2), pb__o_type(o, y)->type);
    if (beta != 1) c = pb__o_mul(o, c, pb__o_like(o, c, beta));
    int sum = pb__o_add(o, y, c);
    if (!pb__o_same_shape(o, sum, y)) pb__o_refuse(o, "a bias larger than the product");
    y = sum;
  }
  OUT(pb__o_cast(o, y, type));
}

// Of each row of x [m, k] from each of z [n, k]. Squares are of differences: |x|^2 - 2xz + |z|^2 would lose what is
// close.
void pb__o_op_distances(pb_onnx* o) {
  pb__o_works_in_f32(o);
  static const bool last[PB_FLAT_RANK] = {false, false, true};
  int x = IN(0), z = IN(1);
  const pb_flat_type a = *pb__o_type(o, x), b = *pb__o_type(o, z);
  const char* metric = pb__o_text(o, "metric", "sqeuclidean");
  bool root = !strcmp(metric, "euclidean");
  if (!root && strcmp(metric, "sqeuclidean")) pb__o_refuse(o, "a metric '%s'", metric);
  bool fits = a.rank == 2 && b.rank == 2 && a.shape[1] == b.shape[1] && a.type == b.type && pb_type_is_float(a.type);
  if (!fits) pb__o_refuse(o, "other than two lists of equally long vectors of one type of floats");
  if (pb__o_bad(o)) return;
  x = pb__o_reshape(o, x, 3, (const int64_t[]){a.shape[0], 1, a.shape[1]});
  z = pb__o_reshape(o, z, 3, (const int64_t[]){1, b.shape[0], b.shape[1]});
  int rest = pb__o_sub(o, x, z), y = pb__o_sum(o, pb__o_mul(o, rest, rest), last, false);
  OUT(root ? pb__o_unary(o, "sqrt", y) : y);
}

// ---- Einsum ----

// A tensor whose dims have letters; those of an ellipsis are '0' and up, from the last one back.
typedef struct term {
  int v, count;
  char letters[PB_FLAT_RANK + 1];
} term;

static const char* read_term(pb_onnx* o, const char* at, int rank, term* t) {
  int letters = 0;
  t->count = 0;
  for (const char* c = at; *c && *c != ',' && *c != '-'; ++c) letters += isalpha((unsigned char)*c) != 0;
  for (; *at && *at != ',' && *at != '-'; ++at) {
    if (*at == ' ') continue;
    bool dots = !strncmp(at, "...", 3);
    if ((!dots && !isalpha((unsigned char)*at)) || t->count >= PB_FLAT_RANK) break;
    if (!dots) t->letters[t->count++] = *at;
    for (int k = dots ? rank - letters : 0; k > 0 && t->count < PB_FLAT_RANK; --k)
      t->letters[t->count++] = (char)('0' + k - 1);
    if (dots) at += 2;
  }
  if (*at && *at != ',' && *at != '-') pb__o_refuse(o, "the equation has '%c'", *at);
  t->letters[t->count] = 0;
  return at;
}

static int found(const term* t, char letter) {
  const char* at = letter ? strchr(t->letters, letter) : NULL;
  return at ? (int)(at - t->letters) : -1;
}

static void drop_letter(term* t, int r) {
  memmove(t->letters + r, t->letters + r + 1, (size_t)(t->count - r));
  --t->count;
}

static void drop_dim(pb_onnx* o, term* t, int r) {
  bool gone[PB_FLAT_RANK] = {false};
  gone[r] = true;
  t->v = pb__o_sum(o, t->v, gone, false);
  drop_letter(t, r);
}

// Elements with the same number in dims s and r, s in front, of one extent, without dim r: each is one row and one
// element behind the one before.
static int diagonal(pb_onnx* o, int x, int s, int r) {
  const pb_flat_type in = *pb__o_type(o, x);
  int64_t order[PB_FLAT_RANK] = {0}, shape[PB_FLAT_RANK], from[PB_FLAT_RANK] = {0}, step[PB_FLAT_RANK], n = in.shape[r];
  int rank = 0;
  for (int k = 0; k < in.rank; ++k) {
    if (k != r) order[rank++] = k;
    if (k == s) order[rank++] = r;
  }
  x = pb__o_transpose(o, x, order);
  rank = 0;
  for (int k = 0; k < in.rank; ++k) {
    if (k == r) continue;
    step[rank] = k == s ? n + 1 : 1;
    shape[rank++] = k == s ? n * n : in.shape[k];
  }
  return pb__o_slice(o, pb__o_reshape(o, x, rank, shape), from, shape, step);
}

// The same of open extents: the sum over dim r of what stands on the diagonal.
static int masked_diagonal(pb_onnx* o, int x, int s, int r) {
  const pb_flat_type in = *pb__o_type(o, x);
  int64_t a[PB_FLAT_RANK] = {1, 1, 1, 1, 1, 1, 1, 1}, b[PB_FLAT_RANK] = {1, 1, 1, 1, 1, 1, 1, 1};
  bool gone[PB_FLAT_RANK] = {false};
  a[s] = b[r] = in.shape[r];
  gone[r] = true;
  int column = pb__o_iota(o, PB_I64, in.rank, b, r);
  int is = pb__o_compare(o, "EQ", pb__o_iota(o, PB_I64, in.rank, a, s), column);
  return pb__o_sum(o, pb__o_select(o, is, x, pb__o_like(o, x, 0)), gone, false);
}

// Of a letter that stands twice only the diagonal.
static void take_diagonals(pb_onnx* o, term* t) {
  for (int r = t->count - 1; r > 0 && !pb__o_bad(o); --r) {
    int s = found(t, t->letters[r]);
    const pb_flat_type in = *pb__o_type(o, t->v);
    if (s == r) continue;
    if (!pb__o_meet(o, in.shape[s], in.shape[r])) pb__o_refuse(o, "'%c' with two extents", t->letters[r]);
    if (pb__o_bad(o)) return;
    t->v = (o->l->consts->open ? masked_diagonal : diagonal)(o, t->v, s, r);
    drop_letter(t, r);
  }
}

static void product(pb_onnx* o, term* a, term* b, const char* kept) {
  for (int side = 0; side < 2; ++side) { // what neither the other nor the result has
    term *mine = side ? b : a, *its = side ? a : b;
    for (int r = mine->count - 1; r >= 0; --r)
      if (found(its, mine->letters[r]) < 0 && !strchr(kept, mine->letters[r])) drop_dim(o, mine, r);
  }
  pb_onnx_pairs p = {0};
  char letters[2 * PB_FLAT_RANK + 1];
  int count = 0;
  for (int r = 0; r < a->count; ++r) {
    int s = found(b, a->letters[r]);
    if (s < 0) continue;
    int64_t mine = pb__o_type(o, a->v)->shape[r], its = pb__o_type(o, b->v)->shape[s];
    if (mine != its) { // 1 against more
      term* less = mine == 1 ? a : b;
      int64_t shape[PB_FLAT_RANK];
      memcpy(shape, pb__o_type(o, less->v)->shape, sizeof shape);
      if (mine != 1 && its != 1 && !pb__o_meet(o, mine, its)) pb__o_refuse(o, "'%c' with two extents", a->letters[r]);
      shape[mine == 1 ? r : s] = mine == 1 ? its : mine;
      if (!pb__o_bad(o)) less->v = pb__o_expand(o, less->v, less->count, shape);
    }
    bool stays = strchr(kept, a->letters[r]) != NULL;
    int at = stays ? p.batches++ : p.sums++;
    (stays ? p.batch : p.sum)[0][at] = r;
    (stays ? p.batch : p.sum)[1][at] = s;
    if (stays) letters[count++] = a->letters[r];
  }
  for (int side = 0; side < 2; ++side)
    for (int r = 0; r < (side ? b : a)->count; ++r)
      if (found(side ? a : b, (side ? b : a)->letters[r]) < 0) letters[count++] = (side ? b : a)->letters[r];
  if (count > PB_FLAT_RANK) pb__o_refuse(o, "a product of more than 8 dims");
  if (pb__o_bad(o)) return;
  a->v = pb__o_dot(o, a->v, b->v, &p, pb__o_type(o, a->v)->type);
  a->count = count;
  memcpy(a->letters, letters, (size_t)count);
  a->letters[count] = 0;
}

// Without an arrow the result has the letters that stand once, in their order, behind the ellipsis.
static void implicit(const term* terms, int count, term* y) {
  for (int c = '0'; c <= 'z'; ++c) {
    int times = 0, letter = c < '8' ? '0' + '7' - c : c; // of the ellipsis the outermost first
    for (int k = 0; k < count; ++k)
      for (int r = 0; r < terms[k].count; ++r) times += terms[k].letters[r] == letter;
    if (times && (times == 1 || letter <= '9') && y->count < PB_FLAT_RANK) y->letters[y->count++] = (char)letter;
  }
  y->letters[y->count] = 0;
}

void pb__o_op_einsum(pb_onnx* o) {
  const char *text = pb__o_text(o, "equation", ""), *at = text;
  int count = o->n->input_count, most = 0;
  term *terms = PB_NEW_ARRAY(&o->arena, term, (size_t)count + 1), y = {0};
  for (int k = 0; k < count && !pb__o_bad(o); ++k) {
    terms[k].v = IN(k);
    at = read_term(o, at, pb__o_type(o, terms[k].v)->rank, &terms[k]);
    if (terms[k].count != pb__o_type(o, terms[k].v)->rank || (k + 1 < count && *at != ','))
      pb__o_refuse(o, "the equation '%s' does not fit its operands", text);
    at += *at == ',';
    for (int r = 0; r < terms[k].count; ++r)
      if (isdigit((unsigned char)terms[k].letters[r]) && terms[k].letters[r] - '0' >= most)
        most = terms[k].letters[r] - '0' + 1;
  }
  if (pb__o_bad(o)) return;
  if (*at && strncmp(at, "->", 2)) pb__o_refuse(o, "the equation '%s' does not fit its operands", text);
  if (!strncmp(at, "->", 2)) {
    int letters = 0;
    for (const char* c = at + 2; *c; ++c) letters += isalpha((unsigned char)*c) != 0;
    (void)read_term(o, at + 2, letters + most, &y);
  } else {
    implicit(terms, count, &y);
  }
  for (int k = 0; k < count; ++k) take_diagonals(o, &terms[k]);
  for (int k = 1; k < count && !pb__o_bad(o); ++k) {
    const char* kept = y.letters;
    for (int later = k + 1; later < count; ++later) kept = pb_printf(&o->arena, "%s%s", kept, terms[later].letters);
    product(o, &terms[0], &terms[k], kept);
  }
  for (int r = terms[0].count - 1; r >= 0 && !pb__o_bad(o); --r)
    if (found(&y, terms[0].letters[r]) < 0) drop_dim(o, &terms[0], r);
  int64_t order[PB_FLAT_RANK];
  if (y.count != terms[0].count) pb__o_refuse(o, "the equation '%s' names what no operand has", text);
  for (int r = 0; r < y.count && !pb__o_bad(o); ++r) {
    order[r] = found(&terms[0], y.letters[r]);
    if (order[r] < 0 || found(&y, y.letters[r]) != r) pb__o_refuse(o, "the equation '%s' repeats a letter", text);
  }
  if (!pb__o_bad(o)) OUT(pb__o_transpose(o, terms[0].v, order));
}
