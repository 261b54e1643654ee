// Whole models on the target: small networks of one operator each, and the digits, against the answers that stand
// beside them. Each is compiled and run here; a device is compared with the machine step by step.
#include "suite.h"

#include "core/base/installation.h"
#include "core/base/scratch.h"
#include "core/driver/compile.h"
#include "core/runtime/npy.h"
#include "pb/pb.h"
#include "tools/run_compare.h"

#include <dirent.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_MODELS = 64 };

static void keep_text(void* user, bool error, int code, const char* text) {
  (void)code;
  char* why = user;
  if (error && !*why) snprintf(why, JUDGE_WHY, "%s", text);
}

// A compiled model on one device. `out` has room for one sample.
static bool run_sample(pb_rt* rt, const void* in, void* out, run_steps* kept, char** text, suite* s) {
  const void* inputs[] = {in};
  void* outputs[] = {out};
  pb_rt_set_after_step(rt, kept ? run_steps_keep : NULL, kept);
  if (!pb_rt_run(rt, inputs, outputs)) return true;
  *text = pb_strdup(&s->arena, pb_rt_error());
  return false;
}

static char* first_number(suite* s, const char* device, int64_t sample, const float* want, const float* got,
                          uint64_t count) {
  for (uint64_t k = 0; k < count; ++k)
    if (memcmp(&want[k], &got[k], sizeof *want))
      return pb_printf(&s->arena, "%s: sample %lld, element %llu: expected %.9g, found %.9g", device, (long long)sample,
                       (unsigned long long)k, (double)want[k], (double)got[k]);
  return NULL;
}

static bool open_engine(suite* s, const char* path, const char* device, pb_rt** rt, char** text) {
  bool words = s->chip->control == PB_CONTROL_QUEUES;
  if (!pb_rt_load(path, 0, rt) &&
      (!words || !pb_rt_set_device(*rt, device, strcmp(device, "machine") ? s->options->device_options : NULL)))
    return true;
  *text = pb_strdup(&s->arena, pb_rt_error());
  pb_rt_free(*rt);
  *rt = NULL;
  return false;
}

// The samples on one device; with a driver the first sample that differs is run again on both, step by step.
static bool run_engine(suite* s, const char* path, const char* device, const pb_npy* in, const pb_npy* want,
                       char** text) {
  pb_rt *rt, *beside = NULL;
  if (!open_engine(s, path, device, &rt, text)) return false;
  uint64_t in_bytes = pb_rt_input(rt, 0)->bytes, out_bytes = pb_rt_output(rt, 0)->bytes;
  int64_t samples = in_bytes ? (int64_t)(in->bytes / in_bytes) : 0;
  bool good = samples > 0 && want->bytes == out_bytes * (uint64_t)samples;
  if (!good) *text = pb_printf(&s->arena, "the answers are of another shape");
  void* out = malloc(out_bytes + 1);
  for (int64_t k = 0; k < samples && good && out; ++k) {
    const char *from = (const char*)in->data + in_bytes * (uint64_t)k,
               *answer = (const char*)want->data + out_bytes * (uint64_t)k;
    good = run_sample(rt, from, out, NULL, text, s);
    if (!good || !memcmp(out, answer, out_bytes)) continue;
    good = false;
    *text = first_number(s, device, k, (const void*)answer, out, out_bytes / 4);
    if (!strcmp(device, "machine") || !open_engine(s, path, "machine", &beside, text)) continue;
    run_steps *mine = run_steps_make(), *theirs = run_steps_make();
    if (run_sample(beside, from, out, mine, text, s) && run_sample(rt, from, out, theirs, text, s)) {
      char* step = run_steps_difference(rt, mine, "the machine", theirs, device, &s->arena);
      if (step) *text = step;
    }
    run_steps_free(mine);
    run_steps_free(theirs);
  }
  free(out);
  pb_rt_free(beside);
  pb_rt_free(rt);
  return good;
}

typedef struct engine_run {
  suite* s;
  const char *path, *device;
  const pb_npy *in, *want;
  char* text;
  bool good;
} engine_run;

static void run_guarded(void* data) {
  engine_run* r = data;
  r->good = run_engine(r->s, r->path, r->device, r->in, r->want, &r->text);
}

// On the machine, then on the device, which may crash.
static bool run_engines(suite* s, engine_run* run) {
  run->device = "machine";
  run_guarded(run);
  if (!run->good || !s->options->device) return run->good;
  run->device = s->options->device;
  const char* crash = suite_guard(run_guarded, run);
  if (!crash) return run->good;
  s->crashed = run->device;
  run->text = pb_printf(&s->arena, "%s: crashed (%s)", run->device, crash);
  return false;
}

static pb_status compile(suite* s, const char* model, const char* engine, char* why) {
  pb_diag diag = {.sink = keep_text, .user = why};
  pb_compile_options o = {.model = model, .target = s->spec, .target_dir = s->options->target_dir};
  pb_compiled compiled = {0};
  pb_status status = pb_compile(&o, &diag, &compiled);
  if (status == PB_OK) status = pb_engine_write(compiled.engine, engine, &diag);
  pb_compiled_free(&compiled);
  return status;
}

// Which instructions the model's steps run as, as pbc --explain says.
static void note_instructions(suite* s, const char* model) {
  pb_diag diag = {.sink = pb_diag_drop};
  pb_compile_options o = {.model = model, .target = s->spec, .target_dir = s->options->target_dir, .explain = "json"};
  pb_compiled compiled = {0};
  json_t* said = pb_compile(&o, &diag, &compiled) == PB_OK ? json_loads(compiled.text, 0, NULL) : NULL;
  json_t *step, *insn;
  size_t k, n;
  json_array_foreach(json_object_get(said, "steps"), k, step) {
    json_array_foreach(json_object_get(step, "instructions"), n, insn) {
      const char* name = json_string_value(json_object_get(insn, "name"));
      for (int i = 0; name && i < s->chip->insn_count; ++i)
        if (!strcmp(s->chip->insns[i].name, name)) s->runs[i] = true;
    }
  }
  s->models += said != NULL;
  json_decref(said);
  pb_compiled_free(&compiled);
}

static void run_model(suite* s, const char* kind, const char* name, const char* model, const char* in,
                      const char* out) {
  char label[160], why[JUDGE_WHY] = "";
  snprintf(label, sizeof label, "%s/%s", kind, name);
  if (!suite_wants(s, label)) return;
  double start = suite_seconds();
  const char* folder = pb_scratch_make(&s->arena);
  if (!folder) {
    suite_record(s, label, FAILED, "no temporary file", 0);
    return;
  }
  const char* engine = pb_printf(&s->arena, "%s/engine.pbe", folder);
  pb_npy inputs = {0}, answers = {0};
  pb_diag diag = {0};
  pb_status status = compile(s, model, engine, why);
  if (status != PB_OK)
    suite_record(s, label, status == PB_ERR_UNSUPPORTED ? SKIPPED : FAILED, why, suite_seconds() - start);
  else if (pb_npy_read(in, &diag, &inputs) != PB_OK || pb_npy_read(out, &diag, &answers) != PB_OK)
    suite_record(s, label, FAILED, "its samples cannot be read", suite_seconds() - start);
  else {
    if (s->options->coverage) note_instructions(s, model);
    engine_run run = {.s = s, .path = engine, .in = &inputs, .want = &answers};
    bool good = run_engines(s, &run);
    suite_record(s, label, good ? PASSED : FAILED, run.text, suite_seconds() - start);
  }
  free(inputs.data);
  free(answers.data);
  pb_scratch_remove(folder);
}

static int by_name(const void* a, const void* b) { return strcmp(*(char* const*)a, *(char* const*)b); }

void suite_networks(suite* s) {
  char folder[2048], models[2048], *names[MOST_MODELS];
  int count = 0;
  pb_rt_add_machine();
  pb_installed_folder("tests/models", models, sizeof models);
  snprintf(folder, sizeof folder, "%.2000s/operators", models);
  DIR* d = opendir(folder);
  if (!d) {
    suite_record(s, "kernel/all", FAILED, pb_printf(&s->arena, "%s: cannot be read", folder), 0);
    return;
  }
  for (struct dirent* e; (e = readdir(d)) && count < MOST_MODELS;) {
    size_t n = strlen(e->d_name);
    if (n > 5 && !strcmp(e->d_name + n - 5, ".onnx"))
      names[count++] = pb_printf(&s->arena, "%.*s", (int)n - 5, e->d_name);
  }
  closedir(d);
  qsort(names, (size_t)count, sizeof *names, by_name);
  for (int k = 0; k < count; ++k)
    run_model(s, "kernel", names[k], pb_printf(&s->arena, "%s/%s.onnx", folder, names[k]),
              pb_printf(&s->arena, "%s/%s_in.npy", folder, names[k]),
              pb_printf(&s->arena, "%s/%s_out.npy", folder, names[k]));
  run_model(s, "network", "digits", pb_printf(&s->arena, "%s/digits.onnx", models),
            pb_printf(&s->arena, "%s/digits_images.npy", models), pb_printf(&s->arena, "%s/digits_out.npy", folder));
}
