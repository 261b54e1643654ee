#include "core/s1/scalar/written.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

const pb_written_row pb_written_rows[] = {
#define WRITTEN(name, parameters, text) {#name, parameters, text},
#include "core/s1/scalar/written.def"
#undef WRITTEN
    {0}};

enum { MOST_NAMES = 96, MOST_LENGTH = 24, MOST_DEPTH = 12 };

typedef struct reader {
  pb_nest* nest;
  const char* at;
  char names[MOST_NAMES][MOST_LENGTH];
  int nodes[MOST_NAMES], count, depth;
  bool is_wrong;
} reader;

static int wrong(reader* r) {
  r->is_wrong = true;
  return 0;
}

// A node, or the one that is there already.
static int made(reader* r, pb_op op, pb_type type, int a, int b, int c) {
  pb_nest* n = r->nest;
  if (r->is_wrong || n->expr_count == PB_NEST_EXPR) return wrong(r);
  for (int k = 0; k < n->expr_count; ++k) {
    const pb_expr_node* e = &n->expr[k];
    if (e->op == op && e->type == type && e->args[0] == a && e->args[1] == b && e->args[2] == c) return k;
  }
  int id = pb_nest_node(n, op, type, a, b);
  n->expr[id].args[2] = c;
  return id;
}

static int number(reader* r, double value) {
  pb_nest* n = r->nest;
  for (int k = 0; k < n->expr_count; ++k)
    if (n->expr[k].op == PB_OP_CONST && n->expr[k].type == PB_F64 && !memcmp(&n->expr[k].value, &value, sizeof value))
      return k;
  return n->expr_count == PB_NEST_EXPR ? wrong(r) : pb_nest_const(n, PB_F64, value);
}

static void skip(reader* r) {
  while (isspace((unsigned char)*r->at)) ++r->at;
}

static bool take(reader* r, const char* token) {
  skip(r);
  size_t length = strlen(token);
  if (strncmp(r->at, token, length) != 0) return false;
  r->at += length;
  return true;
}

// A name at the place, into `name`; false: there is none.
static bool take_name(reader* r, char* name) {
  int length = 0;
  skip(r);
  if (!isalpha((unsigned char)*r->at)) return false;
  for (; isalnum((unsigned char)*r->at) || *r->at == '_'; ++r->at)
    if (length + 1 < MOST_LENGTH) name[length++] = *r->at;
  name[length] = 0;
  return true;
}

static void set(reader* r, const char* name, int node) {
  if (r->count == MOST_NAMES) {
    (void)wrong(r);
    return;
  }
  memcpy(r->names[r->count], name, strlen(name) + 1);
  r->nodes[r->count++] = node;
}

static int expression(reader* r);

static int whole(reader* r, int64_t value) {
  pb_nest* n = r->nest;
  for (int k = 0; k < n->expr_count; ++k)
    if (n->expr[k].op == PB_OP_CONST && n->expr[k].type == PB_I64 && n->expr[k].integer == value) return k;
  return n->expr_count == PB_NEST_EXPR ? wrong(r) : pb_nest_integer(n, PB_I64, value);
}

static int copied_sign(reader* r, int magnitude, int of) {
  int least = whole(r, INT64_MIN);
  int sign = made(r, PB_OP_AND, PB_I64, made(r, PB_OP_BITCAST, PB_I64, of, -1, -1), least, -1);
  int plain = made(r, PB_OP_BITCAST, PB_I64, made(r, PB_OP_ABS, PB_F64, magnitude, -1, -1), -1, -1);
  return made(r, PB_OP_BITCAST, PB_F64, made(r, PB_OP_OR, PB_I64, plain, sign, -1), -1, -1);
}

// k of x = m 2^k, sqrt(1/2) <= m < sqrt(2), of a normal number above 0.
static int exponent_of(reader* r, int x) {
  const int64_t root = 0x3fe6a09e667f3bcd; // of 1/2
  int bits = made(r, PB_OP_BITCAST, PB_I64, x, -1, -1);
  bits = made(r, PB_OP_SUB, PB_I64, bits, whole(r, root), -1);
  return made(r, PB_OP_SITOFP, PB_F64, made(r, PB_OP_SHR, PB_I64, bits, whole(r, 52), -1), -1, -1);
}

// 2^k, a normal number, of a whole k.
static int power_of_two(reader* r, int k) {
  const int64_t zero = 0x4338000000000000; // the bits of what leaves whole numbers in the low ones
  int bits = made(r, PB_OP_BITCAST, PB_I64, made(r, PB_OP_ADD, PB_F64, k, number(r, 0x1.8p52), -1), -1, -1);
  bits = made(r, PB_OP_SUB, PB_I64, bits, whole(r, zero - 1023), -1);
  return made(r, PB_OP_BITCAST, PB_F64, made(r, PB_OP_SHL, PB_I64, bits, whole(r, 52), -1), -1, -1);
}

static int make_row(pb_nest* n, const pb_written_row* row, const int* arguments, int depth);

static int call(reader* r, const char* name) {
  static const struct {
    const char* name;
    pb_op op;
    int operands;
  } known[] = {{"sqrt", PB_OP_SQRT, 1},   {"abs", PB_OP_ABS, 1},     {"exp", PB_OP_EXP, 1},
               {"expm1", PB_OP_EXPM1, 1}, {"log", PB_OP_LOG, 1},     {"log1p", PB_OP_LOG1P, 1},
               {"cbrt", PB_OP_CBRT, 1},   {"sin", PB_OP_SIN, 1},     {"cos", PB_OP_COS, 1},
               {"tan", PB_OP_TAN, 1},     {"atan2", PB_OP_ATAN2, 2}, {"max", PB_OP_MAXIMUM, 2},
               {"min", PB_OP_MINIMUM, 2}};
  int arguments[PB_WRITTEN_PARAMETERS], count = 0;
  do {
    if (count == PB_WRITTEN_PARAMETERS) return wrong(r);
    arguments[count++] = expression(r);
  } while (take(r, ","));
  if (!take(r, ")")) return wrong(r);
  for (size_t k = 0; k < sizeof known / sizeof *known; ++k)
    if (!strcmp(known[k].name, name) && known[k].operands == count)
      return made(r, known[k].op, PB_F64, arguments[0], count == 2 ? arguments[1] : -1, -1);
  if (!strcmp(name, "exponent") && count == 1) return exponent_of(r, arguments[0]);
  if (!strcmp(name, "two_to") && count == 1) return power_of_two(r, arguments[0]);
  if (!strcmp(name, "copysign") && count == 2) return copied_sign(r, arguments[0], arguments[1]);
  const pb_written_row* row = pb_written_find(name);
  int node = row && !r->is_wrong ? make_row(r->nest, row, arguments, r->depth + 1) : -1;
  return node < 0 ? wrong(r) : node;
}

static int primary(reader* r) {
  char name[MOST_LENGTH];
  if (r->is_wrong) return 0;
  if (take(r, "-")) return made(r, PB_OP_NEG, PB_F64, primary(r), -1, -1);
  if (take(r, "(")) {
    int node = expression(r);
    return take(r, ")") ? node : wrong(r);
  }
  if (take_name(r, name)) {
    if (take(r, "(")) return call(r, name);
    if (!strcmp(name, "inf")) return number(r, INFINITY);
    if (!strcmp(name, "pi")) return number(r, 0x1.921fb54442d18p+1);
    for (int k = r->count - 1; k >= 0; --k)
      if (!strcmp(r->names[k], name)) return r->nodes[k];
    return wrong(r);
  }
  char* end;
  double value = strtod(r->at, &end);
  if (end == r->at) return wrong(r);
  r->at = end;
  return number(r, value);
}

static int product(reader* r) {
  int left = primary(r);
  while (!r->is_wrong) {
    bool times = take(r, "*");
    if (!times && !take(r, "/")) break;
    int right = primary(r);
    left = made(r, times ? PB_OP_MUL : PB_OP_DIV, PB_F64, left, right, -1);
  }
  return left;
}

static int sum(reader* r) {
  int left = product(r);
  while (!r->is_wrong) {
    bool plus = take(r, "+");
    if (!plus && !take(r, "-")) break;
    int right = product(r);
    left = made(r, plus ? PB_OP_ADD : PB_OP_SUB, PB_F64, left, right, -1);
  }
  return left;
}

static int expression(reader* r) {
  int left = sum(r);
  pb_op op = take(r, "<=") ? PB_OP_LESS_EQUAL : take(r, "<") ? PB_OP_LESS : take(r, "==") ? PB_OP_EQUAL : PB_OP_OTHER;
  if (op == PB_OP_OTHER || r->is_wrong) return left;
  int right = sum(r), is = made(r, op, PB_I1, left, right, -1);
  if (!take(r, "?")) return wrong(r);
  int yes = expression(r);
  if (!take(r, ":")) return wrong(r);
  int no = expression(r);
  return yes == no ? yes : made(r, PB_OP_SELECT, PB_F64, is, yes, no);
}

static int make_row(pb_nest* n, const pb_written_row* row, const int* arguments, int depth) {
  char name[MOST_LENGTH];
  reader r = {.nest = n, .at = row->parameters, .depth = depth};
  if (depth > MOST_DEPTH) return -1;
  for (int k = 0; k < PB_WRITTEN_PARAMETERS && take_name(&r, name); ++k) set(&r, name, arguments[k]);
  r.at = row->text;
  while (!r.is_wrong) {
    const char* start = r.at;
    if (take_name(&r, name) && take(&r, "=") && *r.at != '=') {
      int node = expression(&r);
      set(&r, name, node);
      if (!take(&r, ";")) (void)wrong(&r);
      continue;
    }
    r.at = start;
    int node = expression(&r);
    skip(&r);
    return r.is_wrong || *r.at ? -1 : node;
  }
  return -1;
}

const pb_written_row* pb_written_find(const char* name) {
  for (const pb_written_row* row = pb_written_rows; row->name; ++row)
    if (!strcmp(row->name, name)) return row;
  return NULL;
}

int pb_written_make(pb_nest* n, const pb_written_row* row, const int* arguments) {
  return make_row(n, row, arguments, 0);
}
