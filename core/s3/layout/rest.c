// Blocks whose last one has lanes that no channel fills. Weights of 0 undo what these lanes hold in a sum over
// channels, unless it is an infinity or NaN: in front of sums of floats zeros are stored there.
//
//   before   y = relu(conv(x) + b);      z = conv(y)      of 20 channels in blocks of 16
//   after    y = relu(conv(x) + b) & m;  z = conv(y)      m: ones in the bits of the 20, zeros in those of the 12
//
// A sum that is read as it is gets a pointwise nest behind it, which outline puts into its kernel as an epilogue. Codes
// of narrow floats are clean where the numbers are that they were rounded from. Where instructions take whole rows of
// lanes it is one of them that does so; without it such sums are refused, unless what lies there is finite by itself.
#include "core/s3/layout/layout.h"

#include "core/base/half_expr.h"
#include "core/s3/kernel/landing.h"

#include <math.h>
#include <string.h>

static bool has_rest(const pb_layout* l, int v) {
  const pb_value* value = &l->program.values[v];
  bool number = value->type == PB_F32 || value->type == pb_type_stored(PB_BF16) ||
                value->type == pb_type_stored(PB_E4M3); // that products of floats read
  return number && l->values[v].kind == PB_LAYOUT_BLOCKED && value->shape[1] % l->values[v].block;
}

bool pb__layout_maximises(const pb_program* p, int v) {
  PB_FOR_WRITERS (n, p, v)
    if (p->nests[n].reduce == PB_ACC_MAX || p->nests[n].reduce == PB_ACC_MAXIMUM) return true;
  return false;
}

// Whether the nest walks channels that lie plainly: it leaves out the lanes behind them (rewrite_cut in nests.c), which
// are 0 then, or what a sum starts from.
static bool walks_plain(const pb_layout* l, int n) {
  const pb_nest* nest = &l->program.nests[n];
  const pb_index* to = &nest->access[nest->access_count - 1].index[1];
  int dim;
  if (!pb_index_single(to, &dim) || dim < 0) return false;
  for (int a = 0; a + 1 < nest->access_count; ++a) {
    int v = l->program.value_of[n][a];
    if (l->program.values[v].kind != PB_VALUE_CONST && l->values[v].kind == PB_LAYOUT_PLAIN &&
        pb_access_uses(&nest->access[a], dim))
      return true;
  }
  return false;
}

// Whether the nest rounds numbers to 16 or 8 bits, each for itself.
static bool rounds(const pb_nest* nest) {
  bool found = false;
  for (int k = 0; k < PB_NARROW_TYPES && !found; ++k)
    found = pb_half_rounds(nest->expr, nest->expr_count - 1, pb_narrow_type(k)) >= 0;
  return found && nest->reduce == PB_SET && nest->access_count == 2;
}

// Whether the nest moves lanes as they are or rounded, or sums or compares such of the same channel.
static bool moves(const pb_layout* l, int n) {
  const pb_nest* nest = &l->program.nests[n];
  return (nest->expr_count == 1 || rounds(nest)) && nest->access_count == 2 && has_rest(l, l->program.value_of[n][0]) &&
         !memcmp(&nest->access[0].index[1], &nest->access[1].index[1], sizeof(pb_index));
}

// What becomes of the lanes that no channel fills.
typedef enum rest {
  FINITE,
  FROM_SOURCE, // finite where they are so in what the nest reads
  ANY,         // of a pointwise nest, which can clean them itself
  ANY_SUM
} rest;

// A maximum starts at -inf, and so do borders in front of one: `past`.
static rest rest_behind(const pb_layout* l, int n, bool past) {
  const pb_nest* nest = &l->program.nests[n];
  if (nest->access_count == 1 && nest->expr_count == 1) return past || isfinite(nest->expr[0].value) ? FINITE : ANY;
  if (walks_plain(l, n)) return FINITE;
  if (moves(l, n)) return FROM_SOURCE;
  return nest->reduce == PB_SET && pb__layout_has_room_for_mask(nest) ? ANY : ANY_SUM;
}

// Cleans the lanes where they come to hold anything: in pointwise nests, behind sums, or in what a value is moved from.
static void clean(pb_layout* l, int v, bool past) {
  pb_layout_value* value = &l->values[v];
  if (!has_rest(l, v) || value->made || value->masked || l->program.values[v].kind == PB_VALUE_INPUT) return;
  past |= pb__layout_maximises(&l->program, v);
  PB_FOR_WRITERS (n, &l->program, v) {
    rest found = rest_behind(l, n, past);
    if (found == FROM_SOURCE) clean(l, l->program.value_of[n][0], past);
    if (found == ANY) value->masked = true;
    if (found == ANY_SUM) value->made = pb_printf(&l->unit->pass, "%%r%d", v);
  }
}

bool pb__layout_masks(const pb_chip* chip) {
  pb_nest nest;
  pb_nest_begin(&nest, "mask", "point", 2);
  nest.access[0].type = nest.access[1].type = PB_F32;
  (void)pb_nest_load(&nest, 0);
  (void)pb__layout_put_mask(&nest);
  return pb_point_lands_alone(chip, &nest);
}

void pb__layout_find_rests(pb_layout* l) {
  pb_contraction_dims roles;
  if (!pb__layout_masks(l->unit->chip)) return; // check_rest refuses such sums
  for (int n = 0; n < l->program.nest_count; ++n)
    if (pb__layout_contraction_dims(l, n, &roles) && pb_type_is_float(roles.x_type))
      clean(l, l->program.value_of[n][roles.x], false);
}

static int mask(pb_layout* l, int v) {
  pb_consts* consts = l->unit->consts;
  const int64_t shape[] = {l->values[v].shape[1], l->values[v].block}, lanes = shape[0] * shape[1];
  pb_type type = l->program.values[v].type == PB_F32 ? PB_I32 : l->program.values[v].type;
  size_t bytes = (size_t)pb_type_bits(type) / 8;
  char* bits = pb_alloc(&consts->arena, (size_t)lanes * bytes);
  memset(bits, 0, (size_t)lanes * bytes);
  memset(bits, 0xff, (size_t)l->program.values[v].shape[1] * bytes);
  return pb_consts_add(consts, "channels", type, 2, shape, bits);
}

int pb__layout_put_mask(pb_nest* nest) {
  int bits = nest->expr_count - 1, at = pb_nest_add_access(nest);
  pb_type type = nest->expr[bits].type, as_bits = type == PB_F32 ? PB_I32 : type;
  nest->access[at].type = as_bits;
  if (type == PB_F32) bits = pb_nest_node(nest, PB_OP_BITCAST, PB_I32, bits, -1);
  bits = pb_nest_node(nest, PB_OP_AND, as_bits, bits, pb_nest_load(nest, at));
  if (type == PB_F32) (void)pb_nest_node(nest, PB_OP_BITCAST, PB_F32, bits, -1);
  return at;
}

// What the nest stores of value v is masked.
static void mask_stored(pb_layout* l, int v, pb_nest* nest) {
  int at = pb__layout_put_mask(nest);
  pb__layout_use_const(l, &nest->access[at], mask(l, v), false);
  nest->access[at].index[0] = nest->access[at + 1].index[1];
  nest->access[at].index[1] = nest->access[at + 1].index[l->values[v].rank - 1];
}

void pb__layout_mask_rest(pb_layout* l, int v, pb_nest* nest) {
  const pb_layout_value* value = &l->values[v];
  if (value->masked && !value->made && nest->reduce == PB_SET && nest->access_count < PB_NEST_ACCESSES)
    mask_stored(l, v, nest);
}

void pb__layout_clean_rest(pb_layout* l, int n) {
  int v = pb_program_stored(&l->program, n);
  const pb_layout_value* value = &l->values[v];
  if (!value->made || n < pb_program_last_writer(&l->program, v)) return; // behind the last that makes it
  pb_nest nest = {.name = l->program.nests[n].name, .part = "point", .access_count = 2};
  pb_access* x = &nest.access[0];
  int last = value->rank - 1;
  x->type = l->program.values[v].type;
  pb__layout_use_value(l, x, v);
  for (int r = 0; r < last; ++r) pb_nest_walk(&nest, &x->index[r], 1, value->shape[r]);
  int64_t vectors = value->block % l->lanes ? 1 : value->block / l->lanes;
  pb_nest_walk(&nest, &x->index[last], l->lanes, vectors);
  pb_nest_walk(&nest, &x->index[last], 1, value->block / vectors);
  nest.access[1] = *x;
  x->ref = value->made;
  pb_nest_load(&nest, 0);
  mask_stored(l, v, &nest);
  pb__layout_print(l, &nest);
}

// ---- where nothing can clean them ----

// Lanes that are filled up with zeros are harmless to sums of integers; a function of floats may make them infinite.
// So sums of floats that the chip has no instruction for are not laid out for another target either.
static pb_status check_sums(const pb_layout* l, int n, const pb_contraction_dims* roles) {
  const pb_nest* nest = &l->program.nests[n];
  const pb_chip* chip = l->unit->chip;
  pb_contraction_dims unused;
  if (roles->x_type != PB_F32 || pb_chip_contraction(chip, roles, &unused)) return PB_OK;
  return pb_chip_lacks_product(chip, l->unit->diag, nest->name, roles, pb__layout_weighs(l, n, roles));
}

// Groups that share a row of lanes are multiplied together with zeros between them. Zero times a code is zero, but zero
// times infinity or NaN is NaN: what one group holds would reach the others.
static pb_status check_groups(const pb_layout* l, const pb_nest* nest, const pb_contraction_dims* roles) {
  pb_grouped g;
  bool depthwise = pb__layout_depthwise(nest, roles) >= 0;
  if (!pb_type_is_float(roles->x_type) || !pb__layout_read_groups(nest, roles, &g) ||
      (!depthwise && g.ins % l->lanes == 0 && g.outs % l->lanes == 0))
    return PB_OK;
  return pb_unsupported(l->unit->diag, (pb_place){.what = nest->name}, 4042,
                        "groups of whole rows, one group, or --fallback=cpu",
                        "%lld groups of %s share rows of %lld lanes, and %s could only keep them apart by zeros, which "
                        "infinity and NaN pass",
                        (long long)g.groups, pb_type_name(roles->x_type), (long long)l->lanes, l->unit->chip->name);
}

// Whether the body makes finite numbers of such. That a sum or product of very large ones overflows does not count.
static bool keeps_finite(const pb_nest* nest) {
  static const bool keeps[PB_OP_COUNT] = {
      [PB_OP_CONST] = true,   [PB_OP_LOAD] = true, [PB_OP_ADD] = true,     [PB_OP_SUB] = true,       [PB_OP_MUL] = true,
      [PB_OP_MAX] = true,     [PB_OP_MIN] = true,  [PB_OP_MAXIMUM] = true, [PB_OP_NEG] = true,       [PB_OP_ABS] = true,
      [PB_OP_MINIMUM] = true, [PB_OP_LESS] = true, [PB_OP_SELECT] = true,  [PB_OP_LESS_EQUAL] = true};
  for (int e = 0; e < nest->expr_count; ++e) {
    const pb_expr_node* node = &nest->expr[e];
    if (!keeps[node->op] || (node->op == PB_OP_CONST && !isfinite(node->value))) return false;
  }
  return true;
}

static bool rest_is_finite(pb_layout* l, int v);

// Whether the nest makes finite numbers there: of the same lanes of what it reads.
static bool makes_finite(pb_layout* l, int n) {
  const pb_nest* nest = &l->program.nests[n];
  const pb_access* store = &nest->access[nest->access_count - 1];
  if (nest->access_count == 1) return true;
  if (!keeps_finite(nest) && !rounds(nest)) return false;
  for (int a = 0; a + 1 < nest->access_count; ++a) {
    int from = l->program.value_of[n][a];
    if (l->program.values[from].kind == PB_VALUE_CONST) continue;
    if (nest->access[a].rank != store->rank ||
        memcmp(nest->access[a].index[1].coef, store->index[1].coef, sizeof store->index[1].coef) ||
        !rest_is_finite(l, from))
      return false;
  }
  return true;
}

// Whether lanes that no channel fills hold finite numbers: zeros from outside a tensor's box, and what is made of such
// lanes alone.
static bool rest_is_finite(pb_layout* l, int v) {
  const pb_layout_twin* twin = pb__layout_twin_of(l, v);
  if (l->program.values[v].kind == PB_VALUE_INPUT || (twin && !twin->out)) return true;
  if (l->values[v].masked || l->values[v].made) return true;
  if (l->values[v].rest != PB_REST_UNKNOWN) return l->values[v].rest == PB_REST_FINITE;
  bool finite = true;
  PB_FOR_WRITERS (n, &l->program, v) finite = finite && makes_finite(l, n);
  l->values[v].rest = finite ? PB_REST_FINITE : PB_REST_ANY;
  return finite;
}

// Weights are 0 there, which takes out any number but infinity and NaN: what one channel holds would reach others.
static pb_status check_rest(pb_layout* l, const pb_nest* nest, int x, pb_type type) {
  const pb_value* value = &l->program.values[x];
  if (!pb_type_is_float(type) || l->values[x].kind == PB_LAYOUT_PLAIN || value->shape[1] % l->lanes == 0 ||
      rest_is_finite(l, x))
    return PB_OK;
  return pb_unsupported(l->unit->diag, (pb_place){.what = nest->name}, 4042, "a multiple of them, or --fallback=cpu",
                        "it adds up %lld channels of %s in rows of %lld lanes, and %s could only take out what lies "
                        "behind them by zeros, which infinity and NaN pass",
                        (long long)value->shape[1], pb_type_name(type), (long long)l->lanes, l->unit->chip->name);
}

pb_status pb__layout_check_floats(pb_layout* l, int n, const pb_contraction_dims* roles) {
  const pb_nest* nest = &l->program.nests[n];
  PB_TRY(check_sums(l, n, roles));
  PB_TRY(check_groups(l, nest, roles));
  return check_rest(l, nest, l->program.value_of[n][roles->x], roles->x_type);
}
