// Padding folding: a tensor that is copied into a padded one is made inside the padded one from the start. Requires the
// program function in value form; leaves it in value form: the producer and the fills write disjoint pieces. Exact.
//
//   before   v = conv(...);  p[border] = 0;  p[1 + i] = v[i];  y = window(p)
//   after    p[border] = 0;  p[1 + i] = conv(...)[i];  y = window(p)
//
// Only on chips whose memory is cached: where movers bring tiles to explicit memories, they pad on the way for nothing.
#include "core/s3/kernel/pads.h"
#include "core/s3/s3.h"

typedef struct padding_folder {
  pb_unit* unit;
  pb_program *program, to; // `to`: its nests in their new order; those that are there are gone here
  bool *inside, *padded;   // values that are made inside another one, and those others
} padding_folder;

// Elements are told apart by each index alone: nothing walks the tensor as a flat one, an index running past its end.
static bool by_its_own_dims(const padding_folder* h, int v) {
  PB_FOR_ACCESSES (n, a, h->program, v)
    if (!h->program->gone[n] && pb_access_can_leave(&h->program->nests[n], &h->program->nests[n].access[a]))
      return false;
  return true;
}

// Whether nest n copies a local tensor into a padded one.
static bool is_pad(const padding_folder* h, int n, pb_pad* p) {
  int from = h->program->value_of[n][0], to = pb_program_stored(h->program, n);
  return pb_pad_takes_local(h->program, n, p) && !h->inside[from] && by_its_own_dims(h, from) && by_its_own_dims(h, to);
}

// Every use of one tensor becomes a use of the other, `shift` further.
static void redirect(padding_folder* h, int from, int to, const int64_t* shift) {
  pb_pad_redirect(h->program, &h->unit->pass, from, to, shift);
  h->inside[from] = true;
  h->padded[to] = true;
}

// Whether the copy out of what now lies in the first padded tensor, `from` before, would be a padded copy of that.
static bool is_second_pad(padding_folder* h, int n, int from, const pb_pad* first, pb_pad* second) {
  pb_nest* copy = &h->program->nests[n];
  pb_access now = copy->access[0];
  for (int r = 0; r < now.rank; ++r) {
    copy->access[0].index[r].cst -= first->shift[r];
    copy->access[0].shape[r] = h->program->values[from].shape[r];
  }
  bool is = is_pad(h, n, second) && second->fill == first->fill;
  copy->access[0] = now;
  return is;
}

// A second padded copy of `from`, which now lies in `to`, with a border that this one covers, is the same tensor
// further in.
static void merge(padding_folder* h, int from, int to, const pb_pad* first) {
  PB_FOR_USES (n, h->program, to) {
    const pb_nest* copy = &h->program->nests[n];
    if (h->program->gone[n] || copy->access_count != 2 || h->program->value_of[n][0] != to ||
        pb_program_stored(h->program, n) == to || copy->reduce != PB_SET)
      continue;
    pb_pad second;
    int64_t between[PB_NEST_RANK];
    int again = pb_program_stored(h->program, n);
    bool fits = is_second_pad(h, n, from, first, &second);
    for (int r = 0; fits && r < copy->access[0].rank; ++r) {
      between[r] = first->shift[r] - second.shift[r];
      fits = between[r] >= 0 && between[r] + h->program->values[again].shape[r] <= h->program->values[to].shape[r];
    }
    if (!fits) continue;
    PB_FOR_WRITERS (k, h->program, again) h->program->gone[k] = true;
    redirect(h, again, to, between);
  }
}

static void add_nest(padding_folder* h, int n) {
  (void)pb_program_add_nest(&h->to, &h->program->nests[n], h->program->value_of[n]);
  h->program->gone[n] = true;
}

// Who reads what is inside, and not its border, may stand in front of the border's place in the program: the border
// comes first then, for what has been read is written no more.
static void add_borders(padding_folder* h, int n) {
  for (int a = 0; a < h->program->nests[n].access_count; ++a) {
    int v = h->program->value_of[n][a];
    if (!h->padded[v] || !pb_program_reads(h->program, n, v) || pb_program_writes(h->program, n, v)) continue;
    PB_FOR_WRITERS (k, h->program, v)
      if (k > n && !h->program->gone[k] && pb_nest_is_fill(&h->program->nests[k])) add_nest(h, k);
  }
}

bool pb_s3_fold_padding(pb_unit* unit, pb_program* p) {
  padding_folder h = {.unit = unit, .program = p};
  h.inside = PB_NEW_ARRAY(&unit->pass, bool, (size_t)p->value_count + 1);
  h.padded = PB_NEW_ARRAY(&unit->pass, bool, (size_t)p->value_count + 1);
  bool changed = false;
  for (int n = 0; n < p->nest_count; ++n) {
    pb_pad pad;
    if (!is_pad(&h, n, &pad)) continue;
    int from = p->value_of[n][0], to = p->value_of[n][1];
    changed = p->gone[n] = true;
    redirect(&h, from, to, pad.shift);
    merge(&h, from, to, &pad);
  }
  if (!changed) return false;
  pb_program_begin_nests(p, &unit->pass, &h.to);
  for (int n = 0; n < p->nest_count; ++n) {
    if (p->gone[n]) continue;
    add_borders(&h, n);
    add_nest(&h, n);
  }
  *p = h.to;
  return true;
}
