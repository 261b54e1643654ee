// Fields of the encodings of gfx942 (CDNA 3 ISA, chapter 13, "Microcode formats").
#include "targets/control/grid/machine/gcn/gcn.h"

#include <stdio.h>
#include <stdlib.h>

static const gcn_opcode opcodes[] = {
#define OPCODE(encoding, number, name) {GCN_##encoding, number, name},
#include "targets/control/grid/machine/gcn/opcodes.def"
#undef OPCODE
};

const char* gcn__name_of(const gcn_opcode* table, size_t count, gcn_encoding encoding, uint32_t number) {
  for (size_t k = 0; k < count; ++k)
    if (table[k].encoding == encoding && table[k].number == number) return table[k].name;
  return NULL;
}

static const char* name_of(gcn_encoding encoding, uint32_t number) {
  return gcn__name_of(opcodes, sizeof opcodes / sizeof *opcodes, encoding, number);
}

void gcn__decode_scalar(gcn_insn* i, uint32_t w, uint32_t* op) {
  if (gcn_bits(w, 23, 9) == 0x17f) {
    i->encoding = GCN_SOPP;
    *op = gcn_bits(w, 16, 7);
    i->imm = gcn_bits(w, 0, 16);
  } else if (gcn_bits(w, 23, 9) == 0x17e) {
    i->encoding = GCN_SOPC;
    *op = gcn_bits(w, 16, 7);
    i->s[0] = (uint16_t)gcn_bits(w, 0, 8);
    i->s[1] = (uint16_t)gcn_bits(w, 8, 8);
  } else if (gcn_bits(w, 23, 9) == 0x17d) {
    i->encoding = GCN_SOP1;
    *op = gcn_bits(w, 8, 8);
    i->d = (uint16_t)gcn_bits(w, 16, 7);
    i->s[0] = (uint16_t)gcn_bits(w, 0, 8);
  } else if (gcn_bits(w, 28, 4) == 0xb) {
    i->encoding = GCN_SOPK;
    *op = gcn_bits(w, 23, 5);
    i->d = (uint16_t)gcn_bits(w, 16, 7);
    i->imm = gcn_bits(w, 0, 16);
  } else {
    i->encoding = GCN_SOP2;
    *op = gcn_bits(w, 23, 7);
    i->d = (uint16_t)gcn_bits(w, 16, 7);
    i->s[0] = (uint16_t)gcn_bits(w, 0, 8);
    i->s[1] = (uint16_t)gcn_bits(w, 8, 8);
  }
}

void gcn__decode_dpp(gcn_insn* i, uint32_t word) {
  i->dpp = true;
  i->s[0] = (uint16_t)(GCN_V0 + gcn_bits(word, 0, 8));
  i->dpp_control = (uint16_t)gcn_bits(word, 8, 9);
  i->dpp_zero = gcn_bits(word, 19, 1);
  i->neg = (uint8_t)(gcn_bits(word, 20, 1) | gcn_bits(word, 22, 1) << 1);
  i->abs = (uint8_t)(gcn_bits(word, 21, 1) | gcn_bits(word, 23, 1) << 1);
  i->dpp_masks = (uint8_t)gcn_bits(word, 24, 8);
}

// VOP1, VOP2 and VOPC whose first source is 249 or 250 have a word that says which part of it, or of which lane.
static void modified(gcn_insn* i, uint32_t word) {
  if (i->s[0] == 250) {
    gcn__decode_dpp(i, word);
    return;
  }
  i->s[0] = (uint16_t)(gcn_bits(word, 0, 8) + (gcn_bits(word, 23, 1) ? 0 : GCN_V0));
  i->sdwa = (uint8_t)(1 + gcn_bits(word, 16, 3) + 8 * gcn_bits(word, 19, 1));
  i->sdwa1 = (uint8_t)(1 + gcn_bits(word, 24, 3) + 8 * gcn_bits(word, 27, 1));
  i->neg = (uint8_t)(gcn_bits(word, 20, 1) | gcn_bits(word, 28, 1) << 1);
  i->abs = (uint8_t)(gcn_bits(word, 21, 1) | gcn_bits(word, 29, 1) << 1);
  if (i->encoding == GCN_VOPC) {
    i->d = gcn_bits(word, 15, 1) ? (uint16_t)gcn_bits(word, 8, 7) : GCN_VCC;
  } else if (i->encoding != GCN_VOP1 || true) {
    i->clamp = gcn_bits(word, 13, 1);
    i->omod = (uint8_t)gcn_bits(word, 14, 2);
    if (gcn_bits(word, 8, 3) != 6) i->sdwa_to = (uint8_t)(1 + gcn_bits(word, 8, 3) + 8 * gcn_bits(word, 11, 2));
  }
  if (gcn_bits(word, 31, 1) && i->encoding != GCN_VOP1) i->s[1] = (uint16_t)(i->s[1] - GCN_V0);
}

void gcn__decode_vector(gcn_insn* i, const uint32_t* w, uint32_t* op) {
  i->s[0] = (uint16_t)gcn_bits(*w, 0, 9);
  if (gcn_bits(*w, 25, 7) == 0x3f) {
    i->encoding = GCN_VOP1;
    *op = gcn_bits(*w, 9, 8);
    i->d = (uint16_t)(GCN_V0 + gcn_bits(*w, 17, 8));
  } else if (gcn_bits(*w, 25, 7) == 0x3e) {
    i->encoding = GCN_VOPC;
    *op = gcn_bits(*w, 17, 8);
    i->d = GCN_VCC;
    i->s[1] = (uint16_t)(GCN_V0 + gcn_bits(*w, 9, 8));
  } else {
    i->encoding = GCN_VOP2;
    *op = gcn_bits(*w, 25, 6);
    i->d = (uint16_t)(GCN_V0 + gcn_bits(*w, 17, 8));
    i->s[1] = (uint16_t)(GCN_V0 + gcn_bits(*w, 9, 8));
  }
}

// Numbers up to first_unary are those of VOPC and VOP2, from there on, up to 0x80 more, of VOP1.
void gcn__decode_vector3(gcn_insn* i, const uint32_t* w, uint32_t* op, uint32_t first_unary) {
  *op = gcn_bits(w[0], 16, 10);
  i->words = 2;
  i->three = true;
  i->d = (uint16_t)(GCN_V0 + gcn_bits(w[0], 0, 8));
  for (int k = 0; k < 3; ++k) i->s[k] = (uint16_t)gcn_bits(w[1], 9 * k, 9);
  i->neg = (uint8_t)gcn_bits(w[1], 29, 3);
  i->clamp = gcn_bits(w[0], 15, 1);
  if (i->encoding == GCN_VOP3P) {
    i->neg_hi = (uint8_t)gcn_bits(w[0], 8, 3);
    i->op_sel = (uint8_t)gcn_bits(w[0], 11, 3);
    i->op_sel_hi = (uint8_t)(gcn_bits(w[1], 27, 2) | gcn_bits(w[0], 14, 1) << 2);
    return;
  }
  i->encoding = GCN_VOP3;
  i->abs = (uint8_t)gcn_bits(w[0], 8, 3);
  i->op_sel = (uint8_t)gcn_bits(w[0], 11, 4);
  i->omod = (uint8_t)gcn_bits(w[1], 27, 2);
  i->d2 = (uint16_t)gcn_bits(w[0], 8, 7); // of instructions with a carry, which have no abs
  if (*op < 0x100) {
    i->encoding = GCN_VOPC;
    i->d = (uint16_t)gcn_bits(w[0], 0, 8);
  } else if (*op < first_unary) {
    i->encoding = GCN_VOP2;
    *op -= 0x100;
  } else if (*op < first_unary + 0x80) {
    i->encoding = GCN_VOP1;
    *op -= first_unary;
  }
}

static void three(gcn_insn* i, const uint32_t* w, uint32_t* op) {
  bool packed = gcn_bits(w[0], 16, 10) >= 0x380;
  if (packed) i->encoding = GCN_VOP3P;
  gcn__decode_vector3(i, w, op, 0x140);
  if (packed) *op -= 0x380;
}

static void memory(gcn_insn* i, const uint32_t* w, uint32_t* op) {
  i->words = 2;
  switch (gcn_bits(w[0], 26, 6)) {
  case 0x30: // SMEM
    i->encoding = GCN_SMEM;
    *op = gcn_bits(w[0], 18, 8);
    i->d = (uint16_t)gcn_bits(w[0], 6, 7);
    i->s[0] = (uint16_t)(2 * gcn_bits(w[0], 0, 6));
    i->imm = gcn_bits(w[0], 17, 1); // an offset there is
    i->offset = gcn_signed_bits(w[1], 0, 21);
    i->s[1] = (uint16_t)(gcn_bits(w[0], 14, 1) ? gcn_bits(w[1], 25, 7)
                         : i->imm              ? GCN_NO_SADDR + 1
                                               : gcn_bits(w[1], 0, 7));
    if (!i->imm) i->offset = 0;
    break;
  case 0x36: // DS
    i->encoding = GCN_DS;
    *op = gcn_bits(w[0], 17, 8);
    i->imm = gcn_bits(w[0], 0, 16);
    i->s[0] = (uint16_t)(GCN_V0 + gcn_bits(w[1], 0, 8));
    i->s[1] = (uint16_t)(GCN_V0 + gcn_bits(w[1], 8, 8));
    i->s[2] = (uint16_t)(GCN_V0 + gcn_bits(w[1], 16, 8));
    i->d = (uint16_t)(GCN_V0 + gcn_bits(w[1], 24, 8));
    if (gcn_bits(w[0], 25, 1))
      i->d = (uint16_t)(i->d + 256), i->s[1] = (uint16_t)(i->s[1] + 256), i->s[2] = (uint16_t)(i->s[2] + 256);
    break;
  default: // FLAT
    i->encoding = (uint8_t)(GCN_FLAT + (gcn_bits(w[0], 14, 2) == 2 ? 1 : gcn_bits(w[0], 14, 2) == 1 ? 2 : 0));
    *op = gcn_bits(w[0], 18, 7);
    i->offset = i->encoding == GCN_FLAT ? (int32_t)gcn_bits(w[0], 0, 12) : gcn_signed_bits(w[0], 0, 13);
    i->s[0] = (uint16_t)(GCN_V0 + gcn_bits(w[1], 0, 8));
    i->s[1] = (uint16_t)(GCN_V0 + gcn_bits(w[1], 8, 8));
    i->s[2] = (uint16_t)gcn_bits(w[1], 16, 7);
    i->d = (uint16_t)(GCN_V0 + gcn_bits(w[1], 24, 8));
    i->high = gcn_bits(w[0], 16, 1); // an atomic that returns
    i->strong =
        gcn_bits(w[0], 16, 1) || gcn_bits(w[0], 25, 1); // of a scope past the wave: what LLVM makes of atomic stores
    if (gcn_bits(w[1], 23, 1)) i->d = (uint16_t)(i->d + 256), i->s[1] = (uint16_t)(i->s[1] + 256);
    i->imm = gcn_bits(w[0], 13, 1); // of scratch: there is an address in a vector register
  }
}

bool gcn__has_literal(const gcn_insn* i) {
  int sources = i->encoding == GCN_SOP2 || i->encoding == GCN_SOPC ? 2 : i->encoding == GCN_SOP1 ? 1 : 0;
  for (int k = 0; k < sources; ++k)
    if (i->s[k] == GCN_LITERAL) return true;
  return i->words == 1 && (i->encoding == GCN_VOP1 || i->encoding == GCN_VOP2 || i->encoding == GCN_VOPC) &&
         i->s[0] == GCN_LITERAL;
}

// Most results of 16 bits clear the other half of their register; those that gfx9 has anew leave it (their namesakes of
// before are called legacy).
static bool keeps_half(const gcn_insn* i) {
  static const char* const names[] = {"v_fma_f16", "v_mad_u16", "v_mad_i16", "v_div_fixup_f16"};
  for (size_t k = 0; k < sizeof names / sizeof *names; ++k)
    if (!strcmp(i->name, names[k])) return true;
  return false;
}

static const char* decode_one(gcn_insn* i, const uint32_t* w, size_t left, uint32_t at) {
  uint32_t op = 0, top = gcn_bits(*w, 26, 6);
  *i = (gcn_insn){.words = 1, .op_sel_hi = 7, .site.line = at};
  bool two = top == 0x34 || top == 0x30 || top == 0x36 || top == 0x37;
  if (two && left < 2) return "an instruction that is cut off";
  if (gcn_bits(*w, 30, 2) == 2)
    gcn__decode_scalar(i, *w, &op);
  else if (!gcn_bits(*w, 31, 1))
    gcn__decode_vector(i, w, &op);
  else if (top == 0x34)
    three(i, w, &op);
  else if (top == 0x30 || top == 0x36 || top == 0x37)
    memory(i, w, &op);
  else
    return "an encoding that the machine does not know";
  i->name = name_of(i->encoding, op);
  if (!i->name) return "an instruction that the ISA does not have";
  bool constant = !strncmp(i->name, "v_fmaak", 7) || !strncmp(i->name, "v_fmamk", 7) ||
                  !strncmp(i->name, "v_madak", 7) || !strncmp(i->name, "v_madmk", 7) ||
                  !strcmp(i->name, "s_setreg_imm32_b32");
  bool part = i->words == 1 && (i->encoding == GCN_VOP1 || i->encoding == GCN_VOP2 || i->encoding == GCN_VOPC) &&
              (i->s[0] == 249 || i->s[0] == 250);
  if (gcn__has_literal(i) || constant || part) {
    if (left < 2) return "an instruction that is cut off";
    i->words = 2;
    i->literal = w[1];
    if (part) modified(i, w[1]);
  }
  i->site.class = GRID_CLASS_INTEGER;
  i->keeps = keeps_half(i);
  return !(gcn__scalar(i) || gcn__memory(i) || gcn__vector(i)) ? "an instruction that the machine does not know" : NULL;
}

static int not_known(gcn_wave* w, const gcn_insn* i) { return gcn__stop(w, i, -1, GRID_BAD_CODE, "%s", i->unknown); }

static void jumps(gcn_text* t) {
  for (size_t n = 0; n < t->count; ++n) {
    gcn_insn* i = &t->code[n];
    if (strncmp(i->name, "s_branch", 8) && strncmp(i->name, "s_cbranch", 9)) continue;
    int64_t to = (int64_t)i->site.line / 4 + 1 + (int16_t)i->imm;
    if (to >= 0 && (uint64_t)to < t->words && t->index[to] != UINT32_MAX) {
      i->target = t->index[to];
    } else {
      i->unknown = "it goes to where no instruction begins";
      i->run = not_known;
    }
  }
}

bool gcn__decode(gcn_text* t, const uint8_t* code) {
  uint32_t* words = malloc((t->words + 1) * 4);
  t->index = malloc((t->words + 1) * 4);
  if (!words || !t->index) {
    free(words);
    return false;
  }
  memcpy(words, code, t->words * 4);
  memset(t->index, 0xff, (t->words + 1) * 4);
  for (uint64_t at = 0; at < t->words;) {
    gcn_insn i;
    const char* why = (t->is_rdna ? gcn__decode_rdna : decode_one)(&i, words + at, t->words - at, (uint32_t)at * 4);
    if (why) {
      i.unknown = why;
      i.run = not_known;
      i.class = GRID_CLASS_CONTROL;
      if (!i.name) i.name = "?";
    }
    if (!i.shown) i.shown = i.name;
    t->index[at] = (uint32_t)t->count;
    PB_PUSH(t->code, t->count, t->capacity, i);
    at += i.words;
  }
  free(words);
  jumps(t);
  return true;
}

int gcn__all_known(pb_device* device, const gcn_text* t, const char* name, uint64_t from, uint64_t bytes) {
  for (uint64_t at = (from - t->base) / 4; at < (from + bytes - t->base) / 4; ++at) {
    const gcn_insn* i = t->index[at] == UINT32_MAX ? NULL : &t->code[t->index[at]];
    if (i && i->unknown)
      return grid__fault(device, GRID_BAD_CODE, "kernel %s, offset %#x: %s: %s", name, i->site.line, i->shown,
                         i->unknown);
  }
  return GRID_OK;
}
