// The loads of a register tile: neighbours, one element for all lanes, lanes in runs, squares that are transposed. What
// points share is loaded once. pb.prefetch on a load: elements that far further on will be wanted.
#include "core/s3/lower/vector_tile.h"

#include <stdlib.h>

// Parts of an access: all neighbours of each lane, all of its runs, and the first tap; those behind it count down.
enum { LOAD_EACH = -1, LOAD_RUNS = -2, LOAD_TAPS = -3, MOST_LANES = 64 };

// How many elements one iteration of loop `level` moves an access by, for each unit of its variable.
static int64_t stride_at(const pb_vemit* e, const pb_access* access, int level) {
  int64_t stride = pb_vkernel_stride(access, PB_NEST_DIMS + level);
  return e->sum_at[level] < 0 ? stride : stride / e->sums[e->sum_at[level]].step;
}

void pb__vtile_place(const pb_vtile* t, const pb_access* access, int64_t displacement, pb_linear* place) {
  const pb_vemit* e = t->e;
  *place = (pb_linear){.cst = displacement};
  for (int d = 0; d < e->k->main->dim_count; ++d)
    if (e->walk[d]) pb_linear_add(place, pb_vkernel_stride(access, d) * e->walk_step[d], 0, "q%d", e->walk[d] - 1);
  for (int o = 0; o < PB_NEST_OUTERS; ++o) {
    int n = e->sum_at[o];
    if (n >= 0 && t->one[n])
      place->cst += t->iteration[n] * pb_vkernel_stride(access, PB_NEST_DIMS + o);
    else
      pb_linear_add(place, stride_at(e, access, o), 0, "o%d", o);
  }
}

// What is loaded or stored: the flat tensor, the place in it, both types.
static void print_element(pb_vtile* t, const pb_access* access, int64_t displacement, int width, int64_t prefetch) {
  pb_vemit* e = t->e;
  pb_linear place;
  pb__vtile_place(t, access, displacement, &place);
  pb__vtile_print_flat(e, e->text, access, false);
  pb_text_add(e->text, "[");
  pb_linear_print(e->text, &place);
  pb_text_add(e->text, "]");
  if (prefetch) pb_text_add(e->text, " {pb.prefetch = %lld : i64}", (long long)prefetch);
  pb_text_add(e->text, " : ");
  pb__vtile_print_flat(e, e->text, access, true);
  if (width > 1) pb_text_add(e->text, ", vector<%dx%s>", width, pb_type_name(access->type));
  pb_text_add(e->text, "\n");
}

const pb_value* pb__vtile_value(const pb_vemit* e, const pb_access* access) {
  const pb_value *own = e->group->program->values, *value = own;
  while (!pb_value_same(own->ir, access->memref)) ++own;
  while (value->argument != own->argument) ++value; // the first of those that lie at one place
  return value;
}

void pb__vtile_print_flat(const pb_vemit* e, pb_text* text, const pb_access* access, bool type) {
  const pb_value* value = pb__vtile_value(e, access);
  if (type)
    pb_text_add(text, "memref<%lldx%s>", (long long)pb_value_elements(value), pb_type_name(value->type));
  else
    pb_text_add(text, "%%%s%d", value->rank == 1 ? "a" : "f", value->argument);
}

const char* pb__vtile_find_load(const pb_vemit* e, const pb_access* access, int64_t displacement, int part) {
  for (size_t n = 0; n < e->load_count; ++n)
    if (e->loads[n].access == access && e->loads[n].displacement == displacement && e->loads[n].part == part)
      return e->loads[n].name;
  return NULL;
}

void pb__vtile_note_load(pb_vemit* e, const pb_access* access, int64_t displacement, int part, const char* name) {
  pb_vload load = {access, displacement, part, name};
  PB_PUSH(e->loads, e->load_count, e->load_capacity, load);
}

int64_t pb__vtile_displacement(const pb_vtile* t, const pb_access* access, int point, const int64_t* iteration) {
  const pb_vkernel* k = t->e->k;
  int64_t at = access->index[0].cst;
  for (int d = 0; d < k->main->dim_count; ++d) {
    if (pb_vkernel_is_spatial(k, d)) at += t->offset[point][d] * pb_vkernel_stride(access, d);
    if (iteration && k->is_sum[d]) at += iteration[d] * pb_vkernel_stride(access, d);
  }
  return at;
}

void pb__vtile_store(pb_vtile* t, const pb_access* to, int point, int indent) {
  int lanes = t->e->k->lanes;
  pb_text_line(t->e->text, indent, "%s %s, ", lanes > 1 ? "affine.vector_store" : "affine.store", t->acc[point]);
  print_element(t, to, pb__vtile_displacement(t, to, point, NULL), lanes, 0);
}

// A register of what an access has at a point.
typedef struct load {
  pb_vtile* t;
  pb_vemit* e;
  const pb_access* access;
  int64_t displacement;
  int point, indent;
  int lanes, group; // each lane takes a group of neighbours: more than one where the instruction adds up each
  const char* type;
} load;

static int all_of(const load* l) { return l->lanes * l->group; }

static const char* bits_type(const load* l, int lanes) {
  const char* bits = pb_printf(l->e->arena, "i%d", l->group * pb_type_bits(l->access->type));
  return lanes ? pb_printf(l->e->arena, "vector<%dx%s>", lanes, bits) : bits;
}

static const char* type_of(const load* l, int64_t elements) {
  return pb_printf(l->e->arena, "vector<%lldx%s>", (long long)elements, l->type);
}

static const char* read_and_prefetch(const load* l, int64_t displacement, int64_t elements, int64_t prefetch) {
  const char* name = pb_lowered_begin_line(l->e->out, l->indent);
  pb_text_add(l->e->text, elements > 1 ? "affine.vector_load " : "affine.load ");
  print_element(l->t, l->access, displacement, (int)elements, prefetch);
  return name;
}

// Neighbours in memory.
static const char* read(const load* l, int64_t displacement, int64_t elements) {
  return read_and_prefetch(l, displacement, elements, 0);
}

static const char* broadcast(const load* l, const char* one, const char* type, const char* to) {
  return l->lanes == 1 ? one : pb_lowered_line(l->e->out, l->indent, "vector.broadcast %s : %s to %s", one, type, to);
}

static const char* bitcast(const load* l, const char* from, const char* type, const char* to) {
  return pb_lowered_line(l->e->out, l->indent, "vector.bitcast %s : %s to %s", from, type, to);
}

static const char* shuffle(const load* l, const char* a, const char* b, const int* from, const char* type) {
  const char* name = pb_lowered_begin_line(l->e->out, l->indent);
  pb_text_add(l->e->text, "vector.shuffle %s, %s [", a, b);
  for (int k = 0; k < l->lanes; ++k) pb_text_add(l->e->text, "%s%d", k ? ", " : "", from[k]);
  pb_text_add(l->e->text, "] : %s, %s\n", type, type);
  return name;
}

// For an instruction that takes its elements without sign.
static const char* flip_signs(const load* l, const char* from, int count) {
  pb_type type = l->access->type;
  if (!l->e->k->insn.flips) return from;
  const char* half = pb_lowered_integer(l->e->out, type, -((int64_t)1 << (pb_type_bits(type) - 1)), count);
  return pb_lowered_line(l->e->out, l->indent, "arith.xori %s, %s : %s", from, half, type_of(l, count));
}

// ---- one element, or one group, for all lanes ----

static const char* load_one(const load* l) {
  const char* name = read(l, l->displacement, l->group);
  if (l->group == 1) return broadcast(l, name, l->type, type_of(l, l->lanes));
  const char *bits = bits_type(l, 0), *one = bits_type(l, 1), *words = bits_type(l, l->lanes);
  name = bitcast(l, name, type_of(l, l->group), one);
  name = pb_lowered_line(l->e->out, l->indent, "vector.extract %s[0] : %s from %s", name, bits, one);
  name = bitcast(l, broadcast(l, name, bits, words), words, type_of(l, all_of(l)));
  return flip_signs(l, name, all_of(l));
}

// ---- lanes in runs ----

// All elements from the first to the last run, their sign bits flipped if the instruction takes them without sign; they
// serve every summed dim inside the runs.
static const char* load_all_runs(const load* l, int64_t begin, int64_t count) {
  const char* name = pb__vtile_find_load(l->e, l->access, begin, LOAD_RUNS);
  if (name) return name;
  name = read(l, begin, count);
  if (l->group > 1) name = flip_signs(l, name, (int)count);
  pb__vtile_note_load(l->e, l->access, begin, LOAD_RUNS, name);
  return name;
}

// Of groups of neighbours: those of one run are equal.
static const char* load_runs(const load* l) {
  const pb_vkernel* k = l->e->k;
  int64_t count = pb_vkernel_runs(k), inside = (l->displacement % count + count) % count;
  const char* name = load_all_runs(l, l->displacement - inside, count);
  int runs[MOST_LANES] = {0};
  if (count == 1) return broadcast(l, name, l->type, type_of(l, l->lanes)); // one run as long as a register
  for (int lane = 0; lane < l->lanes; ++lane) runs[lane] = (int)((lane / k->run * k->run_stride + inside) / l->group);
  if (l->group == 1) return shuffle(l, name, name, runs, type_of(l, count));
  const char* words = bits_type(l, (int)count / l->group);
  name = bitcast(l, name, type_of(l, count), words);
  return bitcast(l, shuffle(l, name, name, runs, words), bits_type(l, l->lanes), type_of(l, all_of(l)));
}

// ---- transposed squares ----

// Registers along transpose_dim become registers along the lanes: halves of growing fineness change places (Eklundh
// 1972).
static void transpose(const load* l, const char** registers) {
  int lanes = l->lanes;
  for (int half = lanes / 2; half > 0; half /= 2)
    for (int r = 0; r < lanes; ++r) {
      if (r & half) continue;
      int low[MOST_LANES], high[MOST_LANES];
      const char *a = registers[r], *b = registers[r + half];
      for (int k = 0; k < lanes; ++k) {
        low[k] = k & half ? lanes + k - half : k;
        high[k] = k & half ? lanes + k : k + half;
      }
      registers[r] = shuffle(l, a, b, low, type_of(l, lanes));
      registers[r + half] = shuffle(l, a, b, high, type_of(l, lanes));
    }
}

// A register whose lanes lie apart, with those of all other points along transpose_dim.
static const char* load_transposed(const load* l) {
  const pb_vemit* e = l->e;
  const char* registers[MOST_LANES];
  int across = e->k->transpose_dim, lanes = l->lanes, rows = (int)e->size[across], widened[MOST_LANES];
  int64_t row = l->t->offset[l->point][across], first = l->displacement - row;
  for (int k = 0; k < lanes; ++k) widened[k] = k < rows ? k : 0;
  for (int lane = 0; lane < lanes; ++lane) {
    const char* one = read(l, first + lane * pb_vkernel_stride(l->access, e->k->lane_dim), rows);
    registers[lane] = rows == lanes ? one
                      : rows > 1    ? shuffle(l, one, one, widened, type_of(l, rows))
                                    : broadcast(l, one, l->type, type_of(l, lanes));
  }
  transpose(l, registers);
  for (int other = 0; other < rows; ++other)
    if (other != row) pb__vtile_note_load(l->e, l->access, first + other, 0, registers[other]);
  return registers[row];
}

// ---- lanes apart ----

static const char* gather(const load* l, const char* base, const char* index, const char* type) {
  const char *all = pb_lowered_integer(l->e->out, PB_I1, 1, l->lanes),
             *none = pb_lowered_integer(l->e->out, l->access->type, 0, l->lanes),
             *name = pb_lowered_begin_line(l->e->out, l->indent);
  pb_text_add(l->e->text, "vector.gather ");
  pb__vtile_print_flat(l->e, l->e->text, l->access, false);
  pb_text_add(l->e->text, "[%s] [%s], %s, %s : ", base, index, all, none);
  pb__vtile_print_flat(l->e, l->e->text, l->access, true);
  pb_text_add(l->e->text, ", vector<%dx%s>, vector<%dxi1>, %s into %s\n", l->lanes, type, l->lanes,
              type_of(l, l->lanes), type_of(l, l->lanes));
  return name;
}

// A register whose lanes lie apart, each by the address that it computes from its number.
static const char* load_apart(const load* l) {
  pb_linear place;
  pb__vtile_place(l->t, l->access, l->displacement, &place);
  pb_text numbers = {0};
  pb_text_add(&numbers, "arith.constant dense<[");
  for (int k = 0; k < l->lanes; ++k) pb_text_add(&numbers, "%s%d", k ? ", " : "", k);
  pb_text_add(&numbers, "]> : vector<%dxi32>", l->lanes);
  const char* index = pb_lowered_define(l->e->out, numbers.data);
  pb_text_free(&numbers);
  const char* step = pb_lowered_integer(l->e->out, PB_I32, pb_vkernel_stride(l->access, l->e->k->lane_dim), l->lanes);
  index = pb_lowered_line(l->e->out, l->indent, "arith.muli %s, %s : vector<%dxi32>", index, step, l->lanes);
  return gather(l, pb_lowered_linear(l->e->out, l->indent, "apply", &place, NULL), index, "i32");
}

// ---- taps ----

// One tap for all lanes, as integers of the sum's width with the element in the place that it has in its group.
static const char* load_tap(const load* l, int64_t displacement, int tap) {
  const char* words = bits_type(l, l->lanes);
  const char* name = pb__vtile_find_load(l->e, l->access, displacement, LOAD_TAPS - tap);
  if (name) return name;
  if (tap) {
    const char* from = load_tap(l, displacement, 0);
    int bits = pb_type_bits(l->access->type);
    const char* places = pb_lowered_integer(l->e->out, PB_I32, tap * bits, l->lanes);
    name = pb_lowered_line(l->e->out, l->indent, "arith.shli %s, %s : %s", from, places, words);
  } else {
    const char* from = flip_signs(l, read(l, displacement, l->lanes), l->lanes);
    name = pb_lowered_line(l->e->out, l->indent, "arith.extui %s : %s to %s", from, type_of(l, l->lanes), words);
  }
  pb__vtile_note_load(l->e, l->access, displacement, LOAD_TAPS - tap, name);
  return name;
}

// A group a lane, put together from as many loads. The first of a group has the lowest bits, as LLVM's vectors do where
// the lowest byte comes first. Unlike interleaving by shuffles, what one point widens its neighbours use too.
static const char* load_taps(const load* l) {
  const pb_vkernel* k = l->e->k;
  const char* words = bits_type(l, l->lanes);
  const char* name = load_tap(l, l->displacement, 0);
  for (int tap = 1; tap < k->main->extent[k->group_dim]; ++tap) {
    const char* next = load_tap(l, l->displacement + tap * pb_vkernel_stride(l->access, k->group_dim), tap);
    name = pb_lowered_line(l->e->out, l->indent, "arith.ori %s, %s : %s", name, next, words);
  }
  return bitcast(l, name, words, type_of(l, all_of(l)));
}

// ---- weights ----

// How far behind weights those of the next block of columns lie, if rows are walked inside blocks; 0: they are not.
static int64_t next_block(const pb_vemit* e) {
  const pb_access *x = &e->k->main->access[e->k->x], *w = &e->k->main->access[e->k->w];
  bool rows = false;
  for (int level = PB_NEST_OUTERS - 1; level >= 0; --level) {
    if (e->sum_at[level] >= 0) continue;
    int64_t stride = stride_at(e, w, level);
    if (stride) return rows ? stride : 0;
    rows |= stride_at(e, x, level) != 0;
  }
  return 0;
}

// Weights that no near cache holds all of: while a block's rows are multiplied the next block comes there. Its first
// rows would wait for memory, and the others leave it idle.
void pb__vtile_choose_prefetch(pb_vtile* t) {
  const pb_vemit* e = t->e;
  if (e->k->main->reduce == PB_SET) return;
  const pb_access* w = &e->k->main->access[e->k->w];
  int64_t near = pb_vector_facts_of(e->chip).cache[1], next = next_block(e);
  bool far = pb_bytes_of(w->type, pb_value_elements(pb__vtile_value(e, w))) > near;
  if (far && next > 0 && pb_bytes_of(w->type, next) <= near) t->prefetch = next;
}

// Asks once for each line.
static const char* read_weights(const load* l) {
  if (!l->t->prefetch) return read(l, l->displacement, all_of(l));
  int64_t line = pb_vector_facts_of(l->e->chip).near[1]->line_bytes;
  bool begins = line && pb_bytes_of(l->access->type, l->displacement) % line == 0;
  return read_and_prefetch(l, l->displacement, all_of(l), begins ? l->t->prefetch : 0);
}

// Those of one step, of the neighbours that each lane takes at once.
static const char* load_each(const load* l) {
  int from[MOST_LANES], each = (int)l->e->k->main->extent[l->e->k->each_dim], step = (int)(l->displacement % each);
  int64_t first = l->displacement - step;
  const char* all = pb__vtile_find_load(l->e, l->access, first, LOAD_EACH);
  if (!all) {
    all = read(l, first, (int64_t)l->lanes * each);
    pb__vtile_note_load(l->e, l->access, first, LOAD_EACH, all);
  }
  for (int lane = 0; lane < l->lanes; ++lane) from[lane] = lane * each + step;
  return shuffle(l, all, all, from, type_of(l, (int64_t)l->lanes * each));
}

// ---- any of these ----

static bool comes_in_runs(const pb_vkernel* k, const pb_access* access) {
  return k->run_access >= 0 && access == &k->main->access[k->run_access];
}

static const char* make_register(const load* l) {
  const pb_vkernel* k = l->e->k;
  bool is_x = l->access == &k->main->access[k->x], is_w = l->access == &k->main->access[k->w];
  int64_t along = k->lane_dim >= 0 ? pb_vkernel_stride(l->access, k->lane_dim) : 0; // the lanes
  if (k->matrix.product.insn && (is_x || is_w)) return pb__vtile_load_matrix(l->t, l->displacement, is_x, l->indent);
  if (comes_in_runs(k, l->access)) return load_runs(l);
  if (k->apart_cycles && along != 0 && along != 1) return load_apart(l);
  if (k->transpose_dim >= 0 && along != 0 && along != 1) return load_transposed(l);
  if (l->group > 1 && is_x && k->taps) return load_taps(l);
  if (is_w && k->each_dim >= 0 && along == k->main->extent[k->each_dim]) return load_each(l);
  if (l->group > 1 ? !is_w : along == 0) return load_one(l);
  return is_w ? read_weights(l) : read(l, l->displacement, all_of(l));
}

// A number among constants that are the kernel's arguments, not brought to a buffer first, which no loop moves.
static bool is_number(const pb_vemit* e, const pb_access* access) {
  if (access->gathered || comes_in_runs(e->k, access)) return false; // runs have one each
  for (int c = 0; c < PB_NEST_COLS; ++c)
    if (pb_vkernel_stride(access, c)) return false;
  const pb_value* value = pb__vtile_value(e, access);
  return value->kind == PB_VALUE_CONST && value->rank == 1 && mlirValueIsABlockArgument(value->ir);
}

// It is loaded once, in front of everything.
static const char* load_number(pb_vemit* e, const pb_access* access, int lanes) {
  pb_text line = {0};
  pb_text_add(&line, "affine.load ");
  pb__vtile_print_flat(e, &line, access, false);
  pb_text_add(&line, "[%lld] : ", (long long)access->index[0].cst);
  pb__vtile_print_flat(e, &line, access, true);
  const char* name = pb_lowered_define(e->out, line.data);
  pb_text_free(&line);
  if (lanes == 1) return name;
  pb_text_add(&line, "vector.broadcast %s : %s to %s", name, pb_type_name(access->type),
              pb_lowered_type(e->out, access->type, lanes));
  name = pb_lowered_define(e->out, line.data);
  pb_text_free(&line);
  return name;
}

const char* pb__vtile_load(pb_vtile* t, const pb_access* access, int point, const int64_t* iteration, int indent) {
  pb_vemit* e = t->e;
  const pb_vkernel* k = e->k;
  bool factor = access == &k->main->access[k->x] || access == &k->main->access[k->w];
  // what takes finished sums finds it where it lies: in front of everything it would take a register from the sums
  bool behind_sums = k->main->reduce != PB_SET && !iteration, grouped = factor && k->insn.group > 1;
  if (is_number(e, access) && !behind_sums && !grouped) return load_number(e, access, k->lanes);
  const load l = {.t = t,
                  .e = e,
                  .access = access,
                  .displacement = pb__vtile_displacement(t, access, point, iteration),
                  .point = point,
                  .indent = indent,
                  .lanes = k->lanes,
                  .group = grouped ? k->insn.group : 1,
                  .type = pb_type_name(access->type)};
  const char* name = pb__vtile_find_load(e, access, l.displacement, 0);
  if (name) return name;
  name = make_register(&l);
  pb__vtile_note_load(e, access, l.displacement, 0, name);
  return name;
}

const char* pb__vtile_look_up(pb_vtile* t, const pb_access* access, const char* index, pb_type type, int indent) {
  pb_vemit* e = t->e;
  const load l = {.t = t,
                  .e = e,
                  .access = access,
                  .indent = indent,
                  .lanes = e->k->lanes,
                  .group = 1,
                  .type = pb_type_name(access->type)};
  if (l.lanes == 1) {
    const char* name = pb_lowered_begin_line(e->out, indent);
    pb_text_add(e->text, "memref.load ");
    pb__vtile_print_flat(e, e->text, access, false);
    pb_text_add(e->text, "[%s] : ", index);
    pb__vtile_print_flat(e, e->text, access, true);
    pb_text_add(e->text, "\n");
    return name;
  }
  return gather(&l, pb_lowered_integer(e->out, PB_INDEX, access->index[0].cst, 1), index, pb_type_name(type));
}
