// A chip with other numbers: each combination is a description of its own, checked as any, and the models are compiled
// for it. What the description computes from a number (widths of fields, other sizes) stays as it is.
#include "tdl_sweep.h"

#include "core/base/scratch.h"
#include "core/driver/compile.h"
#include "pb/pb.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_SETS = 4, MOST_VALUES = 16, MOST_MODELS = 8, BAR = 40 };

typedef struct set {
  char record[64], field[64];
  int64_t values[MOST_VALUES];
  int count;
} set;

typedef struct sweep {
  const char *spec, *target_dir, *fallback, *precision, *models[MOST_MODELS];
  set sets[MOST_SETS];
  int set_count, model_count;
  bool run;
  pb_chip* chip;
} sweep;

static pb_status bad(const char* text) {
  return pb_error(NULL, (pb_place){0}, 1002, "--set SPAD.Bytes=128K,256K", "'%s' is no set of numbers", text);
}

static pb_status read_set(const char* text, set* s) {
  const char *dot = strchr(text, '.'), *equals = strchr(text, '=');
  if (!dot || !equals || dot > equals || dot - text > 63 || equals - dot > 63) return bad(text);
  snprintf(s->record, sizeof s->record, "%.*s", (int)(dot - text), text);
  snprintf(s->field, sizeof s->field, "%.*s", (int)(equals - dot - 1), dot + 1);
  for (const char* at = equals + 1; *at;) {
    char* end;
    long long n = strtoll(at, &end, 10);
    if (end == at || n < 0 || s->count == MOST_VALUES) return bad(text);
    if (*end == 'K') n *= 1024, ++end;
    if (*end == 'M') n *= 1024 * 1024, ++end;
    if (*end && *end != ',') return bad(text);
    s->values[s->count++] = n;
    at = *end ? end + 1 : end;
  }
  return s->count ? PB_OK : bad(text);
}

static pb_status read_arguments(int argc, char** argv, sweep* s) {
  for (int k = 0; k < argc; ++k) {
    const char* a = argv[k];
    if ((!strcmp(a, "--set") && k + 1 < argc) || !strncmp(a, "--set=", 6)) {
      if (s->set_count == MOST_SETS) return bad(a);
      PB_TRY(read_set(a[5] ? a + 6 : argv[++k], &s->sets[s->set_count++]));
    } else if (!strcmp(a, "--run"))
      s->run = true;
    else if (!strncmp(a, "--target-dir=", 13))
      s->target_dir = a + 13;
    else if (!strncmp(a, "--fallback=", 11))
      s->fallback = a + 11;
    else if (!strncmp(a, "--precision=", 12))
      s->precision = a + 12;
    else if (a[0] == '-' || (s->spec && s->model_count == MOST_MODELS))
      return pb_error(NULL, (pb_place){0}, 1002, "pb-tdl --help", "bad option '%s'", a);
    else if (!s->spec)
      s->spec = a;
    else
      s->models[s->model_count++] = a;
  }
  if (s->spec && s->set_count && s->model_count) return PB_OK;
  return pb_error(NULL, (pb_place){0}, 1002, "pb-tdl sweep FILE.td --set SPAD.Bytes=128K,256K MODEL.onnx",
                  "a sweep needs a description, numbers and a model");
}

// The description with the numbers of combination `at`.
static pb_status make_chip(const sweep* s, const int* at, pb_chip** chip) {
  json_t* root = json_loads(s->chip->json, 0, NULL);
  pb_status status = PB_OK;
  for (int k = 0; k < s->set_count && status == PB_OK; ++k) {
    json_t* record = json_object_get(root, s->sets[k].record);
    json_t* field = json_object_get(record, s->sets[k].field);
    if (!json_is_integer(field))
      status =
          pb_error(NULL, (pb_place){.file = s->chip->file}, 3011, "a record's name and one of its numbers: SPAD.Bytes",
                   record ? "record %s has no number '%s'" : "there is no record %s (for '%s')", s->sets[k].record,
                   s->sets[k].field);
    else
      json_integer_set(field, s->sets[k].values[at[k]]);
  }
  char* text = json_dumps(root, JSON_COMPACT);
  if (status == PB_OK) status = pb_chip_from_json(text, s->chip->file, s->chip->variant, NULL, chip);
  free(text);
  json_decref(root);
  return status;
}

static uint64_t run_engine(const pb_engine* engine) {
  pb_arena names = {0};
  const char* folder = pb_scratch_make(&names);
  pb_rt* rt = NULL;
  uint64_t cycles = 0;
  if (!folder) return 0;
  const char* path = pb_printf(&names, "%s/engine.pbe", folder);
  if (pb_engine_write(engine, path, NULL) == PB_OK && !pb_rt_load(path, 0, &rt) &&
      !pb_rt_set_device(rt, "machine", NULL)) {
    const void** inputs = calloc((size_t)pb_rt_input_count(rt) + 1, sizeof *inputs);
    void** outputs = calloc((size_t)pb_rt_output_count(rt) + 1, sizeof *outputs);
    for (int k = 0; inputs && k < pb_rt_input_count(rt); ++k) inputs[k] = calloc(1, pb_rt_input(rt, k)->bytes + 1);
    for (int k = 0; outputs && k < pb_rt_output_count(rt); ++k) outputs[k] = calloc(1, pb_rt_output(rt, k)->bytes + 1);
    if (inputs && outputs && !pb_rt_run(rt, inputs, outputs))
      for (int k = 0; k < pb_rt_step_count(rt); ++k) cycles += pb_rt_step_info(rt, k)->cycles;
    else
      fprintf(stderr, "%s\n", pb_rt_error());
    for (int k = 0; inputs && k < pb_rt_input_count(rt); ++k) free((void*)(uintptr_t)inputs[k]);
    for (int k = 0; outputs && k < pb_rt_output_count(rt); ++k) free(outputs[k]);
    free(inputs);
    free(outputs);
  }
  pb_rt_free(rt);
  pb_scratch_remove(folder);
  pb_arena_free(&names);
  return cycles;
}

typedef struct measured {
  uint64_t predicted, cycles; // 0: refused
} measured;

static measured measure(const sweep* s, pb_chip* chip, const char* model) {
  pb_compile_options o = {
      .model = model, .target = s->spec, .chip = chip, .fallback = s->fallback, .precision = s->precision};
  pb_compiled compiled;
  pb_diag diag = {0};
  measured m = {0};
  if (pb_compile(&o, &diag, &compiled) == PB_OK) {
    for (int k = 0; k < compiled.engine->step_count; ++k)
      m.predicted += compiled.engine->kernels[compiled.engine->steps[k].kernel].predicted_cycles;
    if (s->run) m.cycles = run_engine(compiled.engine);
  }
  pb_compiled_free(&compiled);
  return m;
}

static bool next(const sweep* s, int* at) {
  for (int k = s->set_count - 1; k >= 0; --k) {
    if (++at[k] < s->sets[k].count) return true;
    at[k] = 0;
  }
  return false;
}

static void print_row(const sweep* s, const int* at, const char* model, measured m, uint64_t most) {
  const char* slash = strrchr(model, '/');
  printf("|");
  for (int k = 0; k < s->set_count; ++k) printf(" %lld |", (long long)s->sets[k].values[at[k]]);
  printf(" %s | ", slash ? slash + 1 : model);
  if (!m.predicted)
    printf("refused | ");
  else
    printf("%llu | ", (unsigned long long)m.predicted);
  if (s->run && m.cycles) printf("%llu", (unsigned long long)m.cycles);
  if (s->run) printf(" | ");
  for (int k = 0; most && k < (int)((m.predicted * BAR + most - 1) / most); ++k) putchar('#');
  puts(" |");
}

static pb_status run_sweep(sweep* s) {
  int at[MOST_SETS] = {0}, count = 1, n = 0;
  for (int k = 0; k < s->set_count; ++k) count *= s->sets[k].count;
  measured* all = calloc((size_t)(count * s->model_count), sizeof *all);
  uint64_t most = 0;
  pb_status status = all ? PB_OK : PB_ERR_SYSTEM;
  do {
    pb_chip* chip = NULL;
    if (status == PB_OK) status = make_chip(s, at, &chip);
    for (int m = 0; m < s->model_count && status == PB_OK; ++m, ++n) {
      all[n] = measure(s, chip, s->models[m]);
      if (all[n].predicted > most) most = all[n].predicted;
    }
    pb_chip_free(chip);
  } while (status == PB_OK && next(s, at));
  n = 0;
  if (status == PB_OK) {
    printf("|");
    for (int k = 0; k < s->set_count; ++k) printf(" %s.%s |", s->sets[k].record, s->sets[k].field);
    printf(" model | cycles predicted |%s |\n|", s->run ? " on the machine |" : "");
    for (int k = 0; k < s->set_count + 3 + s->run; ++k) printf(" --- |");
    puts("");
    do
      for (int m = 0; m < s->model_count; ++m, ++n) print_row(s, at, s->models[m], all[n], most);
    while (next(s, at));
  }
  free(all);
  return status;
}

int tdl_sweep(int argc, char** argv) {
  sweep s = {0};
  pb_scratch_end_on_signals();
  pb_diag diag = {0};
  if (read_arguments(argc, argv, &s) != PB_OK) return 1;
  if (pb_chip_find(s.spec, s.target_dir, &diag, &s.chip) != PB_OK) return 1;
  pb_rt_add_machine();
  pb_status status = run_sweep(&s);
  pb_chip_free(s.chip);
  return status == PB_OK ? 0 : 1;
}
