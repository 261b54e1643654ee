// Decided: what constants and the loops' own numbers alone decide is computed now, by the nests themselves, and is a
// constant from then on: positions, masks, tables of sines, weights times their scales. Requires the program function
// in value form; leaves it so. Functions are rounded from double's.
//
//   before   i[k] = index(k);  s[k] = sin(f32(i[k]) * w[k]);  y[n, k] = x[n, k] + s[k]
//   after    y[n, k] = x[n, k] + c[k]                         c: a constant
//
// Behind scaled_codes, which takes weights as the codes that they are. Copies of constants alone stay: layout packs
// what they copy. So does what would make the engine larger by more than a few megabytes, and what takes long.
#include "core/poly/evaluate.h"
#include "core/s3/compose.h"
#include "core/s3/program.h"
#include "core/s3/s3.h"

#include <string.h>

enum {
  MOST_BYTES = 4 << 20,   // of a tensor
  MOST_SPREAD = 16 << 10, // of one that repeats a smaller one
  MOST_WORK = 1 << 24,    // nodes that a nest computes
  WORK_OF_ALL = 1 << 26,  // that all nests do: about half a second
};

typedef struct decided_value {
  bool is_open;   // something else than constants makes some of it
  bool is_made;   // and not by copies alone
  bool is_wanted; // is_made, or what such is made of
  bool is_spread; // a large copy of fewer elements, which stays one
  void* elements; // as far as the nests have made them, NULL: none yet
} decided_value;

typedef struct decider {
  pb_unit* unit;
  pb_program* program;
  decided_value* values; // by value
  int64_t work;
} decider;

static bool is_plain(const pb_nest* nest) { return pb_copies_elements(nest) || pb_nest_is_fill(nest); }

static bool is_spread(const pb_program* p, int n) {
  int64_t bytes = pb_value_bytes(&p->values[pb_program_stored(p, n)]);
  return pb_copies_elements(&p->nests[n]) && bytes > MOST_SPREAD &&
         bytes > pb_value_bytes(&p->values[p->value_of[n][0]]);
}

static bool is_short(const pb_nest* nest) {
  int64_t turns = pb_nest_iterations(nest);
  return !nest->outer_count && turns <= MOST_WORK && turns * nest->expr_count <= MOST_WORK;
}

// Whether constants alone decide what the nest stores, as far as the nests in front of it say.
static bool is_decided(const decider* d, int n) {
  const pb_program* p = d->program;
  int y = pb_program_stored(p, n);
  if (d->values[y].is_open || pb_value_bytes(&p->values[y]) > MOST_BYTES || !is_short(&p->nests[n])) return false;
  for (int a = 0; a + 1 < p->nests[n].access_count; ++a)
    if (d->values[p->value_of[n][a]].is_open) return false;
  return true;
}

static void find_decided(decider* d) {
  const pb_program* p = d->program;
  for (int v = 0; v < p->value_count; ++v)
    d->values[v].is_open = p->values[v].kind == PB_VALUE_INPUT || p->values[v].expands;
  for (bool changed = true; changed;) { // what is written again behind those who read it may be open after all
    changed = false;
    for (int n = 0; n < p->nest_count; ++n) {
      decided_value* y = &d->values[pb_program_stored(p, n)];
      if (y->is_open || is_decided(d, n)) continue;
      y->is_open = changed = true;
    }
  }
  for (int n = 0; n < p->nest_count; ++n) {
    decided_value* y = &d->values[pb_program_stored(p, n)];
    y->is_made |= !is_plain(&p->nests[n]);
    y->is_spread |= is_spread(p, n);
    for (int a = 0; a + 1 < p->nests[n].access_count; ++a) y->is_made |= d->values[p->value_of[n][a]].is_made;
  }
  for (int n = p->nest_count - 1; n >= 0; --n) {
    decided_value* y = &d->values[pb_program_stored(p, n)];
    y->is_wanted |= y->is_made && !y->is_open;
    for (int a = 0; a + 1 < p->nests[n].access_count && y->is_wanted; ++a)
      d->values[p->value_of[n][a]].is_wanted = true;
  }
}

// The elements of a value that the nest reads or writes.
static void* elements_of(decider* d, int v) {
  const pb_value* value = &d->program->values[v];
  decided_value* known = &d->values[v];
  if (known->elements) return known->elements;
  known->elements = value->kind == PB_VALUE_CONST
                        ? (void*)(uintptr_t)pb_const_data(d->unit->consts, value->const_id) // which no nest writes
                        : PB_NEW_ARRAY(&d->unit->pass, char, (size_t)pb_value_bytes(value) + 8);
  return known->elements;
}

static bool ran(decider* d, int n) {
  const pb_program* p = d->program;
  const pb_nest* nest = &p->nests[n];
  void* data[PB_NEST_ACCESSES];
  d->work += pb_nest_iterations(nest) * nest->expr_count;
  if (d->work > WORK_OF_ALL || !is_decided(d, n)) return false;
  for (int a = 0; a < nest->access_count; ++a) data[a] = elements_of(d, p->value_of[n][a]);
  return pb_nest_evaluate(nest, data);
}

// Executes what is wanted. What turns out to have no number, as a division by 0, is as open as an input.
static void run_all(decider* d) {
  const pb_program* p = d->program;
  for (int n = 0; n < p->nest_count; ++n) {
    decided_value* y = &d->values[pb_program_stored(p, n)];
    if (y->is_wanted && !y->is_open) y->is_open = !ran(d, n);
  }
}

static bool becomes_constant(const decider* d, int v) {
  pb_value_kind kind = d->program->values[v].kind;
  return (kind == PB_VALUE_LOCAL || kind == PB_VALUE_OUTPUT) && !d->values[v].is_open && d->values[v].is_made &&
         !d->values[v].is_spread;
}

static int constant_of(decider* d, int v, int* constants) {
  const pb_value from = d->program->values[v]; // adding one moves the table
  if (constants[v] >= 0) return constants[v];
  size_t bytes = (size_t)pb_value_bytes(&from);
  pb_consts* consts = d->unit->consts;
  void* kept = pb_alloc_array(&consts->arena, bytes + 1, 1);
  memcpy(kept, d->values[v].elements, bytes);
  int writer = pb_program_last_writer(d->program, v);
  return constants[v] = pb_program_add_const(d->program, &d->unit->pass, consts, d->program->nests[writer].name,
                                             from.type, from.rank, from.shape, kept);
}

// The output's last nest copies the constant, and those in front of it go.
static void give_output(decider* d, int v, int constant) {
  pb_program* p = d->program;
  int last = pb_program_last_writer(p, v);
  PB_FOR_WRITERS (n, p, v) p->gone[n] = n != last;
  pb_access whole = pb_value_shape(&p->values[v]);
  pb_nest_begin_over(&p->nests[last], p->nests[last].name, "copy", 2, &whole);
  (void)pb_nest_load(&p->nests[last], 0);
  p->value_of[last][0] = constant;
  p->value_of[last][1] = v;
}

static bool read_constants(decider* d) {
  pb_program* p = d->program;
  int values = p->value_count;
  bool any = false;
  int* constants = PB_NEW_ARRAY(&d->unit->pass, int, (size_t)values + 1);
  for (int v = 0; v < values; ++v) constants[v] = -1;
  for (int n = 0; n < p->nest_count; ++n)
    for (int a = 0; a + 1 < p->nests[n].access_count; ++a) {
      int v = p->value_of[n][a];
      if (v >= values || !becomes_constant(d, v) || becomes_constant(d, pb_program_stored(p, n))) continue;
      pb_program_set_value(p, &d->unit->pass, n, a, constant_of(d, v, constants));
      any = true;
    }
  for (int v = 0; v < values; ++v) {
    if (p->values[v].kind != PB_VALUE_OUTPUT || !becomes_constant(d, v)) continue;
    give_output(d, v, constant_of(d, v, constants));
    any = true;
  }
  return any;
}

bool pb_s3_decided(pb_unit* unit, pb_program* p) {
  decider d = {.unit = unit, .program = p};
  if (unit->consts->open) return false; // constants hang on extents there
  d.values = PB_NEW_ARRAY(&unit->pass, decided_value, (size_t)p->value_count + 1);
  find_decided(&d);
  run_all(&d);
  if (!read_constants(&d)) return false;
  pb_program_index(p, &unit->pass);
  pb_program_drop_unread(p);
  return true;
}
