// Ensembles of trees. All trees of all rows go down side by side, a level a turn: a tree's leaves lead to themselves.
#include "core/frontend/onnx/rows.h"

#include "core/base/half.h"

#include <math.h>
#include <string.h>

enum { MOST_NODES = 1 << 22, MOST_TABLE = 1 << 24, MOST_LEVELS = 256, MEMBER = 6 };

typedef struct ensemble {
  int x;        // [rows, features], f32 or f64
  pb_type type; // of x
  int64_t rows, features, nodes, leaves, roots, levels, targets;
  const int64_t *feature, *mode, *tracks, *root; // by node; tracks: where NaN goes on by `yes`, NULL: nowhere
  int64_t *yes, *no;                             // by node: the next node, or nodes + leaf
  const double* split;
  bool has_mode[MEMBER + 1];
} ensemble;

static const int64_t* list_of(pb_onnx* o, const char* name, int64_t count) {
  const pb_attr* a = pb_node_attr(o->n, name);
  if (a && a->count != count) pb__o_refuse(o, "%s of %d numbers, not %lld", name, a->count, (long long)count);
  return a && !pb__o_bad(o) ? a->ints : NULL;
}

// Numbers of any float, or codes, as f64.
static double* numbers_of(pb_onnx* o, const char* name, int64_t* count) {
  const pb_attr* a = pb_node_attr(o->n, name);
  const pb_const* c = a && a->tensor >= 0 ? o->l->consts->items[a->tensor] : NULL;
  int64_t all = c ? (int64_t)c->bytes * 8 / pb_type_bits(pb_type_stored(c->type)) : 0;
  if (!c || all > MOST_NODES || (c->type != PB_I8 && !pb_type_is_float(c->type)))
    pb__o_refuse(o, "%s that are no list of at most 2^22 numbers", name);
  if (pb__o_bad(o)) return NULL;
  double* to = PB_NEW_ARRAY(&o->arena, double, (size_t)all + 1);
  const char* from = pb_const_data(o->l->consts, a->tensor);
  for (int64_t k = 0; k < all; ++k) {
    float single;
    uint16_t half;
    if (c->type == PB_F64) {
      memcpy(&to[k], from + 8 * k, 8);
    } else if (c->type == PB_F32) {
      memcpy(&single, from + 4 * k, 4);
      to[k] = (double)single;
    } else if (c->type == PB_I8) {
      to[k] = from[k];
    } else {
      memcpy(&half, from + 2 * k, 2);
      to[k] = (double)pb_narrow_number(c->type, half);
    }
  }
  *count = all;
  return to;
}

// A table of the numbers in the type that x is worked in.
static int table_of(pb_onnx* o, const ensemble* e, int rank, const int64_t* shape, const double* numbers) {
  int64_t count = 1;
  for (int r = 0; r < rank; ++r) count *= shape[r];
  if (e->type == PB_F64) return pb__o_constant(o, PB_F64, rank, shape, numbers);
  float* single = PB_NEW_ARRAY(&o->arena, float, (size_t)count + 1);
  for (int64_t k = 0; k < count; ++k) single[k] = (float)numbers[k];
  return pb__o_constant(o, PB_F32, rank, shape, single);
}

// The table's rows at places of [rows, trees]: [rows, trees], or [rows, trees, width].
static int look_up(pb_onnx* o, const ensemble* e, int table, int at) {
  const pb_flat_type of = *pb__o_type(o, table);
  int64_t width = of.rank == 2 ? of.shape[1] : 1, shape[3] = {e->rows, e->roots, width};
  pb_onnx_places p = {.windows = of.rank - 1, .window = {2}, .dropped = 1, .maps = 1, .size = {1, width}};
  at = pb__o_reshape(o, at, 3, (const int64_t[]){e->rows, e->roots, 1});
  return pb__o_gather(o, table, at, &p, of.rank + 1, shape);
}

// A list by node; of leaves 0, or the leaf itself.
static int by_node(pb_onnx* o, const ensemble* e, const int64_t* items, bool itself) {
  int64_t all = e->nodes + e->leaves, *list = PB_NEW_ARRAY(&o->arena, int64_t, (size_t)all + 1);
  for (int64_t k = 0; k < all; ++k) list[k] = k < e->nodes ? items[k] : itself ? k : 0;
  return pb__o_constant(o, PB_I64, 1, &all, list);
}

static int64_t* next_of(pb_onnx* o, const ensemble* e, const char* name, const char* leafs) {
  const int64_t *ids = list_of(o, name, e->nodes), *is_leaf = list_of(o, leafs, e->nodes);
  int64_t* next = PB_NEW_ARRAY(&o->arena, int64_t, (size_t)e->nodes + 1);
  for (int64_t k = 0; k < e->nodes && !pb__o_bad(o); ++k) {
    if (ids[k] < 0 || ids[k] >= (is_leaf[k] ? e->leaves : e->nodes)) pb__o_refuse(o, "%s that is not there", name);
    next[k] = is_leaf[k] ? e->nodes + ids[k] : ids[k];
  }
  return next;
}

// How many nodes a way from a root to a leaf has, at most.
static void count_levels(pb_onnx* o, ensemble* e) {
  bool* now = PB_NEW_ARRAY(&o->arena, bool, (size_t)(e->nodes + e->leaves) + 1);
  bool* next = PB_NEW_ARRAY(&o->arena, bool, (size_t)(e->nodes + e->leaves) + 1);
  for (int64_t k = 0; k < e->roots; ++k) now[e->root[k]] = true;
  for (bool more = true; more && !pb__o_bad(o);) {
    more = false;
    memset(next, 0, (size_t)(e->nodes + e->leaves));
    for (int64_t k = 0; k < e->nodes; ++k) {
      if (!now[k]) continue;
      next[e->yes[k]] = next[e->no[k]] = more = true;
    }
    bool* last = now;
    now = next;
    next = last;
    e->levels += more;
    if (e->levels > MOST_LEVELS) pb__o_refuse(o, "trees of more than %d levels, or that turn back", MOST_LEVELS);
  }
}

static void read_ensemble(pb_onnx* o, ensemble* e) {
  int64_t splits = 0, weights = 0, modes = 0;
  const pb_attr* root = pb_node_attr(o->n, "tree_roots");
  const double* mode = numbers_of(o, "nodes_modes", &modes);
  e->split = numbers_of(o, "nodes_splits", &splits);
  (void)numbers_of(o, "leaf_weights", &weights);
  e->nodes = splits;
  e->leaves = weights;
  e->roots = root->count;
  e->root = root->ints;
  e->feature = list_of(o, "nodes_featureids", e->nodes);
  e->tracks = list_of(o, "nodes_missing_value_tracks_true", e->nodes);
  if (modes != splits || e->nodes < 1 || e->leaves < 1 || e->roots < 1)
    pb__o_refuse(o, "lists of several lengths, or without anything");
  if (pb__o_bad(o)) return;
  if (e->targets < 1 || e->targets > MOST_TABLE / e->leaves || e->rows > MOST_TABLE / e->roots)
    pb__o_refuse(o, "more than 2^24 numbers of leaves, or of rows by trees");
  if (pb__o_bad(o)) return;
  int64_t* kinds = PB_NEW_ARRAY(&o->arena, int64_t, (size_t)e->nodes);
  e->mode = kinds;
  for (int64_t k = 0; k < e->nodes; ++k) {
    kinds[k] = (int64_t)mode[k];
    if (kinds[k] < 0 || kinds[k] > MEMBER) pb__o_refuse(o, "a mode %lld", (long long)kinds[k]);
    if (e->feature[k] < 0 || e->feature[k] >= e->features) pb__o_refuse(o, "a feature that is not there");
    if (pb__o_bad(o)) return;
    e->has_mode[kinds[k]] = true;
  }
  for (int64_t k = 0; k < e->roots; ++k)
    if (e->root[k] < 0 || e->root[k] >= e->nodes) pb__o_refuse(o, "a root that is not there");
  e->yes = next_of(o, e, "nodes_truenodeids", "nodes_trueleafs");
  e->no = next_of(o, e, "nodes_falsenodeids", "nodes_falseleafs");
  if (!pb__o_bad(o)) count_levels(o, e);
}

// The values that nodes of that mode look for, each node's up to a NaN: a row a node, NaN behind them.
static int members(pb_onnx* o, const ensemble* e) {
  int64_t count = 0, most = 1, at = 0, run = 0, shape[2] = {e->nodes + e->leaves};
  const double* values = numbers_of(o, "membership_values", &count);
  for (int64_t k = 0; k < count; ++k) {
    run = isnan(values[k]) ? 0 : run + 1;
    if (run > most) most = run;
  }
  shape[1] = most;
  if (most > MOST_TABLE / shape[0]) pb__o_refuse(o, "more than 2^24 members");
  if (pb__o_bad(o)) return pb__o_number(o, PB_F32, 0);
  double* table = PB_NEW_ARRAY(&o->arena, double, (size_t)(shape[0] * most) + 1);
  for (int64_t k = 0; k < shape[0]; ++k) {
    bool looks = k < e->nodes && e->mode[k] == MEMBER;
    for (int64_t m = 0; m < most; ++m) table[k * most + m] = NAN;
    for (int64_t m = 0; looks && at < count && !isnan(values[at]); ++m) table[k * most + m] = values[at++];
    if (looks) ++at;
  }
  if (at > count) pb__o_refuse(o, "fewer membership_values than nodes that look for them");
  return table_of(o, e, 2, shape, table);
}

// What all nodes have, as tensors.
typedef struct tables {
  int feature, mode, tracks, split, members, yes, no;
} tables;

static tables make_tables(pb_onnx* o, const ensemble* e) {
  int64_t all = e->nodes + e->leaves;
  double* splits = PB_NEW_ARRAY(&o->arena, double, (size_t)all + 1);
  memcpy(splits, e->split, sizeof *splits * (size_t)e->nodes);
  tables t;
  t.feature = by_node(o, e, e->feature, false);
  t.mode = by_node(o, e, e->mode, false);
  t.tracks = e->tracks ? by_node(o, e, e->tracks, false) : -1;
  t.split = table_of(o, e, 1, &all, splits);
  t.members = e->has_mode[MEMBER] ? members(o, e) : -1;
  t.yes = by_node(o, e, e->yes, true);
  t.no = by_node(o, e, e->no, true);
  return t;
}

// Whether each goes on by `yes`.
static int decided(pb_onnx* o, const ensemble* e, const tables* t, int at, int v) {
  static const char* const directions[MEMBER] = {"LE", "LT", "GE", "GT", "EQ", "NE"};
  static const bool last[PB_FLAT_RANK] = {false, false, true};
  int truth = -1, mode = -1;
  for (int k = 0; k <= MEMBER; ++k) {
    if (!e->has_mode[k]) continue;
    int is;
    if (k == MEMBER) {
      int each = pb__o_reshape(o, v, 3, (const int64_t[]){e->rows, e->roots, 1});
      is = pb__o_reduce(o, pb__o_compare(o, "EQ", look_up(o, e, t->members, at), each), "or", last);
    } else {
      is = pb__o_compare(o, directions[k], v, look_up(o, e, t->split, at));
    }
    if (truth >= 0) {
      if (mode < 0) mode = look_up(o, e, t->mode, at);
      is = pb__o_select(o, pb__o_compare(o, "EQ", mode, pb__o_integer(o, PB_I64, k)), is, truth);
    }
    truth = is;
  }
  if (t->tracks < 0) return truth;
  int tracks = look_up(o, e, t->tracks, at);
  int follows = pb__o_compare(o, "NE", tracks, pb__o_integer(o, PB_I64, 0));
  follows = pb__o_binary(o, "and", follows, pb__o_compare(o, "NE", v, v));
  return pb__o_binary(o, "or", truth, follows);
}

// The leaf of each row in each tree: [rows, trees].
static int leaves_of(pb_onnx* o, const ensemble* e) {
  const int64_t all[2] = {e->rows, e->roots}, one[3] = {e->rows, e->roots, 1};
  static const pb_onnx_places p = {.dropped = 2, .drop = {0, 1}, .maps = 2, .map = {0, 1}, .size = {1, 1}};
  tables t = make_tables(o, e);
  int at = pb__o_expand(o, pb__o_constant(o, PB_I64, 2, (const int64_t[]){1, e->roots}, e->root), 2, all);
  int parts[2] = {pb__o_iota(o, PB_I64, 3, one, 0), -1};
  for (int64_t level = 0; level < e->levels && !pb__o_bad(o); ++level) {
    parts[1] = pb__o_reshape(o, look_up(o, e, t.feature, at), 3, one);
    int v = pb__o_gather(o, e->x, pb__o_join(o, 2, parts, 2), &p, 2, all);
    int truth = decided(o, e, &t, at, v), yes = look_up(o, e, t.yes, at);
    at = pb__o_select(o, truth, yes, look_up(o, e, t.no, at));
  }
  return pb__o_sub(o, at, pb__o_integer(o, PB_I64, e->nodes));
}

// What leaves say of each target, over all trees: [rows, targets].
static int gathered(pb_onnx* o, const ensemble* e) {
  enum { AVERAGE, SUM, MIN, MAX };
  static const bool trees[PB_FLAT_RANK] = {false, true};
  int64_t how = pb__o_int(o, "aggregate_function", SUM), count;
  const int64_t *target = list_of(o, "leaf_targetids", e->leaves), shape[2] = {e->leaves, e->targets};
  const double* weight = numbers_of(o, "leaf_weights", &count);
  double nothing = how == MIN ? INFINITY : how == MAX ? -INFINITY : 0;
  double* table = PB_NEW_ARRAY(&o->arena, double, (size_t)(e->leaves * e->targets) + 1);
  if (how < AVERAGE || how > MAX) pb__o_refuse(o, "aggregate_function %lld", (long long)how);
  for (int64_t k = 0; k < e->leaves * e->targets; ++k) table[k] = nothing;
  for (int64_t k = 0; k < e->leaves && !pb__o_bad(o); ++k) {
    if (target[k] < 0 || target[k] >= e->targets) pb__o_refuse(o, "a target that is not there");
    if (!pb__o_bad(o)) table[k * e->targets + target[k]] = weight[k];
  }
  if (pb__o_bad(o)) return e->x;
  int leaves = leaves_of(o, e), said = look_up(o, e, table_of(o, e, 2, shape, table), leaves);
  int y = pb__o_reduce(o, said, how == MIN ? "minimum" : how == MAX ? "maximum" : "add", trees);
  if (how == AVERAGE) y = pb__o_div(o, y, pb__o_like(o, y, (double)e->roots));
  if (how < MIN) return y;
  int none = pb__o_compare(o, "EQ", y, pb__o_like(o, y, nothing)); // no tree says anything
  return pb__o_select(o, none, pb__o_like(o, y, 0), y);
}

void pb__o_op_tree_ensemble(pb_onnx* o) {
  enum { NONE, SOFTMAX, LOGISTIC };
  static const bool targets[PB_FLAT_RANK] = {false, true};
  int x = pb__o_in(o, 0);
  const pb_flat_type in = *pb__o_type(o, x);
  int64_t after = pb__o_int(o, "post_transform", NONE);
  if (in.rank != 2 || !pb_type_is_float(in.type)) pb__o_refuse(o, "other than rows of features, of floats");
  if (after < NONE || after > LOGISTIC) pb__o_refuse(o, "post_transform %lld", (long long)after);
  if (pb__o_bad(o)) return;
  ensemble e = {.rows = in.shape[0], .features = in.shape[1], .targets = pb__o_int(o, "n_targets", 0)};
  e.x = pb__o_worked(o, x);
  e.type = pb__o_type(o, e.x)->type;
  read_ensemble(o, &e);
  if (pb__o_bad(o)) return;
  int y = gathered(o, &e);
  if (after == SOFTMAX) y = pb__o_softmax(o, y, targets, false);
  if (after == LOGISTIC) y = pb__o_unary(o, "logistic", y);
  pb__o_out(o, 0, pb__o_cast(o, y, in.type));
}
