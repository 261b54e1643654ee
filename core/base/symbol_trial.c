// Which open dims are multiples, and of what. Behind a reading that went well each dim is probed: no question may fail
// where it is one less or one more than a multiple of small numbers, for roundings down are furthest off by the one,
// roundings up by the other. A question that fails, in any reading, is tried by dims as multiples: of all small
// numbers first, then of fewer, as long as it holds.
#include "core/base/symbol_trial.h"

enum { MOST_TIMES = 4096, ALL = 256 * 315 }; // a dim is a multiple of: at most; when it is tried
enum { MOST_PROBED = 8, TRIED = 11 };
enum { LARGE = 600 }; // as no other dim's number is, and few constants are: slices end there
static const int64_t probed[] = {256, 315};
// What is left out of ALL in turn, where it is not needed: whole groups of factors first.
static const int64_t parts[] = {315, 45, 35, 9, 7, 5, 3, 3, 16, 4, 2, 2};
enum { PARTS = sizeof parts / sizeof *parts, PROBES = 2 * sizeof probed / sizeof *probed };

static bool is_own(const pb_symbols* s, int symbol) {
  return s->same[symbol] == symbol && !pb_symbol_is_said(s, symbol);
}

int pb__symbol_on_trial(const pb_symbols* s) {
  const pb_symbol_trial* t = &s->trial;
  return t->now == PB_READ_PLAIN ? -1 : t->now == PB_READ_PROBE ? t->probe / PROBES : t->order[t->at];
}

// The least multiple of ALL that is one of what the symbol is one of.
static int64_t all_of(const pb_symbols* s, int symbol) {
  int64_t all = ALL;
  while (all % s->times[symbol]) all += ALL;
  return all;
}

// One less or one more than a multiple of `by`: as far from one as roundings up, or down, see it.
static int64_t beside(int64_t by, bool more) { return (LARGE / by + 1) * by + (more ? 1 : -1); }

int64_t pb__symbol_tried(const pb_symbols* s) {
  const pb_symbol_trial* t = &s->trial;
  int symbol = pb__symbol_on_trial(s);
  if (t->now == PB_READ_PROBE) return s->times[symbol] * beside(probed[t->probe % PROBES / 2], t->probe % 2);
  if (!t->good) return all_of(s, symbol) * TRIED;
  int64_t part = parts[t->step / 2];
  return t->good / part * beside(part, t->step % 2);
}

static bool was_tried(const pb_symbol_trial* t, int question) {
  for (int k = 0; k < t->tried_count; ++k)
    if (t->tried[k] == question) return true;
  return t->tried_count == PB_MOST_TRIALS;
}

static void add(pb_symbols* s, int symbol) {
  pb_symbol_trial* t = &s->trial;
  for (int k = 0; k < t->count; ++k)
    if (t->order[k] == symbol) return;
  if (is_own(s, symbol)) t->order[t->count++] = symbol;
}

static void start(pb_symbols* s, int question, const int64_t* extents, int count) {
  pb_symbol_trial* t = &s->trial;
  t->count = t->at = t->step = 0;
  if (t->now == PB_READ_PROBE) add(s, t->probe / PROBES);
  for (int r = count - 1; r >= 0; --r)
    for (int k = s->count - 1; k >= 0; --k)
      if (pb_symbol_extent(s, k) == extents[r]) add(s, k);
  for (int k = s->count - 1; k >= 0; --k) add(s, k);
  if (!t->count) return;
  t->next = PB_READ_TRIAL;
  s->again = true;
  t->question = question;
  t->good = 0;
}

bool pb_symbols_hold(pb_symbols* s, bool holds, const int64_t* extents, int count) {
  pb_symbol_trial* t = &s->trial;
  if (s->again || s->sample || s->either_count) return holds; // the first sample asks whatever others ask
  int question = s->asked++;
  if (t->now == PB_READ_TRIAL && question == t->question) {
    t->holds = holds;
    s->again = true;
  } else if (t->now != PB_READ_TRIAL && !holds && !was_tried(t, question)) {
    start(s, question, extents, count);
  }
  return holds;
}

void pb_symbols_begin(pb_symbols* s) {
  pb_symbol_trial* t = &s->trial;
  t->now = t->next;
  t->holds = false;
  s->again = false;
  s->asked = 0;
  s->choice_count = 0;
}

static void go_on(pb_symbols* s) {
  pb_symbol_trial* t = &s->trial;
  while (t->probe < t->probe_count && !is_own(s, t->probe / PROBES)) t->probe += PROBES;
  t->next = t->probe < t->probe_count ? PB_READ_PROBE : PB_READ_PLAIN;
  s->again = true;
}

// The dim that is tried is a multiple of the least number that was enough. What only held because numbers were large
// is no reason.
static void take(pb_symbols* s) {
  pb_symbol_trial* t = &s->trial;
  int symbol = t->order[t->at];
  if (t->good > s->times[symbol] && t->good <= MOST_TIMES) {
    s->times[symbol] = t->good;
    s->is_far[symbol] = true;
  }
  t->tried[t->tried_count++] = t->question; // it is asked once
  go_on(s);
}

static void end_trial(pb_symbols* s) {
  pb_symbol_trial* t = &s->trial;
  s->again = true;
  if (!t->good && !t->holds && ++t->at < t->count) return; // another dim
  if (t->at == t->count) t->at = 0;
  int symbol = t->order[t->at];
  if (!t->good)
    t->good = t->holds ? all_of(s, symbol) : 1;
  else if (!t->holds)
    t->step += 2 - t->step % 2;
  else if (++t->step % 2 == 0)
    t->good /= parts[t->step / 2 - 1];
  while (t->step < 2 * PARTS && t->step % 2 == 0 && t->good % (s->times[symbol] * parts[t->step / 2])) t->step += 2;
  if (t->step == 2 * PARTS) take(s);
}

// What is refused with small numbers may not be with larger ones: a dim that is halved eight times. Where it is, it is
// with the small ones.
static void read_larger(pb_symbols* s) {
  pb_symbol_trial* t = &s->trial;
  t->larger = t->larger == PB_LARGER_NOT ? PB_LARGER_NOW : PB_LARGER_WAS;
  for (int k = 0; k < s->count; ++k)
    if (s->times[k] == 1) s->is_far[k] = t->larger == PB_LARGER_NOW;
  s->again = true;
}

// A plain reading in front of all probes.
static void end_first(pb_symbols* s, bool done) {
  pb_symbol_trial* t = &s->trial;
  if (done) {
    t->probe_count = PROBES * (s->count < MOST_PROBED ? s->count : MOST_PROBED);
    go_on(s);
  } else if (t->larger != PB_LARGER_WAS) {
    read_larger(s);
  }
}

void pb_symbols_end(pb_symbols* s, bool done) {
  pb_symbol_trial* t = &s->trial;
  if (t->now == PB_READ_TRIAL) {
    end_trial(s);
  } else if (!s->again && t->now == PB_READ_PROBE) {
    ++t->probe;
    go_on(s);
  } else if (!s->again && !t->probe_count && !s->sample && !s->either_count && s->count) {
    end_first(s, done);
  }
  t->now = PB_READ_PLAIN; // of numbers that are asked for between readings
}
