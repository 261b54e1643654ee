#include "core/s3/kernel/contraction_dims.h"

#include "core/base/half_expr.h"
#include "core/s3/transfer_paths.h"

#include <stdio.h>
#include <string.h>

// A factor of a product: a load, perhaps widened, its zero point perhaps taken off.
typedef struct factor {
  int load;                // the access (operand of an instruction), -1: it is something else
  pb_type type;            // that is multiplied: a narrow float where codes are widened as such, else the load's
  bool is_unsigned, flips; // flips: its sign bit is turned over first
  bool less;               // a zero point is taken off
} factor;

// A float of 16 or 8 bits that is widened.
static factor half_of(const pb_expr_node* expr, int node) {
  for (int k = 0; k < PB_NARROW_TYPES; ++k) {
    int load = pb_half_widens(expr, node, pb_narrow_type(k));
    if (load >= 0) return (factor){.load = expr[load].operand, .type = pb_narrow_type(k)};
  }
  return (factor){.load = -1, .type = PB_TYPE_COUNT};
}

// Through the zero point, the widening and a flip of bits.
static factor factor_of(const pb_expr_node* expr, int node) {
  factor f = {.load = -1, .type = PB_TYPE_COUNT};
  if (expr[node].op == PB_OP_SUB && expr[node].type == PB_I32) {
    int zero = expr[node].args[1];
    if (expr[zero].op == PB_OP_SEXT) zero = expr[zero].args[0];
    f.less = expr[zero].op == PB_OP_CONST || expr[zero].op == PB_OP_IMM;
    if (f.less) node = expr[node].args[0];
  }
  if (expr[node].op == PB_OP_BITCAST) return half_of(expr, node);
  f.is_unsigned = expr[node].op == PB_OP_ZEXT;
  if (expr[node].op == PB_OP_SEXT || expr[node].op == PB_OP_ZEXT) node = expr[node].args[0];
  f.flips = expr[node].op == PB_OP_XOR;
  if (f.flips) node = expr[node].args[0];
  if (expr[node].op != PB_OP_LOAD) return f;
  f.load = expr[node].operand;
  f.type = expr[node].type;
  return f;
}

static bool product_of_loads(const pb_expr_node* expr, int count, factor* a, factor* b) {
  if (!count || expr[count - 1].op != PB_OP_MUL) return false;
  *a = factor_of(expr, expr[count - 1].args[0]);
  *b = factor_of(expr, expr[count - 1].args[1]);
  return a->load >= 0 && b->load >= 0 && a->load != b->load;
}

static void set_factors(pb_contraction_dims* roles, const factor* x, const factor* w) {
  roles->x = x->load;
  roles->x_type = x->type;
  roles->w = w->load;
  roles->w_type = w->type;
  roles->x_unsigned = x->is_unsigned;
  roles->x_flips = x->flips;
  roles->less = x->less || w->less;
}

static pb_role role_of(bool x, bool w, bool y) {
  if (x && w && y) return PB_ROLE_B;
  if (x && y) return PB_ROLE_M;
  if (w && y) return PB_ROLE_N;
  if (x && w) return PB_ROLE_K;
  return PB_ROLE_NONE;
}

bool pb_nest_contraction_dims(const pb_nest* nest, const bool* is_weight, pb_contraction_dims* roles) {
  factor a, b;
  if (nest->reduce != PB_ACC_ADD || !product_of_loads(nest->expr, nest->expr_count, &a, &b)) return false;
  bool swap = is_weight && is_weight[a.load] && !is_weight[b.load];
  memset(roles, 0, sizeof *roles);
  set_factors(roles, swap ? &b : &a, swap ? &a : &b);
  roles->y = nest->access_count - 1;
  roles->y_type = nest->access[roles->y].type;
  for (int d = 0; d < nest->dim_count; ++d)
    roles->role[d] = role_of(pb_access_uses(&nest->access[roles->x], d), pb_access_uses(&nest->access[roles->w], d),
                             pb_access_uses(&nest->access[roles->y], d));
  return true;
}

bool pb_program_contraction_dims(const pb_program* p, int n, pb_contraction_dims* roles) {
  bool weight[PB_NEST_ACCESSES];
  for (int a = 0; a < p->nests[n].access_count; ++a) weight[a] = pb_program_is_const(p, n, a);
  return pb_nest_contraction_dims(&p->nests[n], weight, roles);
}

int64_t pb_extent_of_role(const pb_nest* nest, const pb_contraction_dims* roles, pb_role role) {
  int64_t extent = 1;
  for (int d = 0; d < nest->dim_count; ++d)
    if (roles->role[d] == role) extent *= nest->extent[d];
  return extent;
}

// Whether the access goes along the nest's lanes, the neighbours of its result.
static bool goes_along_lanes(const pb_nest* nest, int a) {
  for (int d = 0; d < nest->dim_count; ++d)
    if (pb_access_stride(&nest->access[nest->access_count - 1], d) == 1 && pb_access_uses(&nest->access[a], d))
      return true;
  return false;
}

void pb_program_find_weights(const pb_program* p, int n, const pb_nest* nest, bool* weight) {
  factor a, b;
  for (int k = 0; k < nest->access_count; ++k) weight[k] = pb_program_is_const(p, n, k);
  if (!product_of_loads(nest->expr, nest->expr_count, &a, &b)) return;
  if (!goes_along_lanes(nest, a.load) && goes_along_lanes(nest, b.load)) weight[a.load] = false;
}

int pb_program_weights_of(const pb_program* p, int n) {
  pb_contraction_dims roles;
  return pb_program_contraction_dims(p, n, &roles) && pb_program_is_const(p, n, roles.w) ? roles.w : -1;
}

int pb_program_products_by_weights(const pb_program* p) {
  int count = 0;
  for (int n = 0; n < p->nest_count; ++n) count += pb_program_multiplies_weights(p, n);
  return count;
}

static bool operand_uses(const pb_operand* operand, int dim) { return pb_operand_index(operand, dim) >= 0; }

// The operand with moving rows is x: an instruction holds its weights still.
bool pb_insn_contraction_dims(const pb_insn* insn, pb_contraction_dims* roles) {
  factor a, b;
  if (insn->reduce != PB_ACC_ADD || !product_of_loads(insn->expr, insn->expr_count, &a, &b)) return false;
  memset(roles, 0, sizeof *roles);
  roles->y = insn->dest;
  roles->y_type = insn->operands[roles->y].type;
  for (int swap = 0; swap < 2; ++swap) {
    set_factors(roles, swap ? &b : &a, swap ? &a : &b);
    bool moves = false;
    for (int d = 0; d < insn->dim_count; ++d) {
      roles->role[d] = role_of(operand_uses(&insn->operands[roles->x], d), operand_uses(&insn->operands[roles->w], d),
                               operand_uses(&insn->operands[roles->y], d));
      moves |= roles->role[d] == PB_ROLE_M && insn->dims[d].min < insn->dims[d].max;
    }
    if (moves) return true;
  }
  return true;
}

int pb_insn_lanes(const pb_insn* insn, const pb_contraction_dims* roles, pb_role role) {
  for (int d = 0; d < insn->dim_count; ++d)
    if (roles->role[d] == role && insn->dims[d].min == insn->dims[d].max) return insn->dims[d].max;
  return 0;
}

// The next instruction after one (NULL: the first) that sums products of these types; NULL: there is none.
static const pb_insn* next_product(const pb_chip* chip, pb_type x, pb_type w, pb_type y, const pb_insn* after,
                                   pb_contraction_dims* roles) {
  for (int i = after ? after->index + 1 : 0; i < chip->insn_count; ++i) {
    const pb_insn* insn = &chip->insns[i];
    if (pb_insn_contraction_dims(insn, roles) && roles->x_type == x && roles->w_type == w && roles->y_type == y)
      return insn;
  }
  return NULL;
}

bool pb_chip_multiplies(const pb_chip* chip, pb_type x, pb_type w, pb_type y) {
  pb_contraction_dims unused;
  return next_product(chip, x, w, y, NULL, &unused) != NULL;
}

bool pb_chip_codes_unsigned(const pb_chip* chip) {
  bool any = false;
  for (int i = 0; i < chip->insn_count; ++i) {
    const pb_insn* insn = &chip->insns[i];
    pb_contraction_dims roles;
    if (insn->emit || !pb_insn_contraction_dims(insn, &roles) || roles.x_type != PB_I8) continue;
    if (!roles.x_unsigned) return false;
    any = true;
  }
  return any;
}

pb_type pb_chip_half_product(const pb_chip* chip) {
  for (int k = 0; k < PB_NARROW_TYPES; ++k)
    if (pb_chip_multiplies(chip, pb_narrow_type(k), pb_narrow_type(k), PB_F32)) return pb_narrow_type(k);
  return PB_TYPE_COUNT;
}

pb_status pb_chip_lacks_product(const pb_chip* chip, pb_diag* diag, const char* name, const pb_contraction_dims* roles,
                                bool weighs) {
  pb_type x = roles->x_type, w = roles->w_type;
  pb_type half = weighs && x == PB_F32 && w == PB_F32 ? pb_chip_half_product(chip) : PB_TYPE_COUNT;
  char hint[80] = "quantise the model, or choose another target";
  if (half != PB_TYPE_COUNT)
    snprintf(hint, sizeof hint, "--precision=%s, if its factors may be rounded to that", pb_type_name(half));
  return pb_unsupported(diag, (pb_place){.what = name}, 4003, hint,
                        "%s has no instruction that multiplies %s by %s into %s", chip->name, pb_type_name(x),
                        pb_type_name(w), pb_type_name(roles->y_type));
}

const pb_insn* pb_chip_contraction(const pb_chip* chip, const pb_contraction_dims* of, pb_contraction_dims* roles) {
  const pb_insn *best = NULL, *insn = NULL;
  pb_contraction_dims r;
  int64_t most = 0;
  while ((insn = next_product(chip, of->x_type, of->w_type, of->y_type, insn, &r))) {
    int64_t products = (int64_t)pb_insn_lanes(insn, &r, PB_ROLE_N) * pb_insn_lanes(insn, &r, PB_ROLE_K);
    if (products <= most) continue;
    best = insn;
    most = products;
    *roles = r;
  }
  return best;
}

const pb_insn* pb_chip_product(const pb_chip* chip, const pb_contraction_dims* of, int64_t lanes,
                               pb_contraction_dims* roles, int64_t* sums, int64_t* results) {
  const pb_insn* insn = pb_chip_contraction(chip, of, roles);
  int k = insn ? pb_insn_lanes(insn, roles, PB_ROLE_K) : 0, n = insn ? pb_insn_lanes(insn, roles, PB_ROLE_N) : 0;
  *sums = k > 0 ? k : lanes;
  *results = n > 0 ? n : lanes;
  return insn;
}

bool pb_weights_by_columns(const pb_insn* insn, const pb_contraction_dims* roles) {
  const pb_operand* w = &insn->operands[roles->w];
  bool columns = false;
  for (int k = 0; k < w->rank; ++k)
    columns |= w->strides[k].kind == PB_STRIDE_ELEM && roles->role[w->dims[k]] == PB_ROLE_K;
  return columns && !insn->emit && !pb_sums_by_lanes(insn, roles);
}

bool pb_sums_by_lanes(const pb_insn* insn, const pb_contraction_dims* roles) {
  bool sums = false;
  for (int d = 0; d < insn->dim_count; ++d) {
    if (roles->role[d] == PB_ROLE_N) return false;
    sums |= roles->role[d] == PB_ROLE_K;
  }
  return sums;
}

const pb_insn* pb_chip_lane_contraction(const pb_chip* chip, const pb_contraction_dims* of, const pb_insn* after,
                                        pb_contraction_dims* roles) {
  const pb_insn* insn = after;
  while ((insn = next_product(chip, of->x_type, of->w_type, of->y_type, insn, roles)))
    if (pb_sums_by_lanes(insn, roles) && pb_insn_lanes(insn, roles, PB_ROLE_B) == pb_chip_lanes(chip)) break;
  return insn;
}
