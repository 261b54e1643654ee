// Scalar instructions: SOP1, SOP2, SOPK, SOPC, SOPP (CDNA 3 ISA, chapters 5 and 12).
#include "targets/control/grid/machine/gcn/gcn.h"

// Each body has a, b (sources), d (result; as 64 bits), scc and w.
#define SCALAR(name, dwords, sources, writes, ...)                                                                     \
  static int name(gcn_wave* w, const gcn_insn* i) {                                                                    \
    uint64_t a = 0, b = 0, d = 0;                                                                                      \
    int code = sources > 0 ? gcn__read_scalar(w, i, i->s[0], dwords, &a) : 0;                                          \
    if (!code && sources > 1) code = gcn__read_scalar(w, i, i->s[1], dwords, &b);                                      \
    if (code) return code;                                                                                             \
    (void)a, (void)b;                                                                                                  \
    __VA_ARGS__;                                                                                                       \
    if (writes) put(w, i->d, d, writes);                                                                               \
    ++w->pc;                                                                                                           \
    return GRID_OK;                                                                                                    \
  }

static void put(gcn_wave* w, uint32_t to, uint64_t value, int dwords) {
  if (to == GCN_NULL) return;
  w->s[to] = (uint32_t)value;
  if (dwords == 2) w->s[to + 1] = (uint32_t)(value >> 32);
}

static uint64_t exec_becomes(gcn_wave* w, uint64_t value) {
  uint64_t old = gcn_exec(w);
  w->s[GCN_EXEC] = (uint32_t)value;
  w->s[GCN_EXEC + 1] = (uint32_t)(value >> 32) & w->upper;
  w->scc = gcn_exec(w) != 0;
  return old;
}

static uint64_t field(uint64_t x, uint64_t start, uint64_t length, int width, bool with_sign) {
  if (!length) return 0;
  uint64_t v = x >> start, mask = length >= 64 ? UINT64_MAX : (UINT64_C(1) << length) - 1;
  v &= mask;
  if (with_sign && start + length <= (uint64_t)width && v >> (length - 1) & 1) v |= ~mask;
  if (with_sign && start + length > (uint64_t)width && x >> (width - 1) & 1)
    v |= ~((width - start >= 64 ? UINT64_MAX : (UINT64_C(1) << (width - start)) - 1));
  return width == 32 ? (uint32_t)v : v;
}

#define OF(v) (w->scc = (v))
SCALAR(s_mov_b32, 1, 1, 1, d = a)
SCALAR(s_mov_b64, 2, 1, 2, d = a)
SCALAR(s_cmov_b32, 1, 1, 1, d = w->scc ? a : w->s[i->d])
SCALAR(s_cmov_b64, 2, 1, 2, d = w->scc ? a : w->s[i->d] | (uint64_t)w->s[i->d + 1] << 32)
SCALAR(s_brev_b64, 2, 1, 2, for (int k = 0; k < 64; ++k) d |= (a >> k & 1) << (63 - k))
SCALAR(s_not_b32, 1, 1, 1, d = (uint32_t)~a; OF(d != 0))
SCALAR(s_not_b64, 2, 1, 2, d = ~a; OF(d != 0))
SCALAR(s_brev_b32, 1, 1, 1, for (int k = 0; k < 32; ++k) d |= (a >> k & 1) << (31 - k))
SCALAR(s_bcnt1_i32_b32, 1, 1, 1, d = (uint64_t)__builtin_popcountll(a); OF(d != 0))
SCALAR(s_bcnt1_i32_b64, 2, 1, 1, d = (uint64_t)__builtin_popcountll(a); OF(d != 0))
SCALAR(s_ff1_i32_b32, 1, 1, 1, d = a ? (uint64_t)__builtin_ctzll(a) : UINT32_MAX)
SCALAR(s_ff1_i32_b64, 2, 1, 1, d = a ? (uint64_t)__builtin_ctzll(a) : UINT32_MAX)
SCALAR(s_flbit_i32_b32, 1, 1, 1, d = a ? (uint64_t)__builtin_clz((uint32_t)a) : UINT32_MAX)
SCALAR(s_flbit_i32_b64, 2, 1, 1, d = a ? (uint64_t)__builtin_clzll(a) : UINT32_MAX)
SCALAR(s_flbit_i32, 1, 1, 1, uint32_t v = (int32_t)a < 0 ? ~(uint32_t)a : (uint32_t)a;
       d = v ? (uint64_t)__builtin_clz(v) : UINT32_MAX)
SCALAR(s_flbit_i32_i64, 2, 1, 1, uint64_t v = (int64_t)a < 0 ? ~a : a;
       d = v ? (uint64_t)__builtin_clzll(v) : UINT32_MAX)
SCALAR(s_sext_i32_i8, 1, 1, 1, d = (uint32_t)(int8_t)a)
SCALAR(s_sext_i32_i16, 1, 1, 1, d = (uint32_t)(int16_t)a)
SCALAR(s_bitset0_b32, 1, 1, 1, d = w->s[i->d] & ~(UINT64_C(1) << (a & 31)))
SCALAR(s_bitset1_b32, 1, 1, 1, d = w->s[i->d] | UINT64_C(1) << (a & 31))
SCALAR(s_abs_i32, 1, 1, 1, d = (int32_t)a < 0 ? 0 - a : a; d = (uint32_t)d; OF(d != 0))
SCALAR(s_getpc_b64, 1, 0, 2, d = w->kernel->text->address + i->site.line + 4)
#define SAVING(name, expression)                                                                                       \
  SCALAR(s_##name##_saveexec_b32, 1, 1, 1, d = exec_becomes(w, expression))                                            \
  SCALAR(s_##name##_saveexec_b64, 2, 1, 2, d = exec_becomes(w, expression))
SAVING(and, a& gcn_exec(w))
SAVING(or, a | gcn_exec(w))
SAVING(xor, a ^ gcn_exec(w))
SAVING(andn2, a & ~gcn_exec(w))
SAVING(andn1, ~a& gcn_exec(w))
SAVING(orn2, a | ~gcn_exec(w))
SCALAR(s_andn2_wrexec_b32, 1, 1, 1, d = a & ~gcn_exec(w); exec_becomes(w, d))
SCALAR(s_andn1_wrexec_b32, 1, 1, 1, d = ~a & gcn_exec(w); exec_becomes(w, d))
SCALAR(s_andn2_wrexec_b64, 2, 1, 2, d = a & ~gcn_exec(w); exec_becomes(w, d))
SCALAR(s_andn1_wrexec_b64, 2, 1, 2, d = ~a & gcn_exec(w); exec_becomes(w, d))
SCALAR(s_add_u32, 1, 2, 1, d = a + b; OF(d >> 32 & 1))
SCALAR(s_sub_u32, 1, 2, 1, d = a - b; OF((uint32_t)a < (uint32_t)b))
SCALAR(s_addc_u32, 1, 2, 1, d = a + b + w->scc; OF(d >> 32 & 1))
SCALAR(s_subb_u32, 1, 2, 1, d = a - b - w->scc; OF((uint32_t)a < (uint64_t)(uint32_t)b + w->scc))
SCALAR(s_add_i32, 1, 2, 1, d = (uint32_t)(a + b); OF(((int64_t)(int32_t)a + (int32_t)b) != (int32_t)d))
SCALAR(s_sub_i32, 1, 2, 1, d = (uint32_t)(a - b); OF(((int64_t)(int32_t)a - (int32_t)b) != (int32_t)d))
SCALAR(s_min_i32, 1, 2, 1, OF((int32_t)a < (int32_t)b); d = w->scc ? a : b)
SCALAR(s_min_u32, 1, 2, 1, OF((uint32_t)a < (uint32_t)b); d = w->scc ? a : b)
SCALAR(s_max_i32, 1, 2, 1, OF((int32_t)a > (int32_t)b); d = w->scc ? a : b)
SCALAR(s_max_u32, 1, 2, 1, OF((uint32_t)a > (uint32_t)b); d = w->scc ? a : b)
SCALAR(s_cselect_b32, 1, 2, 1, d = w->scc ? a : b)
SCALAR(s_cselect_b64, 2, 2, 2, d = w->scc ? a : b)
SCALAR(s_absdiff_i32, 1, 2, 1, int64_t apart = (int64_t)(int32_t)a - (int32_t)b;
       d = (uint32_t)(apart < 0 ? -apart : apart); OF(d != 0))
SCALAR(s_mul_i32, 1, 2, 1, d = (uint32_t)(a * b))
SCALAR(s_mul_hi_u32, 1, 2, 1, d = (uint64_t)(uint32_t)a * (uint32_t)b >> 32)
SCALAR(s_mul_hi_i32, 1, 2, 1, d = (uint64_t)((int64_t)(int32_t)a * (int32_t)b) >> 32)
#define BOTH(name, expression)                                                                                         \
  SCALAR(name##_b32, 1, 2, 1, d = (uint32_t)(expression); OF(d != 0))                                                  \
  SCALAR(name##_b64, 2, 2, 2, d = (expression); OF(d != 0))
BOTH(s_and, a& b)
BOTH(s_or, a | b)
BOTH(s_xor, a ^ b)
BOTH(s_andn2, a & ~b)
BOTH(s_orn2, a | ~b)
BOTH(s_nand, ~(a& b))
BOTH(s_nor, ~(a | b))
BOTH(s_xnor, ~(a ^ b))
// The count has 32 bits where the value has 64.
#define SHIFT(name, dwords, expression)                                                                                \
  static int name(gcn_wave* w, const gcn_insn* i) {                                                                    \
    uint64_t a, b, d;                                                                                                  \
    int code = gcn__read_scalar(w, i, i->s[0], dwords, &a);                                                            \
    if (!code) code = gcn__read_scalar(w, i, i->s[1], 1, &b);                                                          \
    if (code) return code;                                                                                             \
    d = expression;                                                                                                    \
    if (dwords == 1) d = (uint32_t)d;                                                                                  \
    OF(d != 0);                                                                                                        \
    put(w, i->d, d, dwords);                                                                                           \
    ++w->pc;                                                                                                           \
    return GRID_OK;                                                                                                    \
  }
SHIFT(s_lshl_b32, 1, a << (b & 31))
SHIFT(s_lshl_b64, 2, a << (b & 63))
SHIFT(s_lshr_b32, 1, (uint32_t)a >> (b & 31))
SHIFT(s_lshr_b64, 2, a >> (b & 63))
SHIFT(s_ashr_i32, 1, (uint64_t)((int32_t)a >> (b & 31)))
SHIFT(s_ashr_i64, 2, (uint64_t)((int64_t)a >> (b & 63)))
SHIFT(s_bfe_u32, 1, field((uint32_t)a, b & 31, b >> 16 & 0x7f, 32, false))
SHIFT(s_bfe_i32, 1, field((uint32_t)a, b & 31, b >> 16 & 0x7f, 32, true))
SHIFT(s_bfe_u64, 2, field(a, b & 63, b >> 16 & 0x7f, 64, false))
SHIFT(s_bfe_i64, 2, field(a, b & 63, b >> 16 & 0x7f, 64, true))
SCALAR(s_bfm_b32, 1, 2, 1, d = (uint32_t)(((UINT64_C(1) << (a & 31)) - 1) << (b & 31)))
#define LSHL_ADD(n)                                                                                                    \
  SCALAR(s_lshl##n##_add_u32, 1, 2, 1, d = ((uint64_t)(uint32_t)a << n) + (uint32_t)b; OF(d >> 32 != 0);               \
         d = (uint32_t)d)
LSHL_ADD(1)
LSHL_ADD(2)
LSHL_ADD(3)
LSHL_ADD(4)
SCALAR(s_pack_ll_b32_b16, 1, 2, 1, d = (a & 0xffff) | (b & 0xffff) << 16)
SCALAR(s_pack_lh_b32_b16, 1, 2, 1, d = (a & 0xffff) | (b & 0xffff0000))
SCALAR(s_pack_hh_b32_b16, 1, 2, 1, d = (a >> 16 & 0xffff) | (b & 0xffff0000))
SCALAR(s_movk_i32, 1, 0, 1, d = (uint32_t)(int16_t)i->imm)
SCALAR(s_cmovk_i32, 1, 0, 1, d = w->scc ? (uint32_t)(int16_t)i->imm : w->s[i->d])
SCALAR(s_addk_i32, 1, 0, 1, d = (uint32_t)(w->s[i->d] + (uint32_t)(int16_t)i->imm);
       OF((int64_t)(int32_t)w->s[i->d] + (int16_t)i->imm != (int32_t)d))
SCALAR(s_mulk_i32, 1, 0, 1, d = (uint32_t)((int32_t)w->s[i->d] * (int64_t)(int16_t)i->imm))
#define COMPARE(name, operator)                                                                                        \
  SCALAR(s_cmp_##name##_i32, 1, 2, 0, OF((int32_t)a operator(int32_t) b))                                              \
  SCALAR(s_cmp_##name##_u32, 1, 2, 0, OF((uint32_t)a operator(uint32_t) b))                                            \
  SCALAR(s_cmpk_##name##_i32, 1, 0, 0, OF((int32_t)w->s[i->d] operator(int32_t)(int16_t) i->imm))                      \
  SCALAR(s_cmpk_##name##_u32, 1, 0, 0, OF(w->s[i->d] operator i->imm))
COMPARE(eq, ==)
COMPARE(lg, !=)
COMPARE(gt, >)
COMPARE(ge, >=)
COMPARE(lt, <)
COMPARE(le, <=)
SCALAR(s_cmp_eq_u64, 2, 2, 0, OF(a == b))
SCALAR(s_cmp_lg_u64, 2, 2, 0, OF(a != b))
SCALAR(s_bitcmp0_b32, 1, 2, 0, OF(!(a >> (b & 31) & 1)))
SCALAR(s_bitcmp1_b32, 1, 2, 0, OF(a >> (b & 31) & 1))
#define BRANCH(name, condition)                                                                                        \
  static int name(gcn_wave* w, const gcn_insn* i) {                                                                    \
    w->pc = (condition) ? i->target : w->pc + 1;                                                                       \
    return GRID_OK;                                                                                                    \
  }
BRANCH(s_branch, true)
BRANCH(s_cbranch_scc0, !w->scc) BRANCH(s_cbranch_scc1, w->scc) BRANCH(s_cbranch_vccz, !gcn_vcc(w))
    BRANCH(s_cbranch_vccnz, gcn_vcc(w)) BRANCH(s_cbranch_execz, !gcn_exec(w)) BRANCH(s_cbranch_execnz, gcn_exec(w))

        static int jump_to(gcn_wave* w, const gcn_insn* i, uint64_t address) {
  const gcn_text* t = w->kernel->text;
  uint64_t at = (address - t->address) / 4;
  if (address % 4 || at >= t->words || t->index[at] == UINT32_MAX)
    return gcn__stop(w, i, -1, GRID_BAD_ADDRESS, "it goes to %#llx, where no instruction begins",
                     (unsigned long long)address);
  w->pc = t->index[at];
  return GRID_OK;
}

static int s_setpc_b64(gcn_wave* w, const gcn_insn* i) {
  uint64_t to;
  int code = gcn__read_scalar(w, i, i->s[0], 2, &to);
  return code ? code : jump_to(w, i, to);
}

static int s_swappc_b64(gcn_wave* w, const gcn_insn* i) {
  uint64_t to;
  int code = gcn__read_scalar(w, i, i->s[0], 2, &to);
  if (code) return code;
  put(w, i->d, w->kernel->text->address + i->site.line + 4, 2);
  return jump_to(w, i, to);
}

static int nothing(gcn_wave* w, const gcn_insn* i) {
  (void)i;
  ++w->pc;
  return GRID_OK;
}

static int s_endpgm(gcn_wave* w, const gcn_insn* i) {
  (void)i;
  w->done = true;
  return GRID_OK;
}

static int s_barrier(gcn_wave* w, const gcn_insn* i) {
  (void)i;
  ++w->pc;
  w->at_barrier = true;
  return GRID_OK;
}

static int s_trap(gcn_wave* w, const gcn_insn* i) { return gcn__stop(w, i, -1, GRID_TRAP, "trap"); }

// LDS answers in order, scalar loads in any. What a field has room for at most is no wait.
static int wait_for(gcn_wave* w, uint32_t vm, uint32_t lgkm, uint32_t most_lgkm) {
  if (vm < 63 && w->v_issued - w->v_done > vm) w->v_done = w->v_issued - vm;
  uint32_t scalars = w->s_issued - w->s_done;
  if (lgkm == 0) {
    w->l_done = w->l_issued;
    w->s_done = w->s_issued;
  } else if (lgkm < most_lgkm && !scalars && w->l_issued - w->l_done > lgkm) {
    w->l_done = w->l_issued - lgkm;
  }
  ++w->pc;
  return GRID_OK;
}

// vmcnt lies in bits 3:0 and 15:14, lgkmcnt in 11:8.
static int s_waitcnt(gcn_wave* w, const gcn_insn* i) {
  return wait_for(w, (i->imm & 15) | (i->imm >> 14 & 3) << 4, i->imm >> 8 & 15, 15);
}

// RDNA 3 ISA, 16.5: vmcnt in 15:10, lgkmcnt in 9:4; stores are waited for by themselves.
static int s_waitcnt_rdna(gcn_wave* w, const gcn_insn* i) { return wait_for(w, i->imm >> 10, i->imm >> 4 & 63, 63); }

static int s_waitcnt_vscnt(gcn_wave* w, const gcn_insn* i) {
  uint64_t plus = 0;
  int code = gcn__read_scalar(w, i, i->d, 1, &plus);
  uint32_t most = (i->imm + (uint32_t)plus) & 63;
  if (code) return code;
  if (most < 63 && w->t_issued - w->t_done > most) w->t_done = w->t_issued - most;
  ++w->pc;
  return GRID_OK;
}

#define ROW(name)                                                                                                      \
  { #name, name }
#define BOTH_ROWS(name)                                                                                                \
  {#name "_b32", name##_b32}, { #name "_b64", name##_b64 }
#define COMPARE_ROWS(name)                                                                                             \
  {"s_cmp_" #name "_i32", s_cmp_##name##_i32}, {"s_cmp_" #name "_u32", s_cmp_##name##_u32},                            \
      {"s_cmpk_" #name "_i32", s_cmpk_##name##_i32}, {                                                                 \
    "s_cmpk_" #name "_u32", s_cmpk_##name##_u32                                                                        \
  }
static const struct {
  const char* name;
  gcn_run run;
} rows[] = {ROW(s_mov_b32),
            ROW(s_mov_b64),
            ROW(s_cmov_b32),
            ROW(s_cmov_b64),
            ROW(s_brev_b64),
            ROW(s_absdiff_i32),
            ROW(s_not_b32),
            ROW(s_not_b64),
            ROW(s_brev_b32),
            ROW(s_bcnt1_i32_b32),
            ROW(s_bcnt1_i32_b64),
            ROW(s_ff1_i32_b32),
            ROW(s_ff1_i32_b64),
            ROW(s_flbit_i32_b32),
            ROW(s_flbit_i32_b64),
            ROW(s_flbit_i32),
            ROW(s_flbit_i32_i64),
            ROW(s_sext_i32_i8),
            ROW(s_sext_i32_i16),
            ROW(s_bitset0_b32),
            ROW(s_bitset1_b32),
            ROW(s_abs_i32),
            ROW(s_getpc_b64),
            ROW(s_setpc_b64),
            ROW(s_swappc_b64),
            BOTH_ROWS(s_and_saveexec),
            BOTH_ROWS(s_or_saveexec),
            BOTH_ROWS(s_xor_saveexec),
            BOTH_ROWS(s_andn2_saveexec),
            BOTH_ROWS(s_andn1_saveexec),
            BOTH_ROWS(s_orn2_saveexec),
            BOTH_ROWS(s_andn2_wrexec),
            BOTH_ROWS(s_andn1_wrexec),
            ROW(s_add_u32),
            ROW(s_sub_u32),
            ROW(s_addc_u32),
            ROW(s_subb_u32),
            ROW(s_add_i32),
            ROW(s_sub_i32),
            ROW(s_min_i32),
            ROW(s_min_u32),
            ROW(s_max_i32),
            ROW(s_max_u32),
            ROW(s_cselect_b32),
            ROW(s_cselect_b64),
            ROW(s_mul_i32),
            ROW(s_mul_hi_u32),
            ROW(s_mul_hi_i32),
            BOTH_ROWS(s_and),
            BOTH_ROWS(s_or),
            BOTH_ROWS(s_xor),
            BOTH_ROWS(s_andn2),
            BOTH_ROWS(s_orn2),
            BOTH_ROWS(s_nand),
            BOTH_ROWS(s_nor),
            BOTH_ROWS(s_xnor),
            BOTH_ROWS(s_lshl),
            BOTH_ROWS(s_lshr),
            ROW(s_ashr_i32),
            ROW(s_ashr_i64),
            ROW(s_bfe_u32),
            ROW(s_bfe_i32),
            ROW(s_bfe_u64),
            ROW(s_bfe_i64),
            ROW(s_bfm_b32),
            ROW(s_lshl1_add_u32),
            ROW(s_lshl2_add_u32),
            ROW(s_lshl3_add_u32),
            ROW(s_lshl4_add_u32),
            ROW(s_pack_ll_b32_b16),
            ROW(s_pack_lh_b32_b16),
            ROW(s_pack_hh_b32_b16),
            ROW(s_movk_i32),
            ROW(s_cmovk_i32),
            ROW(s_addk_i32),
            ROW(s_mulk_i32),
            COMPARE_ROWS(eq),
            COMPARE_ROWS(lg),
            COMPARE_ROWS(gt),
            COMPARE_ROWS(ge),
            COMPARE_ROWS(lt),
            COMPARE_ROWS(le),
            ROW(s_cmp_eq_u64),
            ROW(s_cmp_lg_u64),
            ROW(s_bitcmp0_b32),
            ROW(s_bitcmp1_b32),
            ROW(s_branch),
            ROW(s_cbranch_scc0),
            ROW(s_cbranch_scc1),
            ROW(s_cbranch_vccz),
            ROW(s_cbranch_vccnz),
            ROW(s_cbranch_execz),
            ROW(s_cbranch_execnz),
            ROW(s_endpgm),
            ROW(s_barrier),
            ROW(s_trap),
            ROW(s_waitcnt),
            ROW(s_waitcnt_rdna),
            ROW(s_waitcnt_vscnt),
            {"s_delay_alu", nothing},
            {"s_clause", nothing},
            {"s_set_inst_prefetch_distance", nothing},
            {"s_waitcnt_depctr", nothing},
            {"s_version", nothing},
            {"s_sendmsg", nothing},
            {"s_nop", nothing},
            {"s_sleep", nothing},
            {"s_setprio", nothing},
            {"s_code_end", s_endpgm},
            {"s_icache_inv", nothing},
            {"s_set_gpr_idx_off", nothing}};

bool gcn__scalar(gcn_insn* i) {
  if (i->encoding > GCN_SOPP) return false;
  for (size_t k = 0; k < sizeof rows / sizeof *rows; ++k)
    if (!strcmp(rows[k].name, i->name)) {
      i->run = rows[k].run;
      i->class = i->encoding == GCN_SOPP ? GRID_CLASS_CONTROL : GRID_CLASS_INTEGER;
      if (i->run == s_barrier) i->class = GRID_CLASS_BARRIER;
      return true;
    }
  return false;
}
