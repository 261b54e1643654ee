// What the command line says of the model's inputs: extents of named dims, shapes, constants in their place.
#include "core/frontend/loader.h"

#include <string.h>

// The shape with the open dims that come first as 1, as --input-shape takes it.
static const char* shape_text(pb__loader* l, const pb_tensor* t) {
  const char* text = "";
  for (int r = 0; r < t->rank; ++r)
    text = pb_printf(&l->graph->arena, "%s%s%lld", text, r ? "x" : "", t->shape[r] < 0 ? 1LL : (long long)t->shape[r]);
  return text;
}

static const char* dim_name(const pb_tensor* t, int r) { return t->dim_names ? t->dim_names[r] : NULL; }

static const char* extent_hint(pb__loader* l, const pb_tensor* t, int r) {
  const char* name = dim_name(t, r);
  return name ? pb_printf(&l->graph->arena, "--dim '%s=128'", name) : "--input-shape NAME=1x3x224x224";
}

static pb_status check_input(pb__loader* l, pb_tensor* t) {
  pb_place place = {.file = l->graph->file, .what = t->name};
  const char* hint = "--input-shape NAME=1x3x224x224";
  if (t->type == PB_TYPE_COUNT && t->type_code)
    return pb_unsupported(l->diag, place, 2016, NULL, "an input of ONNX type %lld", (long long)t->type_code);
  if (t->type == PB_TYPE_COUNT) return pb_error(l->diag, place, 2016, NULL, "an input whose type is not known");
  if (t->rank < 0) return pb_error(l->diag, place, 2016, hint, "an input whose shape is not known");
  for (int r = 0; r < t->rank; ++r) {
    if (t->shape[r] == -1 && r > 0)
      return pb_error(l->diag, place, 2016, extent_hint(l, t, r), "an input whose dim %d is open", r);
    if (t->shape[r] < -1)
      return pb_error(l->diag, place, 2016, hint, "an input whose dim %d is %lld long", r, (long long)t->shape[r]);
  }
  if (!t->rank || t->shape[0] != -1) return PB_OK;
  pb_warning(l->diag, place, 2017, "its first dim is open and compiled as 1; --input-shape '%s=%s' says another",
             t->name, shape_text(l, t));
  t->shape[0] = 1;
  return PB_OK;
}

static pb_status no_dim(pb__loader* l, const char* name) {
  const char* hint = NULL;
  for (size_t i = 0; i < l->graph->tensor_count; ++i) {
    const pb_tensor* t = &l->graph->tensors[i];
    for (int r = 0; t->is_input && r < t->rank; ++r) {
      const char* there = dim_name(t, r);
      bool told = !there || (hint && strlen(hint) > 256);
      for (size_t j = 0; j <= i && !told; ++j) // by an input in front, or a dim in front
        for (int s = 0; l->graph->tensors[j].is_input && s < (j < i ? l->graph->tensors[j].rank : r); ++s)
          told |= dim_name(&l->graph->tensors[j], s) && !strcmp(dim_name(&l->graph->tensors[j], s), there);
      if (!told) hint = pb_printf(&l->graph->arena, "%s %s", hint ? hint : "dims:", there);
    }
  }
  return pb_error(l->diag, (pb_place){.file = l->graph->file}, 2026, hint ? hint : "no dim of its inputs has a name",
                  "no dim is named '%s'", name);
}

// All dims of that name.
static pb_status set_dim(pb__loader* l, const pb_dim_value* dim) {
  bool found = false;
  for (size_t i = 0; i < l->graph->tensor_count; ++i) {
    pb_tensor* t = &l->graph->tensors[i];
    for (int r = 0; t->is_input && r < t->rank; ++r) {
      if (!dim_name(t, r) || strcmp(dim_name(t, r), dim->name)) continue;
      if (t->shape[r] >= 0 && dim->extent >= 0 && t->shape[r] != dim->extent)
        return pb_error(l->diag, (pb_place){.file = l->graph->file, .what = t->name}, 2026, "one extent a dim",
                        "its dim '%s' is %lld, and --dim says %lld", dim->name, (long long)t->shape[r],
                        (long long)dim->extent);
      t->shape[r] = dim->extent; // PB_OPEN too
      found = true;
    }
  }
  return found ? PB_OK : no_dim(l, dim->name);
}

static pb_tensor* input_named(const pb__loader* l, const char* name) {
  for (size_t i = 0; i < l->graph->tensor_count; ++i)
    if (l->graph->tensors[i].is_input && !strcmp(l->graph->tensors[i].name, name)) return &l->graph->tensors[i];
  return NULL;
}

static pb_status no_input(pb__loader* l, const char* name) {
  const char* hint = "inputs:";
  for (size_t i = 0; i < l->graph->tensor_count; ++i)
    if (l->graph->tensors[i].is_input && strlen(hint) < 256)
      hint = pb_printf(&l->graph->arena, "%s %s", hint, l->graph->tensors[i].name);
  return pb_error(l->diag, (pb_place){.file = l->graph->file}, 2014, hint, "no input is named '%s'", name);
}

// ---- sequences and optionals ----

static int add_item(pb__loader* l, int whole, const char* name) {
  pb_tensor item = l->graph->tensors[whole];
  item.name = name;
  item.is_input = true;
  item.is_output = item.lists = item.may_miss = false;
  PB_PUSH(l->graph->tensors, l->graph->tensor_count, l->graph->tensor_capacity, item);
  return (int)l->graph->tensor_count - 1;
}

static void give_items(pb__loader* l, int tensor, bool optional, int count, const int* items) {
  pb_tensor* t = &l->graph->tensors[tensor];
  t->is_input = false;
  t->is_sequence = true;
  t->is_optional = optional;
  t->item_count = count;
  t->items = items;
}

// In place of the input: inputs for what is in it, NAME[0] and on; of an optional tensor one of its own name.
static pb_status open_items(pb__loader* l, int tensor, int count) {
  pb_arena* arena = &l->graph->arena;
  const pb_tensor t = l->graph->tensors[tensor];
  pb_place place = {.file = l->graph->file, .what = t.name};
  if (count == PB_NO_ITEMS ? !t.may_miss : !t.lists && count != 1)
    return pb_error(l->diag, place, 2031, t.lists ? "--items 'NAME=0'" : "--items 'NAME=1' or 'NAME=none'", "is %s",
                    t.lists ? "a sequence, which may be empty but has to be there" : "an optional of one tensor");
  int *items = PB_NEW_ARRAY(arena, int, (size_t)(count > 0 ? count : 0) + 1), list = tensor;
  for (int k = 0; k < count; ++k) {
    const char* name = t.lists ? pb_printf(arena, "%s[%d]", t.name, k) : t.name;
    for (size_t i = 0; t.lists && i < l->graph->tensor_count; ++i)
      if (!strcmp(l->graph->tensors[i].name, name))
        return pb_unsupported(l->diag, place, 2031, NULL, "has a tensor beside it that is named '%s'", name);
    items[k] = add_item(l, tensor, name);
  }
  if (t.lists && t.may_miss && count >= 0) {
    list = add_item(l, tensor, t.name);
    int* one = PB_NEW(arena, int);
    *one = list;
    give_items(l, tensor, true, 1, one);
  }
  give_items(l, list, t.may_miss && !t.lists, count > 0 ? count : 0, items);
  if (count == PB_NO_ITEMS) l->graph->tensors[tensor].is_optional = true;
  return PB_OK;
}

static pb_status take_items(pb__loader* l, const pb_input_options* inputs) {
  size_t count = l->graph->tensor_count;
  for (int k = 0; k < inputs->item_count; ++k) {
    const pb_tensor* t = input_named(l, inputs->items[k].name);
    if (!t) return no_input(l, inputs->items[k].name);
    if (!t->lists && !t->may_miss)
      return pb_error(l->diag, (pb_place){.file = l->graph->file, .what = t->name}, 2031, NULL,
                      "is a tensor, not a sequence or an optional");
  }
  for (size_t i = 0; i < count; ++i) {
    const pb_tensor* t = &l->graph->tensors[i];
    if (!t->is_input || (!t->lists && !t->may_miss)) continue;
    int k = 0;
    while (k < inputs->item_count && strcmp(inputs->items[k].name, t->name) != 0) ++k;
    if (k == inputs->item_count)
      return pb_error(l->diag, (pb_place){.file = l->graph->file, .what = t->name}, 2031,
                      t->lists ? "--items 'NAME=3'" : "--items 'NAME=1' or 'NAME=none'",
                      "%s, and nothing says how many tensors are in it",
                      t->lists ? "an input that is a sequence" : "an input that is optional");
    PB_TRY(open_items(l, (int)i, inputs->items[k].count));
  }
  return PB_OK;
}

// The input becomes an initialiser.
static pb_status bind(pb__loader* l, const pb_bound* first, const pb_bound* bound) {
  pb_tensor* t = input_named(l, bound->name);
  for (const pb_bound* before = first; before < bound; ++before)
    if (!strcmp(before->name, bound->name))
      return pb_error(l->diag, (pb_place){.file = l->graph->file, .what = bound->name}, 2019, NULL, "is bound twice");
  if (!t) return no_input(l, bound->name);
  pb_place place = {.file = l->graph->file, .what = t->name};
  bool is_unsigned = bound->type == PB_U8;
  pb_type type = is_unsigned ? PB_I8 : bound->type;
  if (bound->is_any_code && pb_type_is_code(t->type)) type = t->type;
  if (t->type != type || t->is_unsigned != is_unsigned)
    return pb_error(l->diag, place, 2019, NULL, "is of %s, and what is bound to it of %s",
                    t->is_unsigned ? "u8" : pb_type_name(t->type), pb_type_name(bound->type));
  bool fits = t->rank < 0 || t->rank == bound->rank;
  for (int r = 0; fits && r < t->rank; ++r) fits = t->shape[r] < 0 || t->shape[r] == bound->shape[r];
  if (!fits)
    return pb_error(l->diag, place, 2019, NULL, "is of shape %s, and what is bound to it of %s",
                    pb_shape_text(&l->graph->arena, t->rank, t->shape),
                    pb_shape_text(&l->graph->arena, bound->rank, bound->shape));
  t->const_id = pb_consts_add(l->consts, t->name, type, bound->rank, bound->shape, bound->data);
  t->is_input = false;
  return PB_OK;
}

static const char* symbol_name(pb__loader* l, const pb_tensor* t, int r) {
  const char* name = dim_name(t, r);
  return name ? name : pb_printf(&l->graph->arena, "%s.%d", t->name, r);
}

// Open dims of which an operator took one extent alone when the model was read before.
static void take_settled(pb__loader* l, const pb_symbols* symbols) {
  for (size_t i = 0; symbols && symbols->settled_count && i < l->graph->tensor_count; ++i) {
    pb_tensor* t = &l->graph->tensors[i];
    for (int r = 0; t->is_input && r < t->rank; ++r) {
      int64_t extent = t->shape[r] == PB_OPEN ? pb_symbol_settled(symbols, symbol_name(l, t, r)) : -1;
      if (extent > 0) t->shape[r] = extent;
    }
  }
}

// A "?" among the options, or a dim that nothing is said of and that is not the first, which alone would be 1.
static bool opens(const pb__loader* l, const pb_input_options* inputs) {
  for (int k = 0; k < inputs->dim_count; ++k)
    if (inputs->dims[k].extent == PB_OPEN) return true;
  for (int k = 0; k < inputs->shape_count; ++k)
    for (int r = 0; r < inputs->shapes[k].rank; ++r)
      if (inputs->shapes[k].shape[r] == PB_OPEN) return true;
  for (size_t i = 0; inputs->symbols && i < l->graph->tensor_count; ++i)
    for (int r = 1; l->graph->tensors[i].is_input && r < l->graph->tensors[i].rank; ++r)
      if (l->graph->tensors[i].shape[r] == PB_OPEN) return true;
  return false;
}

// The extents of the sample in place of open dims; those of one name are one.
static pb_status open_dims(pb__loader* l, pb_tensor* t, pb_symbols* symbols) {
  pb_place place = {.file = l->graph->file, .what = t->name};
  for (int r = 0; r < t->rank; ++r) {
    if (t->shape[r] != PB_OPEN) continue;
    if (!symbols)
      return pb_unsupported(l->diag, place, 2027,
                            "list its values, --dim NAME=1,8 or --input-shape: each is compiled for itself",
                            "its dim %d is open, and this target's kernels are made for extents", r);
    int symbol = pb_symbol_named(symbols, symbol_name(l, t, r));
    if (symbol < 0)
      return pb_unsupported(l->diag, place, 2027, extent_hint(l, t, r), "more than %d open dims", PB_MOST_SYMBOLS);
    t->shape[r] = pb_symbol_extent(symbols, symbol);
  }
  return PB_OK;
}

// The output must be the input with rows put in: else the host would not know what of it is new.
static pb_status donate(pb__loader* l, const pb_donation* donation) {
  pb_graph* g = l->graph;
  pb_tensor* t = input_named(l, donation->input);
  if (!t) return no_input(l, donation->input);
  for (size_t i = 0; i < g->tensor_count; ++i) {
    const pb_tensor* out = &g->tensors[i];
    if (!out->is_output || strcmp(out->name, donation->output) != 0 || out->producer < 0) continue;
    const pb_node* n = &g->nodes[out->producer];
    bool own = !n->domain[0] || !strcmp(n->domain, "ai.onnx");
    if (!own || strcmp(n->op, "TensorScatter") != 0 || n->input_count < 2 || n->inputs[0] < 0 ||
        &g->tensors[n->inputs[0]] != t || n->outputs[0] != (int)i)
      break;
    t->donated_to = (int)i + 1;
    return PB_OK;
  }
  return pb_error(l->diag, (pb_place){.file = g->file, .what = donation->input}, 2030,
                  "what Concat makes of a cache is longer than it: TensorScatter puts rows into one of its full length",
                  "is donated to %s, which is not it with rows put in at one place (TensorScatter)", donation->output);
}

pb_status pb__set_inputs(pb__loader* l, const pb_input_options* inputs) {
  const pb_input_shape* shapes = inputs->shapes;
  l->graph->keeps_loops = inputs->keeps_loops;
  l->graph->pairs_codes = inputs->pairs_codes;
  memcpy(l->graph->multiplied, inputs->multiplied, sizeof l->graph->multiplied);
  PB_TRY(take_items(l, inputs));
  for (int k = 0; k < inputs->dim_count; ++k) PB_TRY(set_dim(l, &inputs->dims[k]));
  for (int k = 0; k < inputs->donation_count; ++k) PB_TRY(donate(l, &inputs->donations[k]));
  for (int k = 0; k < inputs->bound_count; ++k) PB_TRY(bind(l, inputs->bounds, &inputs->bounds[k]));
  for (int k = 0; k < inputs->shape_count; ++k) {
    pb_tensor* t = input_named(l, shapes[k].name);
    if (!t) return no_input(l, shapes[k].name);
    if (t->rank >= 0 && t->rank != shapes[k].rank)
      return pb_error(l->diag, (pb_place){.file = l->graph->file, .what = t->name}, 2015, NULL,
                      "has %d dims, --input-shape gives %d", t->rank, shapes[k].rank);
    for (int r = 0; r < t->rank; ++r) // which dims --dim has settled
      for (int d = 0; d < inputs->dim_count; ++d)
        if (dim_name(t, r) && !strcmp(dim_name(t, r), inputs->dims[d].name) && t->shape[r] != shapes[k].shape[r])
          return pb_error(l->diag, (pb_place){.file = l->graph->file, .what = t->name}, 2015, NULL,
                          "its dim '%s' is %lld by --dim, and %lld by --input-shape", inputs->dims[d].name,
                          (long long)t->shape[r], (long long)shapes[k].shape[r]);
    t->rank = shapes[k].rank;
    memcpy(t->shape, shapes[k].shape, sizeof t->shape);
  }
  take_settled(l, inputs->symbols);
  bool open = opens(l, inputs);
  for (size_t i = 0; i < l->graph->tensor_count; ++i) {
    pb_tensor* t = &l->graph->tensors[i];
    if (!t->is_input) continue;
    if (open) PB_TRY(open_dims(l, t, inputs->symbols));
    PB_TRY(check_input(l, t));
  }
  return PB_OK;
}
