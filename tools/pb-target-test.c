// pb-target-test: the conformance suite of a chip, made from its description.
#include "conformance/suite.h"

#include "core/base/scratch.h"

#include <stdlib.h>
#include <string.h>

static const char help[] = "usage: pb-target-test NAME[:VARIANT]|FILE.td [options]\n"
                           "Runs the conformance suite that follows from the description: every encoding, every "
                           "instruction in every form, at\n"
                           "its smallest, largest, ragged, unaligned, overlapping and extreme, every ordered pair of "
                           "queues, random programs; then\n"
                           "operators and the digits network. The generated machine, and the device if there is one, "
                           "are compared byte for byte\n"
                           "with a second reading of the description; what differs first is named.\n"
                           "  --device=./FILE.so       a driver (pb/device.h) to test beside the machine\n"
                           "  --device-options=TEXT    the driver's own, key=value,...\n"
                           "  --filter=TEXT            only cases whose names hold TEXT: encoding/, insn/NAME/, "
                           "queues/, random/, kernel/, network/\n"
                           "  --random=N               random programs (default 40); --seed=N the first one's seed\n"
                           "  --no-networks            no operators and networks\n"
                           "  --coverage               what was run of each instruction, memory mover and pair of "
                           "queues, and what is missing\n"
                           "  --junit=FILE.xml         the results\n"
                           "  --emit-vectors=DIR       every program as commands and memories for $readmemh\n"
                           "  --target-dir=DIR         where to look for targets first\n"
                           "  --strict                 exit code 1 too where no network runs, or a third of the cases "
                           "or more were skipped\n"
                           "  --first                  stop at the first case that fails\n"
                           "  --verbose                every case, not only those that fail\n"
                           "  --help, --version\n";

static bool number_of(const char* text, uint64_t most, uint64_t* out) {
  char* end;
  *out = strtoull(text, &end, 10);
  return *text && !*end && *out <= most;
}

typedef struct command_line {
  suite_options o;
  const char* spec;
} command_line;

static bool read_option(command_line* line, const char* a) {
  suite_options* o = &line->o;
  uint64_t n;
  const struct {
    const char* name;
    const char** to;
  } texts[] = {{"--device=", &o->device}, {"--device-options=", &o->device_options}, {"--filter=", &o->filter},
               {"--junit=", &o->junit},   {"--emit-vectors=", &o->vectors},          {"--target-dir=", &o->target_dir}};
  for (size_t k = 0; k < sizeof texts / sizeof *texts; ++k)
    if (!strncmp(a, texts[k].name, strlen(texts[k].name))) return *texts[k].to = a + strlen(texts[k].name), true;
  if (!strcmp(a, "--coverage")) return o->coverage = true;
  if (!strcmp(a, "--verbose")) return o->verbose = true;
  if (!strcmp(a, "--strict")) return o->strict = true;
  if (!strcmp(a, "--first")) return o->first = true;
  if (!strcmp(a, "--no-networks")) return o->networks = false, true;
  if (!strncmp(a, "--random=", 9) && number_of(a + 9, 1000000, &n)) return o->random = (int)n, true;
  if (!strncmp(a, "--seed=", 7) && number_of(a + 7, UINT64_MAX, &n)) return o->seed = n, true;
  if (a[0] == '-' || line->spec) return false;
  return line->spec = a, true;
}

static pb_status open_suite(suite* s) {
  char why[JUDGE_WHY] = "";
  pb_place place = {.file = s->chip->file};
  if (s->chip->control != PB_CONTROL_QUEUES) return PB_OK; // operators and networks alone
  s->judge = judge_open(s->chip->json, why);
  if (!s->judge || !suite_plan(s, why)) return pb_error(NULL, place, 5101, NULL, "the suite cannot be made: %s", why);
  if (!device_open(s, "machine", &s->devices[s->device_count++], why))
    return pb_error(NULL, place, 5102, NULL, "%s", why);
  if (s->options->device && !device_open(s, s->options->device, &s->devices[s->device_count++], why))
    return pb_error(NULL, (pb_place){.file = s->options->device}, 5102, "a shared library that exports pb_device_entry",
                    "%s", why);
  return PB_OK;
}

static void close_suite(suite* s) {
  for (int k = 0; k < s->device_count; ++k)
    if (s->devices[k].name != s->crashed) device_close(&s->devices[k]);
  judge_close(s->judge);
  free(s->results);
  pb_arena_free(&s->arena);
}

// Whether there were networks, and operators alone, and none of them could be run.
static bool no_network(const suite* s) {
  size_t all = 0, passed = 0;
  for (size_t k = 0; k < s->result_count; ++k) {
    const char* name = s->results[k].name;
    if (strncmp(name, "kernel/", 7) != 0 && strncmp(name, "network/", 8) != 0) continue;
    ++all;
    passed += s->results[k].how == PASSED;
  }
  return all && !passed;
}

static int run_suite(suite* s) {
  double start = suite_seconds();
  if (s->judge) {
    suite_encodings(s);
    suite_instructions(s);
    suite_banks(s);
    suite_queues(s);
    suite_broadcasts(s);
    suite_random(s);
  }
  if (s->options->networks) suite_networks(s);
  size_t count[3] = {0};
  for (size_t k = 0; k < s->result_count; ++k) ++count[s->results[k].how];
  if (s->options->coverage && s->judge) suite_coverage(s, stdout);
  if (s->crashed) printf("%s has crashed: the cases behind that one were not run\n", s->crashed);
  const char *none = no_network(s) ? "; no network runs on it" : "",
             *many =
                 3 * count[SKIPPED] >= s->result_count && count[SKIPPED] ? "; a third of the cases were skipped" : "";
  printf("%s: %zu passed, %zu failed, %zu skipped in %.1f s%s%s\n", s->spec, count[PASSED], count[FAILED],
         count[SKIPPED], suite_seconds() - start, none, many);
  if (s->options->junit && !suite_junit(s, s->options->junit)) {
    (void)pb_system_error(NULL, (pb_place){.file = s->options->junit}, 1003, "cannot be written");
    return 1;
  }
  if (!s->result_count && !s->judge && !s->options->networks)
    return pb_error(NULL, (pb_place){.file = s->chip->file}, 1002, "leave out --no-networks",
                    "%s has no commands of queues: networks are all that can be run of it", s->chip->name),
           1;
  if (!s->result_count)
    return pb_error(NULL, (pb_place){0}, 1002, "--verbose lists the cases", "no case is named so"), 1;
  return count[FAILED] > 0 || (s->options->strict && (*none || *many));
}

int main(int argc, char** argv) {
  command_line line = {.o = {.random = 40, .seed = 1, .networks = true}};
  pb_scratch_end_on_signals();
  for (int k = 1; k < argc; ++k) {
    if (!strcmp(argv[k], "--help")) return fputs(help, stdout), pb_printed(0);
    if (!strcmp(argv[k], "--version")) return puts("pb-target-test 0.1.0"), pb_printed(0);
    if (!read_option(&line, argv[k]))
      return pb_error(NULL, (pb_place){0}, 1002, "pb-target-test --help lists the options", "bad option '%s'", argv[k]),
             1;
  }
  if (!line.spec) return fputs(help, stderr), 1;
  pb_diag diag = {0};
  pb_chip* chip = NULL;
  if (pb_chip_find(line.spec, line.o.target_dir, &diag, &chip) != PB_OK) return 1;
  suite s = {.chip = chip, .spec = line.spec, .options = &line.o, .state = line.o.seed * 0x9e3779b97f4a7c15ull | 1};
  int code = open_suite(&s) == PB_OK ? run_suite(&s) : 1;
  close_suite(&s);
  pb_chip_free(chip);
  return pb_printed(code);
}
