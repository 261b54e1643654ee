// What the operations of expressions are called in MLIR: one table for the printer and the reader of nests.
#include "core/poly/nest.h"

#include <string.h>

typedef struct spelling {
  const char *of_float, *of_integer;
} spelling;

static const spelling spellings[PB_OP_COUNT] = {
    [PB_OP_ADD] = {"arith.addf", "arith.addi"},
    [PB_OP_SUB] = {"arith.subf", "arith.subi"},
    [PB_OP_MUL] = {"arith.mulf", "arith.muli"},
    [PB_OP_DIV] = {"arith.divf", "arith.divsi"},
    [PB_OP_DIVU] = {NULL, "arith.divui"},
    [PB_OP_REM] = {NULL, "arith.remsi"},
    [PB_OP_REMU] = {NULL, "arith.remui"},
    [PB_OP_FMA] = {"math.fma", NULL},
    [PB_OP_MAX] = {"arith.maxnumf", "arith.maxsi"},
    [PB_OP_MIN] = {"arith.minnumf", "arith.minsi"},
    [PB_OP_MAXIMUM] = {"arith.maximumf", NULL},
    [PB_OP_MINIMUM] = {"arith.minimumf", NULL},
    [PB_OP_MAXU] = {NULL, "arith.maxui"},
    [PB_OP_MINU] = {NULL, "arith.minui"},
    [PB_OP_SEXT] = {NULL, "arith.extsi"},
    [PB_OP_ZEXT] = {NULL, "arith.extui"},
    [PB_OP_TRUNC] = {NULL, "arith.trunci"},
    [PB_OP_XOR] = {NULL, "arith.xori"},
    [PB_OP_AND] = {NULL, "arith.andi"},
    [PB_OP_OR] = {NULL, "arith.ori"},
    [PB_OP_SHL] = {NULL, "arith.shli"},
    [PB_OP_SHR] = {NULL, "arith.shrsi"},
    [PB_OP_SHRU] = {NULL, "arith.shrui"},
    [PB_OP_POPCOUNT] = {NULL, "math.ctpop"},
    [PB_OP_CLZ] = {NULL, "math.ctlz"},
    [PB_OP_BITCAST] = {"arith.bitcast", "arith.bitcast"},
    [PB_OP_LESS] = {"arith.cmpf olt,", "arith.cmpi slt,"},
    [PB_OP_LESS_EQUAL] = {"arith.cmpf ole,", "arith.cmpi sle,"},
    [PB_OP_LESSU] = {NULL, "arith.cmpi ult,"},
    [PB_OP_LESS_EQUALU] = {NULL, "arith.cmpi ule,"},
    [PB_OP_EQUAL] = {"arith.cmpf oeq,", "arith.cmpi eq,"},
    [PB_OP_SELECT] = {"arith.select", "arith.select"},
    [PB_OP_SITOFP] = {"arith.sitofp", NULL},
    [PB_OP_UITOFP] = {"arith.uitofp", NULL},
    [PB_OP_FPTOSI8] = {NULL, "arith.fptosi"},
    [PB_OP_FPTOSI] = {NULL, "arith.fptosi"},
    [PB_OP_FPTOUI] = {NULL, "arith.fptoui"},
    [PB_OP_EXTF] = {"arith.extf", NULL},
    [PB_OP_TRUNCF] = {"arith.truncf", NULL},
    [PB_OP_ROUNDEVEN] = {"math.roundeven", NULL},
    [PB_OP_FLOOR] = {"math.floor", NULL},
    [PB_OP_CEIL] = {"math.ceil", NULL},
    [PB_OP_WHOLE] = {"math.trunc", NULL},
    [PB_OP_NEG] = {"arith.negf", NULL},
    [PB_OP_ABS] = {"math.absf", NULL},
    [PB_OP_SQRT] = {"math.sqrt", NULL},
    [PB_OP_EXP2] = {"math.exp2", NULL},
    [PB_OP_RSQRT] = {"math.rsqrt", NULL},
    [PB_OP_EXP] = {"math.exp", NULL},
    [PB_OP_EXPM1] = {"math.expm1", NULL},
    [PB_OP_LOG] = {"math.log", NULL},
    [PB_OP_LOG2] = {"math.log2", NULL},
    [PB_OP_LOG1P] = {"math.log1p", NULL},
    [PB_OP_TANH] = {"math.tanh", NULL},
    [PB_OP_ERF] = {"math.erf", NULL},
    [PB_OP_SIN] = {"math.sin", NULL},
    [PB_OP_COS] = {"math.cos", NULL},
    [PB_OP_TAN] = {"math.tan", NULL},
    [PB_OP_ATAN] = {"math.atan", NULL},
    [PB_OP_ATAN2] = {"math.atan2", NULL},
    [PB_OP_CBRT] = {"math.cbrt", NULL},
    [PB_OP_POW] = {"math.powf", NULL},
};

const char* pb_op_spelling(pb_op op, pb_type type) {
  if (op == PB_OP_SEXT && type == PB_INDEX) return "arith.index_cast";
  return pb_type_is_float(type) ? spellings[op].of_float : spellings[op].of_integer;
}

const char* pb_node_spelling(const pb_expr_node* expr, int n) {
  const pb_expr_node* node = &expr[n];
  return pb_op_spelling(node->op, pb_op_compares(node->op) ? expr[node->args[0]].type : node->type);
}

// Comparisons are told apart by their predicate, conversions to integers by their type: neither is found here.
pb_op pb_op_spelt(const char* name, size_t length) {
  for (int op = 0; op < PB_OP_COUNT; ++op) {
    const char* both[2] = {spellings[op].of_float, spellings[op].of_integer};
    for (int k = 0; k < 2; ++k)
      if (op != PB_OP_FPTOSI8 && op != PB_OP_FPTOSI && both[k] && strlen(both[k]) == length &&
          !memcmp(both[k], name, length))
        return (pb_op)op;
  }
  return length == strlen("arith.index_cast") && !memcmp(name, "arith.index_cast", length) ? PB_OP_SEXT : PB_OP_OTHER;
}
