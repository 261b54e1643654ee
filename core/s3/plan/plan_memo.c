#include "core/s3/plan/plan.h"

#include "core/base/table.h"
#include "core/poly/slice.h"
#include "core/s3/constant_homes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct entry {
  bool found;
  pb_kernel_plan plan;
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
    bare.values[v].rank = p->values[v].rank;
    memcpy(bare.values[v].shape, p->values[v].shape, sizeof bare.values[v].shape);
    memcpy(bare.values[v].border, p->values[v].border, sizeof bare.values[v].border);
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

static void copy_stages(pb_arena* arena, const pb_kernel_plan* from, pb_kernel_plan* to) {
  size_t count = (size_t)from->count;
  *to = *from;
  to->stages = PB_NEW_ARRAY(arena, pb_plan, count + 1);
  if (count) memcpy(to->stages, from->stages, count * sizeof *to->stages);
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

// The text that it is known by, with its numbers' classes or without.
static void print_kernel(const pb_kernel_form* kernel, bool classes, pb_text* text) {
  print_key(kernel->stages ? kernel->stages->program : kernel->group->program, kernel->stages ? 's' : 'g', classes,
            text);
  print_blocks(kernel->stages, text);
}

static pb_status make(pb_unit* unit, const pb_kernel_form* kernel, pb_arena* arena, pb_diag* diag,
                      pb_kernel_plan* plan) {
  return kernel->stages ? pb_stage_plan_make(unit->chip, kernel->stages, arena, diag, plan)
                        : pb_plan_make(unit->chip, kernel->group, arena, diag, &plan->loops);
}

// The plan again, if it fits.
static bool take(pb_unit* unit, const pb_kernel_form* kernel, const entry* known, pb_arena* arena,
                 pb_kernel_plan* plan) {
  pb_arena scratch = {0};
  const char* why;
  if (!known->found) return false;
  copy_stages(arena, &known->plan, plan);
  bool fits = pb_kernel_plan_cost(unit->chip, kernel, &scratch, plan, &why);
  pb_arena_free(&scratch);
  return fits;
}

pb_status pb_kernel_plan_again(pb_unit* unit, const pb_kernel_form* kernel, bool exact, pb_arena* arena, pb_diag* diag,
                               pb_kernel_plan* plan) {
  keys k = {0};
  pb_plan_memo* memo = memo_of(unit);
  *plan = (pb_kernel_plan){.count = 0};
  print_kernel(kernel, true, &k.exact);
  int known = pb_table_find(&memo->numbers, k.exact.data, k.exact.length);
  if (known >= 0) {
    const entry* had = &memo->entries[known];
    pb_text_free(&k.exact);
    if (!had->found && !exact) return PB_ERR_UNSUPPORTED;
    return take(unit, kernel, had, arena, plan) ? PB_OK : make(unit, kernel, arena, diag, plan);
  }
  print_kernel(kernel, false, &k.alike);
  known = pb_table_find(&memo->alike, k.alike.data, k.alike.length);
  // of a program that differs in numbers alone the search would find it again, if these make no difference to its cost
  bool same = known >= 0 && take(unit, kernel, &memo->entries[known], arena, plan) &&
              plan->loops.cycles == memo->entries[known].plan.loops.cycles;
  pb_status status = same ? PB_OK : make(unit, kernel, arena, diag, plan);
  entry* made = add(unit, &k, status == PB_OK);
  if (made->found) copy_stages(&unit->arena, plan, &made->plan);
  return status;
}

bool pb_plan_program_again(pb_unit* unit, const pb_program* program, bool several, pb_arena* arena, pb_plan* plan) {
  pb_diag quiet = {.sink = pb_diag_drop};
  pb_kernel_form kernel;
  pb_kernel_plan found;
  if (pb_kernel_read(unit->chip, program, several, arena, &quiet, &kernel) != PB_OK || pb_kernel_is_plain(&kernel) ||
      (several && !kernel.stages) || pb_kernel_plan_again(unit, &kernel, false, arena, &quiet, &found) != PB_OK)
    return false;
  *plan = found.loops;
  return true;
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
