// Rows whose operands say extents at run time: tried where those are no constants.
#ifndef PB_ONNX_SAID_H
#define PB_ONNX_SAID_H

#include "core/frontend/onnx/extents.h"

void pb__o_said_reshape(pb_onnx* o);
void pb__o_said_squeeze(pb_onnx* o);
void pb__o_said_unsqueeze(pb_onnx* o);
void pb__o_said_expand(pb_onnx* o);
void pb__o_said_tile(pb_onnx* o);
void pb__o_said_fill(pb_onnx* o, int number);
void pb__o_said_range(pb_onnx* o);
void pb__o_said_slice(pb_onnx* o);
void pb__o_said_pad(pb_onnx* o, char how, int with); // how: "constant", "edge", "reflect", "wrap"

#endif
