#include "core/s3/plan/plan_memo.h"

#include "core/base/table.h"
#include "core/poly/slice.h"
#include "core/s3/constant_homes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct entry {
  bool found;
  pb_plan plan;
  pb_stage_plan stages;
} entry;

typedef struct pb_plan_memo {
  pb_table numbers; // of entries, by what was planned
  pb_table alike;   // the first of those that differ in numbers alone, whatever their classes
  entry* entries;
  size_t count, capacity;
  pb_proofs proofs;
} pb_plan_memo;

// Numbers that a search could tell apart are those that change what a body computes, and those that fit no field.
static double class_of(double number) {
  if (number == 0 || number == 1 || !isfinite(number)) return number;
  return number >= INT8_MIN && number <= INT8_MAX ? 2 : 3;
}

static void without_numbers(pb_nest* nest, bool classes) {
  for (int e = 0; e < nest->expr_count; ++e) {
    pb_expr_node* node = &nest->expr[e];
    if (node->op != PB_OP_CONST) continue;
    node->value = classes ? class_of(node->value) : 2;
    node->integer = (int64_t)(isfinite(node->value) ? node->value : 0);
  }
  for (int a = 0; a < nest->access_count; ++a)
    if (nest->access[a].boxed) nest->access[a].fill = classes ? class_of(nest->access[a].fill) : 2;
}

// Which constants are kept out of memories, and which are of few codes: from where one comes, and in how many bytes,
// decides how long that takes.
static void print_homes(const pb_program* p, pb_text* text) {
  for (int n = 0; n < p->nest_count; ++n)
    for (int a = 0; a < p->nests[n].access_count; ++a) {
      const pb_value* value = &p->values[p->value_of[n][a]];
      if (value->kind != PB_VALUE_CONST) continue;
      pb_constant_facts facts = pb_constant_facts_of(p->nests[n].access[a].memref);
      if (facts.kept_out || facts.codes) pb_text_add(text, "%d.%d: %u %u\n", n, a, facts.kept_out, facts.codes);
    }
}

// What is planned, as text: nests without names and numbers but for their classes, whether values stay inside or are
// constant.
static void print_key(const pb_program* p, char kind, bool classes, pb_text* text) {
  pb_arena scratch = {0};
  pb_program bare = *p;
  bare.nests = pb_alloc_raw(&scratch, (size_t)p->nest_count * sizeof *bare.nests);
  bare.values = PB_NEW_ARRAY(&scratch, pb_value, (size_t)p->value_count + 1);
  for (int n = 0; n < p->nest_count; ++n) {
    pb_nest_copy(&bare.nests[n], &p->nests[n]);
    bare.nests[n].macs = 0;
    without_numbers(&bare.nests[n], classes);
  }
  for (int v = 0; v < p->value_count; ++v) {
    pb_value_kind kind_of = p->values[v].kind;
    bare.values[v].kind = kind_of == PB_VALUE_OUTPUT ? PB_VALUE_INPUT : kind_of;
    bare.values[v].expands = p->values[v].expands;
  }
  pb_text_add(text, "%c", kind);
  pb_program_print_view(&bare, &scratch, text);
  print_homes(p, text);
  pb_arena_free(&scratch);
}

static pb_plan_memo* memo_of(pb_unit* unit) {
  if (!unit->plans) unit->plans = PB_NEW(&unit->arena, pb_plan_memo);
  return unit->plans;
}

// What a program is known by: with its numbers' classes, and without.
typedef struct keys {
  pb_text exact, alike;
} keys;

// Takes the keys' texts over.
static entry* add(pb_unit* unit, keys* k, bool found) {
  pb_plan_memo* memo = memo_of(unit);
  int at = (int)memo->count;
  pb_table_add(&memo->numbers, pb_strdup(&unit->arena, k->exact.data), k->exact.length, at);
  if (found && pb_table_find(&memo->alike, k->alike.data, k->alike.length) < 0)
    pb_table_add(&memo->alike, pb_strdup(&unit->arena, k->alike.data), k->alike.length, at);
  PB_PUSH(memo->entries, memo->count, memo->capacity, (entry){.found = found});
  pb_text_free(&k->exact);
  pb_text_free(&k->alike);
  return &memo->entries[at];
}

static void copy_stages(pb_arena* arena, const pb_stage_plan* from, pb_stage_plan* to) {
  size_t count = (size_t)from->count;
  *to = *from;
  to->stages = PB_NEW_ARRAY(arena, pb_plan, count + 1);
  memcpy(to->stages, from->stages, count * sizeof *to->stages);
}

// What is done of a kernel of several stages, and what of its tensors is filled.
static void print_blocks(const pb_stages* stages, pb_text* text) {
  pb_arena scratch = {0};
  int serial = 0;
  for (int f = 0; stages && f < stages->fill_count; ++f) {
    pb_nest* fill = pb_nest_kept(&scratch, stages->fills[f]);
    fill->name = "";
    pb_nest_print(text, fill, 0, &serial);
  }
  pb_arena_free(&scratch);
  for (int b = 0; stages && stages->blocks && b < stages->blocks->count; ++b) {
    const pb_block* block = &stages->blocks->items[b];
    pb_text_add(text, "%d %lld %lld %lld %lld\n", stages->blocks->row, (long long)block->row, (long long)block->rows,
                (long long)block->key, (long long)block->keys);
  }
}

// NULL: it was not planned yet, and k->exact is its text. stages: NULL: it is of one stage.
static const entry* find(pb_unit* unit, const pb_program* program, const pb_stages* stages, keys* k) {
  print_key(program, stages ? 's' : 'g', true, &k->exact);
  print_blocks(stages, &k->exact);
  int known = pb_table_find(&memo_of(unit)->numbers, k->exact.data, k->exact.length);
  if (known < 0) return NULL;
  pb_text_free(&k->exact);
  return &memo_of(unit)->entries[known];
}

// The entry of a program that differs from this one in numbers alone, the first that a plan was found for; NULL: there
// is none. k->alike is the text in any case.
static const entry* find_alike(pb_unit* unit, const pb_program* program, const pb_stages* stages, keys* k) {
  pb_plan_memo* memo = memo_of(unit);
  print_key(program, stages ? 's' : 'g', false, &k->alike);
  print_blocks(stages, &k->alike);
  int known = pb_table_find(&memo->alike, k->alike.data, k->alike.length);
  return known < 0 ? NULL : &memo->entries[known];
}

// The plan of a program that differs in numbers alone, if these make no difference to what it takes: then the search
// would find it again.
static bool take_alike(pb_unit* unit, const pb_group* group, keys* k, pb_plan* plan) {
  const entry* like = find_alike(unit, group->program, NULL, k);
  if (!like) return false;
  *plan = like->plan;
  return pb_plan_fits(unit->chip, group, plan) && plan->cycles == like->plan.cycles;
}

static bool take_alike_stages(pb_unit* unit, const pb_stages* stages, pb_arena* arena, keys* k, pb_stage_plan* plan) {
  const entry* like = find_alike(unit, stages->program, stages, k);
  const char* why;
  pb_arena scratch = {0};
  if (!like) return false;
  copy_stages(arena, &like->stages, plan);
  bool same =
      pb_stage_plan_cost(unit->chip, stages, &scratch, plan, &why) && plan->loops.cycles == like->stages.loops.cycles;
  pb_arena_free(&scratch);
  return same;
}

pb_status pb_plan_again(pb_unit* unit, const pb_group* group, bool exact, pb_arena* arena, pb_diag* diag,
                        pb_plan* plan) {
  keys k = {0};
  const entry* known = find(unit, group->program, NULL, &k);
  if (!known) {
    pb_status status = take_alike(unit, group, &k, plan) ? PB_OK : pb_plan_make(unit->chip, group, arena, diag, plan);
    entry* made = add(unit, &k, status == PB_OK);
    if (made->found) made->plan = *plan;
    return status;
  }
  if (!known->found && !exact) return PB_ERR_UNSUPPORTED;
  *plan = known->plan;
  bool legal = known->found && pb_plan_fits(unit->chip, group, plan);
  return legal ? PB_OK : pb_plan_make(unit->chip, group, arena, diag, plan);
}

bool pb_plan_program_again(pb_unit* unit, const pb_program* program, pb_arena* arena, pb_plan* plan) {
  pb_diag quiet = {.sink = pb_diag_drop};
  pb_group group;
  return pb_group_read(program, unit->chip, arena, &quiet, &group) == PB_OK && !group.plain &&
         pb_plan_again(unit, &group, false, arena, &quiet, plan) == PB_OK;
}

bool pb_stage_plan_again(pb_unit* unit, const pb_stages* stages, bool exact, pb_arena* arena, pb_stage_plan* plan) {
  keys k = {0};
  const entry* known = find(unit, stages->program, stages, &k);
  if (!known) {
    bool found =
        take_alike_stages(unit, stages, arena, &k, plan) || pb_stage_plan_make(unit->chip, stages, arena, plan);
    entry* made = add(unit, &k, found);
    if (found) copy_stages(&unit->arena, plan, &made->stages);
    return found;
  }
  if (!known->found && !exact) return false;
  pb_arena scratch = {0};
  const char* why;
  copy_stages(arena, &known->stages, plan);
  bool legal = known->found && pb_stage_plan_cost(unit->chip, stages, &scratch, plan, &why);
  pb_arena_free(&scratch);
  return legal || pb_stage_plan_make(unit->chip, stages, arena, plan);
}

pb_proofs* pb_plan_proofs(pb_unit* unit) {
  pb_proofs* proofs = &memo_of(unit)->proofs;
  proofs->arena = &unit->arena;
  return proofs;
}

void pb_plan_memo_free(pb_unit* unit) {
  if (!unit->plans) return;
  pb_table_free(&unit->plans->numbers);
  pb_table_free(&unit->plans->alike);
  pb_table_free(&unit->plans->proofs.known);
  free(unit->plans->entries);
  unit->plans = NULL;
}
