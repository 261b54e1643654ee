// A kernel for each nest: plain loops, the first that stores elsewhere in each iteration shared among threads.
//
//   func.func @loops0(%a0: memref<..xf32>, %a1: .., %sizes: memref<..xi64>)       tensors, flat; numbers by place
//     %q0 = number 0 of the block
//     %lo:2 = call @pb_partition(%q0)
//     for %i0 = %lo#0 to %lo#1                                                    its share
//       for %i1 = 0 to %q1                                                        all other loops
//
// A sum keeps its order. Where the last index of what it stores runs along neighbours, that loop is the innermost,
// which LLVM takes in vectors; else the sum is carried in a register around the loops that it is over.
#include "core/open/open.h"

#include <stdlib.h>
#include <string.h>

#define FLAT "1099511627776" // elements of a memref that stands for any number of them
enum { MOST_SIZES = 2048 };

typedef struct printer {
  pb_open_program* open;
  const pb_nest* n;
  pb_open_nest z;
  pb_text head, body;
  int names[MOST_SIZES], name_count; // sizes by name
  int taken[MOST_SIZES], taken_count;
  int order[PB_NEST_DIMS], outer; // loops from outside to inside; so many in front of a sum in a register
  bool in_register, wide;         // the sum: in f64, of f32, for it is one of any number of terms in turn
  int shared, serial, depth;      // shared: a dim, -1
} printer;

// The name of a size as an index.
static int name_of(printer* p, int size) {
  for (int k = 0; k < p->name_count; ++k)
    if (p->names[k] == size) return k;
  int k = p->name_count++;
  int64_t number;
  p->names[k] = size;
  if (pb_size_is_number(&p->open->sizes, size, &number)) {
    pb_text_add(&p->head, "  %%q%d = arith.constant %lld : index\n", k, (long long)number);
    return k;
  }
  pb_text_add(&p->head,
              "  %%w%d = arith.constant %d : index\n  %%l%d = memref.load %%sizes[%%w%d] : memref<" FLAT
              "xi64>\n  %%q%d = arith.index_cast %%l%d : i64 to index\n",
              k, p->taken_count, k, k, k, k);
  p->taken[p->taken_count++] = size;
  return k;
}

static bool is_number(const printer* p, int size, int64_t number) {
  int64_t is;
  return pb_size_is_number(&p->open->sizes, size, &is) && is == number;
}

static void line(printer* p) { pb_text_indent(&p->body, p->depth); }

// sum of iterations by their steps, from `first` on; the name's number.
static int address(printer* p, int first, const int* step) {
  int sum = p->serial++;
  line(p);
  pb_text_add(&p->body, "%%t%d = arith.addi %%q%d, %%q0 : index\n", sum, name_of(p, first));
  for (int d = 0; d < p->n->dim_count; ++d) {
    if (is_number(p, step[d], 0)) continue;
    int part = p->serial++, more = p->serial++;
    line(p);
    pb_text_add(&p->body, "%%t%d = arith.muli %%i%d, %%q%d : index\n", part, d, name_of(p, step[d]));
    line(p);
    pb_text_add(&p->body, "%%t%d = arith.addi %%t%d, %%t%d : index\n", more, sum, part);
    sum = more;
  }
  return sum;
}

static const char* type_of(const printer* p, int access) { return pb_type_name(p->n->access[access].type); }

// Where access a goes; `node`: what its computed index adds, -1.
static int place(printer* p, int a, int node) {
  int at = address(p, p->z.first[a], p->z.step[a]), g = p->n->access[a].gathered - 1;
  if (g < 0) return at;
  int part = p->serial++, sum = p->serial++;
  line(p);
  pb_text_add(&p->body, "%%t%d = arith.muli %%e%d, %%q%d : index\n", part, node, name_of(p, p->z.row[a][g]));
  line(p);
  pb_text_add(&p->body, "%%t%d = arith.addi %%t%d, %%t%d : index\n", sum, at, part);
  return sum;
}

static void print_memref(printer* p, int a) { pb_text_add(&p->body, "memref<" FLAT "x%s>", type_of(p, a)); }

// Whether all indices of a box are inside, as an i1.
static int inside(printer* p, int a) {
  int all = -1;
  for (int r = 0; r < p->n->access[a].rank; ++r) {
    int at = address(p, p->z.start[a][r], p->z.coef[a][r]);
    int is = p->serial++; // below 0 is far up
    line(p);
    pb_text_add(&p->body, "%%t%d = arith.cmpi ult, %%t%d, %%q%d : index\n", is, at, name_of(p, p->z.shape[a][r]));
    if (all >= 0) {
      int both = p->serial++;
      line(p);
      pb_text_add(&p->body, "%%t%d = arith.andi %%t%d, %%t%d : i1\n", both, all, is);
      is = both;
    }
    all = is;
  }
  return all;
}

static int value_of(const printer* p, int a) { return p->open->program->value_of[p->n - p->open->program->nests][a]; }

// The argument by which the access goes: the last one where that is of the same tensor, which LLVM is to know.
static int argument_of(const printer* p, int a) {
  int store = p->n->access_count - 1;
  return value_of(p, a) == value_of(p, store) ? store : a;
}

static void print_load(printer* p, int e) {
  int a = p->n->expr[e].operand;
  const pb_access* x = &p->n->access[a];
  bool boxed = x->boxed && x->rank;
  if (boxed) {
    int is = inside(p, a);
    line(p);
    pb_text_add(&p->body, "%%e%d = scf.if %%t%d -> (%s) {\n", e, is, type_of(p, a));
    ++p->depth;
  }
  int at = place(p, a, p->n->expr[e].args[0]);
  line(p);
  pb_text_add(&p->body, boxed ? "%%b%d" : "%%e%d", e);
  pb_text_add(&p->body, " = memref.load %%a%d[%%t%d] : ", argument_of(p, a), at);
  print_memref(p, a);
  pb_text_add(&p->body, "\n");
  if (!boxed) return;
  line(p);
  pb_text_add(&p->body, "scf.yield %%b%d : %s\n", e, type_of(p, a));
  --p->depth;
  line(p);
  pb_text_add(&p->body, "} else {\n");
  ++p->depth;
  line(p);
  pb_text_add(&p->body, "%%f%d = arith.constant ", e);
  pb_number_print(&p->body, x->type, x->fill);
  pb_text_add(&p->body, " : %s\n", type_of(p, a));
  line(p);
  pb_text_add(&p->body, "scf.yield %%f%d : %s\n", e, type_of(p, a));
  --p->depth;
  line(p);
  pb_text_add(&p->body, "}\n");
}

// A size as a float, or 1 by it.
static void print_float(printer* p, int e, int name, bool reciprocal) {
  int wide = p->serial++, number = p->serial++, one = p->serial++;
  const char* type = pb_type_name(p->n->expr[e].type);
  pb_text_add(&p->body, "%%t%d = arith.index_cast %%q%d : index to i64\n", wide, name);
  line(p);
  if (reciprocal)
    pb_text_add(&p->body, "%%t%d = ", number);
  else
    pb_text_add(&p->body, "%%e%d = ", e);
  pb_text_add(&p->body, "arith.sitofp %%t%d : i64 to %s\n", wide, type);
  if (!reciprocal) return;
  line(p);
  pb_text_add(&p->body, "%%t%d = arith.constant 1.0 : %s\n", one, type);
  line(p);
  pb_text_add(&p->body, "%%e%d = arith.divf %%t%d, %%t%d : %s\n", e, one, number, type);
}

// A constant of the body that is a size.
static void print_size(printer* p, int e, int size, bool reciprocal) {
  int name = name_of(p, size), wide = p->serial++;
  const char* type = pb_type_name(p->n->expr[e].type);
  line(p);
  if (pb_type_is_float(p->n->expr[e].type)) {
    print_float(p, e, name, reciprocal);
    return;
  }
  if (p->n->expr[e].type == PB_INDEX) {
    pb_text_add(&p->body, "%%e%d = arith.addi %%q%d, %%q0 : index\n", e, name);
    return;
  }
  if (p->n->expr[e].type == PB_I64) {
    pb_text_add(&p->body, "%%e%d = arith.index_cast %%q%d : index to i64\n", e, name);
    return;
  }
  pb_text_add(&p->body, "%%t%d = arith.index_cast %%q%d : index to i64\n", wide, name);
  line(p);
  pb_text_add(&p->body, "%%e%d = arith.trunci %%t%d : i64 to %s\n", e, wide, type);
}

static void print_node(printer* p, int e, int* integers) {
  const pb_expr_node* x = &p->n->expr[e];
  int64_t number;
  if (x->op == PB_OP_LOAD) {
    print_load(p, e);
    return;
  }
  pb_open_number kind = pb_open_integer(x, &number);
  if (kind) {
    int size = p->z.integers[(*integers)++];
    if (!pb_size_is_number(&p->open->sizes, size, &number)) {
      print_size(p, e, size, kind == PB_OPEN_RECIPROCAL);
      return;
    }
  }
  line(p);
  if (x->op == PB_OP_INDEX) {
    pb_text_add(&p->body, "%%e%d = arith.index_cast %%i%d : index to i64\n", e, x->operand);
  } else if (x->op == PB_OP_CONST) {
    pb_text_add(&p->body, "%%e%d = arith.constant ", e);
    pb_constant_print(&p->body, x);
    pb_text_add(&p->body, " : %s\n", pb_type_name(x->type));
  } else {
    pb_text_add(&p->body, "%%e%d = %s ", e, pb_node_spelling(p->n->expr, e));
    for (int k = 0; k < 3 && x->args[k] >= 0; ++k) pb_text_add(&p->body, "%s%%e%d", k ? ", " : "", x->args[k]);
    pb_text_add(&p->body, " : ");
    pb_op_print_types(&p->body, p->n->expr, e, 1);
    pb_text_add(&p->body, "\n");
  }
}

static void print_combined(printer* p, const char* old) {
  const pb_nest* n = p->n;
  const char* type = type_of(p, n->access_count - 1);
  line(p);
  if (p->wide) {
    pb_text_add(&p->body, "%%w = arith.extf %%e%d : f32 to f64\n", n->expr_count - 1);
    line(p);
    pb_text_add(&p->body, "%%new = arith.addf %s, %%w : f64\n", old);
    return;
  }
  pb_text_add(&p->body, "%%new = %s %s, %%e%d : %s\n",
              pb_op_spelling(pb_reduce_op(n->reduce), n->access[n->access_count - 1].type), old, n->expr_count - 1,
              type);
}

static void print_iteration(printer* p) {
  const pb_nest* n = p->n;
  int store = n->access_count - 1, integers = 0;
  for (int e = 0; e < n->expr_count; ++e) print_node(p, e, &integers);
  if (p->in_register) {
    print_combined(p, pb_printf(&p->open->sizes.arena, "%%r%d", n->dim_count));
    return;
  }
  int at = place(p, store, n->stored_at);
  if (pb_reduce_combines(n->reduce)) {
    line(p);
    pb_text_add(&p->body, "%%old = memref.load %%a%d[%%t%d] : ", store, at);
    print_memref(p, store);
    pb_text_add(&p->body, "\n");
    print_combined(p, "%old");
  }
  line(p);
  pb_text_add(&p->body, "memref.store %%%s", pb_reduce_combines(n->reduce) ? "new" : "e");
  if (!pb_reduce_combines(n->reduce)) pb_text_add(&p->body, "%d", n->expr_count - 1);
  pb_text_add(&p->body, ", %%a%d[%%t%d] : ", store, at);
  print_memref(p, store);
  pb_text_add(&p->body, "\n");
}

static const char* sum_type(const printer* p) { return p->wide ? "f64" : type_of(p, p->n->access_count - 1); }

static void open_loop(printer* p, int level) {
  int d = p->order[level], store = p->n->access_count - 1;
  bool carries = p->in_register && level >= p->outer;
  if (p->in_register && level == p->outer) {
    int at = place(p, store, -1);
    line(p);
    pb_text_add(&p->body, "%%x = arith.addi %%t%d, %%q0 : index\n", at);
    line(p);
    pb_text_add(&p->body, "%%%s%d = memref.load %%a%d[%%x] : ", p->wide ? "m" : "r", level, store);
    print_memref(p, store);
    pb_text_add(&p->body, "\n");
    if (p->wide) {
      line(p);
      pb_text_add(&p->body, "%%r%d = arith.extf %%m%d : f32 to f64\n", level, level);
    }
  }
  line(p);
  if (carries) pb_text_add(&p->body, "%%s%d = ", level);
  if (d == p->shared)
    pb_text_add(&p->body, "scf.for %%i%d = %%lo#0 to %%lo#1", d);
  else
    pb_text_add(&p->body, "scf.for %%i%d = %%q0 to %%q%d", d, name_of(p, p->z.extent[d]));
  pb_text_add(&p->body, " step %%q1");
  if (carries) pb_text_add(&p->body, " iter_args(%%r%d = %%r%d) -> (%s)", level + 1, level, sum_type(p));
  pb_text_add(&p->body, " {\n");
  ++p->depth;
}

static void close_loop(printer* p, int level) {
  int store = p->n->access_count - 1;
  bool carries = p->in_register && level >= p->outer;
  if (carries) {
    line(p);
    pb_text_add(&p->body, "scf.yield ");
    if (level + 1 == p->n->dim_count)
      pb_text_add(&p->body, "%%new");
    else
      pb_text_add(&p->body, "%%s%d", level + 1);
    pb_text_add(&p->body, " : %s\n", sum_type(p));
  }
  --p->depth;
  line(p);
  pb_text_add(&p->body, "}\n");
  if (!carries || level != p->outer) return;
  if (p->wide) {
    line(p);
    pb_text_add(&p->body, "%%n%d = arith.truncf %%s%d : f64 to f32\n", level, level);
  }
  line(p);
  pb_text_add(&p->body, "memref.store %%%s%d, %%a%d[%%x] : ", p->wide ? "n" : "s", level, store);
  print_memref(p, store);
  pb_text_add(&p->body, "\n");
}

static bool stores_along(const printer* p, int d) { return !is_number(p, p->z.step[p->n->access_count - 1][d], 0); }

// Whether every access stays where it is along d, or goes to neighbours, and one does.
static bool runs_along(const printer* p, int d) {
  bool any = false;
  for (int a = 0; a < p->n->access_count; ++a) {
    bool one = is_number(p, p->z.step[a][d], 1);
    if ((!one && !is_number(p, p->z.step[a][d], 0)) || p->n->access[a].boxed || p->n->access[a].gathered) return false;
    any |= one && a < p->n->access_count - 1;
  }
  return any;
}

// Loops that the result has come first, those that it is summed over behind them; one along neighbours last of all.
static void order_loops(printer* p) {
  const pb_nest* n = p->n;
  int last = -1, count = 0;
  bool sums = pb_reduce_combines(n->reduce);
  p->shared = -1;
  for (int d = 0; d < n->dim_count; ++d)
    if (sums && stores_along(p, d)) last = d;
  bool along = last >= 0 && is_number(p, p->z.step[n->access_count - 1][last], 1) && runs_along(p, last);
  for (int pass = 0; pass < 3; ++pass)
    for (int d = 0; d < n->dim_count; ++d) {
      int when = !sums ? 0 : along && d == last ? 2 : stores_along(p, d) ? 0 : 1;
      if (when == pass) p->order[count++] = d;
      if (when == pass && !pass) p->outer = count;
    }
  if (!sums) p->outer = count;
  p->in_register = sums && !along && p->outer < n->dim_count && !pb_nest_store((pb_nest*)(uintptr_t)n)->gathered;
  p->wide = p->in_register && n->reduce == PB_ACC_ADD && n->access[n->access_count - 1].type == PB_F32;
  bool apart = n->reduce != PB_ACC_BODY && !n->access[n->access_count - 1].gathered; // iterations may go in any order
  for (int k = 0; k < n->dim_count && apart && p->shared < 0; ++k)
    if (stores_along(p, p->order[k])) p->shared = p->order[k];
}

static void print_kernel(printer* p) {
  const pb_nest* n = p->n;
  p->depth = 1;
  (void)name_of(p, pb_size_number(&p->open->sizes, 0)); // %q0
  (void)name_of(p, pb_size_number(&p->open->sizes, 1)); // %q1
  order_loops(p);
  for (int k = 0; k < n->dim_count; ++k) open_loop(p, k);
  print_iteration(p);
  for (int k = n->dim_count - 1; k >= 0; --k) close_loop(p, k);
  if (p->shared >= 0)
    pb_text_add(&p->head, "  %%lo:2 = func.call @pb_partition(%%q%d) : (index) -> (index, index)\n",
                name_of(p, p->z.extent[p->shared]));
}

// Names are no function's of the C library: an object calls its kernels by name, and would find that one (open64).
static void print_function(printer* p, int number, pb_text* to) {
  pb_text_add(to, "func.func @loops%d(", number);
  for (int a = 0; a < p->n->access_count; ++a) pb_text_add(to, "%%a%d: memref<" FLAT "x%s>, ", a, type_of(p, a));
  pb_text_add(to, "%%sizes: memref<" FLAT "xi64>) attributes {pb.kernel, pb.open%s} {\n%s%s  return\n}\n",
              p->shared >= 0 ? ", pb.shared" : "", p->head.data, p->body.data);
}

void pb_open_print(pb_open_program* open, pb_arena* arena, pb_open_kernels* k) {
  int nests = open->program->nest_count;
  pb_table known = {0};
  *k = (pb_open_kernels){.of = PB_NEW_ARRAY(arena, pb_open_kernel, (size_t)nests + 1),
                         .shared = PB_NEW_ARRAY(arena, bool, (size_t)nests + 1)};
  printer* p = PB_NEW(arena, printer);
  pb_text_add(&k->module, "module attributes {pb.stage = \"open\"} {\n"
                          "func.func private @pb_partition(index) -> (index, index)\n");
  for (int n = 0; n < nests; ++n) {
    *p = (printer){.open = open, .n = &open->program->nests[n]};
    pb_open_read(open, n, &p->z);
    print_kernel(p);
    pb_text key = {0};
    print_function(p, 0, &key);
    pb_open_kernel* of = &k->of[n];
    of->kernel = pb_table_find(&known, key.data, key.length);
    of->size_count = p->taken_count;
    of->sizes = PB_NEW_ARRAY(arena, int, (size_t)p->taken_count + 1);
    memcpy(of->sizes, p->taken, sizeof(int) * (size_t)p->taken_count);
    if (of->kernel < 0) {
      of->kernel = k->count++;
      k->shared[of->kernel] = p->shared >= 0;
      pb_table_add(&known, pb_strdup(arena, key.data), key.length, of->kernel);
      print_function(p, of->kernel, &k->module);
    }
    pb_text_free(&key);
    pb_text_free(&p->head);
    pb_text_free(&p->body);
  }
  pb_text_add(&k->module, "}\n");
  pb_table_free(&known);
}
