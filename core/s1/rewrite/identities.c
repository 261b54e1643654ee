// Identities. Exporters write one behind each use of a shared constant, and optimisers where they took an operator out.
// Who reads one reads what it copies, so that a scale is a constant and an operator between codes is next to them.
// Those that make an output of the graph stay for it.
#include "core/s1/lift/lift.h"

#include <stdlib.h>

static bool copies(const pb_node* n) {
  return !*n->domain && pb__is(n, "Identity") && n->input_count == 1 && n->output_count == 1 && n->inputs[0] >= 0 &&
         n->outputs[0] >= 0 && !n->attr_count;
}

static void read_through(const int* same_as, int* tensors, size_t count) {
  for (size_t k = 0; k < count; ++k)
    if (tensors[k] >= 0) tensors[k] = same_as[tensors[k]];
}

// Of a node, and of all that is within it: subgraphs read what is around them by its name.
static void read_sources(pb_graph* g, const int* same_as, pb_node* n) {
  read_through(same_as, n->inputs, (size_t)n->input_count);
  for (int a = 0; a < n->attr_count; ++a) {
    if (n->attrs[a].graph < 0) continue;
    pb_subgraph* s = &g->subgraphs[n->attrs[a].graph];
    for (size_t k = 0; k < s->node_count; ++k) read_sources(g, same_as, &s->nodes[k]);
    read_through(same_as, s->outputs, s->output_count);
  }
}

void pb__drop_identities(pb_graph* g) {
  bool any = false;
  for (size_t k = 0; k < g->node_count; ++k) any |= copies(&g->nodes[k]);
  if (!any) return;
  int* same_as = malloc((g->tensor_count + 1) * sizeof *same_as);
  if (!same_as) pb_no_memory(g->tensor_count * sizeof *same_as);
  for (size_t k = 0; k < g->tensor_count; ++k) same_as[k] = (int)k;
  size_t kept = 0;
  for (size_t k = 0; k < g->node_count; ++k) {
    pb_node n = g->nodes[k];
    read_sources(g, same_as, &n);
    if (copies(&n)) same_as[n.outputs[0]] = n.inputs[0];
    if (copies(&n) && !g->tensors[n.outputs[0]].is_output) {
      g->tensors[n.outputs[0]].producer = -1;
      continue;
    }
    for (int o = 0; o < n.output_count; ++o)
      if (n.outputs[o] >= 0) g->tensors[n.outputs[o]].producer = (int)kept;
    g->nodes[kept++] = n;
  }
  g->node_count = kept;
  free(same_as);
}
