// Codes by a chip's own formula: each operator that makes codes of a sum, or adds codes, gets the factors, shifts and
// biases that come nearest to its scales.
#include "core/s1/scale.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct scaler {
  pb_s1* program;
  pb_consts* consts;
  const pb_formula* const* formulas;
  double* off;
  const char* hint; // why an operator was refused
  char what[200];
} scaler;

static bool has(const pb_formula* f, pb_formula_term term) { return pb_formula_operand_of(f, term) >= 0; }

// Says why; whether that is an error pb_s1_scale decides.
static pb_status refuse(scaler* s, const char* hint, const char* what) {
  s->hint = hint;
  snprintf(s->what, sizeof s->what, "%s", what);
  return PB_ERR_UNSUPPORTED;
}

// The largest shift at which the scale's factor has no more bits than there are; *factor is that factor. Without
// factors the scale is a power of 2 alone. -1: the scale is too large.
static int split(const pb_formula* f, double scale, int64_t* factor) {
  int exponent;
  if (!has(f, PB_TERM_FACTOR) && !has(f, PB_TERM_FA)) {
    if (!(scale > 0)) return -1;
    *factor = 1;
    double shift = nearbyint(-log2(scale));
    return shift < 0 ? -1 : shift > f->max_shift ? f->max_shift : (int)shift;
  }
  (void)frexp(fabs(scale), &exponent); // scale < 2^exponent
  int shift = f->factor_bits - exponent;
  if (shift > f->max_shift) shift = f->max_shift;
  if (shift >= 0 && llrint(ldexp(fabs(scale), shift)) >> f->factor_bits) --shift; // rounded up to a power of 2
  *factor = shift < 0 ? 0 : llrint(ldexp(scale, shift));
  return shift;
}

static pb_status check_off(scaler* s, const pb_formula* f, double scale, int64_t factor, int shift) {
  double off = fabs(ldexp((double)factor, -shift) / scale - 1);
  if (off > *s->off) *s->off = off;
  if (off <= f->most_off) return PB_OK;
  char text[160];
  snprintf(text, sizeof text, "the scale %.9g would be %lld * 2^-%d, %.2g%% off; it allows %.2g%%", scale,
           (long long)factor, shift, 100 * off, 100 * f->most_off);
  return refuse(s, "quantise with scales that it has, or raise MostOff", text);
}

static int add_const(scaler* s, const pb_s1_op* op, pb_type type, int64_t count, const int64_t* numbers) {
  size_t bytes = (size_t)pb_type_bits(type) / 8;
  uint8_t* data = pb_alloc(&s->consts->arena, (size_t)count * bytes + 1);
  for (int64_t k = 0; k < count; ++k) memcpy(data + (size_t)k * bytes, &numbers[k], bytes); // little-endian
  return pb_consts_add(s->consts, op->name, type, 1, &count, data);
}

// Whether the formula reads the operand without sign.
static bool reads_unsigned(const pb_formula* f, int operand) {
  for (int k = 0; k < f->expr_count; ++k) {
    const pb_expr_node* node = &f->expr[k];
    const pb_expr_node* from = node->op == PB_OP_ZEXT ? &f->expr[node->args[0]] : NULL;
    if (from && (from->op == PB_OP_LOAD || from->op == PB_OP_IMM) && from->operand == operand) return true;
  }
  return false;
}

static bool fits(const pb_formula* f, int operand, int64_t number) {
  int bits = pb_type_bits(f->operands[operand].type);
  if (reads_unsigned(f, operand)) return number >= 0 && number < (int64_t)1 << bits;
  return number >= -((int64_t)1 << (bits - 1)) && number < (int64_t)1 << (bits - 1);
}

// What a code of this compiler is in the formula.
static int64_t code_in(const pb_formula* f, double code) { return (int64_t)code + (f->is_unsigned ? 128 : 0); }

// Sets one term: a constant by channel, or the one number that all channels have.
static pb_status set(scaler* s, const pb_s1_op* op, pb_formula_terms* t, pb_formula_term term, int64_t count,
                     const int64_t* numbers) {
  int o = pb_formula_operand_of(t->formula, term);
  if (o < 0) return PB_OK;
  const pb_formula_operand* operand = &t->formula->operands[o];
  for (int64_t k = 0; k < count; ++k) {
    if (!fits(t->formula, o, numbers[k])) return refuse(s, "wider operands", "a number does not fit its operand");
    if (!operand->by_channel && numbers[k] != numbers[0])
      return refuse(s, "quantise weights with one scale for the tensor",
                    "it has one factor, shift or bias for a tensor, but the model's differ by channel");
  }
  t->number[term] = numbers[0];
  if (operand->by_channel) t->channels[term] = add_const(s, op, operand->type, count, numbers);
  return PB_OK;
}

// The clamp's ends: those that the formula has no operand for must be a code's own.
static pb_status set_clamp(scaler* s, const pb_s1_op* op, pb_formula_terms* t) {
  if ((op->lo > INT8_MIN && !has(t->formula, PB_TERM_LO)) || (op->hi < INT8_MAX && !has(t->formula, PB_TERM_HI)))
    return refuse(s, "an operand $lo or $hi", "it has no clamp such as this operator's");
  t->number[PB_TERM_LO] = code_in(t->formula, (double)op->lo);
  t->number[PB_TERM_HI] = code_in(t->formula, (double)op->hi);
  t->number[PB_TERM_ZERO] = code_in(t->formula, (double)op->zy);
  return PB_OK;
}

static pb_formula_terms* new_terms(scaler* s, const pb_formula* f) {
  pb_formula_terms* t = PB_NEW(&s->program->arena, pb_formula_terms);
  t->formula = f;
  for (int k = 0; k < PB_TERM_COUNT; ++k) t->channels[k] = -1;
  return t;
}

// One shift for all channels: that of the largest scale.
static int common_shift(const pb_formula* f, const float* scales, int64_t count) {
  int64_t factor;
  int o = pb_formula_operand_of(f, PB_TERM_SHIFT), least = -1;
  if (f->operands[o].by_channel) return -1;
  for (int64_t k = 0; k < count; ++k) {
    int shift = split(f, (double)scales[k], &factor);
    if (k == 0 || shift < least) least = shift;
  }
  return least;
}

static pb_status scale_sum(scaler* s, pb_s1_op* op) {
  const pb_formula* f = s->formulas[PB_FORMULA_SUM];
  pb_formula_terms* t = new_terms(s, f);
  int64_t count = s->consts->items[op->m]->shape[0];
  const float* scales = pb_const_data(s->consts, op->m);
  const int32_t* biases = pb_const_data(s->consts, op->bias);
  pb_arena scratch = {0};
  int64_t *factors = PB_NEW_ARRAY(&scratch, int64_t, (size_t)count),
          *shifts = PB_NEW_ARRAY(&scratch, int64_t, (size_t)count),
          *sums = PB_NEW_ARRAY(&scratch, int64_t, (size_t)count);
  int common = common_shift(f, scales, count);
  pb_status status = PB_OK;
  for (int64_t k = 0; k < count && status == PB_OK; ++k) {
    double scale = (double)scales[k];
    int shift = split(f, scale, &factors[k]);
    if (common >= 0 && shift >= 0) {
      shift = common;
      factors[k] = has(f, PB_TERM_FACTOR) ? llrint(ldexp(scale, shift)) : 1;
    }
    shifts[k] = shift;
    sums[k] = biases[k] + (has(f, PB_TERM_ZERO) ? 0 : llrint((double)code_in(f, (double)op->zy) / scale));
    status = shift < 0 ? refuse(s, NULL, "a scale is too large for it") : check_off(s, f, scale, factors[k], shift);
  }
  if (status == PB_OK) status = set_clamp(s, op, t);
  if (status == PB_OK) status = set(s, op, t, PB_TERM_FACTOR, count, factors);
  if (status == PB_OK) status = set(s, op, t, PB_TERM_SHIFT, count, shifts);
  if (status == PB_OK) status = set(s, op, t, PB_TERM_BIAS, count, sums);
  pb_arena_free(&scratch);
  op->terms = t;
  return status;
}

static pb_status scale_add(scaler* s, pb_s1_op* op) {
  const pb_formula* f = s->formulas[PB_FORMULA_ADD];
  pb_formula_terms* t = new_terms(s, f);
  double ma = (double)op->ma, mb = (double)op->mb;
  int64_t fa, fb, shift_a = split(f, ma, &fa), shift_b = split(f, mb, &fb);
  int shift = (int)(shift_a < shift_b ? shift_a : shift_b);
  if (shift < 0) return refuse(s, NULL, "a scale is too large for it");
  fa = llrint(ldexp(ma, shift));
  fb = llrint(ldexp(mb, shift));
  PB_TRY(check_off(s, f, ma, fa, shift));
  PB_TRY(check_off(s, f, mb, fb, shift));
  int64_t bias = 0, za = code_in(f, (double)op->zx), zb = code_in(f, (double)op->zz), by_shift = shift;
  if (!has(f, PB_TERM_ZA)) bias -= za * fa;
  if (!has(f, PB_TERM_ZB)) bias -= zb * fb;
  if (!has(f, PB_TERM_ZERO)) bias += code_in(f, (double)op->zy) * ((int64_t)1 << shift);
  if (bias && !has(f, PB_TERM_BIAS)) return refuse(s, "an operand $bias", "it has no place for zero points");
  PB_TRY(set_clamp(s, op, t));
  PB_TRY(set(s, op, t, PB_TERM_FA, 1, &fa));
  PB_TRY(set(s, op, t, PB_TERM_FB, 1, &fb));
  PB_TRY(set(s, op, t, PB_TERM_ZA, 1, &za));
  PB_TRY(set(s, op, t, PB_TERM_ZB, 1, &zb));
  PB_TRY(set(s, op, t, PB_TERM_BIAS, 1, &bias));
  PB_TRY(set(s, op, t, PB_TERM_SHIFT, 1, &by_shift));
  op->terms = t;
  return PB_OK;
}

static pb_status scale(scaler* s, pb_s1_op* op) {
  bool sum = op->kind == PB_S1_CONV || op->kind == PB_S1_AVERAGE || op->kind == PB_S1_MATMUL;
  if (sum && s->program->values[op->y].type == PB_F32) return PB_OK; // it makes no codes
  if (sum && s->formulas[PB_FORMULA_SUM]) return scale_sum(s, op);
  if (op->kind == PB_S1_ADD && s->formulas[PB_FORMULA_ADD]) return scale_add(s, op);
  return PB_OK;
}

pb_status pb_s1_scale(pb_s1* program, pb_consts* consts, const pb_formula* const* formulas, bool leave, pb_diag* diag,
                      double* off) {
  scaler s = {.program = program, .consts = consts, .formulas = formulas, .off = off};
  *off = 0;
  for (size_t k = 0; k < program->op_count; ++k) {
    pb_s1_op* op = &program->ops[k];
    double before = *off;
    pb_status status = scale(&s, op);
    if (status == PB_OK) continue;
    const pb_place* place = &formulas[op->kind == PB_S1_ADD ? PB_FORMULA_ADD : PB_FORMULA_SUM]->place;
    if (!leave)
      return pb_unsupported(diag, (pb_place){.what = op->name}, 4070, s.hint,
                            "the chip's own formula for codes (%s:%d): %s", place->file, place->line, s.what);
    op->terms = NULL;
    *off = before;
    pb_warning(diag, (pb_place){.what = op->name}, 4072,
               "its codes are made as the model says, not by the chip's own formula (%s:%d): %s", place->file,
               place->line, s.what);
  }
  return PB_OK;
}
