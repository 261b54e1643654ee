// pb-run ENGINE: runs an engine file and looks at what it does.
#include "core/artefact/engine.h"
#include "core/base/arena.h"
#include "core/runtime/npy.h"
#include "core/runtime/npz.h"
#include "run_compare.h"
#include "run_report.h"
#include "run_values.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static const char help[] =
    "usage: pb-run ENGINE.pbe [options]\n"
    "Runs an engine. Without --output or --expect the first elements of each output are printed.\n"
    "  --input FILE.npz          every input by the array of its name (numpy.savez)\n"
    "  --input [NAME=]VALUE      FILE.npy, FILE.npz:ARRAY, SHAPExTYPE=NUMBER such as 4x8xf32=1, or random:SEED. A file "
    "with several "
    "samples\n"
    "                            along the first dimension is run sample by sample. NAME is as the model has it, = "
    "and\n"
    "                            quotes too; of several that fit, the longest (./FILE keeps a file's name apart)\n"
    "  --output [NAME=]FILE.npy  write an output\n"
    "  --expect [NAME=]FILE.npy  compare an output, FILE.npz:ARRAY as well; exit code 1 if it differs\n"
    "  --atol=X --rtol=X         tolerated: |ours - theirs| <= atol + rtol * |theirs|, default 0\n"
    "  --device=NAME             native, machine, cuda, hip, rtl, or a driver ./FILE.so (pb/device.h)\n"
    "  --device-options=TEXT     the device's own, key=value,...\n"
    "  --target=NAME[:VARIANT]   which of the engine's targets runs; without it the device's\n"
    "  --stop-at=KERNEL:QUEUE:COMMAND  of the machine: the run ends behind that command, as pb-objdump counts them, "
    "with\n"
    "                            exit code 1; KERNEL is the so manyth that it runs, from 0\n"
    "  --dump=MEMORY:FILE        with it: what the memory holds then, row by row in hexadecimal\n"
    "  --compare=NAME            run on this device too, step by step: the first step that differs is an error\n"
    "  --compare-options=TEXT    that device's own\n"
    "  --graph                   of a GPU: each run is one graph of the driver's\n"
    "  --threads=N               of native code\n"
    "  --warmup=N --repeat=N     runs before timing, and timed ones; --percentile=P (default 90) is reported\n"
    "  --stats[=FILE.json]       cycles and use of each step\n"
    "  --counters                all that the device counts\n"
    "  --trace=FILE.json         a timeline of commands, for Perfetto or chrome://tracing\n"
    "  --dump-tensors=DIR        write what each step's arguments hold after it\n"
    "  --info                    print what the engine is, and stop\n"
    "  --no-native               refuse engines with machine code\n"
    "  --in-place                outputs to which inputs are donated get those inputs' memory\n"
    "  --help, --version\n";

// What an option that may come often says: as many as the model has tensors.
typedef struct values {
  const char** items;
  size_t count, capacity;
} values;

typedef struct options {
  const char *engine, *device, *device_options, *stop, *stop_dump, *compare, *compare_options, *stats_file, *trace,
      *dump;
  values inputs, outputs, expects;
  int warmup, repeat, threads;
  double atol, rtol, percentile;
  const char* target;
  bool stats, info, timed, no_native, in_place, graph, counters;
} options;

// The value of --NAME=VALUE or --NAME VALUE, or NULL when the argument is another option.
static const char* value_of(int argc, char** argv, int* k, const char* name) {
  const char* a = argv[*k];
  size_t n = strlen(name);
  if (strncmp(a, name, n)) return NULL;
  if (a[n] == '=') return a + n + 1;
  return !a[n] && *k + 1 < argc ? argv[++*k] : NULL;
}

static pb_status bad_option(const char* text) {
  return pb_error(NULL, (pb_place){0}, 1002, "pb-run --help lists the options", "bad option '%s'", text);
}

static bool read_count(const char* text, int* out) {
  char* end;
  long value = strtol(text, &end, 10);
  *out = (int)value;
  return *text && !*end && value >= 0 && value <= 1000000;
}

static bool read_number(const char* text, double* out) {
  char* end;
  *out = strtod(text, &end);
  return *text && !*end && *out >= 0;
}

static pb_status add_value(values* list, const char* value) {
  PB_PUSH(list->items, list->count, list->capacity, value);
  return PB_OK;
}

static pb_status read_option(int argc, char** argv, int* k, options* o) {
  const char *a = argv[*k], *v;
  if ((v = value_of(argc, argv, k, "--input"))) return add_value(&o->inputs, v);
  if ((v = value_of(argc, argv, k, "--output"))) return add_value(&o->outputs, v);
  if ((v = value_of(argc, argv, k, "--expect"))) return add_value(&o->expects, v);
  const struct {
    const char* name;
    const char** text;
    int* count;
    double* number;
  } valued[] = {{"--target", &o->target, NULL, NULL},
                {"--device", &o->device, NULL, NULL},
                {"--device-options", &o->device_options, NULL, NULL},
                {"--stop-at", &o->stop, NULL, NULL},
                {"--dump", &o->stop_dump, NULL, NULL},
                {"--compare", &o->compare, NULL, NULL},
                {"--compare-options", &o->compare_options, NULL, NULL},
                {"--trace", &o->trace, NULL, NULL},
                {"--dump-tensors", &o->dump, NULL, NULL},
                {"--warmup", NULL, &o->warmup, NULL},
                {"--repeat", NULL, &o->repeat, NULL},
                {"--threads", NULL, &o->threads, NULL},
                {"--atol", NULL, NULL, &o->atol},
                {"--rtol", NULL, NULL, &o->rtol},
                {"--percentile", NULL, NULL, &o->percentile}};
  for (size_t n = 0; n < sizeof valued / sizeof *valued; ++n) {
    if (!(v = value_of(argc, argv, k, valued[n].name))) continue;
    if (valued[n].count == &o->repeat || valued[n].count == &o->warmup) o->timed = true;
    if (valued[n].text)
      *valued[n].text = v;
    else if (valued[n].count ? !read_count(v, valued[n].count) : !read_number(v, valued[n].number))
      return bad_option(a);
    return PB_OK;
  }
  if (!strncmp(a, "--stats=", 8))
    o->stats_file = a + 8;
  else if (!strcmp(a, "--stats"))
    o->stats = true;
  else if (!strcmp(a, "--info"))
    o->info = true;
  else if (!strcmp(a, "--in-place"))
    o->in_place = true;
  else if (!strcmp(a, "--counters"))
    o->counters = true;
  else if (!strcmp(a, "--graph"))
    o->graph = true;
  else if (!strcmp(a, "--no-native"))
    o->no_native = true;
  else if (a[0] == '-' || o->engine)
    return bad_option(a);
  else
    o->engine = a;
  return PB_OK;
}

typedef struct job {
  const options* o;
  values given; // --input, a file of several arrays as one for each input
  pb_arena names;
  pb_rt* rt;
  int64_t samples;
  run_value *inputs, *outputs;
  run_times times;
  run_timeline timeline;
  pb_rt* beside; // the other device's, with --compare
  run_steps *steps, *steps_beside;
} job;

// The runtime's own error, already formatted.
static pb_status told(int code) {
  if (code) fprintf(stderr, "%s\n", pb_rt_error());
  return code ? PB_ERR_INPUT : PB_OK;
}

// FILE.npz without an input's name: each array that has an input's name. Of one input alone the only array does, too.
static pb_status spread(job* j, const char* file) {
  pb_npz npz;
  int count = pb_rt_input_count(j->rt), found = 0;
  PB_TRY(pb_npz_open(file, NULL, &npz));
  pb_status status = PB_OK;
  for (int k = 0; k < count && status == PB_OK; ++k) {
    const char* name = pb_rt_input(j->rt, k)->name;
    bool has = false;
    status = pb_npz_has(&npz, name, NULL, &has);
    if (status != PB_OK || !has) continue;
    ++found;
    status = add_value(&j->given, pb_printf(&j->names, "%s=%s:%s", name, file, name));
  }
  pb_npz_close(&npz);
  if (status != PB_OK || found) return status;
  if (count == 1) return add_value(&j->given, file);
  return pb_error(NULL, (pb_place){.file = file}, 5058,
                  "numpy.savez(FILE, NAME=array, ...); pb-run --info lists the names", "no array has an input's name");
}

static pb_status spread_inputs(job* j) {
  int count = pb_rt_input_count(j->rt);
  for (size_t k = 0; k < j->o->inputs.count; ++k) {
    const char *text = j->o->inputs.items[k], *array;
    size_t length;
    bool named = false;
    for (int i = 0; i < count; ++i) {
      const char* name = pb_rt_input(j->rt, i)->name;
      named |= !strncmp(text, name, strlen(name)) && text[strlen(name)] == '=';
    }
    if (!named && pb_npz_named(text, &length, &array) && !array)
      PB_TRY(spread(j, text));
    else
      PB_TRY(add_value(&j->given, text));
  }
  return PB_OK;
}

// The first profile whose inputs have the shapes of the files that are given; the first one without files.
static pb_status choose_profile(job* j) {
  int count = pb_rt_input_count(j->rt), index;
  const int64_t** shapes = calloc((size_t)count + 1, sizeof *shapes);
  pb_npy* files = calloc(j->given.count + 1, sizeof *files);
  if (!shapes || !files) pb_no_memory(sizeof *files);
  pb_status status = PB_OK;
  bool any = false;
  bool open = false;
  for (int k = 0; k < count; ++k) {
    shapes[k] = pb_rt_input(j->rt, k)->shape;
    for (int d = 0; d < pb_rt_input(j->rt, k)->rank; ++d) open |= shapes[k][d] < 0;
  }
  for (size_t k = 0; k < j->given.count && status == PB_OK; ++k) {
    const char* rest;
    status = run_value_named("--input", j->given.items[k], count, pb_rt_input, j->rt, &rest, &index);
    if (status != PB_OK || !pb_npy_is_file(rest)) continue;
    status = pb_npy_read(rest, NULL, &files[k]);
    if (status == PB_OK && files[k].rank == pb_rt_input(j->rt, index)->rank) shapes[index] = files[k].shape;
    any = true;
  }
  if (status == PB_OK && (any || (pb_rt_is_open(j->rt) && !open))) status = told(pb_rt_choose(j->rt, shapes));
  for (size_t k = 0; k < j->given.count; ++k) free(files[k].data);
  free(files);
  free(shapes);
  return status;
}

static pb_status read_inputs(job* j) {
  int count = pb_rt_input_count(j->rt), index;
  for (size_t k = 0; k < j->given.count; ++k) {
    const char* rest;
    PB_TRY(run_value_named("--input", j->given.items[k], count, pb_rt_input, j->rt, &rest, &index));
    if (j->inputs[index].tensor)
      return pb_error(NULL, (pb_place){.file = j->o->engine}, 5042, "one --input for each",
                      "input '%s' has two values, the second is '%s'", pb_rt_input(j->rt, index)->name, rest);
    PB_TRY(run_value_read(pb_rt_input(j->rt, index), rest, &j->inputs[index]));
  }
  j->samples = 1;
  for (int k = 0; k < count; ++k) {
    const run_value* v = &j->inputs[k];
    if (!v->tensor)
      return pb_error(NULL, (pb_place){.file = j->o->engine}, 5042, "--input NAME=FILE.npy or NAME=random:7",
                      "input '%s' has no value", pb_rt_input(j->rt, k)->name);
    if (v->samples > 1 && j->samples > 1 && v->samples != j->samples)
      return pb_error(NULL, (pb_place){0}, 5043, NULL, "'%s' has %lld samples; another input has %lld", v->tensor->name,
                      (long long)v->samples, (long long)j->samples);
    if (v->samples > 1) j->samples = v->samples;
  }
  return PB_OK;
}

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static uint64_t cycles_of(const pb_rt* rt) {
  uint64_t cycles = 0;
  for (int k = 0; k < pb_rt_step_count(rt); ++k) cycles += pb_rt_step_info(rt, k)->cycles;
  return cycles;
}

// An output whose extents the data say.
static void take_output(job* j, int k, const void* made) {
  run_value_free(&j->outputs[k]);
  run_value_make(pb_rt_output(j->rt, k), 1, &j->outputs[k]);
  if (j->outputs[k].all.bytes) memcpy(j->outputs[k].all.data, made, j->outputs[k].all.bytes);
}

static bool has_open_dim(const pb_rt_tensor* t) {
  for (int d = 0; d < t->rank; ++d)
    if (t->shape[d] < 0) return true;
  return false;
}

// The sample on the other device, into the same outputs.
static pb_status compare_sample(job* j, int64_t sample, const void** inputs, void** outputs) {
  j->steps_beside = run_steps_make();
  pb_rt_set_after_step(j->beside, run_steps_keep, j->steps_beside);
  PB_TRY(told(pb_rt_run(j->beside, inputs, outputs)));
  pb_arena arena = {0};
  char* text =
      run_steps_difference(j->rt, j->steps, pb_rt_device(j->rt), j->steps_beside, pb_rt_device(j->beside), &arena);
  pb_status status =
      text
          ? pb_error(NULL, (pb_place){.file = j->o->engine}, 5061,
                     "pb-target-test names the first command that differs; tensors that stay on the chip show with pbc "
                     "--between=system",
                     "sample %lld: %s", (long long)sample, text)
          : PB_OK;
  pb_arena_free(&arena);
  return status;
}

static void free_steps(job* j) {
  run_steps_free(j->steps);
  run_steps_free(j->steps_beside);
  j->steps = j->steps_beside = NULL;
}

static pb_status run_sample(job* j, int64_t sample, double* seconds) {
  const void** inputs = calloc((size_t)pb_rt_input_count(j->rt) + 1, sizeof *inputs);
  void** outputs = calloc((size_t)pb_rt_output_count(j->rt) + 1, sizeof *outputs);
  if (!inputs || !outputs) pb_no_memory(sizeof *inputs);
  for (int k = 0; k < pb_rt_input_count(j->rt); ++k) inputs[k] = run_value_sample(&j->inputs[k], sample);
  for (int k = 0; k < pb_rt_output_count(j->rt); ++k) outputs[k] = run_value_sample(&j->outputs[k], sample);
  for (int k = 0; j->o->in_place && k < pb_rt_output_count(j->rt); ++k)
    if (pb_rt_alias(j->rt, k) >= 0) outputs[k] = (void*)(uintptr_t)inputs[pb_rt_alias(j->rt, k)]; // this program's own
  if (j->beside) pb_rt_set_after_step(j->rt, run_steps_keep, j->steps = run_steps_make());
  double start = now();
  pb_status status = told(pb_rt_run(j->rt, inputs, outputs));
  *seconds = now() - start;
  for (int k = 0; k < pb_rt_output_count(j->rt); ++k) {
    const void* made = status == PB_OK ? pb_rt_output_data(j->rt, k) : NULL;
    if (made) {
      take_output(j, k, made);
      continue;
    }
    void* kept = run_value_sample(&j->outputs[k], sample);
    if (outputs[k] != kept) memcpy(kept, outputs[k], pb_rt_output(j->rt, k)->bytes);
  }
  if (status == PB_OK && j->beside) status = compare_sample(j, sample, inputs, outputs);
  free_steps(j);
  free(inputs);
  free(outputs);
  return status;
}

static void show_progress(int64_t done, int64_t all) {
  if (all > 1 && isatty(2))
    fprintf(stderr, "\r%lld of %lld%s", (long long)done, (long long)all, done == all ? "\r\033[K" : "");
}

static pb_status run_all(job* j) {
  double seconds;
  int repeat = j->o->repeat > 0 ? j->o->repeat : 1;
  for (int k = 0; k < j->o->warmup; ++k) PB_TRY(run_sample(j, 0, &seconds));
  j->times =
      (run_times){.seconds = calloc((size_t)repeat, sizeof(double)), .count = repeat, .percentile = j->o->percentile};
  if (!j->times.seconds) pb_no_memory((size_t)repeat * sizeof(double));
  if (j->timeline.file) pb_rt_set_trace(j->rt, run_timeline_event, &j->timeline);
  for (int k = 0; k < repeat; ++k)
    for (int64_t s = 0; s < j->samples; ++s) {
      PB_TRY(run_sample(j, s, &seconds));
      j->times.seconds[k] += seconds;
      show_progress(k * j->samples + s + 1, repeat * j->samples);
      if (j->timeline.file) pb_rt_set_trace(j->rt, NULL, NULL); // the first run tells all
    }
  return PB_OK;
}

static pb_status deliver(job* j) {
  int count = pb_rt_output_count(j->rt), index;
  const char* rest;
  for (size_t k = 0; k < j->o->outputs.count; ++k) {
    PB_TRY(run_value_named("--output", j->o->outputs.items[k], count, pb_rt_output, j->rt, &rest, &index));
    PB_TRY(pb_npy_write(rest, &j->outputs[index].all, NULL));
  }
  pb_status status = PB_OK;
  for (size_t k = 0; k < j->o->expects.count; ++k) {
    PB_TRY(run_value_named("--expect", j->o->expects.items[k], count, pb_rt_output, j->rt, &rest, &index));
    pb_status one = run_value_expect(&j->outputs[index], rest, j->o->atol, j->o->rtol);
    if (one != PB_OK) status = one;
  }
  bool reported = j->o->compare || j->o->outputs.count || j->o->expects.count || j->o->stats || j->o->stats_file ||
                  j->o->timed || j->o->counters;
  for (int k = 0; !reported && k < count; ++k) run_value_print(&j->outputs[k]);
  if (j->o->timed) run_report_times(&j->times);
  if (j->o->stats) run_report_table(j->rt);
  if (j->o->counters) run_report_counters(j->rt);
  if (j->o->stats_file) PB_TRY(run_report_json(j->rt, &j->times, j->o->stats_file));
  return status;
}

// What memory holds, as bytes: layouts between kernels are the planner's.
static void dump_step(void* user, pb_rt* rt, int step) {
  const char* folder = user;
  for (int a = 0; a < pb_rt_arg_count(rt, step); ++a) {
    char path[2048];
    uint64_t size = 0;
    if (pb_rt_read_arg(rt, step, a, NULL, 0, &size)) continue;
    pb_npy npy = {.type = PB_I8, .rank = 1, .shape = {(int64_t)size}, .bytes = size, .data = malloc(size ? size : 1)};
    if (!npy.data) pb_no_memory(size);
    snprintf(path, sizeof path, "%s/step%03d_arg%02d.npy", folder, step, a);
    if (told(pb_rt_read_arg(rt, step, a, npy.data, size, &size)) == PB_OK && pb_npy_write(path, &npy, NULL) != PB_OK)
      exit(1);
    free(npy.data);
  }
}

static pb_status set_target(job* j) {
  if (!j->o->target) return PB_OK;
  int k = 0;
  while (k < pb_rt_target_count(j->rt) && strcmp(pb_rt_target_name(j->rt, k), j->o->target) != 0) ++k;
  if (k < pb_rt_target_count(j->rt)) return told(pb_rt_set_target(j->rt, k));
  return pb_error(NULL, (pb_place){.file = j->o->engine}, 5065, "pb-run --info lists them", "it has no target '%s'",
                  j->o->target);
}

// The machine's options, with where it is to stop.
static pb_status set_device(job* j) {
  const options* o = j->o;
  char text[4096];
  const char* device = o->device ? o->device : "machine";
  if (!o->stop && !o->stop_dump) {
    if (!o->device && !o->device_options) return PB_OK;
    return told(pb_rt_set_device(j->rt, device, o->device_options));
  }
  if (!o->stop || strcmp(device, "machine") != 0)
    return pb_error(NULL, (pb_place){0}, 1003, NULL,
                    o->stop ? "--stop-at is the machine's" : "--dump without --stop-at");
  int length =
      snprintf(text, sizeof text, "%s%sstop=%s%s%s", o->device_options ? o->device_options : "",
               o->device_options ? "," : "", o->stop, o->stop_dump ? ",dump=" : "", o->stop_dump ? o->stop_dump : "");
  if (length < 0 || (size_t)length >= sizeof text) return pb_error(NULL, (pb_place){0}, 1003, NULL, "a name too long");
  return told(pb_rt_set_device(j->rt, device, text));
}

static pb_status execute(job* j) {
  const options* o = j->o;
  PB_TRY(told(pb_rt_load(o->engine, o->no_native ? PB_LOAD_NO_NATIVE : 0, &j->rt)));
  if (o->info) {
    run_report_info(j->rt);
    return PB_OK;
  }
  PB_TRY(spread_inputs(j));
  if (pb_rt_profile_count(j->rt) > 1 || pb_rt_is_open(j->rt)) PB_TRY(choose_profile(j));
  j->inputs = calloc((size_t)pb_rt_input_count(j->rt) + 1, sizeof *j->inputs);
  j->outputs = calloc((size_t)pb_rt_output_count(j->rt) + 1, sizeof *j->outputs);
  if (!j->inputs || !j->outputs) pb_no_memory(sizeof *j->inputs);
  PB_TRY(read_inputs(j));
  pb_rt_set_threads(j->rt, o->threads);
  PB_TRY(set_target(j));
  PB_TRY(set_device(j));
  if (o->graph) PB_TRY(told(pb_rt_use_graph(j->rt, true)));
  for (int k = 0; k < pb_rt_output_count(j->rt); ++k) {
    if (j->samples > 1 && has_open_dim(pb_rt_output(j->rt, k)))
      return pb_unsupported(NULL, (pb_place){.what = pb_rt_output(j->rt, k)->name}, 5043, "a sample a file",
                            "has extents that data say, and the inputs have %lld samples", (long long)j->samples);
    run_value_make(pb_rt_output(j->rt, k), j->samples, &j->outputs[k]);
  }
  if (o->compare) {
    PB_TRY(told(pb_rt_load(o->engine, o->no_native ? PB_LOAD_NO_NATIVE : 0, &j->beside)));
    PB_TRY(told(pb_rt_set_profile(j->beside, pb_rt_profile(j->rt))));
    PB_TRY(told(pb_rt_set_device(j->beside, o->compare, o->compare_options)));
    if (!o->device && !o->device_options) PB_TRY(told(pb_rt_set_device(j->rt, "machine", NULL)));
  }
  if (o->trace) PB_TRY(run_timeline_open(&j->timeline, j->rt, o->trace));
  if (o->dump) {
    mkdir(o->dump, 0777);
    pb_rt_set_after_step(j->rt, dump_step, (void*)(uintptr_t)o->dump);
  }
  PB_TRY(run_all(j));
  if (o->stop) return pb_error(NULL, (pb_place){0}, 5052, NULL, "no command ran that is %s", o->stop);
  if (o->compare)
    printf("%lld samples, %d steps each: %s and %s agree in every byte; the last took %llu and %llu cycles\n",
           (long long)j->samples, pb_rt_step_count(j->rt), pb_rt_device(j->rt), pb_rt_device(j->beside),
           (unsigned long long)cycles_of(j->rt), (unsigned long long)cycles_of(j->beside));
  PB_TRY(run_timeline_close(&j->timeline));
  return deliver(j);
}

static int run(int argc, char** argv, options* o) {
  for (int k = 1; k < argc; ++k) {
    if (!strcmp(argv[k], "--help")) return fputs(help, stdout), pb_printed(0);
    if (!strcmp(argv[k], "--version"))
      return printf("pb-run 0.1.0, engine version %d\n", PB_ENGINE_VERSION), pb_printed(0);
    if (read_option(argc, argv, &k, o) != PB_OK) return 1;
  }
  if (!o->engine) return fputs(help, stderr), 1;
  if (o->percentile > 100) return bad_option("--percentile beyond 100"), 1;
  if (o->threads > PB_MOST_THREADS) return bad_option("--threads beyond 1024"), 1;
  if (o->dump && !*o->dump) return bad_option("--dump-tensors="), 1;
#ifdef PB_HAVE_MACHINE
  pb_rt_add_machine();
#endif
  job j = {.o = o};
  pb_status status = execute(&j);
  if (status != PB_OK && j.timeline.file) (void)!run_timeline_close(&j.timeline);
  for (int k = 0; j.inputs && k < pb_rt_input_count(j.rt); ++k) run_value_free(&j.inputs[k]);
  for (int k = 0; j.outputs && k < pb_rt_output_count(j.rt); ++k) run_value_free(&j.outputs[k]);
  free(j.inputs);
  free(j.outputs);
  free(j.times.seconds);
  free(j.given.items);
  pb_arena_free(&j.names);
  pb_rt_free(j.rt);
  pb_rt_free(j.beside);
  return pb_printed(status == PB_OK ? 0 : 1);
}

int main(int argc, char** argv) {
  options o = {.percentile = 90};
  int code = run(argc, argv, &o);
  free(o.inputs.items);
  free(o.outputs.items);
  free(o.expects.items);
  return code;
}
