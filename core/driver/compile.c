#define _GNU_SOURCE
#include "core/driver/compilation.h"

#include "core/base/workers.h"
#include "core/driver/host.h"
#include "core/driver/mixed.h"
#include "core/driver/profiles.h"
#include "core/driver/targets.h"
#include "core/frontend/linalg/linalg.h"
#include "core/frontend/onnx/onnx.h"
#include "core/report/explain.h"
#include "core/report/report.h"
#include "core/s1/control.h"
#include "core/s1/narrow.h"
#include "core/s1/scale.h"
#include "core/s1/words.h"
#include "core/s2/s2.h"
#include "core/s2/verify.h"
#include "core/s3/constant_homes.h"
#include "core/s3/kernel/contraction_dims.h"
#include "core/s3/kernels.h"
#include "core/s3/plan/plan.h"
#include "core/s3/transfer_paths.h"
#include "core/s3/tree/cost.h"

#include <mlir-c/BuiltinAttributes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

// What runs several times, for segments and profiles, has one row.
static void add_timing(pb_compiled* out, pb_timing timing) {
  int k = 0;
  while (k < out->timing_count && strcmp(out->timings[k].name, timing.name) != 0) ++k;
  if (k == PB_TIMINGS) return;
  if (k == out->timing_count) out->timings[out->timing_count++] = (pb_timing){timing.name, 0};
  out->timings[k].seconds += timing.seconds;
}

void pb__compiled_join(pb_compiled* all, const pb_compiled* one) {
  pb_engine** last = &all->engine;
  for (int t = 0; t < one->timing_count; ++t) add_timing(all, one->timings[t]);
  all->schedules += one->schedules;
  while (*last) last = &(*last)->next;
  *last = one->engine;
}

void pb__stage_done(compilation* c, const char* name) {
  double t = now();
  add_timing(c->out, (pb_timing){name, t - c->since});
  c->since = t;
  if (c->options->progress) c->options->progress(c->options->user, name);
}

static bool wants(const compilation* c, const char* what) {
  return c->options->emit && !strcmp(c->options->emit, what);
}

static bool is_text(const char* path) {
  size_t n = strlen(path);
  return n > 5 && !strcmp(path + n - 5, ".mlir");
}

// Codes by the chip's own formulas, or by those of the chip that this one is to be like.
static pb_status take_formulas(compilation* c) {
  if (c->options->like) PB_TRY(pb_chip_find(c->options->like, c->options->target_dir, c->unit.diag, &c->like));
  const pb_chip* chip = c->like ? c->like : c->chip;
  if (!chip->formulas[PB_FORMULA_SUM] && !chip->formulas[PB_FORMULA_ADD]) {
    if (!c->like) return PB_OK;
    pb_type half = pb_chip_half_product(chip);
    const char* hint =
        half == PB_TYPE_COUNT
            ? "def : Formula<\"sum\"> { ... }, or no --like"
            : pb_printf(&c->unit.arena,
                        "--precision=%s, which rounds factors as it does: sums of floats are right in any order",
                        pb_type_name(half));
    return pb_error(c->unit.diag, (pb_place){.file = chip->file}, 4071, hint, "%s makes codes as every target does",
                    chip->name);
  }
  c->unit.codes_like = chip->name;
  return pb_s1_scale(&c->s1, &c->consts, (const pb_formula* const*)chip->formulas, c->like || c->options->fallback,
                     c->unit.diag, &c->unit.scales_off);
}

// Text in memory, as a file that has no name: it is read in a process of its own.
static pb_status read_bytes(compilation* c) {
  const pb_compile_options* o = c->options;
  int fd = memfd_create("model", MFD_CLOEXEC);
  char path[64];
  pb_status status = PB_OK;
  for (uint64_t at = 0; status == PB_OK && at < o->size;) {
    ssize_t n = fd < 0 ? -1 : write(fd, (const char*)o->bytes + at, o->size - at);
    if (n <= 0) status = pb_system_error(c->unit.diag, (pb_place){.file = o->model}, 1001, "cannot be kept in memory");
    at += n > 0 ? (uint64_t)n : 0;
  }
  snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
  if (status == PB_OK) status = pb_mlir_text_read(path, c->unit.diag, c->text);
  if (fd >= 0) close(fd);
  return status;
}

// It is read once, and its program is made as often as it takes.
static pb_status take_text(compilation* c) {
  const pb_compile_options* o = c->options;
  c->consts.in_turns = c->control->native;
  if (!*c->text) PB_TRY(o->bytes ? read_bytes(c) : pb_mlir_text_read(o->model, c->unit.diag, c->text));
  return pb_mlir_text_make(*c->text, &c->inputs, &c->consts, c->unit.diag, &c->s1);
}

static pb_status take_onnx(compilation* c) {
  const pb_compile_options* o = c->options;
  PB_TRY(o->bytes ? pb_onnx_parse(o->bytes, o->size, o->model, &c->inputs, &c->consts, c->unit.diag, &c->graph)
                  : pb_onnx_load(o->model, &c->inputs, &c->consts, c->unit.diag, &c->graph));
  pb__stage_done(c, "read");
  c->consts.open = c->symbols->count > 0;
  c->consts.symbols = c->inputs.symbols;
  c->consts.in_turns = c->control->native;
  return pb_onnx_build(c->graph, &c->consts, c->unit.diag, &c->s1);
}

// Whether the chip sums products of such factors as f32 does. An intrinsic of a processor's own may round otherwise:
// --precision says whether that is wanted.
static bool sums_as_f32(const pb_chip* chip, pb_type type) {
  pb_contraction_dims roles;
  for (int k = 0; k < chip->insn_count; ++k) {
    const pb_insn* insn = &chip->insns[k];
    if (pb_insn_contraction_dims(insn, &roles) && roles.x_type == type && roles.w_type == type &&
        roles.y_type == PB_F32 && (!insn->emit || !strcmp(insn->emit, "llvm.fma")))
      return true;
  }
  return false;
}

// Factors that a model has as floats of 16 bits stay such where the chip multiplies them and nothing else is asked for.
static void find_halves(compilation* c) {
  for (int k = 0; k < PB_NARROW_TYPES; ++k)
    c->inputs.multiplied[k] =
        !c->options->precision && pb_type_bits(pb_narrow_type(k)) == 16 && sums_as_f32(c->chip, pb_narrow_type(k));
}

static void take_halves(compilation* c) {
  bool multiplies_f32 = pb_chip_multiplies(c->chip, PB_F32, PB_F32, PB_F32);
  for (int k = 0; k < PB_NARROW_TYPES; ++k)
    if (c->inputs.multiplied[k]) (void)pb_s1_narrow_again(&c->s1, &c->consts, pb_narrow_type(k), !multiplies_f32);
}

// Products in a narrower type where the chip has them; where it has not, f32 is no worse. All of them where it has no
// others.
static pb_status take_precision(compilation* c) {
  const char* precision = c->options->precision;
  take_halves(c);
  if (!precision || !strcmp(precision, "f32")) return PB_OK;
  pb_type to = PB_TYPE_COUNT;
  for (int k = 0; k < PB_NARROW_TYPES; ++k)
    if (!strcmp(precision, pb_type_name(pb_narrow_type(k)))) to = pb_narrow_type(k);
  if (to == PB_TYPE_COUNT)
    return pb_error(c->unit.diag, (pb_place){0}, 1004, "f32, bf16, f16, f8e4m3 or f8e5m2", "no precision '%s'",
                    precision);
  bool multiplies_f32 = pb_chip_multiplies(c->chip, PB_F32, PB_F32, PB_F32);
  if (pb_chip_multiplies(c->chip, to, to, PB_F32))
    c->narrowed = pb_s1_narrow(&c->s1, &c->consts, to, !multiplies_f32) > 0;
  else
    pb_warning(c->unit.diag, (pb_place){.what = c->chip->name}, 4099,
               "has no instruction that multiplies %s and adds in f32: products stay in f32", precision);
  return PB_OK;
}

// Whether a command has elements of the type.
static bool has_elements(const pb_chip* chip, pb_type type) {
  for (int k = 0; k < chip->insn_count; ++k)
    for (int o = 0; o < chip->insns[k].operand_count; ++o)
      if (chip->insns[k].operands[o].type == type) return true;
  return false;
}

// Tokens, their places and masks come as i64. What the chip cannot gather or count with goes to the host as a copy, or
// is counted as i32.
static void take_integers(compilation* c) {
  if (c->control->loops) return;
  if (!pb_chip_gathers(c->chip) && has_elements(c->chip, PB_I32)) pb_s1_places_by_host(&c->s1, &c->consts);
  if (!has_elements(c->chip, PB_I64) && has_elements(c->chip, PB_I32)) pb_s1_words(&c->s1, &c->consts);
  if (!pb_chip_gathers(c->chip)) pb_s1_rows_by_host(&c->s1);
}

static pb_status take_between(compilation* c) {
  const char* where = c->options->between;
  if (where && strcmp(where, "chip") && strcmp(where, "system"))
    return pb_error(c->unit.diag, (pb_place){0}, 1004, "chip or system", "tensors between kernels lie in no '%s'",
                    where);
  c->unit.between_outside = where && !strcmp(where, "system");
  return PB_OK;
}

static pb_status check_loops(compilation* c) {
  const char* are = c->options->loops;
  if (!are || !strcmp(are, "kernels") || !strcmp(are, "steps")) return PB_OK;
  return pb_error(c->unit.diag, (pb_place){0}, 1004, "kernels or steps", "loops of small kernels are no '%s'", are);
}

// What --weights names, behind what --bind does.
static pb_status take_weights(compilation* c) {
  const pb_input_options* o = &c->options->inputs;
  int count = o->bound_count;
  c->inputs = *o;
  if (!o->weight_count) return PB_OK;
  c->weights = PB_NEW_ARRAY(&c->unit.arena, pb_safetensors, (size_t)o->weight_count);
  for (int k = 0; k < o->weight_count; ++k) {
    PB_TRY(pb_safetensors_read(o->weights[k], c->unit.diag, &c->weights[k]));
    count += c->weights[k].count;
  }
  pb_bound* all = PB_NEW_ARRAY(&c->unit.arena, pb_bound, (size_t)count + 1);
  if (o->bound_count) memcpy(all, o->bounds, (size_t)o->bound_count * sizeof *all);
  c->inputs.bounds = all;
  for (int k = 0; k < o->weight_count; ++k)
    for (int t = 0; t < c->weights[k].count; ++t) all[c->inputs.bound_count++] = c->weights[k].tensors[t];
  return PB_OK;
}

// Open dims that operators take as one number, or multiples of one, alone.
static void warn_of_dims(compilation* c) {
  const pb_symbols* s = c->symbols;
  pb_place place = {.file = c->options->model};
  for (int k = 0; k < s->settled_count; ++k)
    pb_warning(c->unit.diag, place, 2038,
               "'%s', which is open, is taken as %lld, which the engine checks: an operator takes no other",
               s->settled[k].name, (long long)s->settled[k].extent);
  for (int k = 0; k < s->count; ++k)
    if (s->same[k] == k && s->times[k] > 1)
      pb_warning(
          c->unit.diag, place, 2038,
          "'%s', which is open, is taken as a multiple of %lld, which the engine checks: an operator takes no other",
          s->names[k], (long long)s->times[k]);
}

// Of a reading that is not the last one nothing is said.
static pb_status take_model(compilation* c) {
  pb_diag* diag = c->unit.diag;
  pb_held held;
  pb_held_start(&held, diag);
  c->unit.diag = &held.diag;
  pb_symbols_begin(c->symbols);
  pb_status status = is_text(c->options->model) ? take_text(c) : take_onnx(c);
  pb_symbols_end(c->symbols, status == PB_OK);
  c->unit.diag = diag;
  if (!c->symbols->again) pb_held_release(&held);
  pb_held_end(&held);
  return status;
}

pb_status pb__compile_program(compilation* c) {
  PB_TRY(take_between(c));
  PB_TRY(check_loops(c));
  PB_TRY(take_weights(c));
  if (c->control->loops) c->inputs.symbols = c->symbols;
  c->inputs.keeps_loops = c->control->loops;
  c->inputs.pairs_codes = c->pairs_codes;
  find_halves(c);
  pb_status status = take_model(c);
  for (; c->symbols->again; status = take_model(c)) { // open dims turn out to be one, a number or multiples
    pb_s1_free(&c->s1);
    pb_consts_free(&c->consts);
    pb_graph_free(c->graph);
    c->graph = NULL;
  }
  PB_TRY(status);
  warn_of_dims(c);
  if (c->control->saved && !c->consts.open) {
    pb_s1_split_short_dims(&c->s1);
    pb_s1_turn_short_dims(&c->s1);
  }
  if (!c->consts.open) pb_s1_hoist(&c->s1);
  take_integers(c);
  pb__stage_done(c, "s1");
  if (wants(c, "s1")) {
    c->out->text = pb_s1_print(&c->s1);
    return PB_OK;
  }
  if (c->dump.folder) PB_TRY(pb_dump_text(&c->dump, "s1.txt", pb_s1_print(&c->s1), c->unit.diag));
  PB_TRY(take_formulas(c));
  return take_precision(c);
}

pb_status pb__compile_module(compilation* c) {
  char* text = pb_s2_build(&c->s1, c->unit.consts);
  if (wants(c, "s2")) {
    c->out->text = text;
    return PB_OK;
  }
  int most = c->options->threads;
  c->unit.workers = most == 1 || pb_can_work_beside(most) ? most : 1;
  if (!c->unit.context.ptr) c->unit.context = pb_context_create();
  c->unit.module = mlirModuleCreateParse(c->unit.context, mlirStringRefCreateFromCString(text));
  free(text);
  c->has_module = !mlirModuleIsNull(c->unit.module);
  if (!c->has_module)
    return pb_error(c->unit.diag, (pb_place){.what = "s2"}, 4090, "this is a bug in the compiler, not in the model",
                    "made IR that does not verify");
  pb__stage_done(c, "s2");
  // Always: what reads outside a tensor must not become an engine. Of extents that stay open a sample's numbers need
  // not fit each other; the engine checks what it runs on.
  if (!c->unit.consts->open) PB_TRY(pb_s2_verify(c->unit.module, "s2", c->unit.diag));
  pb__stage_done(c, "verify");
  PB_TRY(pb_dump_module(&c->dump, "s2", c->unit.module, c->unit.diag));
  if (!c->options->plan_file || c->unit.given) return PB_OK;
  c->unit.given = &c->given;
  return pb_given_plans_read(&c->unit, c->options->plan_file, &c->given);
}

// What the program says that the outputs are, where the IR has bits of floats as integers.
static void name_halves(const pb_s1* s1, pb_results* results) {
  for (size_t p = 0; p < results->part_count; ++p)
    for (size_t v = 0; v < s1->value_count && results->parts[p].type == PB_I16; ++v) {
      const pb_s1_value* value = &s1->values[v];
      bool is_half = value->is_output && (value->type == PB_F16 || value->type == PB_BF16);
      if (is_half && mlirStringRefEqual(results->parts[p].name, mlirStringRefCreateFromCString(value->name)))
        results->parts[p].type = value->type;
    }
}

// Runs the IR as it is now and compares with what stage S2 gave.
static pb_status compare_pass(compilation* c, const char* pass, bool exact) {
  pb_results now;
  PB_TRY(pb_check_run(&c->unit, 1, &now));
  name_halves(&c->s1, &c->expected);
  size_t first;
  bool equal =
      exact ? pb_results_equal(&c->expected, &now, &first)
            : pb_results_close(&c->expected, &now, c->narrowed ? PB_REASSOCIATION_NARROW : PB_REASSOCIATION, &first);
  pb_results_free(&now);
  pb__stage_done(c, "check");
  if (equal) return PB_OK;
  return pb_error(c->unit.diag, (pb_place){.what = pass}, 4092,
                  "this is a bug in the compiler: --emit=PASS shows the IR before and after",
                  "this pass changed a result (byte %zu of the outputs is the first)", first);
}

// Sums of integers are the same in any order; functions differ from the C library's by their stated errors.
static bool rounds_otherwise(const pb_s1* program) {
  for (size_t k = 0; k < program->op_count; ++k) {
    pb_s1_kind kind = program->ops[k].kind;
    if (kind == PB_S1_FCONV || kind == PB_S1_FMATMUL || kind == PB_S1_FAVERAGE || kind == PB_S1_FUNARY ||
        kind == PB_S1_FREDUCE || kind == PB_S1_FSOFTMAX || kind == PB_S1_FNORM || kind == PB_S1_NEST)
      return true;
  }
  return false;
}

pb_status pb__run_pass(compilation* c, const pb_pass* p) {
  size_t changes = c->unit.changes;
  if (c->options->check && !c->checks) {
    PB_TRY(pb_check_run(&c->unit, 1, &c->expected));
    c->checks = true;
  }
  PB_TRY(pb_pass_run(p, &c->unit));
  pb__stage_done(c, p->name);
  PB_TRY(pb_dump_module(&c->dump, p->name, c->unit.module, c->unit.diag));
  // Always, as behind s2: lanes that no channel fills are what a layout may get wrong.
  if (!strcmp(p->name, "layout") && !c->unit.consts->open) {
    PB_TRY((c->options->check ? pb_s2_verify : pb_s2_verify_places)(c->unit.module, p->name, c->unit.diag));
    pb__stage_done(c, "verify");
  }
  if (!c->options->check || c->unit.changes == changes) return PB_OK;
  c->rounds |= p->kind != PB_PASS_EXACT && rounds_otherwise(&c->s1);
  return compare_pass(c, p->name, !c->rounds);
}

// Of a program's segments one has perhaps nothing to plan.
static bool has_plan(const pb_unit* unit) {
  MlirOperation op = mlirBlockGetFirstOperation(mlirModuleGetBody(unit->module));
  while (!mlirOperationIsNull(op) && !pb_op_has(op, "pb.plan")) op = mlirOperationGetNextInBlock(op);
  return !mlirOperationIsNull(op);
}

static pb_status print_plans(compilation* c) {
  pb_text text = {0};
  if (c->is_segment && !has_plan(&c->unit)) pb_text_add(&text, "// nothing is planned\n");
  if (text.data) {
    c->out->text = text.data;
    return PB_OK;
  }
  pb_status status = pb_given_plans_print(&c->unit, &text);
  if (status == PB_OK)
    c->out->text = text.data;
  else
    pb_text_free(&text);
  return status;
}

static pb_status run_passes(compilation* c) {
  for (const pb_pass* p = pb_passes; p->name; ++p) {
    if (!strcmp(p->name, "outline")) PB_TRY(pb__settle_constants(c, p));
    PB_TRY(pb__run_pass(c, p));
    bool last = !p[1].name && wants(c, "s3");
    if (wants(c, "plan") && !strcmp(p->name, "plan")) return PB_OK; // plans are printed, not IR
    if (wants(c, p->name) || last) {
      c->out->text = pb_module_print(c->unit.module);
      return PB_OK;
    }
    if (c->options->print_after && !strcmp(c->options->print_after, p->name)) {
      char* text = pb_module_print(c->unit.module);
      fputs(text, stderr);
      free(text);
    }
  }
  return PB_OK;
}

static void name_unsigned(compilation* c) {
  c->unit.unsigned_names = PB_NEW_ARRAY(&c->unit.arena, const char*, c->s1.value_count + 1);
  for (size_t v = 0; v < c->s1.value_count; ++v)
    if (c->s1.values[v].is_unsigned) c->unit.unsigned_names[c->unit.unsigned_count++] = c->s1.values[v].name;
}

pb_status pb__compile_passes(compilation* c) {
  if (!c->is_segment) name_unsigned(c);
  PB_TRY(pb_host_check(&c->unit));
  PB_TRY(run_passes(c));
  PB_TRY(pb_given_plans_used(&c->unit));
  if (wants(c, "plan")) return print_plans(c);
  if (c->out->text) return PB_OK;
  pb_constants_settle(&c->unit);
  if (!c->is_segment) PB_TRY(pb__join_kernels(c));
  return pb_host_check(&c->unit);
}

pb_status pb__emit_kernels(compilation* c, pb_engine* e) {
  pb_unit* unit = &c->unit;
  size_t count = 0;
  MlirOperation op = mlirBlockGetFirstOperation(mlirModuleGetBody(unit->module));
  for (; !mlirOperationIsNull(op); op = mlirOperationGetNextInBlock(op)) count += pb_op_has(op, "pb.kernel");
  e->kernels = PB_NEW_ARRAY(&e->arena, pb_kernel, count + 1);
  PB_TRY(c->control->emit(unit, e));
  return pb_mixed_emit(unit, e);
}

static pb_status dump_kernels(compilation* c) {
  char* text = NULL;
  const char* form = c->control->dump;
  if (!form || !c->dump.folder) return PB_OK;
  PB_TRY(c->control->print(&c->unit, form, &text));
  return pb_dump_text(&c->dump, pb_printf(&c->unit.arena, "%s.txt", form), text, c->unit.diag);
}

static const char* target_of(pb_arena* arena, const pb_chip* chip) {
  return chip->variant[0] ? pb_printf(arena, "%s:%s", chip->name, chip->variant) : pb_strdup(arena, chip->name);
}

// The engine's tensors are the program's, in its order; the IR between has all codes signed, or what comes and goes as
// it is.
pb_status pb__engine_mark_unsigned(const pb_unit* unit, const pb_s1* program, pb_diag* diag, pb_engine* e) {
  int inputs = 0, outputs = 0;
  for (size_t v = 0; v < program->value_count; ++v) {
    const pb_s1_value* value = &program->values[v];
    if (value->is_extents) continue;
    pb_tensor_info* info = value->is_input ? &e->inputs[inputs++] : value->is_output ? &e->outputs[outputs++] : NULL;
    if (!info) continue;
    if (inputs > e->input_count || outputs > e->output_count || strcmp(info->name, value->name) ||
        info->type != pb_type_stored(value->type))
      return pb_error(diag, (pb_place){.what = value->name}, 4096, "this is a bug in the compiler, not in the model",
                      "is not the engine's tensor in its place");
    info->most = value->most;
    info->is_complex = value->is_complex;
    info->type = value->is_wide                                 ? PB_W64
                 : !value->is_unsigned                          ? value->type
                 : unit->codes_unsigned && unit->unsigned_count ? PB_UI8
                                                                : PB_U8;
  }
  return PB_OK;
}

static void explain(compilation* c, const pb_engine* e) {
  pb_explanation explanation;
  MlirOperation whole = c->mains ? (MlirOperation){0} : pb_module_func(c->unit.module, "main");
  pb_explain(&c->unit, e, c->mains ? c->mains : &whole, c->mains ? c->segments.count : 1, c->options->model,
             c->options->explain_refusals, &explanation);
  c->out->text = pb_explanation_print(&explanation, c->options->explain);
  pb_explanation_free(&explanation);
}

pb_engine* pb__engine_start(compilation* c) {
  pb_engine* e = calloc(1, sizeof *e);
  if (!e) pb_no_memory(sizeof *e);
  c->out->engine = e;
  const pb_chip* chip = c->chip;
  e->target = target_of(&e->arena, chip);
  e->features = "";
  e->chip_revision = chip->revision;
  e->command_bytes = chip->command_bytes;
  memcpy(e->chip_hash, chip->hash, sizeof e->chip_hash);
  e->description = pb_strdup(&e->arena, chip->json);
  return e;
}

static pb_status back(compilation* c) {
  if (wants(c, "commands") || wants(c, "s4") || wants(c, "asm")) {
    PB_TRY(c->control->print(&c->unit, c->options->emit, &c->out->text));
    pb__stage_done(c, "s4");
    return PB_OK;
  }
  pb_engine* e = pb__engine_start(c);
  PB_TRY(pb__emit_kernels(c, e));
  pb__stage_done(c, "s4");
  PB_TRY(dump_kernels(c));
  PB_TRY(c->mains ? pb_host_build_segments(&c->unit, &c->s1, &c->segments, c->mains, e) : pb_host_build(&c->unit, e));
  PB_TRY(pb__engine_mark_unsigned(&c->unit, &c->s1, c->unit.diag, e));
  if (c->options->explain) explain(c, e);
  if (c->options->report) c->out->report = pb_report_make(&c->unit, e);
  pb__stage_done(c, "host");
  return PB_OK;
}

static pb_status find_fallback(compilation* c) {
  PB_TRY(pb_chip_find(c->options->fallback, c->options->target_dir, c->unit.diag, &c->other));
  const pb_control_ops* other = pb_control_of(c->other);
  if (!other || !other->native)
    return pb_unsupported(c->unit.diag, (pb_place){.what = c->options->fallback}, 4061, "--fallback=cpu",
                          "what is left of a model can go to a target that is controlled by threads only");
  if (c->control->native) return PB_OK; // leaves nothing
  c->fallback = (pb_fallback){.chip = c->other, .target = target_of(&c->unit.arena, c->other)};
  c->unit.fallback = &c->fallback;
  return PB_OK;
}

// A file that is given, rather than a target that is installed.
static bool is_description(const char* target) {
  size_t n = target ? strlen(target) : 0;
  return n > 3 && !strcmp(target + n - 3, ".td");
}

// What open dims were taken as: a refusal by shapes that do not fit may be one of these numbers alone.
static void say_extents(compilation* c) {
  enum { MOST = 8 }; // named
  const pb_symbols* s = c->symbols;
  const char* names = "";
  bool said = false;
  for (int k = 0; k < s->count; ++k) {
    bool is_said = pb_symbol_is_said(s, k);
    said |= is_said;
    if (k < MOST)
      names = pb_printf(&c->unit.arena, "%s%s%s %s as %lld", names, k ? ", " : "", s->names[k],
                        is_said ? "(which data say)" : "(open)", (long long)pb_symbol_extent(s, k));
  }
  pb_warning(c->unit.diag, (pb_place){.file = c->options->model}, 2029,
             "it was read with %s%s: where the model has one extent alone, %s", names,
             s->count > MOST ? ", and others alike" : "",
             said ? "--dim and --input-shape say those of inputs, --bind what data say"
                  : "--dim and --input-shape say it");
}

static pb_status compile(compilation* c) {
  c->chip = c->options->chip;
  if (!c->chip) PB_TRY(pb_chip_find(c->options->target, c->options->target_dir, c->unit.diag, &c->chip));
  pb__stage_done(c, "target");
  c->unit.chip = c->chip;
  c->control = pb_control_of(c->chip);
  if (!c->control)
    return pb_unsupported(c->unit.diag, (pb_place){.what = c->chip->name}, 4060, NULL,
                          "the way it is controlled has no back end yet");
  if (is_description(c->options->target)) PB_TRY(pb_control_check(c->chip, c->unit.diag));
  if (c->options->fallback) PB_TRY(find_fallback(c));
  if (is_text(c->options->model)) c->unit.diag->text = c->options->model; // what is refused from here on is an op's
  pb_status status = pb__compile_program(c);
  if (!c->graph || !c->graph->paired) pb_held_release(c->held); // else it may be done again
  bool whole = status == PB_OK && !c->out->text && !pb_s1_has_control(&c->s1);
  if (whole) status = pb__compile_module(c);
  if (status != PB_OK && c->symbols->count) say_extents(c);
  if (status != PB_OK || c->out->text) return status;
  if (c->symbols->count || c->symbols->source_count) return pb__compile_open(c);
  if (pb_s1_has_control(&c->s1))
    PB_TRY(pb__compile_segments(c));
  else
    PB_TRY(pb__compile_passes(c));
  return c->out->text ? PB_OK : back(c);
}

void pb__compilation_free(compilation* c) {
  for (size_t k = 0; c->parts && k < c->part_count; ++k) pb__compilation_free(&c->parts[k]);
  free(c->parts);
  pb_segments_free(&c->segments);
  pb_given_plans_free(&c->given);
  if (c->has_module) mlirModuleDestroy(c->unit.module);
  if (c->unit.context.ptr && !c->shares_context) mlirContextDestroy(c->unit.context);
  pb_results_free(&c->expected);
  pb_s1_free(&c->s1);
  pb_graph_free(c->graph);
  pb_consts_free(&c->consts);
  for (int k = 0; c->weights && k < c->options->inputs.weight_count; ++k) pb_safetensors_free(&c->weights[k]);
  pb_plan_memo_free(&c->unit);
  pb_arena_free(&c->unit.arena);
  free(c->fallback.items);
}

// *again: it is refused, and may not be where codes that are moved to products are floats.
static pb_status compile_as(const pb_compile_options* options, bool pairs_codes, pb_held* held, pb_compiled* out,
                            bool* again) {
  pb_symbols symbols = {0};
  pb_mlir_text* text = NULL;
  int64_t before = pb_trees_added_up();
  compilation c = {.options = options, .out = out, .since = now(), .symbols = &symbols, .text = &text, .held = held};
  c.pairs_codes = pairs_codes;
  c.unit.diag = &held->diag;
  c.unit.consts = &c.consts;
  pb_status status = pb_dump_start(&c.dump, options->dump_dir, c.unit.diag);
  if (status == PB_OK) status = compile(&c);
  out->schedules = pb_trees_added_up() - before;
  *again = status == PB_ERR_UNSUPPORTED && c.graph && c.graph->paired;
  pb__compilation_free(&c);
  pb_symbols_free(&symbols);
  pb_mlir_text_close(text);
  pb_chip_free(c.other);
  pb_chip_free(c.like);
  if (!options->chip) pb_chip_free(c.chip);
  if (status != PB_OK || out->text) {
    if (out->engine) pb_engine_free(out->engine);
    out->engine = NULL;
  }
  return status;
}

static pb_status compile_one(const pb_compile_options* options, pb_diag* diag, pb_compiled* out) {
  pb_held first, second;
  pb_held_start(&first, diag);
  bool again;
  pb_status status = compile_as(options, true, &first, out, &again);
  if (again) {
    pb_compiled plain = {0};
    pb_held_start(&second, diag);
    if (compile_as(options, false, &second, &plain, &again) == PB_OK) {
      pb_compiled_free(out);
      *out = plain;
      pb_held_release(&second);
      pb_held_end(&first);
      pb_held_end(&second);
      return PB_OK;
    }
    pb_compiled_free(&plain);
    pb_held_end(&second);
  }
  pb_held_release(&first);
  pb_held_end(&first);
  return status;
}

// For one target.
static pb_status compile_profiles(const pb_compile_options* options, pb_diag* diag, pb_compiled* out) {
  int profiles;
  *out = (pb_compiled){0};
  PB_TRY(pb_profiles_count(&options->inputs, diag, &profiles));
  return profiles > 1 ? pb_profiles_compile(options, profiles, compile_one, diag, out)
                      : compile_one(options, diag, out);
}

pb_status pb_compile(const pb_compile_options* options, pb_diag* diag, pb_compiled* out) {
  bool several = pb_targets_count(options->target) > 1;
  PB_TRY(several ? pb_targets_compile(options, compile_profiles, diag, out) : compile_profiles(options, diag, out));
  if (out->engine && out->engine->next) pb_engine_share(out->engine);
  return PB_OK;
}

void pb_compiled_free(pb_compiled* compiled) {
  if (compiled->engine) pb_engine_free(compiled->engine);
  free(compiled->text);
  free(compiled->report);
}
