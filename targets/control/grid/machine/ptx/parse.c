// PTX (chapters 4, 5, 7, 10 and 11 of the ISA) from its text: directives, functions, statements, operands.
#include "targets/control/grid/machine/ptx/ptx.h"
#include "targets/control/grid/machine/ptx/scope.h"

#include <stdlib.h>

enum { MAX_OPERANDS = 64, MAX_DEPTH = 4, MAX_SCOPES = 100000, MAX_FILES = 4096 };

static void open_scope(ptx_reader* r) {
  ptx_function* f = r->function;
  if (f->scope_count == MAX_SCOPES) ptx__fail(r, r->token.line, "more than %d scopes", MAX_SCOPES);
  if (!(f->scope_count & (f->scope_count - 1))) { // room doubles at powers of two
    uint32_t* more = PB_NEW_ARRAY(r->arena, uint32_t, f->scope_count ? 2 * f->scope_count : 1);
    if (f->scope_count) memcpy(more, f->parents, f->scope_count * sizeof *more);
    f->parents = more;
  }
  ptx_scope* scope = PB_NEW(r->arena, ptx_scope);
  scope->outer = r->scope;
  scope->number = f->scope_count;
  f->parents[f->scope_count++] = r->scope ? r->scope->number : 0;
  r->scope = scope;
}

static void operand(ptx_reader* r, ptx_operand* o, int depth);

static void parts(ptx_reader* r, ptx_operand* o, const char* end, int depth) {
  if (depth >= MAX_DEPTH) ptx__fail(r, r->token.line, "operands in operands");
  o->parts = PB_NEW_ARRAY(r->arena, ptx_operand, MAX_OPERANDS);
  while (!ptx__is(r, end)) {
    if (o->count == MAX_OPERANDS) ptx__fail(r, r->token.line, "more than %d operands", MAX_OPERANDS);
    operand(r, &o->parts[o->count++], depth + 1);
    if (!ptx__take(r, ",")) break;
  }
  ptx__want(r, end);
}

static void number(ptx_reader* r, ptx_operand* o, bool minus) {
  ptx_token t = r->token;
  o->bits = t.bits;
  switch (t.kind) {
  case PTX_INTEGER:
    o->kind = PTX_OPERAND_INTEGER;
    if (minus) o->bits = 0 - t.bits;
    break;
  case PTX_FLOAT32:
    o->kind = PTX_OPERAND_F32;
    if (minus) o->bits ^= 0x80000000;
    break;
  case PTX_FLOAT64:
    o->kind = PTX_OPERAND_F64;
    if (minus) o->bits ^= UINT64_C(1) << 63;
    break;
  default:
    ptx__fail(r, t.line, "an operand is missing");
  }
  ptx__next(r);
}

static void named(ptx_reader* r, ptx_operand* o) {
  o->name = ptx__word(r, "an operand");
  o->variable = ptx__find(r, o->name, &o->number);
  if (!strcmp(o->name, "_"))
    o->kind = PTX_OPERAND_SINK;
  else if (o->variable)
    o->kind = o->variable->space == PTX_REG ? PTX_OPERAND_REGISTER : PTX_OPERAND_VARIABLE;
  else
    o->kind = *o->name == '%' ? PTX_OPERAND_SPECIAL : PTX_OPERAND_NAME;
}

static void operand(ptx_reader* r, ptx_operand* o, int depth) {
  if (ptx__take(r, "{")) {
    o->kind = PTX_OPERAND_VECTOR;
    parts(r, o, "}", depth);
  } else if (ptx__take(r, "(")) {
    o->kind = PTX_OPERAND_LIST;
    parts(r, o, ")", depth);
  } else if (ptx__take(r, "[")) {
    o->kind = PTX_OPERAND_MEMORY;
    parts(r, o, "]", depth);
    if (o->count != 1) ptx__fail(r, r->token.line, "an address of %d parts", o->count);
    o->offset = o->parts->offset;
  } else if (ptx__take(r, "!")) {
    named(r, o);
    o->negated = true;
  } else if (ptx__take(r, "-")) {
    number(r, o, true);
  } else if (r->token.kind == PTX_WORD) {
    named(r, o);
    if (ptx__take(r, "|")) {
      ptx_operand* two = PB_NEW_ARRAY(r->arena, ptx_operand, 2);
      two[0] = *o;
      *o = (ptx_operand){.kind = PTX_OPERAND_PAIR, .parts = two, .count = 2};
      operand(r, &two[1], MAX_DEPTH);
    }
  } else {
    number(r, o, false);
  }
  if (ptx__take(r, "+"))
    o->offset = (int64_t)ptx__integer(r, "an offset");
  else if (ptx__is(r, "-"))
    o->offset = (int64_t)ptx__integer(r, "an offset");
}

// Statements grow in an array that doubles.
static ptx_statement* append(ptx_reader* r) {
  ptx_function* f = r->function;
  size_t n = f->statement_count;
  if (n == 0 || (n >= 64 && !(n & (n - 1)))) {
    ptx_statement* more = PB_NEW_ARRAY(r->arena, ptx_statement, n ? 2 * n : 64);
    if (n) memcpy(more, f->statements, n * sizeof *more);
    f->statements = more;
  }
  f->statement_count = n + 1;
  ptx_statement* s = &f->statements[n];
  *s = (ptx_statement){.line = r->token.line, .loc = r->loc, .scope = r->scope->number};
  return s;
}

static void operands(ptx_reader* r, ptx_statement* s) {
  ptx_operand list[MAX_OPERANDS] = {0};
  int count = 0;
  while (!ptx__is(r, ";")) {
    if (count == MAX_OPERANDS) ptx__fail(r, r->token.line, "more than %d operands", MAX_OPERANDS);
    operand(r, &list[count++], 0);
    if (!ptx__take(r, ",")) break;
  }
  ptx__want(r, ";");
  s->operands = PB_NEW_ARRAY(r->arena, ptx_operand, count + 1);
  memcpy(s->operands, list, (size_t)count * sizeof *list);
  s->count = count;
}

static uint32_t small(ptx_reader* r, const char* what) {
  uint64_t n = ptx__integer(r, what);
  if (n > INT32_MAX) ptx__fail(r, r->token.line, "%s of %llu", what, (unsigned long long)n);
  return (uint32_t)n;
}

static void location(ptx_reader* r) {
  grid_loc loc;
  loc.file = small(r, "a file's number");
  loc.line = small(r, "a line");
  small(r, "a column");
  while (ptx__take(r, ",")) {
    const char* what = ptx__word(r, "function_name");
    if (!strcmp(what, "function_name")) {
      ptx__word(r, "a label");
      if (ptx__take(r, "+")) ptx__integer(r, "an offset");
    } else {
      for (int k = 0; k < 3; ++k) small(r, "a place");
    }
  }
  grid_module* m = r->module;
  PB_PUSH(m->locs, m->loc_count, m->loc_capacity, loc);
  r->loc = (uint32_t)m->loc_count - 1;
}

static void file(ptx_reader* r) {
  uint32_t n = small(r, "a file's number");
  if (r->token.kind != PTX_STRING) ptx__fail(r, r->token.line, "a file without a name");
  if (n >= MAX_FILES) ptx__fail(r, r->token.line, "file %u of %d", n, MAX_FILES);
  grid_module* m = r->module;
  if (!m->files) m->files = PB_NEW_ARRAY(r->arena, const char*, MAX_FILES);
  m->file_count = MAX_FILES;
  m->files[n] = pb_printf(r->arena, "%.*s", (int)r->token.length, r->token.text);
  ptx__next(r);
  while (ptx__take(r, ",")) ptx__integer(r, "a number");
}

static void skip_to(ptx_reader* r, const char* end) {
  uint32_t line = r->token.line;
  while (!ptx__is(r, end)) {
    if (r->token.kind == PTX_END) ptx__fail(r, line, "no '%s' behind this", end);
    ptx__next(r);
  }
  ptx__next(r);
}

static bool directive(ptx_reader* r) {
  static const struct {
    const char* word;
    ptx_space space;
  } spaces[] = {{".reg", PTX_REG}, {".shared", PTX_SHARED}, {".local", PTX_LOCAL}, {".param", PTX_PARAM}};
  for (int k = 0; k < 4; ++k)
    if (ptx__take(r, spaces[k].word)) {
      ptx__declare(r, spaces[k].space, false);
      ptx__want(r, ";");
      return true;
    }
  if (ptx__take(r, ".loc"))
    location(r);
  else if (ptx__take(r, ".pragma"))
    skip_to(r, ";");
  else
    return false;
  return true;
}

static void statement(ptx_reader* r) {
  if (*r->token.text == '.' && directive(r)) return;
  ptx_statement* s = append(r);
  if (ptx__take(r, "@")) {
    s->guarded = true;
    operand(r, &s->guard, MAX_DEPTH);
    if (s->guard.kind != PTX_OPERAND_REGISTER || strcmp(s->guard.variable->type, "pred"))
      ptx__fail(r, s->line, "a guard is a predicate");
  }
  const char* word = ptx__word(r, "an instruction");
  if (!s->guarded && ptx__take(r, ":")) {
    s->name = word;
    if (ptx__take(r, ".branchtargets")) {
      s->op = ".branchtargets";
      operands(r, s);
    } else if (ptx__take(r, ".callprototype")) {
      skip_to(r, ";");
    }
    return;
  }
  s->op = word;
  operands(r, s);
}

static void body(ptx_reader* r) {
  uint32_t line = r->token.line;
  ptx__want(r, "{");
  int depth = 1;
  while (depth) {
    if (r->token.kind == PTX_END) ptx__fail(r, line, "a function without an end");
    if (ptx__take(r, "{")) {
      ++depth;
      open_scope(r);
    } else if (ptx__take(r, "}")) {
      --depth;
      if (depth) r->scope = r->scope->outer;
    } else {
      statement(r);
    }
  }
}

// Formal parameters; an entry's lie in one block, each at its alignment.
static ptx_variable* params(ptx_reader* r, int* count) {
  ptx_variable *list = NULL, **last = &list;
  uint64_t offset = 0;
  ptx__want(r, "(");
  while (!ptx__is(r, ")")) {
    bool in_register = ptx__take(r, ".reg");
    if (!in_register) ptx__want(r, ".param");
    const ptx_variable* v = ptx__declare(r, in_register ? PTX_REG : PTX_PARAM, false);
    ptx_variable* formal = PB_NEW(r->arena, ptx_variable);
    *formal = *v;
    offset = (offset + v->align - 1) & ~(uint64_t)(v->align - 1);
    formal->address = offset;
    offset += v->size;
    formal->next = NULL;
    *last = formal;
    last = &formal->next;
    ++*count;
    // The scope's own one says the same.
    r->scope->variables->address = formal->address;
    if (!ptx__take(r, ",")) break;
  }
  ptx__want(r, ")");
  return list;
}

static void hints(ptx_reader* r, ptx_function* f) {
  for (;;) {
    uint32_t* to = ptx__is(r, ".reqntid") ? f->threads : NULL;
    bool most = ptx__is(r, ".maxntid");
    if (to || most) {
      ptx__next(r);
      uint64_t product = 1;
      uint32_t extents[3] = {1, 1, 1};
      for (int k = 0; k < 3; ++k) {
        extents[k] = small(r, "a count of threads");
        product *= extents[k];
        if (product > GRID_MAX_THREADS) ptx__fail(r, r->token.line, "%llu threads", (unsigned long long)product);
        if (!ptx__take(r, ",")) break;
      }
      if (to) memcpy(to, extents, sizeof extents);
      f->most_threads = (uint32_t)product;
    } else if (ptx__take(r, ".minnctapersm") || ptx__take(r, ".maxnreg") || ptx__take(r, ".maxclusterrank")) {
      small(r, "a number");
    } else if (ptx__take(r, ".pragma")) {
      skip_to(r, ";");
    } else if (!ptx__take(r, ".noreturn")) {
      return;
    }
  }
}

static void function(ptx_reader* r, bool entry) {
  ptx_function* f = PB_NEW(r->arena, ptx_function);
  f->entry = entry;
  f->line = r->token.line;
  r->function = f;
  open_scope(r);
  if (!entry && ptx__is(r, "(")) f->results = params(r, &f->result_count);
  f->name = ptx__word(r, "a function's name");
  if (ptx__is(r, "(")) f->params = params(r, &f->param_count);
  hints(r, f);
  f->has_body = ptx__is(r, "{");
  if (f->has_body)
    body(r);
  else
    ptx__want(r, ";");
  append(r); // the end, which falls out of the function
  r->scope = NULL;
  r->function = NULL;
  *r->last_function = f;
  r->last_function = &f->next;
}

void ptx__parse(ptx_reader* r) {
  ptx__next(r);
  bool version = false;
  while (r->token.kind != PTX_END) {
    bool is_extern = false;
    while (ptx__is(r, ".visible") || ptx__is(r, ".weak") || ptx__is(r, ".extern") || ptx__is(r, ".common")) {
      is_extern |= ptx__is(r, ".extern");
      ptx__next(r);
    }
    if (ptx__take(r, ".version")) {
      version = true;
      ptx__next(r);
    } else if (!version) {
      ptx__fail(r, r->token.line, "the text does not begin with .version");
    } else if (ptx__take(r, ".target")) {
      do {
        const char* word = ptx__word(r, "a target");
        if (!r->module->rates) r->module->rates = grid__rates(word);
      } while (ptx__take(r, ","));
    } else if (ptx__take(r, ".address_size")) {
      if (ptx__integer(r, "an address size") != 64) ptx__fail(r, r->token.line, "addresses have 64 bits here");
    } else if (ptx__take(r, ".file")) {
      file(r);
    } else if (ptx__take(r, ".section")) {
      skip_to(r, "}");
    } else if (ptx__take(r, ".pragma")) {
      skip_to(r, ";");
    } else if (ptx__is(r, ".entry") || ptx__is(r, ".func")) {
      bool entry = ptx__is(r, ".entry");
      ptx__next(r);
      while (ptx__take(r, ".noreturn")) continue;
      function(r, entry);
    } else if (ptx__is(r, ".global") || ptx__is(r, ".const") || ptx__is(r, ".shared")) {
      ptx_space space = ptx__is(r, ".global") ? PTX_GLOBAL : ptx__is(r, ".const") ? PTX_CONST : PTX_SHARED;
      ptx__next(r);
      ptx__declare(r, space, is_extern);
      ptx__want(r, ";");
    } else {
      const char* word = pb_printf(r->arena, "%.*s", (int)(r->token.length < 80 ? r->token.length : 80), r->token.text);
      ptx__fail(r, r->token.line, "'%s' where a directive must stand", word);
    }
  }
  if (!version) ptx__fail(r, r->token.line, "the text does not begin with .version");
}
