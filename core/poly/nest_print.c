// Nests to text, in the one form that nest_read.c reads back.
#include "core/poly/nest.h"

#include <math.h>
#include <stdio.h>

void pb_access_print_type(pb_text* text, const pb_access* access) {
  pb_text_add(text, "memref<");
  for (int r = 0; r < access->rank; ++r) pb_text_add(text, "%lldx", (long long)access->shape[r]);
  pb_text_add(text, "%s", pb_type_name(access->type));
  if (access->space) pb_text_add(text, ", \"%s\"", access->space);
  pb_text_add(text, ">");
}

// One index as an affine expression over SSA names; affine.load takes it as it stands.
static void print_index(pb_text* text, const pb_index* index, int first) {
  bool any = false;
  for (int pass = 0; pass < 2; ++pass)
    for (int k = 0; k < (pass ? PB_NEST_DIMS : PB_NEST_OUTERS); ++k) {
      int64_t coef = index->coef[pass ? k : PB_NEST_DIMS + k];
      if (!coef) continue;
      if (any) pb_text_add(text, " + ");
      any = true;
      if (pass)
        pb_text_add(text, "%%i%d", first + k);
      else
        pb_text_add(text, "%%o%d", k);
      if (coef != 1) pb_text_add(text, " * %lld", (long long)coef);
    }
  if (!any)
    pb_text_add(text, "%lld", (long long)index->cst);
  else if (index->cst)
    pb_text_add(text, " + %lld", (long long)index->cst);
}

static void print_place(pb_text* text, const pb_access* access, int first) {
  pb_text_add(text, "%s[", access->ref);
  for (int r = 0; r < access->rank; ++r) {
    if (r) pb_text_add(text, ", ");
    print_index(text, &access->index[r], first);
  }
  pb_text_add(text, "] : ");
  pb_access_print_type(text, access);
}

void pb_number_print(pb_text* text, pb_type type, double value) {
  if (!pb_type_is_float(type))
    pb_text_add(text, "%lld", (long long)value);
  else if (isfinite(value))
    pb_text_add(text, "%.17e", value);
  else if (type == PB_F64)
    pb_text_add(text, "0x%s", isnan(value) ? "7FF8000000000000" : value > 0 ? "7FF0000000000000" : "FFF0000000000000");
  else
    pb_text_add(text, "0x%08X", isnan(value) ? 0x7fc00000u : value > 0 ? 0x7f800000u : 0xff800000u);
}

void pb_constant_print(pb_text* text, const pb_expr_node* node) {
  if (pb_type_is_float(node->type))
    pb_number_print(text, node->type, node->value);
  else
    pb_text_add(text, "%lld", (long long)node->integer);
}

static void print_constant(pb_text* text, pb_type type, double value) {
  pb_text_add(text, "arith.constant ");
  pb_number_print(text, type, value);
  pb_text_add(text, " : %s", pb_type_name(type));
}

// The range tests of a box: an affine set over the indices that can leave the shape.
static void print_box(pb_text* text, const pb_nest* nest, const pb_access* access, int first, const char* name,
                      int indent) {
  int names[PB_NEST_COLS], count = 0;
  for (int c = 0; c < PB_NEST_COLS; ++c)
    for (int r = 0; r < access->rank; ++r)
      if (access->index[r].coef[c]) {
        names[count++] = c;
        break;
      }
  pb_text_add(text, "%s = affine.if affine_set<(", name);
  for (int k = 0; k < count; ++k) pb_text_add(text, "%sd%d", k ? ", " : "", k);
  pb_text_add(text, ") : (");
  bool any = false;
  for (int r = 0; r < access->rank; ++r) {
    if (!pb_index_can_leave(nest, &access->index[r], access->shape[r])) continue;
    for (int side = 0; side < 2; ++side) {
      int64_t sign = side ? -1 : 1;
      pb_text_add(text, "%s", any ? ", " : "");
      any = true;
      for (int k = 0; k < count; ++k)
        if (access->index[r].coef[names[k]])
          pb_text_add(text, "d%d * %lld + ", k, (long long)(sign * access->index[r].coef[names[k]]));
      pb_text_add(text, "%lld >= 0", (long long)(sign * access->index[r].cst + (side ? access->shape[r] - 1 : 0)));
    }
  }
  if (!any) pb_text_add(text, "0 == 0");
  pb_text_add(text, ")>(");
  for (int k = 0; k < count; ++k) {
    if (names[k] < PB_NEST_DIMS)
      pb_text_add(text, "%s%%i%d", k ? ", " : "", first + names[k]);
    else
      pb_text_add(text, "%s%%o%d", k ? ", " : "", names[k] - PB_NEST_DIMS);
  }
  pb_text_add(text, ") -> %s {\n", pb_type_name(access->type));
  pb_text_indent(text, indent + 1);
  pb_text_add(text, "%s_in = affine.load ", name);
  print_place(text, access, first);
  pb_text_add(text, "\n");
  pb_text_indent(text, indent + 1);
  pb_text_add(text, "affine.yield %s_in : %s\n", name, pb_type_name(access->type));
  pb_text_indent(text, indent);
  pb_text_add(text, "} else {\n");
  pb_text_indent(text, indent + 1);
  pb_text_add(text, "%s_out = ", name);
  print_constant(text, access->type, access->fill);
  pb_text_add(text, "\n");
  pb_text_indent(text, indent + 1);
  pb_text_add(text, "affine.yield %s_out : %s\n", name, pb_type_name(access->type));
  pb_text_indent(text, indent);
  pb_text_add(text, "}\n");
}

static void print_type(pb_text* text, pb_type type, int lanes) {
  if (lanes > 1)
    pb_text_add(text, "vector<%dx%s>", lanes, pb_type_name(type));
  else
    pb_text_add(text, "%s", pb_type_name(type));
}

void pb_op_print_types(pb_text* text, const pb_expr_node* expr, int n, int lanes) {
  const pb_expr_node* node = &expr[n];
  if (pb_op_converts(node->op) || node->op == PB_OP_SELECT || pb_op_compares(node->op))
    print_type(text, expr[node->args[0]].type, lanes);
  if (pb_op_compares(node->op)) return;
  if (pb_op_converts(node->op)) pb_text_add(text, " to ");
  if (node->op == PB_OP_SELECT) pb_text_add(text, ", ");
  print_type(text, node->type, lanes);
}

// An access of which one index adds a number from the body: all are written out, and the last line is the load, or the
// store of node `value`.
static void print_gather(pb_text* text, const pb_access* access, int first, int serial, int index, int value,
                         const char* name, int indent) {
  for (int r = 0; r < access->rank; ++r) {
    pb_text_add(text, "%s_%d = affine.apply affine_map<(", name, r);
    for (int c = 0, any = 0; c < PB_NEST_COLS; ++c)
      if (access->index[r].coef[c]) pb_text_add(text, "%sd%d", any++ ? ", " : "", c);
    pb_text_add(text, ") -> (%lld", (long long)access->index[r].cst);
    for (int c = 0; c < PB_NEST_COLS; ++c)
      if (access->index[r].coef[c]) pb_text_add(text, " + d%d * %lld", c, (long long)access->index[r].coef[c]);
    pb_text_add(text, ")>(");
    for (int c = 0, any = 0; c < PB_NEST_COLS; ++c) {
      if (!access->index[r].coef[c]) continue;
      bool own = c < PB_NEST_DIMS;
      pb_text_add(text, "%s%%%c%d", any++ ? ", " : "", own ? 'i' : 'o', own ? first + c : c - PB_NEST_DIMS);
    }
    pb_text_add(text, ")\n");
    pb_text_indent(text, indent);
  }
  int g = access->gathered - 1;
  pb_text_add(text, "%s_at = arith.addi %s_%d, %%e%d_%d : index\n", name, name, g, serial, index);
  pb_text_indent(text, indent);
  if (value >= 0)
    pb_text_add(text, "memref.store %%e%d_%d, %s[", serial, value, access->ref);
  else
    pb_text_add(text, "%s = memref.load %s[", name, access->ref);
  for (int r = 0; r < access->rank; ++r)
    if (r == g)
      pb_text_add(text, "%s%s_at", r ? ", " : "", name);
    else
      pb_text_add(text, "%s%s_%d", r ? ", " : "", name, r);
  pb_text_add(text, "] : ");
  pb_access_print_type(text, access);
  if (value < 0) pb_text_add(text, "\n");
}

static void print_node(pb_text* text, const pb_nest* nest, int id, int first, int serial, int indent) {
  const pb_expr_node* n = &nest->expr[id];
  pb_text_indent(text, indent);
  char name[32];
  snprintf(name, sizeof name, "%%e%d_%d", serial, id);
  if (n->op == PB_OP_LOAD && nest->access[n->operand].boxed) {
    print_box(text, nest, &nest->access[n->operand], first, name, indent);
    return;
  }
  if (n->op == PB_OP_LOAD && n->args[0] >= 0) {
    print_gather(text, &nest->access[n->operand], first, serial, n->args[0], -1, name, indent);
    return;
  }
  if (n->op == PB_OP_INDEX) {
    pb_text_add(text, "%s = arith.index_cast %%i%d : index to i64\n", name, first + n->operand);
    return;
  }
  pb_text_add(text, "%s = ", name);
  if (n->op == PB_OP_LOAD) {
    pb_text_add(text, "affine.load ");
    print_place(text, &nest->access[n->operand], first);
  } else if (n->op == PB_OP_CONST) {
    pb_text_add(text, "arith.constant ");
    pb_constant_print(text, n);
    pb_text_add(text, " : %s", pb_type_name(n->type));
  } else {
    pb_text_add(text, "%s ", pb_node_spelling(nest->expr, id));
    for (int k = 0; k < 3 && n->args[k] >= 0; ++k) pb_text_add(text, "%s%%e%d_%d", k ? ", " : "", serial, n->args[k]);
    pb_text_add(text, " : ");
    pb_op_print_types(text, nest->expr, id, 1);
  }
  pb_text_add(text, "\n");
}

void pb_nest_print(pb_text* text, const pb_nest* nest, int indent, int* serial) {
  int first = *serial, id = *serial;
  int loops = nest->dim_count ? nest->dim_count : 1; // a lone store gets a loop of one iteration, to hang the names on
  *serial += loops + 1;
  for (int d = 0; d < loops; ++d) {
    pb_text_indent(text, indent + d);
    pb_text_add(text, "affine.for %%i%d = 0 to %lld {\n", first + d,
                nest->dim_count ? (long long)nest->extent[d] : 1LL);
  }
  int inner = indent + loops;
  for (int k = 0; k < nest->expr_count; ++k) print_node(text, nest, k, first, id, inner);
  const pb_access* store = &nest->access[nest->access_count - 1];
  int value = nest->expr_count - 1;
  bool sums = pb_reduce_combines(nest->reduce);
  if (sums) {
    pb_text_indent(text, inner);
    pb_text_add(text, "%%old%d = affine.load ", id);
    print_place(text, store, first);
    pb_text_add(text, "\n");
    pb_text_indent(text, inner);
    pb_text_add(text, "%%new%d = %s %%old%d, %%e%d_%d : %s\n", id,
                pb_op_spelling(pb_reduce_op(nest->reduce), store->type), id, id, value, pb_type_name(store->type));
  }
  pb_text_indent(text, inner);
  if (store->gathered) {
    char name[32];
    snprintf(name, sizeof name, "%%st%d", id);
    print_gather(text, store, first, id, nest->stored_at, value, name, inner);
  } else if (sums) {
    pb_text_add(text, "affine.store %%new%d, ", id);
    print_place(text, store, first);
  } else {
    pb_text_add(text, "affine.store %%e%d_%d, ", id, value);
    print_place(text, store, first);
  }
  for (int d = loops - 1; d >= 0; --d) {
    pb_text_add(text, "\n");
    pb_text_indent(text, indent + d);
    pb_text_add(text, "}");
  }
  pb_text_add(text, " {pb.nest = ");
  pb_text_add_quoted(text, nest->name ? nest->name : "");
  pb_text_add(text, ", pb.part = ");
  pb_text_add_quoted(text, nest->part ? nest->part : "");
  if (nest->macs) pb_text_add(text, ", pb.macs = %lld : i64", (long long)nest->macs);
  if (nest->stream) pb_text_add(text, ", pb.stream = %d : i64", nest->stream);
  if (nest->reduce == PB_ACC_BODY) pb_text_add(text, ", pb.body");
  if (nest->kept) pb_text_add(text, ", pb.kept = %d : i64", nest->kept);
  pb_text_add(text, "}\n");
}
