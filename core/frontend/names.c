// Names of tensors, by where they are seen.
#include "core/frontend/loader.h"

#include <string.h>

enum { MOST_DEPTH = 64 };

static size_t hash(const char* name) {
  uint64_t h = 1469598103934665603ull;
  for (; *name; ++name) h = (h ^ (unsigned char)*name) * 1099511628211ull;
  return (size_t)h;
}

void pb__name_bind(pb__loader* l, const char* name, int tensor) {
  size_t b = hash(name) % l->bucket_count;
  pb__name entry = {.name = name, .scope = l->scope, .tensor = tensor, .next = l->buckets[b]};
  l->buckets[b] = (int)l->name_count;
  PB_PUSH(l->names, l->name_count, l->name_capacity, entry);
}

static const pb__name* find(const pb__loader* l, const char* name, int scope) {
  for (int k = l->buckets[hash(name) % l->bucket_count]; k >= 0; k = l->names[k].next)
    if (l->names[k].scope == scope && !strcmp(l->names[k].name, name)) return &l->names[k];
  return NULL;
}

static int new_tensor(pb__loader* l, const char* name) {
  pb_graph* g = l->graph;
  pb_tensor tensor = {.name = name, .type = PB_TYPE_COUNT, .rank = -1, .const_id = -1, .producer = -1};
  PB_PUSH(g->tensors, g->tensor_count, g->tensor_capacity, tensor);
  int made = (int)g->tensor_count - 1, around = l->scope;
  while (around >= 0 && l->scopes[around].subgraph < 0) around = l->scopes[around].parent; // a call in a subgraph
  if (around >= 0) {
    pb_subgraph* s = &g->subgraphs[l->scopes[around].subgraph];
    PB_PUSH(s->owned, s->owned_count, s->owned_capacity, made);
  }
  pb__name_bind(l, name, made);
  return made;
}

int pb__name_defined(pb__loader* l, const char* name) {
  const pb__name* known = find(l, name, l->scope);
  return known ? known->tensor : new_tensor(l, name);
}

int pb__name_used(pb__loader* l, const char* name) {
  int scope = l->scope, here = l->scope;
  for (const pb__name* known;; scope = l->scopes[scope].parent) {
    known = find(l, name, scope);
    if (known) return known->tensor;
    if (l->scopes[scope].closed || l->scopes[scope].parent < 0) break;
  }
  l->scope = scope;
  int made = new_tensor(l, name);
  l->scope = here;
  return made;
}

pb_status pb__scope_open(pb__loader* l, int subgraph, bool closed) {
  if (++l->depth > MOST_DEPTH)
    return pb__loader_refuse(l, NULL, "graphs within graphs, or functions that call each other, more than 64 deep");
  pb__scope scope = {.parent = l->scope_count ? l->scope : -1, .subgraph = subgraph, .closed = closed};
  l->scope = (int)l->scope_count;
  PB_PUSH(l->scopes, l->scope_count, l->scope_capacity, scope);
  return PB_OK;
}

void pb__scope_close(pb__loader* l) {
  --l->depth;
  l->scope = l->scopes[l->scope].parent;
}
