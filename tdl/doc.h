// A chip's programming manual, from its description.
#ifndef PB_TDL_DOC_H
#define PB_TDL_DOC_H

#include "tdl/chip.h"

#include <stdio.h>

// Markdown: memories, queues, and for each instruction operands, meaning as a formula, encoding and cycles.
void pb_chip_print_doc(const pb_chip* chip, FILE* out);
// The same as one page of HTML, with its contents beside it.
void pb_chip_print_doc_html(const pb_chip* chip, FILE* out);
// One line a fact.
void pb_chip_print_facts(const pb_chip* chip, FILE* out);
// The instruction's meaning, e.g. `y[i,j,n] = sum(k) sext(x[i,j,k]) * sext(wt[k,n])`. Arena text.
char* pb_insn_formula(const pb_insn* insn, pb_arena* arena);

#endif
