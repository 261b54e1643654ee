// What was run of the description, and the results as JUnit has them.
#include "suite.h"

#include "tdl/doc.h"

#include <string.h>

void suite_cover(suite* s, const pb_command* c, const judge_command* read) {
  const pb_insn* insn = c->insn;
  insn_coverage* v = &s->coverage[insn->index];
  ++v->commands;
  for (int d = 0; d < insn->dim_count; ++d) {
    int64_t extent = command_extent(c, d);
    if (extent == insn->dims[d].min) v->least |= 1u << d;
    if (extent == insn->dims[d].max) v->most |= 1u << d;
  }
  v->together |= pb_command_cores(c) != 0;
  for (int o = 0; o < insn->operand_count; ++o) {
    const pb_operand* x = &insn->operands[o];
    if (x->memory < 0) {
      if (x->type == PB_I1) v->flags[c->values[x->base] & 1] |= 1u << o;
      continue;
    }
    if (x->take >= 0) v->banks[c->values[x->take] & 1] |= 1u << o;
    for (int k = 0; k < x->rank; ++k) {
      if (x->strides[k].kind == PB_STRIDE_FIELD && command_extent(c, x->dims[k]) > 1) {
        int64_t stride = c->values[x->strides[k].field];
        if (stride == 0) v->zero |= 1u << x->strides[k].field;
        if (stride < 0) v->negative |= 1u << x->strides[k].field;
      }
      if (!x->has_box || x->box_lo[k] < 0) continue;
      bool low = c->values[x->box_lo[k]] > 0, high = c->values[x->box_hi[k]] < command_extent(c, x->dims[k]);
      v->box |= (low ? 2u : 0) | (high ? 4u : 0) | (!low && !high ? 1u : 0) | (read->windows[o].empty ? 8u : 0);
    }
  }
}

static void missing(FILE* out, int* count, const pb_insn* insn, const char* format, const char* what) {
  fprintf(out, "  missing: %s: ", insn->name);
  fprintf(out, format, what);
  fputc('\n', out);
  ++*count;
}

// Whether the result can lie in its memory with the dim at its largest and all others at their least.
static bool can_hold(const pb_chip* chip, const pb_insn* insn, int dim) {
  return suite_largest(insn, dim) <= suite_most(chip, insn->operands[insn->dest].memory);
}

// Whether the field is a stride of the result too, whose elements lie apart.
static bool walks_result(const pb_insn* insn, int field) {
  const pb_operand* d = &insn->operands[insn->dest];
  for (int k = 0; k < d->rank; ++k)
    if (d->strides[k].kind == PB_STRIDE_FIELD && d->strides[k].field == field) return true;
  return false;
}

static void cover_insn(const pb_chip* chip, const pb_insn* insn, const insn_coverage* v, FILE* out, int* count,
                       int* all) {
  ++*all;
  if (!v->commands) {
    missing(out, count, insn, "no command%s", "");
    return;
  }
  bool reads_for_many = insn->broadcast >= 0 && chip->cores > 1;
  *all += reads_for_many;
  if (reads_for_many && !v->together) missing(out, count, insn, "no read for several cores%s", "");
  for (int d = 0; d < insn->dim_count; ++d) {
    if (insn->dims[d].field < 0) continue;
    bool held = can_hold(chip, insn, d);
    *all += 1 + held;
    if (!(v->least >> d & 1)) missing(out, count, insn, "dim '%s' at its least", insn->dims[d].name);
    if (held && !(v->most >> d & 1)) missing(out, count, insn, "dim '%s' at its largest", insn->dims[d].name);
  }
  for (int o = 0; o < insn->operand_count; ++o) {
    const pb_operand* x = &insn->operands[o];
    for (int bit = 0; bit < 2 && x->memory < 0 && x->type == PB_I1; ++bit) {
      ++*all;
      if (!(v->flags[bit] >> o & 1)) missing(out, count, insn, bit ? "'%s' set" : "'%s' not set", x->name);
    }
    for (int bit = 0; bit < 2 && x->memory >= 0 && x->take >= 0; ++bit) {
      ++*all;
      if (!(v->banks[bit] >> o & 1))
        missing(out, count, insn, bit ? "'%s' takes a bank" : "'%s' stays with a bank", x->name);
    }
    for (int k = 0; k < x->rank && x->memory >= 0 && !x->written; ++k) {
      // a dim of one turn walks nothing: a variant may leave an instruction no more of it
      if (x->strides[k].kind != PB_STRIDE_FIELD || insn->dims[x->dims[k]].max <= 1) continue;
      int f = x->strides[k].field;
      bool zero = pb_field_holds(&insn->fields[f], 0) && !walks_result(insn, f);
      *all += zero;
      if (zero && !(v->zero >> f & 1)) missing(out, count, insn, "stride '%s' of 0", insn->fields[f].name);
      *all += insn->fields[f].is_signed;
      if (insn->fields[f].is_signed && !(v->negative >> f & 1))
        missing(out, count, insn, "negative stride '%s'", insn->fields[f].name);
    }
    static const char* const sides[] = {"whole", "cut at its low end", "cut at its high end", "empty"};
    for (int b = 0; b < 4 && x->memory >= 0 && x->has_box; ++b) {
      ++*all;
      if (!(v->box >> b & 1)) missing(out, count, insn, "box %s", sides[b]);
    }
  }
}

// The forms that no program can have, by the memory that is why.
static void tell_too_large(const pb_chip* chip, FILE* out) {
  for (int m = 0; m < chip->memory_count; ++m)
    for (int i = 0, seen = 0; i <= chip->insn_count; ++i) {
      const pb_insn* insn = &chip->insns[i];
      if (i == chip->insn_count && seen) fprintf(out, "\n");
      for (int d = 0; i < chip->insn_count && insn->operand_count && d < insn->dim_count; ++d) {
        if (insn->dims[d].field < 0 || insn->operands[insn->dest].memory != m || can_hold(chip, insn, d)) continue;
        if (!seen++)
          fprintf(out, "  cannot be: dims at their largest whose results take more than the %lld bytes of %s%s:",
                  (long long)suite_most(chip, m), chip->memories[m].name,
                  suite_most(chip, m) < chip->memories[m].bytes ? " that programs fill" : "");
        fprintf(out, "%s %s '%s' (%lld)", seen > 1 ? "," : "", insn->name, insn->dims[d].name,
                (long long)suite_largest(insn, d));
      }
    }
}

// A queue on one side of a semaphore.
static void cover_semaphore(const suite* s, int semaphore, int queue, bool takes, FILE* out, int* edges, int* seen) {
  const pb_semaphore* x = &s->chip->semaphores[semaphore];
  if (!((takes ? x->takers : x->givers) >> queue & 1)) return;
  ++*edges;
  if ((takes ? s->waited[queue] : s->gave[queue]) >> semaphore & 1)
    ++*seen;
  else
    fprintf(out, "  missing: a command of %s that %s %s\n", s->chip->queues[queue].name,
            takes ? "waits for" : "signals", x->name);
}

// Whether b's window goes wherever a's does, by the same steps.
static bool same_window(const pb_insn* a, const pb_insn* b, int o) {
  const pb_operand *x = &a->operands[o], *y = &b->operands[o];
  bool same = x->memory == y->memory && x->type == y->type && x->rank == y->rank && x->unit == y->unit &&
              x->has_box == y->has_box && (x->fill >= 0) == (y->fill >= 0) && x->rows == y->rows && x->take == y->take;
  for (int k = 0; same && x->memory >= 0 && k < x->rank; ++k) {
    const pb_stride *p = &x->strides[k], *q = &y->strides[k];
    same = x->dims[k] == y->dims[k] && (x->box_lo[k] >= 0) == (y->box_lo[k] >= 0) && p->kind == q->kind &&
           (p->kind != PB_STRIDE_NUMBER || p->units == q->units);
    if (!same || p->kind != PB_STRIDE_FIELD) continue;
    const pb_field *f = &a->fields[p->field], *g = &b->fields[q->field];
    same = f->width <= g->width && f->form == g->form && f->by == g->by && f->is_signed == g->is_signed;
  }
  return same;
}

// Whether b takes whatever a does: the same of the same memories, over dims that go as far.
static bool same_work(const pb_insn* a, const pb_insn* b, pb_arena* arena) {
  bool same = a->operand_count && a->operand_count == b->operand_count && a->dim_count == b->dim_count &&
              a->reduce == b->reduce;
  for (int o = 0; same && o < a->operand_count; ++o) same = same_window(a, b, o);
  for (int d = 0; same && d < a->dim_count; ++d)
    same = a->dims[d].max <= b->dims[d].max && a->dims[d].min >= b->dims[d].min;
  return same && !strcmp(pb_insn_formula(a, arena), pb_insn_formula(b, arena));
}

// Whether a never takes fewer cycles, and always more or on the same queue: at all dims' ends, and each dim's alone.
static bool never_cheaper(const pb_insn* a, const pb_insn* b) {
  bool always_more = true;
  for (int k = 0; k < a->dim_count + 2; ++k) {
    int64_t extent[PB_MAX_INSN_DIMS];
    for (int d = 0; d < a->dim_count; ++d) extent[d] = k == d || k == a->dim_count ? a->dims[d].max : a->dims[d].min;
    int64_t more = pb_cycles(a, extent) + a->latency - pb_cycles(b, extent) - b->latency;
    if (more < 0) return false;
    always_more &= more > 0;
  }
  return always_more || (a->queue == b->queue && a->index > b->index);
}

// What the compiler never takes, since another instruction does the same at no higher cost.
static void tell_dearer(const suite* s, FILE* out) {
  pb_arena scratch = {0};
  for (int i = 0; i < s->chip->insn_count; ++i)
    for (int j = 0; j < s->chip->insn_count; ++j) {
      const pb_insn *a = &s->chip->insns[i], *b = &s->chip->insns[j];
      if (i == j || !same_work(a, b, &scratch) || !never_cheaper(a, b)) continue;
      fprintf(out, "  idle: %s does what %s does, which never takes more cycles\n", a->name, b->name);
      break;
    }
  pb_arena_free(&scratch);
}

// What no kernel or network of the suite has a use for.
static void tell_idle(const suite* s, FILE* out) {
  int n = 0;
  for (int i = 0; s->models && i < s->chip->insn_count; ++i) {
    const pb_insn* insn = &s->chip->insns[i];
    if (!insn->operand_count || insn->waits_by || insn->signals_by || s->runs[i]) continue;
    if (!n++) fprintf(out, "  idle: none of %d kernels and networks runs as", s->models);
    fprintf(out, "%s %s", n > 1 ? "," : "", insn->name);
  }
  if (n) fprintf(out, "\n");
}

int suite_coverage(const suite* s, FILE* out) {
  int count = 0, all = 0, edges = 0, seen = 0;
  fprintf(out, "coverage of %s:\n", s->chip->name);
  for (int i = 0; i < s->chip->insn_count; ++i)
    if (!s->chip->insns[i].waits_by && !s->chip->insns[i].signals_by)
      cover_insn(s->chip, &s->chip->insns[i], &s->coverage[i], out, &count, &all);
  tell_too_large(s->chip, out);
  tell_dearer(s, out);
  tell_idle(s, out);
  for (int k = 0; k < s->chip->semaphore_count; ++k)
    for (int q = 0; q < 2 * s->chip->queue_count; ++q) cover_semaphore(s, k, q / 2, q % 2, out, &edges, &seen);
  for (int to = 0; to < s->chip->queue_count; ++to)
    for (int from = 0; from < s->chip->queue_count; ++from) {
      if (!(s->chip->queues[from].gives >> to & 1) || s->chip->semaphore_count) continue;
      ++edges;
      if (s->waited[to] >> from & 1)
        ++seen;
      else
        fprintf(out, "  missing: a command of %s that waits for %s\n", s->chip->queues[to].name,
                s->chip->queues[from].name);
    }
  if (s->chip->loop && !s->looped) fprintf(out, "  missing: a hardware loop\n"), ++count;
  fprintf(out, "  %d instructions, %d of %d forms, %d of %d %s%s", s->chip->insn_count, all - count, all, seen, edges,
          s->chip->semaphore_count ? "sides of semaphores" : "edges between queues",
          s->chip->loop && s->looped ? ", hardware loops" : "");
  if (s->chip->cores > 1) fprintf(out, "; on each of %d cores", s->chip->cores);
  fprintf(out, "\n");
  return count + edges - seen;
}

static void write_escaped(FILE* out, const char* text) {
  for (; *text; ++text) switch (*text) {
    case '&':
      fputs("&amp;", out);
      break;
    case '<':
      fputs("&lt;", out);
      break;
    case '"':
      fputs("&quot;", out);
      break;
    default:
      fputc((unsigned char)*text < 32 && *text != '\n' ? ' ' : *text, out);
    }
}

bool suite_junit(const suite* s, const char* path) {
  FILE* out = fopen(path, "w");
  size_t failed = 0, skipped = 0;
  if (!out) return false;
  for (size_t k = 0; k < s->result_count; ++k)
    failed += s->results[k].how == FAILED, skipped += s->results[k].how == SKIPPED;
  fprintf(out, "<?xml version=\"1.0\"?>\n<testsuite name=\"%s\" tests=\"%zu\" failures=\"%zu\" skipped=\"%zu\">\n",
          s->chip->name, s->result_count, failed, skipped);
  for (size_t k = 0; k < s->result_count; ++k) {
    const case_result* r = &s->results[k];
    fprintf(out, "  <testcase name=\"%s\" time=\"%.3f\"", r->name, r->seconds);
    if (r->how == PASSED) {
      fputs("/>\n", out);
      continue;
    }
    fprintf(out, "><%s message=\"", r->how == FAILED ? "failure" : "skipped");
    write_escaped(out, r->text);
    fputs("\"/></testcase>\n", out);
  }
  fputs("</testsuite>\n", out);
  return !fclose(out);
}
