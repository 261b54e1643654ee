// A padded tensor that stays one: the fills around a copy, each a kernel of its own so far, and the copy become one
// copy that reads through a box, where that is predicted to be faster.
#include "core/s3/fusion/fusion.h"
#include "core/s3/kernel/flat.h"
#include "core/s3/kernel/pads.h"
#include "core/s3/kernel/stages.h"
#include "core/s3/plan/plan.h"
#include "core/select/select.h"

int64_t pb_fusion_cycles(pb_unit* unit, const pb_program* program, pb_arena* scratch) {
  pb_plan plan;
  bool runs =
      pb_program_given(program) <= unit->chip->arguments && pb_plan_program_again(unit, program, false, scratch, &plan);
  return runs ? plan.cycles : INT64_MAX;
}

// Cycles of the nests as one kernel. false: the chip cannot run them so.
static bool cycles_of(pb_unit* unit, const pb_program* of, const int* nests, int count, int64_t* cycles) {
  pb_arena scratch = {0};
  pb_program program;
  pb_program_view(of, nests, count, &scratch, &program);
  *cycles = pb_fusion_cycles(unit, &program, &scratch);
  pb_arena_free(&scratch);
  return *cycles < INT64_MAX;
}

bool pb_fusion_runs(pb_unit* unit, const pb_program* program, const int* nests, int count) {
  int64_t cycles;
  return cycles_of(unit, program, nests, count, &cycles);
}

bool pb_fusion_fills(pb_unit* unit, const pb_program* program, const int* nests, int count) {
  pb_nest copy;
  pb_flat flat;
  const char* why;
  if (!pb_pad_as_copy(program, nests, count, &copy)) return false;
  pb_match* match = PB_NEW(&unit->pass, pb_match);
  pb_flat_begin(&copy, &flat);
  return pb_select(unit->chip, &flat, &unit->pass, match, &why);
}

static void join_pad(pb_unit* unit, pb_groups* g, int copy) {
  const pb_program* p = g->program;
  int value = pb_program_stored(p, copy), nests[PB_MAX_PROLOGUES], count = 0;
  int64_t apart = 0, one = 0;
  pb_nest padded;
  PB_FOR_WRITERS (n, p, value) {
    if (count == PB_MAX_PROLOGUES || g->first[g->of[n]] != n || g->last[g->of[n]] != n) return;
    nests[count++] = n;
  }
  if (count < 2 || !pb_pad_as_copy(p, nests, count, &padded)) return;
  int group[PB_MAX_PROLOGUES];
  for (int k = 0; k < count; ++k) {
    group[k] = g->of[nests[k]];
    if (!cycles_of(unit, p, &nests[k], 1, &one)) return;
    apart += one;
  }
  if (!cycles_of(unit, p, nests, count, &one) || !pb_fusion_gains(one, apart)) return;
  for (int k = 0; k + 1 < count; ++k) pb_groups_join(g, group[k], group[count - 1]);
}

void pb_fuse_pads(pb_unit* unit, pb_groups* groups) {
  for (int n = 0; n < groups->program->nest_count; ++n)
    if (pb_nest_is_copy(&groups->program->nests[n])) join_pad(unit, groups, n);
}
