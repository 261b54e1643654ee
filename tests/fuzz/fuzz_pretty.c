// StableHLO's own form on any bytes, from memory that ends where they do: it becomes a text, or is refused with a
// reason.
#include "fuzz.h"

#include "core/frontend/stablehlo/pretty/pretty.h"

#include <stdlib.h>
#include <string.h>

static void ignore(void* user, bool error, int code, const char* text) {
  (void)user, (void)error, (void)code, (void)text;
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  pb_diag diag = {.sink = ignore};
  pb_pretty pretty = {0};
  char* text = malloc(size + 1);
  if (!text) abort();
  if (size) memcpy(text, data, size);
  text[size] = 0;
  if (pb_pretty_read(text, size, "fuzz", &diag, &pretty) != PB_OK && !diag.errors) abort();
  for (size_t k = 1; k <= pretty.line_count; ++k) { // every place is one of the text
    int line = (int)k, column = 3;
    pb_pretty_place(&pretty, &line, &column);
    if (line < 1 || (size_t)line > pretty.own_line_count || column < 1 || (size_t)column > size + 1) abort();
  }
  pb_pretty_free(&pretty);
  free(text);
  return 0;
}
