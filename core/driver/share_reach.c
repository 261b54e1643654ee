// Which part of its tensors a kernel touches in a share, by intervals: indices are maps of loops' numbers, which are
// maps of the share's. They become a list of nodes once, which is gone through for each share.
#include "core/driver/share_reach.h"

#include "core/base/divide.h"
#include "core/base/table.h"
#include "core/driver/compilation.h"
#include "core/s3/kernels.h"

#include <mlir-c/AffineExpr.h>
#include <mlir-c/AffineMap.h>
#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_NODES = 20000, MOST_ACCESSES = 4000, LOOKED_UP = 16 };

typedef enum kind { CONSTANT, SHARE, UNKNOWN, ADD, MUL, MOD, FLOOR, CEIL, LEAST, MOST, RANGE } kind;

typedef struct node {
  kind kind;
  int a, b;       // nodes
  int64_t number; // the constant; of SHARE which of its ends; of RANGE the step
  int around;     // of RANGE: the loop around it, as a node
} node;

typedef struct access {
  int argument, at; // node
  int64_t length;
  int loop; // the innermost one around it, a node; -1: there is none
} access;

typedef struct reader {
  node* nodes;
  size_t node_count, node_capacity;
  access* accesses;
  size_t access_count, access_capacity;
  pb_table number_of; // by value: its node
  MlirBlock body;
  int64_t shares, units; // of work: a share is units / shares of them
  pb_reach* reach;
  int loop; // in which it reads, a node; -1: in none
  bool is_cut, fails;
} reader;

static int add(reader* r, node n) {
  r->fails |= r->node_count >= MOST_NODES;
  PB_PUSH(r->nodes, r->node_count, r->node_capacity, n);
  return (int)r->node_count - 1;
}

static int node_of(reader* r, MlirValue v) {
  int known = pb_table_find_address(&r->number_of, v.ptr);
  if (known >= 0) return known;
  int made = add(r, (node){.kind = UNKNOWN});
  if (mlirValueIsAOpResult(v) && pb_op_is(mlirOpResultGetOwner(v), "arith.constant"))
    r->nodes[made] = (node){.kind = CONSTANT,
                            .number = mlirIntegerAttrGetValueInt(pb_op_attribute(mlirOpResultGetOwner(v), "value"))};
  pb_table_add_address(&r->number_of, v.ptr, made);
  return made;
}

static void name(reader* r, MlirValue v, int at) { pb_table_add_address(&r->number_of, v.ptr, at); }

// An expression over the operands of `op` from `first` on, the map's dims in front of its symbols.
static int of_expression(reader* r, MlirAffineExpr e, MlirOperation op, intptr_t first, intptr_t dims) {
  if (mlirAffineExprIsAConstant(e))
    return add(r, (node){.kind = CONSTANT, .number = mlirAffineConstantExprGetValue(e)});
  if (mlirAffineExprIsADim(e)) return node_of(r, mlirOperationGetOperand(op, first + mlirAffineDimExprGetPosition(e)));
  if (mlirAffineExprIsASymbol(e))
    return node_of(r, mlirOperationGetOperand(op, first + dims + mlirAffineSymbolExprGetPosition(e)));
  int a = of_expression(r, mlirAffineBinaryOpExprGetLHS(e), op, first, dims),
      b = of_expression(r, mlirAffineBinaryOpExprGetRHS(e), op, first, dims);
  kind k = mlirAffineExprIsAAdd(e)        ? ADD
           : mlirAffineExprIsAMul(e)      ? MUL
           : mlirAffineExprIsAMod(e)      ? MOD
           : mlirAffineExprIsAFloorDiv(e) ? FLOOR
                                          : CEIL;
  return add(r, (node){.kind = k, .a = a, .b = b});
}

// All results of the map, joined by `by`.
static int of_map(reader* r, MlirAffineMap map, MlirOperation op, intptr_t first, kind by) {
  int made = -1;
  for (intptr_t k = 0; k < mlirAffineMapGetNumResults(map); ++k) {
    int one = of_expression(r, mlirAffineMapGetResult(map, k), op, first, mlirAffineMapGetNumDims(map));
    made = made < 0 ? one : add(r, (node){.kind = by, .a = made, .b = one});
  }
  return made < 0 ? add(r, (node){.kind = UNKNOWN}) : made;
}

static void read_block(reader* r, MlirBlock block);

static void read_loop(reader* r, MlirOperation loop) {
  MlirAffineMap lower = mlirAffineMapAttrGetValue(pb_op_attribute(loop, "lowerBoundMap")),
                upper = mlirAffineMapAttrGetValue(pb_op_attribute(loop, "upperBoundMap"));
  MlirAttribute step = pb_op_attribute(loop, "step");
  int a = of_map(r, lower, loop, 0, MOST), b = of_map(r, upper, loop, mlirAffineMapGetNumInputs(lower), LEAST);
  int64_t by = mlirAttributeIsNull(step) ? 1 : mlirIntegerAttrGetValueInt(step);
  int around = r->loop;
  r->loop = add(r, (node){.kind = RANGE, .a = a, .b = b, .number = by, .around = around});
  name(r, mlirBlockGetArgument(pb_op_body(loop), 0), r->loop);
  read_block(r, pb_op_body(loop));
  r->loop = around;
}

// The kernel's argument that the tensor is, in whatever shape; -1: it is another one.
static int argument_of(const reader* r, MlirValue tensor) {
  MlirValue v = pb_tensor_viewed(tensor);
  if (!mlirValueIsABlockArgument(v) || !mlirBlockEqual(mlirBlockArgumentGetOwner(v), r->body)) return -1;
  return (int)mlirBlockArgumentGetArgNumber(v);
}

// By an operand of which nothing is known but that it is there.
static void touch(reader* r, MlirValue tensor) {
  int argument = argument_of(r, tensor);
  if (argument >= 0) r->reach[argument] = (pb_reach){true, true, false, INT64_MAX};
}

static int64_t length_of(MlirType type) {
  return mlirTypeIsAVector(type) && mlirShapedTypeGetRank(type) == 1 ? mlirShapedTypeGetDimSize(type, 0) : 1;
}

// A load or a store of the operand `tensor`, whose indices follow; the elements that it moves are those of `moved`.
static void read_access(reader* r, MlirOperation op, intptr_t tensor, MlirType moved, bool store) {
  MlirValue v = mlirOperationGetOperand(op, tensor);
  MlirType type = mlirValueGetType(v);
  MlirAttribute map = pb_op_attribute(op, "map");
  int argument = argument_of(r, v), at = -1;
  if (argument < 0) return;
  int64_t stride = 1;
  for (intptr_t d = mlirShapedTypeGetRank(type) - 1; d >= 0; --d) { // the innermost one first
    MlirAffineMap m = mlirAttributeIsNull(map) ? (MlirAffineMap){NULL} : mlirAffineMapAttrGetValue(map);
    int index = mlirAffineMapIsNull(m)
                    ? node_of(r, mlirOperationGetOperand(op, tensor + 1 + d))
                    : of_expression(r, mlirAffineMapGetResult(m, d), op, tensor + 1, mlirAffineMapGetNumDims(m));
    int by = add(r, (node){.kind = CONSTANT, .number = stride});
    int part = add(r, (node){.kind = MUL, .a = index, .b = by});
    at = at < 0 ? part : add(r, (node){.kind = ADD, .a = at, .b = part});
    stride *= mlirShapedTypeGetDimSize(type, d);
  }
  if (at < 0) at = add(r, (node){.kind = CONSTANT});
  bool flat = !mlirTypeIsAVector(moved) || mlirShapedTypeGetRank(moved) == 1;
  r->reach[argument].read |= !store;
  r->reach[argument].written |= store;
  r->reach[argument].own &= flat;
  r->fails |= r->access_count >= MOST_ACCESSES;
  PB_PUSH(r->accesses, r->access_count, r->access_capacity, ((access){argument, at, length_of(moved), r->loop}));
}

static bool is_one_of(MlirOperation op, const char* const* names, size_t count) {
  for (size_t k = 0; k < count; ++k)
    if (pb_op_is(op, names[k])) return true;
  return false;
}

static bool read_memory(reader* r, MlirOperation op) {
  static const char* const loads[] = {"affine.load", "affine.vector_load", "memref.load", "vector.load"};
  static const char* const stores[] = {"affine.store", "affine.vector_store", "memref.store", "vector.store"};
  if (is_one_of(op, loads, sizeof loads / sizeof *loads))
    read_access(r, op, 0, mlirValueGetType(mlirOperationGetResult(op, 0)), false);
  else if (is_one_of(op, stores, sizeof stores / sizeof *stores))
    read_access(r, op, 1, mlirValueGetType(mlirOperationGetOperand(op, 0)), true);
  else
    return false;
  return true;
}

static bool is_share(MlirOperation op) {
  if (!pb_op_is(op, "func.call")) return false;
  MlirStringRef callee = mlirFlatSymbolRefAttrGetValue(pb_op_attribute(op, "callee"));
  return mlirStringRefEqual(callee, mlirStringRefCreateFromCString("pb_partition"));
}

// One call, of so many units: share s begins at s / shares of them.
static void read_share(reader* r, MlirOperation op) {
  int count = node_of(r, mlirOperationGetOperand(op, 0));
  r->fails |= r->is_cut || r->nodes[count].kind != CONSTANT || r->nodes[count].number % r->shares != 0;
  r->units = r->nodes[count].number;
  r->is_cut = true;
  for (int k = 0; k < 2; ++k) name(r, mlirOperationGetResult(op, k), add(r, (node){.kind = SHARE, .number = k}));
}

static void read_block(reader* r, MlirBlock block) {
  PB_FOR_OPS (op, block) {
    if (r->fails) return;
    if (is_share(op)) {
      read_share(r, op);
    } else if (pb_op_is(op, "affine.for")) {
      read_loop(r, op);
    } else if (pb_op_is(op, "affine.apply")) {
      MlirAffineMap map = mlirAffineMapAttrGetValue(pb_op_attribute(op, "map"));
      name(r, mlirOperationGetResult(op, 0), of_map(r, map, op, 0, ADD));
    } else if (!read_memory(r, op) && !pb_op_is(op, "memref.collapse_shape")) {
      for (intptr_t k = 0; k < mlirOperationGetNumOperands(op); ++k) touch(r, mlirOperationGetOperand(op, k));
      for (intptr_t k = 0; k < mlirOperationGetNumRegions(op); ++k)
        for (MlirBlock b = mlirRegionGetFirstBlock(mlirOperationGetRegion(op, k)); !mlirBlockIsNull(b);
             b = mlirBlockGetNextInRegion(b))
          read_block(r, b);
    }
  }
}

// ---- the numbers of one share ----

typedef struct interval {
  int64_t least, most;
  bool known;
} interval;

static interval divided(interval a, int64_t by, bool up) {
  if (by <= 0) return (interval){0};
  int64_t more = up ? by - 1 : 0;
  return (interval){pb_floor_div(a.least + more, by), pb_floor_div(a.most + more, by), true};
}

static interval rest_of(interval a, int64_t by) {
  if (by <= 0) return (interval){0};
  int64_t first = pb_floor_div(a.least, by);
  if (first != pb_floor_div(a.most, by)) return (interval){0, by - 1, true};
  return (interval){a.least - first * by, a.most - first * by, true};
}

static interval value_of(const reader* r, const node* n, const interval* all, int64_t share) {
  interval a = {0}, b = {0};
  if (n->kind == CONSTANT) return (interval){n->number, n->number, true};
  if (n->kind == SHARE) {
    int64_t at = (share + n->number) * (r->units / r->shares);
    return (interval){at, at, true};
  }
  if (n->kind == UNKNOWN) return a;
  a = all[n->a], b = all[n->b];
  if (!a.known || !b.known) return (interval){0};
  bool number = b.least == b.most;
  switch (n->kind) {
  case ADD:
    return (interval){a.least + b.least, a.most + b.most, true};
  case MUL:
    if (number && b.least >= 0) return (interval){a.least * b.least, a.most * b.least, true};
    if (a.least == a.most && a.least >= 0) return (interval){b.least * a.least, b.most * a.least, true};
    return (interval){0};
  case MOD:
    return number ? rest_of(a, b.least) : (interval){0};
  case FLOOR:
    return number ? divided(a, b.least, false) : (interval){0};
  case CEIL:
    return number ? divided(a, b.least, true) : (interval){0};
  case LEAST:
    return (interval){a.least < b.least ? a.least : b.least, a.most < b.most ? a.most : b.most, true};
  case MOST:
    return (interval){a.least > b.least ? a.least : b.least, a.most > b.most ? a.most : b.most, true};
  case RANGE: { // its last number is where the step leads to; of a loop that does not turn any
    int64_t last = b.most - 1;
    if (a.least == a.most && number && last > a.least) last -= (last - a.least) % n->number;
    return (interval){a.least, last < a.least ? a.least : last, true};
  }
  default:
    return (interval){0};
  }
}

// One share, gone through.
typedef struct walk {
  reader* r;
  int64_t share;
  const int64_t *elements, *bytes; // by argument; of an element
  interval *all, *ends; // by node; by argument, what the share touches, from the first element to behind the last
  bool* wide;           // by argument: more is touched at a time than is worth asking how much
  int64_t* far;         // by argument: elements that it looks up, anywhere
} walk;

static int64_t part_of(const walk* w, int argument) { return w->elements[argument] / w->r->shares; }

static bool is_own(const walk* w, int argument, interval at) {
  int64_t part = part_of(w, argument), begin = w->share * part;
  return at.least >= begin && at.most <= begin + part;
}

static interval reach_of(const walk* w, const access* a) {
  interval at = w->all[a->at];
  if (!at.known) return (interval){0, w->elements[a->argument], true};
  at.most += a->length;
  return at;
}

// Whether it is not known well enough what the access touches: it may be that of fewer turns.
static bool is_rough(const walk* w, const access* a) {
  enum { PARTS = 2 };
  interval at = reach_of(w, a);
  if (w->r->reach[a->argument].own) return !is_own(w, a->argument, at);
  return !w->wide[a->argument] && at.most - at.least > PARTS * part_of(w, a->argument);
}

static bool is_looked_up(const walk* w, const access* a) { return !w->all[a->at].known; }

// What accesses look up, before any loop is cut into parts: a quarter of a line for each turn of the loops around.
// Places of neighbours share lines as a rule, and of others no near cache holds the next ones in either case.
static void look_up(walk* w) {
  const reader* r = w->r;
  for (size_t k = 0; k < r->access_count; ++k) {
    const access* a = &r->accesses[k];
    int64_t turns = 1, all = w->elements[a->argument];
    for (int l = a->loop; l >= 0 && turns < all; l = r->nodes[l].around) {
      interval from = w->all[r->nodes[l].a], to = w->all[r->nodes[l].b];
      bool known = from.known && to.known && to.most > from.least;
      turns *= known ? pb_floor_div(to.most - from.least + r->nodes[l].number - 1, r->nodes[l].number) : all;
    }
    if (!is_looked_up(w, a)) continue;
    r->reach[a->argument].own = false;
    int64_t line = LOOKED_UP / w->bytes[a->argument] > a->length ? LOOKED_UP / w->bytes[a->argument] : a->length;
    w->far[a->argument] += turns < all / line ? turns * line : all;
  }
}

static void touch_all(walk* w, bool last) {
  for (size_t k = 0; k < w->r->access_count; ++k) {
    const access* a = &w->r->accesses[k];
    if (is_looked_up(w, a)) continue;
    interval at = reach_of(w, a), *end = &w->ends[a->argument];
    if (last) w->wide[a->argument] |= is_rough(w, a);
    w->r->reach[a->argument].own &= is_own(w, a->argument, at);
    if (!end->known || at.least < end->least) end->least = at.least;
    if (!end->known || at.most > end->most) end->most = at.most;
    end->known = true;
  }
}

// With the loop's numbers in the interval; where an index goes on in another row among them, by halves. loop: a node,
// -1: the first that has several numbers.
static void go_through(walk* w, int loop, interval numbers) {
  const reader* r = w->r;
  bool rough = false, whole = loop < 0;
  for (size_t k = 0; k < r->node_count; ++k) {
    w->all[k] = value_of(r, &r->nodes[k], w->all, w->share);
    if (loop < 0 && r->nodes[k].kind == RANGE && w->all[k].known && w->all[k].least < w->all[k].most)
      numbers = w->all[loop = (int)k];
    if (loop == (int)k) w->all[k] = numbers;
  }
  if (whole) look_up(w);
  bool last = loop < 0 || numbers.least == numbers.most;
  for (size_t k = 0; k < r->access_count && !last && !rough; ++k)
    rough = !is_looked_up(w, &r->accesses[k]) && is_rough(w, &r->accesses[k]);
  if (!rough) {
    touch_all(w, last);
    return;
  }
  int64_t middle = numbers.least + (numbers.most - numbers.least) / 2;
  go_through(w, loop, (interval){numbers.least, middle, true});
  go_through(w, loop, (interval){middle + 1, numbers.most, true});
}

static void find_own(reader* r, pb_arena* arena) {
  size_t count = (size_t)mlirBlockGetNumArguments(r->body);
  int64_t *elements = PB_NEW_ARRAY(arena, int64_t, count + 1), *bytes = PB_NEW_ARRAY(arena, int64_t, count + 1);
  walk w = {.r = r, .elements = elements, .bytes = bytes};
  w.far = PB_NEW_ARRAY(arena, int64_t, count + 1);
  w.all = PB_NEW_ARRAY(arena, interval, r->node_count + 1);
  w.ends = PB_NEW_ARRAY(arena, interval, count + 1);
  w.wide = PB_NEW_ARRAY(arena, bool, count + 1);
  for (size_t k = 0; k < count; ++k) {
    MlirType type = mlirValueGetType(mlirBlockGetArgument(r->body, (intptr_t)k));
    elements[k] = pb__tensor_elements(type);
    bytes[k] = elements[k] && pb__tensor_bytes(type) > elements[k] ? pb__tensor_bytes(type) / elements[k] : 1;
    r->reach[k].own &= elements[k] % r->shares == 0;
  }
  for (; w.share < r->shares; ++w.share) {
    memset(w.ends, 0, sizeof *w.ends * count);
    memset(w.far, 0, sizeof *w.far * count);
    go_through(&w, -1, (interval){0});
    for (size_t k = 0; k < count; ++k) {
      int64_t span = (w.ends[k].known ? w.ends[k].most - w.ends[k].least : 0) + w.far[k];
      if (span > r->reach[k].span) r->reach[k].span = span;
    }
  }
}

bool pb__share_reach(MlirOperation kernel, int64_t shares, pb_arena* arena, pb_reach** reach) {
  reader r = {.body = pb_op_body(kernel), .shares = shares, .loop = -1};
  intptr_t count = mlirBlockGetNumArguments(r.body);
  *reach = r.reach = PB_NEW_ARRAY(arena, pb_reach, (size_t)count + 1);
  for (intptr_t k = 0; k < count; ++k) {
    r.reach[k].own = true;
    r.fails |= !mlirTypeIsAMemRef(mlirValueGetType(mlirBlockGetArgument(r.body, k)));
  }
  if (!r.fails) read_block(&r, r.body);
  bool good = r.is_cut && !r.fails;
  if (good) find_own(&r, arena);
  free(r.nodes);
  free(r.accesses);
  pb_table_free(&r.number_of);
  return good;
}
