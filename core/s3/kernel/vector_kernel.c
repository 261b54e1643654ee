#include "core/s3/kernel/vector_kernel.h"

#include "core/s3/kernel/flat.h"

#include <string.h>

// Nest n of the program, as `nest` over the main nest's dims. What it takes of value `from_registers` (-1: nothing) is
// in registers.
static bool translate(const pb_program* p, int n, const pb_nest* nest, int from_registers, pb_vnest* out) {
  pb_flat flat;
  out->nest = nest;
  pb_flat_begin(nest, &flat);
  for (int a = 0; a < nest->access_count; ++a) {
    const pb_access* access = &nest->access[a];
    pb_vaccess* v = &out->access[a];
    int argument = p->values[p->value_of[n][a]].argument;
    *v = (pb_vaccess){.argument = argument >= 0 ? argument : PB_VEC_INSIDE,
                      .type = access->type,
                      .is_table = flat.access[a].table,
                      .cst = pb_access_offset(access)};
    if (flat.access[a].boxed || pb_program_is_fixed(p, n)) return false;
    if (access->type != PB_F32 && access->type != PB_I32 && access->type != PB_I16 && access->type != PB_I8 &&
        access->type != PB_I64)
      return false;
    for (int k = 0; k < nest->outer_count; ++k) v->outer[k] = pb_access_stride(access, PB_NEST_DIMS + k);
    if (p->value_of[n][a] == from_registers) v->argument = PB_VEC_REGISTERS;
    if (v->argument == PB_VEC_INSIDE && a + 1 < nest->access_count) return false;
    memcpy(v->stride, flat.access[a].stride, sizeof v->stride);
  }
  return true;
}

// What stands around the main nest, over its dims.
static bool read_others(const pb_around* around, pb_vkernel* k) {
  const pb_program* p = around->program;
  bool sums = k->main.nest->reduce != PB_SET;
  if (around->init && !translate(p, around->init_number, around->init, -1, &k->init)) return false;
  for (int n = 0; n < around->epilogue_count; ++n) {
    const pb_epilogue* epilogue = &around->epilogues[n];
    int made = pb_program_stored(p, n ? around->epilogues[n - 1].number : around->main_index);
    if (!translate(p, epilogue->number, epilogue->nest, made, &k->epilogues[k->epilogue_count++])) return false;
  }
  for (int t = -1; t + 1 < k->epilogue_count; ++t) { // only the last value leaves the registers
    const pb_vnest* from = t < 0 ? &k->main : &k->epilogues[t];
    if (from->access[pb_vkernel_store(from)].argument >= 0) return false;
  }
  return (!sums || k->init.nest) && pb_vkernel_result(k)->argument >= 0;
}

int64_t pb_vkernel_unit(const pb_vkernel* k, int d) {
  return d == k->lane_dim ? k->lanes : d == k->row_dim ? k->rows : 1;
}

int64_t pb_vkernel_steps(const pb_vkernel* k, int d) {
  int64_t extent = k->main.nest->extent[d], unit = pb_vkernel_unit(k, d);
  return (extent + unit - 1) / unit;
}

bool pb_vkernel_is_spatial(const pb_vkernel* k, int d) {
  return !k->is_sum[d] && !(d == k->lane_dim && pb_vkernel_steps(k, d) == 1);
}

bool pb_vkernel_is_column(const pb_vkernel* k, int d) {
  if (!k->insn.insn) return false;
  return k->main.access[k->w].stride[d] && !k->main.access[k->x].stride[d];
}

int pb_vkernel_overlapped(const pb_vkernel* k, int d) {
  const int64_t* stride = k->main.access[k->x].stride;
  int found = -1;
  for (int s = 0; s < k->main.nest->dim_count; ++s)
    if (k->is_sum[s] && stride[s] > 0 && stride[d] % stride[s] == 0 &&
        stride[d] / stride[s] < k->main.nest->extent[s] && (found < 0 || stride[s] > stride[found]))
      found = s;
  return found;
}

// The dim of rows that leaves the fewest of a register's unused: it moves x and what is stored.
static void choose_rows(pb_vkernel* k) {
  for (int d = 0; d < k->main.nest->dim_count; ++d) {
    const pb_vaccess* a = k->main.access;
    if (k->is_sum[d] || a[k->w].stride[d] || a[k->x].stride[d] <= 0) continue;
    int64_t rows = pb_parts_of(k->main.nest->extent[d], k->matrix.rows).size;
    if (rows < k->rows) continue;
    k->rows = rows;
    k->row_dim = d;
  }
}

// The main nest as the instruction on matrices takes it: x's rows are runs of neighbours over two summed dims, w has
// lanes and groups inside the outer one.
static bool find_matrix(pb_select_memo* memo, const pb_contraction_dims* roles, pb_vkernel* k) {
  const pb_nest* nest = k->main.nest;
  const pb_vaccess *x = &k->main.access[roles->x], *w = &k->main.access[roles->w];
  k->matrix = pb_matrix_contraction(memo, roles->x_type, roles->w_type, k->main.access[roles->y].type);
  int g = nest->dim_count - 1;
  bool fits = k->matrix.product.insn && g > 0 && k->is_sum[g] && nest->extent[g] == k->matrix.product.group &&
              x->stride[g] == 1 && w->stride[g] == 1;
  k->x = roles->x;
  k->w = roles->w;
  for (int d = 0; fits && d < g; ++d)
    if (k->is_sum[d] && x->stride[d] == k->matrix.product.group &&
        w->stride[d] == (int64_t)k->matrix.product.lanes * k->matrix.product.group)
      k->depth_dim = d;
  if (fits) choose_rows(k);
  if (k->depth_dim < 0 || k->row_dim < 0) {
    k->matrix = (pb_matrix_insn){0};
    k->depth_dim = k->row_dim = -1;
    return false;
  }
  k->depth = pb_largest_divisor(nest->extent[k->depth_dim], k->matrix.steps);
  k->group_dim = g;
  k->insn = k->matrix.product;
  return true;
}

// The main nest as the instruction takes it: x (or each channel's own x) and w, summed in groups of neighbours.
static void find_insn(const pb_group* g, pb_vkernel* k) {
  const pb_contraction_dims* roles = &g->roles;
  const pb_nest* nest = k->main.nest;
  if (!roles->y || (!roles->x_unsigned && find_matrix(g->memo, roles, k))) return;
  pb_vector_insn insn = pb_vector_contraction(g->memo, roles->x_type, roles->w_type, nest->access[roles->y].type);
  if (!insn.insn || insn.flips != roles->x_unsigned) return;
  insn.flips = roles->x_unsigned && roles->x_flips; // else it is stored without
  if (insn.group > 1) {
    int d = nest->dim_count - 1;
    if (d < 0 || !k->is_sum[d] || nest->extent[d] > insn.group || k->main.access[roles->w].stride[d] != 1) return;
    k->taps = k->main.access[roles->x].stride[d] != 1;
    if (!k->taps && nest->extent[d] != insn.group) return;
    k->group_dim = d;
  }
  k->insn = insn;
  k->x = roles->x;
  k->w = roles->w;
}

static bool strides_allow(const pb_vkernel* k, const pb_vnest* nest, int d, bool main) {
  for (int a = 0; nest->nest && a < nest->nest->access_count; ++a) {
    const pb_vaccess* access = &nest->access[a];
    if (access->argument == PB_VEC_REGISTERS) continue;
    bool store = a == pb_vkernel_store(nest);
    bool grouped = main && k->group_dim >= 0 && a == k->w;
    if (grouped ? access->stride[d] != k->insn.group : access->stride[d] != 1 && (store || access->stride[d] != 0))
      return false;
  }
  return true;
}

static void choose_lanes(const pb_vkernel* k, int lanes, int* dim) {
  *dim = -1;
  for (int d = 0; d < k->main.nest->dim_count; ++d) {
    bool fits = !k->is_sum[d] && k->main.nest->extent[d] >= lanes && strides_allow(k, &k->main, d, true) &&
                strides_allow(k, &k->init, d, false);
    for (int t = 0; t < k->epilogue_count; ++t) fits &= strides_allow(k, &k->epilogues[t], d, false);
    if (fits) *dim = d;
  }
}

// ---- transpositions ----

// Values that are only set, and stored along one dim but loaded along another.
static void choose_turn(pb_vkernel* k, int lanes) {
  const pb_vaccess* to = &k->main.access[pb_vkernel_store(&k->main)];
  for (int d = 0; d < k->main.nest->dim_count; ++d)
    for (int across = 0; across < k->main.nest->dim_count && k->lane_dim < 0; ++across) {
      bool fits = to->stride[d] == 1 && k->main.nest->extent[d] >= lanes && across != d;
      for (int a = 0; a < pb_vkernel_store(&k->main); ++a) {
        const int64_t* stride = k->main.access[a].stride;
        fits &= stride[d] == 0 || stride[d] == 1 || stride[across] == 1;
      }
      if (!fits) continue;
      k->lane_dim = d;
      k->transpose_dim = across;
    }
}

// ---- lanes in runs ----

// Whether the access takes elements `step` apart, one for each of the outer of two dims that are lanes, and whatever
// else moves stays between two of them or steps over all.
static bool comes_in_runs(const pb_nest* nest, const pb_access* access, const bool* summed, int outer) {
  int64_t step = pb_access_stride(access, outer), all = step * nest->extent[outer], inside = 0;
  if (step <= 0 || pb_access_stride(access, outer + 1) || pb_access_offset(access) % all) return false;
  for (int d = 0; d < nest->dim_count; ++d) {
    int64_t stride = pb_access_stride(access, d);
    if (d == outer || stride % all == 0) continue;
    if (!summed[d] || stride < 0) return false;
    inside += stride * (nest->extent[d] - 1);
  }
  return inside < step;
}

// The outer of two neighbouring dims whose elements together are the lanes; *access: the load that comes in runs.
static int dim_of_runs(const pb_nest* nest, const bool* summed, int64_t lanes, int* access) {
  for (int d = 0; d + 1 < nest->dim_count; ++d) {
    int64_t inner = nest->extent[d + 1];
    bool fits = !summed[d] && !summed[d + 1] && nest->extent[d] * inner == lanes;
    *access = -1;
    for (int a = 0; fits && a < nest->access_count; ++a) {
      if (pb_access_stride(&nest->access[a], d) == inner * pb_access_stride(&nest->access[a], d + 1)) continue;
      fits = *access < 0 && a + 1 < nest->access_count && comes_in_runs(nest, &nest->access[a], summed, d);
      *access = a;
    }
    if (fits && *access >= 0) return d;
  }
  return -1;
}

static void note_sums(const pb_nest* nest, bool* summed) {
  for (int d = 0; d < nest->dim_count; ++d) summed[d] = pb_nest_reduces_over(nest, d);
}

// The main nest as the group has it now.
static bool set_main(const pb_group* g, pb_vkernel* k) {
  note_sums(&g->main, k->is_sum);
  return translate(g->program, g->main_index, pb_nest_kept(g->memo->arena, &g->main), -1, &k->main);
}

const char* pb_vkernel_begin(pb_group* g, bool joins) {
  pb_vkernel* k = g->registers;
  int64_t lanes = pb_vector_facts_of(g->memo->chip).lanes, step = 0, run = 0;
  int in_runs = -1;
  *k = (pb_vkernel){.program = g->program,
                    .lane_dim = -1,
                    .lanes = 1,
                    .group_dim = -1,
                    .row_dim = -1,
                    .depth_dim = -1,
                    .transpose_dim = -1,
                    .run_dim = -1};
  note_sums(&g->main, k->is_sum);
  if (joins) k->run_dim = dim_of_runs(&g->main, k->is_sum, lanes, &in_runs);
  if (k->run_dim >= 0) {
    step = pb_access_stride(&g->main.access[in_runs], k->run_dim);
    run = g->main.extent[k->run_dim + 1];
    pb_nest_join_dims(&g->main, k->run_dim);
  }
  if (!set_main(g, k)) return "its operands lie in no form that vectors walk";
  if (k->run_dim >= 0) {
    k->main.access[in_runs].run = run;
    k->main.access[in_runs].run_stride = step;
  }
  return NULL;
}

bool pb_vkernel_inside_runs(const pb_vkernel* k, int d) {
  for (int a = 0; a < pb_vkernel_store(&k->main); ++a) {
    int64_t runs = pb_vkernel_runs(k, &k->main.access[a]);
    if (k->is_sum[d] && runs && k->main.access[a].stride[d] % runs) return true;
  }
  return false;
}

// Two dims that all tensors walk as one become one: longer vectors.
static void join_dims(pb_group* g, pb_vkernel* k) {
  for (int d = g->main.dim_count - 2; d >= 0; --d)
    if (pb_nest_walks_as_one(&g->main, d)) pb_nest_join_dims(&g->main, d);
  (void)set_main(g, k); // as it could before
}

const char* pb_vkernel_read(pb_group* g) {
  pb_vkernel* k = g->registers;
  int lanes = (int)pb_vector_facts_of(g->memo->chip).lanes;
  if (!read_others(&g->around, k)) return "what stands around its main loops lies in no form that vectors walk";
  for (int e = 0; e < g->main.expr_count; ++e)
    if (g->main.expr[e].op == PB_OP_OTHER) return "it has an operation without a vector form";
  find_insn(g, k);
  choose_lanes(k, lanes, &k->lane_dim);
  if (k->lane_dim < 0 && k->run_dim < 0 && !g->reduces && !k->epilogue_count) {
    join_dims(g, k);
    choose_lanes(k, lanes, &k->lane_dim);
    if (k->lane_dim < 0) choose_turn(k, lanes);
  }
  if (k->lane_dim >= 0) k->lanes = lanes;
  bool apart = k->taps && k->lane_dim >= 0 && k->main.access[k->x].stride[k->lane_dim] != 1;
  if (k->lane_dim < 0 || apart) { // also taps that have no neighbours for the lanes
    k->insn = (pb_vector_insn){0};
    k->matrix = (pb_matrix_insn){0};
    k->group_dim = k->row_dim = k->depth_dim = -1;
    k->taps = false;
  }
  k->memory = k->matrix.product.insn ? k->matrix.memory : pb_chip_register_file(g->memo->chip);
  g->contraction = k->insn.insn;
  g->insn_roles = (pb_contraction_dims){.x = k->insn.x, .w = k->insn.w, .y = k->insn.y};
  return NULL;
}

const pb_vaccess* pb_vkernel_result(const pb_vkernel* k) {
  const pb_vnest* last = k->epilogue_count ? &k->epilogues[k->epilogue_count - 1] : &k->main;
  return &last->access[pb_vkernel_store(last)];
}
