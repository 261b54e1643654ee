// Selection: for each instruction, unify the bodies, then hand the nest's dims to the instruction's dims so that every
// window's strides can be said in its address template. What is left over becomes loops around the instruction.
#include "core/select/select.h"

#include "core/select/unify.h"

#include <string.h>

static void remove_dim(pb_flat* nest, int d) {
  for (int e = d; e + 1 < nest->dim_count; ++e) nest->extent[e] = nest->extent[e + 1];
  for (int a = 0; a < nest->access_count; ++a)
    for (int e = d; e + 1 < nest->dim_count; ++e) {
      nest->access[a].stride[e] = nest->access[a].stride[e + 1];
      nest->access[a].box_rank[e] = nest->access[a].box_rank[e + 1];
      nest->access[a].box_step[e] = nest->access[a].box_step[e + 1];
      nest->access[a].box_run[e] = nest->access[a].box_run[e + 1];
    }
  if (nest->counted > d + 1) --nest->counted;
  --nest->dim_count;
}

static bool is_counted(const pb_flat* nest, int d) { return nest->counted == d + 1; }

static bool is_tested(const pb_flat* nest, int d) {
  for (int a = 0; a < nest->access_count; ++a)
    if (nest->access[a].boxed && nest->access[a].box_rank[d] >= 0) return true;
  return false;
}

static bool walks_on(const pb_flat_access* access, const pb_flat* nest, int d) {
  return access->stride[d] == access->stride[d + 1] * nest->extent[d + 1];
}

static bool walk_as_one(const pb_flat* nest, int d, int e) {
  for (int a = 0; a < nest->access_count; ++a)
    if (nest->access[a].stride[d] != nest->access[a].stride[e] * nest->extent[e]) return false;
  return true;
}

// Moves dim d in front of dim e, which lies further in.
static void move_dim(pb_flat* nest, int d, int e) {
  for (; d + 1 < e; ++d) {
    PB_SWAP(int64_t, nest->extent[d], nest->extent[d + 1]);
    for (int a = 0; a < nest->access_count; ++a)
      PB_SWAP(int64_t, nest->access[a].stride[d], nest->access[a].stride[d + 1]);
  }
}

// Of what is set element by element: joins the outermost dim that goes on where another one ends, although dims lie
// between them. The columns of an array that are several of a row of lanes are such. false: there is none.
static bool join_apart(pb_flat* nest) {
  if (nest->reduce != PB_SET || nest->counted) return false;
  for (int a = 0; a < nest->access_count; ++a)
    if (nest->access[a].boxed) return false;
  for (int d = nest->kept; d < nest->dim_count; ++d)
    for (int e = d + 2; e < nest->dim_count; ++e) {
      if (!walk_as_one(nest, d, e)) continue;
      move_dim(nest, d, e);
      pb_flat_merge(nest);
      return true;
    }
  return false;
}

void pb_flat_merge(pb_flat* nest) {
  for (int d = nest->dim_count - 1; d >= nest->kept; --d)
    if (nest->extent[d] == 1 && !is_tested(nest, d) && !is_counted(nest, d)) remove_dim(nest, d);
  for (int d = nest->kept; d + 1 < nest->dim_count;) {
    bool joins = !is_counted(nest, d) && !is_counted(nest, d + 1);
    for (int a = 0; a < nest->access_count && joins; ++a) {
      const pb_flat_access* access = &nest->access[a];
      joins = walks_on(access, nest, d);
      if (access->boxed && (access->box_rank[d] >= 0 || access->box_rank[d + 1] >= 0)) joins = false;
    }
    if (!joins) {
      ++d;
      continue;
    }
    nest->extent[d + 1] *= nest->extent[d];
    remove_dim(nest, d);
    if (d > nest->kept) --d;
  }
}

// Joins the innermost dim, a run, to the one around it although a box tests that one: the box is told in elements then.
// false: they are no longer run.
static bool join_tested_run(pb_flat* nest) {
  int d = nest->dim_count - 2;
  bool tested = false;
  if (d < nest->kept || is_counted(nest, d) || is_counted(nest, d + 1)) return false;
  for (int a = 0; a < nest->access_count; ++a) {
    const pb_flat_access* access = &nest->access[a];
    if (!walks_on(access, nest, d)) return false;
    if (!access->boxed || access->box_rank[d] < 0) continue;
    if (access->box_step[d] != 1 || access->box_rank[d + 1] >= 0) return false;
    tested = true;
  }
  for (int a = 0; a < nest->access_count; ++a) {
    pb_flat_access* access = &nest->access[a];
    access->stride[d] = access->stride[d + 1];
    access->box_run[d] = nest->extent[d + 1];
  }
  nest->extent[d] *= nest->extent[d + 1];
  --nest->dim_count;
  return tested;
}

// Splits dim d into (outer, inner): d keeps the outer part, the new dim right behind it walks the inner `extent`.
static bool flat_split(pb_flat* nest, int d, int64_t extent) {
  if (nest->dim_count == PB_FLAT_DIMS || is_counted(nest, d)) return false;
  if (nest->counted > d + 1) ++nest->counted;
  for (int a = 0; a < nest->access_count; ++a)
    if (nest->access[a].boxed && nest->access[a].box_rank[d] >= 0 && nest->access[a].box_run[d] > 1) return false;
  for (int e = nest->dim_count; e > d + 1; --e) nest->extent[e] = nest->extent[e - 1];
  nest->extent[d + 1] = extent;
  nest->extent[d] /= extent;
  for (int a = 0; a < nest->access_count; ++a) {
    pb_flat_access* access = &nest->access[a];
    for (int e = nest->dim_count; e > d; --e) {
      access->stride[e] = access->stride[e - 1];
      access->box_rank[e] = access->box_rank[e - 1];
      access->box_step[e] = access->box_step[e - 1];
      access->box_run[e] = access->box_run[e - 1];
    }
    access->stride[d] *= extent;
    access->box_step[d] *= extent;
  }
  ++nest->dim_count;
  return true;
}

typedef struct search {
  const pb_insn* insn;
  const pb_chip* chip;
  int counted; // the dim whose iteration the instruction takes as a number; -1: none
  pb_binding binding;
  int order[PB_MAX_INSN_DIMS]; // lanes first: what is left of a dim that was split for them walks whole rows
  pb_match best;
  bool found;
} search;

// Its binding is cleared where the instruction is unified, and `best` holds something where one was found: both are too
// large to be cleared for each instruction that a nest is compared with.
static void begin(search* s, const pb_chip* chip, const pb_insn* insn) {
  s->chip = chip;
  s->insn = insn;
  s->found = false;
}

// Elements between neighbours along dim k of a register.
static int64_t packed_stride(const pb_insn* insn, const pb_operand* window, int k) {
  int64_t elements = 1;
  while (++k < window->rank) elements *= insn->dims[window->dims[k]].max;
  return elements;
}

static bool is_lane(const pb_insn* insn, int dim) {
  for (int o = 0; o < insn->operand_count; ++o)
    for (int k = 0; k < insn->operands[o].rank; ++k)
      if (insn->operands[o].memory >= 0 && insn->operands[o].dims[k] == dim &&
          (insn->operands[o].strides[k].kind == PB_STRIDE_ELEM ||
           (insn->operands[o].strides[k].kind == PB_STRIDE_PACKED && packed_stride(insn, &insn->operands[o], k) == 1)))
        return true;
  return false;
}

static void order_dims(search* s) {
  int count = 0;
  for (int others = 0; others < 2; ++others)
    for (int t = 0; t < s->insn->dim_count; ++t)
      if (is_lane(s->insn, t) != others) s->order[count++] = t;
}

// Bytes between neighbours along a dim; of codes of 4 bits that is a whole number where none begins inside a byte.
static int64_t bytes_along(const pb_flat_access* access, int d) {
  return access->type == PB_I1 ? access->stride[d] : access->stride[d] * pb_type_bits(access->type) / 8;
}

static bool in_a_byte(const pb_flat_access* access, int d) {
  return access->type == PB_I4 && access->stride[d] % 2 != 0;
}

// Can instruction dim t walk along dim d of the nest, for every window?
static bool dim_fits(const search* s, const pb_flat* nest, int t, int d) {
  if ((s->counted == t) != is_counted(nest, d)) return false;
  for (int o = 0; o < s->insn->operand_count; ++o) {
    if (s->binding.access_of[o] < 0) continue;
    const pb_operand* window = &s->insn->operands[o];
    const pb_flat_access* access = &nest->access[s->binding.access_of[o]];
    int64_t bytes = bytes_along(access, d);
    int k = pb_operand_index(window, t);
    if (k < 0) {
      if (access->stride[d] != 0) return false;
      continue;
    }
    // a dim that reduces in the nest must reduce in the instruction: it may not walk the destination on the spot
    if (o == s->insn->dest && access->stride[d] == 0 && nest->extent[d] > 1) return false;
    if (access->boxed && access->box_rank[d] >= 0 && (window->box_lo[k] < 0 || access->box_step[d] != 1)) return false;
    switch (window->strides[k].kind) {
    case PB_STRIDE_NONE:
      if (access->stride[d] != 0) return false;
      break;
    case PB_STRIDE_ELEM:
      if (access->stride[d] != 1 && !access->splat) return false;
      break;
    case PB_STRIDE_PACKED:
      if (access->stride[d] != packed_stride(s->insn, window, k)) return false;
      break;
    case PB_STRIDE_ROW:
    case PB_STRIDE_NUMBER:
      if (in_a_byte(access, d) || bytes != pb_fixed_stride(s->chip, window, k)) return false;
      break;
    case PB_STRIDE_FIELD: {
      const pb_field* field = &s->insn->fields[window->strides[k].field];
      if (in_a_byte(access, d) || bytes % window->unit || !pb_field_holds(field, bytes / window->unit)) return false;
    }
    }
  }
  return true;
}

// Some dim of the instruction walks the same bounded index of the access.
static bool box_is_said(const search* s, const pb_flat_access* access, const pb_operand* window, int d,
                        const int* dim_of) {
  for (int t = 0; t < s->insn->dim_count; ++t) {
    int k = pb_operand_index(window, t);
    if (k >= 0 && dim_of[t] >= 0 && window->box_lo[k] >= 0 && access->box_rank[dim_of[t]] == access->box_rank[d])
      return true;
  }
  return false;
}

// Loops left around the instruction move each window's base: it must stay on the window's units, and a box that is
// tested along them must still be said in every command.
static bool leftover_fits(const search* s, const pb_flat* nest, int d, const int* dim_of) {
  if (is_counted(nest, d)) return false;
  for (int o = 0; o < s->insn->operand_count; ++o) {
    if (s->binding.access_of[o] < 0) continue;
    const pb_operand* window = &s->insn->operands[o];
    const pb_flat_access* access = &nest->access[s->binding.access_of[o]];
    if (in_a_byte(access, d) || bytes_along(access, d) % pb_base_unit(s->insn, window)) return false;
    if (access->boxed && access->box_rank[d] >= 0 &&
        (access->box_run[d] > 1 || !box_is_said(s, access, window, d, dim_of)))
      return false;
  }
  return true;
}

// A box is said dim by dim: two dims of the instruction that move one bounded index could not be told apart.
static bool boxes_fit(const search* s, const pb_flat* nest, const int* dim_of) {
  for (int a = 0; a < nest->access_count; ++a)
    for (int t = 0; nest->access[a].boxed && t < s->insn->dim_count; ++t)
      for (int u = 0; u < t; ++u)
        if (dim_of[t] >= 0 && dim_of[u] >= 0 && nest->access[a].box_rank[dim_of[t]] >= 0 &&
            nest->access[a].box_rank[dim_of[t]] == nest->access[a].box_rank[dim_of[u]])
          return false;
  return true;
}

static bool bases_fit(const search* s, const pb_flat* nest) {
  for (int o = 0; o < s->insn->operand_count; ++o) {
    if (s->binding.access_of[o] < 0) continue;
    const pb_flat_access* access = &nest->access[s->binding.access_of[o]];
    if (access->aligned_rows) continue;
    int64_t unit = pb_base_unit(s->insn, &s->insn->operands[o]);
    if (unit > pb_bytes_of(access->type, 1) && (!access->base || access->base % unit)) return false;
  }
  return true;
}

// The table whose rows are gathered: its rows lie as far apart as a command can say.
static bool rows_fit(const search* s, const pb_flat* nest) {
  int o = pb_insn_gathers(s->insn);
  if (o < 0 || s->binding.access_of[o] < 0) return o < 0;
  const pb_operand* window = &s->insn->operands[o];
  const pb_flat_access* access = &nest->access[s->binding.access_of[o]];
  int64_t bytes = access->row * pb_type_bits(access->type) / 8;
  if (window->strides[0].kind != PB_STRIDE_FIELD) return bytes == pb_fixed_stride(s->chip, window, 0);
  return bytes % window->unit == 0 && pb_field_holds(&s->insn->fields[window->strides[0].field], bytes / window->unit);
}

// The first loop of the nest that no dim of the instruction walks and that cannot stay around it, in words.
static const char* strides_misfit(search* s, const pb_flat* nest, pb_arena* arena) {
  int none[PB_MAX_INSN_DIMS];
  for (int t = 0; t < PB_MAX_INSN_DIMS; ++t) none[t] = -1;
  for (int d = nest->kept; d < nest->dim_count; ++d) {
    bool fits = leftover_fits(s, nest, d, none);
    for (int t = 0; t < s->insn->dim_count && !fits; ++t) fits = !s->insn->dims[t].table && dim_fits(s, nest, t, d);
    if (fits) continue;
    const char* text =
        pb_printf(arena, "no dim of %s walks the loop of %lld, which moves", s->insn->name, (long long)nest->extent[d]);
    const char* join = "";
    for (int o = 0; o < s->insn->operand_count; ++o) {
      if (s->binding.access_of[o] < 0) continue;
      const pb_flat_access* a = &nest->access[s->binding.access_of[o]];
      text = pb_printf(arena, "%s%s '%s' by %lld bytes", text, join, s->insn->operands[o].name,
                       (long long)bytes_along(a, d));
      join = ",";
    }
    return text;
  }
  for (int t = 0; t < s->insn->dim_count; ++t) {
    bool fits = s->insn->dims[t].min <= 1 || s->insn->dims[t].table;
    for (int d = nest->kept; d < nest->dim_count && !fits; ++d)
      fits = nest->extent[d] >= s->insn->dims[t].min && dim_fits(s, nest, t, d);
    if (!fits)
      return pb_printf(arena, "dim '%s' of %s is at least %d, and no loop here walks as it does", s->insn->dims[t].name,
                       s->insn->name, s->insn->dims[t].min);
  }
  return NULL;
}

// The number that a field must say, for those that several strides or extents share. false: it must say another.
static bool agrees(const pb_insn* insn, int field, int64_t number, int64_t* numbers, uint32_t* said) {
  if (field < 0 || !insn->fields[field].shared) return true;
  if (*said >> field & 1) return numbers[field] == number;
  numbers[field] = number;
  *said |= 1u << field;
  return true;
}

// Strides and extents that share a field are one number. What walks one element has any stride.
static bool shared_agree(const search* s, const pb_flat* nest, const int* dim_of, const int64_t* extents) {
  int64_t numbers[32];
  uint32_t said = 0;
  bool agree = true;
  for (int t = 0; t < s->insn->dim_count; ++t)
    agree = agree && agrees(s->insn, s->insn->dims[t].field, extents[t], numbers, &said);
  for (int o = 0; o < s->insn->operand_count; ++o) {
    const pb_operand* window = &s->insn->operands[o];
    if (s->binding.access_of[o] < 0) continue;
    const pb_flat_access* access = &nest->access[s->binding.access_of[o]];
    for (int k = 0; k < window->rank; ++k) {
      int t = window->dims[k];
      if (window->strides[k].kind != PB_STRIDE_FIELD || dim_of[t] < 0 || extents[t] < 2) continue;
      int64_t units = bytes_along(access, dim_of[t]) / window->unit;
      agree = agree && agrees(s->insn, window->strides[k].field, units, numbers, &said);
    }
  }
  return agree;
}

static void consider(search* s, const pb_flat* nest, const int* dim_of) {
  if (!boxes_fit(s, nest, dim_of)) return;
  pb_match match; // not set to 0: a nest has room for many accesses, and this one few
  memset(&match, 0, offsetof(pb_match, nest));
  match.insn = s->insn;
  bool used[PB_FLAT_DIMS] = {0};
  int64_t extents[PB_MAX_INSN_DIMS];
  for (int t = 0; t < s->insn->dim_count; ++t) {
    match.dim_of[t] = dim_of[t];
    extents[t] = dim_of[t] < 0 ? 1 : nest->extent[dim_of[t]];
    if (dim_of[t] >= 0) used[dim_of[t]] = true;
  }
  if (!shared_agree(s, nest, dim_of, extents)) return;
  match.cycles = pb_cycles(s->insn, extents);
  for (int d = 0; d < nest->dim_count; ++d) {
    if (used[d]) continue;
    if (!leftover_fits(s, nest, d, dim_of)) return;
    match.loops[match.loop_count++] = d;
    match.cycles *= nest->extent[d];
  }
  memcpy(match.access_of, s->binding.access_of, sizeof match.access_of);
  memcpy(match.imm, s->binding.imm, sizeof match.imm);
  match.fills = s->binding.fills;
  match.fill = s->binding.fill;
  // Fewer, longer commands win among equals.
  bool better = !s->found || match.cycles < s->best.cycles ||
                (match.cycles == s->best.cycles && match.loop_count < s->best.loop_count);
  if (better) {
    pb_flat_copy(&match.nest, nest);
    pb_match_copy(&s->best, &match);
  }
  s->found = true;
}

static void assign(search* s, const pb_flat* nest, int at, int* dim_of);

static void shift_behind(const search* s, int at, int* dim_of, int d, int by) {
  for (int u = 0; u < at; ++u)
    if (dim_of[s->order[u]] > d) dim_of[s->order[u]] += by;
}

static void try_dim(search* s, const pb_flat* nest, int at, int d, int* dim_of) {
  int t = s->order[at];
  const pb_dim* dim = &s->insn->dims[t];
  pb_flat split;
  const pb_flat* use = nest;
  int taken = d;
  if (nest->extent[d] > dim->max) {
    int64_t inner = dim->max;
    while (inner > 1 && nest->extent[d] % inner) --inner;
    if (inner < dim->min) return;
    if (inner == 1 && !is_tested(nest, d)) return; // one row at a time: to say of each how much of it is there
    pb_flat_copy(&split, nest);
    if (!flat_split(&split, d, inner)) return;
    shift_behind(s, at, dim_of, d, 1);
    use = &split;
    taken = d + 1;
  } else if (nest->extent[d] < dim->min) {
    return;
  }
  if (dim_fits(s, use, t, taken)) {
    dim_of[t] = taken;
    assign(s, use, at + 1, dim_of);
  }
  if (use == &split) shift_behind(s, at, dim_of, d, -1);
}

static void assign(search* s, const pb_flat* nest, int at, int* dim_of) {
  if (at == s->insn->dim_count) {
    consider(s, nest, dim_of);
    return;
  }
  int t = s->order[at];
  if (s->insn->dims[t].table) {
    dim_of[t] = -1;
    assign(s, nest, at + 1, dim_of);
    return;
  }
  for (int d = nest->kept; d < nest->dim_count; ++d) {
    bool taken = false;
    for (int u = 0; u < at; ++u) taken |= dim_of[s->order[u]] == d;
    if (!taken) try_dim(s, nest, at, d, dim_of);
  }
  if (s->insn->dims[t].min <= 1) {
    dim_of[t] = -1;
    assign(s, nest, at + 1, dim_of);
  }
}

// Every window must stand for an access, every immediate must have a value (the accumulate flag has its own).
static bool bound_whole(const search* s) {
  for (int o = 0; o < s->insn->operand_count; ++o) {
    const pb_operand* operand = &s->insn->operands[o];
    if (operand->memory >= 0 ? s->binding.access_of[o] < 0 && !s->binding.fills
                             : !s->binding.imm_set[o] && o != s->insn->acc_flag)
      return false;
  }
  return true;
}

// Whether a box of the mover tests neighbours.
static bool tests_neighbours(const pb_insn* insn) {
  if (!insn->mover) return false;
  const pb_operand* from = &insn->operands[insn->expr[0].operand];
  for (int k = 0; from->has_box && k < from->rank; ++k)
    if (from->box_lo[k] >= 0 && from->strides[k].kind == PB_STRIDE_ELEM) return true;
  return false;
}

static void search_dims(search* s, const pb_flat* merged) {
  int dim_of[PB_MAX_INSN_DIMS];
  order_dims(s);
  s->counted = pb_insn_two_of_four(s->insn);
  if (!bases_fit(s, merged) || !rows_fit(s, merged)) return;
  assign(s, merged, 0, dim_of);
  if (!tests_neighbours(s->insn)) return;
  pb_flat joined;
  pb_flat_copy(&joined, merged);
  if (join_tested_run(&joined)) assign(s, &joined, 0, dim_of);
}

// Why that instruction, which computes the nest, cannot be taken. Its search is done again: to write a text whenever
// one instruction of several does not fit took longer than all searches.
static const char* why_misfit(search* s, const pb_chip* chip, const pb_insn* insn, const pb_flat* merged,
                              pb_arena* arena) {
  begin(s, chip, insn);
  (void)(pb__unify(insn, merged, &s->binding) && bound_whole(s));
  search_dims(s, merged);
  const char* misfit = strides_misfit(s, merged, arena);
  const char* closest =
      pb_printf(arena, "%s computes this, but its address template cannot walk these strides", insn->name);
  return misfit ? pb_printf(arena, "%s\n%s", closest, misfit) : closest;
}

static const char* why_none(const pb_chip* chip, const pb_flat* merged, pb_arena* arena) {
  const char *closest = "no instruction computes this expression on operands in these memories",
             *misfit = pb__why(chip, merged, arena);
  return misfit ? pb_printf(arena, "%s\n%s", closest, misfit) : closest;
}

static bool select_merged(const pb_chip* chip, const pb_flat* merged, pb_arena* arena, pb_match* match,
                          const char** why) {
  const pb_insn* nearest = NULL;
  bool found = false;
  search s;
  for (int i = 0; i < chip->insn_count; ++i) {
    if (!chip->insns[i].operand_count) continue;                                            // writes state alone
    if (merged->reduce != PB_SET && !merged->onto && chip->insns[i].acc_flag < 0) continue; // cannot set
    begin(&s, chip, &chip->insns[i]);
    if (!pb__unify(s.insn, merged, &s.binding) || !bound_whole(&s)) continue;
    if (merged->unfilled && s.binding.fills) continue;
    nearest = s.insn;
    search_dims(&s, merged);
    if (!s.found) continue;
    if (found && s.best.cycles == match->cycles && s.best.loop_count == match->loop_count && match->twin_count < 4) {
      match->twins[match->twin_count++] = s.insn;
    } else if (!found || s.best.cycles < match->cycles) {
      pb_match_copy(match, &s.best);
      match->twins[match->twin_count++] = s.insn;
      found = true;
    }
  }
  if (!found) *why = nearest ? why_misfit(&s, chip, nearest, merged, arena) : why_none(chip, merged, arena);
  return found;
}

bool pb_select(const pb_chip* chip, const pb_flat* nest, pb_arena* arena, pb_match* match, const char** why) {
  pb_flat merged;
  pb_flat_copy(&merged, nest);
  pb_flat_merge(&merged);
  bool found = select_merged(chip, &merged, arena, match, why);
  while (!found && join_apart(&merged)) found = select_merged(chip, &merged, arena, match, why);
  return found;
}

bool pb_select_knows(const pb_chip* chip, const pb_flat* nest) {
  search s;
  for (int i = 0; i < chip->insn_count; ++i) {
    begin(&s, chip, &chip->insns[i]);
    if (s.insn->operand_count && pb__unify(s.insn, nest, &s.binding) && bound_whole(&s)) return true;
  }
  return false;
}
