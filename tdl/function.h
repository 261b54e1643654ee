// The functions that a chip approximates (class Function of pb.td), bit for bit: what the machine evaluates and what
// the RTL's tables are made from. Range reduction is fixed for each name; a segment is a polynomial in the low bits of
// the reduced argument, taken as an integer, so that converting them to f32 is exact.
#ifndef PB_TDL_FUNCTION_H
#define PB_TDL_FUNCTION_H

#include <stdbool.h>
#include <stdint.h>

enum { PB_FUNCTION_MAX_DEGREE = 3, PB_FUNCTION_MIN_TABLE_BITS = 2, PB_FUNCTION_MAX_TABLE_BITS = 10 };

// Whether the name is one of "exp2", "recip", "rsqrt" and the two numbers lie within their limits (degree 1 to 3).
bool pb_function_known(const char* name, int table_bits, int degree);

// The value at x, every f32 operation rounded once to nearest even; NaN comes out as 0x7fc00000.
float pb_function_eval(const char* name, int table_bits, int degree, float x);

// Segments in the table: 2^table_bits, twice that for rsqrt (even exponents first, then odd).
uint32_t pb_function_entries(const char* name, int table_bits);

// f32 bits of coefficient `power` of segment `index`: the value is c0 + t*(c1 + t*(c2 + ...)), t the argument's bits
// below the index as an integer (23 fraction bits in all for recip and rsqrt, 26 for exp2).
uint32_t pb_function_table(const char* name, int table_bits, int degree, uint32_t index, int power);

#endif
