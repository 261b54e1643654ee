// Drawing commands: extents, windows and immediates of any instruction, by the shape that is wished for. What comes out
// is legal: the judge has looked at it.
#include "suite.h"

#include <stdlib.h>
#include <string.h>

enum { TRIES = 240, POINTS = 1 << 16, MOST_POINTS = 1 << 28 };

const char* const shape_names[SHAPES] = {"random",  "smallest", "largest", "ragged", "unaligned", "extreme",
                                         "overlap", "in-place", "repeat",  "first",  "last",      "box"};

int64_t command_extent(const pb_command* c, int dim) {
  const pb_dim* d = &c->insn->dims[dim];
  return d->field >= 0 ? c->values[d->field] : d->max;
}

static int64_t element_bytes(pb_type type) { return pb_bytes_of(type, 1); }

// Any number that the field can say, each as likely as the others.
static int64_t draw_number(suite* s, const pb_field* f) {
  int64_t least = pb_field_code(f, pb_field_min(f)), most = pb_field_code(f, pb_field_max(f));
  return pb_field_number(f, draw_between(s, least, most));
}

// Extents -------------------------------------------------------------------------------------------------------------

static int64_t draw_extent(suite* s, const pb_dim* d, int dim, wish w) {
  switch (w.shape) {
  case SHAPE_SMALLEST:
    return d->min;
  case SHAPE_LARGEST:
    return dim == w.which ? d->max : d->min;
  case SHAPE_RAGGED: {
    static const int odd[] = {1, 3, 5, 7, 11, 13, 17, 19, 29, 31, 33, 37};
    int64_t x = odd[draw(s, 12)];
    return x < d->min ? d->min : x > d->max ? d->max : x;
  }
  default: {
    int64_t most = draw(s, 4) ? 6 : 40, least = d->min;
    if (w.shape == SHAPE_OVERLAP && least < 2 && d->max > 1) least = 2; // one element lies over nothing
    return draw_between(s, least, d->max < d->min + most ? d->max : d->min + most);
  }
  }
}

static int64_t points_of(const pb_command* c) {
  int64_t points = 1;
  for (int d = 0; d < c->insn->dim_count; ++d)
    if (!c->insn->dims[d].table) points *= command_extent(c, d);
  return points;
}

// Makes the largest extent that has a field smaller; false: all are at their least.
static bool shrink(pb_command* c) {
  int most = -1;
  for (int d = 0; d < c->insn->dim_count; ++d) {
    const pb_dim* dim = &c->insn->dims[d];
    if (dim->field < 0 || c->values[dim->field] == dim->min) continue;
    if (most < 0 || c->values[dim->field] > c->values[c->insn->dims[most].field]) most = d;
  }
  if (most < 0) return false;
  const pb_dim* dim = &c->insn->dims[most];
  int64_t x = c->values[dim->field] * 7 / 8;
  c->values[dim->field] = x < dim->min ? dim->min : x;
  return true;
}

static void draw_extents(suite* s, pb_command* c, wish w) {
  for (int d = 0; d < c->insn->dim_count; ++d) {
    int field = c->insn->dims[d].field;
    if (field < 0) continue;
    int64_t extent = draw_extent(s, &c->insn->dims[d], d, w);
    bool drawn = false; // dims that share a field have the same range
    for (int e = 0; e < d; ++e) drawn |= c->insn->dims[e].field == field;
    if (!drawn || extent > c->values[field]) c->values[field] = extent;
  }
  while (points_of(c) > (w.shape == SHAPE_LARGEST ? MOST_POINTS : POINTS) && shrink(c)) {}
}

// Windows -------------------------------------------------------------------------------------------------------------

// Numbers of units that are whole elements.
static int64_t grain_of(const pb_operand* o) {
  int64_t bytes = element_bytes(o->type), grain = 1;
  while (grain * o->unit % bytes) ++grain;
  return grain;
}

static int64_t draw_stride(suite* s, const pb_insn* insn, const pb_operand* o, int k, int64_t span, wish w) {
  const pb_field* f = &insn->fields[o->strides[k].field];
  int64_t grain = grain_of(o), tight = (span + o->unit - 1) / o->unit;
  tight = (tight + grain - 1) / grain * grain;
  int64_t row = s->chip->memories[o->memory].row_bytes, more = (row > o->unit ? row / o->unit : 1) * 3;
  int64_t stride = tight;
  bool dest = o->written;
  if (w.shape == SHAPE_REPEAT && dest)
    stride = 0;
  else if (dest)
    stride = w.shape == SHAPE_LARGEST || draw(s, 2) ? tight : tight + draw(s, (uint32_t)more) / grain * grain;
  else if (w.shape == SHAPE_LARGEST)
    stride = draw(s, 2) ? tight : 0;
  else if (w.shape == SHAPE_OVERLAP && w.which == 0)
    stride = 0;
  else if (w.shape == SHAPE_OVERLAP)
    stride = draw(s, 3) ? draw(s, (uint32_t)tight + 1) / grain * grain : 0;
  else if (w.shape != SHAPE_SMALLEST)
    switch (draw(s, 4)) {
    case 0:
      stride = draw(s, (uint32_t)(2 * tight + 1)) / grain * grain;
      break;
    case 1:
      stride = tight + draw(s, (uint32_t)more) / grain * grain;
      break;
    default:
      break;
    }
  if (f->is_signed && draw(s, 3) == 0) stride = -stride;
  return pb_field_nearest(f, stride);
}

// Offsets from the base, of the first byte and past the last.
static void hull(const suite* s, const pb_command* c, const pb_operand* o, int64_t* low, int64_t* high) {
  *low = 0, *high = element_bytes(o->type);
  for (int k = 0; k < o->rank; ++k) {
    int64_t stride = o->strides[k].kind == PB_STRIDE_FIELD ? c->values[o->strides[k].field] * o->unit
                                                           : pb_fixed_stride(s->chip, o, k);
    int64_t reach = (command_extent(c, o->dims[k]) - 1) * stride;
    *(reach < 0 ? low : high) += reach;
  }
}

static int64_t round_up(int64_t x, int64_t unit) { return x >= 0 ? (x + unit - 1) / unit * unit : -(-x / unit * unit); }

static bool draw_base(suite* s, pb_command* c, const pb_operand* o, region r, wish w) {
  int64_t low, high, unit = pb_base_unit(c->insn, o), bytes = element_bytes(o->type);
  while (unit % bytes) unit += pb_base_unit(c->insn, o);
  hull(s, c, o, &low, &high);
  int64_t first = round_up(r.first - low, unit), last = r.last - high;
  if (o->slot < 0 && first < 0) first = 0;
  if (last < first) return false;
  int64_t steps = (last - first) / unit, at = first + draw_between(s, 0, steps) * unit;
  if (w.shape == SHAPE_FIRST || w.shape == SHAPE_SMALLEST) at = first;
  if (w.shape == SHAPE_LAST) at = first + steps * unit;
  if (w.shape == SHAPE_LARGEST && draw(s, 2)) at = first + (draw(s, 2) ? steps * unit : 0); // the result needs the rest
  int64_t row = s->chip->memories[o->memory].row_bytes;
  for (int tries = 0; w.shape == SHAPE_UNALIGNED && unit < row && at % row == 0 && tries < 16; ++tries)
    at = first + draw_between(s, 0, steps) * unit;
  c->values[o->base] = at / o->unit;
  return pb_field_holds(&c->insn->fields[o->base], c->values[o->base]);
}

static region draw_region(suite* s, const pb_operand* o, wish w) {
  int number = pb_constants_number(s->chip, o->memory);
  if (number >= 0) return s->regions[REGION_CONSTANTS + number];
  if (o->memory == s->chip->system_memory) {
    if (o->written) return s->regions[REGION_OUT];
    if (w.shape == SHAPE_EXTREME) return s->regions[REGION_EXTREMES];
    return s->regions[element_bytes(o->type) == 1 ? REGION_BYTES : REGION_WORDS];
  }
  const memory_plan* m = &s->memories[o->memory];
  int part = w.shape == SHAPE_FIRST ? 0 : w.shape == SHAPE_LAST ? m->count - 1 : (int)draw(s, (uint32_t)m->count);
  return m->parts[part];
}

static void draw_box(suite* s, pb_command* c, const pb_operand* o, wish w) {
  int mode = w.shape == SHAPE_BOX ? w.which : draw(s, 2) ? 0 : 4, cut = 0;
  for (int k = 0; o->has_box && k < o->rank; ++k) {
    if (o->box_lo[k] < 0) continue;
    int64_t extent = command_extent(c, o->dims[k]), lo = 0, hi = extent;
    if (mode == 1 && !cut++) lo = draw_between(s, 1, extent);
    if (mode == 2 && !cut++) hi = draw_between(s, 0, extent - 1);
    if (mode == 3) hi = lo = draw_between(s, 0, extent);
    if (mode == 4) lo = draw_between(s, 0, extent), hi = draw_between(s, 0, extent);
    if (mode == 5) lo = draw_between(s, 0, extent - 1), hi = draw_between(s, lo + 1, extent);
    c->values[o->box_lo[k]] = lo;
    c->values[o->box_hi[k]] = hi;
  }
  if (o->fill < 0) return;
  const pb_field* f = &c->insn->fields[o->fill];
  c->values[o->fill] = draw(s, 3)   ? draw_between(s, pb_field_min(f), pb_field_max(f))
                       : draw(s, 2) ? pb_field_min(f)
                                    : pb_field_max(f);
}

// Whether a stride drawn before, of an operand in front or of a dim further in, stands in the same field.
static bool is_drawn(const pb_insn* insn, int index, int k) {
  int field = insn->operands[index].strides[k].field;
  for (int o = 0; o <= index && insn->fields[field].shared; ++o)
    for (int d = insn->operands[o].rank - 1; d >= 0 && (o < index || d > k); --d)
      if (insn->operands[o].strides[d].kind == PB_STRIDE_FIELD && insn->operands[o].strides[d].field == field)
        return true;
  return false;
}

static bool draw_window(suite* s, pb_command* c, int index, wish w) {
  const pb_operand* o = &c->insn->operands[index];
  if (banks_on(s, o)) return banks_draw(s, c, o, w);
  int64_t span = element_bytes(o->type);
  for (int pass = 0; pass < 2; ++pass) // strides that are given, then those of fields, innermost first
    for (int k = o->rank - 1; k >= 0; --k) {
      if ((o->strides[k].kind == PB_STRIDE_FIELD) != (pass == 1)) continue;
      int64_t extent = command_extent(c, o->dims[k]), stride = pb_fixed_stride(s->chip, o, k);
      if (pass == 1) {
        if (!is_drawn(c->insn, index, k)) c->values[o->strides[k].field] = draw_stride(s, c->insn, o, k, span, w);
        stride = llabs(c->values[o->strides[k].field]) * o->unit;
      }
      if (stride * (extent - 1) + element_bytes(o->type) > span || stride >= span) span += stride * (extent - 1);
    }
  region r = draw_region(s, o, w);
  if (o->slot >= 0) c->values[o->slot] = r.space - JUDGE_ARGUMENTS;
  draw_box(s, c, o, w);
  return draw_base(s, c, o, r, w);
}

int64_t command_lay(const suite* s, pb_command* c, int index, int64_t address, int64_t most, bool grow) {
  const pb_operand* o = &c->insn->operands[index];
  int64_t width = element_bytes(o->type), span = width, whole = span;
  if (address % o->unit) return 0;
  c->values[o->base] = address / o->unit;
  if (!pb_field_holds(&c->insn->fields[o->base], c->values[o->base])) return 0;
  bool used[PB_MAX_INSN_DIMS] = {false}, gap = false;
  for (int n = 0; n < o->rank; ++n) {
    int at = -1; // neighbouring elements first, then rows, then what fields say, each innermost first
    for (int kind = 0; kind < 5 && at < 0; ++kind) {
      static const pb_stride_kind order[] = {PB_STRIDE_ELEM, PB_STRIDE_ROW, PB_STRIDE_NUMBER, PB_STRIDE_NONE,
                                             PB_STRIDE_FIELD};
      for (int k = o->rank - 1; k >= 0 && at < 0; --k)
        if (!used[k] && o->strides[k].kind == order[kind]) at = k;
    }
    used[at] = true;
    const pb_dim* d = &c->insn->dims[o->dims[at]];
    int64_t stride = pb_fixed_stride(s->chip, o, at);
    if (o->strides[at].kind == PB_STRIDE_FIELD) {
      stride = round_up(span, o->unit);
      const pb_field* f = &c->insn->fields[o->strides[at].field];
      stride = pb_field_nearest(f, stride / o->unit) * o->unit;
      c->values[o->strides[at].field] = stride / o->unit;
      if (stride < span) stride = 0; // too far: this dim stays at its least
    }
    int64_t extent = command_extent(c, o->dims[at]), room = stride ? (most - span) / stride + 1 : d->min;
    bool halves = o->type == PB_I4 && o->strides[at].kind == PB_STRIDE_ELEM;
    if (halves) room *= 2;                // of which each byte has two
    bool over = stride && stride < width; // its elements would lie over each other: the dim stays at its least
    if (grow && d->field >= 0 && !over) {
      extent = room > d->max ? d->max : room < d->min ? d->min : room;
      if (gap || stride != whole) extent = extent < 1 ? 1 : extent;
      c->values[d->field] = extent;
    }
    if (halves) extent = pb_bytes_of(PB_I4, extent);
    if (stride != whole && extent > 1) gap = true;
    span += stride * (extent - 1);
    if (!gap) whole = span;
  }
  return span <= most ? whole : 0;
}

// Immediates ----------------------------------------------------------------------------------------------------------

static int64_t draw_immediate(suite* s, const pb_operand* o, const pb_field* f, wish w) {
  if (o->type == PB_I1) return w.flag >= 0 ? w.flag : (int64_t)draw(s, 2);
  if (o->type == PB_F32) {
    float x = w.shape == SHAPE_EXTREME ? (draw(s, 2) ? 0x1p100f : 0x1p-130f) : ((float)draw(s, 4096) - 2048) * 0x1p-9f;
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return pb_field_bits(f, bits);
  }
  int64_t ends[] = {pb_field_min(f), pb_field_max(f), pb_field_nearest(f, 0), pb_field_nearest(f, 1)};
  if (w.shape == SHAPE_EXTREME) return ends[draw(s, 4)];
  return draw_number(s, f);
}

bool command_walks_alike(const pb_insn* insn, int o) {
  const pb_operand *x = &insn->operands[o], *d = &insn->operands[insn->dest];
  bool same = x->memory == d->memory && o != insn->dest && x->rank == d->rank && x->unit == d->unit && x->slot < 0 &&
              element_bytes(x->type) == element_bytes(d->type);
  for (int k = 0; same && k < d->rank; ++k) same = x->dims[k] == d->dims[k] && x->strides[k].kind == d->strides[k].kind;
  return same;
}

// Gives a field another's number, if it can say it.
static bool copy_number(pb_command* c, int from, int to) {
  c->values[to] = c->values[from];
  return pb_field_holds(&c->insn->fields[to], c->values[to]);
}

// The result over a source that walks the same dims.
static bool place_over(pb_command* c, int which) {
  const pb_operand* d = &c->insn->operands[c->insn->dest];
  for (int o = 0; o < c->insn->operand_count; ++o) {
    const pb_operand* x = &c->insn->operands[o];
    if (!command_walks_alike(c->insn, o) || which-- > 0) continue;
    bool said = copy_number(c, d->base, x->base);
    for (int k = 0; k < d->rank; ++k)
      if (d->strides[k].kind == PB_STRIDE_FIELD) said &= copy_number(c, d->strides[k].field, x->strides[k].field);
    return said;
  }
  return false;
}

// A result shares no byte with a source, but where it is the same window, which is what a unit reads before it writes;
// no byte with itself, but where it adds up.
static bool sound(const judge_command* c, wish w) {
  const judge_window* d = &c->windows[c->dest];
  if (d->empty) return false;
  if (!judge_apart(d) && !(c->accumulates && w.shape == SHAPE_REPEAT)) return false;
  for (int o = 0; o < c->count; ++o) {
    const judge_window* x = &c->windows[o];
    if (o == c->dest || x->space != d->space || x->empty || x->first >= d->last || d->first >= x->last) continue;
    bool same = x->rank == d->rank && x->address == d->address && x->bytes == d->bytes && w.shape == SHAPE_IN_PLACE;
    for (int k = 0; same && k < d->rank; ++k) same = x->dims[k] == d->dims[k] && x->stride[k] == d->stride[k];
    if (!same) return false;
  }
  return true;
}

// The command as the judge would have it once its state is written.
static bool judged(suite* s, const pb_command* c, judge_command* out, char* why) {
  *out = (judge_command){.insn = judge_insn(s->judge, c->insn->name)};
  if (out->insn < 0) return snprintf(why, JUDGE_WHY, "the judge has no instruction %s", c->insn->name), false;
  for (int f = 0; f < c->insn->field_count; ++f) {
    int at = judge_field(s->judge, out->insn, c->insn->fields[f].name);
    if (at >= 0) out->values[at] = c->values[f];
  }
  return judge_place(s->judge, out, why);
}

static bool draw_once(suite* s, pb_command* c, wish w) {
  const pb_insn* insn = c->insn;
  for (int f = 0; f < insn->field_count && !insn->operand_count; ++f) c->values[f] = draw_number(s, &insn->fields[f]);
  // Of several windows on one memory only one can stand at its end.
  bool at_end = w.shape == SHAPE_FIRST || w.shape == SHAPE_LAST || w.shape == SHAPE_SMALLEST;
  int chosen = insn->operand_count ? (int)draw(s, (uint32_t)insn->operand_count) : 0;
  for (int o = 0; o < insn->operand_count; ++o) {
    const pb_operand* operand = &insn->operands[o];
    wish own = w;
    if (at_end && o != chosen && operand->memory == insn->operands[chosen].memory) own.shape = SHAPE_RANDOM;
    if (operand->memory < 0)
      c->values[operand->base] = draw_immediate(s, operand, &insn->fields[operand->base], w);
    else if (!draw_window(s, c, o, own))
      return false;
  }
  return w.shape != SHAPE_IN_PLACE || place_over(c, w.which);
}

// State ---------------------------------------------------------------------------------------------------------------

// The same by the command that does nothing else.
static bool write_alone(suite* s, program* p, const pb_command* c, const pb_insn* writer, const pb_insn* alone,
                        char* why) {
  pb_command set = {.insn = alone};
  const int64_t* state = judge_state(s->judge, judge_insn(s->judge, writer->name));
  for (int f = 0; f < alone->field_count; ++f) {
    int of = alone->fields[f].state_of;
    if (of < 0) continue;
    set.values[f] = state[judge_field(s->judge, judge_insn(s->judge, writer->name), alone->fields[f].name)];
    for (int g = 0; g < c->insn->field_count; ++g)
      if (c->insn->fields[g].state_writer == writer->index && c->insn->fields[g].state_field == of)
        set.values[f] = c->values[g];
  }
  return program_put(s, p, &set, why);
}

static int64_t number_in_state(const suite* s, const pb_insn* insn, int field) {
  const pb_insn* writer = &s->chip->insns[insn->fields[field].state_writer];
  int at = judge_insn(s->judge, writer->name);
  return judge_state(s->judge, at)[judge_field(s->judge, at, writer->fields[insn->fields[field].state_field].name)];
}

static void take_state(const suite* s, pb_command* c) {
  for (int f = 0; f < c->insn->field_count; ++f)
    if (c->insn->fields[f].state_writer >= 0) c->values[f] = number_in_state(s, c->insn, f);
}

// Whether the writer's state has what the command needs of it.
static bool is_there(const suite* s, const pb_command* c, const pb_insn* writer) {
  for (int f = 0; f < c->insn->field_count; ++f)
    if (c->insn->fields[f].state_writer == writer->index && c->values[f] != number_in_state(s, c->insn, f))
      return false;
  return true;
}

// A command of `writer` that leaves the values that `c` needs; what it does besides is drawn. Banks are not filled for
// what is there already.
static bool write_state(suite* s, program* p, const pb_command* c, const pb_insn* writer, char* why) {
  if (writer->operand_count && banks_on(s, &writer->operands[writer->dest]) && is_there(s, c, writer)) return true;
  const pb_insn* alone = pb_state_alone(s->chip, writer);
  if (alone && (draw(s, 2) || !banks_have_room(s, writer))) return write_alone(s, p, c, writer, alone, why);
  pb_command set = {.insn = writer};
  int at = judge_insn(s->judge, writer->name);
  const int64_t* state = judge_state(s->judge, at);
  for (int f = 0; f < writer->field_count; ++f) {
    int field = judge_field(s->judge, at, writer->fields[f].name);
    if (field >= 0) set.values[f] = state[field];
  }
  for (int tries = 0; writer->operand_count && tries < TRIES; ++tries) {
    judge_command read;
    wish w = {.shape = SHAPE_RANDOM, .flag = -1};
    draw_extents(s, &set, w);
    if (draw_once(s, &set, w) && judged(s, &set, &read, why) && sound(&read, w)) break;
  }
  for (int f = 0; f < c->insn->field_count; ++f)
    if (c->insn->fields[f].state_writer == writer->index) set.values[c->insn->fields[f].state_field] = c->values[f];
  return program_put(s, p, &set, why);
}

static bool needs_state(const pb_insn* insn) {
  for (int f = 0; f < insn->field_count; ++f)
    if (insn->fields[f].state_writer >= 0) return true;
  return false;
}

// What computes besides may need state itself, and goes first.
static bool write_states(suite* s, program* p, const pb_command* c, char* why) {
  for (int pass = 0; pass < 2 && needs_state(c->insn); ++pass)
    for (int i = 0; i < s->chip->insn_count; ++i) {
      bool needed = false;
      for (int f = 0; f < c->insn->field_count; ++f) needed |= c->insn->fields[f].state_writer == i;
      const pb_insn* writer = &s->chip->insns[i];
      if (!needed || (writer->operand_count == 0) != (pass == 1)) continue;
      if (!write_state(s, p, c, writer, why)) return false;
    }
  return true;
}

bool program_put(suite* s, program* p, const pb_command* c, char* why) {
  uint8_t bytes[PB_COMMAND_BITS / 8];
  judge_command read;
  pb_diag quiet = {0};
  if (!write_states(s, p, c, why)) return false;
  if (pb_encode(s->chip, c, bytes, &quiet) != PB_OK)
    return snprintf(why, JUDGE_WHY, "%s cannot be encoded", c->insn->name), false;
  if (!judge_read(s->judge, bytes, &read, why)) return false;
  judge_run(s->judge, &read);
  suite_cover(s, c, &read);
  program_push(s, p, c, &read);
  return true;
}

bool program_draw(suite* s, program* p, const pb_insn* insn, wish w, char* why) {
  banks_prepare(s, p, insn, w);
  snprintf(why, JUDGE_WHY, "no such command was found");
  if (insn->waits_by || insn->signals_by) return false; // they stand where others wait and signal
  pb_command c = {.insn = insn};
  draw_extents(s, &c, w);
  for (int tries = 0; tries < TRIES; ++tries) {
    judge_command read;
    if (tries && w.shape != SHAPE_LARGEST) draw_extents(s, &c, w);
    if (insn->broadcast >= 0 && p->together) c.values[insn->broadcast] = draw(s, 4) ? p->together : 0;
    bool good = draw_once(s, &c, w);
    if (w.stays) take_state(s, &c);
    good = good && (!insn->operand_count || (judged(s, &c, &read, why) && sound(&read, w)));
    if (good) return program_put(s, p, &c, why);
    if (tries > TRIES / 2) (void)shrink(&c);
  }
  return false;
}
