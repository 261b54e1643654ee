// Sums of floats in rows of lanes: what zero weights cannot keep apart is refused.
#include "core/s3/layout/grouped.h"
#include "core/s3/layout/layout.h"
#include "core/s3/routes.h"

#include <math.h>
#include <string.h>

// Lanes that are filled up with zeros are harmless to sums of integers; a function of floats may make them infinite.
// So sums of floats that the chip has no instruction for are not laid out for another target either.
static pb_status check_sums(const pb_layout* l, const pb_nest* nest, const pb_roles* roles) {
  pb_type x = roles->x_type, w = roles->w_type, y = nest->access[roles->y].type;
  pb_roles unused;
  if (x != PB_F32 || pb_chip_contraction(l->unit->chip, x, w, y, &unused)) return PB_OK;
  return pb_unsupported(l->unit->diag, (pb_place){.what = nest->name}, 4003,
                        "quantise the model, or choose another target",
                        "%s has no instruction that multiplies %s by %s into %s", l->unit->chip->name, pb_type_name(x),
                        pb_type_name(w), pb_type_name(y));
}

// Groups that share a row of lanes are multiplied together with zeros between them. Zero times a code is zero, but zero
// times infinity or NaN is NaN: what one group holds would reach the others.
static pb_status check_groups(const pb_layout* l, const pb_nest* nest, const pb_roles* roles) {
  pb_grouped g;
  bool depthwise = pb__layout_depthwise(nest, roles) >= 0;
  if (nest->access[roles->x].type != PB_F32 || !pb_grouped_read(nest, roles, &g) ||
      (!depthwise && g.ins % l->lanes == 0 && g.outs % l->lanes == 0))
    return PB_OK;
  return pb_unsupported(
      l->unit->diag, (pb_place){.what = nest->name}, 4042, "groups of whole rows, one group, or --fallback=cpu",
      "%lld groups of f32 share rows of %lld lanes, and %s could only keep them apart by zeros, which "
      "infinity and NaN pass",
      (long long)g.groups, (long long)l->lanes, l->unit->chip->name);
}

// Whether the body makes finite numbers of such. That a sum or product of very large ones overflows does not count.
static bool keeps_finite(const pb_nest* nest) {
  for (int e = 0; e < nest->expr_count; ++e) {
    switch (nest->expr[e].op) {
    case PB_OP_CONST:
      if (!isfinite(nest->expr[e].value)) return false;
      break;
    case PB_OP_LOAD:
    case PB_OP_ADD:
    case PB_OP_SUB:
    case PB_OP_MUL:
    case PB_OP_MAX:
    case PB_OP_MIN:
    case PB_OP_MAXIMUM:
    case PB_OP_MINIMUM:
    case PB_OP_LESS:
    case PB_OP_LESS_EQUAL:
    case PB_OP_SELECT:
    case PB_OP_NEG:
    case PB_OP_ABS:
      break;
    default:
      return false;
    }
  }
  return true;
}

static bool rest_is_finite(pb_layout* l, int v);

// Whether the nest makes finite numbers there: of the same lanes of what it reads.
static bool makes_finite(pb_layout* l, int n) {
  const pb_nest* nest = &l->program.nests[n];
  const pb_access* store = &nest->access[nest->access_count - 1];
  if (nest->access_count == 1) return true;
  if (!keeps_finite(nest)) return false;
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
  if (l->values[v].rest != PB_REST_UNKNOWN) return l->values[v].rest == PB_REST_FINITE;
  bool finite = true;
  PB_FOR_USES (n, &l->program, v) finite = finite && (!pb_program_writes(&l->program, n, v) || makes_finite(l, n));
  l->values[v].rest = finite ? PB_REST_FINITE : PB_REST_ANY;
  return finite;
}

// Weights are 0 there, which takes out any number but infinity and NaN: what one channel holds would reach others.
static pb_status check_rest(pb_layout* l, const pb_nest* nest, int x) {
  const pb_value* value = &l->program.values[x];
  if (value->type != PB_F32 || l->values[x].kind == PB_LAYOUT_PLAIN || value->shape[1] % l->lanes == 0 ||
      rest_is_finite(l, x))
    return PB_OK;
  return pb_unsupported(l->unit->diag, (pb_place){.what = nest->name}, 4042, "a multiple of them, or --fallback=cpu",
                        "it adds up %lld channels of f32 in rows of %lld lanes, and %s could only take out what lies "
                        "behind them by zeros, which infinity and NaN pass",
                        (long long)value->shape[1], (long long)l->lanes, l->unit->chip->name);
}

pb_status pb__layout_check_floats(pb_layout* l, int n, const pb_roles* roles) {
  const pb_nest* nest = &l->program.nests[n];
  PB_TRY(check_sums(l, nest, roles));
  PB_TRY(check_groups(l, nest, roles));
  return check_rest(l, nest, l->program.value_of[n][roles->x]);
}
