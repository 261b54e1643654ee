// @main: its arguments become inputs, its results outputs, by what the command line says of them.
#include "core/frontend/stablehlo/door.h"

#include "core/s1/control.h"

#include <stdlib.h>
#include <string.h>

static const pb_flat_op* end_of(const pb_flat_block* block) {
  return block->op_count ? &block->ops[block->op_count - 1] : NULL;
}

// What the value is read and written as everywhere becomes another one.
static void rename_value(pb_s1* program, int from, int to) {
  for (size_t k = 0; k < program->op_count; ++k) {
    pb_nest* nest = (pb_nest*)(uintptr_t)program->ops[k].nest; // the door's own
    if (program->ops[k].x == from) program->ops[k].x = to;
    if (program->ops[k].y == from) program->ops[k].y = to;
    for (int a = 0; nest && a < nest->access_count; ++a)
      if (nest->access[a].buffer == from) nest->access[a].buffer = to;
  }
}

static const pb_donation* donated(const pb_door* d, const char* input) {
  for (int k = 0; d->inputs && k < d->inputs->donation_count; ++k)
    if (!strcmp(d->inputs->donations[k].input, input)) return &d->inputs->donations[k];
  return NULL;
}

// Operators work on what is to be the output, which begins as the input is: its value is the runtime's to place.
static pb_status donate(pb_door* d, const pb_flat_op* head, int* in) {
  if (!donated(d, d->m.name)) return PB_OK;
  if (d->m.consts->open || pb_made(&d->m, *in)->const_id >= 0)
    return pb__door_refuse(d, head, "%s is donated, and has no memory that is known", d->m.name);
  int made = pb_control_variable(&d->m, *in);
  d->m.program->values[made].made_of = *in + 1;
  *in = made;
  return PB_OK;
}

// Each output that takes an input's place must be what was placed there.
static pb_status check_donations(pb_door* d, const pb_flat_op* end, const int* results) {
  const pb_s1* p = d->m.program;
  for (int k = 0; d->inputs && k < d->inputs->donation_count; ++k) {
    const pb_donation* one = &d->inputs->donations[k];
    int made = -1;
    for (int r = 0; r < end->operand_count; ++r)
      if (!strcmp(one->output, pb_printf(&d->m.program->arena, "out%d", r))) made = results[r];
    bool is = made >= 0 && p->values[made].made_of && !strcmp(p->values[p->values[made].made_of - 1].name, one->input);
    bool placed = false;
    for (size_t o = 0; is && o < p->op_count; ++o) placed |= p->ops[o].kind == PB_S1_PLACE && p->ops[o].y == made;
    if (!is || !placed)
      return pb_error(d->diag, (pb_place){.file = d->flat->file, .what = one->input}, 2030, NULL,
                      "is donated to %s, which is not it with an update at one place (dynamic_update_slice)",
                      one->output);
  }
  return PB_OK;
}

static pb_status make_outputs(pb_door* d, const pb_flat_op* end) {
  pb_s1* program = d->m.program;
  int count = end->operand_count;
  int *made = PB_NEW_ARRAY(&program->arena, int, (size_t)count + 1),
      *results = PB_NEW_ARRAY(&program->arena, int, (size_t)count + 1);
  for (int k = 0; k < count; ++k) {
    if (d->filled[end->operands[k]] == -2) return pb__door_refuse(d, end, "it returns a tensor.empty");
    pb_door_value v = pb__door_get(d, end->operands[k]);
    results[k] = v.value >= 0 && v.imaginary >= 0 ? pb__door_pairs(d, v) : v.value;
    if (results[k] >= 0) results[k] = pb__door_coded_output(d, end->operands[k], results[k]);
  }
  PB_TRY(check_donations(d, end, results));
  for (int k = 0; k < count; ++k) {
    d->m.name = pb_printf(&program->arena, "out%d", k);
    if (pb__door_is_empty(d, end->operands[k]) && (made[k] = pb__door_empty_value(d, end->operands[k])) >= 0) {
      program->values[made[k]].is_output = true;
      continue;
    }
    PB_TRY(pb__door_check_type(d, end, end->operands[k]));
    int v = results[k];
    if (v >= 0) pb__door_decide_by(d, v);
    if (v < 0) return pb__door_refuse(d, end, "a result that is made elsewhere");
    const pb_s1_value old = program->values[v];
    int out = made[k] = pb_make_value(&d->m, old.type, old.rank, old.shape);
    program->values[out].is_output = true;
    program->values[out].is_complex = pb__door_type(d, end->operands[k])->is_complex;
    bool again = old.is_output;
    const pb_donation* to = old.made_of ? donated(d, program->values[old.made_of - 1].name) : NULL;
    if (to && !strcmp(to->output, d->m.name)) {
      program->values[out].is_variable = true;
      program->values[out].made_of = old.made_of;
      rename_value(program, v, out);
      for (int j = k + 1; j < count; ++j)
        if (results[j] == v) results[j] = out;
      continue;
    }
    for (int j = 0; j < k; ++j) again |= results[j] == v;
    if (old.is_input || old.is_variable || old.const_id >= 0 || again) {
      for (int j = 0; again && j < k; ++j)
        if (results[j] == v) v = made[j];
      pb_make_copy(&d->m, v, out);
    } else {
      rename_value(program, v, out);
    }
  }
  return PB_OK;
}

static const pb_bound* bound_to(const pb_door* d, const char* name) {
  for (int k = 0; d->inputs && k < d->inputs->bound_count; ++k)
    if (!strcmp(d->inputs->bounds[k].name, name)) return &d->inputs->bounds[k];
  return NULL;
}

static pb_status check_bound(pb_door* d, const pb_bound* bound, pb_type type, int rank, const int64_t* shape) {
  pb_place place = {.file = d->flat->file, .what = bound->name};
  bool fits = bound->rank == rank && (!rank || !memcmp(bound->shape, shape, sizeof *shape * (size_t)rank));
  pb_type is = bound->type == PB_U8 ? PB_UI8 : bound->type;
  if (is != type)
    return pb_error(d->diag, place, 2019, NULL, "is of %s, and what is bound to it of %s", pb_type_name(type),
                    pb_type_name(is));
  if (fits) return PB_OK;
  pb_arena* arena = &d->m.program->arena;
  return pb_error(d->diag, place, 2019, NULL, "is of shape %s, and what is bound to it of %s",
                  pb_shape_text(arena, rank, shape), pb_shape_text(arena, bound->rank, bound->shape));
}

// The argument that is meant, or -1.
static int argument_named(pb_door* d, const char* name, int arguments) {
  char* end;
  long at = !strncmp(name, "arg", 3) ? strtol(name + 3, &end, 10) : -1;
  return at >= 0 && at < arguments && !strcmp(name, pb_printf(&d->m.program->arena, "arg%ld", at)) ? (int)at : -1;
}

static pb_status no_argument(pb_door* d, const char* name) {
  return pb_error(d->diag, (pb_place){.file = d->flat->file}, 2014, "arguments are arg0, arg1, ...",
                  "no input is named '%s'", name);
}

// What the command line says of inputs that are not there, or not so: extents are the text's.
static pb_status check_names(pb_door* d, const pb_flat_block* body) {
  const pb_input_options* in = d->inputs;
  if (!in) return PB_OK;
  if (in->dim_count)
    return pb_error(d->diag, (pb_place){.file = d->flat->file}, 2026, "no dim of its inputs has a name",
                    "no dim is named '%s'", in->dims[0].name);
  for (int k = 0; k < in->bound_count; ++k) {
    const char* name = in->bounds[k].name;
    if (argument_named(d, name, body->argument_count) < 0) return no_argument(d, name);
    if (bound_to(d, name) != &in->bounds[k])
      return pb_error(d->diag, (pb_place){.file = d->flat->file, .what = name}, 2019, NULL, "is bound twice");
  }
  for (int k = 0; k < in->donation_count; ++k)
    if (argument_named(d, in->donations[k].input, body->argument_count) < 0)
      return no_argument(d, in->donations[k].input);
  for (int k = 0; k < in->shape_count; ++k) {
    const pb_input_shape* s = &in->shapes[k];
    int at = argument_named(d, s->name, body->argument_count);
    if (at < 0) return no_argument(d, s->name);
    const pb_flat_type* t = pb__door_type(d, body->arguments[at]);
    bool fits = t->rank == s->rank;
    for (int r = 0; fits && r < t->rank; ++r) {
      fits = t->shape[r] < 0 || t->shape[r] == s->shape[r];
      if (fits && t->shape[r] < 0 && !s->shape[r]) // operators of no elements are those whose types say so
        return pb_error(
            d->diag, (pb_place){.file = d->flat->file, .what = s->name}, 2015,
            "extents from 1 on; a text may have 0x4 in its types, and an engine whose dims stay open runs on 0",
            "--input-shape says 0 of its dim %d", r);
    }
    if (!fits)
      return pb_error(d->diag, (pb_place){.file = d->flat->file, .what = s->name}, 2015, NULL,
                      "is of shape %s, and --input-shape says %s",
                      pb_shape_text(&d->m.program->arena, t->rank, t->shape),
                      pb_shape_text(&d->m.program->arena, s->rank, s->shape));
  }
  return PB_OK;
}

// Open extents of an argument: what the options say, or a symbol's.
static pb_status open_argument(pb_door* d, const pb_flat_op* head, int number, int flat) {
  pb_arena* arena = &d->m.program->arena;
  const pb_flat_type* type = pb__door_type(d, flat);
  const char* name = pb_printf(arena, "arg%d", number);
  pb_symbols* symbols = d->inputs ? d->inputs->symbols : NULL;
  int64_t shape[PB_FLAT_RANK];
  memcpy(shape, type->shape, sizeof shape);
  for (int k = 0; d->inputs && k < d->inputs->shape_count; ++k)
    if (!strcmp(d->inputs->shapes[k].name, name))
      memcpy(shape, d->inputs->shapes[k].shape, sizeof *shape * (size_t)type->rank);
  for (int r = 0; r < type->rank; ++r) {
    if (shape[r] >= 0) continue;
    int symbol = symbols ? pb_symbol_named(symbols, pb_printf(arena, "%s.%d", name, r)) : -1;
    if (symbol < 0)
      return pb_unsupported(d->diag, (pb_place){d->flat->file, head->line, head->column, NULL}, 2027,
                            "list its values, --input-shape arg0=1,8x3: each is compiled for itself",
                            symbols ? "%s: its dim %d is one open dim too many"
                                    : "%s: its dim %d is open, and this target's kernels are made for extents",
                            name, r);
    shape[r] = pb_symbol_extent(symbols, symbol);
    d->m.consts->open = true;
  }
  return pb__door_refine_as(d, head, flat, type->rank, shape);
}

pb_status pb__door_main(pb_door* d, const pb_flat_func* main) {
  const pb_flat_op* end = end_of(&main->body);
  pb_flat_op head = {.name = "func.func", .line = main->line, .column = main->column};
  if (!end || strcmp(end->name, "func.return")) return pb__door_refuse(d, &head, "@%s has no end", main->name);
  PB_TRY(check_names(d, &main->body));
  for (int k = 0; k < main->body.argument_count; ++k) {
    int flat = main->body.arguments[k];
    const pb_flat_type* type = pb__door_type(d, flat);
    if (type->is_open && type->type != PB_TYPE_COUNT) PB_TRY(open_argument(d, &head, k, flat));
    d->m.name = pb_printf(&d->m.program->arena, "arg%d", k);
    int none = pb__door_is_empty(d, flat) ? pb__door_empty_value(d, flat) : -1;
    if (none >= 0) {
      d->m.program->values[none].is_input = true;
      continue;
    }
    PB_TRY(pb__door_check_type(d, &head, flat));
    if (type->type == PB_INDEX) return pb__door_refuse(d, &head, "an argument of type index");
    int64_t shape[PB_FLAT_RANK + 1];
    memcpy(shape, type->shape, sizeof type->shape);
    if (type->is_complex) shape[type->rank] = 2;
    pb_type outside = pb__door_outside(d, flat);
    const pb_bound* bound = bound_to(d, d->m.name);
    if (bound) PB_TRY(check_bound(d, bound, outside, type->rank + type->is_complex, shape));
    int in = bound ? pb_make_constant(&d->m, outside, bound->rank, shape, bound->data)
                   : pb_make_value(&d->m, outside, type->rank + type->is_complex, shape);
    d->m.program->values[in].is_input = !bound;
    d->m.program->values[in].is_complex = type->is_complex;
    if (!type->is_complex) PB_TRY(donate(d, &head, &in));
    if (outside != type->type) in = pb__door_coded_input(d, flat, in);
    pb_door_value both = {in, -1};
    if (type->is_complex) both = (pb_door_value){pb__door_part(d, in, 0), pb__door_part(d, in, 1)};
    pb__door_set(d, flat, both);
  }
  PB_TRY(pb__door_block(d, &main->body));
  PB_TRY(make_outputs(d, end));
  pb_s1_drop_unread(d->m.program);
  return PB_OK;
}
