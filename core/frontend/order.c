// The order of nodes. ONNX asks that a node stands behind those that make what it reads; converters to half precision
// append their casts all the same, and ONNX Runtime takes such models. Nodes that stand too late come forward; circles
// stay as the file has them, and are refused where one is met.
#include "core/frontend/loader.h"

#include <stdlib.h>
#include <string.h>

typedef struct sorter {
  pb_graph* g;
  pb_node* nodes; // those of one graph, the model's or one that a node has
  size_t count;
  int list, *list_of;   // which graph's they are, and by tensor whose nodes make it
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

enum { NO_LIST = -1, OUTERMOST };

static void note_makers(int* list_of, int list, const pb_node* nodes, size_t count) {
  for (size_t n = 0; n < count; ++n)
    for (int k = 0; k < nodes[n].output_count; ++k)
      if (nodes[n].outputs[k] >= 0) list_of[nodes[n].outputs[k]] = list;
}

// By tensor the graph of the node that makes it: the subgraphs follow the outermost one.
static int* find_lists(const pb_graph* g) {
  int* list_of = room(g->tensor_count, sizeof *list_of);
  for (size_t t = 0; t < g->tensor_count; ++t) list_of[t] = NO_LIST;
  note_makers(list_of, OUTERMOST, g->nodes, g->node_count);
  for (size_t k = 0; k < g->subgraph_count; ++k)
    note_makers(list_of, (int)k + 1, g->subgraphs[k].nodes, g->subgraphs[k].node_count);
  return list_of;
}

// What the graph's nodes make of what a node reads, also in the graphs that it has.
static void add_makers(sorter* s, const int* tensors, size_t count) {
  for (size_t k = 0; k < count; ++k)
    if (tensors[k] >= 0 && s->list_of[tensors[k]] == s->list)
      PB_PUSH(s->makers, s->maker_count, s->maker_capacity, s->g->tensors[tensors[k]].producer);
}

static void add_makers_of(sorter* s, const pb_node* n) {
  add_makers(s, n->inputs, (size_t)n->input_count);
  for (int a = 0; a < n->attr_count; ++a) {
    if (n->attrs[a].graph < 0) continue;
    const pb_subgraph* in = &s->g->subgraphs[n->attrs[a].graph];
    for (size_t k = 0; k < in->node_count; ++k) add_makers_of(s, &in->nodes[k]);
    add_makers(s, in->outputs, in->output_count);
  }
}

// false: every node is behind its makers.
static bool read_makers(sorter* s) {
  bool late = false;
  for (size_t n = 0; n < s->count; ++n) {
    s->first[n] = s->maker_count;
    add_makers_of(s, &s->nodes[n]);
    for (size_t k = s->first[n]; k < s->maker_count; ++k) late |= (size_t)s->makers[k] >= n;
  }
  s->first[s->count] = s->maker_count;
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

static void put_in_order(sorter* s) {
  pb_node* nodes = room(s->count, sizeof *nodes);
  memcpy(nodes, s->nodes, s->count * sizeof *nodes);
  for (size_t n = 0; n < s->count; ++n) {
    s->nodes[n] = nodes[s->order[n]];
    for (int k = 0; k < s->nodes[n].output_count; ++k)
      if (s->nodes[n].outputs[k] >= 0) s->g->tensors[s->nodes[n].outputs[k]].producer = (int)n;
  }
  free(nodes);
}

static void sort_list(pb_graph* g, int* list_of, int list, pb_node* nodes, size_t count) {
  sorter s = {.g = g, .nodes = nodes, .count = count, .list = list, .list_of = list_of};
  s.first = room(count, sizeof *s.first);
  if (read_makers(&s)) {
    bool possible = true;
    s.next = room(count, sizeof *s.next);
    memcpy(s.next, s.first, count * sizeof *s.next);
    s.order = room(count, sizeof *s.order);
    s.path = room(count, sizeof *s.path);
    s.state = room(count, 1);
    for (size_t n = 0; n < count && possible; ++n)
      if (s.state[n] == UNSEEN) possible = place(&s, (int)n);
    if (possible) put_in_order(&s);
    free(s.next);
    free(s.order);
    free(s.path);
    free(s.state);
  }
  free(s.first);
  free(s.makers);
}

void pb__sort_nodes(pb_graph* g) {
  int* list_of = find_lists(g);
  sort_list(g, list_of, OUTERMOST, g->nodes, g->node_count);
  for (size_t k = 0; k < g->subgraph_count; ++k)
    sort_list(g, list_of, (int)k + 1, g->subgraphs[k].nodes, g->subgraphs[k].node_count);
  free(list_of);
}
