// Outline: groups nests by slicing-based fusion and makes a kernel function of each group. Requires the program
// function in value form; leaves the program as a straight sequence of calls, one for each group, and kernel functions
// (pb.kernel) whose arguments are the tensors that they share. Equal kernels are one function. Exact.
//
// A group is a reduction (or a pointwise nest) with, in front, the nests that make its input if nobody else reads
// that, and behind it the pointwise nests that take its result, element by element, one after the other. Fusion so
// keeps the parallelism of the last nest, keeps rows of lanes rows of lanes (an epilogue whose store does not walk the
// lanes is left alone), recomputes nothing, and always removes the tensor in between: the four criteria of PolyBlocks'
// slicing-based fusion. Groups that share loops may then become one kernel of several stages (fuse_stages.c), and the
// fills and the copy of a padded tensor one copy (fuse_pads.c).
#include "core/base/table.h"
#include "core/s3/chip_facts.h"
#include "core/s3/compose.h"
#include "core/s3/constant_homes.h"
#include "core/s3/fallback.h"
#include "core/s3/fusion/block_sparse.h"
#include "core/s3/fusion/fusion.h"
#include "core/s3/fusion/splits.h"
#include "core/s3/kernel/around.h"
#include "core/s3/kernel/border.h"
#include "core/s3/kernel/contraction_dims.h"
#include "core/s3/kernel/flat.h"
#include "core/s3/kernel/group.h"
#include "core/s3/kernel/landing.h"
#include "core/s3/kernel/pads.h"
#include "core/s3/kernels.h"
#include "core/s3/program.h"
#include "core/s3/small_codes.h"

#include <mlir-c/BuiltinAttributes.h>
#include <string.h>

typedef struct outliner {
  pb_unit* unit;
  pb_program program;
  bool* is_guard;     // by value
  const int* same_as; // by value: the one that it is, in another shape; -1: it is a tensor of its own
  int same_count;     // values that same_as knows, as below
  int guard_count;    // values that is_guard knows: forms of weights add others
  pb_groups groups;   // which nests are one kernel
  pb_splits splits;   // constants that kernels take in another form
  pb_table kernels;   // numbers of kernel functions by their text without the name
  pb_text functions, calls;
  bool cached; // memory is cached: nothing is gained by making a tensor tile by tile, unless it stays in registers
} outliner;

static int writer_count(const outliner* o, int value) {
  int n = 0;
  PB_FOR_WRITERS (k, &o->program, value) ++n;
  return n;
}

// Whether a copy into the value can be cut as tiles cut it: each index that the reader's results move, and not its sums
// alone, is one dim of the copy.
static bool is_cut_by_tiles(const outliner* o, int copy, int value, int reader) {
  pb_nest from;
  const pb_nest* nest = &o->program.nests[reader];
  const pb_access* read = &nest->access[pb_program_load_of(&o->program, reader, value)];
  pb_nest_copy(&from, &o->program.nests[copy]);
  pb_nest_join_alike(&from);
  for (int r = 0; r < read->rank; ++r) {
    bool moved = false;
    int dim;
    for (int d = 0; d < nest->dim_count; ++d)
      moved |= read->index[r].coef[d] && pb_access_uses(&nest->access[nest->access_count - 1], d);
    if (moved && !pb_index_shifted(&pb_nest_store(&from)->index[r], &dim)) return false;
  }
  return true;
}

// The nests that make `value`, if they are one copy and fills (a pad, a gathering) and nobody but `reader` sees it. A
// tensor put together of several copies has pieces that a tile cannot tell apart.
static void take_prologues(outliner* o, int value, int reader, int group) {
  if (o->cached || !pb_program_is_local(&o->program, value) || pb_program_only_reader(&o->program, value) != reader)
    return;
  int copies = 0;
  PB_FOR_WRITERS (k, &o->program, value) {
    if (!pb_pad_part(&o->program.nests[k]) || o->groups.of[k] >= 0) return;
    bool copy = o->program.nests[k].access_count == 2;
    if (copy && !is_cut_by_tiles(o, k, value, reader)) return;
    copies += copy;
  }
  if (copies > 1) return;
  PB_FOR_WRITERS (k, &o->program, value) o->groups.of[k] = group;
}

static bool same_walk(const pb_access* a, const pb_access* b) {
  for (int r = 0; r < a->rank; ++r)
    if (memcmp(a->index[r].coef, b->index[r].coef, sizeof a->index[r].coef)) return false;
  return true;
}

// Every index is one dim of the nest, or several of which each steps over all that those inside it walk: element by
// element over the whole tensor.
static bool walks_whole(const pb_nest* nest, const pb_access* access) {
  for (int r = 0; r < access->rank; ++r) {
    int64_t extent = 1;
    bool walked[PB_NEST_DIMS] = {false};
    for (int d = nest->dim_count - 1; d >= 0; --d) { // again from the last dim whenever one fits
      if (walked[d] || access->index[r].coef[d] != extent) continue;
      walked[d] = true;
      extent *= nest->extent[d];
      d = nest->dim_count;
    }
    for (int d = 0; d < nest->dim_count; ++d)
      if (access->index[r].coef[d] && !walked[d]) return false;
    if (access->index[r].cst || extent != access->shape[r]) return false;
  }
  return true;
}

// Whether what is carried and all else that nest t touches has neighbours along one dim, or one number for them: else
// no lanes would be left, not to the sums either.
static bool keeps_lanes(const pb_nest* nest, int carried) {
  bool any = false;
  for (int d = 0; d < nest->dim_count; ++d) {
    bool keeps = nest->extent[d] > 1 && pb_access_stride(&nest->access[carried], d) == 1;
    any |= keeps;
    for (int a = 0; a < nest->access_count && keeps; ++a) {
      int64_t stride = pb_access_stride(&nest->access[a], d);
      keeps = nest->access[a].gathered || stride == 1 || (stride == 0 && a + 1 < nest->access_count);
    }
    if (keeps) return true;
  }
  return !any;
}

// Can nest t run on the tile of the value that it takes?
static bool can_follow(const outliner* o, int t, int value) {
  const pb_nest* nest = &o->program.nests[t];
  int a = pb_program_load_of(&o->program, t, value);
  if (a < 0 || nest->reduce != PB_SET || o->groups.of[t] >= 0 || nest->expr_count < 2 ||
      pb_program_is_fixed(&o->program, t))
    return false;
  const pb_access *store = &nest->access[nest->access_count - 1], *taken = &nest->access[a];
  if (!walks_whole(nest, taken) || store->rank != taken->rank || !same_walk(store, taken)) return false;
  if (o->cached) return keeps_lanes(nest, a); // it may store inside a border that fills write
  return writer_count(o, pb_program_stored(&o->program, t)) == 1 && walks_whole(nest, store);
}

// The fills of the border around what a group makes, once its last nest is known.
static void take_borders(outliner* o, int group) {
  PB_FOR_WRITERS (k, &o->program, pb_program_stored(&o->program, o->groups.last[group]))
    if (o->groups.of[k] < 0 && o->program.nests[k].access_count == 1) o->groups.of[k] = group;
}

// The memory in which the group's reduction leaves its sums; -1: not known yet.
static int sums_land(const outliner* o, int nest) {
  bool weight[PB_NEST_ACCESSES] = {0};
  int memory = -1;
  pb_program_find_weights(&o->program, nest, &o->program.nests[nest], weight);
  (void)pb_sum_lands(o->unit->chip, &o->program.nests[nest], weight, &memory);
  return memory;
}

// The memory in which a command leaves the rows that the nest gathers; -1: none does.
static int rows_land(const outliner* o, int nest) {
  pb_flat flat;
  const char* why;
  if (!pb_nest_gathers(&o->program.nests[nest])) return -1;
  pb_flat_begin(&o->program.nests[nest], &flat);
  pb_match* match = PB_NEW(&o->unit->pass, pb_match);
  bool gathers = pb_select(o->unit->chip, &flat, &o->unit->pass, match, &why) && pb_insn_gathers(match->insn) >= 0;
  return gathers ? match->insn->operands[match->insn->dest].memory : -1;
}

// A chip may compute the epilogue from another place only: then its operand goes there by way of a tensor. One that it
// cannot compute at all goes where its producer goes, and the plan will say so, unless another target is to run it.
// *memory: where the value that it takes lies, and then its own; -1: not known.
static bool can_take(const outliner* o, int t, int value, int* memory) {
  const pb_nest* nest = &o->program.nests[t];
  int a = pb_program_load_of(&o->program, t, value), anywhere;
  if (*memory < 0) return true;
  if (pb_point_lands(o->unit->chip, nest, a, *memory, memory)) return true;
  return !pb_may_leave(o->unit) && !pb_point_lands(o->unit->chip, nest, -1, PB_ANY_MEMORY, &anywhere);
}

enum { MOST_ARGUMENTS = 64, MOST_LOCALS = 16 }; // of a kernel; an engine's steps have room for as many
enum { MOST_TENSORS = MOST_ARGUMENTS + MOST_LOCALS };

// The tensors that the group's nests touch, from nest n on, through the nests that share them. Returns how many are not
// the group's alone; past MOST_TENSORS it counts no further.
static int count_arguments(const outliner* o, int group, int n) {
  int values[MOST_TENSORS], count = 0, shared = 0;
  for (int a = 0; a < o->program.nests[n].access_count; ++a) values[count++] = o->program.value_of[n][a];
  for (int k = 0; k < count; ++k) {
    bool alone = pb_program_is_local(&o->program, values[k]);
    PB_FOR_USES (m, &o->program, values[k]) {
      if (o->groups.of[m] != group) {
        alone = false;
        continue;
      }
      for (int a = 0; a < o->program.nests[m].access_count && count < MOST_TENSORS; ++a) {
        bool known = false;
        for (int i = 0; i < count; ++i) known |= values[i] == o->program.value_of[m][a];
        if (!known) values[count++] = o->program.value_of[m][a];
      }
    }
    shared += !alone;
  }
  return shared;
}

// Whether a step, or commands, can name all tensors of the group with nest t in it: with one more the whole kernel
// could not run.
static bool has_room(outliner* o, int group, int t) {
  o->groups.of[t] = group;
  bool fits = count_arguments(o, group, t) <= (o->cached ? MOST_ARGUMENTS : o->unit->chip->arguments);
  if (!fits) o->groups.of[t] = -1;
  return fits;
}

// Whether others make parts of the value too.
static bool is_shared(const outliner* o, int value, int group) {
  PB_FOR_WRITERS (k, &o->program, value)
    if (o->groups.of[k] != group) return true;
  return false;
}

// What takes the value of the group's main nest, which lands in `memory`; -1: it is not known where.
static void add_epilogues(outliner* o, int group, int main, int memory) {
  int value = pb_program_stored(&o->program, main);
  pb_around around = {.program = &o->program, .main = &o->program.nests[main], .main_index = main};
  for (int epilogues = 0; epilogues < 6; ++epilogues) {
    int t = pb_program_is_local(&o->program, value) && !is_shared(o, value, group)
                ? pb_program_only_reader(&o->program, value)
                : -1;
    if (t < 0 || !can_follow(o, t, value) || memory == o->unit->chip->system_memory) return;
    if (!o->cached && pb_around_add(&around, t, &o->unit->pass)) return; // it cuts a dim that the reduction has whole
    if (!can_take(o, t, value, &memory) || !has_room(o, group, t)) return;
    o->groups.of[t] = group;
    if (t > o->groups.last[group]) o->groups.last[group] = t;
    value = o->program.value_of[t][o->program.nests[t].access_count - 1];
  }
}

// The input that a kernel's plan is about, and whose making it may slice.
static int main_input(const outliner* o, int nest) {
  bool weight[PB_NEST_ACCESSES] = {0};
  pb_contraction_dims roles;
  pb_program_find_weights(&o->program, nest, &o->program.nests[nest], weight);
  return pb_nest_contraction_dims(&o->program.nests[nest], weight, &roles) ? roles.x : 0;
}

// Whether both nests store the value, and into the same part of it, or one more does into the parts of both.
static bool stores_together(const outliner* o, int value, int a, int b) {
  const pb_nest* nests = o->program.nests;
  if (!pb_program_writes(&o->program, a, value)) return false;
  bool together = !pb_stores_apart(&nests[a], &nests[b]);
  PB_FOR_WRITERS (k, &o->program, value)
    together |= !pb_stores_apart(&nests[k], &nests[a]) && !pb_stores_apart(&nests[k], &nests[b]);
  return together;
}

// Whether nest `n` goes on, in turns that read what is there, from what nest k has set.
static bool goes_on_from(const outliner* o, int value, int k, int n) {
  return pb_program_load_of(&o->program, n, value) >= 0 && pb_program_writes(&o->program, k, value);
}

// Nothing may fill the border of what a group reads on the way: then the padded tensor lies in memory, made by kernels
// of its own.
static void leave_pad(outliner* o, int padded, int group) {
  int pad[PB_MAX_PROLOGUES], pads = 0, count = 0, rest = 0;
  PB_FOR_WRITERS (k, &o->program, padded)
    if (o->groups.of[k] == group && pads < PB_MAX_PROLOGUES) pad[pads++] = k;
  if (pads < 2 || pb_fusion_fills(o->unit, &o->program, pad, pads)) return;
  int* nests = PB_NEW_ARRAY(&o->unit->pass, int, (size_t)o->groups.last[group] + 1);
  for (int n = 0; n <= o->groups.last[group]; ++n)
    if (o->groups.of[n] == group) nests[count++] = n;
  if (pb_fusion_runs(o->unit, &o->program, nests, count)) return;
  for (int k = 0; k < count; ++k)
    if (!pb_program_writes(&o->program, nests[k], padded)) nests[rest++] = nests[k];
  if (!pb_fusion_runs(o->unit, &o->program, nests, rest)) return;
  for (int k = 0; k < pads; ++k) o->groups.of[pad[k]] = -1;
}

// A nest that sets what the group goes on with, or has begun it: then all of its own group is of this one.
static void take_beginning(outliner* o, int nest, int group) {
  int other = o->groups.of[nest];
  o->groups.of[nest] = group;
  if (other < 0 || o->groups.main[other] != nest) return;
  for (int n = 0; n < o->program.nest_count; ++n) // fills of its border may stand behind its last one
    if (o->groups.of[n] == other) o->groups.of[n] = group;
  o->groups.last[other] = -1;
}

static void seed(outliner* o, int nest) {
  int group = o->groups.count++;
  const pb_nest* n = &o->program.nests[nest];
  int value = o->program.value_of[nest][n->access_count - 1];
  o->groups.of[nest] = group;
  o->groups.last[group] = nest;
  o->groups.main[group] = n->reduce == PB_SET ? -1 : nest;
  PB_FOR_USES (k, &o->program, value) // what sets the result before the reduction
    if (k < nest && n->reduce != PB_SET && o->groups.of[k] != group &&
        (stores_together(o, value, k, nest) || goes_on_from(o, value, k, nest)))
      take_beginning(o, k, group);
  if (n->reduce == PB_SET) {
    int rows = rows_land(o, nest);
    if (rows >= 0) add_epilogues(o, group, nest, rows);
  } else {
    int read = o->program.value_of[nest][main_input(o, nest)];
    take_prologues(o, read, nest, group);
    add_epilogues(o, group, nest, sums_land(o, nest));
    leave_pad(o, read, group);
  }
  if (o->cached) take_borders(o, group);
}

// Whether the nest is one kernel with the one in front: code has one loop of them (PB_PART_BESIDE). What both are part
// of is asked for, as passes may have changed it.
static bool joins_beside(outliner* o, int n) {
  if (!n || !pb_nest_is_beside(&o->program.nests[n]) || !pb_nest_is_beside(&o->program.nests[n - 1])) return false;
  int group = o->groups.of[n - 1], count = 0;
  bool meets = false;
  if (group < 0 || !o->cached) return false;
  for (int k = n - 1; k >= 0 && o->groups.of[k] == group; --k, ++count)
    for (int a = 0; a < o->program.nests[n].access_count; ++a) {
      if (pb_program_stored(&o->program, k) == o->program.value_of[n][a] && a + 1 < o->program.nests[n].access_count)
        return false;
      meets |= pb_program_load_of(&o->program, k, o->program.value_of[n][a]) >= 0 ||
               pb_program_stored(&o->program, k) == o->program.value_of[n][a];
    }
  if (!meets || count >= PB_MOST_BESIDE) return false;
  o->groups.of[n] = group;
  o->groups.last[group] = n;
  return true;
}

static void form_groups(outliner* o) {
  for (int n = 0; n < o->program.nest_count; ++n)
    if (o->program.nests[n].reduce != PB_SET) seed(o, n);
  for (int n = 0; n < o->program.nest_count; ++n)
    if (o->groups.of[n] < 0 && !joins_beside(o, n)) seed(o, n);
}

// One number for all elements: of a vector of equal ones, or of a constant that no dim walks.
static bool is_one_number(const outliner* o, int n, int a) {
  const pb_access* access = &o->program.nests[n].access[a];
  bool still = access->rank == 1 && pb_program_is_const(&o->program, n, a);
  for (int d = 0; d < PB_NEST_DIMS; ++d) still &= access->index[0].coef[d] == 0;
  return access->splat || still;
}

// A pointwise nest that walks all its tensors alike, front to back, is one loop over flat tensors.
static bool is_flat(const outliner* o, int n, int64_t* length) {
  const pb_nest* nest = &o->program.nests[n];
  if (nest->reduce != PB_SET || !nest->dim_count || pb_nest_is_fixed(nest)) return false;
  int64_t stride = 1;
  for (int d = nest->dim_count - 1; d >= 0; --d) {
    for (int a = 0; a < nest->access_count; ++a)
      if (!is_one_number(o, n, a) && pb_access_stride(&nest->access[a], d) != stride) return false;
    stride *= nest->extent[d];
  }
  for (int a = 0; a < nest->access_count; ++a)
    if (!is_one_number(o, n, a) &&
        (pb_access_offset(&nest->access[a]) || pb_access_elements(&nest->access[a]) < stride))
      return false;
  *length = stride;
  return true;
}

static void flatten(const outliner* o, int n, pb_nest* nest, int64_t length) {
  for (int a = 0; a < nest->access_count; ++a) {
    pb_access* access = &nest->access[a];
    if (is_one_number(o, n, a)) continue;
    access->shape[0] = pb_access_elements(access);
    access->rank = 1;
    memset(&access->index[0], 0, sizeof access->index[0]);
    access->index[0].coef[0] = 1;
  }
  nest->dim_count = 1;
  nest->extent[0] = length;
}

typedef struct signature {
  int values[MOST_ARGUMENTS];
  int count, locals[MOST_LOCALS], local_count;
  const pb_split* splits[MOST_LOCALS]; // constants of which it has the parts
  int split_count;
  bool lies_over; // a tensor that it makes may lie over one that it reads
  pb_text over;   // what a call says of that
} signature;

static bool inside_group(const outliner* o, int value, int group) {
  if (!pb_program_is_local(&o->program, value) || o->is_guard[value]) return false;
  PB_FOR_USES (k, &o->program, value)
    if (o->groups.of[k] != group) return false;
  return true;
}

static bool read_once(const outliner* o, int value, int group) {
  int reads = 0;
  for (int n = o->groups.first[group]; n >= 0; n = o->groups.next[n])
    for (int a = 0; a < o->program.nests[n].access_count; ++a) reads += o->program.value_of[n][a] == value;
  return reads == 1;
}

// Whether access a of the nest is weights that the kernel takes in parts.
static bool takes_split(outliner* o, int group, int n, int a, signature* s) {
  if (s->split_count == MOST_LOCALS) return false;
  const pb_split* split = pb_split_weights(&o->splits, n, a);
  if (!split || !read_once(o, o->program.value_of[n][a], group)) return false;
  if (s->count + split->form.part_count > MOST_ARGUMENTS) return false;
  s->splits[s->split_count++] = split;
  for (int p = 0; p < split->form.part_count; ++p) s->values[s->count++] = split->parts[p];
  return true;
}

// splits: weights may be taken apart.
static pb_status collect(outliner* o, int group, bool splits, signature* s) {
  *s = (signature){0};
  for (int n = o->groups.first[group]; n >= 0; n = o->groups.next[n]) {
    for (int a = 0; a < o->program.nests[n].access_count; ++a) {
      int v = o->program.value_of[n][a];
      bool local = inside_group(o, v, group);
      if (pb_position_of(s->values, s->count, v) >= 0 || pb_position_of(s->locals, s->local_count, v) >= 0) continue;
      if (splits && takes_split(o, group, n, a, s)) continue;
      if (s->count == MOST_ARGUMENTS || s->local_count == MOST_LOCALS)
        return pb_unsupported(o->unit->diag, (pb_place){.what = o->program.nests[n].name}, 4040, NULL,
                              "too many tensors in one kernel");
      if (local)
        s->locals[s->local_count++] = v;
      else
        s->values[s->count++] = v;
    }
  }
  for (int g = 0; o->groups.guards[group][g] && s->count < MOST_ARGUMENTS; ++g)
    s->values[s->count++] = o->groups.guards[group][g] - 1;
  return PB_OK;
}

static bool is_splat(const outliner* o, int v) {
  const pb_value* value = &o->program.values[v];
  return value->kind == PB_VALUE_CONST && value->rank == 1 && pb_argument_has(value->ir, "pb.splat");
}

// The shape of the value, or all of it in a row.
static pb_access shape_of(const pb_value* value, bool flat) {
  pb_access shape = pb_value_shape(value);
  if (!flat) return shape;
  shape.shape[0] = pb_access_elements(&shape);
  shape.rank = 1;
  return shape;
}

static void print_type(pb_text* text, const pb_value* value, bool flat) {
  pb_access type = shape_of(value, flat);
  pb_access_print_type(text, &type);
}

static bool written_in_group(const outliner* o, int v, int group) {
  PB_FOR_WRITERS (n, &o->program, v)
    if (o->groups.of[n] == group) return true;
  return false;
}

static void print_blocks(const pb_blocks* blocks, pb_text* text) {
  if (!blocks) return;
  pb_text_add(text, ", pb.blocks = array<i64: %d", blocks->row);
  for (int b = 0; b < blocks->count; ++b)
    pb_text_add(text, ", %lld, %lld, %lld, %lld", (long long)blocks->items[b].row, (long long)blocks->items[b].rows,
                (long long)blocks->items[b].key, (long long)blocks->items[b].keys);
  pb_text_add(text, ">");
}

// Where what the group multiplies has zeros alone.
static void print_border(const outliner* o, int v, int group, pb_text* text) {
  const pb_value* value = &o->program.values[v];
  bool any = false, multiplied = false;
  for (int r = 0; r < value->rank; ++r) any |= value->border[r][0] || value->border[r][1];
  PB_FOR_USES (n, &o->program, v)
    multiplied |= any && o->groups.of[n] == group && pb_program_multiplies(&o->program, n, v);
  for (int r = 0; multiplied && r < value->rank; ++r)
    pb_text_add(text, "%s%lld, %lld", r ? ", " : ", pb.border = array<i64: ", (long long)value->border[r][0],
                (long long)value->border[r][1]);
  if (multiplied) pb_text_add(text, ">");
}

// What may lie over what in a kernel of a loop's turns.
static void find_over(const outliner* o, int group, signature* s) {
  int nests[PB_OVER_TENSORS], count = 0;
  for (int n = o->groups.first[group]; n >= 0; n = o->groups.next[n]) {
    if (count == PB_OVER_TENSORS) return;
    nests[count++] = n;
  }
  s->lies_over =
      pb_print_over(&o->program, pb_vector_facts_of(o->unit->chip).lanes, nests, count, s->values, s->count, &s->over);
}

// The kernel's function from its parameter list on, nests in order. Without the model's names equal kernels are equal
// text; the function that stands for them keeps the names of the first.
static void print_kernel(outliner* o, int group, const signature* s, bool flat, int64_t length, bool named,
                         pb_text* text) {
  pb_text_add(text, "(");
  for (int k = 0; k < s->count; ++k) {
    int v = s->values[k];
    const char* kind = o->program.values[v].kind == PB_VALUE_CONST ? "pb.const = -1 : i64"
                       : written_in_group(o, v, group)             ? "pb.output = \"\""
                                                                   : "pb.input = \"\"";
    pb_text_add(text, "%s%%a%d: ", k ? ", " : "", k);
    print_type(text, &o->program.values[v], flat && !is_splat(o, v));
    pb_text_add(text, " {%s%s", kind, is_splat(o, v) ? ", pb.splat" : "");
    if (v < o->guard_count && o->is_guard[v] && !written_in_group(o, v, group)) pb_text_add(text, ", pb.guard");
    if (!written_in_group(o, v, group)) print_border(o, v, group, text);
    unsigned narrow = pb_small_codes_of(o->program.values[v].ir);
    if (narrow) pb_text_add(text, ", pb.codes = %u : i64", narrow);
    unsigned out = pb_constant_kept_out(o->unit->consts, o->program.values[v].const_id);
    if (out) pb_text_add(text, ", pb.kept_out = %u : i64", out);
    for (int j = 0; j < s->split_count; ++j)
      if (s->splits[j]->parts[0] == v) pb_text_add(text, ", pb.coded = %d : i64", s->splits[j]->form.bits);
    pb_text_add(text, "}");
  }
  pb_text_add(text, ") attributes {pb.kernel%s", o->groups.staged[group] ? ", pb.stages" : "");
  print_blocks(o->groups.blocks[group], text);
  pb_text_add(text, "%s%s} {\n", o->groups.guards[group][0] ? ", pb.guarded" : "", s->lies_over ? ", pb.over" : "");
  for (int k = 0; k < s->local_count; ++k) {
    pb_text_add(text, "  %%t%d = memref.alloc() : ", k);
    print_type(text, &o->program.values[s->locals[k]], flat); // one nest alone: a result that nobody reads
    pb_text_add(text, "\n");
  }
  int serial = 0;
  pb_splits_print(&o->splits, s->splits, s->split_count, s->values,
                  named ? o->program.nests[o->groups.last[group]].name : "", &serial, text);
  for (int n = o->groups.first[group]; n >= 0; n = o->groups.next[n]) {
    pb_nest nest = o->program.nests[n];
    if (!named) nest.name = "";
    if (flat) flatten(o, n, &nest, length);
    for (int a = 0; a < nest.access_count; ++a) {
      int v = o->program.value_of[n][a];
      for (int k = 0; k < s->count; ++k)
        if (s->values[k] == v) nest.access[a].ref = pb_printf(&o->unit->pass, "%%a%d", k);
      for (int k = 0; k < s->local_count; ++k)
        if (s->locals[k] == v) nest.access[a].ref = pb_printf(&o->unit->pass, "%%t%d", k);
      for (int k = 0; k < s->split_count; ++k)
        if (s->splits[k]->whole == v) nest.access[a].ref = pb_printf(&o->unit->pass, "%%s%d", k);
    }
    pb_nest_print(text, &nest, 1, &serial);
  }
  for (int k = 0; k < s->local_count; ++k) { // where they stay: a chip with explicit memories fuses them away
    pb_text_add(text, "  memref.dealloc %%t%d : ", k);
    print_type(text, &o->program.values[s->locals[k]], flat);
    pb_text_add(text, "\n");
  }
  pb_text_add(text, "  return\n}\n");
}

static const char* value_ref(const outliner* o, int v) {
  int argument = o->program.values[v].argument;
  return argument >= 0 ? pb_printf(&o->unit->pass, "%%a%d", argument) : pb_printf(&o->unit->pass, "%%v%d", v);
}

static int same_as(const outliner* o, int v) { return o->same_as && v < o->same_count ? o->same_as[v] : -1; }

static uint64_t multiplies(const outliner* o, int group) {
  uint64_t macs = 0;
  for (int n = o->groups.first[group]; n >= 0; n = o->groups.next[n])
    if (o->program.nests[n].reduce != PB_SET) macs += (uint64_t)o->program.nests[n].macs;
  return macs;
}

// The nodes of the group's reductions, or of its one nest: "conv1 + pool1".
static void print_origin(const outliner* o, int group, pb_text* text) {
  int named = 0;
  for (int n = o->groups.first[group]; n >= 0; n = o->groups.next[n])
    if (o->program.nests[n].reduce != PB_SET) pb_text_add(text, "%s%s", named++ ? " + " : "", o->program.nests[n].name);
  if (!named) pb_text_add(text, "%s", o->program.nests[o->groups.last[group]].name);
}

// Whether the value is handed on in another shape than that of the tensor that holds it.
static bool is_reshaped(const outliner* o, int v, bool flat) {
  return same_as(o, v) >= 0 || (flat && !is_splat(o, v) && o->program.values[v].rank != 1);
}

static void print_view(outliner* o, int v, bool flat) {
  int root = same_as(o, v);
  const pb_value *value = &o->program.values[v], *held = &o->program.values[root >= 0 ? root : v];
  pb_access shape = shape_of(value, flat);
  if (root < 0) {
    pb_text_add(&o->calls, "memref.collapse_shape %s [[", value_ref(o, v));
    for (int r = 0; r < value->rank; ++r) pb_text_add(&o->calls, "%s%d", r ? ", " : "", r);
    pb_text_add(&o->calls, "]] : ");
  } else {
    pb_text_add(&o->calls, "memref.reinterpret_cast %s to offset: [0], sizes: [", value_ref(o, root));
    for (int r = 0; r < shape.rank; ++r) pb_text_add(&o->calls, "%s%lld", r ? ", " : "", (long long)shape.shape[r]);
    pb_text_add(&o->calls, "], strides: [");
    for (int r = 0; r < shape.rank; ++r) {
      int64_t stride = 1;
      for (int k = r + 1; k < shape.rank; ++k) stride *= shape.shape[k];
      pb_text_add(&o->calls, "%s%lld", r ? ", " : "", (long long)stride);
    }
    pb_text_add(&o->calls, "] : ");
  }
  print_type(&o->calls, held, false);
  pb_text_add(&o->calls, root < 0 ? " into " : " to ");
  print_type(&o->calls, value, flat);
  pb_text_add(&o->calls, "\n");
}

static void print_call(outliner* o, int group, const signature* s, int kernel, bool flat) {
  for (int k = 0; k < s->count; ++k) {
    if (!is_reshaped(o, s->values[k], flat)) continue;
    pb_text_add(&o->calls, "  %%f%d_%d = ", group, k);
    print_view(o, s->values[k], flat);
  }
  pb_text_add(&o->calls, "  func.call @k%d(", kernel);
  for (int k = 0; k < s->count; ++k) {
    int v = s->values[k];
    if (is_reshaped(o, v, flat))
      pb_text_add(&o->calls, "%s%%f%d_%d", k ? ", " : "", group, k);
    else
      pb_text_add(&o->calls, "%s%s", k ? ", " : "", value_ref(o, v));
  }
  pb_text origin = {0};
  print_origin(o, group, &origin);
  pb_text_add(&o->calls, ") {pb.origin = ");
  pb_text_add_quoted(&o->calls, origin.data ? origin.data : "");
  pb_text_free(&origin);
  pb_text_add(&o->calls, ", pb.macs = %llu : i64", (unsigned long long)multiplies(o, group));
  pb_text_add(&o->calls, "%s} : (", s->over.data ? s->over.data : "");
  for (int k = 0; k < s->count; ++k) {
    if (k) pb_text_add(&o->calls, ", ");
    print_type(&o->calls, &o->program.values[s->values[k]], flat && !is_splat(o, s->values[k]));
  }
  pb_text_add(&o->calls, ") -> ()\n");
}

static pb_status emit_group(outliner* o, int group) {
  signature s;
  int64_t length = 0;
  int nests = 0;
  PB_TRY(collect(o, group, true, &s));
  if (s.split_count && s.count > o->unit->chip->arguments) PB_TRY(collect(o, group, false, &s));
  for (int n = o->groups.first[group]; n >= 0; n = o->groups.next[n]) ++nests;
  bool flat = nests == 1 && is_flat(o, o->groups.last[group], &length);
  if (o->cached && o->unit->in_turns) find_over(o, group, &s);
  pb_text text = {0};
  print_kernel(o, group, &s, flat, length, false, &text);
  int next = (int)o->kernels.count, kernel = pb_table_number(&o->kernels, &o->unit->pass, text.data, text.length, next);
  if (kernel == next) {
    pb_text_add(&o->functions, "func.func @k%d", kernel);
    print_kernel(o, group, &s, flat, length, true, &o->functions);
  }
  pb_text_free(&text);
  print_call(o, group, &s, kernel, flat);
  pb_text_free(&s.over);
  return PB_OK;
}

static pb_status print_program(outliner* o) {
  pb_text text = {0};
  pb_text_add(&text, "module attributes {pb.stage = \"s3\"} {\n%s", o->functions.data ? o->functions.data : "");
  pb_program_print_head(&o->program, "pb.host", &text);
  for (int v = 0; v < o->program.value_count; ++v) {
    if (!pb_program_is_local(&o->program, v) || same_as(o, v) >= 0 ||
        (o->program.uses[v].count && inside_group(o, v, o->groups.of[o->program.uses[v].nests[0]])))
      continue;
    pb_text_add(&text, "  %%v%d = memref.alloc() : ", v);
    print_type(&text, &o->program.values[v], false);
    pb_text_add(&text, "\n");
  }
  pb_text_add(&text, "%s  return\n}\n}\n", o->calls.data ? o->calls.data : "");
  pb_status status = pb_module_replace(o->unit, &text, "outline");
  pb_text_free(&text);
  return status;
}

// Where their last nests stand.
static pb_status emit_groups(outliner* o) {
  size_t nests = (size_t)o->program.nest_count + 1;
  int *at = PB_NEW_ARRAY(&o->unit->pass, int, nests), *next = PB_NEW_ARRAY(&o->unit->pass, int, nests);
  memset(at, 0xff, nests * sizeof *at);
  for (int g = o->groups.count - 1; g >= 0; --g) { // groups are no more than nests
    if (o->groups.last[g] < 0) continue;
    next[g] = at[o->groups.last[g]];
    at[o->groups.last[g]] = g;
  }
  for (int n = 0; n < o->program.nest_count; ++n)
    for (int g = at[n]; g >= 0; g = next[g]) PB_TRY(emit_group(o, g));
  return PB_OK;
}

// Kernels with constant masks by blocks.
static void split_sparse(outliner* o) {
  pb_block_sparse_split(o->unit, &o->groups);
  o->guard_count = o->program.value_count;
  o->is_guard = PB_NEW_ARRAY(&o->unit->pass, bool, (size_t)o->guard_count + 1);
  for (int g = 0; g < o->groups.count; ++g)
    for (int k = 0; o->groups.guards[g][k]; ++k) o->is_guard[o->groups.guards[g][k] - 1] = true;
}

pb_status pb_s3_outline(pb_unit* unit) {
  outliner o = {.unit = unit, .cached = !pb_chip_moves(unit->chip)};
  pb_constants_mark(unit, pb_module_func(unit->module, "main"));
  PB_TRY(pb_program_read_main(unit, &o.program));
  if (o.cached) pb_find_borders(unit, &o.program); // movers fill borders on the way
  size_t nests = (size_t)o.program.nest_count + 1;
  o.groups.program = &o.program;
  o.groups.of = PB_NEW_ARRAY(&unit->pass, int, nests);
  o.groups.last = PB_NEW_ARRAY(&unit->pass, int, nests);
  o.groups.main = PB_NEW_ARRAY(&unit->pass, int, nests);
  o.groups.staged = PB_NEW_ARRAY(&unit->pass, bool, nests);
  memset(o.groups.of, 0xff, nests * sizeof *o.groups.of);
  form_groups(&o);
  pb_groups_list(&o.groups, &unit->pass);
  pb_fuse_stages(unit, &o.groups);
  if (!o.cached) pb_fuse_pads(unit, &o.groups);
  o.same_as = pb_find_same_tensors(unit->chip, &o.groups, &unit->pass);
  o.same_count = o.program.value_count;
  split_sparse(&o);
  pb_splits_begin(unit, &o.program, &o.splits);
  pb_status status = emit_groups(&o);
  if (status == PB_OK) status = print_program(&o);
  pb_text_free(&o.functions);
  pb_text_free(&o.calls);
  pb_table_free(&o.kernels);
  return status;
}
