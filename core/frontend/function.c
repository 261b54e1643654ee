// Functions that a model brings along: a call is replaced by the nodes of the body, before anybody sees it.
#include "core/frontend/loader.h"

#include <string.h>

int64_t pb__opset_read(pb__loader* l, pb_wire wire) {
  pb_wire_field f;
  const char* domain = "";
  int64_t version = 0;
  while (pb_wire_next(&wire, &f)) {
    if (f.number == 1 && f.type == 2) domain = pb__loader_text(l, f.bytes);
    if (f.number == 2 && f.type == 0) version = (int64_t)f.value;
  }
  return !domain[0] || !strcmp(domain, "ai.onnx") ? version : 0;
}

pb_status pb__opset_check(pb__loader* l, const char* whose, int64_t opset) {
  enum { NEWEST = 28 }; // what operators mean was read up to here (core/frontend/onnx/onnx.def)
  if (opset >= 0 && opset <= NEWEST) return PB_OK;
  return pb_error(l->diag, (pb_place){.file = l->graph->file}, 2036,
                  "onnx.version_converter.convert_version(model, 28)",
                  "%s is of opset %lld; 1 to %d are known, and later ones may mean something else by the same "
                  "operators",
                  whose, (long long)opset, NEWEST);
}

pb_status pb__function_read(pb__loader* l, pb_wire wire) {
  pb__function function = {.name = "", .domain = "", .overload = "", .bytes = wire};
  pb_wire_field f;
  while (pb_wire_next(&wire, &f)) {
    if (f.type != 2) continue;
    if (f.number == 1) function.name = pb__loader_text(l, f.bytes);
    if (f.number == 10) function.domain = pb__loader_text(l, f.bytes);
    if (f.number == 13) function.overload = pb__loader_text(l, f.bytes);
    int64_t opset = f.number == 9 ? pb__opset_read(l, f.bytes) : 0;
    if (opset) function.opset = opset;
  }
  if (wire.broken) return pb__loader_refuse(l, function.name, "a function that is cut short");
  PB_PUSH(l->functions, l->function_count, l->function_capacity, function);
  return PB_OK;
}

static bool same_domain(const char* a, const char* b) {
  return !strcmp(strcmp(a, "ai.onnx") ? a : "", strcmp(b, "ai.onnx") ? b : "");
}

const pb__function* pb__function_of(const pb__loader* l, const pb_node* node, const char* overload) {
  for (size_t k = 0; k < l->function_count; ++k) {
    const pb__function* f = &l->functions[k];
    if (!strcmp(f->name, node->op) && same_domain(f->domain, node->domain) && !strcmp(f->overload, overload)) return f;
  }
  return NULL;
}

// Attributes that the call leaves out and the function has values for.
static pb_status add_defaults(pb__loader* l, const pb__function* f, pb_node* call) {
  pb_wire wire = f->bytes;
  pb_wire_field field;
  int count = call->attr_count;
  while (pb_wire_next(&wire, &field)) count += field.number == 11;
  pb_attr* attrs = PB_NEW_ARRAY(&l->graph->arena, pb_attr, (size_t)count + 1);
  if (call->attr_count) memcpy(attrs, call->attrs, (size_t)call->attr_count * sizeof *attrs);
  call->attrs = attrs;
  wire = f->bytes;
  while (pb_wire_next(&wire, &field)) {
    bool there = false;
    if (field.number != 11 || field.type != 2) continue;
    PB_TRY(pb__read_attr(l, field.bytes, &attrs[call->attr_count], &there));
    if (there && !pb_node_attr(call, attrs[call->attr_count].name)) ++call->attr_count;
  }
  return PB_OK;
}

// input = 4, output = 5: names, in the order of the call's tensors. An output that is an input is a copy of it.
static pb_status bind_names(pb__loader* l, const pb__function* f, const pb_node* call, pb_node* copies, int* copied) {
  pb_wire wire = f->bytes;
  pb_wire_field field;
  int inputs = 0, outputs = 0, first = (int)l->name_count;
  while (pb_wire_next(&wire, &field)) {
    if (field.number != 4 || field.type != 2) continue;
    int tensor = inputs < call->input_count ? call->inputs[inputs] : -1;
    pb__name_bind(l, pb__loader_text(l, field.bytes), tensor);
    ++inputs;
  }
  if (inputs < call->input_count) return pb__loader_refuse(l, call->name, "more operands than its function has");
  int last = (int)l->name_count;
  wire = f->bytes;
  while (pb_wire_next(&wire, &field)) {
    if (field.number != 5 || field.type != 2) continue;
    const char* name = pb__loader_text(l, field.bytes);
    int tensor = outputs < call->output_count ? call->outputs[outputs] : -1, from = -1;
    ++outputs;
    if (tensor < 0) continue;
    for (int k = first; k < last; ++k)
      if (!strcmp(l->names[k].name, name)) from = k;
    if (from < 0) {
      pb__name_bind(l, name, tensor);
      continue;
    }
    pb_node copy = {.op = "Identity", .name = name, .domain = "", .input_count = 1, .output_count = 1};
    copy.inputs = PB_NEW(&l->graph->arena, int);
    copy.outputs = PB_NEW(&l->graph->arena, int);
    copy.inputs[0] = l->names[from].tensor;
    copy.outputs[0] = tensor;
    copies[(*copied)++] = copy;
  }
  return outputs < call->output_count ? pb__loader_refuse(l, call->name, "more results than its function has") : PB_OK;
}

pb_status pb__function_expand(pb__loader* l, const pb__function* f, const pb_node* node) {
  pb_node call = *node;
  PB_TRY(pb__opset_check(l, pb_printf(&l->graph->arena, "function '%s'", f->name), f->opset));
  PB_TRY(add_defaults(l, f, &call));
  const pb_node* outer = l->call;
  int64_t around = l->opset;
  pb_node* copies = PB_NEW_ARRAY(&l->graph->arena, pb_node, (size_t)call.output_count + 1);
  int copied = 0;
  PB_TRY(pb__scope_open(l, -1, true));
  PB_TRY(bind_names(l, f, &call, copies, &copied));
  l->call = &call;
  l->opset = f->opset ? f->opset : around;
  pb_wire wire = f->bytes;
  pb_wire_field field;
  while (pb_wire_next(&wire, &field))
    if (field.number == 7 && field.type == 2) PB_TRY(pb__read_node(l, field.bytes));
  for (int k = 0; k < copied; ++k) PB_TRY(pb__push_node(l, copies[k]));
  l->call = outer;
  l->opset = around;
  pb__scope_close(l);
  return PB_OK;
}
