#include "core/s3/kernel/pads.h"

#include "core/s3/compose.h"
#include "core/s3/kernel/contraction_dims.h"

#include <string.h>

bool pb_pad_part(const pb_nest* nest) { return pb_nest_is_fill(nest) || pb_nest_is_copy(nest); }

// A copy that only shifts: each index of the store is the same index of the load plus a constant. Of a part (*part) a
// box would read what lies beside it, unless nothing is around the part along that index.
static bool is_shift(const pb_nest* copy, int64_t* shift, bool* part) {
  const pb_access *from = &copy->access[0], *to = &copy->access[1];
  bool walked[PB_NEST_DIMS] = {false};
  int count = 0;
  if (from->rank != to->rank || from->type != to->type || from->boxed || from->gathered) return false;
  *part = false;
  for (int r = 0; r < to->rank; ++r) {
    int64_t first = from->index[r].cst;
    int d;
    if (memcmp(from->index[r].coef, to->index[r].coef, sizeof from->index[r].coef) ||
        !pb_index_shifted(&from->index[r], &d))
      return false;
    if (d >= 0 && walked[d]) return false;
    if (d >= 0) walked[d] = true, ++count;
    int64_t extent = d < 0 ? 1 : copy->extent[d];
    bool whole = first == 0 && extent == from->shape[r], around = to->index[r].cst != 0 || extent != to->shape[r];
    if (!whole && around) return false;
    *part |= !whole;
    shift[r] = to->index[r].cst - first;
  }
  return count == copy->dim_count;
}

static bool read_pad(const pb_program* program, const int* nests, int count, pb_pad* p) {
  bool filled = false;
  p->copy = -1;
  for (int k = 0; k < count; ++k) {
    const pb_nest* nest = &program->nests[nests[k]];
    if (pb_nest_is_fill(nest)) {
      if (filled && p->fill != nest->expr[0].value) return false;
      p->fill = nest->expr[0].value;
      filled = true;
    } else if (pb_nest_is_copy(nest) && p->copy < 0)
      p->copy = nests[k];
    else
      return false;
  }
  return p->copy >= 0 && filled && is_shift(&program->nests[p->copy], p->shift, &p->part);
}

void pb_pad_open(const pb_program* program, const pb_pad* p, pb_access* access) {
  const pb_access* tensor = &program->nests[p->copy].access[0];
  access->memref = tensor->memref;
  access->space = tensor->space;
  memcpy(access->shape, tensor->shape, sizeof access->shape);
  for (int r = 0; r < access->rank; ++r) access->index[r].cst -= p->shift[r];
  access->boxed = true;
  access->fill = p->fill;
}

bool pb_pad_as_copy(const pb_program* program, const int* nests, int count, pb_nest* main) {
  pb_pad p;
  if (!read_pad(program, nests, count, &p)) return false;
  *main = program->nests[p.copy];
  pb_access* to = &main->access[1];
  for (int r = 0; r < to->rank; ++r) {
    int d;
    if (!pb_index_shifted(&to->index[r], &d) || (d < 0 && to->shape[r] != 1)) return false;
    if (d >= 0) main->extent[d] = to->shape[r];
    to->index[r].cst = 0;
  }
  main->access[0] = *to;
  pb_pad_open(program, &p, &main->access[0]);
  return true;
}

bool pb_pad_fold(const pb_program* program, const int* nests, int count, pb_access* access) {
  pb_pad p;
  if (!read_pad(program, nests, count, &p)) return false;
  pb_pad_open(program, &p, access);
  return true;
}

enum { MOST_PARTS = 2 * PB_NEST_RANK + 1 };

// The nests that make the local; 0: they are more than those of a pad, or it is none.
static int parts_of(const pb_program* p, int value, int* parts) {
  int count = 0;
  PB_FOR_WRITERS (n, p, value) {
    if (p->gone[n]) continue;
    if (count == MOST_PARTS || p->nests[n].reduce != PB_SET) return 0;
    parts[count++] = n;
  }
  return count;
}

static bool pad_of(const pb_program* p, int value, pb_pad* pad) {
  int parts[MOST_PARTS];
  return pb_program_is_local(p, value) && read_pad(p, parts, parts_of(p, value, parts), pad);
}

bool pb_pad_of(const pb_program* p, int value, pb_pad* pad) { return pad_of(p, value, pad) && !pad->part; }

bool pb_pad_takes_local(const pb_program* p, int copy, pb_pad* pad) {
  return !p->gone[copy] && pb_nest_is_copy(&p->nests[copy]) && pb_program_is_local(p, p->value_of[copy][0]) &&
         pb_pad_of(p, pb_program_stored(p, copy), pad) && pad->copy == copy;
}

void pb_pad_redirect(pb_program* p, pb_arena* arena, int from, int to, const int64_t* shift) {
  PB_FOR_ACCESSES (n, a, p, from) {
    if (p->gone[n]) continue;
    pb_access* access = &p->nests[n].access[a];
    access->memref = p->values[to].ir;
    memcpy(access->shape, p->values[to].shape, sizeof access->shape);
    for (int r = 0; r < access->rank; ++r) access->index[r].cst += shift[r];
    pb_program_set_value(p, arena, n, a, to);
  }
}

// ---- a whole function ----

static bool is_store(const pb_program* p, int n, int a) { return a + 1 == p->nests[n].access_count; }

static bool fold_local(pb_program* p, int value, pb_arena* arena) {
  pb_pad made;
  if (!pad_of(p, value, &made)) return false;
  int from = p->value_of[made.copy][0];
  if (p->values[from].argument < 0) return false;
  PB_FOR_ACCESSES (n, a, p, value)
    if (!is_store(p, n, a) && (p->nests[n].access[a].boxed || p->nests[n].access[a].gathered)) return false;
  PB_FOR_ACCESSES (n, a, p, value) {
    if (is_store(p, n, a)) continue;
    pb_pad_open(p, &made, &p->nests[n].access[a]);
    pb_program_set_value(p, arena, n, a, from);
  }
  PB_FOR_USES (n, p, value) p->gone[n] = true; // those that make it are left
  return true;
}

static void fold_each(pb_program* p, pb_arena* arena, bool (*fold)(pb_program*, int, pb_arena*)) {
  bool any = false;
  for (int v = 0; v < p->value_count; ++v) any |= fold(p, v, arena);
  if (any) pb_program_drop_nests(p, arena);
}

void pb_program_fold_pads(pb_program* p, pb_arena* arena) { fold_each(p, arena, fold_local); }

// Whether products by weights read the value. They wait for what fills its border, which the model of cost does not
// see: MobileNetV2 took 3% longer on an NPU with its expansions made so.
static bool multiplied(const pb_program* p, int value) {
  PB_FOR_USES (n, p, value)
    if (pb_program_reads(p, n, value) && pb_program_multiplies_weights(p, n)) return true;
  return false;
}

// The local's elements all go into a padded local and nowhere else: what makes them makes them there.
static bool make_inside(pb_program* p, int value, pb_arena* arena) {
  int copy = pb_program_only_reader(p, value);
  pb_pad pad;
  if (copy < 0 || !pb_pad_takes_local(p, copy, &pad) || multiplied(p, pb_program_stored(p, copy))) return false;
  p->gone[copy] = true;
  pb_pad_redirect(p, arena, value, pb_program_stored(p, copy), pad.shift);
  return true;
}

void pb_program_make_inside(pb_program* p, pb_arena* arena) { fold_each(p, arena, make_inside); }
