// Sums of many f32: one by one, each rounds to the sum's own size; by themselves and then together they are as near to
// the sum as few are.
#ifndef PB_S1_LONG_SUMS_H
#define PB_S1_LONG_SUMS_H

#include <stdbool.h>
#include <stdint.h>

enum { PB_S1_LONG_SUM = 2048 }; // terms

// Of a long sum over the dims that are `gone`, whose last one is too short for lanes, which are sums by themselves:
// which of them are summed first, the last ones, of nearly as many elements as the rest have. false: it is no such sum.
bool pb_s1_sums_behind(int rank, const int64_t* shape, const bool* gone, bool* behind);

#endif
