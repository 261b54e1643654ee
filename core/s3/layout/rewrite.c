// Inside `layout`: a nest over split dims, what it accesses there, and the text of the new program.
#include "core/s3/compose.h"
#include "core/s3/kernel/landing.h"
#include "core/s3/layout/layout.h"

#include <string.h>

bool pb__layout_contraction_dims(const pb_layout* l, int n, pb_contraction_dims* roles) {
  pb_layout_contraction_dims* known = &l->roles[n];
  if (!known->read) {
    // a product of two constants has no x to be laid out: it is a nest like others, for code that goes by elements
    known->contracts = pb_program_contraction_dims(&l->program, n, &known->roles) &&
                       (l->whole_rows || !pb_program_is_const(&l->program, n, known->roles.x));
    known->read = true;
  }
  if (known->contracts) *roles = known->roles;
  return known->contracts;
}

int pb__layout_dim_of_role(const pb_nest* nest, const pb_contraction_dims* roles, pb_role role) {
  int found = -1;
  for (int d = 0; d < nest->dim_count; ++d)
    if (roles->role[d] == role) found = found == -1 ? d : -2;
  return found;
}

int pb__layout_depthwise(const pb_nest* nest, const pb_contraction_dims* roles) {
  int channel = pb__layout_dim_of_role(nest, roles, PB_ROLE_B), dim;
  const pb_access* x = &nest->access[roles->x];
  bool alone = channel >= 0 && x->rank > 1 && pb_index_single(&x->index[1], &dim) && dim == channel;
  return alone && pb__layout_dim_of_role(nest, roles, PB_ROLE_N) == -1 ? channel : -1;
}

// ---- values and constants ----

void pb__layout_declare(pb_layout* l, const pb_access* access) {
  pb_text_add(&l->allocs, "  %s = memref.alloc() : ", access->ref);
  pb_access_print_type(&l->allocs, access);
  pb_text_add(&l->allocs, "\n");
}

void pb__layout_describe(pb_layout* l, int v) {
  const pb_value* value = &l->program.values[v];
  pb_layout_value* new = &l->values[v];
  if (value->kind == PB_VALUE_CONST || pb__layout_unused(l, v)) return;
  new->rank = value->rank;
  memcpy(new->shape, value->shape, sizeof new->shape);
  if (new->kind == PB_LAYOUT_BLOCKED || new->kind == PB_LAYOUT_SPREAD) {
    new->shape[1] = pb__layout_blocks(value->shape[1], new->block);
    new->shape[new->rank++] = new->block;
  }
  if (new->kind == PB_LAYOUT_PADDED || new->kind == PB_LAYOUT_ENDING)
    new->shape[new->rank - 1] = pb__layout_blocks(value->shape[new->rank - 1], l->lanes) * l->lanes;
  bool own = value->kind == PB_VALUE_LOCAL;
  new->ref = pb_printf(&l->unit->pass, own ? "%%v%d" : "%%g%d", own ? v : value->argument);
  if (!own) return;
  pb_access type = {.type = value->type, .ref = new->ref, .rank = new->rank};
  memcpy(type.shape, new->shape, sizeof type.shape);
  if (new->run) pb_access_cut_index(&type, 0, new->run);
  pb__layout_declare(l, &type);
  type.ref = new->made;
  if (new->made) pb__layout_declare(l, &type);
}

void pb__layout_note_const(pb_layout* l, pb_layout_const c) {
  const pb_const* item = l->unit->consts->items[c.id];
  c.type = pb_type_stored(item->type);
  c.rank = item->rank;
  memcpy(c.shape, item->shape, sizeof c.shape);
  pb_numbers_set(&l->const_of, c.id, (int)l->const_count);
  PB_PUSH(l->consts, l->const_count, l->const_capacity, c);
}

void pb__layout_use_const(pb_layout* l, pb_access* access, int id, bool splat) {
  if (pb_numbers_at(&l->const_of, id) < 0)
    pb__layout_note_const(l,
                          (pb_layout_const){.id = id, .ref = pb_printf(&l->unit->pass, "%%c%d", id), .splat = splat});
  const pb_layout_const* c = &l->consts[pb_numbers_at(&l->const_of, id)];
  access->ref = c->ref;
  access->type = c->type;
  access->rank = c->rank;
  access->splat = splat;
  memcpy(access->shape, c->shape, sizeof access->shape);
}

void pb__layout_use_value(const pb_layout* l, pb_access* access, int v) {
  access->ref = l->values[v].ref;
  access->rank = l->values[v].rank;
  memcpy(access->shape, l->values[v].shape, sizeof access->shape);
}

void pb__layout_use_made(const pb_layout* l, pb_access* access, int v) {
  pb__layout_use_value(l, access, v);
  if (l->values[v].made) access->ref = l->values[v].made;
}

// ---- dims ----

void pb__layout_split_none(pb_split* s) {
  *s = (pb_split){.row = -1};
  for (int d = 0; d < PB_NEST_DIMS; ++d) {
    s->keep[d] = s->block[d] = s->lane[d] = s->group[d] = -1;
    s->scale[d] = 1;
  }
}

void pb__layout_split(const pb_layout* l, const pb_nest* nest, const int64_t* size, const bool* pads, pb_nest* out,
                      pb_split* s) {
  out->dim_count = 0;
  for (int d = 0; d < nest->dim_count; ++d) {
    int64_t extent = nest->extent[d];
    if (!s->full[d]) s->full[d] = extent;
    s->size[d] = size[d];
    if (!size[d])
      s->keep[d] = pb_nest_add_dim(out, pads && pads[d] ? pb__layout_blocks(extent, l->lanes) * l->lanes : extent);
    else if (extent > size[d])
      s->block[d] = pb_nest_add_dim(out, pb__layout_blocks(extent, size[d]));
  }
  for (int d = 0; d < nest->dim_count; ++d)
    if (size[d]) {
      bool part = nest->extent[d] < size[d] && s->cut[d];
      s->lane[d] = pb_nest_add_dim(out, part ? nest->extent[d] : size[d]);
      if (part || size[d] <= l->lanes || size[d] % l->lanes) continue;
      s->scale[d] = l->lanes;
      out->extent[s->lane[d]] = size[d] / l->lanes;
      s->group[d] = pb_nest_add_dim(out, l->lanes);
    }
}

void pb__layout_spread(const pb_split* s, const pb_index* from, int dims, pb_index* to) {
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

void pb__layout_rewrite(const pb_layout* l, const pb_split* s, const pb_nest* nest, int v, const pb_access* from,
                        pb_access* to) {
  *to = *from;
  if (from == &nest->access[nest->access_count - 1])
    pb__layout_use_made(l, to, v);
  else
    pb__layout_use_value(l, to, v);
  for (int r = 0; r < from->rank; ++r) pb__layout_spread(s, &from->index[r], nest->dim_count, &to->index[r]);
  if (l->values[v].kind == PB_LAYOUT_SPREAD) {
    memset(&to->index[1], 0, 2 * sizeof to->index[1]);
    if (s->row >= 0) to->index[2].coef[s->row] = 1;
  }
  if (l->values[v].kind != PB_LAYOUT_BLOCKED) return;
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

// ---- constants in the order in which movers and instructions walk them ----

int pb__layout_pack(pb_layout* l, int source, const pb_access* access, const int64_t* nest_extent, int dim_count,
                    const pb_pack_dim* dims, const char* suffix, int shape_rank, const int64_t* shape) {
  pb_consts* consts = l->unit->consts;
  pb_pack pack = {.source = source, .dim_count = dim_count};
  int64_t stride = 1;
  for (int r = access->rank - 1; r >= 0; --r) {
    for (int d = 0; d < PB_NEST_DIMS; ++d) pack.stride[d] += access->index[r].coef[d] * stride;
    pack.base += access->index[r].cst * stride;
    stride *= access->shape[r];
  }
  for (int d = 0; d < PB_NEST_DIMS; ++d) pack.extent[d] = INT64_MAX;
  for (int k = 0; k < dim_count; ++k) {
    pack.dims[k].extent = dims[k].extent;
    pack.dims[k].scale = dims[k].scale;
    pack.dims[k].axis = dims[k].dim;
    pack.extent[dims[k].dim] = nest_extent[dims[k].dim];
  }
  const char* from = consts->items[source]->name;
  const char* name = pb_printf(&consts->arena, "%s.%s", from ? from : "", suffix);
  int id = pb_consts_add_pack(consts, name, shape_rank, shape, &pack);
  pb__layout_pack_late(l, id, access, nest_extent, dim_count, dims);
  return id;
}

// A vector of `lanes` times one number; equal ones are made once.
static int splat_of(pb_consts* consts, double value, int64_t lanes) {
  float number = (float)value;
  for (size_t k = 0; k < consts->count; ++k) {
    const pb_const* c = consts->items[k];
    if (c->data && c->name && !strcmp(c->name, "splat") && c->shape[0] == lanes &&
        !memcmp(c->data, &number, sizeof number))
      return (int)k;
  }
  float* data = pb_alloc(&consts->arena, (size_t)lanes * sizeof *data);
  for (int64_t k = 0; k < lanes; ++k) data[k] = number;
  return pb_consts_add(consts, "splat", PB_F32, 1, &lanes, data);
}

static bool is_number(const pb_const* c) {
  int64_t count = 1;
  for (int r = 0; r < c->rank; ++r) count *= c->shape[r];
  return count == 1;
}

// A vector with zeros behind it, or a single number as often, up to a whole row where none can be read in part.
static int padded_to_rows(pb_layout* l, int id) {
  pb_const from = *l->unit->consts->items[id];
  bool number = is_number(&from);
  int64_t count = number ? 1 : from.shape[0], padded = pb__layout_blocks(count, l->row) * l->row;
  if (count == padded || (!number && from.rank > 1)) return id;
  size_t size = (size_t)pb_type_bits(from.type) / 8;
  char* data = pb_alloc(&l->unit->consts->arena, (size_t)padded * size);
  memcpy(data, pb_const_data(l->unit->consts, id), (size_t)count * size);
  memset(data + (size_t)count * size, 0, (size_t)(padded - count) * size);
  for (int64_t k = 1; number && k < padded; ++k) memcpy(data + (size_t)k * size, data, size);
  return pb_consts_add(l->unit->consts, pb_printf(&l->unit->consts->arena, "%s.rows", from.name ? from.name : ""),
                       from.type, 1, &padded, data);
}

// A dim that is split into lanes, where the constant walks none such and is no table: where units take whole rows of
// lanes each of its numbers stands in all of one. -1: there is none.
static int lanes_of_number(const pb_layout* l, const pb_split* s, const pb_nest* nest, const pb_access* from) {
  int lanes = -1;
  for (int d = 0; d < nest->dim_count; ++d)
    if (s->lane[d] >= 0 && pb_access_uses(from, d))
      return -1;
    else if (s->lane[d] >= 0)
      lanes = d;
  return l->whole_rows && !from->gathered ? lanes : -1;
}

// A constant over split or padded dims: packed the same way, padded with zeros. Else it stays as it is. What heads'
// scores meet, as a mask, has its blocks outermost: an iteration of a kernel of several stages takes some of them.
static void rewrite_const(pb_layout* l, const pb_split* s, const pb_nest* nest, const pb_nest* out, int id,
                          bool blocks_first, const pb_access* from, pb_access* to) {
  pb_pack_dim dims[PB_NEST_RANK];
  int count = 0, number = lanes_of_number(l, s, nest, from);
  int64_t shape[PB_NEST_RANK], full[PB_NEST_DIMS];
  bool packed = number >= 0;
  *to = *from;
  memset(to->index, 0, sizeof to->index);
  for (int d = 0; d < nest->dim_count; ++d)
    packed |= // but a table's rows, which commands gather from where they lie
        !from->gathered && pb_access_uses(from, d) &&
        (s->lane[d] >= 0 || (s->keep[d] >= 0 && out->extent[s->keep[d]] != nest->extent[d]));
  if (!packed) {
    for (int r = 0; r < from->rank; ++r) pb__layout_spread(s, &from->index[r], nest->dim_count, &to->index[r]);
    int rows = padded_to_rows(l, id);
    bool splat = rows != id && is_number(l->unit->consts->items[id]);
    if (splat) memset(to->index, 0, sizeof to->index);
    pb__layout_use_const(l, to, rows, splat);
    return;
  }
  memcpy(full, s->full, sizeof full);
  for (int turn = blocks_first ? 0 : 1; turn < 3; ++turn) // blocks, what is whole, lanes
    for (int d = 0; d < nest->dim_count; ++d) {
      if (!pb_access_uses(from, d)) continue;
      bool whole = s->lane[d] < 0, pass = turn == 2;
      if (blocks_first && !pass && whole != (turn == 1)) continue;
      int column = pass ? s->lane[d] : whole ? s->keep[d] : s->block[d];
      int64_t blocks = whole ? 1 : pb__layout_blocks(s->full[d], s->size[d]);
      if (column < 0 && (pass || whole || blocks == 1)) continue;
      if (column >= 0) to->index[count].coef[column] = pass ? s->scale[d] : 1;
      if (pass && s->group[d] >= 0) to->index[count].coef[s->group[d]] = 1;
      if (!pass && !whole) to->index[count].cst = s->shift[d] / s->size[d];
      shape[count] = pass ? s->size[d] : whole ? out->extent[column] : blocks;
      dims[count] = (pb_pack_dim){shape[count], d, !pass && !whole ? s->size[d] : 1};
      ++count;
    }
  if (number >= 0) {
    to->index[count].coef[s->lane[number]] = 1;
    shape[count] = full[number] = s->size[number];
    dims[count++] = (pb_pack_dim){s->size[number], number, 1};
  }
  int packing = pb__layout_pack(l, id, from, full, count, dims, "lanes", count, shape);
  pb__layout_use_const(l, to, packing, false);
}

void pb__layout_rewrite_all(pb_layout* l, int n, const pb_split* s, const pb_nest* nest, pb_nest* out) {
  bool blocks_first = !l->whole_rows && l->heads[pb_program_stored(&l->program, n)];
  for (int a = 0; a < nest->access_count; ++a) {
    int v = l->program.value_of[n][a];
    if (l->program.values[v].kind == PB_VALUE_CONST)
      rewrite_const(l, s, nest, out, l->program.values[v].const_id, blocks_first, &nest->access[a], &out->access[a]);
    else
      pb__layout_rewrite(l, s, nest, v, &nest->access[a], &out->access[a]);
  }
}

void pb__layout_rewrite_blocks(pb_layout* l, int n, int channel, pb_nest* out) {
  const pb_nest* nest = &l->program.nests[n];
  int64_t size[PB_NEST_DIMS] = {0};
  pb_split s;
  if (channel >= 0) size[channel] = l->lanes;
  pb_nest_copy(out, nest);
  pb__layout_split_none(&s);
  pb__layout_split(l, nest, size, NULL, out, &s);
  pb__layout_rewrite_all(l, n, &s, nest, out);
}

// A code as a number less its zero point, which commands carry.
static bool is_less_zero(const pb_nest* nest, const pb_expr_node* node) {
  return node->op == PB_OP_SUB && nest->expr[node->args[0]].op == PB_OP_SITOFP;
}

static void splat_constant(pb_layout* l, pb_nest* nest, int node) {
  pb_expr_node* number = &nest->expr[node];
  if (number->op != PB_OP_CONST || nest->access_count == PB_NEST_ACCESSES) return;
  int at = pb_nest_add_access(nest);
  pb__layout_use_const(l, &nest->access[at], splat_of(l->unit->consts, number->value, l->lanes), true);
  number->op = PB_OP_LOAD;
  number->operand = at;
}

void pb__layout_splat(pb_layout* l, pb_nest* nest) {
  if (nest->reduce != PB_SET || pb_point_lands_alone(l->unit->chip, nest)) return;
  pb_nest was;
  pb_nest_copy(&was, nest);
  for (int pass = 0; pass < 2; ++pass) { // factors, and if that is not enough all numbers in front of a rounding
    for (int k = 0; k < nest->expr_count && nest->expr[k].op != PB_OP_ROUNDEVEN; ++k) {
      const pb_expr_node* node = &nest->expr[k];
      bool binary = node->type == PB_F32 && node->args[0] >= 0 && node->args[1] >= 0;
      if (!binary || (node->op != PB_OP_MUL && pass == 0) || is_less_zero(nest, node)) continue;
      for (int side = 0; side < 2; ++side) splat_constant(l, nest, node->args[side]);
    }
    if (pb_point_lands_alone(l->unit->chip, nest)) return;
  }
  int memory; // commands may set what numbers there are
  if (pb_point_lands(l->unit->chip, &was, -1, PB_ANY_MEMORY, &memory)) pb_nest_copy(nest, &was);
}

// ---- printing ----

void pb__layout_print(pb_layout* l, const pb_nest* nest) {
  l->no_room |= pb_leaves_tensors(nest); // no chip's plan takes that, and no other target's either
  if (!l->has_runs) {
    pb_nest_print(&l->nests, nest, 1, &l->serial);
    return;
  }
  pb_nest cut;
  pb_nest_copy(&cut, nest);
  pb__layout_cut_runs(l, &cut);
  pb_nest_print(&l->nests, &cut, 1, &l->serial);
}

void pb__layout_print_plain(pb_layout* l, int n) {
  pb_nest out;
  pb__layout_rewrite_blocks(l, n, -1, &out);
  pb__layout_print(l, &out);
}

void pb__layout_print_copy(pb_layout* l, pb_nest* copy, const pb_access* from, const pb_access* to) {
  copy->access_count = 2;
  copy->access[0] = *from;
  copy->access[1] = *to;
  pb_nest_load(copy, 0);
  pb__layout_declare(l, to);
  pb__layout_print(l, copy);
}

static void print_argument(pb_text* text, bool* any, const char* ref, pb_type type, int rank, const int64_t* shape) {
  pb_access a = {.type = type, .rank = rank};
  memcpy(a.shape, shape, sizeof(int64_t) * (size_t)rank);
  pb_text_add(text, "%s%s: ", *any ? ", " : "", ref);
  pb_access_print_type(text, &a);
  *any = true;
}

void pb__layout_print_program(pb_layout* l, pb_text* text) {
  bool any = false;
  pb_text_add(text, "module attributes {pb.stage = \"s3\"} {\nfunc.func @main(");
  for (int pass = 0; pass < 3; ++pass) { // inputs, constants, outputs
    for (size_t k = 0; pass == 1 && k < l->const_count; ++k) {
      const pb_layout_const* c = &l->consts[k];
      if (c->late) continue;
      print_argument(text, &any, c->ref, c->type, c->rank, c->shape);
      pb_text_add(text, " {pb.const = %d : i64%s}", c->id, c->splat ? ", pb.splat" : "");
    }
    for (int v = 0; pass != 1 && v < l->program.value_count; ++v) {
      const pb_value* value = &l->program.values[v];
      if (value->kind != (pass ? PB_VALUE_OUTPUT : PB_VALUE_INPUT)) continue;
      print_argument(text, &any, l->values[v].ref, value->type, value->rank, value->shape);
      pb_text_add(text, " {%s = ", pass ? "pb.output" : "pb.input");
      pb_text_add_quoted(text, value->name);
      pb_text_add(text, "}");
    }
  }
  pb_text_add(text, ") {\n%s%s", l->allocs.data ? l->allocs.data : "", l->nests.data ? l->nests.data : "");
}
