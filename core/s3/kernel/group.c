// What a kernel function of one stage, or one stage of several, computes, read off its nests: main nest, what feeds its
// input, epilogues.
#include "core/s3/kernel/group.h"

#include "core/s3/kernel/pads.h"
#include "core/s3/kernel/taps.h"
#include "core/s3/small_codes.h"
#include "core/s3/stored_form.h"
#include "core/s3/transfer_paths.h"

#include <string.h>

static pb_status read_prologues(pb_group* g, pb_diag* diag) {
  const pb_program* p = g->program;
  int value = p->value_of[g->main_index][g->x];
  if (p->values[value].kind != PB_VALUE_LOCAL) return PB_OK;
  int prologues[PB_MAX_PROLOGUES], count = 0;
  for (int n = 0; n < g->main_index; ++n) {
    if (!pb_program_writes(p, n, value) || !pb_pad_part(&p->nests[n])) continue;
    if (count == PB_MAX_PROLOGUES)
      return pb_unsupported(diag, (pb_place){.what = g->main.name}, 4004, NULL,
                            "its input is made by more than %d nests", PB_MAX_PROLOGUES);
    prologues[count++] = n;
  }
  if (count == 0 || pb_pad_fold(p, prologues, count, &g->main.access[g->x])) return PB_OK;
  g->prologue_count = count;
  memcpy(g->prologues, prologues, sizeof prologues);
  return PB_OK;
}

// The nest that makes the value of the parts of a stored form; NULL: it is no such value.
static const pb_nest* expansion_of(const pb_program* p, int value) {
  if (p->values[value].kind != PB_VALUE_LOCAL) return p->values[value].expands;
  PB_FOR_USES (n, p, value)
    if (pb_program_writes(p, n, value) && pb_nest_expands(&p->nests[n])) return &p->nests[n];
  return NULL;
}

static pb_status read_contraction(pb_group* g, const pb_chip* chip, pb_diag* diag) {
  bool weight[PB_NEST_ACCESSES] = {0};
  const int* value_of = g->program->value_of[g->main_index];
  for (int a = 0; a < g->main.access_count; ++a)
    weight[a] = g->program->values[value_of[a]].kind == PB_VALUE_CONST || expansion_of(g->program, value_of[a]);
  if (!pb_nest_contraction_dims(&g->main, weight, &g->roles)) return PB_OK;
  g->contraction = pb_nest_contraction(chip, &g->main, &g->roles, &g->insn_roles);
  g->x = g->roles.x;
  g->expands = expansion_of(g->program, value_of[g->roles.w]);
  if (g->expands) g->main.access[g->roles.w].memref = g->expands->access[0].memref;
  if (g->contraction) {
    g->contraction = pb_small_codes_contraction(chip, &g->main, &g->roles, g->contraction, &g->insn_roles);
    return PB_OK;
  }
  pb_type y = g->main.access[g->roles.y].type;
  return pb_chip_lacks_product(chip, diag, g->main.name, &g->roles, y, weight[g->roles.w]);
}

static bool is_neutral(const pb_nest* init, const pb_nest* main) {
  return init->expr_count == 1 && init->expr[0].op == PB_OP_CONST &&
         init->expr[0].value == pb_reduce_neutral(main->reduce, main->access[main->access_count - 1].type);
}

// Whether the result lies on the chip already, borders and all (core/s3/reside).
static bool stays(const pb_group* g) {
  return g->program->values[pb_program_stored(g->program, pb_around_last(&g->around))].space != NULL;
}

// What stands around the main nest.
static pb_status read_around(pb_group* g, pb_arena* arena, pb_diag* diag) {
  const pb_program* p = g->program;
  const char* why = NULL;
  g->around = (pb_around){.program = p, .main = &g->main, .main_index = g->main_index};
  for (int n = 0; n < p->nest_count && !why; ++n) {
    bool feeds =
        n < g->main_index && g->reduces && !pb_program_same_place(p, n, g->main_index); // read_prologues has it
    if (n == g->main_index || feeds) continue;
    why = pb_around_add(&g->around, n, arena);
  }
  g->around.main = NULL; // whoever called copies *g
  if (!why && g->around.fill_count && !stays(g)) why = "elements beside those of its result are set";
  if (!why && g->around.init && !is_neutral(g->around.init, &g->main))
    why = "its sums do not begin with the operation's neutral value";
  if (!why) return PB_OK;
  return pb_unsupported(diag, (pb_place){.what = g->main.name}, 4007, NULL, "%s", why);
}

static pb_status read_reduction(pb_group* g, const pb_chip* chip, pb_arena* arena, pb_diag* diag) {
  g->reduces = true;
  PB_TRY(read_contraction(g, chip, diag));
  PB_TRY(read_prologues(g, diag));
  return read_around(g, arena, diag);
}

// The nest that the others of a kernel stand around: the one that reduces, else the first that reads anything.
static int main_of(const pb_program* program) {
  for (int n = 0; n < program->nest_count; ++n)
    if (program->nests[n].reduce != PB_SET) return n;
  for (int n = 0; n < program->nest_count; ++n)
    if (program->nests[n].access_count > 1) return n;
  return program->nest_count - 1;
}

// Cores compute anything; what is in no form for their vectors runs as plain loops.
static void read_registers(pb_arena* arena, pb_group* g) {
  g->plain = "it has no loops";
  if (g->main_index < 0) return;
  g->registers = PB_NEW(arena, pb_vkernel);
  if (!pb_vkernel_read(g->program, g->main_index, g->memo, &g->around, g->registers)) {
    g->plain = g->registers->why;
    return;
  }
  g->plain = NULL;
  pb_nest_copy(&g->main, g->registers->main.nest);
  g->contraction = g->registers->insn.insn;
  g->reduces = g->main.reduce != PB_SET;
}

pb_status pb_group_read(const pb_program* program, const pb_chip* chip, pb_arena* arena, pb_diag* diag, pb_group* g) {
  *g = (pb_group){.program = program, .lanes = pb_chip_lanes(chip), .memo = PB_NEW(arena, pb_select_memo)};
  *g->memo = (pb_select_memo){.chip = chip, .arena = arena};
  g->main_index = main_of(program);
  if (pb_chip_runs_code(chip)) {
    read_registers(arena, g);
    return PB_OK;
  }
  if (program->nest_count == 0) return pb_unsupported(diag, (pb_place){0}, 4006, NULL, "an empty kernel");
  g->main = program->nests[g->main_index];
  if (g->main.reduce != PB_SET) return read_reduction(g, chip, arena, diag);
  int all[PB_MAX_PROLOGUES], count = program->nest_count;
  for (int n = 0; n < count && n < PB_MAX_PROLOGUES; ++n) all[n] = n;
  if (count > 1 && count <= PB_MAX_PROLOGUES && pb_pad_as_copy(program, all, count, &g->main)) return PB_OK;
  return read_around(g, arena, diag);
}
