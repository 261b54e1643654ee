// Values that are held as codes of another type: quantised numbers, and integers of fewer bits than a byte. Of a
// quantised tensor the program has the codes; operators that move elements move those, and any other is made of
// numbers: its operands are taken to f32, and its result is rounded to codes again, as the specification says. A narrow
// integer is a byte that holds the number itself, wrapped where an operator ends. Floats of 8 bits, which are codes
// outside of the program, are inside of it what bodies widen and round, as they do f16.
#include "core/frontend/stablehlo/door.h"

#include <stdlib.h>
#include <string.h>

typedef struct pb_door_code {
  bool is_narrow; // an integer, else quantised
  bool is_float;  // neither: of 8 bits
  int bits;
  bool is_unsigned;
  pb_type type;           // of the codes, or of the bytes
  pb_type outside;        // narrow, or a float: what inputs and outputs have
  int64_t least, most;    // of the codes
  int axis, count;        // scales along an axis; -1: one for all
  const float* scales;    // of each
  const int32_t* zeros;   // of each
  const char* unreadable; // why the type is none that is read, NULL
} pb_door_code;

static const pb_door_code* code_of(const pb_door* d, int flat) {
  return d->codes && d->codes[flat] && !d->codes[flat]->is_float ? d->codes[flat] : NULL;
}

static bool is_float8(const pb_door* d, int flat) { return d->codes && d->codes[flat] && d->codes[flat]->is_float; }

static const char* behind(const char* text, const char* word) {
  const char* at = strstr(text, word);
  return at ? at + strlen(word) : NULL;
}

// ---- the types ----

// "scale" or "scale:zero", as many as there are, up to the end.
static void read_scales(pb_door* d, pb_door_code* code, const char* at) {
  pb_arena* arena = &d->m.program->arena;
  size_t most = 1;
  for (const char* c = at; *c && *c != '>'; ++c) most += *c == ',';
  float* scales = PB_NEW_ARRAY(arena, float, most);
  int32_t* zeros = PB_NEW_ARRAY(arena, int32_t, most);
  for (;;) {
    char* end;
    while (*at == ' ' || *at == ',' || *at == '{') ++at;
    if (*at == '}' || *at == '>' || !*at) break;
    double scale = strtod(at, &end);
    long zero = *end == ':' ? strtol(end + 1, &end, 10) : 0;
    bool good = end != at && scale > 0 && scale < 3e38 && zero >= code->least && zero <= code->most;
    if (!good) code->unreadable = "a scale or a zero point that is none";
    if (!good) return;
    scales[code->count] = (float)scale;
    zeros[code->count++] = (int32_t)zero;
    at = end;
  }
  code->scales = scales;
  code->zeros = zeros;
  if (!code->count) code->unreadable = "no scale";
}

// What stands between the brackets of !quant.uniform<i8<-127:127>:f32:0, {0.1:3, 0.2}>.
static pb_type read_quantised(pb_door* d, pb_door_code* code, const char* at) {
  static const struct {
    const char* name;
    pb_type type;
    int64_t least, most;
  } kinds[] = {{"i8", PB_I8, INT8_MIN, INT8_MAX},
               {"u8", PB_UI8, 0, UINT8_MAX},
               {"i16", PB_I16, INT16_MIN, INT16_MAX},
               {"i32", PB_I32, INT32_MIN, INT32_MAX}};
  pb_type type = PB_TYPE_COUNT;
  size_t length = strcspn(at, "<:");
  for (size_t k = 0; k < sizeof kinds / sizeof *kinds; ++k) {
    if (strlen(kinds[k].name) != length || strncmp(kinds[k].name, at, length) != 0) continue;
    type = kinds[k].type;
    code->least = kinds[k].least;
    code->most = kinds[k].most;
  }
  code->unreadable = type == PB_TYPE_COUNT ? "codes of another type than i8, u8, i16 and i32" : NULL;
  at += length;
  if (*at == '<') {
    char* end;
    int64_t least = strtoll(at + 1, &end, 10), most = *end == ':' ? strtoll(end + 1, &end, 10) : least;
    if (*end != '>' || least >= most || least < code->least || most > code->most) code->unreadable = "a range of codes";
    code->least = least;
    code->most = most;
    at = *end == '>' ? end + 1 : end;
  }
  if (!code->unreadable && strncmp(at, ":f32", 4) != 0) code->unreadable = "numbers of another type than f32";
  if (code->unreadable) return type;
  at += 4;
  code->axis = -1;
  if (*at == ':') code->axis = (int)strtol(at + 1, (char**)&at, 10);
  read_scales(d, code, at);
  return type;
}

static pb_door_code* new_code(pb_door* d, int flat) {
  pb_door_code* code = PB_NEW(&d->m.program->arena, pb_door_code);
  code->axis = -1;
  d->codes[flat] = code;
  return code;
}

static void take_quantised(pb_door* d, int flat) {
  pb_flat_type* type = &d->types[flat];
  const char* at = type->type == PB_TYPE_COUNT && type->text ? behind(type->text, "!quant.uniform<") : NULL;
  bool is_tensor = at && !strncmp(type->text, "tensor<", 7) && !type->is_complex && !type->is_open && !type->is_element;
  if (!is_tensor) return;
  for (int r = 0; r < type->rank; ++r)
    if (type->shape[r] < 1) return;
  pb_door_code* code = new_code(d, flat);
  type->type = code->type = read_quantised(d, code, at);
  bool by_axis = code->axis >= 0;
  if (!code->unreadable &&
      (by_axis ? code->axis >= type->rank || code->count != type->shape[code->axis] : code->count != 1))
    code->unreadable = "scales that do not fit its shape";
}

static void take_narrow(pb_door* d, int flat) {
  pb_flat_type* type = &d->types[flat];
  if (type->type < PB_I4 || type->type > PB_U2 || type->is_element || type->is_complex) return;
  pb_door_code* code = new_code(d, flat);
  code->is_narrow = true;
  code->outside = type->type;
  code->bits = pb_type_bits(type->type);
  code->is_unsigned = type->type == PB_U4 || type->type == PB_U2;
  code->least = code->is_unsigned ? 0 : -((int64_t)1 << (code->bits - 1));
  code->most = code->least + ((int64_t)1 << code->bits) - 1;
  type->type = code->type = code->is_unsigned ? PB_UI8 : PB_I8;
}

static bool is_small_float(pb_type type) { return type == PB_F8E4M3FN || type == PB_F8E5M2; }

static void take_float8(pb_door* d, int flat) {
  pb_flat_type* type = &d->types[flat];
  if (!is_small_float(type->type) || type->is_element || type->is_complex) return;
  pb_door_code* code = new_code(d, flat);
  code->is_float = true;
  code->outside = type->type;
  type->type = code->type = type->type == PB_F8E4M3FN ? PB_E4M3 : PB_E5M2;
}

void pb__door_take_codes(pb_door* d) {
  bool any = false;
  for (int v = 0; v < d->flat->value_count; ++v) {
    const pb_flat_type* type = &d->types[v];
    any |= (type->type >= PB_I4 && type->type <= PB_U2) || is_small_float(type->type) ||
           (type->type == PB_TYPE_COUNT && type->text && strstr(type->text, "!quant.uniform<"));
  }
  if (!any) return;
  d->codes = PB_NEW_ARRAY(&d->m.program->arena, const pb_door_code*, (size_t)d->value_room);
  for (int v = 0; v < d->flat->value_count; ++v) {
    take_quantised(d, v);
    take_narrow(d, v);
    take_float8(d, v);
  }
}

const char* pb__door_unreadable(const pb_door* d, int flat) {
  const pb_door_code* code = code_of(d, flat);
  return code ? code->unreadable : NULL;
}

// ---- from codes and to them ----

static int row(pb_nest* n, const char* name, pb_type type, int a, int b) {
  return pb_scalar_find(name)->make(n, type, (const int[]){a, b});
}

// One of a table's numbers: the only one, or by the loop of its axis.
static int of_table(pb_door* d, const pb_door_code* code, bool zeros, const int* dims) {
  pb_type type = zeros ? PB_I32 : PB_F32;
  const void* table = zeros ? (const void*)code->zeros : code->scales;
  if (code->axis < 0) return pb_scalar_constant(&d->m.nest, type, table);
  int64_t count = code->count;
  void* kept = pb_alloc_array(&d->m.consts->arena, (size_t)count, 4);
  memcpy(kept, table, (size_t)count * 4);
  int access = pb_make_access(&d->m, pb_make_constant(&d->m, type, 1, &count, kept));
  pb_make_move(&d->m, access, 0, dims[code->axis], 1);
  return pb_nest_load(&d->m.nest, access);
}

// A value of the same shape, and a walk over it that has loaded x.
static int start(pb_door* d, int x, pb_type type, int* dims, int* loaded) {
  const pb_s1_value in = *pb_made(&d->m, x);
  int y = pb_make_value(&d->m, type, in.rank, in.shape), access;
  (void)pb_make_walk(&d->m, "point", y, dims);
  *loaded = pb__door_load(d, x, &access);
  if (access >= 0) pb_make_along(&d->m, access, dims);
  return y;
}

// (code - zero) * scale
static int numbers_of(pb_door* d, const pb_door_code* code, int x) {
  int dims[PB_NEST_RANK], v;
  pb_type type = pb_made(&d->m, x)->type;
  int y = start(d, x, PB_F32, dims, &v);
  pb_nest* n = &d->m.nest;
  v = row(n, "subtract", PB_I32, pb_scalar_converted(n, v, type, PB_I32), of_table(d, code, true, dims));
  v = row(n, "multiply", PB_F32, pb_scalar_converted(n, v, PB_I32, PB_F32), of_table(d, code, false, dims));
  pb__door_store(d, v, y, dims);
  return y;
}

// round(number / scale) + zero, kept in range
static int codes_of(pb_door* d, const pb_door_code* code, int x, pb_type type) {
  int dims[PB_NEST_RANK], v;
  int y = start(d, x, type, dims, &v);
  pb_nest* n = &d->m.nest;
  v = row(n, "divide", PB_F32, v, of_table(d, code, false, dims));
  v = row(n, "round_nearest_even", PB_F32, v, -1);
  v = row(n, "add", PB_F32, v, pb_scalar_converted(n, of_table(d, code, true, dims), PB_I32, PB_F32));
  v = row(n, "maximum", PB_F32, v, pb_scalar_number(n, PB_F32, (double)code->least));
  v = row(n, "minimum", PB_F32, v, pb_scalar_number(n, PB_F32, (double)code->most));
  pb__door_store(d, pb_scalar_converted(n, v, PB_F32, type), y, dims);
  return y;
}

// The number that the low bits are; kept in range instead where it comes from a float, which converts so.
static int wrapped(pb_door* d, const pb_door_code* code, int x, bool in_range, pb_type type) {
  int dims[PB_NEST_RANK], v;
  int y = start(d, x, type, dims, &v);
  pb_nest* n = &d->m.nest;
  pb_type worked = n->expr[v].type;
  if (in_range) {
    v = row(n, "maximum", pb_made(&d->m, y)->type, v, pb_nest_integer(n, worked, code->least));
    v = row(n, "minimum", pb_made(&d->m, y)->type, v, pb_nest_integer(n, worked, code->most));
  } else if (code->is_unsigned || type == code->outside) { // outside of the program codes have nothing above their bits
    v = pb_nest_node(n, PB_OP_AND, worked, v, pb_nest_integer(n, worked, ((int64_t)1 << code->bits) - 1));
  } else {
    int above = pb_nest_integer(n, worked, 8 - code->bits);
    v = pb_nest_node(n, PB_OP_SHR, worked, pb_nest_node(n, PB_OP_SHL, worked, v, above), above);
  }
  pb__door_last(d, v, code->type);
  pb_make_end(&d->m, y, dims);
  return y;
}

// The same bytes as another type's.
static int same_bytes(pb_door* d, int value, pb_type type) {
  const pb_s1_value in = *pb_made(&d->m, value);
  int y = pb_make_value(&d->m, type, in.rank, in.shape);
  pb_make_copy(&d->m, value, y);
  return y;
}

int pb__door_coded_input(pb_door* d, int flat, int value) {
  const pb_door_code* code = code_of(d, flat);
  if (is_float8(d, flat)) return same_bytes(d, value, d->types[flat].type);
  return code && code->is_narrow ? wrapped(d, code, value, false, d->types[flat].type) : value;
}

int pb__door_coded_output(pb_door* d, int flat, int value) {
  const pb_door_code* code = code_of(d, flat);
  if (is_float8(d, flat)) return same_bytes(d, value, d->codes[flat]->outside);
  return code && code->is_narrow ? wrapped(d, code, value, false, code->outside) : value;
}

pb_type pb__door_outside(const pb_door* d, int flat) {
  const pb_door_code* code = code_of(d, flat);
  if (is_float8(d, flat)) return d->codes[flat]->outside;
  return code && code->is_narrow ? code->outside : d->types[flat].type;
}

int64_t pb__door_coded_number(const pb_door* d, int flat, int64_t byte) {
  const pb_door_code* code = code_of(d, flat);
  if (!code || !code->is_narrow) return byte;
  int64_t low = byte & (((int64_t)1 << code->bits) - 1);
  return low > code->most ? low - ((int64_t)1 << code->bits) : low;
}

// ---- operators ----

static bool moves(const pb_flat_op* op) {
  static const char* const names[] = {"func.call",
                                      "stablehlo.bitcast_convert",
                                      "stablehlo.broadcast_in_dim",
                                      "stablehlo.case",
                                      "stablehlo.concatenate",
                                      "stablehlo.constant",
                                      "stablehlo.dynamic_slice",
                                      "stablehlo.dynamic_update_slice",
                                      "stablehlo.gather",
                                      "stablehlo.if",
                                      "stablehlo.optimization_barrier",
                                      "stablehlo.pad",
                                      "stablehlo.reshape",
                                      "stablehlo.reverse",
                                      "stablehlo.select",
                                      "stablehlo.slice",
                                      "stablehlo.transpose",
                                      "stablehlo.while",
                                      NULL};
  for (int k = 0; names[k]; ++k)
    if (!strcmp(names[k], op->name)) return true;
  return false;
}

static bool same_codes(const pb_door_code* a, const pb_door_code* b) {
  return a->count == b->count && a->least == b->least && a->most == b->most &&
         !memcmp(a->scales, b->scales, sizeof *a->scales * (size_t)a->count) &&
         !memcmp(a->zeros, b->zeros, sizeof *a->zeros * (size_t)a->count);
}

bool pb__door_is_coded(const pb_door* d, const pb_flat_op* op) {
  for (int k = 0; d->codes && k < op->operand_count; ++k)
    if (code_of(d, op->operands[k])) return true;
  for (int k = 0; d->codes && k < op->result_count; ++k)
    if (code_of(d, op->results[k])) return true;
  return false;
}

static pb_status check_codes(pb_door* d, const pb_flat_op* op) {
  const pb_door_code* first = NULL;
  bool is_bits = !strcmp(op->name, "stablehlo.bitcast_convert"),
       by_part = strstr(op->name, ".call") || op->region_count;
  for (int k = 0; k < op->operand_count + op->result_count; ++k) {
    int flat = k < op->operand_count ? op->operands[k] : op->results[k - op->operand_count];
    const pb_door_code* code = code_of(d, flat);
    if (!code) continue;
    if (code->is_narrow && is_bits) return pb__door_refuse(d, op, "of %s", d->types[flat].text);
    if (code->is_narrow || !moves(op) || is_bits || by_part) continue;
    if (first && !same_codes(first, code)) return pb__door_refuse(d, op, "operands or results of different scales");
    first = code;
  }
  return PB_OK;
}

typedef struct held {
  int value;
  pb_type type;
} held;

// Operands as what the operator works on; what they were is kept.
static void widen(pb_door* d, const pb_flat_op* op, held* kept) {
  bool masks = !strcmp(op->name, "stablehlo.shift_right_logical") || !strcmp(op->name, "stablehlo.popcnt");
  for (int k = 0; k < op->operand_count; ++k)
    kept[k] = (held){d->value[op->operands[k]], d->types[op->operands[k]].type};
  for (int k = 0; k < op->operand_count; ++k) {
    int flat = op->operands[k];
    const pb_door_code* code = code_of(d, flat);
    if (!code || d->value[flat] != kept[k].value) continue; // the same operand twice
    if (code->is_narrow && masks && !k) {
      pb_door_code bits = *code;
      bits.is_unsigned = true;
      d->value[flat] = wrapped(d, &bits, kept[k].value, false, kept[k].type);
    } else if (!code->is_narrow && !moves(op)) {
      d->value[flat] = numbers_of(d, code, kept[k].value);
      d->types[flat].type = PB_F32;
    }
  }
}

pb_status pb__door_coded(pb_door* d, const pb_flat_op* op, pb_door_maker* make) {
  held* kept = PB_NEW_ARRAY(&d->m.program->arena, held, (size_t)op->operand_count + 1);
  PB_TRY(check_codes(d, op));
  if (op->region_count && !moves(op))
    for (int k = 0; k < op->operand_count; ++k)
      if (code_of(d, op->operands[k]) && !code_of(d, op->operands[k])->is_narrow)
        return pb__door_refuse(d, op, "a body over quantised numbers");
  if (!strcmp(op->name, "stablehlo.count_leading_zeros"))
    return pb__door_refuse(d, op, "of %s", d->types[op->operands[0]].text);
  bool from_float = op->operand_count && pb_type_is_float(d->types[op->operands[0]].type);
  widen(d, op, kept);
  for (int k = 0; k < op->result_count; ++k) {
    const pb_door_code* code = code_of(d, op->results[k]);
    if (code && !code->is_narrow && !moves(op)) d->types[op->results[k]].type = PB_F32;
  }
  pb_status status = make(d, op);
  for (int k = op->operand_count - 1; k >= 0; --k) {
    d->value[op->operands[k]] = kept[k].value;
    d->types[op->operands[k]].type = kept[k].type;
  }
  for (int k = 0; status == PB_OK && k < op->result_count; ++k) {
    int flat = op->results[k];
    const pb_door_code* code = code_of(d, flat);
    if (!code || moves(op)) continue;
    if (code->is_narrow) {
      d->value[flat] = wrapped(d, code, d->value[flat], from_float, d->types[flat].type);
    } else {
      d->types[flat].type = code->type;
      d->value[flat] = codes_of(d, code, d->value[flat], code->type);
    }
  }
  return status;
}
