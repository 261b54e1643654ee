// pb-tdl: checks a chip's description and prints what follows from it.
#include "core/driver/control.h"
#include "tdl/doc.h"
#include "tdl/sv.h"
#include "tdl_sweep.h"

#include <string.h>

static const char help[] =
    "usage: pb-tdl check|print|doc|sv NAME[:VARIANT]|FILE.td [--variant=V] [--target-dir=DIR] [--for=MODEL]\n"
    "              [--html] [--out=FILE]\n"
    "  check   read the description and report every fault in it; --for=MODEL: and all that the model needs and the "
    "chip lacks\n"
    "  print   its memories, queues and instructions, one line each\n"
    "  doc     the chip's programming manual, in Markdown; --html, or --out=FILE.html: as a page of HTML\n"
    "  sv      its parameters as a SystemVerilog package\n"
    "       pb-tdl sweep NAME[:VARIANT]|FILE.td --set RECORD.FIELD=N,N... [--set ...] [--run]\n"
    "                    [--fallback=TARGET] [--precision=TYPE] MODEL...\n"
    "  sweep   predicted cycles of each model for every combination of the numbers (K, M: times 1024, 1024^2);\n"
    "          --run: the machine's cycles too, on random inputs\n"
    "       pb-tdl diff OLD NEW\n"
    "  diff    what changed, line by line: void (engines of OLD do not run on NEW), codes, plan (they run, planned "
    "for\n"
    "          OLD), text; exit code 1 when engines are void and Revision is not larger\n";

static void check(const pb_chip* chip, FILE* out) {
  fprintf(out, "%s%s%s: %d memories, %d queues, %d instructions: no faults found\n", chip->name,
          *chip->variant ? ":" : "", chip->variant, chip->memory_count, chip->queue_count, chip->insn_count);
}

static const struct {
  const char* name;
  void (*run)(const pb_chip* chip, FILE* out);
} commands[] = {{"check", check}, {"print", pb_chip_print_facts}, {"doc", pb_chip_print_doc}, {"sv", pb_chip_print_sv}};

static bool ends_in(const char* name, const char* end) {
  size_t n = name ? strlen(name) : 0, m = strlen(end);
  return n > m && !strcmp(name + n - m, end);
}

int main(int argc, char** argv) {
  const char *command = NULL, *spec = NULL, *variant = "", *target_dir = NULL, *model = NULL, *to = NULL;
  bool html = false;
  if (argc > 1 && !strcmp(argv[1], "sweep")) return tdl_sweep(argc - 2, argv + 2);
  if (argc > 1 && !strcmp(argv[1], "diff")) return tdl_diff(argc - 2, argv + 2);
  for (int k = 1; k < argc; ++k) {
    const char* a = argv[k];
    if (!strcmp(a, "--help")) return fputs(help, stdout), pb_printed(0);
    if (!strcmp(a, "--version")) return puts("pb-tdl 0.1.0"), pb_printed(0);
    if (!strncmp(a, "--variant=", 10))
      variant = a + 10;
    else if (!strncmp(a, "--target-dir=", 13))
      target_dir = a + 13;
    else if (!strncmp(a, "--for=", 6))
      model = a + 6;
    else if (!strncmp(a, "--out=", 6))
      to = a + 6;
    else if (!strcmp(a, "--html"))
      html = true;
    else if (a[0] != '-' && !command)
      command = a;
    else if (a[0] != '-' && !spec)
      spec = a;
    else
      return pb_error(NULL, (pb_place){0}, 1002, "pb-tdl --help", "bad option '%s'", a), 1;
  }
  if (!command || !spec) return fputs(help, stderr), 1;
  for (size_t k = 0; k < sizeof commands / sizeof *commands; ++k) {
    if (strcmp(commands[k].name, command)) continue;
    pb_diag diag = {0};
    pb_chip* chip = NULL;
    char named[512];
    snprintf(named, sizeof named, "%s%s%s", spec, *variant ? ":" : "", variant);
    pb_status status = ends_in(spec, ".td") ? pb_chip_read(spec, variant, &diag, &chip)
                                            : pb_chip_find(named, target_dir, &diag, &chip);
    if (status == PB_OK && commands[k].run == check) status = pb_control_check(chip, &diag);
    if (status != PB_OK) return pb_chip_free(chip), 1;
    if (to && !freopen(to, "w", stdout)) {
      pb_chip_free(chip);
      return pb_system_error(NULL, (pb_place){.file = to}, 5033, "cannot write"), 1;
    }
    if (commands[k].run == pb_chip_print_doc && (html || ends_in(to, ".html")))
      pb_chip_print_doc_html(chip, stdout);
    else
      commands[k].run(chip, stdout);
    int code = model && !strcmp(command, "check") ? tdl_check_for(chip, model) : 0;
    pb_chip_free(chip);
    if (!to || !fflush(stdout)) return pb_printed(code);
    return pb_system_error(NULL, (pb_place){.file = to}, 5033, "cannot write"), 1;
  }
  return pb_error(NULL, (pb_place){0}, 1002, "check, print, doc, sv, sweep or diff", "no command '%s'", command), 1;
}
