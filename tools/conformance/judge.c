// What commands mean, element by element: the judge's evaluation.
#include "judge_read.h"

#include "tdl/function.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static void* map_bytes(int64_t bytes) {
  void* at = mmap(NULL, (size_t)(bytes ? bytes : 1), PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return at == MAP_FAILED ? NULL : at;
}

static void open_space(judge_space* s, int64_t bytes) {
  s->bytes = bytes;
  s->data = map_bytes(bytes);
  s->valid = map_bytes(bytes);
  if (!s->data || !s->valid) s->bytes = 0; // then every access is out of bounds
}

static void close_space(judge_space* s) {
  if (s->data) munmap(s->data, (size_t)(s->bytes ? s->bytes : 1));
  if (s->valid) munmap(s->valid, (size_t)(s->bytes ? s->bytes : 1));
  *s = (judge_space){0};
}

// State that nobody has written has bits of 0.
static void clear_state(judge* j) {
  for (int i = 0; i < j->insn_count; ++i)
    for (int f = 0; f < j->insns[i].field_count; ++f) j->state[i][f] = judge__number(&j->insns[i].fields[f], 0);
}

judge* judge_open(const char* json, char* why) {
  judge* j = calloc(1, sizeof *j);
  if (!j || !judge__read_description(j, json, why)) {
    judge_close(j);
    return NULL;
  }
  j->state = calloc((size_t)j->insn_count + 1, sizeof *j->state);
  if (j->state) clear_state(j);
  for (int m = 0; m < j->memory_count; ++m) {
    if (!j->memories[m].outside) open_space(&j->spaces[m], j->memories[m].bytes);
    memcpy(j->spaces[m].name, j->memories[m].name, sizeof j->spaces[m].name);
  }
  return j;
}

void judge_close(judge* j) {
  if (!j) return;
  for (int s = 0; s < JUDGE_SPACES; ++s) close_space(&j->spaces[s]);
  free(j->insns);
  free(j->state);
  free(j);
}

judge_space* judge_space_at(judge* j, int space) { return &j->spaces[space]; }

void judge_argument(judge* j, int slot, int64_t bytes) {
  judge_space* s = &j->spaces[JUDGE_ARGUMENTS + slot];
  close_space(s);
  open_space(s, bytes);
  snprintf(s->name, sizeof s->name, "argument %d", slot);
}

static void clear_banks(judge* j) {
  for (int m = 0; m < j->memory_count; ++m) {
    j->memories[m].filled = j->memories[m].taken = 0;
    for (int k = 0; k < JUDGE_BANKS; ++k) j->memories[m].filling[k] = -1;
  }
}

int judge_banks(const judge* j, int space, int* waiting, bool* held) {
  if (space < 0 || space >= j->memory_count || !j->memories[space].banks) return 0;
  int64_t filled = j->memories[space].filled, taken = j->memories[space].taken;
  *waiting = (int)(filled - taken);
  *held = taken > 0 && j->memories[space].filling[(taken - 1) % j->memories[space].banks] == taken - 1;
  return j->memories[space].banks;
}

void judge_reset(judge* j) {
  clear_banks(j);
  for (int m = 0; m < j->memory_count; ++m) {
    int64_t bytes = j->spaces[m].bytes;
    char name[64];
    if (j->memories[m].outside) continue;
    memcpy(name, j->spaces[m].name, sizeof name);
    close_space(&j->spaces[m]);
    open_space(&j->spaces[m], bytes);
    memcpy(j->spaces[m].name, name, sizeof name);
  }
  clear_state(j);
}

int judge_memory(const judge* j, const char* name) {
  for (int m = 0; m < j->memory_count; ++m)
    if (!strcmp(j->memories[m].name, name)) return m;
  return -1;
}
int judge_insn(const judge* j, const char* name) {
  for (int i = 0; i < j->insn_count; ++i)
    if (!strcmp(j->insns[i].name, name)) return i;
  return -1;
}
int judge_field(const judge* j, int insn, const char* name) {
  for (int f = 0; f < j->insns[insn].field_count; ++f)
    if (!strcmp(j->insns[insn].fields[f].name, name)) return f;
  return -1;
}

// Reading a command ---------------------------------------------------------------------------------------------------

static bool bit_of(const uint8_t* bytes, int bit) { return bytes[bit / 8] >> bit % 8 & 1; }

int64_t judge__number(const judge_field_record* field, int64_t bits) {
  if (field->form == JUDGE_MINUS) return bits + field->by;
  if (field->form == JUDGE_SCALED) return bits * field->by;
  int64_t power = 1;
  for (int64_t k = 0; k < bits && field->form == JUDGE_LOG2; ++k) power += power;
  return field->form == JUDGE_LOG2 ? power : bits;
}

// The field of an instruction without operands; -1: it is none, or has none so named.
static int own_field(const judge_insn_record* insn, const char* name) {
  for (int f = 0; f < insn->field_count && !insn->operand_count; ++f)
    if (*name && !strcmp(insn->fields[f].name, name)) return f;
  return -1;
}

bool judge_decode(const judge* j, const uint8_t* bytes, judge_command* c, char* why) {
  *c = (judge_command){.insn = -1};
  for (int i = 0; i < j->insn_count && c->insn < 0; ++i) {
    bool same = true;
    for (int k = 0; k < j->command_bytes; ++k) same &= !((bytes[k] ^ j->insns[i].fixed[k]) & j->insns[i].mask[k]);
    if (same) c->insn = i;
  }
  if (c->insn < 0) return snprintf(why, JUDGE_WHY, "no instruction has these bits"), false;
  const judge_insn_record* insn = &j->insns[c->insn];
  for (int f = 0; f < insn->field_count; ++f) {
    const judge_field_record* field = &insn->fields[f];
    uint64_t value = 0;
    for (int b = 0; b < field->width; ++b)
      if (field->bit[b] >= 0 && bit_of(bytes, field->bit[b])) value |= (uint64_t)1 << b;
    if (field->is_signed && field->width < 64 && value >> (field->width - 1) & 1) value -= (uint64_t)1 << field->width;
    c->values[f] = judge__number(field, (int64_t)value);
  }
  int waits = own_field(insn, j->wait_field), count = own_field(insn, j->count_field),
      signals = own_field(insn, j->signal_field);
  if (signals >= 0) c->signals = 1u << c->values[signals];
  if (waits >= 0) c->waits = 1u << c->values[waits];
  if (waits >= 0) c->counts = (uint64_t)(count < 0 ? 1 : c->values[count]) << 4 * c->values[waits];
  for (int k = 0; k < j->counters && !j->has_fence && !*j->wait_field; ++k) {
    int width = j->count_bits ? j->count_bits : 1, at = j->wait_bit + k * width, number = 0;
    for (int b = width; b-- > 0;) number = 2 * number + bit_of(bytes, at + b);
    if (number) c->waits |= 1u << k;
    if (j->count_bits) c->counts |= (uint64_t)number << 4 * k;
    c->signals |= (uint32_t)bit_of(bytes, j->signal_bit + k) << k;
  }
  return true;
}

int judge_spare_bit(const judge* j, int insn, const uint8_t* bytes) {
  const judge_insn_record* of = &j->insns[insn];
  bool tokens = !j->has_fence && !*j->wait_field;
  int width = j->count_bits ? j->count_bits : 1;
  for (int bit = 0; bit < 8 * j->command_bytes; ++bit) {
    bool says = bit_of(of->mask, bit);
    for (int f = 0; f < of->field_count; ++f)
      for (int b = 0; b < of->fields[f].width; ++b) says |= of->fields[f].bit[b] == bit;
    says |= tokens && bit >= j->wait_bit && bit < j->wait_bit + j->counters * width;
    says |= tokens && bit >= j->signal_bit && bit < j->signal_bit + j->counters;
    if (!says && bit_of(bytes, bit)) return bit;
  }
  return -1;
}

bool judge_fence(const judge* j, const uint8_t* bytes, uint32_t* queues) {
  bool same = j->has_fence;
  for (int k = 0; k < j->command_bytes; ++k) same &= !((bytes[k] ^ j->fence.fixed[k]) & j->fence.mask[k]);
  *queues = 0;
  for (int q = 0; same && q < j->queue_count; ++q)
    if (j->fence_wait < 0 || bit_of(bytes, j->fence.fields[j->fence_wait].bit[q])) *queues |= 1u << q;
  return same;
}

static void bound_window(const judge_operand* o, const judge_command* c, judge_window* w) {
  w->first = w->address, w->last = w->address + w->bytes;
  for (int k = 0; k < o->rank; ++k) {
    w->lo[k] = 0, w->hi[k] = w->extent[k];
    if (o->box_lo[k] >= 0 && c->values[o->box_lo[k]] > 0) w->lo[k] = c->values[o->box_lo[k]];
    if (o->box_hi[k] >= 0 && c->values[o->box_hi[k]] < w->hi[k]) w->hi[k] = c->values[o->box_hi[k]];
    w->boxed |= w->lo[k] > 0 || w->hi[k] < w->extent[k];
    w->empty |= w->lo[k] >= w->hi[k];
  }
  for (int k = 0; k < o->rank && !w->empty; ++k) {
    int64_t a = w->lo[k], b = w->hi[k] - 1;
    if (k == w->half) a /= 2, b /= 2;
    a *= w->stride[k], b *= w->stride[k];
    w->first += a < b ? a : b, w->last += a < b ? b : a;
  }
}

// Which of all fillings a window on banks means.
static int64_t filling_of(const judge* j, const judge_command* c, const judge_operand* o, bool written) {
  if (written) return j->memories[o->memory].filled;
  return j->memories[o->memory].taken - (o->take >= 0 && c->values[o->take] ? 0 : 1);
}

static int64_t place_of_bank(const judge* j, const judge_command* c, const judge_operand* o, bool written) {
  int64_t banks = j->memories[o->memory].banks, filling = filling_of(j, c, o, written);
  return filling < 0 ? 0 : filling % banks * (j->memories[o->memory].bytes / banks);
}

// A bank is filled when there is one, and read when what was filled in its turn is there.
static bool check_bank(const judge* j, const judge_command* c, const judge_operand* o, bool written, char* why) {
  int64_t banks = j->memories[o->memory].banks, filling = filling_of(j, c, o, written);
  if (written && j->memories[o->memory].filled - j->memories[o->memory].taken >= banks)
    return snprintf(why, JUDGE_WHY, "all banks of %s wait to be taken", j->memories[o->memory].name), false;
  if (!written && (filling < 0 || j->memories[o->memory].filling[filling % banks] != filling))
    return snprintf(why, JUDGE_WHY, "operand '%s' reads a bank of %s that is not there", o->name,
                    j->memories[o->memory].name),
           false;
  return true;
}

static void turn_banks(judge* j, const judge_insn_record* insn, const judge_command* c) {
  for (int o = 0; o < insn->operand_count; ++o) {
    const judge_operand* w = &insn->operands[o];
    if (!w->is_window || w->base >= 0) continue;
    if (o == insn->dest) {
      int64_t filling = j->memories[w->memory].filled++;
      j->memories[w->memory].filling[filling % j->memories[w->memory].banks] = filling;
    } else if (c->values[w->take]) {
      ++j->memories[w->memory].taken;
    }
  }
}

static void make_window(const judge* j, const judge_insn_record* insn, const judge_command* c, int index,
                        judge_window* w) {
  const judge_operand* o = &insn->operands[index];
  *w = (judge_window){.space = o->memory, .rank = o->rank, .bytes = o->type.bits < 8 ? 1 : o->type.bits / 8};
  w->half = o->type.bits == 4 ? o->rank - 1 : -1;
  if (!o->is_window) return;
  if (j->memories[o->memory].outside) w->space = JUDGE_ARGUMENTS + (o->slot >= 0 ? (int)(c->values[o->slot] & 15) : 0);
  w->address = o->base < 0 ? place_of_bank(j, c, o, index == insn->dest) : c->values[o->base] * o->unit;
  for (int k = 0; k < o->rank; ++k) {
    w->dims[k] = o->dims[k];
    w->extent[k] = c->extent[o->dims[k]];
    w->stride[k] = o->steps[k] == JUDGE_BY_FIELD     ? c->values[o->strides[k]] * o->unit
                   : o->steps[k] == JUDGE_BY_ELEMENT ? w->bytes
                   : o->steps[k] == JUDGE_BY_ROW     ? j->memories[o->memory].row_bytes
                   : o->steps[k] == JUDGE_BY_NUMBER  ? o->units[k] * o->unit
                                                     : 0;
  }
  w->fill = o->fill >= 0 ? c->values[o->fill] : 0;
  w->writes = index == insn->dest;
  w->reads = w->writes ? insn->how != JUDGE_SET && c->accumulates : true;
  bound_window(o, c, w);
}

// The first byte inside the box that nothing wrote; -1: there is none. Elements that lie one behind the other are
// looked at together.
static int64_t unwritten(const judge_space* s, const judge_window* w) {
  int64_t at[JUDGE_DIMS], run = w->bytes;
  int rank = w->rank;
  if (w->empty) return -1;
  for (; rank > 0 && w->stride[rank - 1] == run && w->lo[rank - 1] == 0; --rank) {
    run *= w->hi[rank - 1];
    if (rank - 1 == w->half) run = (run + 1) / 2;
  }
  for (int k = 0; k < w->rank; ++k) at[k] = w->lo[k];
  for (;;) {
    int64_t address = w->address;
    for (int k = 0; k < rank; ++k) address += (k == w->half ? at[k] / 2 : at[k]) * w->stride[k];
    const uint8_t* bad = memchr(s->valid + address, 0, (size_t)run);
    if (bad) return bad - s->valid;
    int k = rank - 1;
    for (; k >= 0 && ++at[k] >= w->hi[k]; --k) at[k] = w->lo[k];
    if (k < 0) return -1;
  }
}

static bool check_window(judge* j, const judge_insn_record* insn, int index, const judge_window* w, char* why) {
  const judge_space* s = &j->spaces[w->space];
  const char* name = insn->operands[index].name;
  if (w->first < 0 || w->last > s->bytes)
    return snprintf(why, JUDGE_WHY, "operand '%s' touches bytes [%lld, %lld) of %s, which has %lld", name,
                    (long long)w->first, (long long)w->last, s->name, (long long)s->bytes),
           false;
  int64_t bad = w->reads ? unwritten(s, w) : -1;
  if (bad >= 0)
    return snprintf(why, JUDGE_WHY, "operand '%s' reads byte %lld of %s, which nothing wrote", name, (long long)bad,
                    s->name),
           false;
  return true;
}

const int64_t* judge_state(const judge* j, int insn) { return j->state[insn]; }

bool judge_read(judge* j, const uint8_t* bytes, judge_command* c, char* why) {
  if (!judge_decode(j, bytes, c, why)) return false;
  const judge_insn_record* insn = &j->insns[c->insn];
  for (int f = 0; f < insn->field_count; ++f)
    if (insn->fields[f].writer >= 0) c->values[f] = j->state[insn->fields[f].writer][insn->fields[f].writer_field];
  return judge_place(j, c, why);
}

bool judge_place(judge* j, judge_command* c, char* why) {
  const judge_insn_record* insn = &j->insns[c->insn];
  for (int d = 0; d < insn->dim_count; ++d) {
    c->extent[d] = insn->dims[d].field >= 0 ? c->values[insn->dims[d].field] : insn->dims[d].max;
    if (c->extent[d] < insn->dims[d].min || c->extent[d] > insn->dims[d].max)
      return snprintf(why, JUDGE_WHY, "dim '%s' is %lld; %d to %d", insn->dims[d].name, (long long)c->extent[d],
                      insn->dims[d].min, insn->dims[d].max),
             false;
  }
  c->count = insn->operand_count;
  c->dest = insn->dest;
  c->accumulates = insn->how != JUDGE_SET && (insn->flag < 0 || c->values[insn->operands[insn->flag].base] != 0);
  for (int o = 0; o < c->count; ++o) {
    const judge_operand* w = &insn->operands[o];
    if (w->is_window && w->base < 0 && !check_bank(j, c, w, o == insn->dest, why)) return false;
    make_window(j, insn, c, o, &c->windows[o]);
    if (!insn->operands[o].is_window) c->windows[o].space = -1;
    if (insn->operands[o].is_window && !c->windows[o].empty && !check_window(j, insn, o, &c->windows[o], why))
      return false;
  }
  return true;
}

bool judge_apart(const judge_window* w) {
  bool used[JUDGE_DIMS] = {false};
  int64_t span = w->bytes;
  for (int n = 0; n < w->rank; ++n) {
    int least = -1;
    for (int k = 0; k < w->rank; ++k)
      if (!used[k] && (least < 0 || llabs(w->stride[k]) < llabs(w->stride[least]))) least = k;
    used[least] = true;
    int64_t extent = least == w->half ? (w->extent[least] + 1) / 2 : w->extent[least];
    if (extent == 1) continue;
    if (llabs(w->stride[least]) < span) return false;
    span += (extent - 1) * llabs(w->stride[least]);
  }
  return true;
}

// Computing -----------------------------------------------------------------------------------------------------------

static judge_value wrap(judge_type type, judge_value x) {
  if (type.is_float || type.bits >= 32) return x;
  if (type.bits == 1) return (judge_value){.u = x.u & 1};
  uint32_t top = 1u << (type.bits - 1), kept = x.u & ((top << 1) - 1);
  return (judge_value){.i = (int32_t)((kept ^ top) - top)};
}

static judge_value fetch(const judge_space* s, int64_t address, judge_type type) {
  const uint8_t* at = s->data + address;
  judge_value x = {.u = at[0]}; // elements have 1, 2 or 4 bytes
  if (type.bits > 8) x.u |= (uint32_t)at[1] << 8;
  if (type.bits > 16) x.u |= (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
  return wrap(type, x);
}

static void put(judge_space* s, int64_t address, judge_type type, judge_value x) {
  for (int b = 0; b < (type.bits + 7) / 8; ++b) {
    s->data[address + b] = (uint8_t)(x.u >> 8 * b);
    s->valid[address + b] = 1;
  }
}

// A code of 4 bits, which leaves the other half of its byte as it is.
static void put_half(judge_space* s, int64_t address, bool upper, judge_value x) {
  uint8_t code = x.u & 15, old = s->data[address];
  s->data[address] = upper ? (uint8_t)(code << 4 | (old & 15)) : (uint8_t)((old & 0xf0) | code);
  s->valid[address] = 1;
}

static const uint32_t one_nan = 0x7fc00000;
static judge_value rounded(float x) { return x == x ? (judge_value){.f = x} : (judge_value){.u = one_nan}; }

// The larger or the smaller: a number wins over NaN, and -0 is below +0.
static judge_value extreme(judge_value a, judge_value b, bool larger) {
  bool a_nan = a.f != a.f, b_nan = b.f != b.f;
  if (a_nan && b_nan) return (judge_value){.u = one_nan};
  if (a_nan || b_nan) return a_nan ? b : a;
  bool a_below = a.f < b.f || (a.f == b.f && signbit(a.f) && !signbit(b.f));
  return a_below == larger ? b : a;
}

static float nearest_even(float x) {
  if (!(fabsf(x) < 8388608.0f)) return x;
  float down = floorf(x), gap = x - down;
  float r = gap > 0.5f || (gap == 0.5f && fmodf(down, 2.0f) != 0.0f) ? down + 1.0f : down;
  return copysignf(r, x);
}

static judge_value on_floats(const judge* j, judge_op op, judge_value a, judge_value b) {
  switch (op) {
  case JUDGE_ADD:
    return rounded(a.f + b.f);
  case JUDGE_SUB:
    return rounded(a.f - b.f);
  case JUDGE_MUL:
    return rounded(a.f * b.f);
  case JUDGE_DIV:
    return rounded(a.f / b.f);
  case JUDGE_MAX:
    return extreme(a, b, true);
  case JUDGE_MIN:
    return extreme(a, b, false);
  case JUDGE_MAXIMUM:
  case JUDGE_MINIMUM:
    return a.f != a.f || b.f != b.f ? (judge_value){.u = one_nan} : extreme(a, b, op == JUDGE_MAXIMUM);
  case JUDGE_NEG:
    return (judge_value){.u = a.u ^ 0x80000000u};
  case JUDGE_ABS:
    return (judge_value){.u = a.u & 0x7fffffffu};
  case JUDGE_SQRT:
    return rounded(sqrtf(a.f));
  case JUDGE_ROUNDEVEN:
    return rounded(nearest_even(a.f));
  case JUDGE_FLOOR:
    return rounded(floorf(a.f));
  case JUDGE_CEIL:
    return rounded(ceilf(a.f));
  case JUDGE_WHOLE:
    return rounded(truncf(a.f));
  default:
    break;
  }
  const char* name = op == JUDGE_EXP2 ? "exp2" : op == JUDGE_RECIP ? "recip" : "rsqrt";
  for (int k = 0; k < j->function_count; ++k)
    if (!strcmp(j->functions[k].name, name))
      return (judge_value){.f = pb_function_eval(name, j->functions[k].table_bits, j->functions[k].degree, a.f)};
  return (judge_value){.u = one_nan};
}

// Integers as numbers without bounds; amounts of shifts count modulo the bits of the type.
static int64_t number_of(judge_type type, judge_value x) { return type.bits == 64 ? x.w : x.i; }

static judge_value as_number(judge_type type, int64_t x) {
  return type.bits == 64 ? (judge_value){.w = x} : wrap(type, (judge_value){.i = (int32_t)(uint32_t)(uint64_t)x});
}

// Down to a multiple of 2^s, which divides: no shift of a negative number.
static int64_t shifted_down(int64_t x, int s) {
  for (; s > 0; --s) x = x / 2 - (x % 2 < 0);
  return x;
}

static judge_value shifted(judge_op op, judge_type type, judge_value a, judge_value b) {
  int s = (int)(number_of(type, b) & (type.bits - 1));
  int64_t x = number_of(type, a);
  uint64_t bits = type.bits == 64 ? (uint64_t)x : (uint32_t)x, half = s ? (uint64_t)1 << (s - 1) : 0;
  if (op == JUDGE_SHL) return as_number(type, (int64_t)(bits << s));
  if (op == JUDGE_SHRU) return as_number(type, (int64_t)(bits >> s));
  if (op == JUDGE_SHRR || op == JUDGE_SHRA) x = number_of(type, as_number(type, (int64_t)((uint64_t)x + half)));
  if (op == JUDGE_SHRA && s > 0 && number_of(type, a) < 0)
    x = number_of(type, as_number(type, (int64_t)((uint64_t)x - 1)));
  return as_number(type, shifted_down(x, s));
}

static judge_value on_words(judge_op op, judge_type type, judge_value a, judge_value b) {
  int64_t x = number_of(type, a), y = number_of(type, b);
  switch (op) {
  case JUDGE_AND:
    return as_number(type, x & y);
  case JUDGE_OR:
    return as_number(type, x | y);
  case JUDGE_XOR:
    return as_number(type, x ^ y);
  case JUDGE_ADD:
    return as_number(type, (int64_t)((uint64_t)x + (uint64_t)y));
  case JUDGE_SUB:
    return as_number(type, (int64_t)((uint64_t)x - (uint64_t)y));
  case JUDGE_MUL:
    return as_number(type, (int64_t)((uint64_t)x * (uint64_t)y));
  case JUDGE_MAX:
    return x > y ? a : b;
  case JUDGE_MIN:
    return x < y ? a : b;
  default:
    return shifted(op, type, a, b);
  }
}

static judge_value on_integers(judge_op op, judge_type type, judge_value a, judge_value b) {
  if (type.bits == 64) return on_words(op, type, a, b);
  switch (op) {
  case JUDGE_ADD:
    return wrap(type, (judge_value){.u = a.u + b.u});
  case JUDGE_SUB:
    return wrap(type, (judge_value){.u = a.u - b.u});
  case JUDGE_MUL:
    return wrap(type, (judge_value){.u = a.u * b.u});
  case JUDGE_MAX:
    return a.i > b.i ? a : b;
  case JUDGE_MIN:
    return a.i < b.i ? a : b;
  default:
    return on_words(op, type, a, b);
  }
}

static judge_value to_code(judge_value x) {
  if (!(x.f >= -128.0f)) return (judge_value){.i = -128};
  return (judge_value){.i = x.f > 127.0f ? 127 : (int32_t)x.f};
}

// The bf16 nearest to an f32: of the one below and the one above it in size the nearer, of two as near the even one.
static judge_value to_bf16(judge_value x) {
  judge_value below = {.u = x.u & 0xffff0000u}, above = {.u = below.u + 0x10000u};
  if (x.f != x.f) return (judge_value){.u = (x.u >> 16) | 0x40};
  uint32_t to_below = x.u - below.u, to_above = above.u - x.u;
  bool up = to_above < to_below || (to_above == to_below && (above.u >> 16) % 2 == 0);
  return (judge_value){.u = (up ? above.u : below.u) >> 16};
}

// binary16 has 5 bits of exponent, of which the least means 2^-14 with no 1 in front, and 10 behind the point.
static judge_value from_f16(uint32_t code) {
  int exponent = (int)(code >> 10 & 31), fraction = (int)(code & 1023);
  judge_value x;
  if (exponent == 31) // all bits of an f32's exponent, the fraction's places moved
    x.u = 0x7f800000u | (uint32_t)fraction << 13;
  else
    x.f = exponent ? ldexpf((float)(1024 + fraction), exponent - 25) : ldexpf((float)fraction, -24);
  x.u |= (code & 0x8000) << 16;
  return x;
}

// The nearest f16: a whole number of the steps that there are between its neighbours.
static judge_value to_f16(judge_value x) {
  uint32_t sign = x.u >> 16 & 0x8000;
  float size = fabsf(x.f);
  int exponent = 0;
  if (x.f != x.f) return (judge_value){.u = sign | 0x7e00};
  if (size >= 65520) return (judge_value){.u = sign | 0x7c00}; // half a step past the largest, and more
  (void)frexpf(size, &exponent);
  if (exponent < -13 || size == 0) exponent = -13; // below 2^-14 steps get no finer
  uint32_t steps = (uint32_t)nearbyint(ldexp((double)size, 11 - exponent));
  // what is rounded up to a power of two has the next exponent, and no fraction: the same sum
  return (judge_value){.u = sign | (((uint32_t)(exponent + 13) << 10) + steps)};
}

// Floats of 8 bits. E5M2 has binary16's exponents and two bits behind the point; E4M3 counts 7 from the exponent of 1,
// and its last code is NaN where the others would have 480.
static judge_value from_f8(bool is_e4m3, uint32_t code) {
  if (!is_e4m3) return from_f16(code << 8);
  int exponent = (int)(code >> 3 & 15), fraction = (int)(code & 7);
  judge_value x = {.u = one_nan};
  if ((code & 0x7f) != 0x7f) x.f = ldexpf((float)(exponent ? 8 + fraction : fraction), (exponent ? exponent : 1) - 10);
  x.u |= (code & 0x80) << 24;
  return x;
}

// The nearest of all that there are, of two as near the even one.
static judge_value to_f8(bool is_e4m3, judge_value x) {
  uint32_t sign = x.u >> 24 & 0x80, last = is_e4m3 ? 0x7e : 0x7b, best = 0;
  double size = fabs((double)x.f), past = is_e4m3 ? nextafter(464, 465) : 61440;
  if (x.f != x.f) return (judge_value){.u = sign | (is_e4m3 ? 0x7f : 0x7e)};
  if (size >= past) return (judge_value){.u = sign | (last + 1)};
  for (uint32_t code = 1; code <= last; ++code) {
    double here = fabs((double)from_f8(is_e4m3, code).f - size), before = fabs((double)from_f8(is_e4m3, best).f - size);
    if (here < before || (here == before && code % 2 == 0)) best = code;
  }
  return (judge_value){.u = sign | best};
}

typedef struct element {
  judge* j;
  const judge_insn_record* insn;
  const judge_command* c;
  int64_t at[JUDGE_DIMS]; // by dim of the instruction
} element;

// Elements that are computed together, node by node: neighbours along the dim that walks fastest.
enum { ROW = 64 };
typedef struct row {
  int dim, count;                      // element t is t further along `dim` than `element` says
  judge_value nodes[JUDGE_NODES][ROW]; // their values; the constants' are there from the beginning
} row;

// Of elements that lie two in a byte.
static void load_halves(const element* e, const judge_window* w, const judge_operand* o, const row* r,
                        judge_value* to) {
  for (int t = 0; t < r->count; ++t) {
    int64_t address = w->address;
    bool odd = false, inside = true;
    for (int k = 0; k < w->rank; ++k) {
      int64_t at = e->at[w->dims[k]] + (w->dims[k] == r->dim ? t : 0);
      inside &= !w->boxed || (at >= w->lo[k] && at < w->hi[k]);
      if (k == w->half) odd = at % 2 != 0;
      address += (k == w->half ? at / 2 : at) * w->stride[k];
    }
    uint32_t x = inside ? (uint32_t)e->j->spaces[w->space].data[address] >> (odd ? 4 : 0) : (uint32_t)w->fill;
    to[t] = wrap(o->type, (judge_value){.u = x});
  }
}

static void load_row(const element* e, const judge_node* n, const row* r, judge_value* to) {
  const judge_window* w = &e->c->windows[n->operand];
  const judge_operand* o = &e->insn->operands[n->operand];
  const judge_space* s = &e->j->spaces[w->space];
  int64_t address = w->address, step = 0, first = 0, end = r->count; // of those inside the box
  if (w->half >= 0) {
    load_halves(e, w, o, r, to);
    return;
  }
  for (int k = 0; k < w->rank; ++k) {
    bool walks = w->dims[k] == r->dim;
    int64_t at = e->at[w->dims[k]], lo = w->lo[k] - at, hi = w->hi[k] - at;
    address += at * w->stride[k];
    if (walks) step += w->stride[k];
    if (!w->boxed) continue;
    if (!walks && (lo > 0 || hi <= 0)) end = 0;
    if (walks && lo > first) first = lo;
    if (walks && hi < end) end = hi;
  }
  judge_value fill = wrap(o->type, (judge_value){.i = (int32_t)w->fill});
  for (int64_t t = 0; t < r->count; ++t) to[t] = t >= first && t < end ? fetch(s, address + t * step, o->type) : fill;
}

static void look_row_up(const element* e, const judge_node* n, const row* r, judge_value* to) {
  const judge_window* w = &e->c->windows[n->operand];
  const judge_operand* o = &e->insn->operands[n->operand];
  uint32_t entries = (uint32_t)e->insn->dims[o->dims[0]].max;
  for (int t = 0; t < r->count; ++t)
    to[t] =
        fetch(&e->j->spaces[w->space], w->address + (int64_t)(r->nodes[n->args[0]][t].u % entries) * w->bytes, o->type);
}

// Of rows by their numbers, which are kept among those that the window has.
static void gather_row(const element* e, const judge_node* n, const row* r, judge_value* to) {
  const judge_window* w = &e->c->windows[n->operand];
  const judge_operand* o = &e->insn->operands[n->operand];
  int64_t address = w->address, step = 0;
  for (int k = 1; k < w->rank; ++k) {
    address += e->at[w->dims[k]] * w->stride[k];
    if (w->dims[k] == r->dim) step += w->stride[k];
  }
  for (int t = 0; t < r->count; ++t) {
    int64_t number = r->nodes[n->args[0]][t].i;
    if (number >= w->extent[0]) number = w->extent[0] - 1;
    if (number < 0) number = 0;
    to[t] = fetch(&e->j->spaces[w->space], address + t * step + number * w->stride[0], o->type);
  }
}

// The low two bits of the third name the place of the first, the high two that of the second.
static void put_two_of_four(const element* e, const judge_node* n, const row* r, judge_value* to) {
  for (int t = 0; t < r->count; ++t) {
    uint32_t here = (uint32_t)(e->at[n->operand] + (r->dim == n->operand ? t : 0)), places = r->nodes[n->args[2]][t].u;
    to[t] = (judge_value){.w = 0};
    if ((places >> 2 & 3) == here) to[t] = r->nodes[n->args[1]][t];
    if ((places & 3) == here) to[t] = r->nodes[n->args[0]][t];
  }
}

static judge_value apply(const judge* j, const judge_node* n, judge_type from, judge_value a, judge_value b,
                         judge_value third) {
  switch (n->op) {
  case JUDGE_ZEXT:
  case JUDGE_ZEXT8:
    return (judge_value){.u = from.bits < 32 ? a.u & ((1u << from.bits) - 1) : a.u};
  case JUDGE_SITOFP:
    return (judge_value){.f = (float)number_of(from, a)};
  case JUDGE_SEXT64:
    return (judge_value){.w = a.i};
  case JUDGE_ZEXT64:
    return (judge_value){.w = from.bits < 32 ? a.u & ((1u << from.bits) - 1) : a.u};
  case JUDGE_EXTF:
    if (from.bits == 8) return from_f8(from.is_e4m3, a.u & 0xff);
    return from.is_brain ? (judge_value){.u = a.u << 16} : from_f16(a.u);
  case JUDGE_TRUNCF:
    if (n->type.bits == 8) return to_f8(n->type.is_e4m3, a);
    return n->type.is_brain ? to_bf16(a) : to_f16(a);
  case JUDGE_TRUNC4:
  case JUDGE_TRUNC8:
  case JUDGE_TRUNC16:
  case JUDGE_TRUNC32:
    return as_number(n->type, number_of(from, a));
  case JUDGE_SAT8:
    return (judge_value){.i = number_of(from, a) < -128  ? -128
                              : number_of(from, a) > 127 ? 127
                                                         : (int32_t)number_of(from, a)};
  case JUDGE_SAT16:
    if (number_of(from, a) < -32768) return (judge_value){.i = -32768};
    return (judge_value){.i = number_of(from, a) > 32767 ? 32767 : (int32_t)number_of(from, a)};
  case JUDGE_FPTOSI32: // by the exponent: all of 2^31 and more, of either sign, and NaN are past an end
    if (((a.u >> 23) & 0xff) < 127 + 31) return (judge_value){.i = (int32_t)a.f};
    return (judge_value){.u = a.f > 0 ? 0x7fffffffu : 0x80000000u};
  case JUDGE_EQUAL:
    return (judge_value){.u = from.is_float ? a.f == b.f : number_of(from, a) == number_of(from, b)};
  case JUDGE_FPTOSI8:
    return to_code(a);
  case JUDGE_FPTOUI8: // of 255 the bits are those of -1
    if (!(a.f > 0)) return (judge_value){.i = 0};
    return as_number(n->type, a.f > 255 ? 255 : (int64_t)a.f);
  case JUDGE_LESS:
    return (judge_value){.u = from.is_float ? a.f < b.f : number_of(from, a) < number_of(from, b)};
  case JUDGE_LESS_EQUAL:
    return (judge_value){.u = from.is_float ? a.f <= b.f : number_of(from, a) <= number_of(from, b)};
  case JUDGE_LESSU:
    return (judge_value){.u = from.bits == 64 ? (uint64_t)a.w < (uint64_t)b.w
                                              : a.u << (32 - from.bits) < b.u << (32 - from.bits)};
  case JUDGE_SELECT:
    return a.u & 1 ? b : third;
  default:
    return n->type.is_float ? on_floats(j, n->op, a, b) : on_integers(n->op, n->type, a, b);
  }
}

// What is the same for every element.
static void compute_constants(const element* e, row* r) {
  for (int k = 0; k < e->insn->node_count; ++k) {
    const judge_node* n = &e->insn->nodes[k];
    judge_value x = n->number;
    if (n->op != JUDGE_IMMEDIATE && n->op != JUDGE_NUMBER) continue;
    if (n->op == JUDGE_IMMEDIATE)
      x = wrap(n->type, (judge_value){.u = (uint32_t)e->c->values[e->insn->operands[n->operand].base]});
    for (int t = 0; t < ROW; ++t) r->nodes[k][t] = x;
  }
}

// The values of a row of elements.
static const judge_value* compute(const element* e, row* r) {
  static const judge_value none[ROW];
  for (int k = 0; k < e->insn->node_count; ++k) {
    const judge_node* n = &e->insn->nodes[k];
    const judge_value* a = n->args[0] >= 0 && n->args[0] < k ? r->nodes[n->args[0]] : none;
    const judge_value* b = n->args[1] >= 0 && n->args[1] < k ? r->nodes[n->args[1]] : a;
    const judge_value* third = n->args[2] >= 0 && n->args[2] < k ? r->nodes[n->args[2]] : none;
    judge_type from = n->args[0] >= 0 ? e->insn->nodes[n->args[0]].type : n->type;
    if (n->op == JUDGE_LOAD)
      load_row(e, n, r, r->nodes[k]);
    else if (n->op == JUDGE_LOOKUP)
      look_row_up(e, n, r, r->nodes[k]);
    else if (n->op == JUDGE_GATHER)
      gather_row(e, n, r, r->nodes[k]);
    else if (n->op == JUDGE_TWO_OF_FOUR)
      put_two_of_four(e, n, r, r->nodes[k]);
    else if (n->op == JUDGE_SEXT || n->op == JUDGE_BITCAST)
      memcpy(r->nodes[k], a, (size_t)r->count * sizeof *a);
    else if (n->op != JUDGE_IMMEDIATE && n->op != JUDGE_NUMBER)
      for (int t = 0; t < r->count; ++t) r->nodes[k][t] = apply(e->j, n, from, a[t], b[t], third[t]);
  }
  return r->nodes[e->insn->node_count - 1];
}

static judge_value combine(const judge_insn_record* insn, judge_type type, judge_value a, judge_value b) {
  judge_op op = insn->how == JUDGE_ACC_ADD ? JUDGE_ADD : insn->how == JUDGE_ACC_MAXIMUM ? JUDGE_MAXIMUM : JUDGE_MAX;
  if (insn->how == JUDGE_ACC_MAXU) { // no sign: whichever lies further up from 0 through the bits
    uint32_t ones = type.bits < 32 ? (1u << type.bits) - 1 : ~0u;
    return (a.u & ones) > (b.u & ones) ? a : b;
  }
  return type.is_float ? on_floats(NULL, op, a, b) : on_integers(op, type, a, b);
}

static judge_value nothing(const judge_insn_record* insn, judge_type type) {
  if (insn->how == JUDGE_ACC_ADD || insn->how == JUDGE_ACC_MAXU) return (judge_value){.u = 0};
  if (type.is_float) return (judge_value){.f = -INFINITY};
  return (judge_value){.i = -(int32_t)((1u << (type.bits - 1)) - 1) - 1};
}

// What is summed up for one element: neighbours by twos, then those by twos; one that is left over waits.
static judge_value total(const judge_insn_record* insn, judge_type type, judge_value* x, int64_t count) {
  for (; count > 1; count = (count + 1) / 2)
    for (int64_t k = 0; 2 * k < count; ++k)
      x[k] = 2 * k + 1 < count ? combine(insn, type, x[2 * k], x[2 * k + 1]) : x[2 * k];
  return x[0];
}

// Steps `at` along the listed dims, the last fastest; false: all were there.
static bool step(const judge_command* c, const int* dims, int count, int64_t* at) {
  for (int k = count - 1; k >= 0; --k) {
    if (++at[dims[k]] < c->extent[dims[k]]) return true;
    at[dims[k]] = 0;
  }
  return false;
}

typedef struct result {
  int64_t address;
  bool upper; // of the two codes in its byte
  judge_value value;
} result;

// The dims that an instruction walks: those of its destination, then those that are summed up, the last fastest.
typedef struct walk {
  int dims[JUDGE_DIMS], count, outer;
  int64_t points, each; // elements of the destination, and how many terms each of them has
} walk;

static walk walk_of(const judge_insn_record* insn, const judge_command* c, const judge_window* d) {
  walk w = {.points = 1, .each = 1};
  int inner[JUDGE_DIMS], inners = 0;
  for (int k = 0; k < insn->dim_count; ++k) {
    bool walks = false;
    for (int p = 0; p < d->rank; ++p) walks |= d->dims[p] == k;
    if (insn->dims[k].table) continue;
    if (walks)
      w.dims[w.outer++] = k, w.points *= c->extent[k];
    else
      inner[inners++] = k, w.each *= c->extent[k];
  }
  w.count = w.outer + inners;
  memcpy(w.dims + w.outer, inner, (size_t)inners * sizeof *inner);
  return w;
}

// All results, before any is written.
static void compute_results(const element* of, const judge_window* d, const walk* w, row* r, judge_value* terms,
                            result* results) {
  element e = *of, at = *of; // the row's first element; the result's
  judge_type type = e.insn->operands[e.c->dest].type;
  int64_t p = 0, filled = 0, length = w->count ? e.c->extent[w->dims[w->count - 1]] : 1, here = 0;
  r->dim = w->count ? w->dims[w->count - 1] : -1;
  compute_constants(&e, r);
  for (int64_t left = w->points * w->each; left > 0; left -= r->count) {
    r->count = (int)(length - here < ROW ? length - here : ROW);
    const judge_value* values = compute(&e, r);
    for (int t = 0; t < r->count; ++t) {
      terms[filled++] = values[t];
      if (filled < w->each) continue;
      results[p].address = d->address;
      results[p].upper = d->half >= 0 && at.at[d->dims[d->half]] % 2;
      for (int k = 0; k < d->rank; ++k) results[p].address += at.at[d->dims[k]] / (k == d->half ? 2 : 1) * d->stride[k];
      results[p++].value = e.insn->how == JUDGE_SET ? terms[0] : total(e.insn, type, terms, w->each);
      step(e.c, w->dims, w->outer, at.at);
      filled = 0;
    }
    here = (here + r->count) % length;
    if (w->count) e.at[r->dim] = here;
    if (here == 0) step(e.c, w->dims, w->count - 1, e.at);
  }
}

// Codes of 4 bits are copied as the bytes that they lie in.
static void copy_halves(judge* j, const judge_command* c, const judge_window* from, const judge_window* to) {
  int64_t at[JUDGE_DIMS] = {0};
  for (;;) {
    int64_t source = from->address, target = to->address;
    for (int k = 0; k < from->rank; ++k) source += at[from->dims[k]] / (k == from->half ? 2 : 1) * from->stride[k];
    for (int k = 0; k < to->rank; ++k) target += at[to->dims[k]] / (k == to->half ? 2 : 1) * to->stride[k];
    j->spaces[to->space].data[target] = j->spaces[from->space].data[source];
    j->spaces[to->space].valid[target] = 1;
    if (!step(c, to->dims, to->rank, at)) return;
  }
}

// Reads come before writes, but for elements that are written twice: those add up one after the other.
void judge_run(judge* j, const judge_command* c) {
  const judge_insn_record* insn = &j->insns[c->insn];
  int64_t kept[JUDGE_FIELDS];
  memcpy(kept, c->values, sizeof kept);
  memcpy(j->state[c->insn], kept, sizeof kept);
  for (int f = 0; f < insn->field_count && insn->state_of >= 0; ++f)
    if (insn->fields[f].of >= 0) j->state[insn->state_of][insn->fields[f].of] = kept[f];
  if (!c->count) return;
  turn_banks(j, insn, c);
  const judge_window* d = &c->windows[c->dest];
  judge_type type = insn->operands[c->dest].type;
  if (d->half >= 0 && insn->nodes[insn->node_count - 1].op == JUDGE_LOAD) {
    copy_halves(j, c, &c->windows[insn->nodes[insn->node_count - 1].operand], d);
    return;
  }
  walk w = walk_of(insn, c, d);
  judge_value* terms = malloc((size_t)w.each * sizeof *terms);
  result* results = malloc((size_t)w.points * sizeof *results);
  row* r = malloc(sizeof *r);
  if (!terms || !results || !r) abort(); // out of memory: a verdict without every element is none
  compute_results(&(element){.j = j, .insn = insn, .c = c}, d, &w, r, terms, results);
  judge_space* s = &j->spaces[d->space];
  for (int64_t p = 0; p < w.points; ++p) {
    if (d->half >= 0) {
      put_half(s, results[p].address, results[p].upper, results[p].value);
      continue;
    }
    judge_value old = c->accumulates ? fetch(s, results[p].address, type) : nothing(insn, type);
    put(s, results[p].address, type,
        insn->how == JUDGE_SET ? results[p].value : combine(insn, type, old, results[p].value));
  }
  free(terms);
  free(results);
  free(r);
}
