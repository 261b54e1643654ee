// Constants of truths in hexadecimal, dense<"0x0100..."> : tensor<32x24xi1>: there is MLIR that prints a byte for each,
// and the one here reads a bit for each. Those of a byte each are written anew where they stand, blanks behind them.
#include "core/frontend/flat.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

// The elements of "tensor<2x3xi1>", 0: it is another type.
static size_t truths_of(const char* type) {
  size_t count = 1;
  if (strncmp(type, "tensor<", 7) != 0) return 0;
  for (type += 7; isdigit((unsigned char)*type);) {
    char* end;
    unsigned long long extent = strtoull(type, &end, 10);
    if (*end != 'x' || !extent || extent > (size_t)INT32_MAX / count) return 0;
    count *= (size_t)extent;
    type = end + 1;
  }
  return strncmp(type, "i1>", 3) ? 0 : count;
}

static const char* behind_blanks(const char* at) {
  while (isspace((unsigned char)*at)) ++at;
  return at;
}

static bool is_truth(const char* digits) { return digits[0] == '0' && (digits[1] == '0' || digits[1] == '1'); }

static void pack(char* digits, size_t count) {
  static const char hex[] = "0123456789ABCDEF";
  size_t bytes = (count + 7) / 8;
  for (size_t b = 0; b < bytes; ++b) {
    unsigned byte = 0;
    for (size_t k = 8 * b; k < count && k < 8 * (b + 1); ++k)
      byte |= (unsigned)(digits[2 * k + 1] == '1') << (k - 8 * b);
    digits[2 * b] = hex[byte >> 4]; // what is written over was read
    digits[2 * b + 1] = hex[byte & 15];
  }
  digits[2 * bytes] = '"';
  memset(digits + 2 * bytes + 1, ' ', 2 * (count - bytes));
}

void pb_flat_pack_truths(char* text) {
  static const char begin[] = "dense<\"0x";
  for (char* at = text; (at = strstr(at, begin));) {
    char* digits = at += sizeof begin - 1;
    while (isxdigit((unsigned char)*at)) ++at;
    size_t count = (size_t)(at - digits) / 2;
    if (*at != '"') continue;
    const char* type = behind_blanks(at + 1);
    if (*type != '>' || *(type = behind_blanks(type + 1)) != ':') continue;
    if (count < 2 || (size_t)(at - digits) != 2 * count || truths_of(behind_blanks(type + 1)) != count) continue;
    bool good = true;
    for (size_t k = 0; k < count && good; ++k) good = is_truth(digits + 2 * k);
    if (good) pack(digits, count);
  }
}
