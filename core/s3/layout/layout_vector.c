// Layout for cores with vector registers and cached memory: every value gets the layout in which registers and their
// contraction instruction walk it. Requires the program function in value form; leaves it in value form.
//   [n, c, h, w] made and used inside becomes [n, c / D, h, w, D], D lanes; the last dim of other values made by a
//   contraction is padded to a multiple of D; a few channels that only a contraction reads keep blocks of its group;
//   constant weights become [o / D, k..., D, group] with k in the order of the loops; vectors over channels are padded;
//   operands of a large contraction that are not constant are brought into such layouts by copies;
//   at the inputs and outputs of the graph copies convert.
// Sums of floats are taken in another order, blocks of channels outermost. An instruction that takes x without sign
// gets x with its sign bit flipped, that is x and half the range more, and the sums start from what this adds too much.
#include "core/s3/layout/layout_vector.h"

#include <string.h>

enum { CHOICE_TURNS = 4 };

bool pb_vlayout_roles(const pb_vlayout* l, int n, pb_roles* roles) {
  pb_vroles* known = &l->roles[n];
  if (!known->read) {
    bool weight[PB_NEST_ACCESSES] = {0};
    const pb_nest* nest = &l->program.nests[n];
    for (int a = 0; a < nest->access_count; ++a)
      weight[a] = l->program.values[l->program.value_of[n][a]].kind == PB_VALUE_CONST;
    // a product of two constants has no x to be laid out: it is a nest like others
    known->contracts = pb_nest_roles(nest, weight, &known->roles) && !weight[known->roles.x];
    known->read = true;
  }
  if (known->contracts) *roles = known->roles;
  return known->contracts;
}

int pb_vlayout_dim_of_role(const pb_nest* nest, const pb_roles* roles, pb_role role) {
  int found = -1;
  for (int d = 0; d < nest->dim_count; ++d)
    if (roles->role[d] == role) found = found < 0 ? d : -2;
  return found;
}

// ---- which values become what ----

static bool walks_channels(const pb_vlayout* l, int n, int a) {
  const pb_nest* nest = &l->program.nests[n];
  int dim;
  if (!pb_index_single(&nest->access[a].index[1], &dim)) return false;
  return dim < 0 ? nest->access[a].shape[1] == 1 : nest->extent[dim] == nest->access[a].shape[1];
}

// Few channels that come straight from the outside and go straight into contractions.
static bool is_narrow(const pb_vlayout* l, int v) {
  PB_FOR_USES (n, &l->program, v) {
    const pb_nest* nest = &l->program.nests[n];
    pb_roles roles;
    bool writes = pb_program_stored(&l->program, n) == v, contracts = pb_vlayout_roles(l, n, &roles);
    if (writes && nest->reduce != PB_SET) return false;
    for (int a = 0; a + 1 < nest->access_count; ++a) {
      int from = l->program.value_of[n][a];
      const pb_value* value = &l->program.values[from];
      if (writes && value->kind == PB_VALUE_LOCAL &&
          !(from < v && l->values[from].kind == PB_BLOCKED && l->values[from].block < l->lanes))
        return false;
      bool copies = nest->reduce == PB_SET && nest->expr_count == 1;
      if (from == v && !copies && !(contracts && a == roles.x)) return false;
    }
  }
  return true;
}

// Codes of 16 bits that contractions take are narrow floats.
static int group_for(const pb_vlayout* l, pb_type type) {
  pb_type factor = type == pb_type_stored(PB_BF16) ? PB_BF16 : type;
  pb_vector_insn insn =
      pb_vector_contraction(l->unit->chip, factor, factor, pb_type_is_float(factor) ? PB_F32 : PB_I32);
  return insn.insn ? insn.group : 1;
}

// Channels that lie next to each other: a vector; for an instruction on matrices all that it sums over, or all there
// are.
int64_t pb_vlayout_block(const pb_vlayout* l, int64_t channels) {
  if (!l->summed) return l->lanes;
  return channels % l->summed == 0 ? l->summed : pb_vlayout_blocks(channels, l->lanes) * l->lanes;
}

static int64_t summed_channels(const pb_vlayout* l) {
  for (int n = 0; n < l->program.nest_count; ++n) {
    const pb_access* a = l->program.nests[n].access;
    pb_roles roles;
    if (!pb_vlayout_roles(l, n, &roles)) continue;
    pb_matrix_insn matrix = pb_matrix_contraction(l->unit->chip, roles.x_type, roles.w_type, a[roles.y].type);
    int64_t sum = (int64_t)matrix.steps * matrix.group;
    if (matrix.insn && matrix.lanes == l->lanes && sum % l->lanes == 0) return sum;
  }
  return 0;
}

// Sums and maxima over channels that are no contraction would take the rest of the last block with them; a
// transposition has two dims that would be split. Dim 1 of stacks of matrices is no channel.
static bool must_stay_plain(const pb_vlayout* l, int v) {
  PB_FOR_USES (n, &l->program, v) {
    const pb_nest* nest = &l->program.nests[n];
    const pb_access* store = &nest->access[nest->access_count - 1];
    pb_roles roles;
    bool contracts = pb_vlayout_roles(l, n, &roles);
    if (contracts && l->program.values[l->program.value_of[n][roles.w]].kind == PB_VALUE_CONST) continue;
    for (int a = 0; a < nest->access_count; ++a) {
      int dim = -1;
      if (l->program.value_of[n][a] != v) continue;
      if (contracts) return true;
      pb_index_single(&nest->access[a].index[1], &dim);
      if (dim >= 0 && nest->reduce != PB_SET && !pb_access_uses(store, dim)) return true;
      for (int b = 0; b < nest->access_count && dim >= 0; ++b)
        for (int r = 0, other; r < nest->access[b].rank; ++r)
          if (r != 1 && nest->access[b].rank == 4 && pb_index_single(&nest->access[b].index[r], &other) && other == dim)
            return true;
    }
  }
  return false;
}

// Whether dim 1 of what a contraction makes is its columns, or each channel for itself, and no dim of a stack.
static bool makes_channels(const pb_nest* nest, const pb_roles* roles) {
  int dim;
  if (!pb_index_single(&nest->access[roles->y].index[1], &dim) || dim < 0) return true;
  return roles->role[dim] != PB_ROLE_M;
}

// Whether blocks gain the nest something: a contraction by weights or a window walks them. Rows that are summed for
// themselves, as softmax does, have their lanes along the row.
static bool nest_gains(const pb_vlayout* l, int n) {
  const pb_nest* nest = &l->program.nests[n];
  const pb_access* store = &nest->access[nest->access_count - 1];
  int dim;
  pb_roles roles;
  if (store->rank != 4) return false;
  if (pb_vlayout_roles(l, n, &roles))
    return l->program.values[l->program.value_of[n][roles.w]].kind == PB_VALUE_CONST && makes_channels(nest, &roles);
  bool rows = store->shape[3] == 1 && store->shape[2] > 1;
  return nest->reduce != PB_SET && !rows && pb_index_single(&store->index[1], &dim) && dim >= 0;
}

// The values that such nests touch, and those beside them in other nests; what must stay plain passes nothing on.
static void find_gains(pb_vlayout* l) {
  const pb_program* p = &l->program;
  l->gains = PB_NEW_ARRAY(&l->unit->pass, bool, (size_t)p->value_count + 1);
  bool* plain = PB_NEW_ARRAY(&l->unit->pass, bool, (size_t)p->value_count + 1);
  for (int v = 0; v < p->value_count; ++v)
    plain[v] = p->values[v].rank != 4 || p->values[v].kind == PB_VALUE_CONST || must_stay_plain(l, v);
  for (bool more = true, first = true; more; first = false) {
    more = false;
    for (int k = 0; k < 2 * p->nest_count; ++k) { // there and back
      int n = k < p->nest_count ? k : 2 * p->nest_count - 1 - k;
      bool gains = first && nest_gains(l, n);
      for (int a = 0; a < p->nests[n].access_count && !gains; ++a)
        gains = l->gains[p->value_of[n][a]] && !plain[p->value_of[n][a]];
      for (int a = 0; a < p->nests[n].access_count && gains; ++a) {
        more |= !l->gains[p->value_of[n][a]];
        l->gains[p->value_of[n][a]] = true;
      }
    }
  }
}

bool pb_vlayout_can_block(const pb_vlayout* l, int v, int but) {
  if (l->program.values[v].rank != 4 || must_stay_plain(l, v)) return false;
  PB_FOR_USES (n, &l->program, v)
    for (int a = 0; a < l->program.nests[n].access_count && n != but; ++a)
      if (l->program.value_of[n][a] == v && !walks_channels(l, n, a) && !pb_vlayout_walks_groups(l, n, a)) return false;
  return true;
}

// Whether a convolution of several groups takes or makes it.
static bool in_groups(const pb_vlayout* l, int v) {
  PB_FOR_USES (n, &l->program, v)
    for (int a = 0; a < l->program.nests[n].access_count; ++a)
      if (l->program.value_of[n][a] == v && pb_vlayout_walks_groups(l, n, a)) return true;
  return false;
}

// Numbers in registers of another width, and tensors around a load at a computed index, stay as they are.
static bool is_moved_alone(const pb_vlayout* l, int v) {
  pb_type type = l->program.values[v].type;
  if (type != PB_F32 && type != PB_I32 && type != PB_I16 && type != PB_I8) return true;
  PB_FOR_USES (n, &l->program, v)
    if (pb_nest_is_fixed(&l->program.nests[n])) return true;
  return false;
}

// A maximum of channels that lie plainly never reaches the lanes behind them, which stay -inf.
static bool maximises_plain(const pb_vlayout* l, int v) {
  PB_FOR_USES (n, &l->program, v) {
    const pb_nest* nest = &l->program.nests[n];
    if (pb_program_stored(&l->program, n) != v || nest->reduce != PB_ACC_MAX) continue;
    for (int a = 0; a + 1 < nest->access_count; ++a)
      if (l->values[l->program.value_of[n][a]].kind == PB_PLAIN) return true;
  }
  return false;
}

static void choose_value(pb_vlayout* l, int v) {
  const pb_value* value = &l->program.values[v];
  pb_vvalue* chosen = &l->values[v];
  if (value->kind == PB_VALUE_CONST || chosen->refused || is_moved_alone(l, v)) return;
  if (value->rank == 4 && l->gains[v] && !must_stay_plain(l, v)) {
    if (!pb_vlayout_can_block(l, v, -1)) return;
    int64_t channels = value->shape[1];
    if (value->type == PB_F32 && channels % l->lanes && maximises_plain(l, v)) return;
    chosen->kind = PB_BLOCKED;
    chosen->block = pb_vlayout_block(l, channels);
    bool outside = value->kind != PB_VALUE_LOCAL;
    if (channels * 2 > l->lanes || in_groups(l, v)) return;
    int group = group_for(l, value->type);
    if (outside ? value->kind == PB_VALUE_INPUT : is_narrow(l, v)) {
      chosen->block = (channels + group - 1) / group * group;
      if (group == 1 || outside) chosen->kind = PB_PLAIN;
    }
    return;
  }
  if (value->rank < 2) return;
  PB_FOR_USES (n, &l->program, v) { // the last dim of what a contraction makes
    int dim;
    if (pb_program_stored(&l->program, n) != v) continue;
    const pb_nest* nest = &l->program.nests[n];
    const pb_access* store = &nest->access[nest->access_count - 1];
    bool whole = pb_index_single(&store->index[store->rank - 1], &dim) && dim >= 0 &&
                 nest->extent[dim] == store->shape[store->rank - 1];
    if (!whole) {
      chosen->kind = PB_PLAIN;
      return;
    }
    pb_roles roles;
    // a second factor that the network makes has no padding to go with it
    if (pb_vlayout_roles(l, n, &roles) && roles.role[dim] == PB_ROLE_N &&
        (nest->extent[dim] % l->lanes == 0 ||
         l->program.values[l->program.value_of[n][roles.w]].kind == PB_VALUE_CONST))
      chosen->kind = PB_PADDED;
    for (int a = 0; nest->reduce == PB_SET && a + 1 < nest->access_count; ++a) { // pointwise from one such
      const pb_access* from = &nest->access[a];
      if (l->values[l->program.value_of[n][a]].kind == PB_PADDED && from->rank == store->rank &&
          !memcmp(&from->index[from->rank - 1], &store->index[store->rank - 1], sizeof(pb_index)))
        chosen->kind = PB_PADDED;
    }
  }
  if (value->kind == PB_VALUE_INPUT) chosen->kind = PB_PLAIN;
}

// Whether an input or output of the graph has another layout inside: not if it is padded by nothing.
static bool has_twin(const pb_vlayout* l, int v) {
  const pb_value* value = &l->program.values[v];
  if (l->values[v].kind == PB_PADDED) return value->shape[value->rank - 1] % l->lanes != 0;
  return l->values[v].kind == PB_BLOCKED;
}

static void describe_value(pb_vlayout* l, int v) {
  const pb_value* value = &l->program.values[v];
  pb_vvalue* new = &l->values[v];
  if (value->kind == PB_VALUE_CONST) return;
  new->rank = value->rank;
  memcpy(new->shape, value->shape, sizeof new->shape);
  if (new->kind == PB_BLOCKED) {
    new->shape[1] = pb_vlayout_blocks(value->shape[1], new->block);
    new->shape[new->rank++] = new->block;
  }
  if (new->kind == PB_PADDED)
    new->shape[new->rank - 1] = pb_vlayout_blocks(value->shape[new->rank - 1], l->lanes) * l->lanes;
  bool outside = value->kind != PB_VALUE_LOCAL, own = !outside || has_twin(l, v);
  new->outer = outside ? pb_printf(&l->unit->pass, "%%g%d", value->argument) : NULL;
  new->ref = pb_printf(&l->unit->pass, own ? "%%v%d" : "%%g%d", own ? v : value->argument);
  if (own) pb_vlayout_declare(l, new->ref, value->type, new->rank, new->shape);
  if (new->made) pb_vlayout_declare(l, new->made, value->type, new->rank, new->shape);
}

// ---- nests ----

void pb_vlayout_declare(pb_vlayout* l, const char* ref, pb_type type, int rank, const int64_t* shape) {
  pb_access a = {.type = type, .rank = rank};
  memcpy(a.shape, shape, sizeof(int64_t) * (size_t)rank);
  pb_text_add(&l->allocs, "  %s = memref.alloc() : ", ref);
  pb_access_print_type(&l->allocs, &a);
  pb_text_add(&l->allocs, "\n");
}

void pb_vlayout_print(pb_vlayout* l, const pb_nest* nest) { pb_nest_print(&l->nests, nest, 1, &l->serial); }

const pb_vconst* pb_vlayout_const(pb_vlayout* l, int id) {
  int known = pb_numbers_at(&l->const_of, id);
  if (known >= 0) return &l->consts[known];
  pb_numbers_set(&l->const_of, id, (int)l->const_count);
  const pb_const* item = &l->unit->consts->items[id];
  pb_vconst c = {
      .id = id, .ref = pb_printf(&l->unit->pass, "%%c%d", id), .type = pb_type_stored(item->type), .rank = item->rank};
  memcpy(c.shape, item->shape, sizeof c.shape);
  PB_PUSH(l->consts, l->const_count, l->const_capacity, c);
  return &l->consts[l->const_count - 1];
}

void pb_vlayout_use_const(pb_vlayout* l, pb_access* access, int id) {
  const pb_vconst* c = pb_vlayout_const(l, id);
  access->ref = c->ref;
  access->type = c->type;
  access->rank = c->rank;
  access->splat = false;
  memcpy(access->shape, c->shape, sizeof access->shape);
}

void pb_vlayout_use_value(const pb_vlayout* l, pb_access* access, int v) {
  access->ref = l->values[v].ref;
  access->rank = l->values[v].rank;
  memcpy(access->shape, l->values[v].shape, sizeof access->shape);
}

// Where nests store what they make of it.
static void use_made(const pb_vlayout* l, pb_access* access, int v) {
  pb_vlayout_use_value(l, access, v);
  if (l->values[v].made) access->ref = l->values[v].made;
}

void pb_vlayout_spread(const pb_vsplit* s, const pb_index* from, int dims, pb_index* to) {
  memset(to->coef, 0, sizeof to->coef);
  to->cst = from->cst;
  for (int d = 0; d < dims; ++d) {
    if (!from->coef[d]) continue;
    to->cst += from->coef[d] * s->shift[d];
    if (s->keep[d] >= 0) to->coef[s->keep[d]] += from->coef[d];
    if (s->block[d] >= 0) to->coef[s->block[d]] += from->coef[d] * s->size[d];
    if (s->lane[d] >= 0) to->coef[s->lane[d]] += from->coef[d] * s->scale[d];
    if (s->group[d] >= 0) to->coef[s->group[d]] += from->coef[d];
  }
}

// An access to a value over the new dims.
void pb_vlayout_rewrite(const pb_vlayout* l, const pb_vsplit* s, const pb_nest* nest, int v, const pb_access* from,
                        pb_access* to) {
  *to = *from;
  if (from == &nest->access[nest->access_count - 1])
    use_made(l, to, v);
  else
    pb_vlayout_use_value(l, to, v);
  for (int r = 0; r < from->rank; ++r) pb_vlayout_spread(s, &from->index[r], nest->dim_count, &to->index[r]);
  if (l->values[v].kind != PB_BLOCKED) return;
  pb_index *blocks = &to->index[1], *lane = &to->index[from->rank];
  const pb_index all = *blocks;
  int64_t block = l->values[v].block;
  memset(blocks, 0, sizeof *blocks);
  memset(lane, 0, sizeof *lane);
  blocks->cst = all.cst / block; // whole blocks: a shift, or one channel in lane 0 of block 0
  for (int d = 0; d < PB_NEST_DIMS; ++d)
    *(all.coef[d] % block ? &lane->coef[d] : &blocks->coef[d]) =
        all.coef[d] % block ? all.coef[d] : all.coef[d] / block;
}

// A constant over split dims: packed the same way, padded with zeros. Else it stays as it is.
static void rewrite_const(pb_vlayout* l, const pb_vsplit* s, const pb_nest* nest, const pb_nest* out, int id,
                          const pb_access* from, pb_access* to) {
  pb_pack_dim dims[PB_NEST_RANK];
  int count = 0;
  int64_t shape[PB_NEST_RANK];
  bool split = false;
  *to = *from;
  memset(to->index, 0, sizeof to->index);
  for (int d = 0; d < nest->dim_count; ++d) split |= pb_access_uses(from, d) && s->lane[d] >= 0;
  if (!split) {
    for (int r = 0; r < from->rank; ++r) pb_vlayout_spread(s, &from->index[r], nest->dim_count, &to->index[r]);
    pb_vlayout_use_const(l, to, id);
    return;
  }
  for (int pass = 0; pass < 2; ++pass)
    for (int d = 0; d < nest->dim_count; ++d) {
      if (!pb_access_uses(from, d)) continue;
      bool whole = s->lane[d] < 0;
      int column = pass ? s->lane[d] : whole ? s->keep[d] : s->block[d];
      if (column < 0 && (pass || whole)) continue;
      int64_t extent = pass || whole ? out->extent[column] : pb_vlayout_blocks(l->full[d], s->size[d]);
      if (pass) extent = s->size[d];
      if (column >= 0) to->index[count].coef[column] = pass ? s->scale[d] : 1;
      if (pass && s->group[d] >= 0) to->index[count].coef[s->group[d]] = 1;
      if (!pass && !whole) to->index[count].cst = s->shift[d] / s->size[d];
      shape[count] = extent;
      dims[count++] = (pb_pack_dim){extent, d, !pass && !whole ? s->size[d] : 1};
    }
  int64_t full[PB_NEST_DIMS];
  memcpy(full, l->full, sizeof full);
  pb_vlayout_use_const(l, to, pb_const_pack(l->unit->consts, id, from, full, count, dims, "lanes", count, shape));
}

// New dims in order: blocks and whole dims where they stood, lanes behind all of them. Whole blocks of several vectors
// are vectors and lanes, as contractions walk them.
static void split_dims(const pb_vlayout* l, const pb_nest* nest, const int64_t* size, pb_nest* out, pb_vsplit* s) {
  out->dim_count = 0;
  for (int d = 0; d < nest->dim_count; ++d) {
    s->keep[d] = s->block[d] = s->lane[d] = s->group[d] = -1;
    s->scale[d] = 1;
    s->size[d] = size[d];
    if (!size[d]) {
      s->keep[d] = out->dim_count;
      out->extent[out->dim_count++] = nest->extent[d];
    } else if (nest->extent[d] > size[d]) {
      s->block[d] = out->dim_count;
      out->extent[out->dim_count++] = pb_vlayout_blocks(nest->extent[d], size[d]);
    }
  }
  for (int d = 0; d < nest->dim_count; ++d)
    if (size[d]) {
      bool part = nest->extent[d] < size[d] && s->cut[d];
      s->lane[d] = out->dim_count;
      out->extent[out->dim_count++] = part ? nest->extent[d] : size[d];
      if (part || size[d] <= l->lanes || size[d] % l->lanes) continue;
      s->scale[d] = l->lanes;
      s->group[d] = out->dim_count;
      out->extent[s->lane[d]] = size[d] / l->lanes;
      out->extent[out->dim_count++] = l->lanes;
    }
}

static void print_split(pb_vlayout* l, int n, const pb_nest* nest, const int64_t* size, pb_vsplit* s) {
  pb_nest out = *nest;
  split_dims(l, nest, size, &out, s);
  for (int a = 0; a < nest->access_count; ++a) {
    int v = l->program.value_of[n][a];
    if (l->program.values[v].kind == PB_VALUE_CONST)
      rewrite_const(l, s, nest, &out, l->program.values[v].const_id, &nest->access[a], &out.access[a]);
    else
      pb_vlayout_rewrite(l, s, nest, v, &nest->access[a], &out.access[a]);
  }
  pb_vlayout_mask_rest(l, pb_program_stored(&l->program, n), &out);
  pb_vlayout_print(l, &out);
}

// Zeros into the lanes of the last block that no channel fills, where `store` walks the tensor (NULL: everywhere).
static void fill_rest(pb_vlayout* l, const pb_nest* nest, const pb_access* store, int v, int64_t channels) {
  int64_t block = l->values[v].block, rest = channels % block;
  pb_nest fill = {.name = nest->name, .part = "pad", .access_count = 1};
  pb_access* to = &fill.access[0];
  to->type = l->program.values[v].type;
  use_made(l, to, v);
  for (int r = 0; r < to->rank; ++r) {
    bool lane = r == to->rank - 1;
    int64_t extent = r == 1 ? 1 : lane ? block - rest : store ? 1 : to->shape[r];
    to->index[r].cst = r == 1 ? to->shape[1] - 1 : lane ? rest : store ? store->index[r].cst : 0;
    for (int d = 0; store && !lane && r != 1 && d < nest->dim_count; ++d)
      if (store->index[r].coef[d]) extent *= nest->extent[d];
    if (extent == 1) continue;
    to->index[r].coef[fill.dim_count] = 1;
    fill.extent[fill.dim_count++] = extent;
  }
  pb_nest_const(&fill, to->type, 0);
  pb_vlayout_print(l, &fill);
}

// A nest that also walks a plain tensor along split channels that do not fill their last block: the whole blocks, then
// the rest of the last one.
static void rewrite_cut(pb_vlayout* l, int n, const int64_t* size, int dim) {
  const pb_nest* nest = &l->program.nests[n];
  pb_nest part = *nest;
  pb_vsplit s = {0};
  int64_t whole = nest->extent[dim] / size[dim] * size[dim];
  part.extent[dim] = whole;
  if (whole) print_split(l, n, &part, size, &s);
  part.extent[dim] = nest->extent[dim] - whole;
  memset(&s, 0, sizeof s);
  s.cut[dim] = true;
  s.shift[dim] = whole;
  print_split(l, n, &part, size, &s);
  int v = pb_program_stored(&l->program, n);
  if (l->values[v].kind == PB_BLOCKED && nest->reduce == PB_SET)
    fill_rest(l, nest, &nest->access[nest->access_count - 1], v, l->full[dim]);
}

// One channel that no dim walks gets one: nests beside this one write and read all lanes of its block.
static void walk_single_channel(pb_vlayout* l, int n) {
  pb_nest* nest = &l->program.nests[n];
  int stored = pb_program_stored(&l->program, n), dim;
  if (l->values[stored].kind != PB_BLOCKED || nest->dim_count + 2 > PB_NEST_DIMS ||
      !pb_index_single(&pb_nest_store(nest)->index[1], &dim) || dim >= 0)
    return;
  dim = nest->dim_count++;
  nest->extent[dim] = 1;
  for (int a = 0; a < nest->access_count; ++a)
    if (l->values[l->program.value_of[n][a]].kind == PB_BLOCKED) nest->access[a].index[1].coef[dim] = 1;
}

static void rewrite_plain(pb_vlayout* l, int n) {
  walk_single_channel(l, n);
  const pb_nest* nest = &l->program.nests[n];
  int64_t size[PB_NEST_DIMS] = {0};
  int cut = -1;
  memcpy(l->full, nest->extent, sizeof l->full);
  for (int a = 0; a < nest->access_count; ++a) {
    int v = l->program.value_of[n][a], dim;
    if (l->values[v].kind == PB_BLOCKED && pb_index_single(&nest->access[a].index[1], &dim) && dim >= 0)
      size[dim] = l->values[v].block;
  }
  for (int a = 0; a < nest->access_count; ++a) {
    int v = l->program.value_of[n][a], dim;
    const pb_access* access = &nest->access[a];
    if (l->program.values[v].kind == PB_VALUE_CONST) continue;
    if (l->values[v].kind == PB_PADDED && a == nest->access_count - 1 &&
        pb_index_single(&access->index[access->rank - 1], &dim) && dim >= 0 && nest->reduce == PB_SET &&
        (nest->extent[dim] % l->lanes == 0 || pb_vlayout_all_padded(l, n, dim))) {
      if (size[dim] < l->lanes) size[dim] = l->lanes; // rows of blocks end where rows of vectors do
      continue;
    }
    if (l->values[v].kind == PB_BLOCKED) continue;
    // one channel that the result has no dim for: lanes that no channel fills would each write its elements again
    bool sets = a == nest->access_count - 1 && nest->reduce == PB_SET;
    for (int d = 0; d < nest->dim_count; ++d)
      if (size[d] && (sets || pb_access_uses(access, d)) && nest->extent[d] % size[d] &&
          !(l->values[v].kind == PB_PADDED && pb_vlayout_all_padded(l, n, d)))
        cut = d;
  }
  pb_vsplit s = {0};
  if (cut >= 0)
    rewrite_cut(l, n, size, cut);
  else
    print_split(l, n, nest, size, &s);
}

// Whether all that the nest reads along the dim may be read past its end: padded values along their last dim, blocks,
// constants (which are padded then) and what the dim does not move.
bool pb_vlayout_all_padded(const pb_vlayout* l, int n, int dim) {
  const pb_nest* nest = &l->program.nests[n];
  for (int a = 0; a < nest->access_count; ++a) {
    int v = l->program.value_of[n][a], d;
    const pb_access* access = &nest->access[a];
    if (!pb_access_uses(access, dim) || l->program.values[v].kind == PB_VALUE_CONST) continue;
    if (l->values[v].kind != PB_PADDED || !pb_index_single(&access->index[access->rank - 1], &d) || d != dim)
      return false;
    for (int r = 0; r + 1 < access->rank; ++r)
      if (access->index[r].coef[dim]) return false;
  }
  return true;
}

// What sets a contraction's sum is printed with the contraction, which knows what it starts from.
static void rewrite_nest(pb_vlayout* l, int n) {
  pb_roles roles;
  int made = pb_program_stored(&l->program, n);
  PB_FOR_USES (m, &l->program, made)
    if (m > n && pb_vlayout_is_init(l, n, m) && pb_vlayout_roles(l, m, &roles)) return;
  bool contracts = pb_vlayout_roles(l, n, &roles);
  if (contracts && pb_vlayout_contraction(l, n, &roles)) return;
  PB_FOR_USES (k, &l->program, made)
    if (contracts && k < n && pb_vlayout_is_init(l, k, n)) rewrite_plain(l, k);
  rewrite_plain(l, n);
}

// ---- the edges of the graph ----

static void copy_edge(pb_vlayout* l, int v, bool in) {
  const pb_value* value = &l->program.values[v];
  if (value->kind == PB_VALUE_CONST || !has_twin(l, v)) return;
  pb_access outer = {.ref = l->values[v].outer, .type = value->type, .rank = value->rank};
  memcpy(outer.shape, value->shape, sizeof outer.shape);
  int64_t block = l->values[v].kind == PB_BLOCKED ? l->values[v].block : 0, channels = value->shape[1];
  for (int part = 0; part < (block ? 2 : 1); ++part) {
    int64_t whole = block ? channels / block : 0, rest = block ? channels % block : 0;
    if (block && !(part ? rest : whole)) continue;
    pb_nest copy = {.name = value->name, .part = "copy", .access_count = 2};
    pb_access plain = outer, inner = {.type = value->type};
    pb_vlayout_use_value(l, &inner, v);
    for (int r = 0; r < value->rank; ++r) {
      bool channel = block && r == 1;
      int64_t extent = channel ? (part ? 1 : whole) : value->shape[r];
      plain.index[r].cst = channel && part ? whole * block : 0;
      inner.index[r].cst = channel && part ? whole : 0;
      if (extent == 1) continue;
      plain.index[r].coef[copy.dim_count] = channel ? block : 1;
      inner.index[r].coef[copy.dim_count] = 1;
      copy.extent[copy.dim_count++] = extent;
    }
    if (block) {
      plain.index[1].coef[copy.dim_count] = 1;
      inner.index[value->rank].coef[copy.dim_count] = 1;
      copy.extent[copy.dim_count++] = part ? rest : block;
    }
    copy.access[0] = in ? plain : inner;
    copy.access[1] = in ? inner : plain;
    pb_nest_load(&copy, 0);
    pb_vlayout_print(l, &copy);
    if (!in || !part) continue;
    fill_rest(l, &copy, NULL, v, channels);
  }
}

static void print_argument(pb_text* text, bool* any, const char* ref, pb_type type, int rank, const int64_t* shape) {
  pb_access a = {.type = type, .rank = rank};
  memcpy(a.shape, shape, sizeof(int64_t) * (size_t)rank);
  pb_text_add(text, "%s%s: ", *any ? ", " : "", ref);
  pb_access_print_type(text, &a);
  *any = true;
}

static void print_program(pb_vlayout* l, pb_text* text) {
  bool any = false;
  pb_text_add(text, "module attributes {pb.stage = \"s3\"} {\nfunc.func @main(");
  for (int pass = 0; pass < 3; ++pass) { // inputs, constants, outputs
    for (size_t k = 0; pass == 1 && k < l->const_count; ++k) {
      print_argument(text, &any, l->consts[k].ref, l->consts[k].type, l->consts[k].rank, l->consts[k].shape);
      pb_text_add(text, " {pb.const = %d : i64}", l->consts[k].id);
    }
    for (int v = 0; pass != 1 && v < l->program.value_count; ++v) {
      const pb_value* value = &l->program.values[v];
      if (value->kind != (pass ? PB_VALUE_OUTPUT : PB_VALUE_INPUT)) continue;
      print_argument(text, &any, l->values[v].outer, value->type, value->rank, value->shape);
      pb_text_add(text, " {%s = ", pass ? "pb.output" : "pb.input");
      pb_text_add_quoted(text, value->name);
      pb_text_add(text, "}");
    }
  }
  pb_text_add(text, ") {\n%s%s  return\n}\n}\n", l->allocs.data ? l->allocs.data : "",
              l->nests.data ? l->nests.data : "");
}

pb_status pb_s3_layout_vector(pb_unit* unit) {
  pb_vlayout layout = {.unit = unit}, *l = &layout;
  pb_vector_facts facts = pb_vector_facts_of(unit->chip);
  l->lanes = facts.lanes;
  PB_TRY(pb_program_read(pb_module_func(unit->module, "main"), &unit->pass, unit->diag, &l->program));
  l->roles = PB_NEW_ARRAY(&unit->pass, pb_vroles, (size_t)l->program.nest_count + 1);
  l->summed = summed_channels(l);
  pb_vlayout_merge_groups(l);
  l->values = PB_NEW_ARRAY(&unit->pass, pb_vvalue, (size_t)l->program.value_count + 1);
  find_gains(l);
  do {
    for (int v = 0; v < l->program.value_count; ++v) l->values[v].kind = PB_PLAIN;
    for (int turn = 0; turn < CHOICE_TURNS; ++turn) // a pointwise chain follows what its first value is
      for (int v = 0; v < l->program.value_count; ++v) choose_value(l, v);
  } while (pb_vlayout_refuse_groups(l));
  pb_vlayout_find_rests(l);
  for (int v = 0; v < l->program.value_count; ++v) describe_value(l, v);
  for (int v = 0; v < l->program.value_count; ++v)
    if (l->program.values[v].kind == PB_VALUE_INPUT) copy_edge(l, v, true);
  for (int n = 0; n < l->program.nest_count; ++n) {
    rewrite_nest(l, n);
    pb_vlayout_clean_rest(l, n);
  }
  for (int v = 0; v < l->program.value_count; ++v)
    if (l->program.values[v].kind == PB_VALUE_OUTPUT) copy_edge(l, v, false);
  pb_text text = {0};
  print_program(l, &text);
  pb_text_free(&l->allocs);
  pb_text_free(&l->nests);
  pb_status status = pb_module_replace(unit, &text, "layout");
  pb_text_free(&text);
  free(l->consts);
  pb_numbers_free(&l->const_of);
  return status;
}
