// Fields of the encodings of gfx1100 (RDNA 3 ISA, chapter 15, "Microcode formats"), where they are other than CDNA's.
#include "targets/control/grid/machine/gcn/gcn.h"

#include <stdlib.h>

static const gcn_opcode opcodes[] = {
#define OPCODE(encoding, number, name) {GCN_##encoding, number, name},
#include "targets/control/grid/machine/gcn/rdna/opcodes.def"
#undef OPCODE
};

static const struct {
  const char *own, *cdna;
} names[] = {
#define SAME(own, cdna) {own, cdna},
#include "targets/control/grid/machine/gcn/rdna/names.def"
#undef SAME
};

enum { LEAST_FMAAK = 1, DPP8 = 233, DPP8_ALL = 234, DPP16 = 250, UPPER = 128 };

static bool is_called(gcn_insn* i, uint32_t number) {
  if (!i->name) i->name = i->shown = gcn__name_of(opcodes, sizeof opcodes / sizeof *opcodes, i->encoding, number);
  for (size_t k = 0; k < sizeof names / sizeof *names && i->name; ++k)
    if (!strcmp(i->name, names[k].own)) {
      i->name = names[k].cdna;
      break;
    }
  return i->name;
}

// Null and m0 have each other's numbers.
static uint16_t register_of(uint32_t s) { return (uint16_t)(s == GCN_M0 ? GCN_NULL : s == GCN_NULL ? GCN_M0 : s); }

static void registers(gcn_insn* i) {
  for (int k = 0; k < 3; ++k) i->s[k] = register_of(i->s[k]);
  i->d = register_of(i->d);
  i->d2 = register_of(i->d2);
}

static void memory(gcn_insn* i, const uint32_t* w, uint32_t* op) {
  i->words = 2;
  uint32_t segment = gcn_bits(w[0], 16, 2);
  switch (gcn_bits(w[0], 26, 6)) {
  case 0x3d: // SMEM
    i->encoding = GCN_SMEM;
    *op = gcn_bits(w[0], 18, 8);
    i->d = (uint16_t)gcn_bits(w[0], 6, 7);
    i->s[0] = (uint16_t)(2 * gcn_bits(w[0], 0, 6));
    i->offset = gcn_signed_bits(w[1], 0, 21);
    i->s[1] = (uint16_t)gcn_bits(w[1], 25, 7);
    break;
  case 0x36: // DS
    i->encoding = GCN_DS;
    *op = gcn_bits(w[0], 18, 8);
    i->imm = gcn_bits(w[0], 0, 16);
    for (int k = 0; k < 3; ++k) i->s[k] = (uint16_t)(GCN_V0 + gcn_bits(w[1], 8 * k, 8));
    i->d = (uint16_t)(GCN_V0 + gcn_bits(w[1], 24, 8));
    break;
  case 0x38: // MUBUF: what the caches are told
    i->encoding = GCN_MUBUF;
    *op = gcn_bits(w[0], 18, 8);
    break;
  default: // FLAT
    i->encoding = (uint8_t)(segment == 0 ? GCN_FLAT : segment == 1 ? GCN_SCRATCH : GCN_GLOBAL);
    *op = gcn_bits(w[0], 18, 7);
    i->offset = gcn_signed_bits(w[0], 0, 13);
    i->s[0] = (uint16_t)(GCN_V0 + gcn_bits(w[1], 0, 8));
    i->s[1] = (uint16_t)(GCN_V0 + gcn_bits(w[1], 8, 8));
    i->s[2] = (uint16_t)gcn_bits(w[1], 16, 7);
    if (i->s[2] == GCN_M0) i->s[2] = GCN_NO_SADDR; // null, by its number here
    i->d = (uint16_t)(GCN_V0 + gcn_bits(w[1], 24, 8));
    i->high = i->strong = gcn_bits(w[0], 14, 1);
    i->imm = gcn_bits(w[1], 23, 1);
  }
}

// Bytes of a source, from 1 on, or of the result, 0.
static int size_of(const gcn_insn* i, int n) {
  if (i->row) return i->row->size[n];
  if (!strcmp(i->name, "v_div_fixup_f16")) return 2;
  return !strcmp(i->name, "v_cmp_class_f16") && (n == 1 || n == 2) ? 2 : 0;
}

// What has 16 bits takes either half of the registers 0 to 127 where a number has 8 bits: its highest says which.
static void halves(gcn_insn* i) {
  bool makes = size_of(i, 0) == 2 && !(i->row && i->row->predicate);
  i->keeps = makes;
  if (i->three || i->encoding == GCN_VOP3P) return;
  for (int n = 0; n < 3; ++n) {
    int of = i->reversed && n < 2 ? 1 - n : n;
    if (size_of(i, n + 1) != 2 || i->s[of] < GCN_V0 + UPPER || (of == 2 && i->s[2] == i->d)) continue;
    i->s[of] = (uint16_t)(i->s[of] - UPPER);
    i->op_sel |= (uint8_t)(1 << of);
  }
  if (!makes || i->d < GCN_V0 + UPPER) return;
  bool sum = i->s[2] == i->d;
  i->d = (uint16_t)(i->d - UPPER);
  i->op_sel |= 8;
  if (sum) i->s[2] = i->d, i->op_sel |= 4;
}

static bool has_meaning(gcn_insn* i) {
  if (i->encoding == GCN_MUBUF) {
    if (strcmp(i->name, "buffer_gl0_inv") && strcmp(i->name, "buffer_gl1_inv")) return false;
    i->encoding = GCN_SOPP;
    i->name = "s_icache_inv"; // caches are the machine's own business
    return gcn__scalar(i);
  }
  if (!strcmp(i->name, "v_dot4_i32_iu8")) { // neg says which factor has a sign
    static const char* const kinds[] = {"v_dot4_u32_u8", "v_dot4_i32_iu8", "v_dot4_i32_ui8", "v_dot4_i32_i8"};
    i->name = kinds[i->neg & 3];
    i->neg = 0;
  }
  if (!strncmp(i->name, "v_cmpx", 6)) i->d = GCN_EXEC;
  if (!(gcn__scalar(i) || gcn__memory(i) || gcn__vector(i))) return false;
  if (i->encoding >= GCN_VOP2 && i->encoding <= GCN_VOP3) halves(i);
  return true;
}

// ---- pairs ----

// Both read before either writes: where the second reads what the first writes, it gets what was there.
static int pair(gcn_wave* w, const gcn_insn* i) {
  uint32_t old[GRID_LANES], new[GRID_LANES], pc = w->pc;
  const gcn_insn* first = &i->second[1];
  uint32_t* to = gcn_row(w, i->d - GCN_V0, 0);
  memcpy(old, to, sizeof old);
  int code = first->run(w, first);
  if (code) return code;
  memcpy(new, to, sizeof new);
  memcpy(to, old, sizeof old);
  code = i->second->run(w, i->second);
  memcpy(to, new, sizeof new);
  w->pc = pc + 1;
  return code;
}

static bool half_of_pair(gcn_insn* i, gcn_encoding encoding, uint32_t op, uint32_t s0, uint32_t s1, uint32_t d) {
  i->encoding = (uint8_t)encoding;
  if (!is_called(i, op)) return false;
  i->encoding = GCN_VOP2;
  i->s[0] = register_of(s0);
  i->s[1] = (uint16_t)(GCN_V0 + s1);
  i->d = (uint16_t)(GCN_V0 + d);
  return gcn__vector(i) && i->row && i->row->size[0] == 4;
}

static const char* decode_pair(gcn_insn* i, const uint32_t* w, size_t left) {
  if (left < 2) return "an instruction that is cut off";
  uint32_t x = gcn_bits(w[0], 22, 4), y = gcn_bits(w[0], 17, 5), dx = gcn_bits(w[1], 24, 8);
  uint32_t s0 = gcn_bits(w[0], 0, 9), s1 = gcn_bits(w[1], 0, 9);
  bool constant = (x - LEAST_FMAAK) < 2 || (y - LEAST_FMAAK) < 2 || s0 == GCN_LITERAL || s1 == GCN_LITERAL;
  i->words = constant ? 3 : 2;
  if (left < i->words) return "an instruction that is cut off";
  if (constant) i->literal = w[2];
  gcn_insn* two = calloc(2, sizeof *two); // the second, and the first by itself
  if (!two) return "no memory for it";
  two[0] = *i;
  bool known = half_of_pair(i, GCN_VOPDX, x, s0, gcn_bits(w[0], 9, 8), dx) &&
               half_of_pair(two, GCN_VOPDY, y, s1, gcn_bits(w[1], 9, 8), gcn_bits(w[1], 17, 7) << 1 | !(dx & 1));
  if (!known) {
    free(two);
    return "an instruction that the machine does not know";
  }
  two[0].site = i->site;
  two[1] = *i;
  i->second = two;
  i->run = pair;
  i->imm = (i->class == GRID_CLASS_FMA) + (uint32_t)(two->class == GRID_CLASS_FMA); // products of a lane
  if (two->class == GRID_CLASS_FMA) i->class = GRID_CLASS_FMA;
  return NULL;
}

// ---- all ----

static const char* decode_parts(gcn_insn* i, const uint32_t* w, size_t left) {
  if (left < 2u + i->three) return "an instruction that is cut off";
  if (i->three) return "lanes of others in an encoding of three sources";
  i->words = 2;
  if (i->s[0] == DPP16) {
    gcn__decode_dpp(i, w[1]);
    i->dpp_all = gcn_bits(w[1], 18, 1);
    return NULL;
  }
  return "lanes of others by eights";
}

const char* gcn__decode_rdna(gcn_insn* i, const uint32_t* w, size_t left, uint32_t at) {
  uint32_t op = 0, top = gcn_bits(*w, 26, 6);
  *i = (gcn_insn){.words = 1, .op_sel_hi = 7, .site.line = at};
  bool two = top == 0x35 || top == 0x33 || top == 0x36 || top == 0x37 || top == 0x38 || top == 0x3d;
  i->site.class = GRID_CLASS_INTEGER;
  if (two && left < 2) return "an instruction that is cut off";
  if (top == 0x32) return decode_pair(i, w, left);
  if (gcn_bits(*w, 30, 2) == 2) {
    gcn__decode_scalar(i, *w, &op);
  } else if (!gcn_bits(*w, 31, 1)) {
    gcn__decode_vector(i, w, &op);
  } else if (top == 0x35) {
    gcn__decode_vector3(i, w, &op, 0x180);
  } else if (top == 0x33) {
    i->encoding = GCN_VOP3P;
    gcn__decode_vector3(i, w, &op, 0);
    op = gcn_bits(*w, 16, 7);
  } else if (two) {
    memory(i, w, &op);
  } else {
    return "an encoding that the machine does not know";
  }
  if (!is_called(i, op)) return "an instruction that the ISA does not have";
  bool vector = i->encoding == GCN_VOP1 || i->encoding == GCN_VOP2 || i->encoding == GCN_VOPC || i->three;
  if (vector && (i->s[0] == DPP8 || i->s[0] == DPP8_ALL || i->s[0] == DPP16)) {
    const char* why = decode_parts(i, w, left);
    if (why) return why;
  }
  bool constant = !strncmp(i->name, "v_fmaak", 7) || !strncmp(i->name, "v_fmamk", 7);
  for (int k = 0; k < 3 && i->three; ++k) constant |= i->s[k] == GCN_LITERAL;
  if (constant || gcn__has_literal(i)) {
    if (left < i->words + 1u) return "an instruction that is cut off";
    i->literal = w[i->words++];
  }
  registers(i);
  return has_meaning(i) ? NULL : "an instruction that the machine does not know";
}
