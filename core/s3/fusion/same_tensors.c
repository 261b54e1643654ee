// Tensors that are others in another shape: a copy of all of a tensor, front to back, moves nothing that has to be
// moved. Who takes the copy takes a view of what was copied; what is copied to a result of the program is made there.
#include "core/s3/compose.h"
#include "core/s3/fusion/fusion.h"

#include <string.h>

// The dim, of those not walked yet, along which both tensors of the copy go by so many elements; -1: there is none.
static int dim_by(const pb_nest* nest, const bool* walked, int64_t elements) {
  for (int d = 0; d < nest->dim_count; ++d)
    if (!walked[d] && pb_access_stride(&nest->access[0], d) == elements &&
        pb_access_stride(&nest->access[1], d) == elements)
      return d;
  return -1;
}

// Whether the copy goes through both of its tensors front to back, whatever the order of its loops, and through all of
// the one that it makes.
static bool copies_in_order(const pb_nest* nest) {
  const pb_access *from = &nest->access[0], *to = &nest->access[1];
  bool walked[PB_NEST_DIMS] = {0};
  int64_t elements = 1;
  int left = 0;
  if (!pb_nest_is_copy(nest) || pb_nest_is_fixed(nest) || from->type != to->type || from->boxed) return false;
  for (int d = 0; d < nest->dim_count; ++d) left += !(walked[d] = nest->extent[d] == 1);
  for (; left > 0; --left) {
    int d = dim_by(nest, walked, elements);
    if (d < 0) return false;
    walked[d] = true;
    elements *= nest->extent[d];
  }
  return !pb_access_offset(from) && !pb_access_offset(to) && elements == pb_access_elements(to) &&
         elements <= pb_access_elements(from);
}

// Whether the tensor stays as it is from the nest on.
static bool is_final(const pb_program* p, int v, int nest) { return pb_program_last_writer(p, v) <= nest; }

static int root_of(const int* same_as, int v) {
  while (same_as[v] >= 0) v = same_as[v];
  return v;
}

// Whether the value lies in the system's memory, element by element, for whoever reads it: constants may lie apart, or
// two codes in a byte.
static bool lies_outside(const pb_chip* chip, const pb_value* value) {
  if (value->kind == PB_VALUE_CONST) return !chip->constant_memory_count && pb_type_bits(value->type) > 8;
  return value->kind == PB_VALUE_LOCAL || value->kind == PB_VALUE_INPUT;
}

// Whether what is copied can be made where the result of the program that copy n makes is to lie: nobody writes it
// later.
static bool goes_out(const pb_program* p, int n, int from, int to) {
  bool alone = pb_program_next_use(p, to, -1) == n && is_final(p, to, n);
  return alone && p->values[to].kind == PB_VALUE_OUTPUT && pb_program_is_local(p, from) && is_final(p, from, n) &&
         pb_access_elements(&p->nests[n].access[0]) == pb_access_elements(&p->nests[n].access[1]);
}

const int* pb_find_same_tensors(const pb_chip* chip, pb_groups* groups, pb_arena* arena) {
  const pb_program* p = groups->program;
  int* same_as = PB_NEW_ARRAY(arena, int, (size_t)p->value_count + 1);
  memset(same_as, 0xff, sizeof *same_as * (size_t)p->value_count);
  for (int g = 0; g < groups->count; ++g) {
    int n = groups->first[g];
    if (n < 0 || groups->last[g] < 0 || groups->next[n] >= 0 || groups->staged[g] || !copies_in_order(&p->nests[n]))
      continue;
    int from = p->value_of[n][0], to = p->value_of[n][1];
    if (same_as[from] < 0 && goes_out(p, n, from, to)) {
      same_as[from] = to;
      groups->last[g] = -1;
      continue;
    }
    if (!lies_outside(chip, &p->values[from]) || pb_program_only_writer(p, to) != n) continue;
    if (!is_final(p, root_of(same_as, from), n)) continue;
    same_as[to] = from;
    groups->last[g] = -1;
  }
  for (int v = 0; v < p->value_count; ++v)
    if (same_as[v] >= 0) same_as[v] = root_of(same_as, v);
  return same_as;
}
