// Steps: a reduction of one tensor that no instruction combines, over few elements, becomes as many pointwise nests,
// each on what the one before left. Requires the program function in value form, leaves it so. In front of align, which
// brings what they read into rows. Does nothing where code runs, nor to what an instruction combines, whatever its
// strides, nor where another target takes what this one lacks: that reduces in one loop.
//
//   before   y[i] = 1;  y[i] = y[i] * x[i, k]           of x: 20x2, y: 20
//   after    a[i] = 1 * x[i, 0];  y[i] = a[i] * x[i, 1]
#include "core/s3/fallback.h"
#include "core/s3/kernel/landing.h"
#include "core/s3/kernel/vector.h"
#include "core/s3/kernels.h"
#include "core/s3/program.h"
#include "core/s3/transfer_paths.h"

#include <string.h>

enum { MOST_STEPS = 16, NONE = -1 };

typedef struct stepper {
  pb_unit* unit;
  pb_program* from;
  pb_program to;
  int* steps; // by nest of `from`: how many it becomes; 0: it stays
  int* init;  // by nest of `from` that becomes steps: the one that sets what they begin with
  int* sets;  // by nest of `from` that sets such: 1 + the nest that becomes steps
} stepper;

static bool is_word(pb_type type) { return type == PB_I8 || type == PB_I32 || type == PB_F32; }

// Elements alone, of types that commands may compute with: no iterations of loops as numbers, no places of its own.
static bool is_plain(const pb_nest* nest) {
  for (int e = 0; e < nest->expr_count; ++e)
    if (nest->expr[e].op == PB_OP_INDEX || (nest->expr[e].type != PB_I1 && !is_word(nest->expr[e].type))) return false;
  for (int a = 0; a < nest->access_count; ++a)
    if (nest->access[a].boxed || nest->access[a].splat) return false;
  return !pb_nest_gathers(nest) && nest->expr_count + 2 < PB_NEST_EXPR;
}

// How many elements one result takes; 0: more than are written out.
static int steps_of(const pb_nest* nest) {
  const pb_access* store = &nest->access[nest->access_count - 1];
  int64_t steps = 1;
  for (int d = 0; d < nest->dim_count && steps <= MOST_STEPS; ++d)
    if (!pb_access_uses(store, d)) steps *= nest->extent[d];
  return steps <= MOST_STEPS ? (int)steps : 0;
}

// The one nest that sets what nest n combines with, before anybody reads it; NONE: it is otherwise.
static int init_of(const pb_program* p, int n) {
  int y = pb_program_stored(p, n), init = NONE;
  PB_FOR_USES (k, p, y) {
    if (k == n || (k > n && !pb_program_writes(p, k, y))) continue;
    if (k > n || init >= 0 || !pb_program_writes(p, k, y) || p->nests[k].reduce != PB_SET) return NONE;
    init = k;
  }
  return init;
}

// A sum or maximum as its operation on the old value, an access of its own in front of the store. Returns which one.
static int with_own(pb_nest* nest) {
  int own = nest->access_count - 1, value = nest->expr_count - 1;
  nest->access[nest->access_count++] = nest->access[own];
  int old = pb_nest_load(nest, own);
  (void)pb_nest_node(nest, pb_reduce_op(nest->reduce), nest->expr[value].type, old, value);
  return own;
}

// Whether instructions compute one step. Where none does, the reduction stays, to be refused as the model wrote it.
static bool step_lands(const pb_chip* chip, const pb_nest* nest) {
  pb_nest step;
  int memory;
  pb_nest_copy(&step, nest);
  if (nest->reduce != PB_ACC_BODY) (void)with_own(&step);
  step.reduce = PB_SET;
  return pb_point_lands(chip, &step, NONE, PB_ANY_MEMORY, &memory);
}

static void find(stepper* s, int n) {
  const pb_nest* nest = &s->from->nests[n];
  if (nest->reduce == PB_SET || !is_plain(nest)) return;
  bool own = nest->reduce == PB_ACC_BODY;
  if (nest->access_count != (own ? 3 : 2) || (!own && pb_nest_known(s->unit->chip, nest))) return;
  int init = init_of(s->from, n), steps = steps_of(nest);
  if (init < 0 || !steps || !step_lands(s->unit->chip, nest)) return;
  s->steps[n] = steps;
  s->init[n] = init;
  s->sets[init] = 1 + n;
}

static bool is_number(const pb_nest* nest) {
  return nest->access_count == 1 && nest->expr_count == 1 && nest->expr[0].op == PB_OP_CONST;
}

static int add_local(stepper* s, int like) {
  pb_value local = s->from->values[like];
  local.kind = PB_VALUE_LOCAL;
  local.argument = local.const_id = -1;
  local.name = NULL;
  return pb_program_add_value(&s->to, &s->unit->pass, &local);
}

// The iteration `step` of the dims that the result lacks.
static void fix_turn(pb_nest* nest, int step) {
  for (int d = nest->dim_count - 1; d >= 0; --d) {
    if (pb_access_uses(pb_nest_store(nest), d)) continue;
    int64_t iteration = step % nest->extent[d];
    step /= (int)nest->extent[d];
    for (int a = 0; a < nest->access_count; ++a)
      for (int r = 0; r < nest->access[a].rank; ++r)
        nest->access[a].index[r].cst += nest->access[a].index[r].coef[d] * iteration;
    pb_nest_remove_dim(nest, d);
  }
}

static void write_steps(stepper* s, int n, int begun) {
  const pb_nest* init = &s->from->nests[s->init[n]];
  int y = pb_program_stored(s->from, n);
  for (int k = 0; k < s->steps[n]; ++k) {
    pb_nest nest;
    int value_of[PB_NEST_ACCESSES], own = NONE;
    pb_nest_copy(&nest, &s->from->nests[n]);
    memcpy(value_of, s->from->value_of[n], sizeof value_of);
    if (nest.reduce == PB_ACC_BODY)
      own = value_of[0] == y ? 0 : 1;
    else
      own = with_own(&nest);
    fix_turn(&nest, k);
    nest.reduce = PB_SET;
    nest.part = "point";
    nest.macs = 0;
    int made = k + 1 < s->steps[n] ? add_local(s, y) : y;
    value_of[own] = begun;
    value_of[nest.access_count - 1] = made;
    if (k == 0 && is_number(init)) { // the old value is the number, and its access goes
      for (int e = 0; e < nest.expr_count; ++e)
        if (nest.expr[e].op == PB_OP_LOAD && nest.expr[e].operand == own) {
          nest.expr[e] = init->expr[0];
        } else if (nest.expr[e].op == PB_OP_LOAD && nest.expr[e].operand > own) {
          --nest.expr[e].operand;
        }
      for (int a = own; a + 1 < nest.access_count; ++a) {
        nest.access[a] = nest.access[a + 1];
        value_of[a] = value_of[a + 1];
      }
      --nest.access_count;
    }
    (void)pb_program_add_nest(&s->to, &nest, value_of);
    begun = made;
  }
}

static void write_all(stepper* s) {
  const pb_program* p = s->from;
  int* begun = PB_NEW_ARRAY(&s->unit->pass, int, (size_t)p->nest_count + 1); // by nest that becomes steps
  for (int n = 0; n < p->nest_count; ++n) {
    int value_of[PB_NEST_ACCESSES], user = s->sets[n] - 1;
    memcpy(value_of, p->value_of[n], sizeof value_of);
    if (s->steps[n]) {
      write_steps(s, n, begun[n]);
    } else if (user < 0) {
      (void)pb_program_add_nest(&s->to, &p->nests[n], value_of);
    } else if (!is_number(&p->nests[n])) {
      begun[user] = add_local(s, pb_program_stored(p, n));
      value_of[p->nests[n].access_count - 1] = begun[user];
      (void)pb_program_add_nest(&s->to, &p->nests[n], value_of);
    }
  }
}

pb_status pb_s3_steps(pb_unit* unit) {
  if (pb_chip_lanes(unit->chip) == 1 || !pb_chip_whole_rows(unit->chip) || pb_may_leave(unit)) return PB_OK;
  pb_program program;
  PB_TRY(pb_program_read(pb_module_func(unit->module, "main"), &unit->pass, unit->diag, &program));
  size_t count = (size_t)program.nest_count + 1, room = 0;
  stepper s = {.unit = unit,
               .from = &program,
               .steps = PB_NEW_ARRAY(&unit->pass, int, count),
               .init = PB_NEW_ARRAY(&unit->pass, int, count),
               .sets = PB_NEW_ARRAY(&unit->pass, int, count)};
  bool any = false;
  for (int n = 0; n < program.nest_count; ++n) {
    find(&s, n);
    any |= s.steps[n] > 0;
    room += s.steps[n] ? (size_t)s.steps[n] : 1;
  }
  if (!any) return PB_OK;
  pb_program_begin_nests(&program, room, &unit->pass, &s.to);
  write_all(&s);
  pb_program_index(&s.to, &unit->pass);
  return pb_program_rewrite(unit, &s.to, NULL, "steps");
}
