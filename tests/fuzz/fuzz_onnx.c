// The reader of ONNX files and stage S1 on any bytes; what they take can be printed.
#define _GNU_SOURCE
#include "fuzz.h"

#include "core/s1/s1.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

static void ignore(void* user, bool error, int code, const char* text) {
  (void)user, (void)error, (void)code, (void)text;
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static int file = -1;
  char path[64];
  if (file < 0) file = memfd_create("fuzz", 0);
  if (file < 0 || ftruncate(file, 0) != 0 || pwrite(file, data, size, 0) != (ssize_t)size) abort();
  snprintf(path, sizeof path, "/proc/self/fd/%d", file);
  pb_diag diag = {.sink = ignore};
  pb_consts consts = {0};
  pb_graph* graph = NULL;
  pb_s1 program = {0};
  pb_status status = pb_onnx_load(path, NULL, 0, &consts, &diag, &graph);
  if (status == PB_OK) {
    status = pb_s1_build(graph, &consts, &diag, &program);
    if (status == PB_OK) free(pb_s1_print(&program));
  }
  if (status != PB_OK && !diag.errors) abort(); // a refusal says why
  pb_s1_free(&program);
  pb_graph_free(graph);
  pb_consts_free(&consts);
  return 0;
}
