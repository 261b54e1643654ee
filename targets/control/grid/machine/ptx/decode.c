// From statements to the machine's code: registers become rows, called functions stand in place of their calls, labels
// become indices.
#include "targets/control/grid/machine/ptx/decode.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST_CODE = 1 << 20, MOST_FILE = 64 << 20, MOST_DEPTH = 64 };

void ptx__wrong(ptx_decoder* d, const char* format, ...) {
  char what[400];
  va_list args;
  va_start(args, format);
  vsnprintf(what, sizeof what, format, args);
  va_end(args);
  ptx__fail(d->r, d->s ? d->s->line : 0, "%s: %s", d->s && d->s->op ? d->s->op : "label", what);
}

bool ptx__has(const ptx_decoder* d, const char* word) {
  for (int k = 1; k < d->word_count; ++k)
    if (!strcmp(d->words[k], word)) return true;
  return false;
}

bool ptx__drop(ptx_decoder* d, const char* word) {
  for (int k = 1; k < d->word_count; ++k)
    if (!strcmp(d->words[k], word)) {
      memmove(&d->words[k], &d->words[k + 1], (size_t)(d->word_count - k - 1) * sizeof *d->words);
      --d->word_count;
      return true;
    }
  return false;
}

const char* ptx__last(const ptx_decoder* d) { return d->words[d->word_count - 1]; }

void ptx__operands(ptx_decoder* d, int least, int most) {
  if (d->s->count < least || d->s->count > most)
    ptx__wrong(d, "%d operands; %d%s it takes", d->s->count, least, least == most ? "" : " or more");
}

const ptx_operand* ptx__operand(ptx_decoder* d, int n) {
  if (n >= d->s->count) ptx__wrong(d, "operand %d is missing", n + 1);
  return &d->s->operands[n];
}

uint32_t ptx__row(ptx_decoder* d, uint32_t bytes) {
  grid_kernel* k = d->k;
  if (!bytes && d->predicates < d->predicates_end) return (d->predicates += 4) - 4;
  uint32_t at = k->file_bytes;
  if (at > MOST_FILE) ptx__wrong(d, "more than %d MiB of registers in a warp", MOST_FILE >> 20);
  k->file_bytes += bytes ? (bytes * GRID_LANES + 63) / 64 * 64 : 64;
  if (!bytes) d->predicates = at + 4, d->predicates_end = at + 64;
  return at;
}

static uint32_t fill(ptx_decoder* d, uint64_t value, uint32_t bytes, int special) {
  grid_kernel* k = d->k;
  for (size_t n = k->fill_count; n-- > 0 && k->fill_count - n < 4096;) {
    const grid_fill* f = &k->fills[n];
    if (f->value == value && f->size == bytes && f->special == special) return f->offset;
  }
  grid_fill f = {ptx__row(d, bytes), (uint8_t)bytes, (uint8_t)special, value};
  PB_PUSH(k->fills, k->fill_count, k->fill_capacity, f);
  return f.offset;
}

uint32_t ptx__constant(ptx_decoder* d, uint64_t value, uint32_t bytes) {
  if (bytes < 8) value &= bytes ? (UINT64_C(1) << 8 * bytes) - 1 : UINT32_MAX;
  return fill(d, value, bytes, 0);
}

static uint32_t special(ptx_decoder* d, const char* name, uint32_t bytes) {
  static const struct {
    const char* name;
    int special;
  } names[] = {{"%tid.x", GRID_TID_X},
               {"%tid.y", GRID_TID_Y},
               {"%tid.z", GRID_TID_Z},
               {"%ntid.x", GRID_NTID_X},
               {"%ntid.y", GRID_NTID_Y},
               {"%ntid.z", GRID_NTID_Z},
               {"%ctaid.x", GRID_CTAID_X},
               {"%ctaid.y", GRID_CTAID_Y},
               {"%ctaid.z", GRID_CTAID_Z},
               {"%nctaid.x", GRID_NCTAID_X},
               {"%nctaid.y", GRID_NCTAID_Y},
               {"%nctaid.z", GRID_NCTAID_Z},
               {"%laneid", GRID_LANEID},
               {"%warpid", GRID_WARPID},
               {"%nwarpid", GRID_NWARPID},
               {"%smid", GRID_SMID},
               {"%nsmid", GRID_NSMID},
               {"%gridid", GRID_GRIDID},
               {"%lanemask_eq", GRID_LANEMASK_EQ},
               {"%lanemask_lt", GRID_LANEMASK_LT},
               {"%lanemask_le", GRID_LANEMASK_LE},
               {"%lanemask_gt", GRID_LANEMASK_GT},
               {"%lanemask_ge", GRID_LANEMASK_GE},
               {"%dynamic_smem_size", GRID_DYNAMIC_SHARED},
               {"%total_smem_size", GRID_TOTAL_SHARED}};
  if (!strncmp(name, "%clock", 6) || !strcmp(name, "%globaltimer") || !strcmp(name, "%globaltimer_lo")) {
    uint32_t to = ptx__row(d, bytes);
    grid_insn* i = ptx__emit(d, GRID_OP_CLOCK);
    i->d = to;
    i->size = (uint8_t)bytes;
    return to;
  }
  for (size_t k = 0; k < sizeof names / sizeof *names; ++k)
    if (!strcmp(names[k].name, name)) return fill(d, 0, bytes, names[k].special + 1);
  ptx__wrong(d, "%s is no register declared, nor a special one the machine knows", name);
}

uint32_t ptx__register_bytes(ptx_decoder* d, const ptx_operand* o) {
  if (o->kind != PTX_OPERAND_REGISTER) ptx__wrong(d, "a register must stand there");
  return strcmp(o->variable->type, "pred") ? o->variable->bytes : 0;
}

static uint32_t register_row(ptx_decoder* d, const ptx_operand* o, uint32_t bytes) {
  uint32_t has = ptx__register_bytes(d, o);
  if (has != bytes)
    ptx__wrong(d, "%s has %s%u bits, where %u are taken", o->name, has ? "" : "a predicate's ", has ? 8 * has : 1,
               bytes ? 8 * bytes : 1);
  return d->frame->rows[o->number];
}

bool ptx__is_parameter(const ptx_decoder* d, const ptx_variable* v) {
  const ptx_function* f = d->frame->function;
  if (!f->entry || v->space != PTX_PARAM) return false;
  for (const ptx_variable* p = f->params; p; p = p->next)
    if (!strcmp(p->name, v->name)) return true;
  return false;
}

uint32_t ptx__source(ptx_decoder* d, const ptx_operand* o, uint32_t bytes) {
  if (o->kind != PTX_OPERAND_VARIABLE && o->kind != PTX_OPERAND_MEMORY && o->offset)
    ptx__wrong(d, "an offset where no address is");
  if (o->negated && o->kind == PTX_OPERAND_REGISTER) {
    uint32_t inverse = ptx__row(d, 0);
    ptx__logic(d, PTX_COPY | PTX_NOT_A, inverse, register_row(d, o, 0), 0);
    return inverse;
  }
  switch (o->kind) {
  case PTX_OPERAND_REGISTER:
    return register_row(d, o, bytes);
  case PTX_OPERAND_INTEGER:
    return ptx__constant(d, bytes ? o->bits : o->bits ? UINT32_MAX : 0, bytes);
  case PTX_OPERAND_F32:
    if (bytes != 4) ptx__wrong(d, "an f32 where %u bits are taken", 8 * bytes);
    return ptx__constant(d, o->bits, 4);
  case PTX_OPERAND_F64: {
    if (bytes == 8) return ptx__constant(d, o->bits, 8);
    if (bytes != 4) ptx__wrong(d, "an f64 where %u bits are taken", 8 * bytes);
    double wide;
    memcpy(&wide, &o->bits, 8);
    float narrow = (float)wide;
    uint32_t bits;
    memcpy(&bits, &narrow, 4);
    return ptx__constant(d, bits, 4);
  }
  case PTX_OPERAND_SPECIAL:
    return special(d, o->name, bytes);
  case PTX_OPERAND_VARIABLE:
    if (bytes < 4) ptx__wrong(d, "the address of %s in %u bits", o->name, 8 * bytes);
    if (ptx__is_parameter(d, o->variable)) ptx__wrong(d, "the address of parameter %s", o->name);
    return ptx__constant(d, ptx__place(d, o->variable) + (uint64_t)o->offset, bytes);
  default:
    ptx__wrong(d, "an operand of a kind that does not fit%s%s", o->name ? ": " : "", o->name ? o->name : "");
  }
}

uint32_t ptx__destination(ptx_decoder* d, const ptx_operand* o, uint32_t bytes) {
  if (o->kind == PTX_OPERAND_SINK) return ptx__row(d, bytes);
  return register_row(d, o, bytes);
}

grid_insn* ptx__emit(ptx_decoder* d, grid_op op) {
  grid_kernel* k = d->k;
  if (k->count == MOST_CODE) ptx__wrong(d, "more than %d instructions in %s", MOST_CODE, k->name);
  grid_insn insn = {.op = (uint8_t)op,
                    .class = d->class,
                    .guard = d->guard,
                    .negate = d->negate,
                    .line = d->s ? d->s->line : 0,
                    .loc = d->s ? d->s->loc : 0};
  d->class = GRID_CLASS_NONE; // one of them is counted
  PB_PUSH(k->code, k->count, k->capacity, insn);
  return &k->code[k->count - 1];
}

void ptx__lanes(ptx_decoder* d, const char* key, uint32_t to, uint32_t a, uint32_t b, uint32_t c) {
  const grid_lane_row* row = grid__lane_row(key);
  if (!row) ptx__wrong(d, "the machine has no %s", key);
  grid_insn* i = ptx__emit(d, row->predicate ? GRID_OP_PREDICATE : GRID_OP_LANES);
  i->lanes = row->lanes;
  i->size = row->size[0];
  i->d = to;
  i->a = a;
  i->b = b;
  i->c = c;
}

void ptx__logic(ptx_decoder* d, int mode, uint32_t to, uint32_t a, uint32_t b) {
  grid_insn* i = ptx__emit(d, GRID_OP_LOGIC);
  i->mode = (uint8_t)mode;
  i->d = to;
  i->a = a;
  i->b = b;
}

void ptx__extend(ptx_decoder* d, uint32_t target, uint32_t to, uint32_t source, uint32_t from, const char* format) {
  char key[32];
  snprintf(key, sizeof key, "ext.%s.%u.%u", format, 8 * from, 8 * to);
  ptx__lanes(d, key, target, source, 0, 0);
}

// Static variables of shared and local memory get their places when a kernel first names them.
uint64_t ptx__place(ptx_decoder* d, ptx_variable* v) {
  if (v->space == PTX_GLOBAL || v->space == PTX_CONST) {
    if (!v->address) ptx__wrong(d, "variable %s is declared and nowhere defined", v->name);
    return v->address;
  }
  if (v->owner == d->k) return v->address;
  uint32_t* bytes = v->space == PTX_SHARED ? &d->k->shared_bytes : &d->k->local_bytes;
  uint64_t at = (*bytes + v->align - 1) & ~(uint64_t)(v->align - 1);
  uint64_t most = v->space == PTX_SHARED ? GRID_MAX_SHARED : GRID_MAX_LOCAL;
  if (at + v->size > most)
    ptx__wrong(d, "%s of %llu bytes goes past %llu", v->name, (unsigned long long)v->size, (unsigned long long)most);
  v->owner = d->k;
  v->address = at;
  if (v->size) *bytes = (uint32_t)(at + v->size);
  return at;
}

ptx_function* ptx__find_function(ptx_decoder* d, const char* name) {
  ptx_function* found = NULL;
  for (ptx_function* f = d->r->functions; f; f = f->next)
    if (!strcmp(f->name, name) && (!found || f->has_body)) found = f;
  return found;
}

void ptx__branch_to(ptx_decoder* d, uint32_t insn, uint32_t* slot, const char* name) {
  ptx_fixup x = {name, d->s ? d->s->scope : 0, d->frame->instance, d->s ? d->s->line : 0, insn,
                 slot, d->frame->function};
  PB_PUSH(d->fixups, d->fixup_count, d->fixup_capacity, x);
}

static void split(ptx_decoder* d) {
  char* word = pb_strdup(d->r->arena, d->s->op);
  d->word_count = 0;
  while (word) {
    if (d->word_count == PTX_MAX_WORDS) ptx__wrong(d, "more than %d words", PTX_MAX_WORDS);
    d->words[d->word_count++] = word;
    word = strchr(word, '.');
    if (word) *word++ = 0;
  }
}

static void statement(ptx_decoder* d) {
  split(d);
  d->guard = GRID_NONE;
  d->negate = false;
  if (d->s->guarded) {
    ptx_operand plain = d->s->guard;
    d->negate = plain.negated;
    plain.negated = false;
    d->guard = ptx__source(d, &plain, 0);
  }
  d->class = GRID_CLASS_INTEGER;
  bool done = ptx__decode_flow(d) || ptx__decode_memory(d) || ptx__decode_matrix(d) || ptx__decode_warp(d) ||
              ptx__decode_convert(d) || ptx__decode_move(d) || ptx__decode_arithmetic(d);
  if (!done) ptx__wrong(d, "an instruction that the machine does not know");
}

void ptx__function(ptx_decoder* d, const ptx_frame* frame) {
  const ptx_frame* outer = d->frame;
  const ptx_statement* call = d->s;
  if (frame->depth > MOST_DEPTH) ptx__wrong(d, "calls deeper than %d", MOST_DEPTH);
  d->frame = frame;
  ptx_function* f = frame->function;
  f->on_path = true;
  for (size_t n = 0; n + 1 < f->statement_count; ++n) {
    d->s = &f->statements[n];
    if (d->s->name) {
      ptx_label label = {d->s->name, d->s->scope, frame->instance, (uint32_t)d->k->count};
      PB_PUSH(d->labels, d->label_count, d->label_capacity, label);
    } else {
      statement(d);
    }
  }
  f->on_path = false;
  d->s = call;
  d->frame = outer;
}

// A label of the branch's own scope or of one around it.
static const ptx_label* find_label(const ptx_decoder* d, const ptx_fixup* x) {
  const ptx_label* best = NULL;
  uint32_t scope = x->scope;
  for (;;) {
    for (size_t n = 0; n < d->label_count; ++n)
      if (d->labels[n].instance == x->instance && d->labels[n].scope == scope && !strcmp(d->labels[n].name, x->name))
        best = &d->labels[n];
    if (best || !scope) return best;
    scope = x->function->parents[scope];
  }
}

static void resolve(ptx_decoder* d) {
  for (size_t n = 0; n < d->fixup_count; ++n) {
    const ptx_fixup* x = &d->fixups[n];
    const ptx_label* label = find_label(d, x);
    if (!label) ptx__fail(d->r, x->line, "no label %s", x->name);
    if (x->slot)
      *x->slot = label->at;
    else
      d->k->code[x->insn].target = label->at;
  }
}

// Shared memory whose extent the launch says lies behind all that the entry and what it calls declare.
static void place_shared(ptx_decoder* d, ptx_function* f, bool dynamic, int depth) {
  if (f->on_path) ptx__fail(d->r, f->line, "%s calls itself: the machine has no stack for it", f->name);
  if (depth > MOST_DEPTH) ptx__fail(d->r, f->line, "calls deeper than %d", MOST_DEPTH);
  f->on_path = true;
  for (size_t n = 0; n + 1 < f->statement_count; ++n) {
    d->s = &f->statements[n];
    for (int k = 0; k < d->s->count; ++k) {
      const ptx_operand* o = &d->s->operands[k];
      if (o->kind == PTX_OPERAND_MEMORY) o = o->parts;
      if (o->kind == PTX_OPERAND_VARIABLE && o->variable->space == PTX_SHARED && !o->variable->size == dynamic)
        ptx__place(d, o->variable);
      if (o->kind == PTX_OPERAND_NAME && d->s->op && !strncmp(d->s->op, "call", 4)) {
        ptx_function* called = ptx__find_function(d, o->name);
        if (called) place_shared(d, called, dynamic, depth + 1);
      }
    }
  }
  f->on_path = false;
}

static void decode(ptx_decoder* d, ptx_function* entry) {
  d->r->function = NULL;
  place_shared(d, entry, false, 0);
  place_shared(d, entry, true, 0);
  grid_param** last = &d->k->params;
  for (const ptx_variable* v = entry->params; v; v = v->next) {
    if (v->address + v->size > 4096)
      ptx__fail(d->r, entry->line, "%s: parameters of more than 4096 bytes", entry->name);
    if (v->space == PTX_REG) ptx__fail(d->r, entry->line, "%s: an entry's parameter in a register", entry->name);
    d->k->param_bytes = (uint32_t)(v->address + v->size);
    d->k->param_count += (uint32_t)((v->size + 7) / 8);
    *last = PB_NEW(d->r->arena, grid_param);
    **last = (grid_param){(uint32_t)v->address, (uint32_t)v->size, NULL};
    last = &(*last)->next;
  }
  ptx_frame frame = {.function = entry, .rows = PB_NEW_ARRAY(d->r->arena, uint32_t, entry->register_count + 1)};
  for (uint32_t n = 0; n < entry->register_count; ++n)
    frame.rows[n] = ptx__row(d, strcmp(entry->registers[n]->type, "pred") ? entry->registers[n]->bytes : 0);
  ptx__function(d, &frame);
  d->s = entry->statement_count ? &entry->statements[entry->statement_count - 1] : NULL;
  d->guard = GRID_NONE;
  d->class = GRID_CLASS_CONTROL;
  ptx__emit(d, GRID_OP_EXIT);
  resolve(d);
}

grid_kernel* ptx__decode(ptx_reader* r, ptx_function* entry) {
  grid_kernel* k = PB_NEW(r->arena, grid_kernel);
  grid_module* m = r->module;
  PB_PUSH(m->kernels, m->kernel_count, m->kernel_capacity, k); // the module frees what grows in it
  k->name = entry->name;
  k->shift = 2;
  memcpy(k->threads, entry->threads, sizeof k->threads);
  k->most_threads = entry->most_threads;
  ptx_decoder* const d = PB_NEW(r->arena, ptx_decoder);
  *d = (ptx_decoder){.r = r, .k = k, .carry = GRID_NONE, .guard = GRID_NONE};
  // What fails leaves by r->fail: the lists go first.
  jmp_buf outer;
  memcpy(&outer, &r->fail, sizeof outer);
  bool failed = setjmp(r->fail) != 0;
  if (!failed) decode(d, entry);
  memcpy(&r->fail, &outer, sizeof outer);
  free(d->labels);
  free(d->fixups);
  if (failed) longjmp(r->fail, 1);
  return k;
}
