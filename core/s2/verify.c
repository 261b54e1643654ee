#include "core/s2/verify.h"

#include "core/poly/nest.h"

#include <mlir-c/BuiltinAttributes.h>
#include <stdlib.h>
#include <string.h>

typedef enum kind { INPUT, OUTPUT, LOCAL } kind;

// Some elements of a tensor; bits stand for them where they are neither none nor all.
typedef struct marks {
  int64_t count;
  uint64_t* bits; // NULL: none or all
} marks;

// A tensor, and which of its elements have been set, and summed up, so far.
typedef struct value {
  MlirValue ir;
  kind kind;
  int64_t elements;
  marks set, summed;
  bool read;
} value;

typedef struct verifier {
  bool only_places; // not what is written when, which takes an element at a time
  pb_diag* diag;
  const char* after;
  const pb_nest* nest;
  value* values;
  size_t count, capacity;
  pb_arena arena;
} verifier;

#define BREACH(v, code, ...)                                                                                           \
  pb_error((v)->diag, (pb_place){.what = (v)->after}, code,                                                            \
           "this is a bug in the compiler, not in the model: --emit shows the IR", __VA_ARGS__)

static const char* name_of(const verifier* v) { return v->nest && v->nest->name ? v->nest->name : "?"; }

static bool op_is(MlirOperation op, const char* name) {
  return mlirStringRefEqual(mlirIdentifierStr(mlirOperationGetName(op)), mlirStringRefCreateFromCString(name));
}

static bool marked(const value* v, const marks* m, int64_t at) {
  return m->count == v->elements || (m->bits && m->bits[at / 64] >> at % 64 & 1);
}

static bool test_and_mark(const value* v, marks* m, int64_t at) {
  if (marked(v, m, at)) return true;
  if (!m->bits) m->bits = calloc((size_t)v->elements / 64 + 1, sizeof *m->bits);
  if (!m->bits) pb_no_memory((size_t)v->elements / 8);
  m->bits[at / 64] |= (uint64_t)1 << at % 64;
  ++m->count;
  return false;
}

static pb_status add_value(verifier* v, MlirValue ir, kind k) {
  pb_access shape;
  if (!pb_access_of_value(ir, &shape)) return BREACH(v, 4070, "a value that is no static memref");
  value add = {.ir = ir, .kind = k, .elements = pb_access_elements(&shape)};
  PB_PUSH(v->values, v->count, v->capacity, add);
  return PB_OK;
}

// Most nests use what was made last.
static value* find(verifier* v, MlirValue ir) {
  for (size_t k = v->count; k-- > 0;)
    if (pb_value_same(v->values[k].ir, ir)) return &v->values[k];
  return NULL;
}

// A nest whose body combines may read what it makes: all of it is there before.
static bool is_own(const pb_nest* nest, const pb_access* access) {
  return nest->reduce == PB_ACC_BODY && pb_value_same(access->memref, nest->access[nest->access_count - 1].memref);
}

// Steps through the elements that an access touches, each point of the dims that it uses once.
typedef struct walk {
  const pb_nest* nest;
  const pb_access* access;
  int dims[PB_NEST_DIMS], dim_count;
  int64_t at[PB_NEST_DIMS];
} walk;

static walk walk_start(const pb_nest* nest, const pb_access* access) {
  walk w = {.nest = nest, .access = access};
  for (int d = 0; d < nest->dim_count; ++d)
    if (pb_access_uses(access, d)) w.dims[w.dim_count++] = d;
  return w;
}

// The element's number, or -1 when an index lies outside the shape.
static int64_t walk_element(const walk* w) {
  int64_t element = 0;
  for (int r = 0; r < w->access->rank; ++r) {
    int64_t index = w->access->index[r].cst;
    for (int k = 0; k < w->dim_count; ++k) index += w->access->index[r].coef[w->dims[k]] * w->at[k];
    if (index < 0 || index >= w->access->shape[r]) return -1;
    element = element * w->access->shape[r] + index;
  }
  return element;
}

static bool walk_next(walk* w) {
  for (int k = w->dim_count - 1; k >= 0; --k) {
    if (++w->at[k] < w->nest->extent[w->dims[k]]) return true;
    w->at[k] = 0;
  }
  return false;
}

// A load whose index adds a number of the body may read anywhere along it: the number must stay in the tensor whatever
// the loops do, and all of the tensor must be there.
static pb_status check_computed(verifier* v, const pb_access* access, int at) {
  const value* from = find(v, access->memref);
  if (!from) return BREACH(v, 4071, "'%s' reads a memref that is no tensor of its own", name_of(v));
  pb_range number = pb_nest_range(v->nest, at);
  for (int r = 0; r < access->rank; ++r) {
    pb_index first = access->index[r], last = first;
    if (access->gathered == r + 1) {
      if (number.least < -access->shape[r] || number.most > access->shape[r])
        return BREACH(v, 4079, "'%s' reads a tensor at a number that is not clamped, at index %d", name_of(v), r);
      first.cst += number.least;
      last.cst += number.most;
    }
    if (pb_index_can_leave(v->nest, &first, access->shape[r]) || pb_index_can_leave(v->nest, &last, access->shape[r]))
      return BREACH(v, 4078, "'%s' reads outside a tensor, at index %d", name_of(v), r);
  }
  if (!v->only_places && from->kind != INPUT && from->set.count < from->elements)
    return BREACH(v, 4075, "'%s' reads anywhere in a tensor of which not all is written", name_of(v));
  return PB_OK;
}

static pb_status check_read(verifier* v, const pb_access* access) {
  value* from = find(v, access->memref);
  if (!from) return BREACH(v, 4071, "'%s' reads a memref that is no tensor of its own", name_of(v));
  for (int r = 0; r < access->rank && !access->boxed; ++r)
    if (pb_index_can_leave(v->nest, &access->index[r], access->shape[r]))
      return BREACH(v, 4078, "'%s' reads outside a tensor, at index %d", name_of(v), r);
  if (v->only_places) return PB_OK;
  from->read = true;
  if (from->kind == INPUT || from->set.count == from->elements) return PB_OK;
  walk w = walk_start(v->nest, access);
  do {
    int64_t element = walk_element(&w);
    if (element >= 0 && !marked(from, &from->set, element))
      return BREACH(v, 4075, "'%s' reads element %lld of a tensor before it is written", name_of(v),
                    (long long)element);
  } while (walk_next(&w));
  return PB_OK;
}

// A store whose index adds a number of the body changes elements of what is there, any of them and in the nest's order.
static pb_status check_computed_write(verifier* v, value* to, const pb_access* store) {
  if (!v->only_places && (v->nest->reduce != PB_ACC_BODY || to->set.count < to->elements))
    return BREACH(v, 4075, "'%s' changes elements of a tensor of which not all is written", name_of(v));
  PB_TRY(check_computed(v, store, v->nest->stored_at));
  to->summed.count = to->elements;
  return PB_OK;
}

// Whether the store takes each element of its tensor once: every index is a dim of its own, all of it.
static bool fills(const pb_nest* nest, const pb_access* store) {
  uint32_t used = 0;
  for (int r = 0, d; r < store->rank; ++r) {
    const pb_index* index = &store->index[r];
    if (!pb_index_single(index, &d) || (d < 0 ? store->shape[r] != 1 : nest->extent[d] != store->shape[r]))
      return false;
    if (d >= 0 && used >> d & 1) return false;
    if (d >= 0) used |= (uint32_t)1 << d;
  }
  return !store->boxed;
}

// A dim that the store does not use writes the same elements again and again.
static bool writes_again(const pb_nest* nest, const pb_access* store) {
  for (int d = 0; d < nest->dim_count; ++d)
    if (!pb_access_uses(store, d) && nest->extent[d] > 1) return true;
  return false;
}

// All turns in their order.
static pb_status check_turns(verifier* v, value* to, const pb_access* store) {
  walk w = {.nest = v->nest};
  while (w.dim_count < v->nest->dim_count) w.dims[w.dim_count] = w.dim_count, ++w.dim_count;
  do {
    for (int a = 0; a + 1 < v->nest->access_count; ++a) {
      w.access = &v->nest->access[a];
      if (!is_own(v->nest, w.access)) continue;
      int64_t element = walk_element(&w);
      if (element < 0 || !marked(to, &to->set, element))
        return BREACH(v, 4075, "'%s' reads element %lld of a tensor before its turn has written it", name_of(v),
                      (long long)element);
    }
    w.access = store;
    int64_t element = walk_element(&w);
    if (test_and_mark(to, &to->set, element))
      return BREACH(v, 4074, "'%s' writes element %lld of a tensor again", name_of(v), (long long)element);
  } while (walk_next(&w));
  return PB_OK;
}

static pb_status check_write(verifier* v, const pb_access* store) {
  value* to = find(v, store->memref);
  bool sums = v->nest->reduce != PB_SET;
  if (!to) return BREACH(v, 4071, "'%s' writes a memref that is no tensor of its own", name_of(v));
  if (to->kind == INPUT) return BREACH(v, 4073, "'%s' writes an input or a constant", name_of(v));
  if (to->read) return BREACH(v, 4076, "'%s' writes a tensor that has been read", name_of(v));
  if (store->gathered) return check_computed_write(v, to, store);
  for (int r = 0; r < store->rank; ++r)
    if (pb_index_can_leave(v->nest, &store->index[r], store->shape[r]))
      return BREACH(v, 4078, "'%s' writes outside a tensor, at index %d", name_of(v), r);
  if (!sums && writes_again(v->nest, store)) return BREACH(v, 4074, "'%s' writes an element again", name_of(v));
  if (v->only_places) return PB_OK;
  if (sums && to->set.count < to->elements && pb_nest_goes_in_turns(v->nest)) return check_turns(v, to, store);
  marks* now = sums ? &to->summed : &to->set;
  if (!now->count && (sums ? to->set.count == to->elements : !to->summed.count) && fills(v->nest, store)) {
    now->count = to->elements; // what element by element comes to, in no time
    return PB_OK;
  }
  walk w = walk_start(v->nest, store);
  do {
    int64_t element = walk_element(&w);
    if (sums && !marked(to, &to->set, element))
      return BREACH(v, 4075, "'%s' adds to element %lld of a tensor before it is set", name_of(v), (long long)element);
    if (test_and_mark(to, now, element) || (!sums && marked(to, &to->summed, element)))
      return BREACH(v, 4074, "'%s' writes element %lld of a tensor again", name_of(v), (long long)element);
  } while (walk_next(&w));
  return PB_OK;
}

static pb_status check_nest(verifier* v, MlirOperation op) {
  pb_nest nest;
  const char* why = pb_nest_read(op, &v->arena, &nest);
  v->nest = &nest;
  if (why) return BREACH(v, 4070, "'%s' is no nest: %s", name_of(v), why);
  for (int a = 0; a + 1 < nest.access_count; ++a)
    if (!nest.access[a].gathered && !is_own(&nest, &nest.access[a])) PB_TRY(check_read(v, &nest.access[a]));
  for (int e = 0; e < nest.expr_count; ++e) {
    const pb_expr_node* node = &nest.expr[e];
    if (node->op != PB_OP_LOAD || node->args[0] < 0) continue;
    const pb_access* access = &nest.access[node->operand];
    PB_TRY(check_computed(v, access, node->args[0]));
    if (!v->only_places && !is_own(&nest, access)) find(v, access->memref)->read = true;
  }
  pb_status status = check_write(v, pb_nest_store(&nest));
  v->nest = NULL;
  return status;
}

static bool belongs_to_nests(MlirOperation op) {
  static const char* const dialects[] = {"arith.", "math."};
  MlirStringRef name = mlirIdentifierStr(mlirOperationGetName(op));
  for (size_t k = 0; k < sizeof dialects / sizeof *dialects; ++k)
    if (!strncmp(name.data, dialects[k], strlen(dialects[k]))) return true;
  // a nest whose extents are all 1 is its store alone, with what it needs before it
  return op_is(op, "affine.load") || op_is(op, "affine.if") || op_is(op, "affine.apply") || op_is(op, "memref.load") ||
         op_is(op, "memref.dealloc") || op_is(op, "func.return");
}

static bool is_view(MlirOperation op) {
  static const char* const views[] = {"memref.subview",      "memref.cast",      "memref.reinterpret_cast",
                                      "memref.expand_shape", "memref.transpose", "memref.collapse_shape",
                                      "memref.view",         "memref.reshape",   "memref.memory_space_cast"};
  for (size_t k = 0; k < sizeof views / sizeof *views; ++k)
    if (op_is(op, views[k])) return true;
  return false;
}

static pb_status check_op(verifier* v, MlirOperation op) {
  if (op_is(op, "memref.alloc")) return add_value(v, mlirOperationGetResult(op, 0), LOCAL);
  if (op_is(op, "affine.for") || op_is(op, "affine.store")) return check_nest(v, op);
  if (belongs_to_nests(op)) return PB_OK;
  MlirStringRef name = mlirIdentifierStr(mlirOperationGetName(op));
  if (is_view(op)) return BREACH(v, 4071, "a view of a tensor (%.*s)", (int)name.length, name.data);
  if (op_is(op, "memref.copy") || op_is(op, "linalg.copy"))
    return BREACH(v, 4072, "a copy of a whole tensor (%.*s)", (int)name.length, name.data);
  return BREACH(v, 4070, "%.*s is neither alloc nor nest", (int)name.length, name.data);
}

static pb_status check_main(verifier* v, MlirOperation main) {
  MlirBlock body = mlirRegionGetFirstBlock(mlirOperationGetRegion(main, 0));
  MlirAttribute all = mlirOperationGetAttributeByName(main, mlirStringRefCreateFromCString("arg_attrs"));
  for (intptr_t k = 0; k < mlirBlockGetNumArguments(body); ++k) {
    MlirAttribute one = mlirAttributeIsNull(all) ? all : mlirArrayAttrGetElement(all, k);
    bool output =
        !mlirAttributeIsNull(one) &&
        !mlirAttributeIsNull(mlirDictionaryAttrGetElementByName(one, mlirStringRefCreateFromCString("pb.output")));
    PB_TRY(add_value(v, mlirBlockGetArgument(body, k), output ? OUTPUT : INPUT));
  }
  MlirOperation op = mlirBlockGetFirstOperation(body);
  for (; !mlirOperationIsNull(op); op = mlirOperationGetNextInBlock(op)) PB_TRY(check_op(v, op));
  for (size_t k = 0; k < v->count; ++k)
    if (!v->only_places && v->values[k].kind == OUTPUT && v->values[k].set.count < v->values[k].elements)
      return BREACH(v, 4077, "an output of %lld elements of which %lld are written", (long long)v->values[k].elements,
                    (long long)v->values[k].set.count);
  return PB_OK;
}

static pb_status verify(MlirModule module, const char* after, bool only_places, pb_diag* diag) {
  verifier v = {.diag = diag, .after = after, .only_places = only_places};
  pb_status status = PB_OK;
  bool found = false;
  MlirOperation op = mlirBlockGetFirstOperation(mlirModuleGetBody(module));
  for (; !mlirOperationIsNull(op) && status == PB_OK; op = mlirOperationGetNextInBlock(op)) {
    MlirAttribute name = mlirOperationGetAttributeByName(op, mlirStringRefCreateFromCString("sym_name"));
    if (!op_is(op, "func.func") ||
        !mlirStringRefEqual(mlirStringAttrGetValue(name), mlirStringRefCreateFromCString("main")))
      continue;
    found = true;
    status = check_main(&v, op);
  }
  if (status == PB_OK && !found) status = BREACH(&v, 4070, "there is no function 'main'");
  for (size_t k = 0; k < v.count; ++k) {
    free(v.values[k].set.bits);
    free(v.values[k].summed.bits);
  }
  free(v.values);
  pb_arena_free(&v.arena);
  return status;
}

pb_status pb_s2_verify(MlirModule module, const char* after, pb_diag* diag) {
  return verify(module, after, false, diag);
}

pb_status pb_s2_verify_places(MlirModule module, const char* after, pb_diag* diag) {
  return verify(module, after, true, diag);
}
