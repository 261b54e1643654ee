#include "tdl/doc.h"

#include "core/base/half_expr.h"

#include <string.h>

static const char* const op_names[PB_OP_COUNT] = {
    [PB_OP_ADD] = "+",           [PB_OP_SUB] = "-",           [PB_OP_MUL] = "*",
    [PB_OP_DIV] = "/",           [PB_OP_MAX] = "max",         [PB_OP_MIN] = "min",
    [PB_OP_SEXT] = "i32",        [PB_OP_SITOFP] = "f32",      [PB_OP_FPTOSI8] = "i8",
    [PB_OP_ROUNDEVEN] = "rne",   [PB_OP_NEG] = "-",           [PB_OP_ABS] = "abs",
    [PB_OP_SQRT] = "sqrt",       [PB_OP_EXP2] = "exp2",       [PB_OP_RECIP] = "recip",
    [PB_OP_RSQRT] = "rsqrt",     [PB_OP_EXP] = "exp",         [PB_OP_LOG] = "log",
    [PB_OP_TANH] = "tanh",       [PB_OP_ERF] = "erf",         [PB_OP_LESS] = "<",
    [PB_OP_EQUAL] = "==",        [PB_OP_AND] = "&",           [PB_OP_OR] = "|",
    [PB_OP_XOR] = "^",           [PB_OP_SHL] = "<<",          [PB_OP_SHR] = ">>",
    [PB_OP_SHRU] = ">>>",        [PB_OP_FLOOR] = "floor",     [PB_OP_CEIL] = "ceil",
    [PB_OP_WHOLE] = "whole",     [PB_OP_MAXIMUM] = "maximum", [PB_OP_FPTOSI] = "i32_towards_0",
    [PB_OP_MINIMUM] = "minimum", [PB_OP_LESS_EQUAL] = "<=",   [PB_OP_LESSU] = "<u",
    [PB_OP_FPTOUI] = "u8"};

static char* window(const pb_insn* insn, const pb_operand* o, pb_arena* arena) {
  char* text = pb_printf(arena, "%s", o->name);
  for (int k = 0; k < o->rank; ++k) text = pb_printf(arena, "%s%s%s", text, k ? "," : "[", insn->dims[o->dims[k]].name);
  return o->rank ? pb_printf(arena, "%s]", text) : text;
}

static bool is_infix(pb_op op) {
  return op == PB_OP_ADD || op == PB_OP_SUB || op == PB_OP_MUL || op == PB_OP_DIV || pb_op_compares(op) ||
         (op >= PB_OP_XOR && op <= PB_OP_SHRU);
}

static char* expression(const pb_insn* insn, int node, pb_arena* arena);

// What widens or rounds a narrow float, by its name; NULL: the node does something else.
static char* narrow_float(const pb_insn* insn, int node, pb_arena* arena) {
  for (int k = 0; k < PB_NARROW_TYPES; ++k) {
    pb_type type = pb_narrow_type(k);
    const char* name = pb_type_name(type);
    int code = pb_half_widens(insn->expr, node, type), number = pb_half_rounds(insn->expr, node, type);
    if (code >= 0) return pb_printf(arena, "f32_of_%s(%s)", name, expression(insn, code, arena));
    if (number >= 0) return pb_printf(arena, "nearest_%s(%s)", name, expression(insn, number, arena));
  }
  return NULL;
}

static char* expression(const pb_insn* insn, int node, pb_arena* arena) {
  const pb_expr_node* n = &insn->expr[node];
  char* narrow = narrow_float(insn, node, arena);
  if (narrow) return narrow;
  if (n->op == PB_OP_INDEX) return pb_strdup(arena, insn->dims[n->operand].name);
  if (n->op == PB_OP_LOAD && n->args[0] >= 0)
    return pb_printf(arena, insn->operands[n->operand].rows < 0 ? "%s[%s]" : "row of %s at %s",
                     insn->operands[n->operand].name, expression(insn, n->args[0], arena));
  if (n->op == PB_OP_LOAD) return window(insn, &insn->operands[n->operand], arena);
  if (n->op == PB_OP_IMM) return pb_strdup(arena, insn->operands[n->operand].name);
  if (n->op == PB_OP_CONST) return pb_printf(arena, n->type == PB_F32 ? "%g" : "%.0f", n->value);
  const char* name = n->op < PB_OP_COUNT && op_names[n->op] ? op_names[n->op] : "?";
  if (n->op == PB_OP_SEXT || n->op == PB_OP_TRUNC) name = pb_type_name(n->type);
  if (n->op == PB_OP_BITCAST) name = n->type == PB_F32 ? "f32_of_bits" : "bits";
  if (n->op == PB_OP_ZEXT) name = n->type == PB_I64 ? "u64" : n->type == PB_I8 ? "u8" : "u32";
  char* a = n->args[0] >= 0 ? expression(insn, n->args[0], arena) : "";
  if (n->args[1] < 0) return pb_printf(arena, "%s(%s)", name, a);
  char* b = expression(insn, n->args[1], arena);
  if (n->op == PB_OP_SELECT) return pb_printf(arena, "(%s ? %s : %s)", a, b, expression(insn, n->args[2], arena));
  return is_infix(n->op) ? pb_printf(arena, "(%s %s %s)", a, name, b) : pb_printf(arena, "%s(%s, %s)", name, a, b);
}

// The dims that the destination lacks: what a reduction runs over.
static char* reduced_dims(const pb_insn* insn, pb_arena* arena) {
  char* text = pb_strdup(arena, "");
  for (int d = 0; d < insn->dim_count; ++d)
    if (pb_insn_reduces_over(insn, d)) text = pb_printf(arena, "%s%s%s", text, *text ? "," : "", insn->dims[d].name);
  return text;
}

char* pb_insn_formula(const pb_insn* insn, pb_arena* arena) {
  if (!insn->operand_count) return pb_strdup(arena, "state = fields");
  char* dest = window(insn, &insn->operands[insn->dest], arena);
  char* value = insn->expr_count ? expression(insn, insn->expr_count - 1, arena) : pb_strdup(arena, "?");
  if (insn->reduce == PB_SET) return pb_printf(arena, "%s = %s", dest, value);
  bool add = insn->reduce == PB_ACC_ADD;
  char* over = reduced_dims(insn, arena);
  const char* most = insn->reduce == PB_ACC_MAXU ? "maxu" : insn->reduce == PB_ACC_MAXIMUM ? "maximum" : "max";
  if (*over) value = pb_printf(arena, "%s(%s) %s", add ? "sum" : most, over, value);
  if (insn->acc_flag < 0)
    return add ? pb_printf(arena, "%s += %s", dest, value) : pb_printf(arena, "%s %s= %s", dest, most, value);
  const char* flag = insn->operands[insn->acc_flag].name;
  return add ? pb_printf(arena, "%s = (%s ? %s : 0) + %s", dest, flag, dest, value)
             : pb_printf(arena, "%s = %s ? %s(%s, %s) : %s", dest, flag, most, dest, value, value);
}

static char* cost_text(const pb_insn* insn, int node, pb_arena* arena) {
  const pb_cost* c = &insn->cost[node];
  if (c->op == PB_COST_CONST) return pb_printf(arena, "%lld", (long long)c->value);
  if (c->op == PB_COST_DIM || c->op == PB_COST_FIELD) return pb_strdup(arena, insn->dims[c->value].name);
  char *a = cost_text(insn, c->a, arena), *b = cost_text(insn, c->b, arena);
  switch (c->op) {
  case PB_COST_PLUS:
    return pb_printf(arena, "(%s + %s)", a, b);
  case PB_COST_TIMES:
    return pb_printf(arena, "%s * %s", a, b);
  case PB_COST_CEILDIV:
    return pb_printf(arena, "ceil(%s / %s)", a, b);
  default:
    return pb_printf(arena, "max(%s, %s)", a, b);
  }
}

// Where the window's element stands in its memory, in bytes.
static char* address(const pb_chip* chip, const pb_insn* insn, const pb_operand* o, pb_arena* arena) {
  char* text = o->slot >= 0 ? pb_printf(arena, "args[%s] + ", insn->fields[o->slot].name) : pb_strdup(arena, "");
  text = pb_printf(arena, "%s%s", text, insn->fields[o->base].hidden ? "bank" : insn->fields[o->base].name);
  if (insn->fields[o->base].hidden)
    text = pb_printf(arena, "%s * %lld", text,
                     (long long)(chip->memories[o->memory].bytes / chip->memories[o->memory].banks));
  else if (o->unit != 1)
    text = pb_printf(arena, "%s * %lld", text, (long long)o->unit);
  for (int k = 0; k < o->rank; ++k) {
    const char* dim = insn->dims[o->dims[k]].name;
    long long bytes = pb_fixed_stride(chip, o, k);
    switch (o->strides[k].kind) {
    case PB_STRIDE_FIELD:
      text = pb_printf(arena, "%s + %s * %s", text, dim, insn->fields[o->strides[k].field].name);
      if (o->unit != 1) text = pb_printf(arena, "%s * %lld", text, (long long)o->unit);
      break;
    case PB_STRIDE_ELEM:
    case PB_STRIDE_ROW:
    case PB_STRIDE_NUMBER:
      if (o->type == PB_I4 && o->strides[k].kind == PB_STRIDE_ELEM) {
        text = pb_printf(arena, "%s + %s / 2", text, dim); // the even ones in the lower halves
        break;
      }
      text = bytes == 1 ? pb_printf(arena, "%s + %s", text, dim) : pb_printf(arena, "%s + %s * %lld", text, dim, bytes);
      break;
    case PB_STRIDE_NONE:
    case PB_STRIDE_PACKED:
      break;
    }
  }
  return text;
}

// Operands of a core's instruction: registers, or rows from a pointer on.
static void print_core(const pb_chip* chip, const pb_insn* insn, FILE* out, pb_arena* arena) {
  fprintf(out, "| operand | type | where |\n|---|---|---|\n");
  for (int k = 0; k < insn->operand_count; ++k) {
    const pb_operand* o = &insn->operands[k];
    bool rows = chip->memories[o->memory].kind != PB_MEM_REGISTERS;
    fprintf(out, "| %s%s | %s | %s%s |\n", window(insn, o, arena), o->written ? " (written)" : "",
            pb_type_name(o->type), chip->memories[o->memory].name, rows ? ", rows by a pointer and a stride" : "");
  }
  fprintf(out, "\nEmitted as `%s`%s", insn->emit, insn->adds ? "" : " and an addition");
  for (int k = 0; k < insn->shape_count; ++k)
    fprintf(out, "%s%s", k ? ", " : " with the shape ", cost_text(insn, insn->shape[k], arena));
  fprintf(out, ".\n");
}

static void print_operands(const pb_chip* chip, const pb_insn* insn, FILE* out, pb_arena* arena) {
  fprintf(out, "| operand | type | where | byte address |\n|---|---|---|---|\n");
  for (int k = 0; k < insn->operand_count; ++k) {
    const pb_operand* o = &insn->operands[k];
    if (o->memory < 0)
      fprintf(out, "| %s | %s | immediate, field `%s` | |\n", o->name, pb_type_name(o->type),
              insn->fields[o->base].name);
    else
      fprintf(out, "| %s%s | %s | %s | `%s` |\n", window(insn, o, arena), o->written ? " (written)" : "",
              pb_type_name(o->type), chip->memories[o->memory].name, address(chip, insn, o, arena));
  }
  for (int k = 0; k < insn->operand_count; ++k)
    for (int d = 0; insn->operands[k].has_box && d < insn->operands[k].rank; ++d) {
      const pb_operand* o = &insn->operands[k];
      if (o->box_lo[d] >= 0)
        fprintf(out, "\nOutside of `%s <= %s < %s`, %s is not read; its value there is %s.\n",
                insn->fields[o->box_lo[d]].name, insn->dims[o->dims[d]].name, insn->fields[o->box_hi[d]].name, o->name,
                o->fill >= 0 ? insn->fields[o->fill].name : "0");
    }
}

// Which bank its windows mean, and what it does beside others.
static void print_banks(const pb_chip* chip, const pb_insn* insn, FILE* out) {
  for (int k = 0; k < insn->operand_count; ++k) {
    const pb_operand* o = &insn->operands[k];
    if (o->memory < 0 || !pb_in_banks(&chip->memories[o->memory])) continue;
    const char* memory = chip->memories[o->memory].name;
    if (o->written)
      fprintf(out, "\nFills the next bank of %s.\n", memory);
    else
      fprintf(out, "\nReads the bank of %s that was taken last; with `%s` = 1 it takes the next one first.\n", memory,
              insn->fields[o->take].name);
  }
  if (insn->state_of >= 0)
    fprintf(out, "\nWrites the state of %s, and does nothing of what that does.\n", chip->insns[insn->state_of].name);
  if (insn->beside)
    fprintf(out, "\nIt keeps its queue for a cycle and goes on beside the commands behind it. The next one of its kind "
                 "waits until it is done.\n");
}

static void print_broadcast(const pb_chip* chip, const pb_insn* insn, FILE* out) {
  if (insn->broadcast < 0 || chip->cores < 2) return;
  fprintf(
      out,
      "\nReads for several cores where `%s` has several bits, the first core's at bit 0. Each of these has the command "
      "in "
      "its queue %s, with the same source and extents, and writes where its own says; all begin once the last has come "
      "to it.\n",
      insn->fields[insn->broadcast].name, chip->queues[insn->queue].name);
}

// A field's bits as runs, highest first: "37-20".
static char* bit_runs(const pb_field* field, pb_arena* arena) {
  char* text = pb_strdup(arena, "");
  for (int hi = field->width - 1; hi >= 0;) {
    int lo = hi;
    if (field->bits[hi] < 0) {
      --hi;
      continue;
    }
    while (lo > 0 && field->bits[lo - 1] == field->bits[lo] - 1) --lo;
    const char* comma = *text ? ", " : "";
    text = hi == lo ? pb_printf(arena, "%s%s%d", text, comma, field->bits[hi])
                    : pb_printf(arena, "%s%s%d-%d", text, comma, field->bits[hi], field->bits[lo]);
    hi = lo - 1;
  }
  return text;
}

// What the bits hold, where not the number itself.
static const char* derived(const pb_field* field, pb_arena* arena) {
  static const char* const forms[PB_FORMS] = {"", " - ", " / ", ""};
  if (field->form == PB_FORM_LOG2) return pb_printf(arena, "; holds log2(%s)", field->name);
  if (field->form == PB_FORM_PLAIN) return "";
  return pb_printf(arena, "; holds %s%s%lld", field->name, forms[field->form], (long long)field->by);
}

static void print_encoding(const pb_chip* chip, const pb_insn* insn, FILE* out, pb_arena* arena) {
  fprintf(out, "\n| field | bits | values |\n|---|---|---|\n");
  for (int byte = 0; byte < chip->command_bytes; ++byte)
    if (insn->fixed_mask[byte])
      fprintf(out, "| fixed, mask 0x%02x | %d-%d | 0x%02x |\n", insn->fixed_mask[byte], byte * 8 + 7, byte * 8,
              insn->fixed_value[byte]);
  for (int f = 0; f < insn->field_count; ++f) {
    const pb_field* field = &insn->fields[f];
    if (field->hidden) continue;
    if (field->state_writer >= 0)
      fprintf(out, "| %s | set by %s | |\n", field->name, chip->insns[field->state_writer].name);
    else
      fprintf(out, "| %s | %s | %lld to %lld%s |\n", field->name, bit_runs(field, arena),
              (long long)pb_field_min(field), (long long)pb_field_max(field), derived(field, arena));
  }
}

// Codes by the chip's own formulas, one line each behind `lead`.
static void print_formulas(const pb_chip* chip, const char* lead, FILE* out) {
  static const char* const kinds[] = {"of a sum", "of two tensors, added"};
  pb_arena arena = {0};
  pb_insn* insn = PB_NEW(&arena, pb_insn); // whose operands are the formula's
  for (int k = 0; k < PB_FORMULA_KINDS; ++k) {
    const pb_formula* f = chip->formulas[k];
    if (!f) continue;
    for (int o = 0; o < f->operand_count; ++o)
      insn->operands[o] = (pb_operand){.name = pb_formula_term_name(f->operands[o].term)};
    memcpy(insn->expr, f->expr, sizeof insn->expr);
    fprintf(out, "%s%s: %s; a scale is factor * 2^-shift, of %d bits and to %d, at most %g%% off\n", lead, kinds[k],
            expression(insn, f->expr_count - 1, &arena), f->factor_bits, f->max_shift, 100 * f->most_off);
  }
  pb_arena_free(&arena);
}

// Whose state it writes.
static void print_readers(const pb_chip* chip, const pb_insn* insn, FILE* out) {
  int readers = 0;
  for (int i = 0; i < chip->insn_count; ++i) {
    bool reads = false;
    for (int f = 0; f < chip->insns[i].field_count; ++f) reads |= chip->insns[i].fields[f].state_writer == insn->index;
    if (reads) fprintf(out, "%s%s", readers++ ? ", " : "Writes state for ", chip->insns[i].name);
  }
  if (readers) fprintf(out, ".\n\n");
}

static void print_instruction(const pb_chip* chip, const pb_insn* insn, FILE* out) {
  pb_arena arena = {0};
  fprintf(out, "\n### %s\n\n%s.", insn->name, insn->summary);
  if (chip->control == PB_CONTROL_QUEUES) fprintf(out, " Queue %s.", chip->queues[insn->queue].name);
  fprintf(out, "\n\n    %s\n\n", pb_insn_formula(insn, &arena));
  print_readers(chip, insn, out);
  for (int d = 0; d < insn->dim_count; ++d) {
    const pb_dim* dim = &insn->dims[d];
    if (dim->field >= 0)
      fprintf(out, "%s%s: %d to %d, field `%s`", d ? "; " : "", dim->name, dim->min, dim->max,
              insn->fields[dim->field].name);
    else
      fprintf(out, "%s%s: %d", d ? "; " : "", dim->name, dim->max);
  }
  if (insn->dim_count) fprintf(out, ".\n\n");
  if (insn->emit) {
    print_core(chip, insn, out, &arena);
  } else {
    if (insn->operand_count) print_operands(chip, insn, out, &arena);
    print_banks(chip, insn, out);
    print_broadcast(chip, insn, out);
    print_encoding(chip, insn, out, &arena);
  }
  fprintf(out, "\nCycles: %s; the result is there %d later.",
          insn->cost_count ? cost_text(insn, insn->cost_count - 1, &arena) : "1", insn->latency);
  if (insn->units > 1) fprintf(out, " A core begins %d of them at once.", insn->units);
  fprintf(out, "\n");
  pb_arena_free(&arena);
}

static void print_loop(const pb_chip* chip, FILE* out) {
  const pb_insn* loop = chip->loop;
  pb_arena arena = {0};
  fprintf(
      out,
      "\n### %s\n\nRepeats the commands behind it, in any queue. Behind it stand `%s` pairs of words, at most %d: a "
      "command and a step. Turn t of `%s` runs each command as command + t * step, a number of %d bits, so that "
      "every field may change by a constant. Tokens are part of it. Loops do not nest.\n",
      loop->name, loop->fields[chip->loop_body].name, chip->loop_most, loop->fields[chip->loop_iterations].name,
      8 * chip->command_bytes);
  print_encoding(chip, loop, out, &arena);
  pb_arena_free(&arena);
}

// Queues whose commands complete in any order.
static void print_disorder(const pb_chip* chip, FILE* out) {
  for (int k = 0; k < chip->queue_count; ++k)
    if (!chip->queues[k].in_order)
      fprintf(
          out,
          "\nCommands of %s start in order and complete in any: one that needs what another of them has written, or "
          "writes what it reads or writes, waits for %s.\n",
          chip->queues[k].name,
          chip->fence             ? "it by a fence"
          : chip->semaphore_count ? "a semaphore that the queue gives and takes"
                                  : "a token from the queue to itself");
}

// One list, and the command that waits in it.
static void print_fence(const pb_chip* chip, FILE* out) {
  const pb_insn* fence = chip->fence;
  pb_arena arena = {0};
  fprintf(out, "\n### %s\n\nThe list goes on behind it %d cycle%s after ", fence->name, chip->fence_cycles,
          chip->fence_cycles == 1 ? "" : "s");
  if (chip->fence_wait < 0)
    fprintf(out, "all queues have nothing left to do, and what they wrote is visible.\n");
  else
    fprintf(
        out,
        "the queues whose bits are set in `%s`, in the order above, have nothing left to do, and what they wrote is "
        "visible.\n",
        fence->fields[chip->fence_wait].name);
  print_encoding(chip, fence, out, &arena);
  pb_arena_free(&arena);
}

static void print_list_queues(const pb_chip* chip, FILE* out) {
  fprintf(
      out,
      "\n## Queues\n\nCommands of %d bytes%s stand in one list, of which %d are fetched ahead. Each is handed to its "
      "queue in the order of the list, one a cycle, and the list stops where that queue is full. A command starts "
      "when it is the oldest of its queue. Queues run freely against each other: what orders them is `%s`.\n\n"
      "| name | depth |\n|---|---|\n",
      chip->command_bytes, chip->command_port ? ", which come by a port of their own," : "", chip->list_depth,
      chip->fence->name);
  for (int k = 0; k < chip->queue_count; ++k)
    fprintf(out, "| %s | %d |\n", chip->queues[k].name, chip->queues[k].depth);
  print_disorder(chip, out);
}

// What commands do with memories that they do not address.
static void print_kinds(const pb_chip* chip, FILE* out) {
  for (int k = 0; k < chip->memory_count; ++k) {
    const pb_memory* m = &chip->memories[k];
    if (!pb_in_banks(m)) continue;
    fprintf(out,
            "\n%s has %d banks of %lld bytes, which commands do not name: each write fills the next one in turn, and "
            "they are taken in that order. What was taken last is what is read, until the next one is taken. A bank "
            "may be filled again once all that read it are done; before a kernel ends every bank that was filled must "
            "have been taken. The hardware makes nothing wait for that: tokens do, and the order of a queue.\n",
            m->name, m->banks, (long long)(m->bytes / m->banks));
  }
}

static const char* names_of(const pb_chip* chip, uint32_t queues, pb_arena* arena) {
  const char* text = "";
  for (int q = 0; q < chip->queue_count; ++q)
    if (queues >> q & 1) text = pb_printf(arena, "%s%s%s", text, *text ? ", " : "", chip->queues[q].name);
  return text;
}

static void print_semaphore_use(const pb_chip* chip, FILE* out) {
  fprintf(out, "\n## Queues\n\nCommands of %d bytes%s. ", chip->command_bytes,
          chip->command_port ? ", which come by a port of their own" : "");
  if (chip->wait_field)
    fprintf(
        out,
        "A command starts when it is the oldest of its queue. One with a field `%s` waits until the semaphore of that "
        "number, in the order below, has %s%s%s, and takes as many; what stands behind it in its queue waits too. "
        "One with a field `%s` adds one to the semaphore of that number when all before it in its queue is done; one "
        "that is at its most makes it wait.\n\n",
        chip->wait_field, chip->count_field ? "what its field `" : "one", chip->count_field ? chip->count_field : "",
        chip->count_field ? "` says" : "", chip->signal_field);
  else
    fprintf(
        out,
        "A command starts when it is the oldest of its queue, and each semaphore has as many as the command's bits "
        "for it say (%d from bit %d on, in the order below), which it takes. When it completes, it adds one to each "
        "semaphore in its signal bits (bit %d and up); one that is at its most makes it wait.\n\n",
        chip->semaphore_wait_bits, chip->wait_bit, chip->signal_bit);
}

static void print_semaphores(const pb_chip* chip, FILE* out) {
  int width = chip->semaphore_wait_bits;
  pb_arena arena = {0};
  print_semaphore_use(chip, out);
  fprintf(out, "| name | depth |\n|---|---|\n");
  for (int k = 0; k < chip->queue_count; ++k)
    fprintf(out, "| %s | %d |\n", chip->queues[k].name, chip->queues[k].depth);
  fprintf(out, "\n| semaphore | number | most | given by | taken by |%s\n|---|---|---|---|---|%s\n",
          chip->wait_field ? "" : " wait bits | signal bit |", chip->wait_field ? "" : "---|---|");
  for (int k = 0; k < chip->semaphore_count; ++k) {
    const pb_semaphore* s = &chip->semaphores[k];
    fprintf(out, "| %s | %d | %d | %s | %s |", s->name, k, s->most, names_of(chip, s->givers, &arena),
            names_of(chip, s->takers, &arena));
    if (!chip->wait_field)
      fprintf(out, " %d to %d | %d |", chip->wait_bit + k * width, chip->wait_bit + (k + 1) * width - 1,
              chip->signal_bit + k);
    fprintf(out, "\n");
  }
  fprintf(out, "\nA count says how many, not whose they are: what signals a semaphore for a later wait must be behind "
               "what signals it for an earlier one, or behind that wait.\n");
  pb_arena_free(&arena);
}

static void print_pairs(const pb_chip* chip, FILE* out) {
  fprintf(out,
          "\n## Queues\n\nCommands of %d bytes%s. A command starts when it is the oldest of its queue, and for each "
          "queue in its wait bits "
          "(bit %d and up, in the order below) a token from that queue is there to be taken. When it completes, it "
          "hands a token to each queue "
          "in its signal bits (bit %d and up).\n\n| name | depth | tokens | hands them to |\n|---|---|---|---|\n",
          chip->command_bytes, chip->command_port ? ", which come by a port of their own" : "", chip->wait_bit,
          chip->signal_bit);
  pb_arena arena = {0};
  for (int k = 0; k < chip->queue_count; ++k)
    fprintf(out, "| %s | %d | %d | %s |\n", chip->queues[k].name, chip->queues[k].depth, chip->queues[k].tokens,
            names_of(chip, chip->queues[k].gives, &arena));
  pb_arena_free(&arena);
}

static void print_queues(const pb_chip* chip, FILE* out) {
  if (chip->semaphore_count)
    print_semaphores(chip, out);
  else
    print_pairs(chip, out);
  print_disorder(chip, out);
  if (chip->cores > 1)
    fprintf(out,
            "\n%d cores (%s). Each has these queues, with tokens among its own alone, and its own instance of every "
            "memory of scope core; the system's memory and its port are all cores'. A kernel ends when all of them "
            "are done.\n",
            chip->cores, chip->levels[0].name);
}

void pb_chip_print_doc(const pb_chip* chip, FILE* out) {
  static const char* const controls[] = {"threads", "a grid", "queues"};
  static const char* const kinds[] = {"addressed", "registers", "shadow", "fifo"};
  static const char* const scopes[] = {"system", "constants", "chip", "core", "thread"};
  fprintf(out, "# %s%s%s\n\n%s. Revision %d, %d MHz, controlled by %s.\n", chip->name, *chip->variant ? ":" : "",
          chip->variant, chip->summary, chip->revision, chip->mhz, controls[chip->control]);
  if (*chip->features) fprintf(out, "\nIts code needs of the processor: %s.\n", chip->features);
  fprintf(out, "\nMade from the description, which the compiler reads too.\n\n## Memories\n\n"
               "| name | kind | scope | bytes | bytes a row | banks | bytes a cycle | latency "
               "|\n|---|---|---|---|---|---|---|---|\n");
  for (int k = 0; k < chip->memory_count; ++k) {
    const pb_memory* m = &chip->memories[k];
    fprintf(out, "| %s | %s | %s | %lld | %lld | %d | %lld | %d |\n", m->name, kinds[m->kind], scopes[m->scope],
            (long long)m->bytes, (long long)m->row_bytes, m->banks, (long long)m->bytes_per_cycle, m->latency);
  }
  print_kinds(chip, out);
  if (chip->control == PB_CONTROL_QUEUES && chip->fence)
    print_list_queues(chip, out);
  else if (chip->control == PB_CONTROL_QUEUES)
    print_queues(chip, out);
  if (chip->core_mover_count)
    fprintf(out,
            "\n## Movers\n\nEach core has them beside its code, between %s and a memory of its own.\n\n"
            "| name | memory | brings | takes | loops | under way | cycles to start |\n|---|---|---|---|---|---|---|\n",
            chip->memories[chip->system_memory].name);
  for (int k = 0; k < chip->core_mover_count; ++k) {
    const pb_core_mover* m = &chip->core_movers[k];
    fprintf(out, "| %s | %s | %s | %s | %d | %d | %d |\n", m->name, chip->memories[m->near].name, m->in ? "yes" : "no",
            m->out ? "yes" : "no", m->loops, m->depth, m->start_cycles);
  }
  if (chip->function_count)
    fprintf(out, "\n## Functions\n\n| name | table bits | degree | error, ulp |\n|---|---|---|---|\n");
  for (int k = 0; k < chip->function_count; ++k)
    fprintf(out, "| %s | %d | %d | %g |\n", chip->functions[k].name, chip->functions[k].table_bits,
            chip->functions[k].degree, chip->functions[k].max_ulp);
  if (chip->formulas[PB_FORMULA_SUM] || chip->formulas[PB_FORMULA_ADD])
    fprintf(out, "\n## Codes\n\nModels are computed by the chip's own formulas:\n\n");
  print_formulas(chip, "- ", out);
  fprintf(out, "\n## Instructions\n");
  for (int k = 0; k < chip->insn_count; ++k) print_instruction(chip, &chip->insns[k], out);
  if (chip->loop) print_loop(chip, out);
  if (chip->fence) print_fence(chip, out);
}

void pb_chip_print_facts(const pb_chip* chip, FILE* out) {
  pb_arena arena = {0};
  fprintf(out, "chip %s%s%s revision %d: %s\n", chip->name, *chip->variant ? ":" : "", chip->variant, chip->revision,
          chip->summary);
  if (*chip->features) fprintf(out, "its code needs of the processor: %s\n", chip->features);
  for (int k = 0; k < chip->memory_count; ++k)
    fprintf(out, "memory %s: %lld bytes, %lld a row, %d banks%s, %lld bytes a cycle\n", chip->memories[k].name,
            (long long)chip->memories[k].bytes, (long long)chip->memories[k].row_bytes, chip->memories[k].banks,
            pb_in_banks(&chip->memories[k]) ? " taken in turn" : "", (long long)chip->memories[k].bytes_per_cycle);
  for (int k = 0; k < chip->core_mover_count; ++k)
    fprintf(out, "mover %s of each core: %s, %d loops, %d under way\n", chip->core_movers[k].name,
            chip->memories[chip->core_movers[k].near].name, chip->core_movers[k].loops, chip->core_movers[k].depth);
  for (int k = 0; k < chip->queue_count; ++k)
    if (chip->fence || chip->semaphore_count)
      fprintf(out, "queue %s: depth %d%s\n", chip->queues[k].name, chip->queues[k].depth,
              chip->fence ? ", in one list" : "");
    else
      fprintf(out, "queue %s: depth %d, %d tokens\n", chip->queues[k].name, chip->queues[k].depth,
              chip->queues[k].tokens);
  for (int k = 0; k < chip->semaphore_count; ++k)
    fprintf(out, "semaphore %s: %s to %s, %d at most\n", chip->semaphores[k].name,
            names_of(chip, chip->semaphores[k].givers, &arena), names_of(chip, chip->semaphores[k].takers, &arena),
            chip->semaphores[k].most);
  if (chip->cores > 1) fprintf(out, "%d cores, each with these queues and its own memories\n", chip->cores);
  print_formulas(chip, "codes ", out);
  for (int k = 0; k < chip->insn_count; ++k) {
    const pb_insn* insn = &chip->insns[k];
    fprintf(out, "instruction %s%s%s: %s; cycles %s\n", insn->name, chip->control == PB_CONTROL_QUEUES ? " on " : "",
            chip->control == PB_CONTROL_QUEUES ? chip->queues[insn->queue].name : "", pb_insn_formula(insn, &arena),
            insn->cost_count ? cost_text(insn, insn->cost_count - 1, &arena) : "1");
  }
  pb_arena_free(&arena);
}
