// The loads of a register tile: neighbours, one element for all lanes, lanes in runs, squares that are transposed. What
// points share is loaded once.
#include "core/s3/lower/vector_tile.h"

#include <stdlib.h>
#include <string.h>

// Widths that stand for all runs of an access, and for the first tap; those behind it count down.
enum { LOAD_RUNS = -2, LOAD_TAPS = -3, MOST_LANES = 64 };

static int lanes_of(const pb_vtile* t) { return t->e->k->lanes; }

void pb__vtile_print_type(pb_text* text, pb_type type, int lanes) {
  if (lanes > 1)
    pb_text_add(text, "vector<%dx%s>", lanes, pb_type_name(type));
  else
    pb_text_add(text, "%s", pb_type_name(type));
}

void pb__vtile_place(const pb_vtile* t, const pb_vaccess* access, int64_t displacement, pb_linear* place) {
  const pb_vemit* e = t->e;
  *place = (pb_linear){.cst = displacement};
  for (int d = 0; d < e->k->main.nest->dim_count; ++d)
    if (e->walk[d]) pb_linear_add(place, access->stride[d] * e->walk_step[d], 0, "q%d", e->walk[d] - 1);
  for (int o = 0; o < PB_NEST_OUTERS; ++o) pb_linear_add(place, pb_vemit_outer(e, access, o), 0, "o%d", o);
}

// What is loaded or stored: the flat tensor, the place in it, both types.
static void print_element(pb_vtile* t, const pb_vaccess* access, int64_t displacement, int width) {
  pb_vemit* e = t->e;
  pb_linear place;
  pb__vtile_place(t, access, displacement, &place);
  pb__vtile_print_flat(e, e->text, access, false);
  pb_text_add(e->text, "[");
  pb_linear_print(e->text, &place);
  pb_text_add(e->text, "] : ");
  pb__vtile_print_flat(e, e->text, access, true);
  if (width > 1) pb_text_add(e->text, ", vector<%dx%s>", width, pb_type_name(access->type));
  pb_text_add(e->text, "\n");
}

int64_t pb__vtile_elements(const pb_value* value) {
  pb_access shape = {.type = value->type, .rank = value->rank};
  memcpy(shape.shape, value->shape, sizeof shape.shape);
  return pb_access_elements(&shape);
}

void pb__vtile_print_flat(const pb_vemit* e, pb_text* text, const pb_vaccess* access, bool type) {
  for (int v = 0; v < e->k->program->value_count; ++v) {
    const pb_value* value = &e->k->program->values[v];
    if (value->argument != access->argument) continue;
    if (type)
      pb_text_add(text, "memref<%lldx%s>", (long long)pb__vtile_elements(value), pb_type_name(value->type));
    else
      pb_text_add(text, "%%%s%d", value->rank == 1 ? "a" : "f", access->argument);
  }
}

int pb__vtile_find_load(const pb_vemit* e, const pb_vaccess* access, int64_t displacement, int width) {
  for (size_t n = 0; n < e->load_count; ++n)
    if (e->loads[n].access == access && e->loads[n].displacement == displacement && e->loads[n].width == width)
      return e->loads[n].name;
  return -1;
}

void pb__vtile_note_load(pb_vemit* e, const pb_vaccess* access, int64_t displacement, int width, int name) {
  pb_vload load = {access, displacement, width, name};
  PB_PUSH(e->loads, e->load_count, e->load_capacity, load);
}

int64_t pb__vtile_displacement(const pb_vtile* t, const pb_vaccess* access, int point, const int64_t* iteration) {
  const pb_vkernel* k = t->e->k;
  int64_t at = access->cst;
  for (int d = 0; d < k->main.nest->dim_count; ++d) {
    if (pb_vkernel_is_spatial(k, d)) at += t->offset[point][d] * access->stride[d];
    if (iteration && k->is_sum[d]) at += iteration[d] * access->stride[d];
  }
  return at;
}

// How many elements of the access one register takes: neighbours along the lanes, or one for all of them.
static int width_of(const pb_vtile* t, const pb_vaccess* access) {
  int d = t->e->k->lane_dim;
  return d >= 0 && access->stride[d] ? lanes_of(t) : 1;
}

static void print_load(pb_vtile* t, const pb_vaccess* access, int64_t displacement, int width) {
  pb_text_add(t->e->text, width > 1 ? "affine.vector_load " : "affine.load ");
  print_element(t, access, displacement, width);
}

void pb__vtile_store(pb_vtile* t, const pb_vaccess* to, int point, int indent) {
  int lanes = lanes_of(t);
  pb_text_indent(t->e->text, indent);
  pb_text_add(t->e->text, "%s %s, ", lanes > 1 ? "affine.vector_store" : "affine.store", t->acc[point]);
  print_element(t, to, pb__vtile_displacement(t, to, point, NULL), lanes);
}

static int broadcast(pb_vemit* e, int one, const char* type, int lanes, int indent) {
  int name = pb__vtile_begin(e, indent);
  pb_text_add(e->text, "vector.broadcast %%v%d : %s to vector<%dx%s>\n", one, type, lanes, type);
  return name;
}

static int shuffle(pb_vemit* e, int a, int b, const int* from, int count, int have, const char* type, int indent) {
  int name = pb__vtile_begin(e, indent);
  pb_text_add(e->text, "vector.shuffle %%v%d, %%v%d [", a, b);
  for (int k = 0; k < count; ++k) pb_text_add(e->text, "%s%d", k ? ", " : "", from[k]);
  pb_text_add(e->text, "] : vector<%dx%s>, vector<%dx%s>\n", have, type, have, type);
  return name;
}

// For an instruction that takes its elements without sign.
static int flip_signs(pb_vemit* e, int from, pb_type type, int count, int indent) {
  int half = pb_lowered_integer(e->out, type, -((int64_t)1 << (pb_type_bits(type) - 1)), count);
  int name = pb__vtile_begin(e, indent);
  pb_text_add(e->text, "arith.xori %%v%d, %%v%d : vector<%dx%s>\n", from, half, count, pb_type_name(type));
  return name;
}

// All elements from the first to the last run, their sign bits flipped if the instruction takes them without sign; they
// serve every summed dim inside the runs.
static int load_all_runs(pb_vtile* t, const pb_vaccess* access, int64_t begin, int64_t count, bool flips, int indent) {
  pb_vemit* e = t->e;
  int name = pb__vtile_find_load(e, access, begin, LOAD_RUNS);
  if (name >= 0) return name;
  name = pb__vtile_begin(e, indent);
  print_load(t, access, begin, (int)count);
  if (flips) name = flip_signs(e, name, access->type, (int)count, indent);
  pb__vtile_note_load(e, access, begin, LOAD_RUNS, name);
  return name;
}

static int bitcast(pb_vemit* e, int from, int64_t count, const char* type, int64_t to_count, const char* to_type,
                   int indent) {
  int name = pb__vtile_begin(e, indent);
  pb_text_add(e->text, "vector.bitcast %%v%d : vector<%lldx%s> to vector<%lldx%s>\n", from, (long long)count, type,
              (long long)to_count, to_type);
  return name;
}

// A register whose lanes come in runs, of groups of neighbours: those of one run are equal.
static int load_runs(pb_vtile* t, const pb_vaccess* access, int group, int point, const int64_t* iteration,
                     int indent) {
  pb_vemit* e = t->e;
  int64_t displacement = pb__vtile_displacement(t, access, point, iteration), count = pb_vkernel_runs(e->k, access);
  int lanes = lanes_of(t), name = pb__vtile_find_load(e, access, displacement, lanes * group);
  if (name >= 0) return name;
  int64_t inside = (displacement % count + count) % count;
  const char *type = pb_type_name(access->type), *word = type;
  name = load_all_runs(t, access, displacement - inside, count, group > 1 && e->k->insn.flips, indent);
  if (count == 1) { // one run as long as a register
    name = broadcast(e, name, type, lanes, indent);
    pb__vtile_note_load(e, access, displacement, lanes * group, name);
    return name;
  }
  if (group > 1) {
    word = pb_printf(e->arena, "i%d", group * pb_type_bits(access->type));
    name = bitcast(e, name, count, type, count / group, word, indent);
  }
  int runs[MOST_LANES] = {0};
  for (int lane = 0; lane < lanes; ++lane)
    runs[lane] = (int)((lane / access->run * access->run_stride + inside) / group);
  name = shuffle(e, name, name, runs, lanes, (int)(count / group), word, indent);
  if (group > 1) name = bitcast(e, name, lanes, word, (int64_t)lanes * group, type, indent);
  pb__vtile_note_load(e, access, displacement, lanes * group, name);
  return name;
}

// Registers along transpose_dim become registers along the lanes: halves of growing fineness change places (Eklundh
// 1972).
static void transpose(pb_vemit* e, int* registers, int lanes, const char* type, int indent) {
  for (int half = lanes / 2; half > 0; half /= 2)
    for (int r = 0; r < lanes; ++r) {
      if (r & half) continue;
      int low[MOST_LANES], high[MOST_LANES], a = registers[r], b = registers[r + half];
      for (int k = 0; k < lanes; ++k) {
        low[k] = k & half ? lanes + k - half : k;
        high[k] = k & half ? lanes + k : k + half;
      }
      registers[r] = shuffle(e, a, b, low, lanes, lanes, type, indent);
      registers[r + half] = shuffle(e, a, b, high, lanes, lanes, type, indent);
    }
}

// A register whose lanes lie apart, with those of all other points along transpose_dim.
static int load_transposed(pb_vtile* t, const pb_vaccess* access, int point, int indent) {
  pb_vemit* e = t->e;
  int across = e->k->transpose_dim, lanes = lanes_of(t), rows = (int)e->size[across], registers[MOST_LANES],
      widened[MOST_LANES];
  int64_t displacement = pb__vtile_displacement(t, access, point, NULL),
          first = displacement - t->offset[point][across];
  int name = pb__vtile_find_load(e, access, displacement, lanes);
  if (name >= 0) return name;
  const char* type = pb_type_name(access->type);
  for (int k = 0; k < lanes; ++k) widened[k] = k < rows ? k : 0;
  for (int lane = 0; lane < lanes; ++lane) {
    int one = pb__vtile_begin(e, indent);
    print_load(t, access, first + lane * access->stride[e->k->lane_dim], rows);
    registers[lane] = rows == lanes ? one
                      : rows > 1    ? shuffle(e, one, one, widened, lanes, rows, type, indent)
                                    : broadcast(e, one, type, lanes, indent);
  }
  transpose(e, registers, lanes, type, indent);
  for (int row = 0; row < rows; ++row) pb__vtile_note_load(e, access, first + row, lanes, registers[row]);
  return registers[displacement - first];
}

// A number among constants that are the kernel's arguments, not brought to a buffer first, which no loop moves.
static bool is_number(const pb_vemit* e, const pb_vaccess* access) {
  if (access->argument < 0 || access->is_table) return false;
  for (int d = 0; d < PB_NEST_DIMS; ++d)
    if (access->stride[d]) return false;
  for (int o = 0; o < PB_NEST_OUTERS; ++o)
    if (access->outer[o]) return false;
  for (int v = 0; v < e->k->program->value_count; ++v) {
    const pb_value* value = &e->k->program->values[v];
    if (value->argument == access->argument && value->kind == PB_VALUE_CONST && value->rank == 1 &&
        mlirValueIsABlockArgument(value->ir))
      return true;
  }
  return false;
}

// It is loaded once, in front of everything.
static int load_number(pb_vemit* e, const pb_vaccess* access, int lanes) {
  pb_text line = {0};
  pb_text_add(&line, "affine.load ");
  pb__vtile_print_flat(e, &line, access, false);
  pb_text_add(&line, "[%lld] : ", (long long)access->cst);
  pb__vtile_print_flat(e, &line, access, true);
  int name = pb_lowered_define(e->out, line.data);
  pb_text_free(&line);
  if (lanes == 1) return name;
  pb_text_add(&line, "vector.broadcast %%v%d : %s to ", name, pb_type_name(access->type));
  pb__vtile_print_type(&line, access->type, lanes);
  name = pb_lowered_define(e->out, line.data);
  pb_text_free(&line);
  return name;
}

int pb__vtile_load(pb_vtile* t, const pb_vaccess* access, int point, const int64_t* iteration, int indent) {
  pb_vemit* e = t->e;
  // what takes finished sums finds it where it lies: in front of everything it would take a register from the sums
  bool behind_sums = e->k->main.nest->reduce != PB_SET && !iteration;
  if (is_number(e, access) && !behind_sums) return load_number(e, access, lanes_of(t));
  if (access->run) return load_runs(t, access, 1, point, iteration, indent);
  if (pb_vkernel_is_transposed(e->k, access)) return load_transposed(t, access, point, indent);
  int64_t displacement = pb__vtile_displacement(t, access, point, iteration);
  int width = width_of(t, access), lanes = lanes_of(t), name = pb__vtile_find_load(e, access, displacement, width);
  if (name >= 0) return name;
  name = pb__vtile_begin(e, indent);
  print_load(t, access, displacement, width);
  if (width == 1 && lanes > 1) {
    int one = name;
    name = pb__vtile_begin(e, indent);
    pb_text_add(e->text, "vector.broadcast %%v%d : %s to ", one, pb_type_name(access->type));
    pb__vtile_print_type(e->text, access->type, lanes);
    pb_text_add(e->text, "\n");
  }
  pb__vtile_note_load(e, access, displacement, width, name);
  return name;
}

static int true_lanes(pb_vemit* e, int lanes) {
  return pb_lowered_constant(e->out, &(pb_expr_node){.op = PB_OP_CONST, .type = PB_I1, .value = 1, .integer = 1},
                             lanes);
}

int pb__vtile_look_up(pb_vtile* t, const pb_vaccess* access, const char* index, pb_type type, int indent) {
  pb_vemit* e = t->e;
  int lanes = lanes_of(t);
  const char* element = pb_type_name(access->type);
  if (lanes == 1) {
    int name = pb__vtile_begin(e, indent);
    pb_text_add(e->text, "memref.load ");
    pb__vtile_print_flat(e, e->text, access, false);
    pb_text_add(e->text, "[%s] : ", index);
    pb__vtile_print_flat(e, e->text, access, true);
    pb_text_add(e->text, "\n");
    return name;
  }
  int base = pb_lowered_integer(e->out, PB_INDEX, access->cst, 1), all = true_lanes(e, lanes),
      none = pb_lowered_integer(e->out, access->type, 0, lanes), name = pb__vtile_begin(e, indent);
  pb_text_add(e->text, "vector.gather ");
  pb__vtile_print_flat(e, e->text, access, false);
  pb_text_add(e->text, "[%%v%d] [%s], %%v%d, %%v%d : ", base, index, all, none);
  pb__vtile_print_flat(e, e->text, access, true);
  pb_text_add(e->text, ", vector<%dx%s>, vector<%dxi1>, vector<%dx%s> into vector<%dx%s>\n", lanes, pb_type_name(type),
              lanes, lanes, element, lanes, element);
  return name;
}

// One tap for all lanes, as integers of the sum's width with the element in the place that it has in its group.
static int load_tap(pb_vtile* t, const pb_vaccess* access, int64_t displacement, int tap, int indent) {
  pb_vemit* e = t->e;
  const char* type = pb_type_name(access->type);
  int lanes = lanes_of(t), bits = pb_type_bits(access->type);
  int name = pb__vtile_find_load(e, access, displacement, LOAD_TAPS - tap), from;
  if (name >= 0) return name;
  if (tap) {
    from = load_tap(t, access, displacement, 0, indent);
    int places = pb_lowered_integer(e->out, PB_I32, tap * bits, lanes);
    name = pb__vtile_begin(e, indent);
    pb_text_add(e->text, "arith.shli %%v%d, %%v%d : vector<%dxi32>\n", from, places, lanes);
  } else {
    from = pb__vtile_begin(e, indent);
    print_load(t, access, displacement, lanes);
    if (e->k->insn.flips) from = flip_signs(e, from, access->type, lanes, indent);
    name = pb__vtile_begin(e, indent);
    pb_text_add(e->text, "arith.extui %%v%d : vector<%dx%s> to vector<%dxi32>\n", from, lanes, type, lanes);
  }
  pb__vtile_note_load(e, access, displacement, LOAD_TAPS - tap, name);
  return name;
}

// A group a lane, put together from as many loads. The first of a group has the lowest bits, as LLVM's vectors do where
// the lowest byte comes first. Unlike interleaving by shuffles, what one point widens its neighbours use too.
static int load_taps(pb_vtile* t, const pb_vaccess* access, int point, const int64_t* iteration, int indent) {
  pb_vemit* e = t->e;
  const pb_vkernel* k = e->k;
  int lanes = lanes_of(t), group = k->insn.group, taps = (int)k->main.nest->extent[k->group_dim];
  int64_t displacement = pb__vtile_displacement(t, access, point, iteration);
  int name = pb__vtile_find_load(e, access, displacement, lanes * group);
  if (name >= 0) return name;
  name = load_tap(t, access, displacement, 0, indent);
  for (int tap = 1; tap < taps; ++tap) {
    int next = load_tap(t, access, displacement + tap * access->stride[k->group_dim], tap, indent), from = name;
    name = pb__vtile_begin(e, indent);
    pb_text_add(e->text, "arith.ori %%v%d, %%v%d : vector<%dxi32>\n", from, next, lanes);
  }
  name = bitcast(e, name, lanes, "i32", (int64_t)lanes * group, pb_type_name(access->type), indent);
  pb__vtile_note_load(e, access, displacement, lanes * group, name);
  return name;
}

int pb__vtile_load_groups(pb_vtile* t, const pb_vaccess* access, bool each_lane, int point, const int64_t* iteration,
                          int indent) {
  pb_vemit* e = t->e;
  const pb_vkernel* k = e->k;
  if (access->run) return load_runs(t, access, k->insn.group, point, iteration, indent);
  if (!each_lane && k->taps) return load_taps(t, access, point, iteration, indent);
  int group = k->insn.group, lanes = lanes_of(t), all = group * lanes;
  const char* type = pb_type_name(access->type);
  int64_t displacement = pb__vtile_displacement(t, access, point, iteration);
  int name = pb__vtile_find_load(e, access, displacement, all);
  if (name >= 0) return name;
  name = pb__vtile_begin(e, indent);
  print_load(t, access, displacement, each_lane ? all : group);
  if (!each_lane) {
    int bits = group * pb_type_bits(access->type), from = name;
    name = pb__vtile_begin(e, indent);
    pb_text_add(e->text, "vector.bitcast %%v%d : vector<%dx%s> to vector<1xi%d>\n", from, group, type, bits);
    from = name;
    name = pb__vtile_begin(e, indent);
    pb_text_add(e->text, "vector.extract %%v%d[0] : i%d from vector<1xi%d>\n", from, bits, bits);
    from = name;
    name = pb__vtile_begin(e, indent);
    pb_text_add(e->text, "vector.broadcast %%v%d : i%d to vector<%dxi%d>\n", from, bits, lanes, bits);
    from = name;
    name = pb__vtile_begin(e, indent);
    pb_text_add(e->text, "vector.bitcast %%v%d : vector<%dxi%d> to vector<%dx%s>\n", from, lanes, bits, all, type);
    if (k->insn.flips) name = flip_signs(e, name, access->type, all, indent);
  }
  pb__vtile_note_load(e, access, displacement, all, name);
  return name;
}
