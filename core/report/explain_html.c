// An explanation as one HTML page: the network drawn beside a table, a row a step. It needs no script, no other file
// and no network.
#include "core/base/shown.h"
#include "core/poly/text.h"
#include "core/report/explain.h"

#include <stdlib.h>
#include <string.h>

typedef unsigned long long ull;

enum { ROW = 30, BOX = 190, STEP_IN = 12, MOST_IN = 6, LANE = 9, MOST_LANES = 24, COLOURS = 8, MOST_LABEL = 27 };

static const char style[] =
    "body{font:14px/1.4 system-ui,sans-serif;margin:24px;color:#222;background:#fff}"
    "h1{font-size:20px;margin:0 0 4px}h2{font-size:16px;margin:24px 0 8px}p{margin:4px 0}"
    ".net{display:flex;align-items:flex-start;margin-top:16px}.net svg{flex:none;margin-top:30px}"
    "table{border-collapse:collapse;font-variant-numeric:tabular-nums}"
    ".net tr{height:30px}.net td,.net th{padding:0 10px;white-space:nowrap;border-bottom:1px solid #eee;height:30px;"
    "box-sizing:border-box}th{text-align:left;font-weight:600;background:#f6f6f6}td.n,th.n{text-align:right}"
    ".clip{max-width:260px;overflow:hidden;text-overflow:ellipsis}"
    ".bar{display:inline-block;height:10px;vertical-align:middle}"
    ".key{display:inline-block;width:12px;height:12px;border-radius:3px;margin:0 4px 0 14px;vertical-align:-1px}"
    ".all{display:flex;height:22px;max-width:900px;margin:8px 0;border-radius:4px;overflow:hidden}"
    ".miss td{background:#fdecea}.miss li{margin:4px 0}code{font-size:13px}";

static const char* const colours[COLOURS] = {"#4878cf", "#6acc65", "#e8a33d", "#956cb4",
                                             "#77bedb", "#b0a160", "#d880b8", "#8c8c8c"};
static const char missing_colour[] = "#d65f5f";

static void put(pb_text* t, const char* name) {
  pb_arena scratch = {0};
  for (const char* text = pb_shown(&scratch, name); *text; ++text) {
    const char* as = *text == '&'   ? "&amp;"
                     : *text == '<' ? "&lt;"
                     : *text == '>' ? "&gt;"
                     : *text == '"' ? "&quot;"
                                    : NULL;
    if (as)
      pb_text_add(t, "%s", as);
    else
      pb_text_add_bytes(t, text, 1);
  }
  pb_arena_free(&scratch);
}

static const char* bound_of(const pb_explained_step* s) {
  return s->kernel->bound && *s->kernel->bound ? s->kernel->bound : "?";
}

// A unit's colour: queues first, then memories, as they stand in the description.
static const char* colour_of(const pb_chip* chip, const char* unit) {
  for (int q = 0; q < chip->queue_count; ++q)
    if (!strcmp(chip->queues[q].name, unit)) return colours[q % COLOURS];
  for (int m = 0; m < chip->memory_count; ++m)
    if (!strcmp(chip->memories[m].name, unit)) return colours[(chip->queue_count + m) % COLOURS];
  return colours[!strcmp(unit, "memory") ? 1 : !strcmp(unit, "compute") ? 0 : COLOURS - 1];
}

static const char* colour_of_step(const pb_explanation* e, const pb_explained_step* s) {
  return s->missing ? missing_colour : colour_of(e->chip, bound_of(s));
}

// Lanes beside the boxes: lane[k] is taken down to row `end[k]`. The first free one is taken.
static int take_lane(int* end, int from, int to) {
  int k = 0;
  while (k + 1 < MOST_LANES && end[k] > from) ++k;
  end[k] = to;
  return k;
}

static int y_of(int row) { return (row + 1) * ROW; }

// Edges to the next row are straight; others go by a lane on the left.
static void put_edges(pb_text* t, const pb_explanation* e, int left) {
  int end[MOST_LANES];
  for (int k = 0; k < MOST_LANES; ++k) end[k] = -2;
  for (int s = 0; s < e->step_count; ++s)
    for (size_t k = 0; k < e->steps[s].from_count; ++k) {
      int from = e->steps[s].from[k], y0 = y_of(from) + ROW - 4, y1 = y_of(s) + 4;
      if (from + 1 == s) {
        pb_text_add(t, "<path d='M%d %dV%d'/>", left + BOX / 2, y0, y1);
        continue;
      }
      int x = left - LANE * (take_lane(end, from, s) + 1);
      pb_text_add(t, "<path d='M%d %dH%dV%dH%d'/>", left, y0 - ROW / 2 + 8, x, y1 + ROW / 2 - 8, left);
    }
}

static void put_label(pb_text* t, const char* text) {
  char label[MOST_LABEL + 1];
  size_t n = strlen(text), most = n;
  if (n > MOST_LABEL) most = MOST_LABEL - 2;
  while (most < n && most > 0 && ((unsigned char)text[most] & 0xc0) == 0x80) --most; // no character is cut
  memcpy(label, text, most);
  label[most] = 0;
  put(t, label);
  if (most < n) pb_text_add(t, "&#8230;");
}

static void put_box(pb_text* t, int left, int row, const char* colour, const char* text) {
  pb_text_add(t, "<g><title>");
  put(t, text);
  pb_text_add(t,
              "</title><rect x='%d' y='%d' width='%d' height='%d' rx='5' fill='%s' fill-opacity='.25' stroke='%s'/>"
              "<text x='%d' y='%d'>",
              left, y_of(row) + 4, BOX, ROW - 8, colour, colour, left + 8, y_of(row) + ROW / 2 + 4);
  put_label(t, text);
  pb_text_add(t, "</text></g>\n");
}

// How far a box stands in, by the loops and branches around it.
static int inside(const pb_explanation* e, int step) {
  int depth = pb_scopes_depth(&e->scopes, step);
  return STEP_IN * (depth < MOST_IN ? depth : MOST_IN);
}

// How many lanes the edges need.
static int lanes_of(const pb_explanation* e) {
  int end[MOST_LANES], most = 0;
  for (int k = 0; k < MOST_LANES; ++k) end[k] = -2;
  for (int s = 0; s < e->step_count; ++s)
    for (size_t k = 0; k < e->steps[s].from_count; ++k) {
      if (e->steps[s].from[k] + 1 == s) continue;
      int lane = take_lane(end, e->steps[s].from[k], s) + 1;
      if (lane > most) most = lane;
    }
  return most;
}

static void put_drawing(pb_text* t, const pb_explanation* e) {
  int left = LANE * (lanes_of(e) + 1);
  pb_text_add(t, "<svg width='%d' height='%d' font-size='12'><g fill='none' stroke='#999' stroke-width='1.3'>",
              left + BOX + 12 + (e->scopes.count ? STEP_IN * MOST_IN : 0), y_of(e->step_count));
  put_edges(t, e, left);
  pb_text_add(t, "</g>\n");
  put_box(t, left, -1, "#888888", "inputs");
  for (int s = 0; s < e->step_count; ++s)
    put_box(t, left + inside(e, s), s, colour_of_step(e, &e->steps[s]), e->steps[s].nodes);
  pb_text_add(t, "</svg>\n");
}

static void put_insns(pb_text* t, const pb_explained_step* s, bool movers) {
  for (int k = 0, n = 0; k < s->insn_count; ++k) {
    if (s->insns[k].insn->mover != movers) continue;
    pb_text_add(t, "%s<code title=\"", n++ ? " " : "");
    put(t, s->insns[k].nodes);
    pb_text_add(t, "\">%s</code>", s->insns[k].insn->name);
  }
}

static void put_busy(pb_text* t, const pb_explanation* e, const pb_explained_step* s) {
  for (int q = 0, n = 0; q < pb__explain_queues(e); ++q) {
    const char* name;
    double busy = pb__explain_busy(e, s, q, &name);
    if (busy > 0) pb_text_add(t, "%s%s %.0f%%", n++ ? ", " : "", name, busy);
  }
}

static void put_row(pb_text* t, const pb_explanation* e, int index) {
  const pb_explained_step* s = &e->steps[index];
  uint64_t cycles = s->kernel->predicted_cycles;
  pb_text_add(t, "<tr%s><td class=n>%d<td>%s<td class=clip title=\"", s->missing ? " class=miss" : "", index,
              s->result);
  put(t, s->missing ? s->missing : s->how);
  pb_text_add(t, "\">");
  put_insns(t, s, false);
  put(t, s->missing ? s->missing : s->how);
  pb_text_add(t, "<td class=clip>");
  put_insns(t, s, true);
  pb_text_add(t, "<td class=n>");
  if (cycles) pb_text_add(t, "%llu", (ull)cycles);
  double part = e->cycles ? (double)cycles / (double)e->cycles : 0;
  pb_text_add(t, "<td><span class=bar style='width:%.1fpx;background:%s'></span> %.1f%%<td class=n>", 160 * part,
              colour_of_step(e, s), 100 * part);
  if (e->peak && s->macs && cycles) pb_text_add(t, "%.1f%%", 100 * pb__explain_of_peak(e, s));
  pb_text_add(t, "<td>");
  put(t, s->missing ? "" : bound_of(s));
  pb_text_add(t, "<td>");
  put_busy(t, e, s);
  pb_text_add(t, "</tr>\n");
}

// One bar of all cycles, by what binds them, and what the colours stand for.
static void put_bounds(pb_text* t, const pb_explanation* e) {
  pb_text bar = {0}, key = {0};
  for (int s = 0; s < e->step_count; ++s) {
    const char* unit = bound_of(&e->steps[s]);
    uint64_t cycles = 0;
    bool first = !e->steps[s].missing;
    for (int k = 0; k < e->step_count && first; ++k) {
      if (e->steps[k].missing || strcmp(bound_of(&e->steps[k]), unit)) continue;
      if (k < s) first = false;
      cycles += e->steps[k].kernel->predicted_cycles;
    }
    if (!first || !cycles) continue;
    pb_text_add(&bar, "<div style='flex:%llu;background:%s'></div>", (ull)cycles, colour_of(e->chip, unit));
    pb_text_add(&key, "<span class=key style='background:%s'></span>%s %.1f%%", colour_of(e->chip, unit), unit,
                100 * (double)cycles / (double)e->cycles);
  }
  if (bar.data) pb_text_add(t, "<div class=all>%s</div><p>Cycles by what binds the step:%s</p>\n", bar.data, key.data);
  pb_text_free(&bar);
  pb_text_free(&key);
}

static void put_missing(pb_text* t, const pb_explanation* e) {
  if (!e->missing_count) return;
  pb_text_add(t, "<h2>What %s lacks</h2><p>", e->target);
  if (e->fallback)
    pb_text_add(t, "These steps run on %s:", e->fallback);
  else
    pb_text_add(t, "pbc refuses the model unless <code>--fallback=cpu</code> is given:");
  pb_text_add(t, "</p><ul class=miss>\n");
  for (int s = 0; s < e->step_count; ++s) {
    if (!e->steps[s].missing) continue;
    pb_text_add(t, "<li>%d ", s);
    put(t, e->steps[s].missing);
    pb_text_add(t, "\n");
  }
  pb_text_add(t, "</ul>\n");
}

char* pb__explain_html(const pb_explanation* e) {
  pb_text t = {0};
  pb_text_add(&t, "<!DOCTYPE html>\n<html lang=en><meta charset=utf-8><title>");
  put(&t, e->model);
  pb_text_add(&t, " on %s</title><style>%s</style>\n<h1>", e->target, style);
  put(&t, e->model);
  pb_text_add(&t, " on %s</h1>\n<p>%d steps, %llu multiply-accumulates", e->target, e->step_count, (ull)e->macs);
  if (e->cycles) pb_text_add(&t, ", %llu cycles predicted", (ull)e->cycles);
  if (e->cycles && e->chip->control == PB_CONTROL_QUEUES && e->chip->mhz > 0)
    pb_text_add(&t, " (%.3f ms at %d MHz)", (double)e->cycles / e->chip->mhz / 1e3, e->chip->mhz);
  if (e->cycles && e->peak)
    pb_text_add(&t, ", %.1f%% of the array's peak of %llu a cycle",
                100 * (double)e->macs / ((double)e->cycles * (double)e->peak), (ull)e->peak);
  pb_text_add(&t, "</p>\n");
  if (e->codes_like)
    pb_text_add(&t, "<p>Codes by the formula of %s: scales are off by %.2g%% at most.</p>\n", e->codes_like,
                100 * e->scales_off);
  put_bounds(&t, e);
  put_missing(&t, e);
  pb_text_add(&t, "<div class=net>");
  put_drawing(&t, e);
  pb_text_add(&t, "<table style='margin-top:30px'><tr><th class=n>step<th>result<th>computed by<th>moved by<th "
                  "class=n>cycles<th>share"
                  "<th class=n>of peak<th>bound by<th>busy</tr>\n");
  for (int s = 0; s < e->step_count; ++s) put_row(&t, e, s);
  pb_text_add(&t, "</table></div></html>\n");
  return t.data;
}
