// Formula records: the chip's own way from sums to codes.
#include "tdl/read/chip_read.h"

#include <string.h>

static const struct {
  const char* name;
  pb_formula_term term;
  bool of_sum, of_add, needed; // in which kind it may stand; whether it must
} terms[] = {{"sum", PB_TERM_SUM, true, false, true},
             {"a", PB_TERM_A, false, true, true},
             {"b", PB_TERM_B, false, true, true},
             {"bias", PB_TERM_BIAS, true, true, false},
             {"factor", PB_TERM_FACTOR, true, false, false},
             {"shift", PB_TERM_SHIFT, true, true, true},
             {"fa", PB_TERM_FA, false, true, true},
             {"fb", PB_TERM_FB, false, true, true},
             {"za", PB_TERM_ZA, false, true, false},
             {"zb", PB_TERM_ZB, false, true, false},
             {"zero", PB_TERM_ZERO, true, true, false},
             {"lo", PB_TERM_LO, true, true, false},
             {"hi", PB_TERM_HI, true, true, false}};

enum { TERMS = sizeof terms / sizeof *terms };

const char* pb_formula_term_name(pb_formula_term term) {
  for (int k = 0; k < TERMS; ++k)
    if (terms[k].term == term) return terms[k].name;
  return "?";
}

static bool is_tensor(pb_formula_term term) { return term <= PB_TERM_B; }

static void read_operand(const record* rec, const char* def, const char* name, bool add, pb_insn* insn, pb_formula* f) {
  record type = pb__open_record(rec->r, def);
  int k = 0;
  while (k < TERMS && strcmp(terms[k].name, name)) ++k;
  if (k == TERMS || !(add ? terms[k].of_add : terms[k].of_sum)) {
    pb__fault(rec, 3130,
              add ? "a, b, bias, fa, fb, shift, za, zb, zero, lo, hi" : "sum, bias, factor, shift, zero, lo, hi",
              "a formula of kind \"%s\" has no operand '$%s'", add ? "add" : "sum", name);
    return;
  }
  bool by_channel = pb__instance_of(type.json, "ByChannel");
  bool element = pb__instance_of(type.json, "Element");
  if (element != is_tensor(terms[k].term) || (!element && !by_channel && !pb__instance_of(type.json, "Imm")) ||
      (add && by_channel))
    pb__fault(rec, 3131,
              "Element<...> for sum, a and b, else Imm<...>; ByChannel<...> too in a formula of kind \"sum\"",
              "operand '$%s' is of another class", name);
  pb_operand* operand = &insn->operands[insn->operand_count];
  *operand = (pb_operand){.name = terms[k].name,
                          .memory = element || by_channel ? 0 : -1,
                          .slot = -1,
                          .fill = -1,
                          .type = pb__read_type(rec->r, &type, "Elem")};
  pb_type wanted = terms[k].term == PB_TERM_SUM ? PB_I32 : is_tensor(terms[k].term) ? PB_I8 : operand->type;
  if (wanted == PB_I1) wanted = PB_I8; // all are numbers
  if (operand->type != wanted || pb_type_is_float(operand->type))
    pb__fault(rec, 3132, pb_type_name(pb_type_is_float(operand->type) ? PB_I32 : wanted), "operand '$%s' is of type %s",
              name, pb_type_name(operand->type));
  f->operands[insn->operand_count++] =
      (pb_formula_operand){.term = terms[k].term, .type = operand->type, .by_channel = by_channel};
  f->operand_count = insn->operand_count;
}

static void read_operands(const record* rec, bool add, pb_insn* insn, pb_formula* f) {
  json_t* args = json_object_get(json_object_get(rec->json, "Operands"), "args");
  for (size_t k = 0; k < json_array_size(args); ++k) {
    json_t* arg = json_array_get(args, k);
    const char *def = pb__get_def(json_array_get(arg, 0)), *name = json_string_value(json_array_get(arg, 1));
    if (!def || !name || insn->operand_count == PB_FORMULA_OPERANDS)
      pb__fault(rec, 3089, "Element<...>:$name, ByChannel<...>:$name or Imm<...>:$name",
                "operand %zu has no name or is no operand of a formula", k);
    else if (pb_insn_operand(insn, name) >= 0)
      pb__fault(rec, 3239, NULL, "two operands named '%s'", name);
    else
      read_operand(rec, def, name, add, insn, f);
  }
  for (int k = 0; k < TERMS; ++k)
    if (terms[k].needed && (add ? terms[k].of_add : terms[k].of_sum) && pb_formula_operand_of(f, terms[k].term) < 0)
      pb__fault(rec, 3133, NULL, "a formula of kind \"%s\" needs an operand '$%s'", add ? "add" : "sum", terms[k].name);
  if (!add && pb_formula_operand_of(f, PB_TERM_BIAS) < 0)
    pb__fault(rec, 3133, "(add $sum, $bias)", "a formula of kind \"sum\" needs an operand '$bias'");
}

// Whether codes end at 255, or where a number without sign says.
static bool ends_unsigned(const pb_insn* insn) {
  const pb_expr_node *e = insn->expr, *node = &e[insn->expr_count - 1];
  if (node->op == PB_OP_TRUNC) node = &e[node->args[0]];
  for (; node->op == PB_OP_MIN || node->op == PB_OP_MAX; node = &e[node->args[0]]) {
    const pb_expr_node* bound = &e[node->args[1]];
    if (bound->op == PB_OP_ZEXT || (bound->op == PB_OP_CONST && bound->value == UINT8_MAX)) return true;
  }
  return false;
}

// Codes, and numbers beside them, are read as what is made of sums.
static void check_signs(const record* rec, const pb_insn* insn, const pb_formula* f) {
  for (int k = 0; k < insn->expr_count; ++k) {
    const pb_expr_node* node = &insn->expr[k];
    if (node->op != PB_OP_SEXT && node->op != PB_OP_ZEXT) continue;
    const pb_expr_node* from = &insn->expr[node->args[0]];
    if ((from->op != PB_OP_LOAD && from->op != PB_OP_IMM) || from->type != PB_I8) continue;
    pb_formula_term term = f->operands[from->operand].term;
    bool code = term == PB_TERM_A || term == PB_TERM_B || (term >= PB_TERM_ZA && term <= PB_TERM_HI);
    if (code && f->is_unsigned != (node->op == PB_OP_ZEXT))
      pb__fault(rec, 3141, f->is_unsigned ? "zext" : "sext", "'$%s' is read %s sign, codes are made %s",
                insn->operands[from->operand].name, f->is_unsigned ? "with" : "without",
                f->is_unsigned ? "of 0 to 255" : "with it");
  }
}

static void read_one(reader* r, const char* name) {
  record rec = pb__open_record(r, name);
  static const char* const kinds[] = {"sum", "add"};
  pb_formula_kind kind = pb__choice(&rec, "Of", kinds, PB_FORMULA_KINDS);
  if (r->chip->formulas[kind])
    pb__fault(&rec, 3134, "one of each kind", "a second formula of kind \"%s\"", kinds[kind]);
  pb_formula* f = r->chip->formulas[kind] = PB_NEW(&r->chip->arena, pb_formula);
  pb_insn* insn = PB_NEW(&r->chip->arena, pb_insn); // whose values the dag is of
  *f = (pb_formula){.place = pb__keep_place(r, &rec)};
  read_operands(&rec, kind == PB_FORMULA_ADD, insn, f);
  int value = pb__read_value(&rec, insn, json_object_get(rec.json, "Value"));
  if (insn->expr_count && (value != insn->expr_count - 1 || insn->expr[value].type != PB_I8))
    pb__fault(&rec, 3135, "a code: (trunc8 ...) or (sat8 ...)", "a formula gives %s",
              pb_type_name(insn->expr[value].type));
  f->is_unsigned = insn->expr_count && ends_unsigned(insn);
  check_signs(&rec, insn, f);
  for (int o = 0; o < insn->operand_count; ++o) {
    bool used = false;
    for (int e = 0; e < insn->expr_count; ++e)
      used |= (insn->expr[e].op == PB_OP_LOAD || insn->expr[e].op == PB_OP_IMM) && insn->expr[e].operand == o;
    if (!used) pb__fault(&rec, 3237, "use it in Value", "operand '%s' is not used", insn->operands[o].name);
  }
  for (int e = 0; e < insn->expr_count; ++e)
    if (pb_type_is_float(insn->expr[e].type)) {
      pb__fault(&rec, 3136, "integers", "a formula computes with floats");
      break;
    }
  memcpy(f->expr, insn->expr, sizeof f->expr);
  f->expr_count = insn->expr_count;
  int64_t bits = pb__get_int(&rec, "FactorBits", 1), shift = pb__get_int(&rec, "MaxShift", 0);
  if (bits < 1 || bits > 31 || shift < 0 || shift > 63)
    pb__fault(&rec, 3137, "1 to 31 bits, shifts to 63", "FactorBits is %lld, MaxShift %lld", (long long)bits,
              (long long)shift);
  for (int o = 0; o < f->operand_count; ++o) {
    pb_formula_term term = f->operands[o].term;
    bool factor = term == PB_TERM_FACTOR || term == PB_TERM_FA || term == PB_TERM_FB;
    if (factor && bits >= pb_type_bits(f->operands[o].type))
      pb__fault(&rec, 3139, "fewer, since factors have a sign", "FactorBits: %lld bits do not fit an operand of %s",
                (long long)bits, pb_type_name(f->operands[o].type));
  }
  f->factor_bits = bits >= 1 && bits <= 31 ? (int)bits : 1;
  f->max_shift = shift >= 0 && shift <= 63 ? (int)shift : 0;
  if (!pb__read_number(pb__get_text(&rec, "MostOff"), &f->most_off) || !(f->most_off >= 0))
    pb__fault(&rec, 3138, "\"0.01\"", "MostOff is no share");
}

void pb__read_formulas(reader* r) {
  json_t* names = json_object_get(json_object_get(r->root, "!instanceof"), "Formula");
  for (size_t k = 0; k < json_array_size(names); ++k) read_one(r, pb__text_of(json_array_get(names, k)));
}
