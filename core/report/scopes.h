// The loops and branches of a host program that data decide, read off its jumps.
#ifndef PB_REPORT_SCOPES_H
#define PB_REPORT_SCOPES_H

#include "core/artefact/engine.h"
#include "core/poly/text.h"

typedef struct pb_stretch {
  const char* kind;  // "loop", "then" or "else"
  const char* node;  // of the model
  int first, last;   // steps; a branch without any: last < first
  int around, depth; // the scope that it stands in, -1; how many those are
} pb_stretch;

typedef struct pb_scopes {
  pb_stretch* items; // outer ones first; of those side by side that of earlier steps
  int count;
  int* of_step; // the innermost scope of each step, -1: none
} pb_scopes;

pb_scopes pb_scopes_of(const pb_engine* engine, pb_arena* arena);
// How many loops and branches a step stands in.
int pb_scopes_depth(const pb_scopes* scopes, int step);
// The scope and those around it, the outermost first, as JSON objects between commas; -1: nothing.
void pb_scopes_print(pb_text* text, const pb_scopes* scopes, int scope);
// What a step that launches nothing does: "128 bytes moved", "on to step 9 unless it holds". In the arena.
const char* pb_scopes_step(const pb_step* step, pb_arena* arena);

#endif
