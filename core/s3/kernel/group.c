// What a kernel function of one stage, or one stage of several, computes, read off its nests: main nest, what feeds its
// input, epilogues.
#include "core/s3/kernel/group.h"

#include "core/s3/kernel/contraction_dims.h"
#include "core/s3/kernel/pads.h"
#include "core/s3/kernel/vector_kernel.h"
#include "core/s3/small_codes.h"
#include "core/s3/stored_form.h"
#include "core/s3/transfer_paths.h"

#include <string.h>

// Whether the nest makes a part of x where that is a padded tensor.
static bool feeds_x(const pb_group* g, int n) {
  int x = g->program->value_of[g->main_index][g->x];
  return g->reduces && n < g->main_index && pb_program_is_local(g->program, x) && pb_program_writes(g->program, n, x) &&
         pb_pad_part(&g->program->nests[n]);
}

static const char* read_prologues(pb_group* g) {
  for (int n = 0; n < g->main_index; ++n) {
    if (!feeds_x(g, n)) continue;
    if (g->prologue_count == PB_MAX_PROLOGUES) return "its input is made by too many nests";
    g->prologues[g->prologue_count++] = n;
  }
  if (g->prologue_count && pb_pad_fold(g->program, g->prologues, g->prologue_count, &g->main.access[g->x]))
    g->prologue_count = 0;
  return NULL;
}

// Cores read either factor alike, so the second is w; but their instructions take w with its sign and x perhaps
// without.
static bool find_roles_of_code(pb_group* g) {
  bool swapped[PB_NEST_ACCESSES] = {0};
  pb_contraction_dims other;
  if (!pb_nest_contraction_dims(&g->main, NULL, &g->roles)) return false;
  swapped[g->roles.x] = true;
  if (!g->roles.x_unsigned && pb_nest_contraction_dims(&g->main, swapped, &other) && other.x_unsigned) g->roles = other;
  return true;
}

// Of its factors w is the constant one.
static bool find_roles(pb_group* g) {
  bool weight[PB_NEST_ACCESSES] = {0};
  pb_program_find_weights(g->program, g->main_index, &g->main, weight);
  return pb_nest_contraction_dims(&g->main, weight, &g->roles);
}

static void take_factors(pb_group* g) {
  const pb_value* w = &g->program->values[g->program->value_of[g->main_index][g->roles.w]];
  g->x = g->roles.x;
  g->expands = w->expands;
  if (g->expands) g->main.access[g->roles.w].memref = g->expands->access[0].memref;
}

static void read_contraction(pb_group* g, const pb_chip* chip) {
  if (!find_roles(g)) return;
  take_factors(g);
  g->contraction = pb_nest_contraction(chip, g->lanes, &g->main, &g->roles, &g->insn_roles);
  if (g->contraction)
    g->contraction = pb_small_codes_contraction(chip, &g->main, &g->roles, g->contraction, &g->insn_roles);
}

// Whether the result lies on the chip already, borders and all (core/s3/reside).
static bool stays(const pb_group* g) {
  return g->program->values[pb_program_stored(g->program, pb_around_last(&g->around))].space != NULL;
}

// What stands around the main nest.
static const char* read_around(pb_group* g, pb_arena* arena, bool linear) {
  const pb_program* p = g->program;
  const char* why = NULL;
  g->around = (pb_around){.program = p, .main = &g->main, .main_index = g->main_index, .linear = linear};
  for (int n = 0; n < p->nest_count && !why; ++n)
    if (n != g->main_index && (linear || !feeds_x(g, n))) why = pb_around_add(&g->around, n, arena);
  g->around.main = NULL; // whoever called copies *g
  return why;
}

static const char* check_around(const pb_group* g) {
  if (g->around.fill_count && !stays(g))
    return "elements beside those of its result are set, which one kernel does not do";
  if (g->around.init && !pb_around_begins_neutral(g->around.init, &g->main))
    return "its sums do not begin with the operation's neutral value";
  return NULL;
}

// The nest that the others of a kernel stand around: the one that reduces, else the first that reads anything.
static int main_of(const pb_program* program) {
  for (int n = 0; n < program->nest_count; ++n)
    if (program->nests[n].reduce != PB_SET) return n;
  for (int n = 0; n < program->nest_count; ++n)
    if (program->nests[n].access_count > 1) return n;
  return program->nest_count - 1;
}

// Whether all of the kernel is one padded tensor, which instructions copy through a box.
static bool copies_padded(pb_group* g) {
  int all[PB_MAX_PROLOGUES], count = g->program->nest_count;
  if (g->reduces || count < 2 || count > PB_MAX_PROLOGUES) return false;
  for (int n = 0; n < count; ++n) all[n] = n;
  return pb_pad_as_copy(g->program, all, count, &g->main);
}

// Its nests, for instructions. NULL, or why it is no kernel that the chip runs.
static const char* read_nests(pb_group* g, const pb_chip* chip, pb_arena* arena) {
  const char* why = NULL;
  pb_nest_copy(&g->main, &g->program->nests[g->main_index]);
  if (copies_padded(g)) return NULL;
  if (g->reduces) read_contraction(g, chip);
  if (g->reduces) why = read_prologues(g);
  if (!why) why = read_around(g, arena, false);
  return why ? why : check_around(g);
}

// The same for code, whose lanes say which instruction multiplies; what it pads is a tensor (pb_program_fold_pads).
// `joins`: two dims may count as one because they are the lanes of a core.
static const char* read_for_code(pb_group* g, pb_vkernel* k, pb_arena* arena, bool joins) {
  pb_nest_copy(&g->main, &g->program->nests[g->main_index]);
  const char* why = pb_vkernel_begin(g, k, joins);
  if (why) return why;
  if (g->reduces && find_roles_of_code(g)) take_factors(g);
  why = read_around(g, arena, true);
  return why ? why : pb_vkernel_read(g, k);
}

// Where other dims than the joined ones are the lanes, or none, or what stands around has them apart, it is read
// without that. Cores compute anything: what is in no form for their vectors runs as plain loops.
static void read_code(pb_group* g, pb_arena* arena) {
  pb_vkernel* k = g->registers = PB_NEW(arena, pb_vkernel);
  g->plain = g->program->nest_count ? read_for_code(g, k, arena, true) : "it has no loops";
  if (k->run_dim >= 0 && g->program->nest_count && (g->plain || k->lane_dim != k->run_dim))
    g->plain = read_for_code(g, k, arena, false);
}

pb_status pb_group_read(const pb_program* program, const pb_chip* chip, pb_arena* arena, pb_diag* diag, pb_group* g) {
  pb_program* own = PB_NEW(arena, pb_program);
  *own = *program;
  pb_program_fold_expansions(own, arena);
  memset(g, 0, offsetof(pb_group, main)); // a nest is large
  pb_nest_begin(&g->main, NULL, NULL, 0);
  g->program = own;
  g->lanes = pb_chip_lanes(chip);
  g->values_in = -1;
  g->memo = PB_NEW(arena, pb_select_memo);
  *g->memo = (pb_select_memo){.chip = chip, .arena = arena};
  g->main_index = main_of(own);
  g->reduces = own->nest_count && own->nests[g->main_index].reduce != PB_SET;
  if (pb_chip_runs_code(chip)) {
    read_code(g, arena);
    return PB_OK;
  }
  if (own->nest_count == 0) return pb_unsupported(diag, (pb_place){0}, 4006, NULL, "an empty kernel");
  const char* why = read_nests(g, chip, arena);
  if (g->roles.y && !g->contraction)
    return pb_chip_lacks_product(chip, diag, g->main.name, &g->roles,
                                 pb_program_is_const(g->program, g->main_index, g->roles.w));
  return why ? pb_unsupported(diag, (pb_place){.what = g->main.name}, 4007, NULL, "%s", why) : PB_OK;
}
