// to_generic FILE: the text of StableHLO in its own form, or in the generic one, in the generic one.
#include "core/frontend/stablehlo/pretty/pretty.h"
#include "core/ir/module.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char** argv) {
  pb_diag diag = {0};
  pb_pretty pretty = {0};
  size_t length = 0;
  char* text = argc == 2 ? pb_module_text(argv[1], &length) : NULL;
  if (!text) {
    fputs("usage: to_generic FILE\n", stderr);
    return 2;
  }
  bool good = pb_pretty_read(text, length, argv[1], &diag, &pretty) == PB_OK;
  if (good) fputs(pretty.text.length ? pretty.text.data : text, stdout);
  pb_pretty_free(&pretty);
  free(text);
  return good ? 0 : 1;
}
