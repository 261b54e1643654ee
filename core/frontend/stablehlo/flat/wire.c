// The flat form as bytes, and back. What comes back may be anything: every count, length, index and extent is checked
// before it is used.
#include "core/frontend/flat.h"
#include "core/poly/text.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_DEPTH = 64 };

// ---- to bytes ----

static void put(pb_text* t, const void* bytes, size_t count) { pb_text_add_bytes(t, bytes, count); }
static void put_number(pb_text* t, int64_t number) { put(t, &number, sizeof number); }

static void put_string(pb_text* t, const char* s) {
  size_t n = strlen(s) + 1;
  put_number(t, (int64_t)n);
  put(t, s, n);
}

static void put_type(pb_text* t, const pb_flat_type* type) {
  put_number(t, type->type);
  put_number(t, type->is_complex);
  put_number(t, type->is_element);
  put_number(t, type->is_open);
  put_number(t, type->rank);
  for (int r = 0; r < type->rank; ++r) put_number(t, type->shape[r]);
  put_string(t, type->text);
}

static int64_t tensor_bytes(const pb_flat_type* type) {
  int64_t bytes = (pb_type_bits(type->type) + 7) / 8 * (type->is_complex ? 2 : 1);
  for (int r = 0; r < type->rank; ++r) bytes *= type->shape[r];
  return bytes;
}

static void put_attr(pb_text* t, const pb_flat_attr* a) {
  put_string(t, a->name);
  put_number(t, a->kind);
  if (a->kind == PB_FLAT_TENSOR) {
    put_type(t, &a->type);
    put_number(t, tensor_bytes(&a->type));
    put(t, a->bytes, (size_t)tensor_bytes(&a->type));
    return;
  }
  put_number(t, a->i);
  put_number(t, a->kind == PB_FLAT_INTS ? a->count : 0);
  if (a->kind == PB_FLAT_INTS) put(t, a->ints, sizeof *a->ints * (size_t)a->count);
  put_string(t, a->text);
}

static void put_values(pb_text* t, const int* values, int count) {
  put_number(t, count);
  for (int k = 0; k < count; ++k) put_number(t, values[k]);
}

static void put_block(pb_text* t, const pb_flat_block* block) {
  put_values(t, block->arguments, block->argument_count);
  put_number(t, block->op_count);
  for (int k = 0; k < block->op_count; ++k) {
    const pb_flat_op* op = &block->ops[k];
    put_string(t, op->name);
    put_number(t, op->line);
    put_number(t, op->column);
    put_values(t, op->operands, op->operand_count);
    put_values(t, op->results, op->result_count);
    put_number(t, op->attr_count);
    for (int a = 0; a < op->attr_count; ++a) put_attr(t, &op->attrs[a]);
    put_number(t, op->region_count);
    for (int r = 0; r < op->region_count; ++r) put_block(t, &op->regions[r]);
  }
}

void* pb_flat_pack(const pb_flat* flat, size_t* bytes) {
  pb_text t = {0};
  put_number(&t, flat->value_count);
  for (int v = 0; v < flat->value_count; ++v) put_type(&t, &flat->values[v]);
  put_number(&t, flat->func_count);
  for (int f = 0; f < flat->func_count; ++f) {
    put_string(&t, flat->funcs[f].name);
    put_number(&t, flat->funcs[f].line);
    put_number(&t, flat->funcs[f].column);
    put_block(&t, &flat->funcs[f].body);
  }
  *bytes = t.length;
  return t.data;
}

// ---- and back ----

typedef struct cursor {
  const char *at, *end;
  pb_flat* flat;
  int depth;
  bool bad;
} cursor;

static const char* get(cursor* c, size_t count) {
  if (c->bad || (size_t)(c->end - c->at) < count) {
    c->bad = true;
    return NULL;
  }
  const char* here = c->at;
  c->at += count;
  return here;
}

static int64_t number(cursor* c, int64_t least, int64_t most) {
  int64_t v = 0;
  const char* here = get(c, sizeof v);
  if (here) memcpy(&v, here, sizeof v);
  if (v < least || v > most) c->bad = true;
  return c->bad ? least : v;
}

// Of things that take so many bytes each at least.
static int count_of(cursor* c, size_t size) {
  int64_t left = (int64_t)((size_t)(c->end - c->at) / size);
  return (int)number(c, 0, left < INT32_MAX ? left : INT32_MAX);
}

static const char* string(cursor* c) {
  int64_t n = number(c, 1, c->end - c->at);
  const char* s = get(c, (size_t)n);
  if (!s || memchr(s, 0, (size_t)n) != s + n - 1) c->bad = true;
  return c->bad ? "" : s;
}

static pb_flat_type type(cursor* c) {
  pb_flat_type t = {.type = (pb_type)number(c, 0, PB_TYPE_COUNT)};
  int64_t elements = 1;
  t.is_complex = number(c, 0, 1);
  t.is_element = number(c, 0, 1);
  t.is_open = number(c, 0, 1);
  t.rank = (int)number(c, 0, PB_FLAT_RANK);
  bool known = t.type != PB_TYPE_COUNT, open = false;
  for (int r = 0; r < t.rank; ++r) {
    t.shape[r] = number(c, known ? t.is_open ? -1 : 1 : INT64_MIN, known ? INT32_MAX / elements : INT64_MAX);
    open |= t.shape[r] == -1;
    if (known && !t.shape[r]) c->bad = true;
    if (known && t.shape[r] > 0) elements *= t.shape[r];
  }
  if (known && open != t.is_open) c->bad = true;
  if ((t.type == PB_INDEX) > t.is_element || (t.is_element && (t.rank || t.is_complex)) || t.type == PB_U8 ||
      t.type == PB_I128 || (pb_type_is_code(t.type) && t.type < PB_I4 && t.type != PB_F8E4M3FN && t.type != PB_F8E5M2))
    c->bad = true;
  t.text = string(c);
  return t;
}

static void attr(cursor* c, pb_flat_attr* a) {
  pb_arena* arena = &c->flat->arena;
  a->name = string(c);
  a->kind = (pb_flat_kind)number(c, PB_FLAT_INT, PB_FLAT_TENSOR);
  a->text = "";
  if (a->kind == PB_FLAT_TENSOR) {
    a->type = type(c);
    if (a->type.type == PB_TYPE_COUNT || a->type.is_open) c->bad = true;
    int64_t bytes = c->bad ? 0 : tensor_bytes(&a->type);
    (void)number(c, bytes, bytes);
    a->bytes = get(c, (size_t)bytes);
    if (c->bad || a->type.type != PB_I64 || a->type.rank > 2 || a->type.is_complex) return;
    a->count = (int)(bytes / 8);
  } else {
    a->i = number(c, INT64_MIN, INT64_MAX);
    a->count = count_of(c, sizeof *a->ints);
    a->bytes = get(c, sizeof *a->ints * (size_t)a->count);
    a->text = string(c);
    if (c->bad || a->kind != PB_FLAT_INTS) return;
  }
  int64_t* ints = PB_NEW_ARRAY(arena, int64_t, (size_t)a->count + 1); // aligned
  memcpy(ints, a->bytes, sizeof *ints * (size_t)a->count);
  a->ints = ints;
}

static const int* values(cursor* c, int* count) {
  *count = count_of(c, 8);
  int* all = PB_NEW_ARRAY(&c->flat->arena, int, (size_t)*count + 1);
  for (int k = 0; k < *count && !c->bad; ++k) all[k] = (int)number(c, 0, (int64_t)c->flat->value_count - 1);
  return all;
}

static void block(cursor* c, pb_flat_block* b);

static void op_of(cursor* c, pb_flat_op* op) {
  op->name = string(c);
  if (!strchr(op->name, '.')) op->name = "unknown.operation";
  op->line = (int)number(c, 0, INT32_MAX);
  op->column = (int)number(c, 0, INT32_MAX);
  op->operands = values(c, &op->operand_count);
  op->results = values(c, &op->result_count);
  op->attr_count = count_of(c, 24);
  pb_flat_attr* attrs = PB_NEW_ARRAY(&c->flat->arena, pb_flat_attr, (size_t)op->attr_count + 1);
  for (int a = 0; a < op->attr_count && !c->bad; ++a) attr(c, &attrs[a]);
  op->attrs = attrs;
  op->region_count = count_of(c, 16);
  pb_flat_block* regions = PB_NEW_ARRAY(&c->flat->arena, pb_flat_block, (size_t)op->region_count + 1);
  if (++c->depth > MOST_DEPTH) c->bad = true;
  for (int r = 0; r < op->region_count && !c->bad; ++r) block(c, &regions[r]);
  --c->depth;
  op->regions = regions;
}

static void block(cursor* c, pb_flat_block* b) {
  b->arguments = values(c, &b->argument_count);
  b->op_count = count_of(c, 56);
  pb_flat_op* ops = PB_NEW_ARRAY(&c->flat->arena, pb_flat_op, (size_t)b->op_count + 1);
  for (int k = 0; k < b->op_count && !c->bad; ++k) op_of(c, &ops[k]);
  b->ops = ops;
}

bool pb_flat_unpack(void* data, size_t bytes, pb_flat* flat) {
  cursor c = {.at = data, .end = (const char*)data + bytes, .flat = flat};
  flat->value_count = count_of(&c, 32);
  pb_flat_type* all = PB_NEW_ARRAY(&flat->arena, pb_flat_type, (size_t)flat->value_count + 1);
  for (int v = 0; v < flat->value_count && !c.bad; ++v) all[v] = type(&c);
  flat->values = all;
  flat->func_count = count_of(&c, 40);
  pb_flat_func* funcs = PB_NEW_ARRAY(&flat->arena, pb_flat_func, (size_t)flat->func_count + 1);
  for (int f = 0; f < flat->func_count && !c.bad; ++f) {
    funcs[f].name = string(&c);
    funcs[f].line = (int)number(&c, 0, INT32_MAX);
    funcs[f].column = (int)number(&c, 0, INT32_MAX);
    block(&c, &funcs[f].body);
  }
  flat->funcs = funcs;
  if (c.bad || c.at != c.end) return false;
  flat->data = data;
  return true;
}

void pb_flat_free(pb_flat* flat) {
  free(flat->data);
  pb_arena_free(&flat->arena);
  *flat = (pb_flat){0};
}

const pb_flat_attr* pb_flat_find(const pb_flat_op* op, const char* name) {
  for (int k = 0; k < op->attr_count; ++k)
    if (!strcmp(op->attrs[k].name, name)) return &op->attrs[k];
  return NULL;
}
