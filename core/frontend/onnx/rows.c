// The way of a node through the table: its row, its operands' number, its attributes; operands and results.
#include "core/frontend/onnx/emit.h"

#include "core/base/distance.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_TOLD = 64 };

#define OP(name, since, least, most, results, attributes, function, detail, summary)                                   \
  {name, since, least, most, results, attributes, detail, summary},
const pb_onnx_row pb_onnx_rows[] = {
#include "core/frontend/onnx/onnx.def"
    {0}};
#undef OP
#define OP(name, since, least, most, results, attributes, function, detail, summary) pb__o_op_##function,
static pb_onnx_maker* const makers[] = {
#include "core/frontend/onnx/onnx.def"
};
#undef OP

static int row_of(const pb_node* n) {
  bool own = !n->domain[0] || !strcmp(n->domain, "ai.onnx");
  size_t domain = own ? 0 : strlen(n->domain);
  for (int k = 0; pb_onnx_rows[k].name; ++k) {
    const char* name = pb_onnx_rows[k].name;
    if (own ? !strcmp(name, n->op)
            : !strncmp(name, n->domain, domain) && name[domain] == '.' && !strcmp(name + domain + 1, n->op))
      return k;
  }
  return -1;
}

// ---- refusals ----

void pb__o_refuse(pb_onnx* o, const char* format, ...) {
  char why[512];
  va_list args;
  if (o->status != PB_OK) return;
  va_start(args, format);
  vsnprintf(why, sizeof why, format, args);
  va_end(args);
  o->status = pb__refuse(o->l, o->n, NULL, why);
}

static const char* nearest(const char* name) {
  const char* best = NULL;
  int at = 1 + (int)strlen(name) / 3; // further away it is another word
  for (int k = 0; pb_onnx_rows[k].name; ++k) {
    int away = pb_edit_distance(name, pb_onnx_rows[k].name);
    if (away < at) {
      at = away;
      best = pb_onnx_rows[k].name;
    }
  }
  return best;
}

// All operators that the table lacks, each once.
static pb_status find_unknown(lifter* l, size_t first) {
  const char* told[MOST_TOLD];
  int count = 0;
  for (size_t k = first; k < l->g->node_count && count < MOST_TOLD; ++k) {
    const pb_node* n = &l->g->nodes[k];
    const char* name =
        n->domain[0] && strcmp(n->domain, "ai.onnx") ? pb_printf(&l->g->arena, "%s.%s", n->domain, n->op) : n->op;
    bool known = row_of(n) >= 0;
    for (int t = 0; t < count; ++t) known |= !strcmp(told[t], name);
    if (known) continue;
    told[count++] = name;
    const char* near = nearest(name);
    (void)pb__refuse(l, n, near ? pb_printf(&l->g->arena, "perhaps %s", near) : NULL,
                     pb_printf(&l->g->arena, "operator '%s' is not read", name));
  }
  return count ? PB_ERR_UNSUPPORTED : PB_OK;
}

// ---- attributes ----

static const char* const kinds[] = {
    [PB_ATTR_INT] = "int",      [PB_ATTR_FLOAT] = "real",    [PB_ATTR_STRING] = "text",   [PB_ATTR_INTS] = "ints",
    [PB_ATTR_FLOATS] = "reals", [PB_ATTR_TENSOR] = "tensor", [PB_ATTR_STRINGS] = "texts", [PB_ATTR_GRAPH] = "graph"};

static bool is_kind(const pb_attr* a, const char* kind, size_t length) {
  if (length == 4 && !strncmp(kind, "flag", 4)) return a->kind == PB_ATTR_INT && (a->i == 0 || a->i == 1);
  return strlen(kinds[a->kind]) == length && !strncmp(kinds[a->kind], kind, length);
}

// Where the row names the attribute: its kind, NULL.
static const char* kind_of(const char* spec, const char* name) {
  for (size_t length = strlen(name); *spec;) {
    if (!strncmp(spec, name, length) && spec[length] == ':') return spec + length + 1;
    spec += strcspn(spec, " ");
    while (*spec == ' ') ++spec;
  }
  return NULL;
}

static pb_status check_attributes(lifter* l, const pb_node* n, const pb_onnx_row* row) {
  for (int a = 0; a < n->attr_count; ++a) {
    const char* kind = kind_of(row->attributes, n->attrs[a].name);
    if (!kind)
      return pb__refuse(l, n, row->attributes[0] ? row->attributes : "it has none",
                        pb_printf(&l->g->arena, "an attribute '%s' that it does not have", n->attrs[a].name));
    size_t length = strcspn(kind, " !");
    const pb_attr* is = &n->attrs[a];
    if (is_kind(is, kind, length)) continue;
    if (is->kind == PB_ATTR_INT && !strncmp(kind, "flag", length))
      return pb__refuse(l, n, "0 or 1", pb_printf(&l->g->arena, "attribute '%s' is %" PRId64, is->name, is->i));
    return pb__refuse(l, n, NULL,
                      pb_printf(&l->g->arena, "attribute '%s' is of the kind %s, not %.*s", is->name, kinds[is->kind],
                                (int)length, kind));
  }
  for (const char* at = row->attributes; *at;) {
    size_t name = strcspn(at, ":"), end = strcspn(at, " ");
    const char* text = pb_printf(&l->g->arena, "%.*s", (int)name, at);
    if (at[end - 1] == '!' && !pb_node_attr(n, text))
      return pb__refuse(l, n, NULL, pb_printf(&l->g->arena, "attribute '%s' is missing", text));
    at += end;
    while (*at == ' ') ++at;
  }
  return PB_OK;
}

int64_t pb__o_int(const pb_onnx* o, const char* name, int64_t missing) { return pb_node_int(o->n, name, missing); }

double pb__o_real(const pb_onnx* o, const char* name, double missing) {
  const pb_attr* a = pb_node_attr(o->n, name);
  return a ? (double)a->f : missing;
}

const char* pb__o_text(const pb_onnx* o, const char* name, const char* missing) {
  const pb_attr* a = pb_node_attr(o->n, name);
  return a && a->s ? a->s : missing;
}

void pb__o_ints(pb_onnx* o, const char* name, int count, int64_t missing, int64_t* items) {
  const pb_attr* a = pb_node_attr(o->n, name);
  const int64_t far = (int64_t)1 << 31;
  if (a && a->count != count) pb__o_refuse(o, "%s of %d numbers, not %d", name, a->count, count);
  for (int k = 0; k < count; ++k) {
    items[k] = a && k < a->count ? a->ints[k] : missing;
    if (items[k] < -far || items[k] > far) {
      pb__o_refuse(o, "%s past 2^31", name);
      items[k] = missing;
    }
  }
}

int pb__o_list(pb_onnx* o, const char* name, int k, int most, int64_t* items) {
  int count;
  bool there = name && pb_node_attr(o->n, name);
  if (!there && !pb__o_has(o, k)) return -1;
  pb__read_integers(o->l, o->n, there ? name : NULL, k, most, items, &count);
  if (count >= 0) return count;
  pb__o_refuse(o, "operand %d is not constant, or of other than at most %d integers", k, most);
  return 0;
}

bool pb__o_reals(const pb_onnx* o, int k, int most, float* items, int* count) {
  const pb_const* c = pb__constant(o->l, pb__input(o->n, k));
  if (!c || c->type != PB_F32 || c->bytes > (uint64_t)most * 4) return false;
  *count = (int)(c->bytes / 4);
  if (*count) memcpy(items, c->data, c->bytes);
  return true;
}

int pb__o_axis(pb_onnx* o, int64_t axis, int rank) {
  int at = 0;
  if (!pb__axis(axis, rank, &at)) pb__o_refuse(o, "axis %lld of %d dims", (long long)axis, rank);
  return pb__o_bad(o) ? 0 : at;
}

// ---- operands and results ----

bool pb__o_has(const pb_onnx* o, int k) { return pb__input(o->n, k) >= 0; }
bool pb__o_wants(const pb_onnx* o, int k) { return k < o->n->output_count && o->n->outputs[k] >= 0; }

// A constant as a value of its own: integers without a sign and narrow floats as the bits that they are.
static int constant_value(pb_onnx* o, int tensor) {
  const pb_const from = *pb__constant(o->l, tensor);
  pb_type type = from.type == PB_I8 && o->l->g->tensors[tensor].is_unsigned ? PB_UI8 : from.type;
  if (pb__is_empty(from.rank, from.shape)) return pb_make_value(&o->door.m, type, from.rank, from.shape);
  int64_t count = pb__elements(from.rank, from.shape);
  if (count < 0 || count > PB_MAX_ELEMENTS) {
    pb__o_refuse(o, "a constant of more than 2^31 - 1 elements");
    return -1;
  }
  int v = pb_make_value(&o->door.m, type, from.rank, from.shape);
  const void* data = pb_const_data(o->l->consts, o->l->g->tensors[tensor].const_id);
  if (type == PB_I1) {
    char* truths = pb_alloc(&o->l->consts->arena, from.bytes + 1);
    for (uint64_t k = 0; k < from.bytes; ++k) truths[k] = ((const char*)data)[k] != 0;
    data = truths;
  }
  int id = pb_consts_add(o->l->consts, from.name, pb_type_stored(type), from.rank, from.shape, data);
  o->l->consts->items[id]->mapped = from.mapped && data == from.data; // not where it was copied to an aligned place
  o->l->out->values[v].const_id = id;
  return v;
}

// Codes without a sign are 128 less in the program, and as they are in rows: from one to the other.
static int turned(pb_onnx* o, int value, pb_type to) {
  const pb_s1_value from = o->l->out->values[value];
  pb_maker* m = &o->door.m;
  int dims[PB_NEST_RANK], y = pb_make_value(m, to, from.rank, from.shape);
  if (pb__is_empty(from.rank, from.shape)) return y;
  pb_nest* n = pb_make_walk(m, "point", y, dims);
  pb_make_along(m, pb_make_access(m, value), dims);
  int code = pb_nest_load(n, 0);
  (void)pb_nest_node(n, PB_OP_XOR, PB_I8, code, pb_nest_integer(n, PB_I8, INT8_MIN));
  pb_make_end(m, y, dims);
  return y;
}

int pb__o_in_moved(pb_onnx* o, int k) {
  if (!pb__o_has(o, k)) pb__o_refuse(o, "operand %d is left out", k);
  return pb__o_tensor(o, pb__input(o->n, k));
}

int pb__o_in(pb_onnx* o, int k) {
  int x = pb__o_in_moved(o, k);
  if (pb_type_is_code(pb__o_type(o, x)->type))
    pb__o_refuse(o, "of %s, which is only moved and converted", pb_type_name(pb__o_type(o, x)->type));
  if (!o->in_f32 || !pb_type_is_narrow(pb__o_type(o, x)->type)) return x;
  o->rounded_to = pb__o_type(o, x)->type;
  return pb__o_worked(o, x);
}

static int read_tensor(pb_onnx* o, int tensor, bool signs) {
  int value = -1;
  o->door.m.type = o->n->op;
  if (tensor >= 0 && o->l->g->tensors[tensor].is_sequence) pb__o_refuse(o, "a sequence where a tensor has to be");
  if (!pb__o_bad(o)) {
    if (pb__constant(o->l, tensor))
      value = constant_value(o, tensor);
    else
      o->status = pb__own_any(o->l, o->n, tensor, &value);
  }
  if (pb__o_bad(o)) return pb__o_new(o, PB_F32, 0, NULL);
  if (o->l->out->values[value].type == PB_I8 && o->l->unsigned_codes[tensor] && !signs && !pb__constant(o->l, tensor))
    value = turned(o, value, PB_UI8);
  const pb_s1_value v = o->l->out->values[value];
  int in = pb__o_new(o, v.type, v.rank, v.shape);
  o->door.value[in] = value;
  return in;
}

int pb__o_tensor(pb_onnx* o, int tensor) { return read_tensor(o, tensor, false); }

int pb__o_with_sign(pb_onnx* o, int x) {
  if (pb__o_type(o, x)->type != PB_UI8) return x;
  return pb__o_same_bytes(o, pb__o_binary(o, "xor", x, pb__o_integer(o, PB_UI8, 128)), PB_I8);
}

int pb__o_in_with_sign(pb_onnx* o, int k) {
  if (!pb__o_has(o, k)) return pb__o_in(o, k);
  return pb__o_with_sign(o, read_tensor(o, pb__input(o->n, k), true));
}

void pb__o_out(pb_onnx* o, int k, int v) {
  if (pb__o_bad(o) || !pb__o_wants(o, k)) return;
  if (o->in_f32 && pb__o_type(o, v)->type == PB_F32) v = pb__o_cast(o, v, o->rounded_to);
  int tensor = o->n->outputs[k], value = o->door.value[v];
  const char* name = o->l->g->tensors[tensor].name;
  if (pb__o_type(o, v)->type == PB_UI8) {
    value = turned(o, value, PB_I8);
    o->l->unsigned_codes[tensor] = true;
  }
  const pb_s1_value made = o->l->out->values[value];
  for (int other = 0; other < k; ++other)
    if (pb__o_wants(o, other) && o->l->value_of[o->n->outputs[other]] == value) o->first_value = (size_t)value + 1;
  if (pb__is_empty(made.rank, made.shape)) {
    value = pb__add_empty(o->l, name, made.type, made.rank, made.shape);
  } else if ((size_t)value < o->first_value || made.const_id >= 0) { // another's, or no tensor of its own
    int copy = pb__add_value(o->l, name, made.type, made.rank, made.shape);
    pb_make_copy(&o->door.m, value, copy);
    value = copy;
  }
  o->l->out->values[value].name = name;
  o->l->value_of[tensor] = value;
}

// Whether the result is made, or taken along by the one node that reads it: a branch that is written out ends in a node
// which may take a clamp behind it for its own.
static bool is_there(const lifter* l, int tensor) {
  const pb_node* maker = pb__producer(l, tensor);
  int reader = pb__continued(l, tensor);
  return l->value_of[tensor] >= 0 || pb__constant(l, tensor) || l->g->tensors[tensor].is_sequence ||
         (reader >= 0 && l->done[reader]) ||
         (maker && pb__is(maker, "DequantizeLinear")); // which is made for who reads it
}

pb_status pb__o_make(lifter* l, const pb_node* n, bool* known) {
  int k = row_of(n);
  *known = k >= 0;
  if (k < 0) return PB_OK;
  const pb_onnx_row* row = &pb_onnx_rows[k];
  pb_onnx o = {.l = l, .n = n, .row = row, .first_value = l->out->value_count};
  o.flat.file = l->g->file;
  o.door = (pb_door){.table = &pb__door_stablehlo,
                     .flat = &o.flat,
                     .diag = l->diag,
                     .multiplied = l->g->multiplied,
                     .m = {.program = l->out, .consts = l->consts, .name = n->name},
                     .name = n->name,
                     .what = pb_node_place(l->g, n),
                     .broadcasts = true};
  makers[k](&o);
  if (o.status == PB_OK && o.door.m.is_wrong) pb__o_refuse(&o, "operands or results of types that do not fit");
  for (int r = 0; r < n->output_count && o.status == PB_OK; ++r)
    if (n->outputs[r] >= 0 && l->uses[n->outputs[r]] && !is_there(l, n->outputs[r]))
      pb__o_refuse(&o, "its result %d is not made", r);
  pb_arena_free(&o.arena);
  return o.status;
}

// Codes of 32 bits are sums, as biases are, whose zero point ONNX says to be 0: one that is not has no meaning that all
// who run the model share.
static pb_status check_zero_point(lifter* l, const pb_node* n) {
  int tensor = pb__input(n, 2);
  if (tensor < 0 || pb__type_of(l, pb__input(n, 0)) != PB_I32) return PB_OK;
  const pb_const* zero = pb__constant(l, tensor);
  if (!zero)
    return pb__refuse(l, n, "none, or 0", "of int32 by a zero point that is computed, where ONNX says that it is 0");
  const char* bytes = pb_const_data(l->consts, l->g->tensors[tensor].const_id);
  for (uint64_t k = 0; k < zero->bytes; ++k)
    if (bytes[k]) return pb__refuse(l, n, "none, or 0", "of int32 by a zero point other than 0, which ONNX says it is");
  return PB_OK;
}

static pb_status check(lifter* l, const pb_node* n) {
  int k = row_of(n);
  if (k < 0) return PB_OK;
  const pb_onnx_row* row = &pb_onnx_rows[k];
  if (n->input_count < row->least || n->input_count > row->most || n->output_count > row->results)
    return pb__refuse(l, n, NULL,
                      pb_printf(&l->g->arena, "%d operands and %d results; it has %d to %d, and up to %d",
                                n->input_count, n->output_count, row->least, row->most, row->results));
  if (n->output_count < 1) return pb__refuse(l, n, NULL, "a node without a result");
  bool own = !n->domain[0] || !strcmp(n->domain, "ai.onnx");
  int64_t opset = pb_node_opset(l->g, n);
  if (own && !opset)
    return pb_error(l->diag, (pb_place){.file = l->g->file, .what = pb_node_place(l->g, n)}, 2036,
                    "an opset_import of the domain ''",
                    "the model does not say of which opset its operators are, on which their meaning hangs");
  if (own && opset < row->since)
    return pb__refuse(l, n, NULL,
                      pb_printf(&l->g->arena, "it came with opset %d, and %s is of %lld", row->since,
                                n->opset ? "this" : "the model", (long long)opset));
  if (pb__is(n, "DequantizeLinear")) PB_TRY(check_zero_point(l, n));
  if (own) pb__warn_of_places(l, n);
  if (own) pb__warn_of_training(l, n);
  return check_attributes(l, n, row);
}

pb_status pb_onnx_build(pb_graph* graph, pb_consts* consts, pb_diag* diag, pb_s1* program) {
  static const pb_s1_rows rows = {.survey = find_unknown, .check = check, .make = pb__o_make};
  return pb_s1_build(graph, consts, diag, &rows, program);
}
