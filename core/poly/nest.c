#include "core/poly/nest.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

int64_t pb_gcd(int64_t a, int64_t b) {
  while (b) {
    int64_t r = a % b;
    a = b, b = r;
  }
  return a < 0 ? -a : a;
}

int64_t pb_access_stride(const pb_access* access, int col) {
  int64_t stride = 0, row = 1;
  for (int r = access->rank - 1; r >= 0; --r) {
    stride += access->index[r].coef[col] * row;
    row *= access->shape[r];
  }
  return stride;
}

int64_t pb_access_offset(const pb_access* access) {
  int64_t offset = 0, row = 1;
  for (int r = access->rank - 1; r >= 0; --r) {
    offset += access->index[r].cst * row;
    row *= access->shape[r];
  }
  return offset;
}

int64_t pb_access_elements(const pb_access* access) {
  int64_t n = 1;
  for (int r = 0; r < access->rank; ++r) n *= access->shape[r];
  return n;
}

bool pb_access_uses(const pb_access* access, int col) {
  for (int r = 0; r < access->rank; ++r)
    if (access->index[r].coef[col]) return true;
  return false;
}

bool pb_nest_walks_neighbours(const pb_nest* nest, int dim, bool store_too) {
  bool moves = false;
  for (int a = 0; a < nest->access_count - !store_too; ++a) {
    int64_t stride = pb_access_stride(&nest->access[a], dim);
    if (nest->access[a].boxed || (stride != 0 && stride != 1)) return false;
    moves |= stride == 1;
  }
  return moves && (!store_too || pb_access_stride(&nest->access[nest->access_count - 1], dim) == 1);
}

bool pb_nest_repeats(const pb_nest* nest, const pb_access* access) {
  for (int d = 0; d < nest->dim_count; ++d)
    if (nest->extent[d] > 1 && !pb_access_uses(access, d)) return true;
  return false;
}

bool pb_access_moves_only(const pb_access* access, int index, int col) {
  for (int r = 0; r < access->rank; ++r)
    if ((access->index[r].coef[col] != 0) != (r == index)) return false;
  return true;
}

// There is room: the reader refuses larger bodies, the builders of S2 make fewer nodes for any operator, `math` counts
// before it expands, and the rest take parts of a nest apart or add a node or two to a contraction's or a mover's.
// Should that ever be untrue, it ends here and not in another's memory.
void pb_nest_cut_dim(pb_nest* nest, int d, int64_t inner) {
  for (int a = 0; a < nest->access_count; ++a)
    for (int r = 0; r < nest->access[a].rank; ++r) {
      int64_t* coef = nest->access[a].index[r].coef;
      memmove(&coef[d + 1], &coef[d], sizeof *coef * (size_t)(nest->dim_count - d));
      coef[d] *= inner;
    }
  memmove(&nest->extent[d + 1], &nest->extent[d], sizeof *nest->extent * (size_t)(nest->dim_count - d));
  nest->extent[d] /= inner;
  nest->extent[d + 1] = inner;
  ++nest->dim_count;
}

// Indices from r on move one further: r is there twice.
static void double_index(pb_access* access, int r) {
  size_t behind = (size_t)(access->rank++ - r);
  memmove(&access->index[r + 1], &access->index[r], sizeof *access->index * behind);
  memmove(&access->shape[r + 1], &access->shape[r], sizeof *access->shape * behind);
}

void pb_access_add_index(pb_access* access, int r, int64_t extent, int dim) {
  double_index(access, r);
  access->index[r] = (pb_index){.cst = 0};
  access->index[r].coef[dim] = 1;
  access->shape[r] = extent;
}

void pb_access_cut_index(pb_access* access, int r, int64_t inner) {
  double_index(access, r);
  access->shape[r] /= inner;
  access->shape[r + 1] = inner;
  pb_index *runs = &access->index[r], *within = &access->index[r + 1];
  runs->cst /= inner;
  within->cst %= inner;
  for (int c = 0; c < PB_NEST_COLS; ++c) {
    bool outer = runs->coef[c] % inner == 0;
    runs->coef[c] = outer ? runs->coef[c] / inner : 0;
    if (outer) within->coef[c] = 0;
  }
}

int pb_nest_node(pb_nest* nest, pb_op op, pb_type type, int a, int b) {
  if (nest->expr_count >= PB_NEST_EXPR) abort(); // nest.h says why none comes here
  nest->expr[nest->expr_count] = (pb_expr_node){.op = op, .type = type, .args = {a, b, -1}};
  return nest->expr_count++;
}

int pb_nest_node_from(pb_nest* nest, pb_expr_node node, const int* map) {
  if (nest->expr_count >= PB_NEST_EXPR) abort(); // the same
  for (int a = 0; a < 3; ++a)
    if (node.args[a] >= 0) node.args[a] = map[node.args[a]];
  nest->expr[nest->expr_count] = node;
  return nest->expr_count++;
}

int pb_nest_load(pb_nest* nest, int access) {
  int id = pb_nest_node(nest, PB_OP_LOAD, nest->access[access].type, -1, -1);
  nest->expr[id].operand = access;
  return id;
}

int pb_nest_product(pb_nest* nest) {
  int x = pb_nest_node(nest, PB_OP_SEXT, PB_I32, pb_nest_load(nest, 0), -1);
  return pb_nest_node(nest, PB_OP_MUL, PB_I32, x, pb_nest_node(nest, PB_OP_SEXT, PB_I32, pb_nest_load(nest, 1), -1));
}

int pb_nest_const(pb_nest* nest, pb_type type, double value) {
  int id = pb_nest_node(nest, PB_OP_CONST, type, -1, -1);
  nest->expr[id].value = value;
  if (!pb_type_is_float(type)) nest->expr[id].integer = (int64_t)value;
  return id;
}

int pb_nest_integer(pb_nest* nest, pb_type type, int64_t value) {
  int id = pb_nest_node(nest, PB_OP_CONST, type, -1, -1);
  nest->expr[id].value = (double)value;
  nest->expr[id].integer = value;
  return id;
}

int pb_nest_gather(pb_nest* nest, int access, int at, int index) {
  nest->access[access].gathered = 1 + at;
  int id = pb_nest_load(nest, access);
  nest->expr[id].args[0] = index;
  return id;
}

bool pb_nest_gathers(const pb_nest* nest) {
  for (int a = 0; a < nest->access_count; ++a)
    if (nest->access[a].gathered) return true;
  return false;
}

bool pb_nest_needs_its_loops(const pb_nest* nest) {
  for (int e = 0; e < nest->expr_count; ++e)
    if (nest->expr[e].op == PB_OP_INDEX) return true;
  return nest->reduce == PB_ACC_BODY;
}

bool pb_nest_is_fixed(const pb_nest* nest) { return pb_nest_gathers(nest) || pb_nest_needs_its_loops(nest); }

bool pb_nest_goes_in_turns(const pb_nest* nest) {
  const pb_access* store = &nest->access[nest->access_count - 1];
  bool any = false;
  for (int a = 0; nest->reduce == PB_ACC_BODY && a + 1 < nest->access_count && !store->gathered; ++a) {
    const pb_access* own = &nest->access[a];
    if (!pb_value_same(own->memref, store->memref)) continue;
    if (own->gathered || !memcmp(own->index, store->index, sizeof *own->index * (size_t)own->rank)) return false;
    any = true;
  }
  return any;
}

bool pb_nest_is_beside(const pb_nest* nest) { return nest->part && !strcmp(nest->part, PB_PART_BESIDE); }

static bool is_between(const pb_range* x, int64_t least, int64_t most) { return x->least >= least && x->most <= most; }

static pb_range of_both(const pb_range* a, const pb_range* b) {
  return (pb_range){a->least < b->least ? a->least : b->least, a->most > b->most ? a->most : b->most};
}

// What there is of it where `from` is all that counts.
static pb_range from_on(const pb_range* x, int64_t from) {
  return (pb_range){x->least < from ? from : x->least, x->most < from ? from : x->most};
}

// x < 0 ? x + c : x, as numbers are brought from the end of a tensor: of x alone each side is told more than by its
// type.
static pb_range chosen(const pb_nest* nest, const pb_expr_node* node, const pb_range* of) {
  const pb_expr_node *test = &nest->expr[node->args[0]], *yes = &nest->expr[node->args[1]];
  pb_range a = of[node->args[1]], b = of[node->args[2]];
  int x = node->args[2];
  if (test->op == PB_OP_LESS && test->args[0] == x && of[test->args[1]].least == 0 && of[test->args[1]].most == 0) {
    b = from_on(&b, 0);
    int64_t more = yes->op == PB_OP_ADD && yes->args[0] == x ? of[yes->args[1]].least : -1;
    if (more >= 0 && of[yes->args[1]].most == more)
      a = (pb_range){of[x].least < 0 ? of[x].least + more : more, more - 1};
    if (a.most < a.least) a = b; // x is never below 0
  }
  return of_both(&a, &b);
}

// Of numbers whose sums, differences and products are none of a wider type: then nothing wraps. false: some may be.
static bool computed(const pb_expr_node* node, const pb_range* a, const pb_range* b, pb_range* made) {
  const int64_t far = INT32_MAX; // products of what is nearer fit 64 bits
  switch (node->op) {
  case PB_OP_ADD:
    return !__builtin_add_overflow(a->least, b->least, &made->least) &&
           !__builtin_add_overflow(a->most, b->most, &made->most);
  case PB_OP_SUB:
    return !__builtin_sub_overflow(a->least, b->most, &made->least) &&
           !__builtin_sub_overflow(a->most, b->least, &made->most);
  default: {
    if (!is_between(a, -far, far) || !is_between(b, -far, far)) return false;
    const int64_t ends[4] = {a->least * b->least, a->least * b->most, a->most * b->least, a->most * b->most};
    *made = (pb_range){ends[0], ends[0]};
    for (int k = 1; k < 4; ++k) *made = of_both(made, &(pb_range){ends[k], ends[k]});
    return true;
  }
  }
}

static pb_range node_range(const pb_nest* nest, const pb_expr_node* node, const pb_range* of) {
  int bits = pb_type_bits(node->type);
  pb_range all = {bits >= 64 ? INT64_MIN : -((int64_t)1 << (bits - 1)),
                  bits >= 64 ? INT64_MAX : ((int64_t)1 << (bits - 1)) - 1};
  const pb_range *a = node->args[0] >= 0 ? &of[node->args[0]] : &all,
                 *b = node->args[1] >= 0 ? &of[node->args[1]] : &all;
  pb_range made;
  switch (node->op) {
  case PB_OP_CONST:
    return (pb_range){node->integer, node->integer};
  case PB_OP_INDEX:
    return (pb_range){0, nest->extent[node->operand] - 1};
  case PB_OP_SEXT:
    return *a;
  case PB_OP_ZEXT:
    bits = pb_type_bits(nest->expr[node->args[0]].type);
    return a->least >= 0 || bits >= 64 ? *a : (pb_range){0, ((int64_t)1 << bits) - 1};
  case PB_OP_SELECT:
    return chosen(nest, node, of);
  case PB_OP_ADD:
  case PB_OP_SUB:
  case PB_OP_MUL:
    return computed(node, a, b, &made) && is_between(&made, all.least, all.most) ? made : all;
  case PB_OP_MIN:
    return (pb_range){a->least < b->least ? a->least : b->least, a->most < b->most ? a->most : b->most};
  case PB_OP_MAX:
    return (pb_range){a->least > b->least ? a->least : b->least, a->most > b->most ? a->most : b->most};
  default:
    return all;
  }
}

void pb_nest_ranges(const pb_nest* nest, int count, pb_range* of) {
  for (int e = 0; e < count; ++e) of[e] = node_range(nest, &nest->expr[e], of);
}

pb_range pb_nest_range(const pb_nest* nest, int id) {
  pb_range of[PB_NEST_EXPR];
  pb_nest_ranges(nest, id + 1, of);
  return of[id];
}

bool pb_index_range(const pb_nest* nest, const pb_index* index, int64_t* least, int64_t* most) {
  *least = *most = index->cst;
  for (int c = 0; c < PB_NEST_COLS; ++c) {
    if (!index->coef[c]) continue;
    int64_t iterations = c < PB_NEST_DIMS ? nest->extent[c] : nest->outer_extent[c - PB_NEST_DIMS];
    if (iterations < 1) return false;
    *(index->coef[c] > 0 ? most : least) += index->coef[c] * (iterations - 1);
  }
  return true;
}

bool pb_index_can_leave(const pb_nest* nest, const pb_index* index, int64_t extent) {
  int64_t least, most;
  return !pb_index_range(nest, index, &least, &most) || least < 0 || most >= extent;
}

bool pb_access_can_leave(const pb_nest* nest, const pb_access* access) {
  for (int r = 0; r < access->rank; ++r)
    if (pb_index_can_leave(nest, &access->index[r], access->shape[r])) return true;
  return false;
}

bool pb_nest_is_copy(const pb_nest* nest) {
  return nest->reduce == PB_SET && nest->access_count == 2 && nest->expr_count == 1 && nest->expr[0].op == PB_OP_LOAD;
}

bool pb_nest_is_fill(const pb_nest* nest) {
  return nest->reduce == PB_SET && nest->access_count == 1 && nest->expr_count == 1;
}

void pb_nest_set_alone(pb_nest* nest) {
  nest->reduce = PB_SET;
  nest->part = "point";
  nest->macs = 0;
}

bool pb_nest_sums_products(const pb_nest* nest) {
  const pb_expr_node* last = &nest->expr[nest->expr_count - 1];
  return nest->reduce == PB_ACC_ADD && nest->access_count == 3 && nest->expr_count == 3 && last->op == PB_OP_MUL &&
         last->type == PB_F32 && last->args[0] != last->args[1] && nest->expr[0].op == PB_OP_LOAD &&
         nest->expr[1].op == PB_OP_LOAD && nest->expr[0].operand != nest->expr[1].operand;
}

bool pb_index_shifted(const pb_index* index, int* dim) {
  *dim = -1;
  for (int d = 0; d < PB_NEST_DIMS; ++d) {
    if (!index->coef[d]) continue;
    if (index->coef[d] != 1 || *dim >= 0) return false;
    *dim = d;
  }
  return true;
}

bool pb_index_single(const pb_index* index, int* dim) { return pb_index_shifted(index, dim) && index->cst == 0; }

int pb_index_dim(const pb_index* index) {
  int dim;
  return pb_index_single(index, &dim) ? dim : -1;
}

int pb_access_whole_dim(const pb_nest* nest, const pb_access* access, int r) {
  int dim = pb_index_dim(&access->index[r]);
  return dim >= 0 && nest->extent[dim] == access->shape[r] ? dim : -1;
}

bool pb_index_moves(const pb_index* index) {
  for (int c = 0; c < PB_NEST_COLS; ++c)
    if (index->coef[c]) return true;
  return false;
}

void pb_nest_copy(pb_nest* to, const pb_nest* from) {
  memcpy(to, from, offsetof(pb_nest, access));
  for (int a = 0; a < from->access_count; ++a) {
    const pb_access* access = &from->access[a];
    memcpy(&to->access[a], access, offsetof(pb_access, index) + (size_t)access->rank * sizeof *access->index);
  }
  to->expr_count = from->expr_count;
  memcpy(to->expr, from->expr, (size_t)from->expr_count * sizeof *from->expr);
  to->reduce = from->reduce;
  to->stored_at = from->stored_at;
}

pb_nest* pb_nest_kept(pb_arena* arena, const pb_nest* nest) {
  pb_nest* kept = pb_alloc_raw(arena, sizeof *kept);
  pb_nest_copy(kept, nest);
  return kept;
}

void pb_nest_begin(pb_nest* nest, const char* name, const char* part, int access_count) {
  memset(nest, 0, offsetof(pb_nest, access) + (size_t)access_count * sizeof *nest->access);
  nest->name = name;
  nest->part = part;
  nest->access_count = access_count;
  nest->reduce = PB_SET;
  nest->stored_at = nest->expr_count = 0;
}

void pb_nest_begin_over(pb_nest* nest, const char* name, const char* part, int access_count, const pb_access* whole) {
  pb_nest_begin(nest, name, part, access_count);
  nest->access[0] = *whole;
  for (int r = 0; r < whole->rank; ++r) pb_nest_walk(nest, &nest->access[0].index[r], 1, whole->shape[r]);
  for (int a = 1; a < access_count; ++a) nest->access[a] = nest->access[0];
}

void pb_nest_order_outers(pb_nest* nest, const MlirValue* loops, const int64_t* extents, int count) {
  for (int a = 0; a < nest->access_count; ++a)
    for (int r = 0; r < nest->access[a].rank; ++r) {
      int64_t ordered[PB_NEST_OUTERS] = {0};
      for (int k = 0; k < nest->outer_count; ++k)
        for (int l = 0; l < count; ++l)
          if (pb_value_same(loops[l], nest->outer[k])) ordered[l] = nest->access[a].index[r].coef[PB_NEST_DIMS + k];
      memcpy(&nest->access[a].index[r].coef[PB_NEST_DIMS], ordered, sizeof ordered);
    }
  nest->outer_count = count;
  memcpy(nest->outer_extent, extents, sizeof *extents * (size_t)count);
}

// Iterations of the dims that move what is stored, or of the others.
static int64_t iterations_of(const pb_nest* nest, bool stored) {
  int64_t iterations = 1;
  for (int d = 0; d < nest->dim_count; ++d)
    if (pb_access_uses(&nest->access[nest->access_count - 1], d) == stored) iterations *= nest->extent[d];
  return iterations;
}

int64_t pb_nest_results(const pb_nest* nest) { return iterations_of(nest, true); }

int64_t pb_nest_steps(const pb_nest* nest) { return iterations_of(nest, false); }

int64_t pb_nest_iterations(const pb_nest* nest) { return pb_nest_results(nest) * pb_nest_steps(nest); }

bool pb_nest_walks_as_one(const pb_nest* nest, int d) {
  for (int a = 0; a < nest->access_count; ++a)
    if (pb_access_stride(&nest->access[a], d) != pb_access_stride(&nest->access[a], d + 1) * nest->extent[d + 1])
      return false;
  return true;
}

bool pb_nest_walks_index_as_one(const pb_nest* nest, const pb_access* access, int d) {
  for (int r = 0; r < access->rank; ++r)
    if (access->index[r].coef[d] != access->index[r].coef[d + 1] * nest->extent[d + 1]) return false;
  return true;
}

void pb_nest_join_alike(pb_nest* nest) {
  for (int d = nest->dim_count - 2; d >= 0; --d) {
    bool alike = true;
    for (int a = 0; a < nest->access_count; ++a) alike &= pb_nest_walks_index_as_one(nest, &nest->access[a], d);
    if (alike) pb_nest_join_dims(nest, d);
  }
}

void pb_nest_join_dims(pb_nest* nest, int d) {
  nest->extent[d + 1] *= nest->extent[d];
  pb_nest_remove_dim(nest, d);
}

void pb_access_renumber(pb_access* access, const int* column, int dims) {
  for (int r = 0; r < access->rank; ++r) {
    int64_t *coef = access->index[r].coef, was[PB_NEST_DIMS];
    memcpy(was, coef, sizeof was);
    memset(coef, 0, sizeof was);
    for (int d = 0; d < dims; ++d)
      if (column[d] >= 0) coef[column[d]] += was[d];
  }
}

int pb_nest_add_access(pb_nest* nest) {
  int at = nest->access_count++ - 1;
  nest->access[at + 1] = nest->access[at];
  nest->access[at] = (pb_access){.buffer = -1};
  return at;
}

int pb_nest_add_dim(pb_nest* nest, int64_t extent) {
  nest->extent[nest->dim_count] = extent;
  return nest->dim_count++;
}

void pb_nest_walk(pb_nest* nest, pb_index* index, int64_t step, int64_t extent) {
  if (extent > 1) index->coef[pb_nest_add_dim(nest, extent)] = step;
}

void pb_nest_remove_dim(pb_nest* nest, int dim) {
  --nest->dim_count;
  for (int d = dim; d < nest->dim_count; ++d) nest->extent[d] = nest->extent[d + 1];
  for (int a = 0; a < nest->access_count; ++a)
    for (int r = 0; r < nest->access[a].rank; ++r) {
      int64_t* coef = nest->access[a].index[r].coef;
      for (int d = dim; d < nest->dim_count; ++d) coef[d] = coef[d + 1];
      coef[nest->dim_count] = 0;
    }
}

void pb_nest_shift_dim(pb_nest* nest, int dim, int64_t by) {
  for (int a = 0; a < nest->access_count; ++a)
    for (int r = 0; r < nest->access[a].rank; ++r) {
      pb_index* index = &nest->access[a].index[r];
      index->cst += index->coef[dim] * by;
    }
}

void pb_nest_fix_dim(pb_nest* nest, int dim, int64_t turn) {
  pb_nest_shift_dim(nest, dim, turn);
  for (int n = 0; n < nest->expr_count; ++n) {
    pb_expr_node* node = &nest->expr[n];
    if (node->op != PB_OP_INDEX || node->operand < dim) continue;
    if (node->operand == dim) {
      node->op = PB_OP_CONST;
      node->value = (double)turn;
      node->integer = turn;
      node->operand = 0;
    } else {
      --node->operand;
    }
  }
  pb_nest_remove_dim(nest, dim);
}

void pb_nest_end(pb_nest* nest, int last) {
  bool needed[PB_NEST_EXPR] = {0};
  int at[PB_NEST_EXPR];
  bool goes_to_places = nest->access_count && pb_nest_store(nest)->gathered;
  needed[last] = true;
  if (goes_to_places) needed[nest->stored_at] = true; // in front of the last
  for (int k = last; k >= 0; --k)
    for (int a = 0; needed[k] && a < 3; ++a)
      if (nest->expr[k].args[a] >= 0) needed[nest->expr[k].args[a]] = true;
  nest->expr_count = 0;
  for (int k = 0; k <= last; ++k)
    if (needed[k]) at[k] = pb_nest_node_from(nest, nest->expr[k], at);
  if (goes_to_places) nest->stored_at = at[nest->stored_at];
}
