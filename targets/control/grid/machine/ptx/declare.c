// Variables and registers of PTX (5.2 to 5.4 of the ISA), and the scopes that names live in.
#include "targets/control/grid/machine/ptx/ptx.h"
#include "targets/control/grid/machine/ptx/scope.h"

#include <stdlib.h>

enum { MAX_REGISTERS = 1 << 20 };

uint32_t ptx__type_bytes(const char* type) {
  static const struct {
    const char* name;
    uint32_t bytes;
  } types[] = {{"pred", 4},  {"b8", 1},     {"u8", 1},  {"s8", 1},  {"b16", 2}, {"u16", 2}, {"s16", 2},
               {"f16", 2},   {"bf16", 2},   {"b32", 4}, {"u32", 4}, {"s32", 4}, {"f32", 4}, {"tf32", 4},
               {"f16x2", 4}, {"bf16x2", 4}, {"b64", 8}, {"u64", 8}, {"s64", 8}, {"f64", 8}, {"b128", 16}};
  for (size_t k = 0; k < sizeof types / sizeof *types; ++k)
    if (!strcmp(types[k].name, type)) return types[k].bytes;
  return 0;
}

ptx_variable* ptx__find(ptx_reader* r, const char* name, uint32_t* number) {
  size_t length = strlen(name), digits = length;
  while (digits && name[digits - 1] >= '0' && name[digits - 1] <= '9') --digits;
  uint64_t index = digits < length && length - digits < 10 ? strtoull(name + digits, NULL, 10) : UINT64_MAX;
  bool canonical = digits < length && (name[digits] != '0' || digits + 1 == length);
  for (ptx_scope* scope = r->scope; scope; scope = scope->outer)
    for (ptx_variable* v = scope->variables; v; v = v->next) {
      if (!v->family && !strcmp(v->name, name)) return *number = v->first, v;
      if (v->family && canonical && index < v->family && strlen(v->name) == digits && !memcmp(v->name, name, digits))
        return *number = v->first + (uint32_t)index, v;
    }
  for (ptx_variable* v = r->globals; v; v = v->next)
    if (!strcmp(v->name, name)) return *number = 0, v;
  return NULL;
}

static void put_bytes(ptx_reader* r, uint8_t* data, ptx_variable* v, uint64_t offset, uint64_t bits, uint32_t bytes) {
  if (offset + bytes > v->size) ptx__fail(r, r->token.line, "%s: more values than it holds", v->name);
  memcpy(data + offset, &bits, bytes);
}

static void put_reference(ptx_reader* r, ptx_variable* v, uint64_t offset) {
  ptx_reference* ref = PB_NEW(r->arena, ptx_reference);
  ref->offset = offset;
  ref->generic = ptx__take(r, "generic");
  if (ref->generic) ptx__want(r, "(");
  ref->name = ptx__word(r, "a variable's name");
  if (ref->generic) ptx__want(r, ")");
  if (ptx__take(r, "+")) ref->plus = (int64_t)ptx__integer(r, "an offset");
  if (offset + 8 > v->size || v->bytes != 8) ptx__fail(r, r->token.line, "%s: an address is 8 bytes", v->name);
  ref->next = v->references;
  v->references = ref;
}

static uint64_t put_values(ptx_reader* r, ptx_variable* v, uint8_t* data, uint64_t offset, int depth) {
  if (depth > 8) ptx__fail(r, r->token.line, "%s: values in more than 8 braces", v->name);
  if (ptx__take(r, "{")) {
    while (!ptx__is(r, "}")) {
      offset = put_values(r, v, data, offset, depth + 1);
      if (!ptx__take(r, ",")) break;
    }
    ptx__want(r, "}");
    return offset;
  }
  if (r->token.kind == PTX_WORD) {
    put_reference(r, v, offset);
  } else {
    bool minus = ptx__take(r, "-");
    ptx_token t = r->token;
    uint64_t bits = t.bits;
    if (t.kind == PTX_FLOAT64 && v->bytes == 4) {
      double wide;
      memcpy(&wide, &bits, 8);
      float narrow = (float)(minus ? -wide : wide);
      bits = 0;
      memcpy(&bits, &narrow, 4);
    } else if (t.kind == PTX_FLOAT64 && minus) {
      bits ^= UINT64_C(1) << 63;
    } else if (t.kind == PTX_INTEGER && minus) {
      bits = 0 - bits;
    }
    if (t.kind != PTX_INTEGER && t.kind != PTX_FLOAT32 && t.kind != PTX_FLOAT64)
      ptx__fail(r, t.line, "%s: a value is a number, an address or braces", v->name);
    ptx__next(r);
    put_bytes(r, data, v, offset, bits, v->bytes);
  }
  return offset + v->bytes;
}

static void add(ptx_reader* r, ptx_variable* v) {
  uint32_t number;
  ptx_scope* scope = r->scope;
  for (ptx_variable* old = scope ? scope->variables : r->globals; old; old = old->next)
    if (!strcmp(old->name, v->name) && !old->family == !v->family) {
      if (!scope && (old->is_extern || v->is_extern)) continue; // declared before
      ptx__fail(r, r->token.line, "%s is declared twice", v->name);
    }
  (void)number;
  ptx_variable** list = scope ? &scope->variables : &r->globals;
  v->next = *list;
  *list = v;
  if (v->space != PTX_REG) return;
  uint32_t count = v->family ? v->family : 1;
  ptx_function* f = r->function;
  if (count > MAX_REGISTERS - f->register_count) ptx__fail(r, r->token.line, "more than %d registers", MAX_REGISTERS);
  const ptx_variable** more = PB_NEW_ARRAY(r->arena, const ptx_variable*, f->register_count + count);
  if (f->register_count) memcpy(more, f->registers, f->register_count * sizeof *more);
  v->first = f->register_count;
  for (uint32_t k = 0; k < count; ++k) more[f->register_count++] = v;
  f->registers = more;
}

static void extents(ptx_reader* r, ptx_variable* v) {
  bool open = false;
  uint64_t size = v->bytes;
  while (ptx__take(r, "[")) {
    if (ptx__is(r, "]")) {
      open = true;
    } else {
      uint64_t extent = ptx__integer(r, "an extent");
      if (extent > UINT64_C(1) << 32 || size > UINT64_C(1) << 36)
        ptx__fail(r, r->token.line, "%s is too large", v->name);
      size *= extent;
    }
    ptx__want(r, "]");
  }
  v->size = open ? 0 : size;
}

ptx_variable* ptx__declare(ptx_reader* r, ptx_space space, bool is_extern) {
  uint32_t align = 0, lanes = 1;
  const char* type = NULL;
  bool pointer = false; // what is said behind is of what the parameter points to
  while (r->token.kind == PTX_WORD && *r->token.text == '.') {
    const char* word = ptx__word(r, "a type") + 1;
    if (!strcmp(word, "align")) {
      uint32_t said = (uint32_t)ptx__integer(r, "an alignment");
      if (!pointer) align = said;
    } else if (!strcmp(word, "ptr"))
      pointer = true;
    else if (!strcmp(word, "v2") || !strcmp(word, "v4"))
      lanes = (uint32_t)(word[1] - '0');
    else if (!strcmp(word, "global") || !strcmp(word, "shared") || !strcmp(word, "const") || !strcmp(word, "local"))
      ; // where it points
    else if (!type && ptx__type_bytes(word))
      type = word;
    else
      ptx__fail(r, r->token.line, ".%s is no type that the machine knows", word);
  }
  if (!type) ptx__fail(r, r->token.line, "a variable without a type");
  if (align > 1 << 16 || (align & (align - 1))) ptx__fail(r, r->token.line, "an alignment of %u", align);
  ptx_variable* first = NULL;
  do {
    ptx_variable* v = PB_NEW(r->arena, ptx_variable);
    v->space = space;
    v->type = type;
    v->bytes = ptx__type_bytes(type);
    v->is_extern = is_extern;
    v->align = align ? align : v->bytes * lanes;
    if (space == PTX_REG && (lanes > 1 || !strcmp(type + 1, "8")))
      ptx__fail(r, r->token.line, "a register of type .%s%s", lanes > 1 ? "v" : "", type);
    v->name = ptx__word(r, "a variable's name");
    if (space == PTX_REG && ptx__take(r, "<")) {
      uint64_t count = ptx__integer(r, "a count of registers");
      if (!count || count > MAX_REGISTERS)
        ptx__fail(r, r->token.line, "%llu registers %s", (unsigned long long)count, v->name);
      v->family = (uint32_t)count;
      ptx__want(r, ">");
    }
    extents(r, v);
    v->size *= lanes;
    if (ptx__take(r, "=")) {
      if (!v->size) ptx__fail(r, r->token.line, "%s: values, but no extent", v->name);
      if (v->size > UINT64_C(1) << 30 || (space != PTX_GLOBAL && space != PTX_CONST))
        ptx__fail(r, r->token.line, "%s: values in a variable that has none", v->name);
      uint8_t* data = PB_NEW_ARRAY(r->arena, uint8_t, v->size);
      put_values(r, v, data, 0, 0);
      v->data = data;
    }
    add(r, v);
    first = v;
  } while ((space == PTX_REG || space == PTX_SHARED || space == PTX_LOCAL) && ptx__take(r, ","));
  return first;
}
