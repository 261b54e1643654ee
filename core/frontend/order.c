// The order of nodes. ONNX asks that a node stands behind those that make what it reads; converters to half precision
// append their casts all the same, and ONNX Runtime takes such models. Nodes that stand too late come forward; circles
// stay as the file has them, and are refused where one is met.
#include "core/frontend/loader.h"

#include <stdlib.h>
#include <string.h>

typedef struct sorter {
  pb_graph* g;
  size_t *first, *next; // by node: where its makers begin, in `makers`, and the one to be asked next
  int* makers;          // nodes
  size_t maker_count, maker_capacity;
  int *order, *path; // nodes that have their place, and those that wait for a maker's
  size_t placed, depth;
  char* state; // by node
} sorter;

enum { UNSEEN, WAITS, PLACED };

static void* room(size_t count, size_t size) {
  void* made = calloc(count + 1, size);
  if (!made) pb_no_memory((count + 1) * size);
  return made;
}

// What the outermost graph's nodes make of what a node reads, also in the graphs that it has.
static void add_makers(sorter* s, const bool* outermost, const int* tensors, size_t count) {
  for (size_t k = 0; k < count; ++k)
    if (tensors[k] >= 0 && outermost[tensors[k]])
      PB_PUSH(s->makers, s->maker_count, s->maker_capacity, s->g->tensors[tensors[k]].producer);
}

static void add_makers_of(sorter* s, const bool* outermost, const pb_node* n) {
  add_makers(s, outermost, n->inputs, (size_t)n->input_count);
  for (int a = 0; a < n->attr_count; ++a) {
    if (n->attrs[a].graph < 0) continue;
    const pb_subgraph* in = &s->g->subgraphs[n->attrs[a].graph];
    for (size_t k = 0; k < in->node_count; ++k) add_makers_of(s, outermost, &in->nodes[k]);
    add_makers(s, outermost, in->outputs, in->output_count);
  }
}

// false: every node is behind its makers.
static bool read_makers(sorter* s) {
  const pb_graph* g = s->g;
  bool *outermost = room(g->tensor_count, sizeof *outermost), late = false;
  for (size_t n = 0; n < g->node_count; ++n)
    for (int k = 0; k < g->nodes[n].output_count; ++k)
      if (g->nodes[n].outputs[k] >= 0) outermost[g->nodes[n].outputs[k]] = true;
  for (size_t n = 0; n < g->node_count; ++n) {
    s->first[n] = s->maker_count;
    add_makers_of(s, outermost, &g->nodes[n]);
    for (size_t k = s->first[n]; k < s->maker_count; ++k) late |= (size_t)s->makers[k] >= n;
  }
  s->first[g->node_count] = s->maker_count;
  free(outermost);
  return late;
}

// Gives the node a place, and its makers theirs in front of it. false: it hangs on itself.
static bool place(sorter* s, int node) {
  s->path[s->depth++] = node;
  while (s->depth) {
    int n = s->path[s->depth - 1];
    bool ready = true;
    s->state[n] = WAITS;
    for (size_t* k = &s->next[n]; *k < s->first[n + 1] && ready; ++*k) {
      int maker = s->makers[*k];
      if (s->state[maker] == WAITS) return false;
      ready = s->state[maker] == PLACED;
      if (!ready) s->path[s->depth++] = maker;
    }
    if (!ready) continue;
    s->state[n] = PLACED;
    s->order[s->placed++] = n;
    --s->depth;
  }
  return true;
}

static void put_in_order(pb_graph* g, const int* order) {
  pb_node* nodes = room(g->node_count, sizeof *nodes);
  memcpy(nodes, g->nodes, g->node_count * sizeof *nodes);
  for (size_t n = 0; n < g->node_count; ++n) {
    g->nodes[n] = nodes[order[n]];
    for (int k = 0; k < g->nodes[n].output_count; ++k)
      if (g->nodes[n].outputs[k] >= 0) g->tensors[g->nodes[n].outputs[k]].producer = (int)n;
  }
  free(nodes);
}

void pb__sort_nodes(pb_graph* g) {
  sorter s = {.g = g, .first = room(g->node_count, sizeof *s.first)};
  if (read_makers(&s)) {
    bool possible = true;
    s.next = room(g->node_count, sizeof *s.next);
    memcpy(s.next, s.first, g->node_count * sizeof *s.next);
    s.order = room(g->node_count, sizeof *s.order);
    s.path = room(g->node_count, sizeof *s.path);
    s.state = room(g->node_count, 1);
    for (size_t n = 0; n < g->node_count && possible; ++n)
      if (s.state[n] == UNSEEN) possible = place(&s, (int)n);
    if (possible) put_in_order(g, s.order);
    free(s.next);
    free(s.order);
    free(s.path);
    free(s.state);
  }
  free(s.first);
  free(s.makers);
}
