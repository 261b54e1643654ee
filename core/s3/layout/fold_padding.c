// Halo: a tensor that is copied into a padded one is made inside the padded one from the start. Requires the program
// function in value form; leaves it in value form: the producer and the fills write disjoint pieces. Exact.
//
//   before   v = conv(...);  p[border] = 0;  p[1 + i] = v[i];  y = window(p)
//   after    p[border] = 0;  p[1 + i] = conv(...)[i];  y = window(p)
//
// Only on chips whose memory is cached: where movers bring tiles to explicit memories, they pad on the way for nothing.
#include "core/s3/kernel/vector.h"
#include "core/s3/kernels.h"

#include <string.h>

typedef struct pad {
  int copy;                    // the nest
  int from, to;                // values
  double fill;                 // of the border
  int64_t shift[PB_NEST_RANK]; // where element 0 of `from` lies in `to`
} pad;

typedef struct padding_folder {
  pb_unit* unit;
  pb_program program;
  bool* dropped; // nests
  bool* gone;    // values
  bool* padded;  // values that another one is made inside of
} padding_folder;

static bool is_fill(const pb_nest* nest) {
  return nest->access_count == 1 && nest->expr_count == 1 && nest->reduce == PB_SET;
}

// Each index of the store is the same index of the load plus a constant, over the whole of what is loaded.
static bool is_shift(const padding_folder* h, int n, pad* p) {
  const pb_nest* copy = &h->program.nests[n];
  if (h->dropped[n] || copy->reduce != PB_SET || copy->access_count != 2 || copy->expr_count != 1 ||
      copy->expr[0].op != PB_OP_LOAD || copy->access[0].boxed)
    return false;
  const pb_access *from = &copy->access[0], *to = &copy->access[1];
  if (from->rank != to->rank || from->type != to->type) return false;
  for (int r = 0; r < to->rank; ++r) {
    int64_t extent = 1;
    if (memcmp(from->index[r].coef, to->index[r].coef, sizeof to->index[r].coef) || from->index[r].cst) return false;
    for (int d = 0; d < copy->dim_count; ++d) {
      if (from->index[r].coef[d] > 1 || from->index[r].coef[d] < 0) return false;
      if (from->index[r].coef[d]) extent *= copy->extent[d];
    }
    if (extent != from->shape[r]) return false;
    p->shift[r] = to->index[r].cst;
  }
  p->copy = n;
  p->from = h->program.value_of[n][0];
  p->to = h->program.value_of[n][1];
  return true;
}

// Elements are told apart by each index alone: nothing walks the tensor as a flat one, an index running past its end.
static bool by_its_own_dims(const padding_folder* h, int v) {
  PB_FOR_USES (n, &h->program, v)
    for (int a = 0; a < h->program.nests[n].access_count; ++a) {
      const pb_access* access = &h->program.nests[n].access[a];
      if (h->dropped[n] || h->program.value_of[n][a] != v) continue;
      for (int r = 0; r < access->rank; ++r)
        if (pb_index_can_leave(&h->program.nests[n], &access->index[r], access->shape[r])) return false;
    }
  return true;
}

// A padded tensor: one shifted copy of a local tensor, and fills with one number.
static bool is_pad(const padding_folder* h, int n, pad* p) {
  if (!is_shift(h, n, p)) return false;
  const pb_value *from = &h->program.values[p->from], *to = &h->program.values[p->to];
  if (from->kind != PB_VALUE_LOCAL || to->kind != PB_VALUE_LOCAL || h->gone[p->from]) return false;
  bool any = false;
  PB_FOR_USES (k, &h->program, p->to) {
    if (k == n || h->dropped[k] || pb_program_stored(&h->program, k) != p->to) continue;
    const pb_nest* nest = &h->program.nests[k];
    if (!is_fill(nest) || (any && nest->expr[0].value != p->fill)) return false;
    p->fill = nest->expr[0].value;
    any = true;
  }
  return any && by_its_own_dims(h, p->from) && by_its_own_dims(h, p->to);
}

// Every use of one tensor becomes a use of the other, `shift` further.
static void redirect(padding_folder* h, int from, int to, const int64_t* shift) {
  PB_FOR_USES (n, &h->program, from)
    for (int a = 0; a < h->program.nests[n].access_count; ++a) {
      if (h->dropped[n] || h->program.value_of[n][a] != from) continue;
      pb_access* access = &h->program.nests[n].access[a];
      memcpy(access->shape, h->program.values[to].shape, sizeof access->shape);
      for (int r = 0; r < access->rank; ++r) access->index[r].cst += shift[r];
      pb_program_set_value(&h->program, &h->unit->pass, n, a, to);
    }
  h->gone[from] = true;
  h->padded[to] = true;
}

// Whether the copy out of what now lies in the first padded tensor would be a padded copy of the tensor inside.
static bool is_second_pad(padding_folder* h, int n, const pad* first, pad* second) {
  pb_nest* copy = &h->program.nests[n];
  pb_access now = copy->access[0];
  for (int r = 0; r < now.rank; ++r) {
    copy->access[0].index[r].cst -= first->shift[r];
    copy->access[0].shape[r] = h->program.values[first->from].shape[r];
  }
  bool is = is_pad(h, n, second) && second->fill == first->fill;
  copy->access[0] = now;
  return is;
}

// A second padded copy of what now lies in `to`, with a border that this one covers, is the same tensor further in.
static void merge(padding_folder* h, const pad* first) {
  PB_FOR_USES (n, &h->program, first->to) {
    const pb_nest* copy = &h->program.nests[n];
    if (h->dropped[n] || copy->access_count != 2 || h->program.value_of[n][0] != first->to ||
        pb_program_stored(&h->program, n) == first->to || copy->reduce != PB_SET)
      continue;
    pad second = {0};
    int64_t between[PB_NEST_RANK];
    bool fits = is_second_pad(h, n, first, &second);
    for (int r = 0; fits && r < copy->access[0].rank; ++r) {
      between[r] = first->shift[r] - second.shift[r];
      fits = between[r] >= 0 &&
             between[r] + h->program.values[second.to].shape[r] <= h->program.values[first->to].shape[r];
    }
    if (!fits) continue;
    PB_FOR_USES (k, &h->program, second.to)
      if (pb_program_stored(&h->program, k) == second.to) h->dropped[k] = true;
    redirect(h, second.to, first->to, between);
  }
}

static void print_nest(padding_folder* h, int n, int* serial, pb_text* text) {
  pb_nest* nest = &h->program.nests[n];
  pb_program_name_accesses(&h->program, n, &h->unit->pass, nest);
  h->dropped[n] = true;
  pb_nest_print(text, nest, 1, serial);
}

// Who reads what is inside, and not its border, may stand in front of the border's place in the program: the border
// comes first then, for what has been read is written no more.
static void print_borders(padding_folder* h, int n, int* serial, pb_text* text) {
  for (int a = 0; a < h->program.nests[n].access_count; ++a) {
    int v = h->program.value_of[n][a];
    if (!h->padded[v] || !pb_program_reads(&h->program, n, v) || pb_program_writes(&h->program, n, v)) continue;
    PB_FOR_USES (k, &h->program, v)
      if (k > n && !h->dropped[k] && pb_program_stored(&h->program, k) == v && is_fill(&h->program.nests[k]))
        print_nest(h, k, serial, text);
  }
}

static void print_program(padding_folder* h, pb_text* text) {
  pb_text_add(text, "module attributes {pb.stage = \"s3\"} {\n");
  pb_func_print_head(text, h->program.func, "", NULL);
  for (int v = 0; v < h->program.value_count; ++v) {
    const pb_value* value = &h->program.values[v];
    if (value->kind != PB_VALUE_LOCAL || h->gone[v]) continue;
    pb_access type = {.type = value->type, .rank = value->rank};
    memcpy(type.shape, value->shape, sizeof type.shape);
    pb_text_add(text, "  %%v%d = memref.alloc() : ", v);
    pb_access_print_type(text, &type);
    pb_text_add(text, "\n");
  }
  int serial = 0;
  for (int n = 0; n < h->program.nest_count; ++n) {
    if (h->dropped[n]) continue;
    print_borders(h, n, &serial, text);
    print_nest(h, n, &serial, text);
  }
  pb_text_add(text, "  return\n}\n}\n");
}

pb_status pb_s3_fold_padding(pb_unit* unit) {
  if (!pb_chip_runs_code(unit->chip)) return PB_OK;
  padding_folder h = {.unit = unit};
  PB_TRY(pb_program_read(pb_module_func(unit->module, "main"), &unit->pass, unit->diag, &h.program));
  h.dropped = PB_NEW_ARRAY(&unit->pass, bool, (size_t)h.program.nest_count + 1);
  h.gone = PB_NEW_ARRAY(&unit->pass, bool, (size_t)h.program.value_count + 1);
  h.padded = PB_NEW_ARRAY(&unit->pass, bool, (size_t)h.program.value_count + 1);
  bool changed = false;
  for (int n = 0; n < h.program.nest_count; ++n) {
    pad p = {0};
    if (!is_pad(&h, n, &p)) continue;
    changed = h.dropped[n] = true;
    redirect(&h, p.from, p.to, p.shift);
    merge(&h, &p);
  }
  if (!changed) return PB_OK;
  pb_text text = {0};
  print_program(&h, &text);
  pb_status status = pb_module_replace(unit, &text, "padding");
  pb_text_free(&text);
  return status;
}
