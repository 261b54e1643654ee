#include "tdl/sv.h"

#include "tdl/function.h"

#include <ctype.h>
#include <inttypes.h>

static void upper(FILE* out, const char* name) {
  for (; *name; ++name) fputc(toupper((unsigned char)*name), out);
}

// localparam int A_B_SUFFIX = value; `b` may be NULL.
static void number(FILE* out, const char* a, const char* b, const char* suffix, int64_t value) {
  bool large = value > INT32_MAX; // a plain literal has 32 bits
  fprintf(out, "  localparam %s ", large ? "longint" : "int");
  upper(out, a);
  if (b) {
    fputc('_', out);
    upper(out, b);
  }
  fprintf(out, "%s = %s%" PRId64 ";\n", suffix, large ? "64'd" : "", value);
}

static void print_memories(const pb_chip* chip, FILE* out) {
  for (int n = 0; n < chip->memory_count; ++n) {
    const pb_memory* m = &chip->memories[n];
    number(out, m->name, NULL, "_BYTES", m->bytes);
    number(out, m->name, NULL, "_ROW_BYTES", m->row_bytes);
    number(out, m->name, NULL, "_ROWS", m->bytes / m->row_bytes);
    number(out, m->name, NULL, "_BANKS", m->banks);
    number(out, m->name, NULL, "_LATENCY", m->latency);
  }
}

static void print_semaphores(const pb_chip* chip, FILE* out) {
  static const char* const names[] = {"MOST", "GIVERS", "TAKERS"}; // of the last two bits of queues
  number(out, "SEMAPHORES", NULL, "", chip->semaphore_count);
  for (int what = 0; what < 3; ++what) {
    fprintf(out, "  localparam int SEMAPHORE_%s[%d] = '{", names[what], chip->semaphore_count);
    for (int k = 0; k < chip->semaphore_count; ++k) {
      const pb_semaphore* s = &chip->semaphores[k];
      fprintf(out, "%s%u", k ? ", " : "", what == 0 ? (unsigned)s->most : what == 1 ? s->givers : s->takers);
    }
    fprintf(out, "};\n");
  }
  number(out, "WAIT_BITS", NULL, "", chip->semaphore_wait_bits);
  if (!chip->wait_field) { // else their fields are their instructions'
    number(out, "WAIT_BIT", NULL, "", chip->wait_bit);
    number(out, "SIGNAL_BIT", NULL, "", chip->signal_bit);
  }
  number(out, "COMMAND_BYTES", NULL, "", chip->command_bytes);
}

static void print_queues(const pb_chip* chip, FILE* out) {
  if (chip->control != PB_CONTROL_QUEUES) return;
  number(out, "QUEUES", NULL, "", chip->queue_count);
  int most = 0;
  for (int q = 0; q < chip->queue_count; ++q) {
    number(out, "Q", chip->queues[q].name, "", q);
    if (chip->queues[q].tokens > most) most = chip->queues[q].tokens;
  }
  fprintf(out, "  localparam int QUEUE_DEPTH[%d] = '{", chip->queue_count);
  for (int q = 0; q < chip->queue_count; ++q) fprintf(out, "%s%d", q ? ", " : "", chip->queues[q].depth);
  fprintf(out, "};\n");
  if (chip->fence) return;
  if (chip->semaphore_count) {
    print_semaphores(chip, out);
    return;
  }
  fprintf(out, "  localparam int QUEUE_TOKENS[%d] = '{", chip->queue_count);
  for (int q = 0; q < chip->queue_count; ++q) fprintf(out, "%s%d", q ? ", " : "", chip->queues[q].tokens);
  fprintf(out, "};\n");
  fprintf(out, "  localparam int QUEUE_GIVES[%d] = '{", chip->queue_count); // bits of the queues that take its tokens
  for (int q = 0; q < chip->queue_count; ++q) fprintf(out, "%s%u", q ? ", " : "", chip->queues[q].gives);
  fprintf(out, "};\n");
  number(out, "MAX_TOKENS", NULL, "", most);
  number(out, "WAIT_BIT", NULL, "", chip->wait_bit);
  number(out, "SIGNAL_BIT", NULL, "", chip->signal_bit);
  number(out, "COMMAND_BYTES", NULL, "", chip->command_bytes);
}

static bool in_one_piece(const pb_field* field) {
  if (field->state_writer >= 0) return false;
  for (int k = 0; k < field->width; ++k)
    if (field->bits[k] < 0 || field->bits[k] != field->bits[0] + k) return false;
  return true;
}

// How RTL makes the number of a derived field: bits + MINUS, bits * SCALE, 1 << bits.
static void print_form(const pb_insn* insn, const pb_field* field, FILE* out) {
  static const char* const forms[PB_FORMS] = {NULL, "_MINUS", "_SCALE", "_LOG2"};
  if (field->form) number(out, insn->name, field->name, forms[field->form], field->by);
}

static void print_instruction(const pb_insn* insn, FILE* out) {
  if (insn->fixed_mask[0] == 0xff)
    fprintf(out, "  localparam logic [7:0] OP_%s = 8'h%02x;\n", insn->name, insn->fixed_value[0]);
  for (int f = 0; f < insn->field_count; ++f) {
    if (!in_one_piece(&insn->fields[f])) continue;
    number(out, insn->name, insn->fields[f].name, "_LSB", insn->fields[f].bits[0]);
    number(out, insn->name, insn->fields[f].name, "_W", insn->fields[f].width);
    print_form(insn, &insn->fields[f], out);
  }
  if (insn->buffer) number(out, insn->name, NULL, "_BUFFER", insn->buffer);
  for (int d = 0; d < insn->dim_count; ++d) number(out, insn->name, insn->dims[d].name, "_MAX", insn->dims[d].max);
}

static void print_function(const pb_function* f, FILE* out) {
  number(out, f->name, NULL, "_TABLE_BITS", f->table_bits);
  number(out, f->name, NULL, "_DEGREE", f->degree);
  if (!pb_function_known(f->name, f->table_bits, f->degree)) return;
  uint32_t entries = pb_function_entries(f->name, f->table_bits);
  for (int power = 0; power <= f->degree; ++power) {
    fprintf(out, "  localparam logic [31:0] ");
    upper(out, f->name);
    fprintf(out, "_C%d[%u] = '{", power, entries);
    for (uint32_t n = 0; n < entries; ++n)
      fprintf(out, "%s32'h%08x",
              n == 0  ? "\n      "
              : n % 8 ? ", "
                      : ",\n      ",
              pb_function_table(f->name, f->table_bits, f->degree, n, power));
    fprintf(out, "};\n");
  }
}

void pb_chip_print_sv(const pb_chip* chip, FILE* out) {
  fprintf(out, "// Made from the description of %s%s%s.\npackage %s_pkg;\n", chip->name, *chip->variant ? ":" : "",
          chip->variant, chip->name);
  print_memories(chip, out);
  print_queues(chip, out);
  number(out, "ARGUMENTS", NULL, "", chip->arguments);
  for (int n = 0; n < chip->insn_count; ++n) print_instruction(&chip->insns[n], out);
  if (chip->fence) {
    number(out, "COMMAND_BYTES", NULL, "", chip->command_bytes);
    print_instruction(chip->fence, out);
    number(out, "LIST_DEPTH", NULL, "", chip->list_depth);
  }
  if (chip->loop) {
    print_instruction(chip->loop, out);
    number(out, "MAX_BODY", NULL, "", chip->loop_most);
  }
  for (int n = 0; n < chip->function_count; ++n) print_function(&chip->functions[n], out);
  fprintf(out, "endpackage\n");
}
