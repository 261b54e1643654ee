// An explanation as text and as JSON.
#include "core/base/shown.h"
#include "core/poly/text.h"
#include "core/report/explain.h"

#include <stdlib.h>
#include <string.h>

typedef unsigned long long ull;

static void put_string(pb_text* t, const char* text) { pb_text_add_json(t, text, strlen(text)); }

static double share(uint64_t part, uint64_t whole) { return whole ? 100 * (double)part / (double)whole : 0; }

static const char* bound_of(const pb_explained_step* s) {
  if (s->missing) return "-";
  return s->kernel->bound && *s->kernel->bound ? s->kernel->bound : "?";
}

// Instructions that compute first, then those that move.
static void put_insns(pb_text* t, const pb_explained_step* s) {
  bool any = false;
  for (int movers = 0; movers < 2; ++movers) {
    const char* before = !movers ? "" : any ? "; moved by " : "moved by ";
    for (int k = 0; k < s->insn_count; ++k) {
      if (s->insns[k].insn->mover != (movers != 0)) continue;
      pb_text_add(t, "%s%s", before, s->insns[k].insn->name);
      before = " ";
      any = true;
    }
  }
  if (!s->insn_count) pb_text_add(t, "%s", s->missing ? "nothing: see below" : s->how);
}

static void put_busy(pb_text* t, const pb_explanation* e, const pb_explained_step* s) {
  const char* before = "  busy:";
  for (int q = 0; q < pb__explain_queues(e); ++q) {
    const char* name;
    double busy = pb__explain_busy(e, s, q, &name);
    if (busy == 0) continue;
    pb_text_add(t, "%s %s %.0f%%", before, name, busy);
    before = "";
  }
}

// A loop or a branch begins in front of its first step, and what is in it stands further in.
static void put_scopes(pb_text* t, const pb_explanation* e, int step) {
  for (int k = 0; k < e->scopes.count; ++k) {
    const pb_stretch* s = &e->scopes.items[k];
    if (s->first != step || s->last < step) continue;
    pb_text_add(t, "     %*s%s, steps %d to %d: ", 2 * s->depth, "", s->kind, s->first, s->last);
    pb_text_add_shown(t, s->node);
    pb_text_add(t, "\n");
  }
}

static void put_line(pb_text* t, const pb_explanation* e, int index) {
  const pb_explained_step* s = &e->steps[index];
  uint64_t cycles = s->kernel->predicted_cycles;
  int inside = 2 * pb_scopes_depth(&e->scopes, index);
  put_scopes(t, e, index);
  if (inside > 24) inside = 24;
  pb_arena scratch = {0};
  pb_text_add(t, "%4d %*s%-*.*s %-28.28s", index, inside, "", 32 - inside, 32 - inside, pb_shown(&scratch, s->nodes),
              s->result);
  pb_arena_free(&scratch);
  if (cycles)
    pb_text_add(t, " %12llu %5.1f%%", (ull)cycles, share(cycles, e->cycles));
  else
    pb_text_add(t, " %12s %6s", "-", "-");
  if (e->peak && s->macs && cycles)
    pb_text_add(t, " %5.1f%%", 100 * pb__explain_of_peak(e, s));
  else
    pb_text_add(t, " %6s", "-");
  pb_text_add(t, "  %-8s ", bound_of(s));
  put_insns(t, s);
  put_busy(t, e, s);
  pb_text_add(t, "\n");
}

static void put_missing(pb_text* t, const pb_explanation* e) {
  if (!e->missing_count) return;
  pb_text_add(t, "\n%s lacks what %d of %d steps need", e->target, e->missing_count, e->step_count);
  pb_text_add(t, e->fallback ? "; they run on %s:\n" : "; pbc refuses the model unless --fallback=%s is given:\n",
              e->fallback ? e->fallback : "cpu");
  for (int k = 0; k < e->step_count; ++k)
    if (e->steps[k].missing) pb_text_add(t, "%4d %s\n", k, e->steps[k].missing);
}

// Instructions of the chip that the model has no use for.
static void put_idle(pb_text* t, const pb_explanation* e, const char* begin, const char* each, const char* between) {
  int n = 0;
  for (int k = 0; k < e->chip->insn_count; ++k) {
    if (!pb__explain_idle(e, &e->chip->insns[k])) continue;
    pb_text_add(t, "%s", n++ ? between : begin);
    pb_text_add(t, each, e->chip->insns[k].name);
  }
}

static char* as_text(const pb_explanation* e) {
  pb_text t = {0};
  pb_text_add_shown(&t, e->model);
  pb_text_add(&t, " on %s: %d steps", e->target, e->step_count);
  if (e->cycles) pb_text_add(&t, ", %llu cycles predicted", (ull)e->cycles);
  pb_text_add(&t, ", %llu multiply-accumulates", (ull)e->macs);
  if (e->cycles && e->peak)
    pb_text_add(&t, ", %.1f%% of the peak of %llu a cycle", share(e->macs, e->cycles * e->peak), (ull)e->peak);
  if (e->scopes.count) pb_text_add(&t, "; of each loop one iteration, and every branch");
  if (e->codes_like)
    pb_text_add(&t, "\ncodes by the formula of %s: scales are off by %.2g%% at most", e->codes_like,
                100 * e->scales_off);
  if (e->apart) {
    pb_text_add(&t, "\nconstants: ");
    for (int k = 0; k < e->chip->constant_memory_count; ++k)
      pb_text_add(&t, "%llu%s in %s, ", (ull)e->apart_in[k], k ? "" : " bytes",
                  e->chip->memories[e->chip->constant_memories[k]].name);
    pb_text_add(&t, "%llu in %s, where all other tensors are", (ull)e->constants,
                e->chip->memories[e->chip->system_memory].name);
  }
  pb_text_add(&t, "\n\n%4s %-32s %-28s %12s %6s %6s  %-8s %s\n", "step", "nodes", "result", "cycles", "share", "peak",
              "bound by", "runs as");
  for (int k = 0; k < e->step_count; ++k) put_line(&t, e, k);
  put_missing(&t, e);
  size_t before = t.length;
  put_idle(&t, e, "\nno step runs as: ", "%s", ", ");
  if (t.length > before) pb_text_add(&t, "\n");
  return t.data;
}

static void put_json_insns(pb_text* t, const pb_explained_step* s) {
  pb_text_add(t, "\"instructions\": [");
  for (int k = 0; k < s->insn_count; ++k) {
    pb_text_add(t, "%s{\"name\": ", k ? ", " : "");
    put_string(t, s->insns[k].insn->name);
    pb_text_add(t, ", \"mover\": %s, \"nodes\": ", s->insns[k].insn->mover ? "true" : "false");
    put_string(t, s->insns[k].nodes);
    pb_text_add(t, "}");
  }
  pb_text_add(t, "]");
  if (*s->how) {
    pb_text_add(t, ", \"code\": ");
    put_string(t, s->how);
  }
  if (s->missing) {
    pb_text_add(t, ", \"missing\": ");
    put_string(t, s->missing);
  }
}

static void put_json_units(pb_text* t, const pb_explanation* e, const pb_explained_step* s) {
  pb_text_add(t, "\"busy\": {");
  for (int q = 0, n = 0; q < pb_chip_queues(e->chip); ++q) {
    if (!s->busy[q]) continue;
    pb_text_add(t, "%s\"%s\": %llu", n++ ? ", " : "", pb_chip_queue_name(e->chip, q), (ull)s->busy[q]);
  }
  pb_text_add(t, "}, \"memory_bytes\": {");
  for (int m = 0, n = 0; m < e->chip->memory_count; ++m) {
    if (!s->memory[m]) continue;
    pb_text_add(t, "%s\"%s\": %lld", n++ ? ", " : "", e->chip->memories[m].name, (long long)s->memory[m]);
  }
  pb_text_add(t, "}");
}

static void put_json_step(pb_text* t, const pb_explanation* e, int index) {
  const pb_explained_step* s = &e->steps[index];
  pb_text_add(t, "  {\"step\": %d, \"kernel\": ", index);
  put_string(t, s->kernel->name);
  pb_text_add(t, ", \"nodes\": ");
  put_string(t, s->nodes);
  pb_text_add(t, ", \"result\": ");
  put_string(t, s->result);
  pb_text_add(t, ", \"from\": [");
  for (size_t k = 0; k < s->from_count; ++k) pb_text_add(t, "%s%d", k ? ", " : "", s->from[k]);
  pb_text_add(t, "],\n   ");
  if (e->scopes.count) {
    pb_text_add(t, "\"within\": [");
    pb_scopes_print(t, &e->scopes, e->scopes.of_step[index]);
    pb_text_add(t, "],\n   ");
  }
  put_json_insns(t, s);
  pb_text_add(t, ",\n   \"predicted_cycles\": ");
  pb_text_add(t, s->kernel->predicted_cycles ? "%llu" : "null", (ull)s->kernel->predicted_cycles);
  pb_text_add(t, ", \"bound\": ");
  put_string(t, bound_of(s));
  pb_text_add(t, ", \"macs\": %llu, \"commands\": %llu, ", (ull)s->macs, (ull)s->commands);
  put_json_units(t, e, s);
  pb_text_add(t, "}%s\n", index + 1 < e->step_count ? "," : "");
}

static char* as_json(const pb_explanation* e) {
  pb_text t = {0};
  pb_text_add(&t, "{\"model\": ");
  put_string(&t, e->model);
  pb_text_add(&t, ", \"target\": ");
  put_string(&t, e->target);
  pb_text_add(&t, ", \"fallback\": ");
  if (e->fallback)
    put_string(&t, e->fallback);
  else
    pb_text_add(&t, "null");
  if (e->codes_like) {
    pb_text_add(&t, ", \"formula_of\": ");
    put_string(&t, e->codes_like);
    pb_text_add(&t, ", \"scales_off\": %.3g", e->scales_off);
  }
  pb_text_add(&t, ", \"predicted_cycles\": %llu, \"macs\": %llu, \"peak_macs_per_cycle\": ", (ull)e->cycles,
              (ull)e->macs);
  pb_text_add(&t, e->peak ? "%llu" : "null", (ull)e->peak);
  if (e->apart) {
    pb_text_add(&t, ", \"constant_bytes\": {\"%s\": %llu", e->chip->memories[e->chip->system_memory].name,
                (ull)e->constants);
    for (int k = 0; k < e->chip->constant_memory_count; ++k)
      pb_text_add(&t, ", \"%s\": %llu", e->chip->memories[e->chip->constant_memories[k]].name, (ull)e->apart_in[k]);
    pb_text_add(&t, "}");
  }
  pb_text_add(&t, ", \"steps_missing\": %d,\n \"steps\": [\n", e->missing_count);
  for (int k = 0; k < e->step_count; ++k) put_json_step(&t, e, k);
  pb_text_add(&t, " ],\n \"idle\": [");
  put_idle(&t, e, "", "\"%s\"", ", ");
  pb_text_add(&t, "]}\n");
  return t.data;
}

char* pb_explanation_print(const pb_explanation* e, const char* form) {
  if (!strcmp(form, "text")) return as_text(e);
  if (!strcmp(form, "json")) return as_json(e);
  return strcmp(form, "html") ? NULL : pb__explain_html(e);
}
