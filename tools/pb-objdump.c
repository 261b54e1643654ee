// pb-objdump ENGINE: the steps of an engine and the commands of its kernels.
#include "core/artefact/engine.h"
#include "core/base/shown.h"
#include "pb/device.h"
#include "tdl/chip.h"

#include <stdio.h>
#include <string.h>

static const char help[] = "usage: pb-objdump ENGINE.pbe [--kernel=NAME] [--queue=NAME] [--headers] [--c-array=NAME]\n"
                           "Prints the engine's tensors and steps, and unless --headers is given the commands of each "
                           "kernel, queue by queue:\n"
                           "  index: instruction operands ; waits QUEUES ; signals QUEUES\n"
                           "--c-array=NAME prints the file itself as an array in C, for firmware "
                           "(tools/firmware/pb_firmware.h).\n";

static pb_arena shown_names;

// Text of the engine, as it is printed.
static const char* shown(const char* text) { return pb_shown(&shown_names, text); }

typedef struct options {
  const char *engine, *kernel, *queue;
  const char* array;
  bool headers, kernel_found, queue_found;
} options;

static void print_tensors(const char* what, int count, const pb_tensor_info* tensors) {
  for (int k = 0; k < count; ++k) {
    printf("  %s%d %s: ", what, k, shown(tensors[k].name));
    for (int d = 0; d < tensors[k].rank - tensors[k].is_complex; ++d) printf("%lldx", (long long)tensors[k].shape[d]);
    printf(tensors[k].is_complex ? "complex<%s>\n" : "%s\n", pb_type_name(tensors[k].type));
  }
}

static void print_headers(const pb_engine* e) {
  printf("target %s, description ", shown(e->target));
  for (int k = 0; k < 8; ++k) printf("%02x", e->chip_hash[k]);
  printf("..., revision %d\n", e->chip_revision);
  if (e->module_count) printf("code of a grid: %d modules for %s\n", e->module_count, shown(e->processor));
  if (e->native_bytes)
    printf("native code: %llu bytes, needs '%s'\n", (unsigned long long)e->native_bytes, shown(e->features));
  uint64_t apart = e->const_bytes - pb_engine_apart(e, 0);
  printf("constants: %llu bytes", (unsigned long long)e->const_bytes);
  if (apart && apart == pb_engine_apart_bytes(e, 0))
    printf(", %llu of them in their own memory", (unsigned long long)apart);
  else
    for (int k = 0; k < PB_ENGINE_MAX_APART; ++k) // in the order of their names
      if (pb_engine_apart_bytes(e, k))
        printf(", %llu of them in memory %d of constants", (unsigned long long)pb_engine_apart_bytes(e, k), k);
  printf("; arena: %llu bytes\ntensors:\n", (unsigned long long)e->arena_bytes);
  print_tensors("input", e->input_count, e->inputs);
  print_tensors("output", e->output_count, e->outputs);
  for (int k = 0; e->aliases && k < e->output_count; ++k)
    if (e->aliases[k] >= 0) printf("  output%d is input%d, in place\n", k, e->aliases[k]);
  puts("steps:");
  for (int s = 0; s < e->step_count; ++s) {
    static const char* const spaces[] = {"input",  "output",  "const+",  "arena+", "sizes",
                                         "apart+", "apart1+", "apart2+", "apart3+"};
    const pb_step* step = &e->steps[s];
    static const char* const names[] = {
        [PB_HOST_MOVE] = "move",   [PB_HOST_JUMP] = "jump",       [PB_HOST_UNLESS] = "unless",
        [PB_HOST_PLACE] = "place", [PB_HOST_EXTENTS] = "extents", [PB_HOST_TAKE] = "take"};
    printf("  %d: %s(", s, step->op == PB_HOST_LAUNCH ? shown(e->kernels[step->kernel].name) : names[step->op]);
    for (int a = 0; a < step->arg_count; ++a)
      printf("%s%s%llu", a ? ", " : "", spaces[step->args[a].space], (unsigned long long)step->args[a].value);
    fputs(")", stdout);
    const char* size = e->open ? "#" : ""; // the number of a size
    if (step->op == PB_HOST_PLACE || step->op == PB_HOST_TAKE)
      printf(" %s%llu times %s%llu bytes", size, (unsigned long long)step->rows.count, size,
             (unsigned long long)step->bytes);
    if (step->op == PB_HOST_MOVE) printf(" %s%llu bytes", size, (unsigned long long)step->bytes);
    if (step->op == PB_HOST_JUMP || step->op == PB_HOST_UNLESS) printf(" -> %d", step->target);
    for (int n = 0; n < step->kept_count; ++n) // the description's memories, from 0
      printf("%smemory %d [%llu, %llu)", n ? ", " : " keeps ", step->kept[n].memory,
             (unsigned long long)step->kept[n].address,
             (unsigned long long)(step->kept[n].address + step->kept[n].bytes));
    printf("  ; %s\n", shown(step->origin));
  }
}

// A loop: its body as it runs in the first turn, and then as in the second. *at: the header, and then the last word.
static pb_status print_loop(const pb_engine* e, const pb_chip* chip, const pb_words_kernel* words, int q, uint32_t* at,
                            const pb_command* header, int64_t (*state)[32]) {
  int64_t turns = header->values[chip->loop_iterations], body = header->values[chip->loop_body];
  size_t bytes = (size_t)e->command_bytes;
  if (turns < 1 || body < 1 || body > chip->loop_most || *at + 2 * (uint64_t)body >= words->count[q])
    return pb_error(NULL, (pb_place){0}, 3304, NULL, "word %u of queue %s: a loop of %lld commands, %lld times", *at,
                    pb_chip_stream_name(chip, q), (long long)body, (long long)turns);
  printf("    %5u: %s %lld times the next %lld\n", *at, chip->loop->name, (long long)turns, (long long)body);
  uint8_t now[PB_MAX_LOOP_BODY][PB_ENGINE_MAX_COMMAND];
  for (int64_t turn = 0; turn < turns; ++turn)
    for (int64_t k = 0; k < body; ++k) {
      const uint8_t* pair = words->streams[q] + (size_t)(*at + 1 + 2 * k) * bytes;
      pb_command command;
      pb_arena arena = {0};
      if (turn == 0)
        memcpy(now[k], pair, bytes);
      else
        pb_command_step(chip, now[k], pair + bytes);
      PB_TRY(pb_decode(chip, now[k], &command, NULL));
      pb_state_follow(chip, state, &command);
      if (turn == 0) printf("    %5u:   %s\n", *at + 1 + 2 * (uint32_t)k, pb_disassemble(chip, &command, &arena));
      if (turn == 1) printf("     then:   %s\n", pb_disassemble(chip, &command, &arena));
      pb_arena_free(&arena);
    }
  *at += 2 * (uint32_t)body;
  return PB_OK;
}

static pb_status print_queue(const pb_engine* e, const pb_chip* chip, const pb_words_kernel* words, int q) {
  pb_arena kept = {0};
  int64_t(*state)[32] = pb_alloc(&kept, sizeof *state * (size_t)chip->insn_count);
  pb_state_clear(chip, state);
  pb_status status = PB_OK;
  for (uint32_t k = 0; k < words->count[q]; ++k) {
    pb_command command;
    pb_arena arena = {0};
    status = pb_decode(chip, words->streams[q] + (size_t)k * (size_t)e->command_bytes, &command, NULL);
    if (status != PB_OK) break;
    if (command.insn == chip->loop) {
      status = print_loop(e, chip, words, q, &k, &command, state);
      if (status != PB_OK) break;
      continue;
    }
    pb_state_follow(chip, state, &command);
    printf("    %5u: %s\n", k, pb_disassemble(chip, &command, &arena));
    pb_arena_free(&arena);
  }
  pb_arena_free(&kept);
  return status;
}

// An entry's text, as far as it is one's of PTX.
static void print_entry(const char* text, const char* symbol) {
  pb_arena arena = {0};
  const char *name = pb_printf(&arena, ".entry %s(", symbol), *at = strstr(text, name), *end = NULL;
  if (at) end = strstr(at, "\n}");
  if (end) printf("%.*s\n", (int)(end + 2 - at), at);
  pb_arena_free(&arena);
}

static void print_grid(const pb_engine* e, const pb_kernel* kernel, bool whole) {
  static const char* const forms[PB_ENGINE_CODE_FORMS] = {"PTX", "cubin", "code object"};
  const pb_grid_kernel* grid = &kernel->grid;
  printf("  grid, %u blocks of %u threads, entry %s, module %d", grid->blocks, grid->threads, shown(kernel->symbol),
         grid->module);
  if (grid->memory) printf(", %llu bytes of its own", (unsigned long long)grid->memory);
  for (int c = 0; c < e->grid_code_count; ++c)
    if (e->grid_codes[c].module == grid->module)
      printf(", %s of %llu bytes", forms[e->grid_codes[c].form], (unsigned long long)e->grid_codes[c].bytes);
  printf("\n");
  for (int c = 0; c < e->grid_code_count && whole; ++c)
    if (e->grid_codes[c].module == grid->module && e->grid_codes[c].form == PB_DEVICE_PTX)
      print_entry((const char*)e->grid_codes[c].data, kernel->symbol);
}

static pb_status print_kernels(const pb_engine* e, const pb_chip* chip, options* o) {
  for (int k = 0; k < e->kernel_count; ++k) {
    const pb_kernel* kernel = &e->kernels[k];
    if (o->kernel && strcmp(o->kernel, kernel->name)) continue;
    o->kernel_found = true;
    printf("\nkernel %s: %llu cycles predicted, bound by %s\n", shown(kernel->name),
           (unsigned long long)kernel->predicted_cycles, *kernel->bound ? shown(kernel->bound) : "?");
    if (kernel->is_grid)
      print_grid(e, kernel, o->kernel != NULL);
    else if (!kernel->is_words)
      printf("  native, symbol %s%s\n", shown(kernel->symbol), kernel->alone ? ", one thread" : "");
    for (int q = 0; kernel->is_words && q < kernel->words.queue_count; ++q) {
      if (o->queue && strcmp(o->queue, pb_chip_stream_name(chip, q))) continue;
      o->queue_found = true;
      printf("  queue %s: %u commands\n", pb_chip_stream_name(chip, q), kernel->words.count[q]);
      PB_TRY(print_queue(e, chip, &kernel->words, q));
    }
  }
  return PB_OK;
}

static pb_status print_engine(const pb_engine* e, options* o) {
  print_headers(e);
  if (o->headers) return PB_OK;
  pb_chip* chip = NULL;
  bool words = false;
  for (int k = 0; k < e->kernel_count; ++k) words |= e->kernels[k].is_words;
  const char* colon = strchr(e->target, ':');
  if (words) PB_TRY(pb_chip_from_json(e->description, o->engine, colon ? colon + 1 : "", NULL, &chip));
  pb_status status = PB_OK;
  for (int k = 0; k < e->kernel_count && words; ++k)
    if (chip->command_bytes != e->command_bytes || e->kernels[k].words.queue_count > pb_chip_streams(chip))
      status = pb_error(NULL, (pb_place){.file = o->engine}, 5025, NULL, "the commands are not of '%s'", chip->name);
  if (status == PB_OK) status = print_kernels(e, chip, o);
  pb_chip_free(chip);
  return status;
}

// Names that nothing printed has.
static pb_status check_names(const options* o) {
  if (o->headers || o->array) return PB_OK;
  if (o->kernel && !o->kernel_found)
    return pb_error(NULL, (pb_place){.file = o->engine}, 1002, "the steps name the kernels", "no kernel '%s'",
                    o->kernel);
  if (o->queue && !o->queue_found)
    return pb_error(NULL, (pb_place){.file = o->engine}, 1002, "without --queue all are printed", "no queue '%s'",
                    o->queue);
  return PB_OK;
}

// The engine's bytes as C. It was read before, so that what is printed is an engine.
static pb_status print_array(const char* path, const char* name) {
  FILE* file = fopen(path, "rb");
  unsigned long long bytes = 0;
  if (!file) return pb_system_error(NULL, (pb_place){.file = path}, 1001, "cannot be read");
  printf("/* Made by pb-objdump from %s. What pb makes carries no licence of its own: it is yours, under the licence\n"
         "   of the model that it was made from. */\n"
         "extern const unsigned char %s[];\nextern const unsigned long long %s_bytes;\n"
         "#if defined __GNUC__\n__attribute__((aligned(64)))\n#endif\nconst unsigned char %s[] = {",
         shown(path), name, name, name);
  for (int c; (c = fgetc(file)) != EOF; ++bytes) printf("%s%d,", bytes % 24 ? "" : "\n", c);
  printf("\n};\nconst unsigned long long %s_bytes = %llu;\n", name, bytes);
  fclose(file);
  return PB_OK;
}

static bool is_c_name(const char* name) {
  static const char* const keywords[] = {"auto",    "break",  "case",     "char",   "const",    "continue", "default",
                                         "do",      "double", "else",     "enum",   "extern",   "float",    "for",
                                         "goto",    "if",     "inline",   "int",    "long",     "register", "restrict",
                                         "return",  "short",  "signed",   "sizeof", "static",   "struct",   "switch",
                                         "typedef", "union",  "unsigned", "void",   "volatile", "while"};
  for (size_t k = 0; k < sizeof keywords / sizeof *keywords; ++k)
    if (!strcmp(name, keywords[k])) return false;
  size_t n = strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789");
  return n > 0 && !name[n] && (*name < '0' || *name > '9');
}

int main(int argc, char** argv) {
  options o = {0};
  for (int k = 1; k < argc; ++k) {
    const char* a = argv[k];
    if (!strcmp(a, "--help")) return fputs(help, stdout), pb_printed(0);
    if (!strcmp(a, "--version")) return puts("pb-objdump 0.1.0"), pb_printed(0);
    if (!strncmp(a, "--kernel=", 9))
      o.kernel = a + 9;
    else if (!strncmp(a, "--queue=", 8))
      o.queue = a + 8;
    else if (!strncmp(a, "--c-array=", 10) && is_c_name(a + 10))
      o.array = a + 10;
    else if (!strcmp(a, "--headers"))
      o.headers = true;
    else if (a[0] == '-' || o.engine)
      return pb_error(NULL, (pb_place){0}, 1002, "pb-objdump --help", "bad option '%s'", a), 1;
    else
      o.engine = a;
  }
  if (!o.engine) return fputs(help, stderr), 1;
  pb_engine* engine = NULL;
  if (pb_engine_read(o.engine, NULL, &engine) != PB_OK) return 1;
  pb_status status = o.array ? print_array(o.engine, o.array) : PB_OK;
  int profile = 0;
  for (const pb_engine* e = engine; e && !o.array && status == PB_OK; e = e->next) {
    if (engine->next) printf("profile %d\n", ++profile);
    status = print_engine(e, &o);
  }
  pb_engine_free(engine);
  pb_arena_free(&shown_names);
  if (status == PB_OK) status = check_names(&o);
  return pb_printed(status == PB_OK ? 0 : 1);
}
