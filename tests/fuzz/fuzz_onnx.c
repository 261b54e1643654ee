// The reader of ONNX models and stage S1 on any bytes, from memory that ends where they do; what they take can be
// printed.
#include "fuzz.h"

#include "core/frontend/onnx/onnx.h"

#include <stdlib.h>

static void ignore(void* user, bool error, int code, const char* text) {
  (void)user, (void)error, (void)code, (void)text;
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  pb_diag diag = {.sink = ignore};
  pb_consts consts = {0};
  pb_graph* graph = NULL;
  pb_s1 program = {0};
  pb_status status = pb_onnx_parse(data, size, "fuzz", NULL, &consts, &diag, &graph);
  if (status == PB_OK) {
    status = pb_onnx_build(graph, &consts, &diag, &program);
    if (status == PB_OK) free(pb_s1_print(&program));
  }
  if (status != PB_OK && !diag.errors) abort(); // a refusal says why
  pb_s1_free(&program);
  pb_graph_free(graph);
  pb_consts_free(&consts);
  return 0;
}
