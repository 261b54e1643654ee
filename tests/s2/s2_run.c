// s2_run MODEL.onnx INPUT OUTPUT: stage S2 of a model with one input and one output, run by the JIT on each sample of a
// file of raw f32. Arguments of the function: the input, the constants by id, the output.
#include "core/driver/pipeline.h"
#include "core/frontend/onnx/onnx.h"
#include "core/ir/execute.h"
#include "core/poly/nest.h"
#include "core/s2/s2.h"

#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>
#include <stdio.h>
#include <stdlib.h>

static MlirStringRef str(const char* text) { return mlirStringRefCreateFromCString(text); }

static size_t bytes_of(MlirType type) {
  size_t elements = 1;
  for (intptr_t r = 0; r < mlirShapedTypeGetRank(type); ++r) elements *= (size_t)mlirShapedTypeGetDimSize(type, r);
  return elements * ((size_t)pb_type_bits(pb_type_of(mlirShapedTypeGetElementType(type))) / 8);
}

static int run(MlirModule module, const pb_consts* consts, FILE* in, FILE* out, pb_diag* diag) {
  MlirOperation main = mlirBlockGetFirstOperation(mlirModuleGetBody(module));
  MlirBlock body = mlirRegionGetFirstBlock(mlirOperationGetRegion(main, 0));
  MlirAttribute attrs = mlirOperationGetAttributeByName(main, str("arg_attrs"));
  int count = (int)mlirBlockGetNumArguments(body), last = count - 1;
  void** buffers = calloc((size_t)count, sizeof *buffers);
  for (int k = 1; k < last; ++k) {
    MlirAttribute id = mlirDictionaryAttrGetElementByName(mlirArrayAttrGetElement(attrs, k), str("pb.const"));
    buffers[k] = (void*)consts->items[mlirIntegerAttrGetValueInt(id)]->data;
  }
  size_t in_bytes = bytes_of(mlirValueGetType(mlirBlockGetArgument(body, 0)));
  size_t out_bytes = bytes_of(mlirValueGetType(mlirBlockGetArgument(body, last)));
  buffers[0] = malloc(in_bytes);
  buffers[last] = malloc(out_bytes);
  pb_status status = PB_OK;
  while (status == PB_OK && fread(buffers[0], in_bytes, 1, in) == 1) {
    status = pb_ir_execute(module, "main", buffers, count, diag);
    if (status == PB_OK && fwrite(buffers[last], out_bytes, 1, out) != 1) status = PB_ERR_SYSTEM;
  }
  free(buffers[0]);
  free(buffers[last]);
  free(buffers);
  return status != PB_OK;
}

int main(int argc, char** argv) {
  if (argc != 4) return fprintf(stderr, "usage: s2_run MODEL INPUT OUTPUT\n"), 2;
  pb_diag diag = {0};
  pb_consts consts = {0};
  pb_graph* graph = NULL;
  pb_s1 program = {0};
  if (pb_onnx_load(argv[1], NULL, &consts, &diag, &graph) != PB_OK ||
      pb_onnx_build(graph, &consts, &diag, &program) != PB_OK)
    return 1;
  char* text = pb_s2_build(&program, &consts);
  MlirContext context = pb_context_create();
  MlirModule module = mlirModuleCreateParse(context, str(text));
  FILE *in = fopen(argv[2], "rb"), *out = fopen(argv[3], "wb");
  int failed = mlirModuleIsNull(module) || !in || !out || run(module, &consts, in, out, &diag);
  if (out && fclose(out)) failed = 1;
  if (in) fclose(in);
  if (!mlirModuleIsNull(module)) mlirModuleDestroy(module);
  mlirContextDestroy(context);
  free(text);
  pb_s1_free(&program);
  pb_graph_free(graph);
  pb_consts_free(&consts);
  return failed;
}
