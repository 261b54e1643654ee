// ONNX files to graphs. Field numbers are those of onnx.proto (ONNX IR version 3 and later).
#include "core/frontend/loader.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_NODES = 1 << 20, MAX_TENSORS = 1 << 21, MAX_ELEMENTS_LOG2 = 40 };
enum { MAX_COPY = 1 << 16 }; // bytes of a constant up to which it is brought to an aligned place

typedef pb__loader loader;

pb_status pb__loader_refuse(loader* l, const char* what, const char* text) {
  return pb_error(l->diag, (pb_place){.file = l->graph->file, .what = what}, 2010, NULL, "%s", text);
}

// Names stay as they are: whoever prints one into IR or JSON quotes it. A NUL would cut it short, and make two names
// one.
const char* pb__loader_text(loader* l, pb_wire bytes) {
  size_t n = (size_t)(bytes.end - bytes.at);
  char* text = pb_alloc(&l->graph->arena, n + 1);
  if (n) memcpy(text, bytes.at, n); // a field that is no text has none
  l->cut_name |= strlen(text) != n;
  return text;
}

pb_type pb_onnx_type(int64_t code, bool* is_unsigned) {
  *is_unsigned = code == 2;
  switch (code) {
  case 1:
    return PB_F32;
  case 2:
  case 3:
    return PB_I8;
  case 4:
    return PB_UI16;
  case 5:
    return PB_I16;
  case 6:
    return PB_I32;
  case 7:
    return PB_I64;
  case 9:
    return PB_I1;
  case 10:
    return PB_F16;
  case 11:
    return PB_F64;
  case 12:
    return PB_UI32;
  case 13:
    return PB_UI64;
  case 16:
    return PB_BF16;
  case 17:
    return PB_F8E4M3FN;
  case 18:
    return PB_F8E4M3FNUZ;
  case 19:
    return PB_F8E5M2;
  case 20:
    return PB_F8E5M2FNUZ;
  case 21:
    return PB_U4;
  case 22:
    return PB_I4;
  case 23:
    return PB_F4E2M1FN;
  case 24:
    return PB_F8E8M0FNU;
  case 25:
    return PB_U2;
  case 26:
    return PB_I2;
  default:
    return PB_TYPE_COUNT;
  }
}

// Packed or not, repeated numbers of a tensor that does not use raw_data.
static void typed_values(pb_wire_field* f, pb_type type, char* data, size_t size, size_t count, size_t* filled) {
  if (f->type == 2) {
    pb_wire w = f->bytes;
    while (w.at < w.end && *filled < count) {
      uint64_t v = 0;
      size_t fixed = type == PB_F32 ? 4 : type == PB_F64 ? 8 : 0;
      if (fixed) {
        if ((size_t)(w.end - w.at) < fixed) return;
        memcpy(&v, w.at, fixed);
        w.at += fixed;
      } else if (!pb_wire_varint(&w, &v))
        return;
      memcpy(data + (*filled)++ * size, &v, size);
    }
  } else if (*filled < count) {
    memcpy(data + (*filled)++ * size, &f->value, size);
  }
}

// Elements of fewer than 8 bits lie several in a byte, the first ones below: here each has a byte.
static void* unpacked(loader* l, const uint8_t* from, int bits, size_t count) {
  uint8_t* own = pb_alloc(&l->graph->arena, count + 1);
  size_t each = 8 / (size_t)bits;
  for (size_t k = 0; k < count; ++k)
    own[k] = (uint8_t)(from[k / each] >> (size_t)bits * (k % each) & ((1u << bits) - 1));
  return own;
}

// StringStringEntryProto { key = 1, value = 2 }
static void read_external(loader* l, pb_wire wire, pb__external* external) {
  const char *key = "", *value = "";
  pb_wire_field f;
  while (pb_wire_next(&wire, &f)) {
    if (f.number == 1 && f.type == 2) key = pb__loader_text(l, f.bytes);
    if (f.number == 2 && f.type == 2) value = pb__loader_text(l, f.bytes);
  }
  if (!strcmp(key, "location")) external->location = value;
  if (!strcmp(key, "offset")) external->offset = value;
  if (!strcmp(key, "length")) external->length = value;
}

static pb_status read_tensor(loader* l, pb_wire wire, const char** name, int* id, bool* is_unsigned) {
  pb_wire_field f;
  int64_t shape[PB_GRAPH_RANK], code = 0, elements = 1;
  int rank = 0;
  pb_wire raw = {0}, again = wire;
  pb__external external = {0};
  bool outside = false;
  *name = "";
  while (pb_wire_next(&again, &f)) // mostly behind the shape
    if (f.number == 8 && f.type == 2) *name = pb__loader_text(l, f.bytes);
  again = wire;
  while (pb_wire_next(&wire, &f)) {
    if (f.number == 1 && f.type == 2) {
      uint64_t d;
      while (f.bytes.at < f.bytes.end && rank < PB_GRAPH_RANK && pb_wire_varint(&f.bytes, &d))
        shape[rank++] = (int64_t)d;
      if (f.bytes.at != f.bytes.end) return pb__loader_refuse(l, *name, "a tensor of more than 8 dims");
    } else if (f.number == 1 && f.type == 0) {
      if (rank == PB_GRAPH_RANK) return pb__loader_refuse(l, *name, "a tensor of more than 8 dims");
      shape[rank++] = (int64_t)f.value;
    } else if (f.number == 2)
      code = (int64_t)f.value;
    else if (f.number == 9 && f.type == 2)
      raw = f.bytes;
    else if (f.number == 13 && f.type == 2)
      read_external(l, f.bytes, &external);
    else if (f.number == 14 && f.type == 0)
      outside = f.value == 1;
  }
  if (wire.broken) return pb__loader_refuse(l, *name, "a tensor that is cut short");
  pb_type type = pb_onnx_type(code, is_unsigned);
  if (type == PB_TYPE_COUNT)
    return pb_unsupported(l->diag, (pb_place){.file = l->graph->file, .what = *name}, 2012, NULL,
                          "elements of ONNX type %lld", (long long)code);
  for (int r = 0; r < rank; ++r) {
    if (shape[r] < 0 || shape[r] > (int64_t)1 << MAX_ELEMENTS_LOG2)
      return pb__loader_refuse(l, *name, "a tensor with an impossible shape");
    if (shape[r] && elements > ((int64_t)1 << MAX_ELEMENTS_LOG2) / shape[r])
      return pb__loader_refuse(l, *name, "a tensor with an impossible shape");
    elements *= shape[r];
  }
  if (outside) PB_TRY(pb__external_data(l, *name, &external, &raw));
  bool packs = pb_type_is_code(type) && pb_type_bits(type) < 8;
  size_t size = ((size_t)pb_type_bits(type) + 7) / 8, have = (size_t)(raw.end - raw.at);
  size_t stored = packs ? ((size_t)elements * (size_t)pb_type_bits(type) + 7) / 8 : (size_t)elements,
         bytes = stored * size;
  const void* data = raw.at;
  if (raw.at ? have != bytes : bytes > (size_t)(again.end - again.at) * 8)
    return pb__loader_refuse(l, *name, "a tensor whose data are not as long as its shape says");
  if (!raw.at) {
    char* own = pb_alloc(&l->graph->arena, bytes + 1);
    size_t filled = 0;
    while (pb_wire_next(&again, &f))
      if (f.number == 4 || f.number == 5 || f.number == 7 || f.number == 10 || f.number == 11)
        typed_values(&f, type, own, size, stored, &filled);
    if (filled != stored) return pb__loader_refuse(l, *name, "a tensor whose data are not as long as its shape says");
    data = own;
  } else if ((uintptr_t)data % size && bytes <= MAX_COPY) { // fields are packed without padding
    void* own = pb_alloc(&l->graph->arena, bytes + 1);
    data = memcpy(own, data, bytes);
  }
  if (packs) data = unpacked(l, data, pb_type_bits(type), (size_t)elements);
  *id = pb_consts_add(l->consts, *name, type, rank, shape, data);
  l->consts->items[*id]->mapped = raw.at && data == raw.at;
  return PB_OK;
}

static pb_status read_graph(loader* l, pb_wire wire);

static pb_status read_subgraph(loader* l, pb_wire wire, int* id) {
  pb_graph* g = l->graph;
  *id = (int)g->subgraph_count;
  PB_PUSH(g->subgraphs, g->subgraph_count, g->subgraph_capacity, (pb_subgraph){0});
  PB_TRY(pb__scope_open(l, *id, false));
  PB_TRY(read_graph(l, wire));
  pb__scope_close(l);
  return PB_OK;
}

// In a function's body an attribute may be the call's. false: the call leaves it out, and so does the node.
static bool of_call(const loader* l, const char* reference, pb_attr* attr) {
  const pb_attr* given = l->call ? pb_node_attr(l->call, reference) : NULL;
  const char* name = attr->name;
  if (!given) return false;
  *attr = *given;
  attr->name = name;
  return true;
}

// Room for as many numbers and texts as the attribute has.
static pb_status make_room(loader* l, pb_wire wire, pb_attr* attr) {
  size_t ints = 0, floats = 0, strings = 0, limit = (size_t)(wire.end - wire.at) + 1;
  pb_wire_field f;
  while (pb_wire_next(&wire, &f)) {
    if (f.number == 8) ints += f.type == 2 ? (size_t)(f.bytes.end - f.bytes.at) : 1;
    strings += f.number == 9;
    if (f.number == 7) floats += f.type == 2 ? (size_t)(f.bytes.end - f.bytes.at) / 4 : 1;
  }
  if (wire.broken || ints > limit || floats > limit)
    return pb__loader_refuse(l, "attribute", "an attribute that is cut short");
  size_t room = (ints > floats ? ints : floats) + 1; // `count` is one kind's, and a reader may expect the other
  attr->ints = PB_NEW_ARRAY(&l->graph->arena, int64_t, room);
  attr->floats = PB_NEW_ARRAY(&l->graph->arena, float, room);
  attr->strings = PB_NEW_ARRAY(&l->graph->arena, const char*, strings + 1);
  return PB_OK;
}

// One of its numbers, or several that lie packed.
static void read_floats(pb_wire_field* f, pb_attr* attr, int* count) {
  uint32_t bits = (uint32_t)f->value;
  if (f->type != 2) memcpy(&attr->floats[(*count)++], &bits, 4);
  for (; f->type == 2 && f->bytes.end - f->bytes.at >= 4; f->bytes.at += 4)
    memcpy(&attr->floats[(*count)++], f->bytes.at, 4);
}

static void read_ints(pb_wire_field* f, pb_attr* attr, int* count) {
  uint64_t v;
  if (f->type != 2) attr->ints[(*count)++] = (int64_t)f->value;
  while (f->type == 2 && f->bytes.at < f->bytes.end && pb_wire_varint(&f->bytes, &v))
    attr->ints[(*count)++] = (int64_t)v;
}

// AttributeProto.type, of onnx.proto.
static pb_attr_kind kind_of(int64_t type) {
  static const pb_attr_kind kinds[] = {
      [1] = PB_ATTR_FLOAT, [2] = PB_ATTR_INT,    [3] = PB_ATTR_STRING, [4] = PB_ATTR_TENSOR,
      [5] = PB_ATTR_GRAPH, [6] = PB_ATTR_FLOATS, [7] = PB_ATTR_INTS,   [8] = PB_ATTR_STRINGS};
  return type > 0 && type < (int64_t)(sizeof kinds / sizeof *kinds) ? kinds[type] : PB_ATTR_INT;
}

pb_status pb__read_attr(loader* l, pb_wire wire, pb_attr* attr, bool* there) {
  const char *reference = "", *unnamed;
  int int_count = 0, float_count = 0, string_count = 0;
  int64_t type = 0;
  pb_wire_field f;
  *attr = (pb_attr){.name = "", .tensor = -1, .graph = -1};
  PB_TRY(make_room(l, wire, attr));
  while (pb_wire_next(&wire, &f)) {
    uint32_t bits = (uint32_t)f.value;
    switch (f.number) {
    case 1:
      attr->name = pb__loader_text(l, f.bytes);
      break;
    case 2:
      memcpy(&attr->f, &bits, 4);
      break;
    case 3:
      attr->i = (int64_t)f.value;
      break;
    case 4:
      attr->s = pb__loader_text(l, f.bytes);
      break;
    case 5:
      PB_TRY(read_tensor(l, f.bytes, &unnamed, &attr->tensor, &attr->is_unsigned));
      break;
    case 6:
      if (f.type == 2) PB_TRY(read_subgraph(l, f.bytes, &attr->graph));
      break;
    case 7:
      read_floats(&f, attr, &float_count);
      break;
    case 8:
      read_ints(&f, attr, &int_count);
      break;
    case 9:
      attr->strings[string_count++] = pb__loader_text(l, f.bytes);
      break;
    case 20:
      type = (int64_t)f.value;
      break;
    case 21:
      reference = pb__loader_text(l, f.bytes);
      break;
    default:
      break;
    }
  }
  attr->kind = kind_of(type);
  *there = !reference[0] || of_call(l, reference, attr);
  if (reference[0]) return PB_OK;
  attr->count = attr->kind == PB_ATTR_FLOATS ? float_count : attr->kind == PB_ATTR_STRINGS ? string_count : int_count;
  return PB_OK;
}

#define NOT_ONNX "this is no ONNX model, or it is cut short"
#define MADE_TWICE "a tensor that two nodes make, or a node and the model itself"

static bool is_made(const pb_tensor* t) { return t->producer >= 0 || t->const_id >= 0 || t->is_input; }

static pb_subgraph* subgraph_here(const loader* l) {
  int scope = l->scope;
  while (scope >= 0 && l->scopes[scope].subgraph < 0) scope = l->scopes[scope].parent;
  return scope < 0 ? NULL : &l->graph->subgraphs[l->scopes[scope].subgraph];
}

pb_status pb__push_node(loader* l, pb_node node) {
  pb_graph* g = l->graph;
  pb_subgraph* in = subgraph_here(l);
  if (l->nodes_read++ == MAX_NODES) return pb__loader_refuse(l, NULL, "more nodes than any model has");
  for (int k = 0; k < node.output_count; ++k) {
    if (node.outputs[k] < 0) continue;
    if (is_made(&g->tensors[node.outputs[k]]))
      return pb__loader_refuse(l, g->tensors[node.outputs[k]].name, MADE_TWICE);
    g->tensors[node.outputs[k]].producer = (int)(in ? in->node_count : g->node_count);
  }
  if (!node.name[0] && node.output_count && node.outputs[0] >= 0) node.name = g->tensors[node.outputs[0]].name;
  if (in)
    PB_PUSH(in->nodes, in->node_count, in->node_capacity, node);
  else
    PB_PUSH(g->nodes, g->node_count, g->node_capacity, node);
  return PB_OK;
}

pb_status pb__read_node(loader* l, pb_wire wire) {
  pb_node node = {.op = "", .name = "", .domain = "", .opset = l->opset};
  const char* overload = "";
  pb_wire again = wire;
  pb_wire_field f;
  int inputs = 0, outputs = 0, attrs = 0;
  while (pb_wire_next(&again, &f)) {
    inputs += f.number == 1;
    outputs += f.number == 2;
    attrs += f.number == 5;
  }
  if (again.broken) return pb__loader_refuse(l, NULL, "a node that is cut short");
  pb_graph* g = l->graph;
  node.inputs = PB_NEW_ARRAY(&g->arena, int, (size_t)inputs + 1);
  node.outputs = PB_NEW_ARRAY(&g->arena, int, (size_t)outputs + 1);
  node.attrs = PB_NEW_ARRAY(&g->arena, pb_attr, (size_t)attrs + 1);
  while (pb_wire_next(&wire, &f)) {
    if (f.type != 2) continue;
    const char* text;
    bool there = false;
    switch (f.number) {
    case 1:
      text = pb__loader_text(l, f.bytes);
      node.inputs[node.input_count++] = text[0] ? pb__name_used(l, text) : -1;
      break;
    case 2:
      text = pb__loader_text(l, f.bytes);
      node.outputs[node.output_count++] = text[0] ? pb__name_defined(l, text) : -1;
      break;
    case 3:
      node.name = pb__loader_text(l, f.bytes);
      break;
    case 4:
      node.op = pb__loader_text(l, f.bytes);
      break;
    case 5:
      PB_TRY(pb__read_attr(l, f.bytes, &node.attrs[node.attr_count], &there));
      node.attr_count += there;
      break;
    case 7:
      node.domain = pb__loader_text(l, f.bytes);
      break;
    case 8:
      overload = pb__loader_text(l, f.bytes);
      break;
    default:
      break;
    }
  }
  const pb__function* function = pb__function_of(l, &node, overload);
  return function ? pb__function_expand(l, function, &node) : pb__push_node(l, node);
}

// TypeProto.tensor_type: elem_type = 1, shape = 2 { dim = 1 { dim_value = 1 | dim_param = 2 } }
static void read_tensor_type(loader* l, pb_wire wire, pb_tensor* tensor) {
  pb_wire_field part, dim, value;
  tensor->dim_names = PB_NEW_ARRAY(&l->graph->arena, const char*, PB_GRAPH_RANK);
  while (pb_wire_next(&wire, &part)) {
    if (part.number == 1 && part.type == 0) {
      tensor->type_code = (int64_t)part.value;
      tensor->type = pb_onnx_type(tensor->type_code, &tensor->is_unsigned);
    }
    if (part.number != 2 || part.type != 2) continue;
    tensor->rank = 0;
    while (pb_wire_next(&part.bytes, &dim)) {
      if (dim.number != 1 || dim.type != 2) continue;
      if (tensor->rank == PB_GRAPH_RANK) tensor->too_deep = true;
      if (tensor->too_deep) continue;
      int64_t extent = -1;
      const char* name = NULL;
      while (pb_wire_next(&dim.bytes, &value)) {
        if (value.number == 1 && value.type == 0) extent = (int64_t)value.value;
        if (value.number == 2 && value.type == 2) name = pb__loader_text(l, value.bytes);
      }
      tensor->dim_names[tensor->rank] = name && name[0] ? name : NULL;
      tensor->shape[tensor->rank++] = extent;
    }
  }
}

// TypeProto: tensor_type = 1, or what is in a sequence_type = 4 or an optional_type = 9 { elem_type = 1: TypeProto }.
static void read_value_type(loader* l, pb_wire wire, pb_tensor* tensor) {
  pb_wire_field type, element;
  while (pb_wire_next(&wire, &type)) {
    if (type.type != 2) continue;
    if (type.number == 1) read_tensor_type(l, type.bytes, tensor);
    // an optional sequence is the deepest that there is
    if ((type.number != 4 && type.number != 9) || tensor->lists) continue;
    if (type.number == 9 && tensor->may_miss) continue;
    *(type.number == 4 ? &tensor->lists : &tensor->may_miss) = true;
    while (pb_wire_next(&type.bytes, &element))
      if (element.number == 1 && element.type == 2) read_value_type(l, element.bytes, tensor);
  }
}

static void declare_output(loader* l, pb_tensor* tensor, const pb_tensor* type) {
  pb_tensor* declared = PB_NEW(&l->graph->arena, pb_tensor);
  *declared = *type;
  tensor->declared = declared;
  tensor->is_output = true;
}

static pb_status read_value_info(loader* l, pb_wire wire, bool input) {
  pb_subgraph* in = subgraph_here(l);
  pb_wire_field f;
  pb_tensor type = {.type = PB_TYPE_COUNT, .rank = -1};
  const char* name = "";
  while (pb_wire_next(&wire, &f)) {
    if (f.number == 1 && f.type == 2) name = pb__loader_text(l, f.bytes);
    if (f.number == 2 && f.type == 2) read_value_type(l, f.bytes, &type);
  }
  if (!name[0]) return pb__loader_refuse(l, NULL, "an input or output without a name");
  if (type.too_deep) return pb__loader_refuse(l, name, "a tensor of more than 8 dims");
  int at = input ? pb__name_defined(l, name) : pb__name_used(l, name); // may move the table
  if (in && input) {
    if (is_made(&l->graph->tensors[at])) return pb__loader_refuse(l, name, MADE_TWICE);
    l->graph->tensors[at].producer = 0; // no node of it makes it again
    PB_PUSH(in->inputs, in->input_count, in->input_capacity, at);
  }
  if (in && !input) PB_PUSH(in->outputs, in->output_count, in->output_capacity, at);
  if (in) return PB_OK;
  pb_graph* g = l->graph;
  if (input)
    PB_PUSH(g->inputs, g->input_count, g->input_capacity, at);
  else
    PB_PUSH(g->outputs, g->output_count, g->output_capacity, at);
  pb_tensor* tensor = &l->graph->tensors[at];
  if (input && (tensor->producer >= 0 || tensor->is_input)) return pb__loader_refuse(l, name, MADE_TWICE);
  if (input && tensor->const_id < 0) tensor->is_input = true;
  if (!input) declare_output(l, tensor, &type);
  if (tensor->const_id >= 0 || (!input && tensor->is_input)) return PB_OK;
  tensor->type = type.type;
  tensor->type_code = type.type_code;
  tensor->is_unsigned = type.is_unsigned;
  tensor->rank = type.rank;
  memcpy(tensor->shape, type.shape, sizeof tensor->shape);
  tensor->dim_names = type.dim_names;
  tensor->lists = type.lists;
  tensor->may_miss = type.may_miss;
  return PB_OK;
}

// The names of what a subgraph's node makes: a node in front of it may mean them, and no tensor around.
static void define_results(loader* l, pb_wire node) {
  pb_wire_field f;
  while (pb_wire_next(&node, &f)) {
    const char* name = f.number == 2 && f.type == 2 ? pb__loader_text(l, f.bytes) : "";
    if (name[0]) (void)pb__name_defined(l, name);
  }
}

static pb_status read_graph(loader* l, pb_wire wire) {
  pb_wire_field f;
  bool inner = subgraph_here(l) != NULL;
  // Initialisers first: old files list them among the inputs too. What a subgraph is given has its own names, which
  // come before what the nodes mean by them.
  for (int pass = 0; pass < 3; ++pass) {
    pb_wire w = wire;
    while (pb_wire_next(&w, &f)) {
      if (f.type != 2) continue;
      if (l->graph->tensor_count > MAX_TENSORS) return pb__loader_refuse(l, NULL, "more tensors than any model has");
      if (pass == 0 && f.number == 5) {
        const char* name;
        int id;
        bool is_unsigned;
        PB_TRY(read_tensor(l, f.bytes, &name, &id, &is_unsigned));
        int at = pb__name_defined(l, name); // may move the table
        pb_tensor* t = &l->graph->tensors[at];
        if (t->const_id >= 0) return pb__loader_refuse(l, name, MADE_TWICE);
        t->const_id = id;
        t->type = l->consts->items[id]->type;
        t->is_unsigned = is_unsigned;
        t->rank = l->consts->items[id]->rank;
        memcpy(t->shape, l->consts->items[id]->shape, sizeof t->shape);
      }
      if (pass == 1 && f.number == 11 && inner) PB_TRY(read_value_info(l, f.bytes, true));
      if (pass == 1 && f.number == 1 && inner) define_results(l, f.bytes);
      if (pass == 2 && f.number == 1) PB_TRY(pb__read_node(l, f.bytes));
      if (pass == 2 && ((f.number == 11 && !inner) || f.number == 12))
        PB_TRY(read_value_info(l, f.bytes, f.number == 11));
      if (pass == 0 && f.number == 15)
        return pb_unsupported(l->diag, (pb_place){.file = l->graph->file}, 2013, NULL, "sparse initialisers");
    }
    if (w.broken) return pb__loader_refuse(l, NULL, "the graph is cut short");
  }
  return PB_OK;
}

// What a graph's nodes are read by: the opset, and the functions.
static pb_status read_head(loader* l, pb_wire wire) {
  pb_wire_field f;
  while (pb_wire_next(&wire, &f)) {
    if (f.number == 25 && f.type == 2) PB_TRY(pb__function_read(l, f.bytes));
    int64_t opset = f.number == 8 && f.type == 2 ? pb__opset_read(l, f.bytes) : 0; // opset_import
    if (opset) l->graph->opset = opset;
  }
  return wire.broken ? pb__loader_refuse(l, NULL, NOT_ONNX) : PB_OK;
}

static pb_status read_model(loader* l, pb_wire wire) {
  pb_wire_field f;
  bool found = false;
  PB_TRY(read_head(l, wire));
  PB_TRY(pb__opset_check(l, "the model", l->graph->opset));
  PB_TRY(pb__scope_open(l, -1, false));
  while (pb_wire_next(&wire, &f)) {
    if (f.number != 7 || f.type != 2) continue;
    if (found) return pb__loader_refuse(l, NULL, "two graphs");
    found = true;
    PB_TRY(read_graph(l, f.bytes));
  }
  if (!found) return pb__loader_refuse(l, NULL, NOT_ONNX);
  if (l->cut_name) return pb__loader_refuse(l, NULL, "a name with a NUL in it");
  pb__sort_nodes(l->graph);
  return PB_OK;
}

// StableHLO and other dialects of MLIR as text.
static bool is_mlir(const char* bytes, size_t count) {
  static const char* const words[] = {"module", "func.func", "stablehlo.", "#loc", "\"builtin.module\"",
                                      "vhlo.",  "ML\xefR"};
  size_t at = 0;
  while (at < count && (bytes[at] == ' ' || bytes[at] == '\n' || bytes[at] == '\t' || bytes[at] == '\r')) ++at;
  for (size_t k = 0; k < sizeof words / sizeof *words; ++k)
    if (count - at >= strlen(words[k]) && !memcmp(bytes + at, words[k], strlen(words[k]))) return true;
  return count - at >= 2 && !memcmp(bytes + at, "//", 2);
}

// A name takes 16 bytes of a model and more, mostly: as many lists as that makes names, within limits.
static size_t lists_for(size_t bytes) {
  enum { LEAST = 256, MOST = 65536 };
  return bytes / 16 < LEAST ? LEAST : bytes / 16 > MOST ? MOST : bytes / 16;
}

static pb_status read_bytes(pb_graph* g, bool in_file, const void* bytes, size_t count, const pb_input_options* inputs,
                            pb_consts* consts, pb_diag* diag) {
  static const pb_input_options none;
  if (is_mlir(bytes, count))
    return pb_unsupported(diag, (pb_place){.file = g->file}, 2018, "call it MODEL.mlir",
                          "this is MLIR, and the file's name says ONNX");
  loader l = {.graph = g, .consts = consts, .diag = diag, .bucket_count = lists_for(count), .in_file = in_file};
  l.buckets = malloc(l.bucket_count * sizeof *l.buckets);
  if (!l.buckets) pb_no_memory(l.bucket_count * sizeof *l.buckets);
  memset(l.buckets, 0xff, l.bucket_count * sizeof *l.buckets);
  pb_status status = read_model(&l, (pb_wire){bytes, (const uint8_t*)bytes + count, false});
  if (status == PB_OK) status = pb__set_inputs(&l, inputs ? inputs : &none);
  free(l.buckets);
  free(l.names);
  free(l.scopes);
  free(l.functions);
  return status;
}

static pb_graph* new_graph(const char* path) {
  pb_graph* g = calloc(1, sizeof *g);
  if (!g) pb_no_memory(sizeof *g);
  g->file = pb_strdup(&g->arena, path);
  return g;
}

pb_status pb_onnx_load(const char* path, const pb_input_options* inputs, pb_consts* consts, pb_diag* diag,
                       pb_graph** graph) {
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  struct stat st;
  if (fd < 0) return pb_system_error(diag, (pb_place){.file = path}, 1001, "cannot be read");
  if (fstat(fd, &st) || !S_ISREG(st.st_mode) || st.st_size == 0) {
    close(fd);
    return pb_error(diag, (pb_place){.file = path}, 2010, NULL, "this is no ONNX model: no file, or an empty one");
  }
  pb_mapping file = {.data = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0),
                     .bytes = (size_t)st.st_size};
  close(fd);
  if (file.data == MAP_FAILED) return pb_system_error(diag, (pb_place){.file = path}, 1001, "cannot be mapped");
  pb_graph* g = new_graph(path);
  PB_PUSH(g->mappings, g->mapping_count, g->mapping_capacity, file);
  pb_status status = read_bytes(g, true, file.data, file.bytes, inputs, consts, diag);
  if (status == PB_OK)
    *graph = g;
  else
    pb_graph_free(g);
  return status;
}

pb_status pb_onnx_parse(const void* bytes, size_t count, const char* name, const pb_input_options* inputs,
                        pb_consts* consts, pb_diag* diag, pb_graph** graph) {
  pb_graph* g = new_graph(name);
  pb_status status = read_bytes(g, false, bytes, count, inputs, consts, diag);
  if (status == PB_OK)
    *graph = g;
  else
    pb_graph_free(g);
  return status;
}

void pb_graph_free(pb_graph* g) {
  if (!g) return;
  free(g->tensors);
  free(g->nodes);
  for (size_t k = 0; k < g->subgraph_count; ++k) {
    pb_subgraph* s = &g->subgraphs[k];
    free(s->nodes);
    free(s->inputs);
    free(s->outputs);
    free(s->owned);
  }
  free(g->subgraphs);
  free(g->inputs);
  free(g->outputs);
  for (size_t k = 0; k < g->mapping_count; ++k) munmap(g->mappings[k].data, g->mappings[k].bytes);
  free(g->mappings);
  pb_arena_free(&g->arena);
  free(g);
}

const pb_attr* pb_node_attr(const pb_node* node, const char* name) {
  for (int k = 0; k < node->attr_count; ++k)
    if (!strcmp(node->attrs[k].name, name)) return &node->attrs[k];
  return NULL;
}

int64_t pb_node_int(const pb_node* node, const char* name, int64_t missing) {
  const pb_attr* a = pb_node_attr(node, name);
  return a && a->kind == PB_ATTR_INT ? a->i : missing;
}

int64_t pb_node_opset(const pb_graph* graph, const pb_node* node) { return node->opset ? node->opset : graph->opset; }

const char* pb_node_place(pb_graph* graph, const pb_node* node) {
  return pb_printf(&graph->arena, "node '%s' (%s)", node->name, node->op);
}
