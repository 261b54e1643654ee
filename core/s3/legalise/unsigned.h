// Inside pass `unsigned`: bodies on codes without sign.
#ifndef PB_S3_UNSIGNED_H
#define PB_S3_UNSIGNED_H

#include "core/poly/nest.h"

// Nodes of a body. What is made of a code is said of the code without sign, where that is the same to the bit.
int pb__unsigned_flipped(pb_nest* nest, int code); // the code with its sign bit flipped
int pb__unsigned_node(pb_nest* nest, const pb_expr_node* like, const int* args);
// Of a nest that adds codes, or products of codes by something, less a number: takes that number off, and says it. 0:
// there is none. *by: the load of what they are multiplied by, -1: nothing.
int64_t pb__unsigned_split(pb_nest* nest, int* by);

#endif
