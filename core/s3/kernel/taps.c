#include "core/s3/kernel/contraction_dims.h"

// How many iterations of dim `d` one command takes, at most `most`, by a dim of the instruction that moves x by `fixed`
// elements (0: by any number). 0: it does not walk this dim.
static int64_t iterations_taken(const pb_nest* nest, const pb_contraction_dims* roles, int d, int64_t fixed,
                                int64_t most) {
  if (roles->role[d] != PB_ROLE_K || (fixed && pb_access_stride(&nest->access[roles->x], d) != fixed)) return 0;
  int64_t extent = nest->extent[d], commands = (extent + most - 1) / most;
  return (extent + commands - 1) / commands; // all take about as many: none is left with a single one
}

// How far apart in elements the instruction's weights lie along its dim; 0: as a field says.
static int64_t weights_apart(const pb_chip* chip, const pb_operand* w, int dim) {
  int k = pb_operand_index(w, dim);
  return k < 0 ? 0 : pb_fixed_stride(chip, w, k) * 8 / pb_type_bits(w->type);
}

// Hands summed dims of the nest to those of the instruction, each the one with the most iterations in a command.
// `fixed`: those that move x by a number of their own, which leave no choice; then the others.
static void take_taps(const pb_chip* chip, int64_t lanes, const pb_nest* nest, const pb_contraction_dims* roles,
                      const pb_insn* insn, const pb_contraction_dims* insn_roles, bool fixed, pb_taps* taps) {
  const pb_operand* x = &insn->operands[insn_roles->x];
  for (int k = 0; k < x->rank; ++k) {
    int64_t stride = pb_fixed_stride(chip, x, k) * 8 / pb_type_bits(x->type), most = 1;
    int taken = -1;
    if (insn_roles->role[x->dims[k]] != PB_ROLE_K || (stride != 0) != fixed) continue;
    for (int d = 0; d < nest->dim_count; ++d) {
      int64_t step = taps->step[d] ? 0 : iterations_taken(nest, roles, d, stride, insn->dims[x->dims[k]].max);
      if (step > most) most = step, taken = d;
    }
    int64_t apart = weights_apart(chip, &insn->operands[insn_roles->w], x->dims[k]);
    if (taken < 0 || !apart || apart % lanes) continue;
    taps->step[taken] = most;
    taps->apart[taken] = apart;
  }
}

// Whether the weights of dim d lie clear of those that lie closer.
static bool lies_clear(int64_t lanes, const pb_taps* taps, int count, int d) {
  int64_t inside = lanes;
  for (int e = 0; e < count; ++e) {
    if (e != d && taps->step[e] && taps->apart[e] == taps->apart[d]) return false;
    if (taps->step[e] && taps->apart[e] < taps->apart[d]) inside += taps->apart[e] * (taps->step[e] - 1);
  }
  return inside <= taps->apart[d];
}

void pb_taps_of(const pb_chip* chip, int64_t lanes, const pb_nest* nest, const pb_contraction_dims* roles,
                const pb_insn* insn, const pb_contraction_dims* insn_roles, pb_taps* taps) {
  *taps = (pb_taps){.commands = 1};
  take_taps(chip, lanes, nest, roles, insn, insn_roles, true, taps);
  take_taps(chip, lanes, nest, roles, insn, insn_roles, false, taps);
  for (int d = 0; d < nest->dim_count; ++d) {
    if (taps->step[d] && !lies_clear(lanes, taps, nest->dim_count, d)) taps->step[d] = taps->apart[d] = 0;
    int64_t step = taps->step[d] ? taps->step[d] : 1;
    if (roles->role[d] == PB_ROLE_K) taps->commands *= (nest->extent[d] + step - 1) / step;
  }
}

static bool has_own_lanes(int64_t lanes, const pb_nest* nest, const pb_contraction_dims* roles) {
  for (int d = 0; d < nest->dim_count; ++d)
    if (roles->role[d] == PB_ROLE_B && nest->extent[d] == lanes && pb_access_stride(&nest->access[roles->y], d) == 1)
      return true;
  return false;
}

const pb_insn* pb_nest_contraction(const pb_chip* chip, int64_t lanes, const pb_nest* nest,
                                   const pb_contraction_dims* roles, pb_contraction_dims* insn_roles) {
  const pb_insn *best = NULL, *insn = NULL;
  int64_t least = 0;
  pb_contraction_dims r;
  while (has_own_lanes(lanes, nest, roles) && (insn = pb_chip_lane_contraction(chip, roles, insn, &r))) {
    pb_taps taps;
    pb_taps_of(chip, lanes, nest, roles, insn, &r, &taps);
    if (best && taps.commands >= least) continue;
    best = insn;
    least = taps.commands;
    *insn_roles = r;
  }
  return best ? best : pb_chip_contraction(chip, roles, insn_roles);
}
