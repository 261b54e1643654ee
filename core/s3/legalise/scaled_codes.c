// Scaled codes: a product of floats that are codes times a scale becomes a product of the codes, and its sums are
// scaled. Models that say by operators of their own where they are quantised (StableHLO of PT2E, linalg) have no node
// of codes that a reader could know. Requires the program function in value form; leaves it so. Sums of codes are
// exact where sums of floats round. Only on chips that multiply codes.
//
//   before   t = (f32(q) - z) * s;  u = f32(k) * c[n];  y = 0;  y += t * u
//   after    a = 0 : i32;  a += i32(q) * i32(k);        y = f32(a - z * sum of k) * (s * c[n])
//
// Codes without a sign are kept with one first (centred_codes.c). A zero point z of a factor wants the other one to be
// constant, for the table of its sums. Where a border of zeros is put around t, one of codes z is put around q.
#include "core/s3/compose.h"
#include "core/s3/kernel/contraction_dims.h"
#include "core/s3/kernel/vector.h"
#include "core/s3/legalise/legalise.h"

#include <math.h>
#include <string.h>

// What a node of a body is, in the dims of one nest.
typedef enum form_kind { OTHER, NUMBER, TABLE, CODES } form_kind;

typedef struct form {
  form_kind kind;
  double number;     // NUMBER: itself. CODES: what they are multiplied by, beside `scales`
  int64_t zero;      // CODES: what is taken off them first
  bool scaled;       // CODES: they were multiplied: nothing is taken off any more
  bool is_unsigned;  // CODES: they were widened without a sign
  int value, scales; // TABLE, CODES: the constant, the tensor of codes; by which constant CODES are scaled, -1: by none
  pb_access at, along; // where in `value`, and in `scales`
} form;

typedef struct coder {
  pb_unit* unit;
  pb_program *program, to;
  int* twins; // by value with borders: the tensor of codes that stands for it, -1: it has not been made
} coder;

static form form_of(const coder* c, int n, int e, int depth);

// ---- what a value is ----

static bool is_scalar_of(const pb_program* p, int n) {
  const pb_nest* nest = &p->nests[n];
  if (nest->reduce != PB_SET || pb_nest_is_fixed(nest)) return false;
  for (int a = 0; a < nest->access_count; ++a)
    if (nest->access[a].boxed || nest->access[a].gathered) return false;
  return true;
}

static bool has_data(const coder* c, int value) {
  const pb_value* v = &c->program->values[value];
  return v->kind == PB_VALUE_CONST && !v->expands && pb_const_data(c->unit->consts, v->const_id);
}

// What nest n loads by access a: through the nest that makes it, element by element.
static form form_of_load(const coder* c, int n, int a, int depth) {
  const pb_program* p = c->program;
  const pb_access* access = &p->nests[n].access[a];
  int value = p->value_of[n][a], dim_of[PB_NEST_RANK];
  if (access->boxed || access->gathered) return (form){.kind = OTHER};
  if (access->type == PB_I8 && pb_program_last_writer(p, value) >= n)
    return (form){.kind = OTHER}; // not what it is later
  if (access->type == PB_I8) return (form){.kind = CODES, .number = 1, .value = value, .scales = -1, .at = *access};
  if (p->values[value].kind == PB_VALUE_CONST)
    return access->type == PB_F32 && has_data(c, value) ? (form){.kind = TABLE, .value = value, .at = *access}
                                                        : (form){.kind = OTHER};
  int maker = pb_program_only_writer(p, value);
  if (maker < 0 || maker >= n || !is_scalar_of(p, maker)) return (form){.kind = OTHER};
  const pb_nest* made = &p->nests[maker];
  if (!pb_walks_elements(made, &made->access[made->access_count - 1], dim_of)) return (form){.kind = OTHER};
  form f = form_of(c, maker, made->expr_count - 1, depth + 1);
  if (f.kind == TABLE || f.kind == CODES) f.at = pb_access_compose(access, dim_of, &f.at);
  if (f.kind == CODES && f.scales >= 0) f.along = pb_access_compose(access, dim_of, &f.along);
  return f;
}

// A zero point comes off codes as they are, and is a code.
static form less(form codes, double zero) {
  bool whole = zero == trunc(zero) && fabs(zero) <= UINT8_MAX;
  if (codes.scaled || !whole) return (form){.kind = OTHER};
  codes.zero += (int64_t)zero;
  return codes;
}

static form times(form codes, const form* by) {
  if (by->kind == TABLE) {
    if (codes.scales >= 0) return (form){.kind = OTHER};
    codes.scales = by->value;
    codes.along = by->at;
  } else {
    codes.number *= by->number;
  }
  codes.scaled = true;
  return codes;
}

static form form_of_two(pb_op op, const form* a, const form* b) {
  if (a->kind == CODES && b->kind == NUMBER && op == PB_OP_SUB) return less(*a, b->number);
  if (a->kind == CODES && b->kind == NUMBER && op == PB_OP_ADD) return less(*a, -b->number);
  if (op != PB_OP_MUL) return (form){.kind = OTHER};
  if (a->kind == CODES && (b->kind == NUMBER || b->kind == TABLE)) return times(*a, b);
  if (b->kind == CODES && (a->kind == NUMBER || a->kind == TABLE)) return times(*b, a);
  return (form){.kind = OTHER};
}

// What node e of nest n is. Makers of makers are few: a zero point, a scale, and copies between them.
static form form_of(const coder* c, int n, int e, int depth) {
  enum { MOST_DEPTH = 16 };
  const pb_nest* nest = &c->program->nests[n];
  const pb_expr_node* node = &nest->expr[e];
  if (depth > MOST_DEPTH) return (form){.kind = OTHER};
  if (node->op == PB_OP_LOAD)
    return node->args[0] >= 0 ? (form){.kind = OTHER} : form_of_load(c, n, node->operand, depth);
  if (node->op == PB_OP_CONST)
    return (form){.kind = NUMBER, .number = pb_type_is_float(node->type) ? node->value : (double)node->integer};
  bool no_sign = node->op == PB_OP_ZEXT || node->op == PB_OP_UITOFP;
  if (no_sign || node->op == PB_OP_SEXT || node->op == PB_OP_SITOFP) {
    form f = form_of(c, n, node->args[0], depth + 1);
    bool of_codes = f.kind == CODES && nest->expr[node->args[0]].type == PB_I8;
    if (pb_type_bits(node->type) < 16 || (no_sign && !of_codes)) return (form){.kind = OTHER};
    f.is_unsigned |= no_sign;
    return f;
  }
  if (node->op != PB_OP_SUB && node->op != PB_OP_ADD && node->op != PB_OP_MUL) return (form){.kind = OTHER};
  form a = form_of(c, n, node->args[0], depth + 1), b = form_of(c, n, node->args[1], depth + 1);
  return form_of_two(node->op, &a, &b);
}

// ---- tensors with borders ----

// Whether all of the value is codes, scaled alike, but for a border of zeros: *inner is what one nest, *maker, makes.
static bool has_border(const coder* c, int value, int before, int* maker, form* inner) {
  const pb_program* p = c->program;
  int fills = 0;
  *maker = -1;
  if (!pb_program_is_local(p, value)) return false;
  PB_FOR_WRITERS (n, p, value) {
    const pb_nest* nest = &p->nests[n];
    if (n >= before) return false;
    if (pb_nest_is_fill(nest)) {
      if (nest->expr[0].op != PB_OP_CONST || nest->expr[0].value != 0) return false;
      ++fills;
      continue;
    }
    if (*maker >= 0 || !is_scalar_of(p, n)) return false;
    *maker = n;
  }
  if (*maker < 0 || !fills) return false;
  *inner = form_of(c, *maker, p->nests[*maker].expr_count - 1, 0);
  return inner->kind == CODES && inner->scales < 0;
}

// The nests that make the value, of codes.
static int make_twin(coder* c, int value, int maker, const form* inner) {
  const pb_program* p = c->program;
  pb_access whole = pb_value_shape(&p->values[value]);
  whole.type = PB_I8;
  int twin = pb_program_add_local(&c->to, &c->unit->pass, &whole);
  pb_nest* copy = PB_NEW(&c->unit->pass, pb_nest);
  PB_FOR_WRITERS (n, p, value) {
    const pb_nest* nest = &p->nests[n];
    pb_nest_copy(copy, nest);
    pb_access to = nest->access[nest->access_count - 1];
    to.type = PB_I8;
    copy->expr_count = 0;
    copy->access_count = n == maker ? 2 : 1;
    copy->access[copy->access_count - 1] = to;
    if (n == maker) {
      copy->access[0] = inner->at;
      copy->part = "copy";
      (void)pb_nest_load(copy, 0);
    } else {
      (void)pb_nest_integer(copy, PB_I8, inner->zero);
    }
    (void)pb_program_add_nest(&c->to, copy, (const int[PB_NEST_ACCESSES]){n == maker ? inner->value : twin, twin});
  }
  return c->twins[value] = twin;
}

// ---- products ----

typedef struct product {
  int n, init;
  form factor[2], inside[2]; // inside: of one with a border, what its maker sets
  int border[2], maker[2];   // values with a border whose twins the factors are read from, -1: none
} product;

// A factor as codes: what makes it, or what is inside its border.
static bool find_factor(coder* c, product* f, int k) {
  const pb_program* p = c->program;
  int value = p->value_of[f->n][k];
  f->border[k] = -1;
  f->factor[k] = form_of_load(c, f->n, k, 0);
  if (f->factor[k].kind == CODES) return true;
  const pb_access* access = &p->nests[f->n].access[k];
  if (access->boxed || access->gathered || !has_border(c, value, f->n, &f->maker[k], &f->inside[k])) return false;
  f->border[k] = value;
  f->factor[k] = f->inside[k];
  f->factor[k].at = *access;
  f->factor[k].at.type = PB_I8;
  return true;
}

// Whether its zero point is a code as well, which a border is made of.
static bool is_code(const form* f) { return f->zero >= INT8_MIN && f->zero <= INT8_MAX; }

// What the sums of the one factor are multiplied by is the other one's zero point: they are a table if it is constant.
static bool has_table(const coder* c, const product* f, int k) {
  const form* other = &f->factor[1 - k];
  if (!f->factor[k].zero) return true;
  return !other->zero && f->border[1 - k] < 0 && has_data(c, other->value);
}

// Scales are of the results, not of what is summed over.
static bool scales_results(const pb_nest* nest, const form* factor) {
  for (int d = 0; d < nest->dim_count && factor->scales >= 0; ++d)
    if (pb_access_uses(&factor->along, d) && pb_nest_reduces_over(nest, d)) return false;
  return true;
}

static bool is_product(const pb_nest* nest) {
  return pb_nest_sums_products(nest) && !pb_nest_is_fixed(nest) && nest->access[2].type == PB_F32;
}

static bool find_product(coder* c, int n, product* f) {
  enum { MOST_TERMS = 1 << 16 }; // whose sum stays within i32, the zero points' part too
  const pb_program* p = c->program;
  const pb_nest* nest = &p->nests[n];
  *f = (product){.n = n};
  if (!is_product(nest) || pb_nest_steps(nest) > MOST_TERMS ||
      pb_nest_results(nest) != pb_access_elements(&nest->access[2]))
    return false;
  f->init = pb_program_init_of(p, n);
  if (f->init < 0 || !pb_nest_is_fill(&p->nests[f->init]) || p->nests[f->init].expr[0].op != PB_OP_CONST ||
      p->nests[f->init].expr[0].value != 0)
    return false;
  if (!find_factor(c, f, 0) || !find_factor(c, f, 1)) return false;
  for (int k = 0; k < 2; ++k)
    if (f->factor[k].is_unsigned) return false;
  bool both = f->factor[0].scales >= 0 && f->factor[1].scales >= 0;
  // of an open dim there may be more terms
  if (c->unit->consts->open && !has_data(c, f->factor[0].value) && !has_data(c, f->factor[1].value)) return false;
  bool coded = is_code(&f->factor[0]) && is_code(&f->factor[1]);
  return coded && !both && has_table(c, f, 0) && has_table(c, f, 1) && scales_results(nest, &f->factor[0]) &&
         scales_results(nest, &f->factor[1]);
}

// Whether a factor of nest n is of codes without a sign.
static bool multiplies_unsigned(coder* c, int n) {
  product f = {.n = n};
  return is_product(&c->program->nests[n]) && find_factor(c, &f, 0) && find_factor(c, &f, 1) &&
         (f.factor[0].is_unsigned || f.factor[1].is_unsigned);
}

// Where codes without a sign are multiplied, those of all tensors that can have them with one do from now on: what is
// added to a layer's result comes as the layer's does.
static void centre_codes(coder* c) {
  pb_program* p = c->program;
  bool any = false;
  for (int n = 0; n < p->nest_count && !any; ++n) any = multiplies_unsigned(c, n);
  for (int v = 0; v < p->value_count && any; ++v)
    if (pb_can_centre(p, v)) pb_centre(p, &c->unit->pass, v);
}

// By dims of the results that move it: the zero point of one factor times the sums of the other, which is constant,
// taken off. -1: there is nothing to take off. *along: the table's access in the dims of the product.
static int add_table(coder* c, const product* f, const pb_nest* nest, pb_access* along) {
  int k = f->factor[0].zero ? 0 : 1;
  const form* constant = &f->factor[1 - k];
  if (!f->factor[k].zero) return -1;
  const int8_t* codes = pb_const_data(c->unit->consts, c->program->values[constant->value].const_id);
  int64_t extent[PB_NEST_DIMS] = {0}, stride[PB_NEST_DIMS] = {0}, terms[PB_NEST_DIMS], results = 1, summed = 1;
  *along = (pb_access){.type = PB_I32, .buffer = -1};
  for (int d = 0; d < nest->dim_count; ++d) {
    terms[d] = pb_nest_reduces_over(nest, d) ? nest->extent[d] : 1;
    summed *= terms[d];
    if (terms[d] > 1 || nest->extent[d] == 1 || !pb_access_uses(&constant->at, d)) continue;
    extent[along->rank] = nest->extent[d];
    stride[along->rank] = pb_access_stride(&constant->at, d);
    memset(&along->index[along->rank], 0, sizeof *along->index);
    along->index[along->rank].coef[d] = 1;
    along->shape[along->rank++] = nest->extent[d];
    results *= nest->extent[d];
  }
  if (!along->rank) {
    memset(along->index, 0, sizeof *along->index);
    along->rank = 1;
    extent[0] = along->shape[0] = 1;
  }
  int32_t* table = pb_alloc_array(&c->unit->consts->arena, (size_t)results, sizeof *table);
  for (int64_t r = 0; r < results; ++r) {
    int64_t at = pb_access_offset(&constant->at), sum = 0;
    for (int64_t q = along->rank - 1, left = r; q >= 0; left /= extent[q--]) at += left % extent[q] * stride[q];
    for (int64_t t = 0; t < summed; ++t) {
      int64_t place = at, left = t;
      for (int d = nest->dim_count - 1; d >= 0; left /= terms[d--])
        if (terms[d] > 1) place += left % terms[d] * pb_access_stride(&constant->at, d);
      sum += codes[place];
    }
    table[r] = (int32_t)(-f->factor[k].zero * sum);
  }
  return pb_program_add_const(&c->to, &c->unit->pass, c->unit->consts, "zeros", PB_I32, along->rank, along->shape,
                              table);
}

// A load of the constant, by an access of its own.
static int load_const(pb_nest* nest, int* value_of, int value, const pb_access* along) {
  int access = pb_nest_add_access(nest);
  value_of[access + 1] = value_of[access];
  value_of[access] = value;
  nest->access[access] = *along;
  return pb_nest_load(nest, access);
}

// The number, or the table of numbers, by which the sums of codes are multiplied: as a node of the nest.
static int scale_of(coder* c, const product* f, pb_nest* nest, int* value_of) {
  const form* by = f->factor[0].scales >= 0 ? &f->factor[0] : &f->factor[1];
  double number = f->factor[0].number * f->factor[1].number;
  if (by->scales < 0) return pb_nest_const(nest, PB_F32, (float)number);
  const pb_value* value = &c->program->values[by->scales];
  int64_t count = pb_access_elements(&by->along);
  const char* from = pb_const_data(c->unit->consts, value->const_id);
  float* scaled = pb_alloc_array(&c->unit->consts->arena, (size_t)count, sizeof *scaled);
  for (int64_t k = 0; k < count; ++k) {
    float x;
    memcpy(&x, from + k * (int64_t)sizeof x, sizeof x);
    scaled[k] = (float)(x * number);
  }
  int table = pb_program_add_const(&c->to, &c->unit->pass, c->unit->consts, "scales", PB_F32, value->rank, value->shape,
                                   scaled);
  return load_const(nest, value_of, table, &by->along);
}

// y = f32(sums + table) * scale
static void add_scaling(coder* c, const product* f, const pb_access* sums, int made) {
  const pb_nest* nest = &c->program->nests[f->n];
  pb_nest* point = PB_NEW(&c->unit->pass, pb_nest);
  pb_access along;
  int value_of[PB_NEST_ACCESSES] = {made, pb_program_stored(c->program, f->n)};
  pb_nest_copy(point, nest);
  pb_nest_set_alone(point);
  point->expr_count = 0;
  point->access[1] = *pb_nest_store(point);
  point->access[0] = *sums;
  point->access_count = 2;
  int node = pb_nest_load(point, 0), table = add_table(c, f, nest, &along);
  if (table >= 0) node = pb_nest_node(point, PB_OP_ADD, PB_I32, node, load_const(point, value_of, table, &along));
  node = pb_nest_node(point, PB_OP_SITOFP, PB_F32, node, -1);
  int scale = scale_of(c, f, point, value_of);
  (void)pb_nest_node(point, PB_OP_MUL, PB_F32, node, scale);
  for (int d = nest->dim_count - 1; d >= 0; --d)
    if (pb_nest_reduces_over(nest, d)) pb_nest_remove_dim(point, d);
  (void)pb_program_add_nest(&c->to, point, value_of);
}

static void add_product(coder* c, const product* f) {
  const pb_program* p = c->program;
  const pb_nest* nest = &p->nests[f->n];
  pb_nest* made = PB_NEW(&c->unit->pass, pb_nest);
  int value_of[PB_NEST_ACCESSES] = {0};
  for (int k = 0; k < 2; ++k) {
    int border = f->border[k];
    bool is_made = border >= 0 && c->twins[border] >= 0;
    value_of[k] = border < 0 ? f->factor[k].value
                  : is_made  ? c->twins[border]
                             : make_twin(c, border, f->maker[k], &f->inside[k]);
  }
  pb_access sums = nest->access[2], whole = pb_value_shape(&p->values[p->value_of[f->n][2]]);
  sums.type = whole.type = PB_I32;
  value_of[2] = pb_program_add_local(&c->to, &c->unit->pass, &whole);
  (void)pb_program_add_fill(&c->to, p->nests[f->init].name, p->nests[f->init].part, value_of[2], NULL, NULL, 0);
  pb_nest_copy(made, nest);
  made->access[0] = f->factor[0].at;
  made->access[1] = f->factor[1].at;
  made->access[2] = sums;
  made->expr_count = 0;
  (void)pb_nest_product(made);
  (void)pb_program_add_nest(&c->to, made, value_of);
  add_scaling(c, f, &sums, value_of[2]);
}

// As they are, or extended in front (widen.c).
static bool multiplies_codes(pb_unit* unit) {
  pb_select_memo memo = {.chip = unit->chip, .arena = &unit->pass};
  return pb_chip_multiplies(unit->chip, PB_I8, PB_I8, PB_I32) ||
         pb_vector_contraction(&memo, PB_I8, PB_I8, PB_I32).insn != NULL;
}

bool pb_s3_scaled_codes(pb_unit* unit, pb_program* p) {
  coder c = {.unit = unit, .program = p};
  if (!multiplies_codes(unit)) return false;
  centre_codes(&c);
  product **of = PB_NEW_ARRAY(&unit->pass, product*, (size_t)p->nest_count + 1), *tried = PB_NEW(&unit->pass, product);
  bool* init = PB_NEW_ARRAY(&unit->pass, bool, (size_t)p->nest_count + 1);
  bool any = false;
  for (int n = 0; n < p->nest_count; ++n) {
    if (!find_product(&c, n, tried)) continue;
    of[n] = tried; // a product is large, and most nests are none
    tried = PB_NEW(&unit->pass, product);
    any = init[of[n]->init] = true;
  }
  if (!any) return false;
  c.twins = PB_NEW_ARRAY(&unit->pass, int, (size_t)p->value_count + 1);
  for (int v = 0; v < p->value_count; ++v) c.twins[v] = -1;
  pb_program_begin_nests(p, &unit->pass, &c.to);
  for (int n = 0; n < p->nest_count; ++n)
    if (of[n])
      add_product(&c, of[n]);
    else if (!init[n])
      (void)pb_program_add_nest(&c.to, &p->nests[n], p->value_of[n]);
  *p = c.to;
  pb_program_index(p, &unit->pass);
  pb_program_drop_unread(p);
  return true;
}
