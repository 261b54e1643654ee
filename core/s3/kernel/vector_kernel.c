#include "core/s3/kernel/vector_kernel.h"

// Whether vectors walk nest n of the program. `made`: the value that it takes from registers, -1: none.
static bool walks(const pb_program* p, int n, int made) {
  const pb_nest* nest = &p->nests[n];
  for (int a = 0; a < nest->access_count; ++a) {
    pb_type type = nest->access[a].type;
    int value = p->value_of[n][a];
    bool known = type == PB_F32 || type == PB_I32 || type == PB_I16 || type == PB_I8 || type == PB_I64;
    bool inside = a < pb_vkernel_store(nest) && pb_program_is_local(p, value) && value != made;
    if (nest->access[a].boxed || !known || inside) return false;
  }
  return !pb_program_is_fixed(p, n);
}

// What stands around the main nest: only the last value leaves the registers.
static bool reads_others(const pb_group* g) {
  const pb_program* p = g->program;
  const pb_around* around = &g->around;
  if (around->init ? !walks(p, around->init_number, -1) : g->reduces) return false;
  for (int e = 0; e < around->epilogue_count; ++e) {
    int made = pb_around_made(around, e);
    if (!pb_program_is_local(p, made) || !walks(p, around->epilogues[e].number, made)) return false;
  }
  return !pb_program_is_local(p, pb_program_stored(p, pb_around_last(around)));
}

// The nest with each access by element number: one index.
static const pb_nest* linear(const pb_group* g, const pb_nest* nest) {
  pb_nest* made = pb_nest_kept(g->memo->arena, nest);
  for (int a = 0; a < nest->access_count; ++a) {
    const pb_access* from = &nest->access[a];
    pb_access* to = &made->access[a];
    *to = (pb_access){.memref = from->memref, .buffer = from->buffer, .type = from->type, .rank = 1};
    to->shape[0] = pb_access_elements(from);
    to->gathered = from->gathered != 0;
    to->index[0].cst = pb_access_offset(from);
    for (int c = 0; c < PB_NEST_COLS; ++c) to->index[0].coef[c] = pb_access_stride(from, c);
  }
  return made;
}

static void set_main(pb_vkernel* k, const pb_nest* main) {
  k->main = k->last = main;
  for (int d = 0; d < main->dim_count; ++d) k->is_sum[d] = pb_nest_reduces_over(main, d);
}

// The group's nests as vectors walk them.
static void set_nests(pb_group* g, pb_vkernel* k) {
  pb_around* around = &g->around;
  set_main(k, linear(g, &g->main));
  pb_nest_copy(&g->main, k->main);
  if (around->init) around->init = linear(g, around->init);
  for (int e = 0; e < around->epilogue_count; ++e)
    k->last = around->epilogues[e].nest = linear(g, around->epilogues[e].nest);
}

int64_t pb_vkernel_unit(const pb_vkernel* k, int d) {
  return d == k->lane_dim ? k->lanes : d == k->row_dim ? k->rows : 1;
}

int64_t pb_vkernel_steps(const pb_vkernel* k, int d) {
  int64_t extent = k->main->extent[d], unit = pb_vkernel_unit(k, d);
  return (extent + unit - 1) / unit;
}

bool pb_vkernel_is_spatial(const pb_vkernel* k, int d) {
  return !k->is_sum[d] && !(d == k->lane_dim && pb_vkernel_steps(k, d) == 1);
}

static int64_t main_stride(const pb_vkernel* k, int a, int d) { return pb_vkernel_stride(&k->main->access[a], d); }

bool pb_vkernel_is_column(const pb_vkernel* k, int d) {
  return k->insn.insn && main_stride(k, k->w, d) && !main_stride(k, k->x, d);
}

int pb_vkernel_overlapped(const pb_vkernel* k, int d) {
  const int64_t* stride = k->main->access[k->x].index[0].coef;
  int found = -1;
  for (int s = 0; s < k->main->dim_count; ++s)
    if (k->is_sum[s] && stride[s] > 0 && stride[d] % stride[s] == 0 && stride[d] / stride[s] < k->main->extent[s] &&
        (found < 0 || stride[s] > stride[found]))
      found = s;
  return found;
}

// The dim of rows that leaves the fewest of a register's unused: it moves x and what is stored.
static void choose_rows(pb_vkernel* k) {
  for (int d = 0; d < k->main->dim_count; ++d) {
    if (k->is_sum[d] || main_stride(k, k->w, d) || main_stride(k, k->x, d) <= 0) continue;
    int64_t rows = pb_parts_of(k->main->extent[d], k->matrix.rows).size;
    if (rows < k->rows) continue;
    k->rows = rows;
    k->row_dim = d;
  }
}

// The main nest as the instruction on matrices takes it: x's rows are runs of neighbours over two summed dims, w has
// lanes and groups inside the outer one.
static bool find_matrix(pb_select_memo* memo, const pb_contraction_dims* roles, pb_vkernel* k) {
  const pb_nest* nest = k->main;
  const int64_t *x = nest->access[roles->x].index[0].coef, *w = nest->access[roles->w].index[0].coef;
  k->matrix = pb_matrix_contraction(memo, roles);
  int g = nest->dim_count - 1;
  bool fits = k->matrix.product.insn && g > 0 && k->is_sum[g] && nest->extent[g] == k->matrix.product.group &&
              x[g] == 1 && w[g] == 1;
  k->x = roles->x;
  k->w = roles->w;
  for (int d = 0; fits && d < g; ++d)
    if (k->is_sum[d] && x[d] == k->matrix.product.group &&
        w[d] == (int64_t)k->matrix.product.lanes * k->matrix.product.group)
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

// The main nest as the instruction takes it: x (or each channel's own x) and w, summed in groups of neighbours. Zero
// points no instruction of cores takes off.
static void find_insn(const pb_group* g, pb_vkernel* k) {
  const pb_contraction_dims* roles = &g->roles;
  const pb_nest* nest = k->main;
  if (!roles->y || roles->less || (!roles->x_unsigned && find_matrix(g->memo, roles, k))) return;
  pb_vector_insn insn = pb_vector_contraction(g->memo, roles->x_type, roles->w_type, roles->y_type);
  if (!insn.insn || insn.flips != roles->x_unsigned) return;
  insn.flips = roles->x_unsigned && roles->x_flips; // else it is stored without
  if (insn.group > 1) {
    int d = nest->dim_count - 1;
    if (d < 0 || !k->is_sum[d] || nest->extent[d] > insn.group || main_stride(k, roles->w, d) != 1) return;
    k->taps = main_stride(k, roles->x, d) != 1;
    if (!k->taps && nest->extent[d] != insn.group) return;
    k->group_dim = d;
  }
  int last = nest->dim_count - 1, each = pb_vector_facts_of(g->memo->chip).each_at_once;
  if (insn.group == 1 && each > 1 && last >= 0 && k->is_sum[last] && nest->extent[last] == each &&
      main_stride(k, roles->w, last) == 1)
    k->each_dim = last;
  k->insn = insn;
  k->x = roles->x;
  k->w = roles->w;
}

// Whether neighbours along the dim lie as a register's lanes do, or one element serves them all. `made`: as in walks.
static bool strides_allow(const pb_group* g, const pb_vkernel* k, int n, const pb_nest* nest, int made, int d) {
  for (int a = 0; a < nest->access_count; ++a) {
    int64_t stride = pb_vkernel_stride(&nest->access[a], d);
    bool store = a == pb_vkernel_store(nest), grouped = nest == k->main && k->group_dim >= 0 && a == k->w;
    if (g->program->value_of[n][a] == made) continue;
    if (nest == k->main && a == k->w && k->each_dim >= 0 && stride == nest->extent[k->each_dim]) continue;
    if (grouped ? stride != k->insn.group : stride != 1 && (store || stride != 0)) return false;
  }
  return true;
}

static bool are_lanes(const pb_group* g, const pb_vkernel* k, int d) {
  const pb_around* around = &g->around;
  if (!strides_allow(g, k, g->main_index, k->main, -1, d)) return false;
  if (around->init && !strides_allow(g, k, around->init_number, around->init, -1, d)) return false;
  for (int e = 0; e < around->epilogue_count; ++e)
    if (!strides_allow(g, k, around->epilogues[e].number, around->epilogues[e].nest, pb_around_made(around, e), d))
      return false;
  return true;
}

static void choose_lanes(const pb_group* g, const pb_vkernel* k, int lanes, int* dim) {
  *dim = -1;
  for (int d = 0; d < k->main->dim_count; ++d)
    if (!k->is_sum[d] && k->main->extent[d] >= lanes && are_lanes(g, k, d)) *dim = d;
}

// ---- transpositions ----

// Values that are only set, and stored along one dim but loaded along another.
static void choose_turn(pb_vkernel* k, int lanes) {
  const pb_nest* main = k->main;
  for (int d = 0; d < main->dim_count; ++d)
    for (int across = 0; across < main->dim_count && k->lane_dim < 0; ++across) {
      bool fits = main_stride(k, pb_vkernel_store(main), d) == 1 && main->extent[d] >= lanes && across != d;
      for (int a = 0; a < pb_vkernel_store(main); ++a) {
        int64_t stride = main_stride(k, a, d);
        fits &= stride == 0 || stride == 1 || main_stride(k, a, across) == 1;
      }
      if (!fits) continue;
      k->lane_dim = d;
      k->transpose_dim = across;
    }
}

// The same where each lane is loaded from an address of its own: by any step. What lies in one sector of memory is
// loaded together, along the dim of neighbours.
static void choose_apart(pb_vkernel* k, int lanes, int cycles) {
  const pb_nest* main = k->main;
  for (int d = 0; d < main->dim_count; ++d)
    if (main_stride(k, pb_vkernel_store(main), d) == 1 && main->extent[d] >= lanes) k->lane_dim = d;
  if (k->lane_dim < 0) return;
  k->apart_cycles = cycles;
  for (int a = 0; a < pb_vkernel_store(main); ++a) {
    int64_t stride = main_stride(k, a, k->lane_dim);
    for (int across = 0; across < main->dim_count && stride != 0 && stride != 1; ++across)
      if (main_stride(k, a, across) == 1) k->transpose_dim = across;
  }
}

// ---- lanes in runs ----

// Whether the access takes elements `step` apart, one for each of the outer of two dims that are lanes, and whatever
// else moves stays between two of them or steps over all.
static bool comes_in_runs(const pb_nest* nest, const pb_access* access, int outer) {
  int64_t step = pb_access_stride(access, outer), all = step * nest->extent[outer], inside = 0;
  if (step <= 0 || pb_access_stride(access, outer + 1) || pb_access_offset(access) % all) return false;
  for (int d = 0; d < nest->dim_count; ++d) {
    int64_t stride = pb_access_stride(access, d);
    if (d == outer || stride % all == 0) continue;
    if (!pb_nest_reduces_over(nest, d) || stride < 0) return false;
    inside += stride * (nest->extent[d] - 1);
  }
  return inside < step;
}

// The outer of two neighbouring dims whose elements together are the lanes; *access: the load that comes in runs.
static int dim_of_runs(const pb_nest* nest, int64_t lanes, int* access) {
  for (int d = 0; d + 1 < nest->dim_count; ++d) {
    int64_t inner = nest->extent[d + 1];
    bool fits =
        !pb_nest_reduces_over(nest, d) && !pb_nest_reduces_over(nest, d + 1) && nest->extent[d] * inner == lanes;
    *access = -1;
    for (int a = 0; fits && a < nest->access_count; ++a) {
      if (pb_access_stride(&nest->access[a], d) == inner * pb_access_stride(&nest->access[a], d + 1)) continue;
      fits = *access < 0 && a + 1 < nest->access_count && comes_in_runs(nest, &nest->access[a], d);
      *access = a;
    }
    if (fits && *access >= 0) return d;
  }
  return -1;
}

const char* pb_vkernel_begin(pb_group* g, pb_vkernel* k, bool joins) {
  int64_t lanes = pb_vector_facts_of(g->memo->chip).lanes;
  *k = (pb_vkernel){.lane_dim = -1,
                    .lanes = 1,
                    .group_dim = -1,
                    .each_dim = -1,
                    .row_dim = -1,
                    .depth_dim = -1,
                    .transpose_dim = -1,
                    .run_dim = -1,
                    .run_access = -1};
  if (joins) k->run_dim = dim_of_runs(&g->main, lanes, &k->run_access);
  if (k->run_dim < 0) k->run_access = -1;
  if (k->run_dim >= 0) {
    k->run_stride = pb_access_stride(&g->main.access[k->run_access], k->run_dim);
    k->run = g->main.extent[k->run_dim + 1];
    pb_nest_join_dims(&g->main, k->run_dim);
  }
  return walks(g->program, g->main_index, -1) ? NULL : "its operands lie in no form that vectors walk";
}

bool pb_vkernel_inside_runs(const pb_vkernel* k, int d) {
  return k->run_access >= 0 && k->is_sum[d] && main_stride(k, k->run_access, d) % pb_vkernel_runs(k);
}

// Two dims that all tensors walk as one become one: longer vectors.
static void join_dims(pb_group* g, pb_vkernel* k) {
  for (int d = g->main.dim_count - 2; d >= 0; --d)
    if (pb_nest_walks_as_one(&g->main, d)) pb_nest_join_dims(&g->main, d);
  set_main(k, pb_nest_kept(g->memo->arena, &g->main));
}

// Along what moves all lanes of x alike.
static void find_borders(const pb_group* g, pb_vkernel* k) {
  const pb_access* x = &k->main->access[k->x];
  k->border_count = 0;
  if (!k->insn.insn || k->insn.flips || k->taps || k->matrix.product.insn || k->run_access == k->x || x->gathered)
    return;
  for (int c = 0; c < PB_NEST_COLS; ++c)
    if (x->index[0].coef[c] < 0) return;
  int count = pb_borders_of(&g->program->values[g->program->value_of[g->main_index][k->x]], k->borders);
  for (int b = 0; b < count; ++b) {
    const pb_border border = k->borders[b];
    bool along = (k->lane_dim >= 0 && pb_vkernel_border_steps(k, &border, k->lane_dim)) ||
                 (k->group_dim >= 0 && pb_vkernel_border_steps(k, &border, k->group_dim));
    if (!along) k->borders[k->border_count++] = border;
  }
}

const char* pb_vkernel_read(pb_group* g, pb_vkernel* k) {
  const pb_vector_facts facts = pb_vector_facts_of(g->memo->chip);
  int lanes = (int)facts.lanes;
  if (!reads_others(g)) return "what stands around its main loops lies in no form that vectors walk";
  for (int e = 0; e < g->main.expr_count; ++e)
    if (g->main.expr[e].op == PB_OP_OTHER) return "it has an operation without a vector form";
  set_nests(g, k);
  find_insn(g, k);
  choose_lanes(g, k, lanes, &k->lane_dim);
  if (k->lane_dim < 0 && k->run_dim < 0 && !g->reduces && !g->around.epilogue_count) {
    join_dims(g, k);
    choose_lanes(g, k, lanes, &k->lane_dim);
    if (k->lane_dim < 0 && facts.apart_cycles) choose_apart(k, lanes, facts.apart_cycles);
    if (k->lane_dim < 0) choose_turn(k, lanes);
  }
  if (k->lane_dim >= 0) k->lanes = lanes;
  bool apart = k->taps && k->lane_dim >= 0 && main_stride(k, k->x, k->lane_dim) != 1;
  if (k->lane_dim < 0 || apart) { // also taps that have no neighbours for the lanes
    k->insn = (pb_vector_insn){0};
    k->matrix = (pb_matrix_insn){0};
    k->group_dim = k->row_dim = k->depth_dim = k->each_dim = -1;
    k->taps = false;
  }
  g->values_in = k->matrix.product.insn ? k->matrix.memory : pb_chip_register_file(g->memo->chip);
  for (int d = 0; d < PB_NEST_DIMS && pb_vkernel_dim(k, d) < k->main->dim_count; ++d) {
    g->lane[d] = k->lane_dim >= 0 && pb_vkernel_dim(k, d) == k->lane_dim;
    g->column[d] = pb_vkernel_is_column(k, pb_vkernel_dim(k, d));
  }
  g->contraction = k->insn.insn;
  g->insn_roles = (pb_contraction_dims){.x = k->insn.x, .w = k->insn.w, .y = k->insn.y};
  find_borders(g, k);
  k->once = g->program->over;
  return NULL;
}
