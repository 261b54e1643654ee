// The values of a program as they are lifted: their elements, those that have none, and those that are others' elements
// under another shape.
#include "core/s1/lift/lift.h"

#include <string.h>

int64_t pb__elements(int rank, const int64_t* shape) {
  int64_t count = 1;
  if (rank > PB_GRAPH_RANK) return -1;
  for (int r = 0; r < rank; ++r) {
    if (shape[r] < 1 || shape[r] > PB_MAX_OPEN_ELEMENTS / count) return -1;
    count *= shape[r];
  }
  return count;
}

bool pb__fits(const pb_consts* consts, int rank, const int64_t* shape) {
  int64_t count = pb__elements(rank, shape);
  return count > 0 && count <= pb_most_elements(consts);
}

bool pb__is_empty(int rank, const int64_t* shape) {
  bool none = false;
  for (int r = 0; r < rank; ++r) {
    if (shape[r] < 0 || shape[r] > PB_MAX_ELEMENTS) return false;
    none |= !shape[r];
  }
  return none && rank <= PB_GRAPH_RANK;
}

static int push_value(lifter* l, const char* name, pb_type type, int rank, const int64_t* shape) {
  pb_s1_value v = {.name = name, .type = type, .rank = rank, .alias_of = -1, .const_id = -1};
  if (rank) memcpy(v.shape, shape, sizeof(int64_t) * (size_t)rank);
  PB_PUSH(l->out->values, l->out->value_count, l->out->value_capacity, v);
  return (int)l->out->value_count - 1;
}

int pb__add_empty(lifter* l, const char* name, pb_type type, int rank, const int64_t* shape) {
  return push_value(l, name, type, rank, shape);
}

int pb__add_value(lifter* l, const char* name, pb_type type, int rank, const int64_t* shape) {
  static const int64_t none[PB_GRAPH_RANK] = {1, 1, 1, 1, 1, 1, 1, 1};
  if (!pb__fits(l->consts, rank, shape)) {
    l->impossible = "a result without elements, or of more than 2^31 - 1";
    if (rank > PB_GRAPH_RANK) rank = PB_GRAPH_RANK;
    shape = none; // the node is refused once its lifting returns
  }
  return push_value(l, name, type, rank, shape);
}

void pb__alias(lifter* l, int made, int value) {
  int base = l->out->values[value].alias_of;
  l->out->values[made].alias_of = base >= 0 ? base : value;
}

int pb__reshaped(lifter* l, const char* name, int value, int rank, const int64_t* shape) {
  int made = pb__add_value(l, name, l->out->values[value].type, rank, shape);
  pb__alias(l, made, value);
  return made;
}

// What a DequantizeLinear makes may not be made yet: it has as many as its codes.
bool pb__takes_empty(lifter* l, const pb_node* n) {
  for (int k = 0; k < n->input_count; ++k) {
    const pb_node* maker = n->inputs[k] < 0 ? NULL : pb__producer(l, n->inputs[k]);
    bool codes = maker && pb__is(maker, "DequantizeLinear") && l->value_of[n->inputs[k]] < 0;
    int tensor = codes ? maker->inputs[0] : n->inputs[k], value = tensor < 0 ? -1 : l->value_of[tensor];
    if (value >= 0 && pb__is_empty(l->out->values[value].rank, l->out->values[value].shape)) return true;
  }
  return false;
}
