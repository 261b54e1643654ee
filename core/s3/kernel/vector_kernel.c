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

pb_vtiles pb_vkernel_balanced(int64_t steps, int64_t most) {
  int64_t count = (steps + most - 1) / most, size = (steps + count - 1) / count;
  return (pb_vtiles){count, steps - count * (size - 1), size};
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
    int64_t rows = pb_matrix_part(k->main.nest->extent[d], k->matrix.rows);
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
  k->depth = pb_matrix_divisor(nest->extent[k->depth_dim], k->matrix.steps);
  k->group_dim = g;
  k->insn = k->matrix.product;
  return true;
}

// The main nest as the instruction takes it: x (or each channel's own x) and w, summed in groups of neighbours.
static void find_insn(pb_select_memo* memo, pb_vkernel* k) {
  pb_contraction_dims roles;
  const pb_nest* nest = k->main.nest;
  if (!pb_nest_contraction_dims(nest, NULL, &roles)) return;
  const pb_access* a = nest->access;
  bool flipped = false;
  for (int e = 0; e < nest->expr_count; ++e)
    flipped |= nest->expr[e].op == PB_OP_ZEXT && !pb_type_is_narrow(roles.x_type);
  if (!flipped && find_matrix(memo, &roles, k)) return;
  pb_vector_insn insn = pb_vector_contraction(memo, roles.x_type, roles.w_type, a[roles.y].type);
  if (!insn.insn || insn.flips != flipped) return;
  if (insn.flips) { // x is the factor that is read without sign, from where it is stored with or without
    insn.flips = false;
    for (int e = 0; e < nest->expr_count; ++e) {
      if (nest->expr[e].op != PB_OP_ZEXT) continue;
      const pb_expr_node* read = &nest->expr[nest->expr[e].args[0]];
      insn.flips = read->op == PB_OP_XOR;
      int load = insn.flips ? nest->expr[read->args[0]].operand : read->operand;
      if (load != roles.x) {
        roles.w = roles.x;
        roles.x = load;
      }
    }
  }
  if (insn.group > 1) {
    int g = nest->dim_count - 1;
    if (g < 0 || !k->is_sum[g] || nest->extent[g] > insn.group || k->main.access[roles.w].stride[g] != 1) return;
    k->taps = k->main.access[roles.x].stride[g] != 1;
    if (!k->taps && nest->extent[g] != insn.group) return;
    k->group_dim = g;
  }
  k->insn = insn;
  k->x = roles.x;
  k->w = roles.w;
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

static void remove_dim(pb_vkernel* k, int dim) {
  pb_nest_remove_dim(&k->merged, dim);
  for (int a = 0; a < k->merged.access_count; ++a) {
    int64_t* stride = k->main.access[a].stride;
    for (int d = dim; d < k->merged.dim_count; ++d) stride[d] = stride[d + 1];
    stride[k->merged.dim_count] = 0;
  }
}

// Two dims that all tensors walk as one become one: longer vectors.
static void join_dims(pb_vkernel* k) {
  k->merged = *k->main.nest;
  k->main.nest = &k->merged;
  for (int d = k->merged.dim_count - 2; d >= 0; --d) {
    bool joins = true;
    for (int a = 0; a < k->merged.access_count; ++a) {
      const int64_t* stride = k->main.access[a].stride;
      joins &= stride[d] == stride[d + 1] * k->merged.extent[d + 1];
    }
    if (!joins) continue;
    k->merged.extent[d + 1] *= k->merged.extent[d];
    remove_dim(k, d);
  }
}

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
  for (int d = 0; d < nest->dim_count; ++d)
    summed[d] = nest->reduce != PB_SET && !pb_access_uses(&nest->access[nest->access_count - 1], d);
}

// Reads the main nest, the two dims of lanes in runs as one if `merges`.
static bool read_main(const pb_program* p, int main, int64_t lanes, bool merges, pb_vkernel* k) {
  const pb_nest* nest = &p->nests[main];
  int in_runs = -1, outer;
  int64_t step = 0, run = 0;
  note_sums(nest, k->is_sum);
  outer = merges ? dim_of_runs(nest, k->is_sum, lanes, &in_runs) : -1;
  if (outer >= 0) {
    step = pb_access_stride(&nest->access[in_runs], outer);
    run = nest->extent[outer + 1];
    k->merged = *nest;
    k->merged.extent[outer + 1] = lanes;
    pb_nest_remove_dim(&k->merged, outer);
    nest = &k->merged;
    note_sums(nest, k->is_sum);
  }
  if (!translate(p, main, nest, -1, &k->main)) return false;
  if (outer >= 0) {
    k->main.access[in_runs].run = run;
    k->main.access[in_runs].run_stride = step;
    k->run_dim = outer;
  }
  return true;
}

bool pb_vkernel_inside_runs(const pb_vkernel* k, int d) {
  for (int a = 0; a < pb_vkernel_store(&k->main); ++a) {
    int64_t runs = pb_vkernel_runs(k, &k->main.access[a]);
    if (k->is_sum[d] && runs && k->main.access[a].stride[d] % runs) return true;
  }
  return false;
}

static bool unread(pb_vkernel* k, const char* why) {
  k->why = why;
  return false;
}

// What stands around the main nest as this kernel has it.
static const char* add_others(const pb_program* program, int main, pb_vkernel* k, pb_arena* arena, pb_around* around) {
  *around = (pb_around){.program = program, .main = k->main.nest, .main_index = main, .linear = true};
  for (int n = 0; n < program->nest_count; ++n) {
    const char* why = n == main ? NULL : pb_around_add(around, n, arena);
    if (why) return why;
  }
  return read_others(around, k) ? NULL : "what stands around its main loops lies in no form that vectors walk";
}

static bool read_kernel(const pb_program* program, int main, pb_select_memo* memo, bool merges, pb_around* around,
                        pb_vkernel* k) {
  *k = (pb_vkernel){.program = program,
                    .lane_dim = -1,
                    .lanes = 1,
                    .group_dim = -1,
                    .row_dim = -1,
                    .depth_dim = -1,
                    .transpose_dim = -1,
                    .run_dim = -1};
  int lanes = (int)pb_vector_facts_of(memo->chip).lanes;
  if (!read_main(program, main, lanes, merges, k)) return unread(k, "its operands lie in no form that vectors walk");
  const pb_nest* nest = k->main.nest;
  const char* why = add_others(program, main, k, memo->arena, around);
  if (why) return unread(k, why);
  for (int e = 0; e < nest->expr_count; ++e)
    if (nest->expr[e].op == PB_OP_OTHER) return unread(k, "it has an operation without a vector form");
  find_insn(memo, k);
  choose_lanes(k, lanes, &k->lane_dim);
  if (k->lane_dim < 0 && k->run_dim < 0 && nest->reduce == PB_SET && !k->epilogue_count) {
    join_dims(k);
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
  return true;
}

// Two dims count as one because they are the lanes: where others are, or none, or what stands around has them apart,
// the kernel is read without that.
bool pb_vkernel_read(const pb_program* program, int main, pb_select_memo* memo, pb_around* around, pb_vkernel* k) {
  bool read = read_kernel(program, main, memo, true, around, k);
  if (k->run_dim >= 0 && (!read || k->lane_dim != k->run_dim))
    read = read_kernel(program, main, memo, false, around, k);
  if (!read) return false;
  k->memory = k->matrix.product.insn ? k->matrix.memory : pb_chip_register_file(memo->chip);
  return true;
}

const pb_vaccess* pb_vkernel_result(const pb_vkernel* k) {
  const pb_vnest* last = k->epilogue_count ? &k->epilogues[k->epilogue_count - 1] : &k->main;
  return &last->access[pb_vkernel_store(last)];
}
