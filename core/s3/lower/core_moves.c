#include "core/s3/lower/core_moves.h"

#define FIVE "index, index, index, index, index"

const char pb_core_move_declarations[] = "func.func private @pb_core_begin() -> index\n"
                                         "func.func private @pb_core_end(index)\n"
                                         "func.func private @pb_core_wait(index, index)\n"
                                         "func.func private @pb_core_move(" FIVE ", " FIVE ", " FIVE ")\n";

// A run of bytes, along three loops.
const char pb_core_move_functions[] =
    "func.func private @pb_core_begin() -> index {\n"
    "  %zero = arith.constant 0 : index\n  return %zero : index\n}\n"
    "func.func private @pb_core_end(%core: index) {\n  return\n}\n"
    "func.func private @pb_core_wait(%core: index, %flag: index) {\n  return\n}\n"
    "func.func private @pb_core_move(%core: index, %mover: index, %flag: index, %to: index, %from: index,\n"
    "    %bytes: index, %n0: index, %t0: index, %f0: index, %n1: index, %t1: index, %f1: index, %n2: index,\n"
    "    %t2: index, %f2: index) {\n"
    "  affine.for %i = 0 to %n0 {\n    affine.for %j = 0 to %n1 {\n      affine.for %k = 0 to %n2 {\n"
    "    %a = arith.muli %i, %t0 : index\n    %b = arith.muli %j, %t1 : index\n"
    "    %c = arith.muli %k, %t2 : index\n    %ab = arith.addi %a, %b : index\n"
    "    %abc = arith.addi %ab, %c : index\n    %there = arith.addi %to, %abc : index\n"
    "    %d = arith.muli %i, %f0 : index\n    %e = arith.muli %j, %f1 : index\n"
    "    %g = arith.muli %k, %f2 : index\n    %de = arith.addi %d, %e : index\n"
    "    %deg = arith.addi %de, %g : index\n    %here = arith.addi %from, %deg : index\n"
    "    %x = arith.index_cast %there : index to i64\n    %y = arith.index_cast %here : index to i64\n"
    "    %p = llvm.inttoptr %x : i64 to !llvm.ptr\n    %q = llvm.inttoptr %y : i64 to !llvm.ptr\n"
    "    affine.for %l = 0 to %bytes {\n      %m = arith.index_cast %l : index to i64\n"
    "      %o = llvm.getelementptr %q[%m] : (!llvm.ptr, i64) -> !llvm.ptr, i8\n"
    "      %v = llvm.load %o : !llvm.ptr -> i8\n"
    "      %r = llvm.getelementptr %p[%m] : (!llvm.ptr, i64) -> !llvm.ptr, i8\n"
    "      llvm.store %v, %r : i8, !llvm.ptr\n    }\n"
    "      }\n    }\n  }\n  return\n}\n";

void pb_core_moves_load(MlirContext context) {
  mlirContextGetOrLoadDialect(context, mlirStringRefCreateFromCString("llvm"));
}

void pb_core_moves_begin(pb_text* text) { pb_text_add(text, "  %%core = func.call @pb_core_begin() : () -> index\n"); }

void pb_core_moves_end(pb_text* text) { pb_text_add(text, "  func.call @pb_core_end(%%core) : (index) -> ()\n"); }

void pb_core_move_wait(pb_lowered* l, const char* flag, int indent) {
  pb_text_line(&l->body, indent, "func.call @pb_core_wait(%%core, %s) : (index, index) -> ()\n", flag);
}

static const char* number(pb_lowered* l, int64_t value) { return pb_lowered_integer(l, PB_INDEX, value, 1); }

// The address of its first byte, inside the loops around and those that code goes through.
static const char* address_of(pb_lowered* l, const pb_move* move, const pb_move_end* end, bool to, int levels, int id,
                              int indent) {
  int64_t bytes = pb_type_bits(end->access->type) / 8;
  pb_linear sum = {.cst = pb_access_offset(end->access) * bytes};
  for (int k = 0; k < levels; ++k)
    pb_linear_add(&sum, pb_access_stride(end->access, PB_NEST_DIMS + k) * bytes, 0, "o%d", k);
  for (int k = 0; k < move->loop_count - move->own; ++k)
    pb_linear_add(&sum, (to ? move->loops[k].to : move->loops[k].from) * bytes, 0, "m%d_%d", id, k);
  const char* begin =
      pb_lowered_line(l, indent, "memref.extract_aligned_pointer_as_index %s : %s -> index", end->name, end->type);
  const char* further = pb_lowered_linear(l, indent, "apply", &sum, NULL);
  return pb_lowered_line(l, indent, "arith.addi %s, %s : index", begin, further);
}

void pb_core_move_start(pb_lowered* l, const pb_nest* nest, const pb_move* move, const pb_move_end ends[2], int levels,
                        const char* flag, int indent) {
  int around = move->loop_count - move->own, id = l->serial++;
  int64_t bytes = pb_type_bits(nest->access[0].type) / 8;
  for (int k = 0; k < around; ++k)
    pb_text_line(&l->body, indent + k, "affine.for %%m%d_%d = 0 to %lld {\n", id, k, (long long)move->loops[k].extent);
  const char* from = address_of(l, move, &ends[0], false, levels, id, indent + around);
  const char* to = address_of(l, move, &ends[1], true, levels, id, indent + around);
  const char *mover = number(l, 2 * move->mover + move->out), *run = number(l, move->run * bytes),
             *loops[3 * PB_MOST_MOVE_LOOPS];
  for (int k = 0; k < PB_MOST_MOVE_LOOPS; ++k) {
    bool there = k < move->own;
    const pb_move_loop* loop = &move->loops[there ? around + k : 0];
    loops[3 * k] = number(l, there ? loop->extent : 1);
    loops[3 * k + 1] = number(l, there ? loop->to * bytes : 0);
    loops[3 * k + 2] = number(l, there ? loop->from * bytes : 0);
  }
  pb_text_line(&l->body, indent + around, "func.call @pb_core_move(%%core, %s, %s, %s, %s, %s", mover, flag, to, from,
               run);
  for (int k = 0; k < 3 * PB_MOST_MOVE_LOOPS; ++k) pb_text_add(&l->body, ", %s", loops[k]);
  pb_text_add(&l->body, ") : (" FIVE ", " FIVE ", " FIVE ") -> ()\n");
  for (int k = around - 1; k >= 0; --k) pb_text_line(&l->body, indent + k, "}\n");
}
