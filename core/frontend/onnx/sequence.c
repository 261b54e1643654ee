// Sequences and optionals whose lengths are known: lists of the graph's tensors, of which nothing is left.
#include "core/frontend/onnx/emit.h"

#include <string.h>

enum { MOST_ITEMS = PB_MOST_ITEMS, MOST_VALUES = 64 };

static pb_tensor* tensor_of(pb_onnx* o, int k) {
  if (!pb__o_has(o, k)) pb__o_refuse(o, "operand %d is left out", k);
  return pb__o_bad(o) ? NULL : &o->l->g->tensors[pb__input(o->n, k)];
}

static const pb_tensor* sequence_of(pb_onnx* o, int k) {
  const pb_tensor* t = tensor_of(o, k);
  if (t && !t->is_sequence) pb__o_refuse(o, "operand %d is no sequence whose length is known", k);
  return pb__o_bad(o) ? NULL : t;
}

void pb__o_give_items(pb_onnx* o, int k, int count, const int* items) {
  if (count > MOST_ITEMS) pb__o_refuse(o, "more than %d elements", MOST_ITEMS);
  if (pb__o_bad(o) || !pb__o_wants(o, k)) return;
  int* kept = PB_NEW_ARRAY(&o->l->g->arena, int, (size_t)count + 1);
  if (count) memcpy(kept, items, sizeof *kept * (size_t)count);
  pb_tensor* t = &o->l->g->tensors[o->n->outputs[k]];
  t->is_sequence = true;
  t->item_count = count;
  t->items = kept;
}

static void give_tensor(pb_onnx* o, int tensor) {
  (void)pb__o_node(o, "Identity", 1, &tensor, NULL, 0, o->n->outputs[0]);
}

// A place in a sequence of so many, counted from the end below 0; `missing` where the operand is left out.
static int place(pb_onnx* o, int k, int count, int missing) {
  int64_t at = missing;
  if (pb__o_has(o, k) && pb__o_list(o, NULL, k, 1, &at) != 1) pb__o_refuse(o, "a place that is not constant");
  if (at < 0) at += count;
  if (at < 0 || at >= (missing == count ? count + 1 : count)) pb__o_refuse(o, "a place outside of the sequence");
  return pb__o_bad(o) ? 0 : (int)at;
}

void pb__o_op_sequence_empty(pb_onnx* o) { pb__o_give_items(o, 0, 0, NULL); }
void pb__o_op_sequence_construct(pb_onnx* o) { pb__o_give_items(o, 0, o->n->input_count, o->n->inputs); }

void pb__o_op_sequence_length(pb_onnx* o) {
  const pb_tensor* s = sequence_of(o, 0);
  if (s) pb__o_give_number(o, o->n->outputs[0], PB_I64, s->item_count);
}

void pb__o_op_sequence_at(pb_onnx* o) {
  const pb_tensor* s = sequence_of(o, 0);
  int at = s ? place(o, 1, s->item_count, 0) : 0;
  if (s && !pb__o_has(o, 1)) pb__o_refuse(o, "operand 1 is left out");
  if (!pb__o_bad(o)) give_tensor(o, s->items[at]);
}

void pb__o_op_sequence_insert(pb_onnx* o) {
  const pb_tensor* s = sequence_of(o, 0);
  if (!s || !tensor_of(o, 1)) return;
  int at = place(o, 2, s->item_count, s->item_count);
  int* items = PB_NEW_ARRAY(&o->arena, int, (size_t)s->item_count + 1);
  for (int k = 0; k < s->item_count; ++k) items[k + (k >= at)] = s->items[k];
  items[at] = o->n->inputs[1];
  pb__o_give_items(o, 0, s->item_count + 1, items);
}

void pb__o_op_sequence_erase(pb_onnx* o) {
  const pb_tensor* s = sequence_of(o, 0);
  if (!s) return;
  if (!s->item_count) pb__o_refuse(o, "of an empty sequence");
  int at = place(o, 1, s->item_count, s->item_count - 1);
  int* items = PB_NEW_ARRAY(&o->arena, int, (size_t)s->item_count + 1);
  for (int k = 0, to = 0; k < s->item_count && !pb__o_bad(o); ++k)
    if (k != at) items[to++] = s->items[k];
  pb__o_give_items(o, 0, s->item_count - 1, items);
}

void pb__o_op_concat_from_sequence(pb_onnx* o) {
  const pb_tensor* s = sequence_of(o, 0);
  pb_attr axis = pb__o_axes(o, "axes", pb__o_int(o, "axis", 0));
  if (!s) return;
  if (!pb_node_attr(o->n, "axis")) pb__o_refuse(o, "attribute 'axis' is missing");
  if (!s->item_count) pb__o_refuse(o, "of an empty sequence");
  if (pb__o_bad(o)) return;
  int count = s->item_count, *parts = PB_NEW_ARRAY(&o->arena, int, (size_t)count);
  for (int k = 0; k < count; ++k)
    parts[k] = pb__o_int(o, "new_axis", 0) ? pb__o_node(o, "Unsqueeze", 1, &s->items[k], &axis, 1, -1) : s->items[k];
  axis.name = "axis";
  axis.kind = PB_ATTR_INT;
  pb__o_node(o, "Concat", count, parts, &axis, 1, o->n->outputs[0]);
}

// By sizes, by one size (the last part may be shorter), or by ones, whose dim may go.
void pb__o_op_split_to_sequence(pb_onnx* o) {
  int x = pb__o_in(o, 0), axis = pb__o_axis(o, pb__o_int(o, "axis", 0), pb__o_type(o, x)->rank), count = 0;
  if (pb__o_bad(o)) return;
  int64_t extent = pb__o_type(o, x)->shape[axis], at = 0, *sizes = PB_NEW_ARRAY(&o->arena, int64_t, MOST_ITEMS);
  bool alone = !pb__o_has(o, 1);
  const pb_const* split = pb__constant(o->l, pb__input(o->n, 1));
  int said = alone ? 0 : pb__o_list(o, NULL, 1, MOST_ITEMS, sizes);
  if (!alone && split && !split->rank) said = 0;
  int64_t each = alone || said ? 1 : sizes[0];
  if (each < 1 || (!said && (extent + each - 1) / each > MOST_ITEMS)) pb__o_refuse(o, "parts of %lld", (long long)each);
  int* parts = PB_NEW_ARRAY(&o->arena, int, MOST_ITEMS);
  while (!pb__o_bad(o) && at < extent) {
    int64_t size = said && count == said ? 0 : said ? sizes[count] : each < extent - at ? each : extent - at;
    if (size < 1 || size > extent - at) pb__o_refuse(o, "parts that do not fit");
    pb_attr attrs[3] = {pb__o_axes(o, "starts", at), pb__o_axes(o, "ends", at + size), pb__o_axes(o, "axes", axis)};
    int part = pb__o_node(o, "Slice", 1, &o->n->inputs[0], attrs, 3, -1);
    if (alone && !pb__o_int(o, "keepdims", 1)) part = pb__o_node(o, "Squeeze", 1, &part, &attrs[2], 1, -1);
    parts[count++] = part;
    at += size;
  }
  if (said && said != count) pb__o_refuse(o, "parts that do not fit");
  pb__o_give_items(o, 0, count, parts);
}

// The body for each element of the first sequence, with that of the others in the same place.
void pb__o_op_sequence_map(pb_onnx* o) {
  const pb_attr* body = pb_node_attr(o->n, "body");
  const pb_tensor* s = sequence_of(o, 0);
  int inputs = o->n->input_count, outputs = o->n->output_count;
  if (!s) return;
  if (body->graph < 0 || (int)o->l->g->subgraphs[body->graph].input_count != inputs || inputs > MOST_VALUES ||
      (int)o->l->g->subgraphs[body->graph].output_count != outputs || outputs > MOST_VALUES)
    pb__o_refuse(o, "a body that does not fit");
  int count = s->item_count, in[MOST_VALUES], out[MOST_VALUES];
  int* made = PB_NEW_ARRAY(&o->arena, int, (size_t)count* MOST_VALUES + 1);
  for (int at = 0; at < count && !pb__o_bad(o); ++at) {
    for (int k = 0; k < inputs; ++k) {
      const pb_tensor* t = tensor_of(o, k);
      if (t && t->is_sequence && t->item_count != count) pb__o_refuse(o, "sequences of several lengths");
      if (!pb__o_bad(o)) in[k] = t->is_sequence ? t->items[at] : o->n->inputs[k];
    }
    memset(out, 0xff, sizeof out);
    if (!pb__o_bad(o)) o->status = pb__expand(o->l, o->n, body->graph, in, out);
    for (int k = 0; k < outputs; ++k) made[k * count + at] = out[k];
  }
  for (int k = 0; k < outputs; ++k) pb__o_give_items(o, k, count, made + k * count);
}

// ---- optionals: sequences of one, or none ----

static void give_optional(pb_onnx* o, int count, const int* items) {
  pb__o_give_items(o, 0, count, items);
  if (!pb__o_bad(o) && pb__o_wants(o, 0)) o->l->g->tensors[o->n->outputs[0]].is_optional = true;
}

void pb__o_op_optional(pb_onnx* o) { give_optional(o, pb__o_has(o, 0), o->n->inputs); }

void pb__o_op_optional_has_element(pb_onnx* o) {
  const pb_tensor* t = pb__o_has(o, 0) ? tensor_of(o, 0) : NULL;
  if (!pb__o_bad(o)) pb__o_give_number(o, o->n->outputs[0], PB_I1, t && (!t->is_optional || t->item_count > 0));
}

void pb__o_op_optional_get_element(pb_onnx* o) {
  const pb_tensor* t = tensor_of(o, 0);
  if (t && t->is_optional && t->item_count != 1) pb__o_refuse(o, "of an optional without an element");
  if (pb__o_bad(o)) return;
  int element = t->is_optional ? t->items[0] : o->n->inputs[0];
  const pb_tensor* e = &o->l->g->tensors[element];
  if (e->is_sequence)
    pb__o_give_items(o, 0, e->item_count, e->items);
  else
    give_tensor(o, element);
}

void pb__o_op_identity(pb_onnx* o) {
  const pb_tensor* t = tensor_of(o, 0);
  if (t && t->is_optional)
    give_optional(o, t->item_count, t->items);
  else if (t && t->is_sequence)
    pb__o_give_items(o, 0, t->item_count, t->items);
  else
    pb__o_out(o, 0, pb__o_in(o, 0));
}
