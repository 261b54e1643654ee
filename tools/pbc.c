// pbc MODEL --target=NAME -o OUT.pbe: compiles a model to an engine.
#include "core/base/scratch.h"
#include "core/driver/options.h"
#include "core/runtime/npy.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static int usage(FILE* to) {
  fputs(
      "usage: pbc MODEL.onnx|MODEL.mlir --target=NAME[:VARIANT]|FILE.td -o OUT.pbe\n"
      "                                   several GPUs, nvgpu:sm_80,sm_90a,amdgpu:gfx942: one engine for all\n"
      "  MODEL.mlir                       StableHLO as generic MLIR text, or linalg on tensors as torch-mlir prints "
      "it\n"
      "  --input-shape NAME=1x3x224x224   the shape of an input that the model leaves open\n"
      "  --dim NAME=8                     the extent of a dim that the model names and leaves open; of both 1,8\n"
      "                                   lists extents, each compiled for itself, and ? takes any, by plain loops\n"
      "                                   either may list values, 1,8: one engine with a program for each, which "
      "share\n"
      "                                   their constants; of several lists the k-th values go together\n"
      "  --items NAME=3                   how many tensors are in an input that is a sequence: NAME[0] to NAME[2];\n"
      "                                   none: an optional with nothing in it\n"
      "  --bind NAME=FILE.npy             an input that is a constant: what is made of it is made now\n"
      "  --weights=FILE.safetensors       the same for each tensor of a file, by its name\n"
      "  --donate=arg1=out0               the output is made in the input's place: a cache of which rows change\n"
      "  --emit=WHAT                      text on standard output (also -o -), or in -o:\n"
      "      engine (the default), s1 (operators), s2 (nests), s3 (planned kernels), PASS (IR after that pass),\n"
      "      plan (the plan of every kernel, to be edited), s4 or commands or asm (what the chip runs)\n"
      "  --plan=FILE                      use the plans in FILE, as --emit=plan prints them; kernels that FILE leaves\n"
      "                                   out are planned as usual\n"
      "  --report=FILE.json               what was made of what: kernels, plans, predicted cycles, memory, steps\n"
      "  --explain[=text|json|html]       each step's instructions or what the chip lacks, predicted cycles and what "
      "binds\n"
      "                                   them, on standard output or in -o; html: one page with the network drawn\n"
      "  --dump-intermediates=DIR         what every stage and pass leaves, in numbered files\n"
      "  --like=NAME|FILE.td              make codes as that chip does, by the formulas of its description, bit for "
      "bit\n"
      "  --precision=TYPE                 products by constants take their factors as bf16, f16, f8e4m3 or f8e5m2 and "
      "sum\n"
      "                                   in f32, where the target multiplies such\n"
      "  --between=chip|system            where tensors between kernels lie: in a memory of the chip where that pays "
      "(the\n"
      "                                   default), or all in the system's\n"
      "  --loops=kernels|steps            loops and branches whose kernels are all small, and large kernels that "
      "follow\n"
      "                                   share by share: a kernel each (the default), or steps of the host's "
      "program,\n"
      "                                   which are timed and traced one by one\n"
      "  --fallback=TARGET                for what the target cannot run, say cpu; each is a warning with the reason\n"
      "  --print-after=PASS               the IR after a pass, on standard error\n"
      "  --threads=N                      compile with N threads at most; the engine is the same\n"
      "  --time-passes                    seconds by pass and schedules looked at, on standard error\n"
      "  --bisect                         run the IR after every pass; name the first pass that changes a result\n"
      "  --target-dir=DIR                 where to look for targets first\n"
      "  --help, --version\n"
      "passes:\n",
      to);
  for (const pb_pass* p = pb_passes; p->name; ++p) fprintf(to, "  %-11s %s\n", p->name, p->summary);
  return to == stdout ? pb_printed(0) : 1;
}

static int fail(int code, const char* hint, const char* format, const char* what) {
  (void)pb_error(NULL, (pb_place){0}, code, hint, format, what);
  return 1;
}

// NAME=FILE.npy. What is read stays until the process ends.
static bool parse_bound(char* text, pb_bound* bound) {
  char* equals = strchr(text, '=');
  pb_npy npy;
  if (!equals || equals == text || !equals[1]) {
    (void)fail(1004, "NAME=FILE.npy", "'%s' binds nothing", text);
    return false;
  }
  *equals = 0;
  if (pb_npy_read(equals + 1, NULL, &npy) != PB_OK) return false;
  *bound = (pb_bound){.name = text, .type = npy.type, .rank = npy.rank, .data = npy.data};
  bound->is_any_code = pb_type_is_code(npy.type); // |V1
  memcpy(bound->shape, npy.shape, sizeof bound->shape);
  return true;
}

typedef struct progress {
  double start;
  bool shown;
} progress;

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void show(void* user, const char* what) {
  progress* p = user;
  if (now() - p->start < 1 || !isatty(2)) return;
  fprintf(stderr, "\r\033[K%s done", what);
  p->shown = true;
}

static bool is_standard_output(const char* path) { return path && !strcmp(path, "-"); }

static int write_text(const char* path, const char* text) {
  FILE* f = path && !is_standard_output(path) ? fopen(path, "w") : stdout;
  if (!f || fputs(text, f) < 0 || (f == stdout ? fflush(f) : fclose(f))) {
    (void)pb_system_error(NULL, (pb_place){.file = path ? path : "standard output"}, 1003, "cannot be written");
    return 1;
  }
  return 0;
}

static const char* const emit_kinds[] = {"engine", "s1", "s2", "s3", "s4", "asm", "commands", "plan"};

// 0, or 1 with a diagnostic that lists what there is.
static int check_emit(const char* emit) {
  char list[1024] = "";
  size_t length = 0;
  for (size_t k = 0; k < sizeof emit_kinds / sizeof *emit_kinds; ++k) {
    if (!strcmp(emit, emit_kinds[k])) return 0;
    length += (size_t)snprintf(list + length, sizeof list - length, "%s%s", k ? ", " : "", emit_kinds[k]);
  }
  for (const pb_pass* p = pb_passes; p->name; ++p) {
    if (!strcmp(emit, p->name)) return 0;
    if (strcmp(p->name, "plan") && length < sizeof list)
      length += (size_t)snprintf(list + length, sizeof list - length, ", %s", p->name);
  }
  return fail(1006, list, "cannot emit '%s'", emit);
}

// What the chip lacks stands in the explanation: no warnings of what the processor would do in its place.
static void sink_of_explain(void* user, bool error, int code, const char* text) {
  (void)user;
  if (error || (code != 4063 && code != 4065)) fprintf(stderr, "%s\n", text);
}

// 0, or 1 with a diagnostic. Without --fallback all that the chip lacks is found by leaving it to the processor.
static int set_explain(pb_compile_options* o, pb_diag* diag, const char* report) {
  if (strcmp(o->explain, "text") && strcmp(o->explain, "json") && strcmp(o->explain, "html"))
    return fail(1006, "text, json, html", "cannot explain as '%s'", o->explain);
  if (o->emit || report)
    return fail(1008, "one of them", "--explain and %s do not go together", o->emit ? "--emit" : "--report");
  if (o->fallback) return 0;
  o->fallback = "cpu";
  o->explain_refusals = true;
  diag->sink = sink_of_explain;
  return 0;
}

// The value of --NAME=VALUE or --NAME VALUE, or NULL when the argument is another option. What follows and is an option
// itself is no value.
static char* value_of(int argc, char** argv, int* k, const char* name) {
  char* a = argv[*k];
  size_t n = strlen(name);
  if (strncmp(a, name, n) != 0) return NULL;
  if (a[n] == '=') return a + n + 1;
  const char* next = !a[n] && *k + 1 < argc ? argv[*k + 1] : "-?";
  return next[0] == '-' && next[1] ? NULL : argv[++*k];
}

// Of options that are there or not.
static bool takes_no_value(const char* name) {
  static const char* const names[] = {"bisect", "time-passes", "help", "version"};
  for (size_t k = 0; k < sizeof names / sizeof *names; ++k)
    if (!strcmp(name, names[k])) return true;
  return false;
}

// What the command line says.
typedef struct arguments {
  pb_compile_options o;
  pb_arena* arena; // of the whole run
  pb_bound* bounds;
  const char *out, *report;
  bool time_passes;
} arguments;

// Reads argument *k, and its value if that stands behind it. 0, or 1 with a diagnostic.
static int read_argument(int argc, char** argv, int* k, arguments* all) {
  pb_compile_options* o = &all->o;
  char *a = argv[*k], *v;
  if ((v = value_of(argc, argv, k, "--report")))
    all->report = v;
  else if (!strcmp(a, "--explain"))
    o->explain = "text";
  else if (!strncmp(a, "--explain=", 10))
    o->explain = a + 10;
  else if (!strcmp(a, "--time-passes"))
    all->time_passes = true;
  else if (!strcmp(a, "--bisect"))
    o->check = true;
  else if (!strcmp(a, "-o") && *k + 1 < argc)
    all->out = argv[++*k];
  else if ((v = value_of(argc, argv, k, "--bind")))
    return parse_bound(v, &all->bounds[o->inputs.bound_count++]) ? 0 : 1;
  else if (!strcmp(a, "-o") || !strcmp(a, "--bind") || !strcmp(a, "--report"))
    return fail(1002, NULL, "option '%s' has no value", a);
  else if (a[0] == '-' && a[1] == '-') {
    const char* name = pb_printf(all->arena, "%.*s", (int)strcspn(a + 2, "="), a + 2);
    if (takes_no_value(name)) return fail(1002, NULL, "option '--%s' takes no value", name);
    v = value_of(argc, argv, k, pb_printf(all->arena, "--%s", name));
    return pb_option_set(o, all->arena, name, v, NULL) == PB_OK ? 0 : 1;
  } else if (a[0] == '-')
    return fail(1002, "pbc --help lists the options", "no option '%s'", a);
  else if (o->model)
    return fail(1005, NULL, "a second model '%s'", a);
  else
    o->model = a;
  return 0;
}

// The file, not its name: another path may lead to it.
static bool is_file(const char* path, const char* other) {
  struct stat a, b;
  return path && other && !stat(path, &a) && !stat(other, &b) && a.st_dev == b.st_dev && a.st_ino == b.st_ino &&
         S_ISREG(a.st_mode);
}

// What is read stays: outputs do not go there. 0, or 1 with a diagnostic.
static int check_outputs(const arguments* all) {
  const pb_compile_options* o = &all->o;
  const char* const outputs[] = {all->out, all->report};
  for (int k = 0; k < 2; ++k) {
    bool edits = !k && o->emit && !strcmp(o->emit, "plan"); // a plan goes back where it came from
    bool reads = is_file(outputs[k], o->model) || is_file(outputs[k], o->target) ||
                 (!edits && is_file(outputs[k], o->plan_file));
    for (int w = 0; w < o->inputs.weight_count; ++w) reads |= is_file(outputs[k], o->inputs.weights[w]);
    if (reads)
      return fail(1005, "another file",
                  k ? "--report=%s would overwrite what is read" : "-o %s would overwrite what is read", outputs[k]);
  }
  if (is_file(all->out, all->report) || (all->out && all->report && !strcmp(all->out, all->report)))
    return fail(1005, "another file", "-o and --report are both '%s'", all->out);
  return 0;
}

// What goes together, and what is there. 0, or 1 with a diagnostic.
static int check_arguments(arguments* all, pb_diag* diag) {
  pb_compile_options* o = &all->o;
  if (!o->model && !o->target) return usage(stderr);
  if (!o->model) return fail(1007, "pbc MODEL.onnx or MODEL.mlir", "%s", "no model");
  if (!o->target) return fail(1007, "--target=NAME, NAME:VARIANT or FILE.td", "%s", "no target");
  if (o->emit && check_emit(o->emit)) return 1;
  if (all->report && o->emit && strcmp(o->emit, "engine"))
    return fail(1008, "leave out --emit", "--report is about an engine, not about '%s'", o->emit);
  if (o->print_after && !pb_pass_named(o->print_after))
    return fail(1002, "pbc --help lists the passes", "no pass '%s'", o->print_after);
  if (o->emit && !strcmp(o->emit, "engine")) o->emit = NULL;
  if (o->explain && set_explain(o, diag, all->report)) return 1;
  if (!o->emit && !o->explain && !all->out) return fail(1007, "-o OUT.pbe", "%s", "no output file");
  if (!o->emit && !o->explain && is_standard_output(all->out))
    return fail(1007, "-o OUT.pbe", "%s", "an engine is a file, not standard output");
  return check_outputs(all);
}

// Leaves what was compiled where the command line wants it. 0, or 1 with a diagnostic.
static int write_compiled(const arguments* all, const pb_compiled* compiled, pb_diag* diag) {
  const char* target = all->o.target;
  if (compiled->engine && !strchr(target, '.') && strcmp(compiled->engine->target, target))
    fprintf(stderr, "pbc: target '%s' is '%s' on this machine\n", target, compiled->engine->target);
  if (compiled->text ? write_text(all->out, compiled->text)
                     : pb_engine_write(compiled->engine, all->out, diag) != PB_OK)
    return 1;
  return compiled->report ? write_text(all->report, compiled->report) : 0;
}

int main(int argc, char** argv) {
  static pb_arena arena;
  arguments all = {.arena = &arena, .bounds = PB_NEW_ARRAY(&arena, pb_bound, (size_t)argc)};
  for (int k = 1; k < argc; ++k) {
    if (!strcmp(argv[k], "--help")) return usage(stdout);
    if (!strcmp(argv[k], "--version")) return puts("pbc 0.1.0"), pb_printed(0);
    if (read_argument(argc, argv, &k, &all)) return 1;
  }
  all.o.inputs.bounds = all.bounds;
  all.o.report = all.report != NULL;
  pb_diag diag = {0};
  pb_scratch_end_on_signals();
  if (check_arguments(&all, &diag)) return 1;
  progress p = {.start = now()};
  all.o.progress = show;
  all.o.user = &p;
  pb_compiled compiled;
  pb_status status = pb_compile(&all.o, &diag, &compiled);
  if (p.shown) fputs("\r\033[K", stderr);
  for (int k = 0; all.time_passes && k < compiled.timing_count; ++k)
    fprintf(stderr, "%-11s %8.3f s\n", compiled.timings[k].name, compiled.timings[k].seconds);
  if (all.time_passes) fprintf(stderr, "%-11s %8lld looked at\n", "schedules", (long long)compiled.schedules);
  int rc = status == PB_OK ? write_compiled(&all, &compiled, &diag) : 1;
  pb_compiled_free(&compiled);
  return rc;
}
