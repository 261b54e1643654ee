// What accesses of affine loops have as indices, compared.
#ifndef PB_LLVM_INDICES_H
#define PB_LLVM_INDICES_H

#include <mlir-c/IR.h>
#include <stdbool.h>

enum { PB_MOST_TERMS = 16 };

// A sum of values times numbers, and a number.
typedef struct pb_terms {
  MlirValue value[PB_MOST_TERMS];
  int64_t factor[PB_MOST_TERMS], constant;
  int count;
} pb_terms;

// false: there are too many.
bool pb_add_term(pb_terms* sum, MlirValue value, int64_t factor);

// Which operand of a load or a store of the affine dialect, of elements or rows of them, is the tensor.
int pb_tensor_at(MlirOperation access);
MlirType pb_tensor_type_of(MlirOperation access);

// Whether the tensor has a row of neighbours as its last dim, and as many indices as dims, without symbols.
bool pb_lies_in_rows(MlirOperation access);

// Adds index r, times a factor. tensor_at: which operand the tensor is, behind which those of the map come. false: it
// is no sum of values times numbers, or one of too many.
bool pb_add_index(MlirOperation access, int tensor_at, intptr_t r, int64_t factor, pb_terms* sum);
// Index r alone. false: it is no sum of values times numbers, or one of too many.
bool pb_read_index(MlirOperation access, intptr_t r, pb_terms* sum);
int64_t pb_factor_of(const pb_terms* sum, MlirValue value);

// Whether both are at the same index but along the last dim, where they are a number apart: *by is a's minus b's.
bool pb_are_apart(MlirOperation a, MlirOperation b, int64_t* by);

#endif
