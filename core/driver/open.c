// Programs with open dims: samples of it through the front half, joined, and an engine of plain kernels (core/open).
#include "core/base/held.h"
#include "core/driver/compilation.h"
#include "core/s2/verify.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_WORDS = 256 }; // bytes of why something is not for all extents

// Warnings were said by the first sample.
static void pass_errors(void* user, bool error, int code, const char* text) {
  if (error) pb_diag_pass(user, error, code, text);
}

// Pointwise nests where they are taken, tensors read where they lie, and functions expanded; value form still. Where
// what a pass chooses hangs on extents, samples differ, and it is done without.
static pb_status run_passes(compilation* c, bool fuses) {
  static const char* const passes[] = {"views", "inline", "math"};
  for (size_t k = fuses ? 0 : 2; k < sizeof passes / sizeof *passes; ++k)
    PB_TRY(pb__run_pass(c, pb_pass_named(passes[k])));
  return PB_OK;
}

typedef struct sample { // of the program, on its way
  compilation c;
  pb_symbols symbols;
  pb_compiled out; // its stages' times are not the first one's
  pb_diag diag;
  pb_open_whole whole;
  pb_open_sample taken;
} sample;

// To value form, and read.
static pb_status take_program(compilation* c, bool fuses, pb_program* program) {
  PB_TRY(pb__compile_module(c));
  PB_TRY(run_passes(c, fuses));
  return pb_program_read(pb_module_func(c->unit.module, "main"), &c->unit.arena, c->unit.diag, program);
}

// Segment by segment, where the host decides how it goes on.
static pb_status take_segments(compilation* c, bool fuses, pb_compiled* out, pb_open_whole* whole) {
  PB_TRY(pb_s1_segments(&c->s1, c->unit.diag, &c->segments));
  c->part_count = c->segments.count;
  c->parts = calloc(c->segments.count + 1, sizeof *c->parts);
  if (!c->parts) pb_no_memory(c->segments.count * sizeof *c->parts);
  pb_open_start_whole(&c->s1, &c->segments, &c->unit.arena, whole);
  for (size_t k = 0; k < c->segments.count; ++k) {
    pb_program part;
    pb__start_segment(c, (int)k, &c->parts[k], out);
    PB_TRY(take_program(&c->parts[k], fuses, &part));
    pb_open_add(&c->s1, &c->segments, k, &part, &c->unit.arena, whole);
  }
  return PB_OK;
}

static pb_status start_sample(const compilation* from, int number, bool fuses, sample* s) {
  *s = (sample){.symbols = *from->symbols,
                .diag = {.sink = pass_errors, .user = from->unit.diag, .text = from->unit.diag->text}};
  s->symbols.sample = number;
  s->symbols.choices = NULL;
  s->symbols.choice_count = s->symbols.choice_capacity = 0;
  s->symbols.arena = (pb_arena){0}; // names are there already
  s->c = (compilation){.options = from->options, .out = &s->out, .chip = from->chip, .control = from->control};
  s->c.symbols = &s->symbols;
  s->c.text = from->text;
  s->c.unit.context = from->unit.context;
  s->c.shares_context = true;
  s->c.pairs_codes = from->pairs_codes;
  s->c.unit.chip = from->chip;
  s->c.unit.diag = &s->diag;
  s->c.unit.consts = &s->c.consts;
  pb_status status = pb__compile_program(&s->c);
  from->symbols->tabulates |= s->symbols.tabulates;
  PB_TRY(status);
  if (s->symbols.count != from->symbols->count || s->symbols.source_count != from->symbols->source_count ||
      memcmp(s->symbols.same, from->symbols->same, sizeof(int) * (size_t)s->symbols.count) != 0)
    return pb_unsupported(from->unit.diag, (pb_place){.file = from->options->model}, 4110,
                          "list values for its dims, --dim NAME=1,8 or --input-shape",
                          "has other open dims at other extents");
  if (pb_s1_has_control(&s->c.s1))
    PB_TRY(take_segments(&s->c, fuses, &s->out, &s->whole));
  else
    PB_TRY(take_program(&s->c, fuses, &s->whole.program));
  pb_open_take(&s->whole, &s->c.consts, &s->symbols, &s->taken);
  return PB_OK;
}

static void end_sample(sample* s) {
  pb__compilation_free(&s->c);
  free(s->out.text);
  free(s->symbols.choices);
  pb_arena_free(&s->symbols.arena);
}

static pb_status take_module(compilation* c, const pb_open_kernels* kernels) {
  if (c->has_module) mlirModuleDestroy(c->unit.module);
  c->unit.module =
      mlirModuleCreateParse(c->unit.context, mlirStringRefCreate(kernels->module.data, kernels->module.length));
  c->has_module = !mlirModuleIsNull(c->unit.module);
  return c->has_module ? PB_OK
                       : pb_error(c->unit.diag, (pb_place){.what = "open"}, 4090,
                                  "this is a bug in the compiler, not in the model", "made IR that does not verify");
}

static bool wants(const compilation* c, const char* what) {
  return c->options->emit && !strcmp(c->options->emit, what);
}

static pb_status make_engine(compilation* to, compilation* c, pb_open_program* open, const pb_open_kernels* kernels) {
  if (wants(c, "s3")) {
    to->out->text = strdup(kernels->module.data);
    return PB_OK;
  }
  PB_TRY(take_module(c, kernels));
  if (wants(c, "s4") || wants(c, "asm")) return c->control->print(&c->unit, c->options->emit, &to->out->text);
  pb_engine* e = pb__engine_start(to);
  PB_TRY(pb__emit_kernels(c, e));
  pb__stage_done(to, "s4");
  PB_TRY(pb_open_host(open, kernels, c->unit.diag, e));
  PB_TRY(pb__engine_mark_unsigned(&c->unit, &c->s1, c->unit.diag, e));
  pb__stage_done(to, "host");
  return PB_OK;
}

// Questions that other extents answer otherwise than the samples' do, of all that are asked.
typedef struct choices {
  bool* which;
  size_t count, open;
} choices;

static void find_choices(pb_open_program* open, const pb_open_sample* taken, choices* found) {
  free(found->which);
  found->count = taken[0].choice_count;
  found->which = calloc(found->count + 1, sizeof *found->which);
  if (!found->which) pb_no_memory(found->count);
  found->open = pb_open_choices(open, taken, found->which);
}

// Samples behind the first one. *alike: they are made alike. The first that is not is the last, unless questions are
// looked for and it asks as many as others: it may be another one by their answers alone.
static pb_status take_samples(compilation* c, bool fuses, bool asks, pb_open_sample* taken, bool* alike) {
  sample* s = calloc(1, sizeof *s);
  if (!s) pb_no_memory(sizeof *s);
  pb_status status = PB_OK;
  bool goes_on = true;
  *alike = true;
  for (int k = 1; k < PB_OPEN_SAMPLES && status == PB_OK && goes_on; ++k) {
    status = start_sample(c, k, fuses, s);
    taken[k] = s->taken;
    end_sample(s);
    *alike = *alike && (status != PB_OK || pb_open_alike(&taken[0], &taken[k]));
    goes_on = *alike || (asks && taken[0].choice_count && taken[k].choice_count == taken[0].choice_count);
  }
  free(s);
  return status;
}

// All samples, of which the first is kept. *alike: they are made alike. `found`, where there is one, gets the questions
// that other extents answer otherwise; where there are some, no engine is made.
static pb_status join(compilation* c, bool fuses, choices* found, bool* alike) {
  pb_open_sample taken[PB_OPEN_SAMPLES] = {0};
  sample* first = calloc(1, sizeof *first);
  if (!first) pb_no_memory(sizeof *first);
  pb_open_program open = {0};
  pb_open_kernels kernels = {0};
  pb_status status = start_sample(c, 0, fuses, first);
  taken[0] = first->taken;
  *alike = true;
  if (status == PB_OK) status = take_samples(c, fuses, found != NULL, taken, alike);
  if (status == PB_OK) {
    pb_open_start(&first->whole, &first->c.consts, c->symbols, &open);
    if (found && (*alike || taken[PB_OPEN_SAMPLES - 1].structure.data)) find_choices(&open, taken, found);
    if ((*alike || !fuses) && !(found && found->open)) { // else it is refused, by what is another one
      status = pb_open_join(&open, taken, c->unit.diag);
      pb__stage_done(c, "open");
      if (status == PB_OK) pb_open_print(&open, &first->c.unit.arena, &kernels);
      if (status == PB_OK) status = make_engine(c, &first->c, &open, &kernels);
    }
    pb_text_free(&kernels.module);
    pb_open_free(&open);
  }
  end_sample(first);
  free(first);
  for (int k = 0; k < PB_OPEN_SAMPLES; ++k) pb_open_sample_free(&taken[k]);
  return status;
}

static pb_status make(compilation* c, choices* found) {
  bool alike;
  PB_TRY(join(c, true, found, &alike));
  return alike || (found && found->open) ? PB_OK : join(c, false, found, &alike);
}

// Keeps the last error's words.
static void keep_error(void* user, bool error, int code, const char* text) {
  (void)code;
  if (error) snprintf(user, MOST_WORDS, "%s", text);
}

// For either answer to those questions. Where a model needs one of them, to know that two tensors are of one shape for
// example, nothing is left behind but why.
static pb_status make_for_either(compilation* c, const choices* found, char* why) {
  pb_diag* said = c->unit.diag;
  pb_diag unsaid = {.sink = keep_error, .user = why, .text = said->text};
  c->unit.diag = &unsaid;
  c->symbols->either = found->which;
  c->symbols->either_count = found->count;
  pb_status status = make(c, NULL);
  c->symbols->either = NULL;
  c->symbols->either_count = 0;
  c->unit.diag = said;
  if (status == PB_OK) return PB_OK;
  if (c->out->engine) pb_engine_free(c->out->engine);
  c->out->engine = NULL;
  free(c->out->text);
  c->out->text = NULL;
  return status;
}

// What is of extents that are numbers. S2 of a program with control is several, each of numbers.
static const char* of_numbers(const compilation* c) {
  static const char* const known[] = {"s1", "s2", "s3", "s4", "asm"};
  const pb_compile_options* o = c->options;
  bool is_known = !o->emit;
  for (size_t k = 0; o->emit && k < sizeof known / sizeof *known; ++k) is_known |= !strcmp(o->emit, known[k]);
  if (wants(c, "s2") && pb_s1_has_control(&c->s1)) is_known = false;
  const char* name = is_known ? pb__option_of_one(o) : "--emit";
  return !name && o->precision ? "--precision" : name;
}

static void warn(compilation* c) {
  for (int s = 0; s < c->symbols->count; ++s)
    if (c->symbols->same[s] != s && !*c->text) // a text asserts it
      pb_warning(c->unit.diag, (pb_place){.file = c->options->model}, 2038,
                 "open dims '%s' and '%s' are taken as one, which the engine checks: they meet in an operator",
                 c->symbols->names[c->symbols->same[s]], c->symbols->names[s]);
  const char* names = "";
  int count = 0;
  for (int s = 0; s < c->symbols->count; ++s)
    if (c->symbols->same[s] == s)
      names = pb_printf(&c->unit.arena, "%s%s%s", names, count++ ? ", " : "", c->symbols->names[s]);
  pb_warning(c->unit.diag, (pb_place){.file = c->options->model}, 2028,
             "%s stay%s open: kernels are plain loops, many times slower than those for extents that --dim, "
             "--input-shape and --bind say",
             count ? names : "shapes that data say", count == 1 ? "s" : "");
}

static pb_status make_either_way(compilation* c) {
  choices found = {0};
  char why[MOST_WORDS] = "";
  pb_status status = make(c, &found);
  if (status == PB_OK && found.open && make_for_either(c, &found, why) != PB_OK) {
    status = make(c, NULL);
    if (status == PB_OK)
      pb_warning(c->unit.diag, (pb_place){.file = c->options->model}, 2039,
                 "it is for extents by which slices and comparisons come out as by large ones, which the engine "
                 "checks; for others: %s",
                 why);
  }
  free(found.which);
  return status;
}

// With tables of what extents say; where those are other at other extents, with what they hold computed when it runs.
static pb_status make_open(compilation* c) {
  pb_diag* diag = c->unit.diag;
  pb_held first, second;
  pb_held_start(&first, diag);
  pb_held_start(&second, diag);
  c->unit.diag = &first.diag;
  pb_status status = make_either_way(c);
  bool computed = status == PB_ERR_UNSUPPORTED && c->symbols->tabulates;
  if (computed) {
    c->symbols->computes = true;
    c->unit.diag = &second.diag;
    computed = make_either_way(c) == PB_OK;
    if (computed) status = PB_OK;
    c->symbols->computes = false;
  }
  c->unit.diag = diag;
  pb_held_release(computed ? &second : &first);
  pb_held_end(&first);
  pb_held_end(&second);
  return status;
}

pb_status pb__compile_open(compilation* c) {
  if (of_numbers(c))
    return pb_error(c->unit.diag, (pb_place){.file = c->options->model}, 1008, "--dim and --input-shape say extents",
                    "%s is of a program whose extents are numbers, and '%s' is open", of_numbers(c),
                    c->symbols->count ? c->symbols->names[0] : c->symbols->sources[0].name);
  if (!c->unit.context.ptr) c->unit.context = pb_context_create();
  warn(c);
  return make_open(c);
}
