// TfIdfVectorizer: how often n-grams of a pool stand in rows of integers.
#include "core/frontend/onnx/rows.h"

#include <string.h>

typedef struct ngrams {
  const pb_attr *pool, *starts,
      *indexes; // where the n-grams of each length begin in the pool; the result's place of each
  int64_t least, most, skips, width;
  int x; // [rows, length] in i64
  int64_t rows, length;
} ngrams;

static bool is_list(const pb_attr* a) { return a && a->kind == PB_ATTR_INTS; }

static bool read_pool(pb_onnx* o, ngrams* g) {
  g->pool = pb_node_attr(o->n, "pool_int64s");
  g->starts = pb_node_attr(o->n, "ngram_counts");
  g->indexes = pb_node_attr(o->n, "ngram_indexes");
  g->least = pb__o_int(o, "min_gram_length", 1);
  g->most = pb__o_int(o, "max_gram_length", 1);
  g->skips = pb__o_int(o, "max_skip_count", 0);
  if (pb_node_attr(o->n, "pool_strings")) pb__o_refuse(o, "a pool of strings");
  if (!is_list(g->pool) || !is_list(g->starts) || !is_list(g->indexes) || g->starts->count < 1 || g->indexes->count < 1)
    pb__o_refuse(o, "a pool that says nothing");
  if (g->least < 1 || g->most < g->least || g->most > 16 || g->skips < 0 || g->skips > 64)
    pb__o_refuse(o, "lengths of n-grams that make no sense");
  if (pb__o_bad(o)) return false;
  for (int k = 0; k < g->starts->count; ++k) {
    int64_t end = k + 1 < g->starts->count ? g->starts->ints[k + 1] : g->pool->count;
    bool good = g->starts->ints[k] >= 0 && end >= g->starts->ints[k] && end <= g->pool->count;
    if (!good || (end - g->starts->ints[k]) % (k + 1)) pb__o_refuse(o, "ngram_counts that do not fit the pool");
  }
  for (int k = 0; k < g->indexes->count; ++k) {
    if (g->indexes->ints[k] < 0 || g->indexes->ints[k] >= 1 << 20)
      pb__o_refuse(o, "an ngram_index that makes no sense");
    if (g->indexes->ints[k] >= g->width) g->width = g->indexes->ints[k] + 1;
  }
  return !pb__o_bad(o);
}

// How often each of `count` n-grams stands at places `skip` apart: [rows, count], in f32.
static int found(pb_onnx* o, const ngrams* g, const int64_t* grams, int64_t count, int64_t n, int64_t skip) {
  static const bool places[PB_FLAT_RANK] = {false, true};
  int64_t starts = g->length - skip * (n - 1), *letters = PB_NEW_ARRAY(&o->arena, int64_t, (size_t)count);
  int all = -1;
  for (int64_t k = 0; k < n; ++k) {
    for (int64_t c = 0; c < count; ++c) letters[c] = grams[c * n + k];
    int x = pb__o_part(o, g->x, 1, k * skip, k * skip + starts);
    x = pb__o_reshape(o, x, 3, (const int64_t[]){g->rows, starts, 1});
    int is = pb__o_compare(o, "EQ", x, pb__o_constant(o, PB_I64, 3, (const int64_t[]){1, 1, count}, letters));
    all = all < 0 ? is : pb__o_binary(o, "and", all, is);
  }
  return pb__o_reduce(o, pb__o_cast(o, all, PB_F32), "add", places);
}

// Those of length n, at every distance; single ones have no distance.
static int counted(pb_onnx* o, const ngrams* g, const int64_t* grams, int64_t count, int64_t n) {
  int sum = -1;
  for (int64_t skip = 1; skip <= (n == 1 ? 1 : g->skips + 1) && skip * (n - 1) < g->length; ++skip) {
    int some = found(o, g, grams, count, n, skip);
    sum = sum < 0 ? some : pb__o_add(o, sum, some);
  }
  return sum;
}

// Counts of a length's n-grams by their place in the result.
static int placed(pb_onnx* o, const ngrams* g, int counts, const int64_t* indexes, int64_t count) {
  float* one = PB_NEW_ARRAY(&o->arena, float, (size_t)(count * g->width));
  for (int64_t c = 0; c < count; ++c) one[c * g->width + indexes[c]] = 1;
  return pb__o_matmul(o, counts, pb__o_constant(o, PB_F32, 2, (const int64_t[]){count, g->width}, one), PB_F32);
}

void pb__o_op_tf_idf(pb_onnx* o) {
  ngrams g = {0};
  int x = pb__o_in(o, 0), y = -1;
  const pb_flat_type in = *pb__o_type(o, x);
  const char* mode = pb__o_text(o, "mode", "");
  const pb_attr* weights = pb_node_attr(o->n, "weights");
  if (in.rank > 2 || (in.type != PB_I32 && in.type != PB_I64)) pb__o_refuse(o, "of other than rows of i32 or i64");
  if (strcmp(mode, "TF") && strcmp(mode, "IDF") && strcmp(mode, "TFIDF")) pb__o_refuse(o, "a mode '%s'", mode);
  if (pb__o_bad(o) || !read_pool(o, &g)) return;
  if (weights && weights->count < g.width) pb__o_refuse(o, "fewer weights than results");
  g.rows = in.rank == 2 ? in.shape[0] : 1;
  g.length = in.rank ? in.shape[in.rank - 1] : 1;
  g.x = pb__o_cast(o, pb__o_reshape(o, x, 2, (const int64_t[]){g.rows, g.length}), PB_I64);
  int64_t id = 0; // n-grams count through all lengths, those that are not looked for too
  for (int64_t n = 1; n <= g.starts->count && !pb__o_bad(o); ++n) {
    int64_t from = g.starts->ints[n - 1], to = n < g.starts->count ? g.starts->ints[n] : g.pool->count,
            count = (to - from) / n;
    if (id + count > g.indexes->count || count * g.width > 1 << 26)
      pb__o_refuse(o, "ngram_indexes that do not fit the pool");
    int sum =
        count && n >= g.least && n <= g.most && !pb__o_bad(o) ? counted(o, &g, g.pool->ints + from, count, n) : -1;
    if (sum >= 0) {
      sum = placed(o, &g, sum, g.indexes->ints + id, count);
      y = y < 0 ? sum : pb__o_add(o, y, sum);
    }
    id += count;
  }
  if (pb__o_bad(o)) return;
  if (y < 0) y = pb__o_expand(o, pb__o_number(o, PB_F32, 0), 2, (const int64_t[]){g.rows, g.width});
  if (!strcmp(mode, "IDF")) y = pb__o_least(o, y, pb__o_number(o, PB_F32, 1));
  if (weights && strcmp(mode, "TF"))
    y = pb__o_mul(o, y, pb__o_constant(o, PB_F32, 1, (const int64_t[]){g.width}, weights->floats));
  pb__o_out(o, 0,
            pb__o_reshape(o, y, in.rank == 2 ? 2 : 1, in.rank == 2 ? (const int64_t[]){g.rows, g.width} : &g.width));
}
