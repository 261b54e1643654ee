// Commands to bytes and back, and to text.
#include "tdl/chip.h"

#include <stdlib.h>
#include <string.h>

const char* pb_counter_name(const pb_chip* chip, int k) {
  return chip->semaphore_count ? chip->semaphores[k].name : chip->queues[k].name;
}

int pb_chip_queues(const pb_chip* chip) { return chip->queue_count * chip->cores; }

const char* pb_chip_queue_name(const pb_chip* chip, int number) { return chip->queue_names[number]; }

int pb_chip_streams(const pb_chip* chip) { return chip->fence ? chip->cores : pb_chip_queues(chip); }

const char* pb_chip_stream_name(const pb_chip* chip, int number) {
  return chip->fence ? chip->list_names[number] : pb_chip_queue_name(chip, number);
}

int pb_chip_stream(const pb_chip* chip, int queue) { return chip->fence ? queue / chip->queue_count : queue; }

const pb_insn* pb_chip_insn(const pb_chip* chip, const char* name) {
  for (int k = 0; k < chip->insn_count; ++k)
    if (!strcmp(chip->insns[k].name, name)) return &chip->insns[k];
  return NULL;
}

int pb_chip_memory(const pb_chip* chip, const char* name) {
  for (int k = 0; k < chip->memory_count; ++k)
    if (!strcmp(chip->memories[k].name, name)) return k;
  return -1;
}

bool pb_is_on_chip(const pb_chip* chip, int64_t memory, uint64_t address, uint64_t bytes) {
  if (memory < 0 || memory >= chip->memory_count || pb_is_outside(&chip->memories[memory])) return false;
  uint64_t all = (uint64_t)chip->memories[memory].bytes;
  return address <= all && bytes <= all - address;
}

int pb_insn_field(const pb_insn* insn, const char* name) {
  for (int k = 0; k < insn->field_count; ++k)
    if (!strcmp(insn->fields[k].name, name)) return k;
  return -1;
}

int pb_insn_operand(const pb_insn* insn, const char* name) {
  for (int k = 0; k < insn->operand_count; ++k)
    if (!strcmp(insn->operands[k].name, name)) return k;
  return -1;
}

// No command takes longer: a description that says so says nonsense, which must not overflow.
static int64_t within(int64_t cycles) {
  const int64_t most = INT32_MAX;
  return cycles > most ? most : cycles < -most ? -most : cycles;
}

// Node `last` of the instruction's costs.
static int64_t evaluate(const pb_insn* insn, int last, const int64_t* extents) {
  int64_t value[PB_MAX_EXPR] = {0};
  for (int k = 0; k <= last; ++k) {
    const pb_cost* c = &insn->cost[k];
    int64_t a = value[c->a], b = value[c->b];
    switch (c->op) {
    case PB_COST_CONST:
      value[k] = c->value;
      break;
    case PB_COST_DIM:
    case PB_COST_FIELD:
      value[k] = extents[c->value];
      break;
    case PB_COST_PLUS:
      value[k] = a + b;
      break;
    case PB_COST_TIMES:
      value[k] = a * b;
      break;
    case PB_COST_CEILDIV:
      value[k] = b > 0 ? (a + b - 1) / b : 0;
      break;
    case PB_COST_MAX:
      value[k] = a > b ? a : b;
      break;
    }
    value[k] = within(value[k]);
  }
  return value[last];
}

void pb_command_extents(const pb_command* command, int64_t extents[PB_MAX_INSN_DIMS]) {
  const pb_insn* insn = command->insn;
  memset(extents, 0, sizeof *extents * PB_MAX_INSN_DIMS);
  for (int d = 0; d < insn->dim_count; ++d)
    extents[d] = insn->dims[d].field < 0 ? insn->dims[d].max : command->values[insn->dims[d].field];
}

int64_t pb_cycles(const pb_insn* insn, const int64_t* extents) {
  return insn->cost_count ? evaluate(insn, insn->cost_count - 1, extents) : 1;
}

int64_t pb_cycles_at_most(const pb_insn* insn) {
  int64_t most[PB_MAX_INSN_DIMS] = {0};
  for (int d = 0; d < insn->dim_count; ++d) most[d] = insn->dims[d].max;
  return pb_cycles(insn, most);
}

int64_t pb_shape(const pb_insn* insn, int k, const int64_t* extents) { return evaluate(insn, insn->shape[k], extents); }

static void set_bit(uint8_t* bytes, int bit, bool on) {
  if (on) bytes[bit / 8] |= (uint8_t)(1u << bit % 8);
}
static bool get_bit(const uint8_t* bytes, int bit) { return bytes[bit / 8] >> bit % 8 & 1; }

// Bits of what a command waits for of each counter.
static int wait_width(const pb_chip* chip) { return chip->semaphore_count ? chip->semaphore_wait_bits : 1; }

void pb_encode_tokens(const pb_chip* chip, uint32_t waits, uint32_t signals, uint64_t counts, uint8_t* bytes) {
  if (chip->fence || chip->wait_field) return; // what a command waits for, one in front of it says
  int width = wait_width(chip);
  for (int k = 0; k < pb_chip_counters(chip); ++k) {
    int count = waits >> k & 1 ? pb_count_of(chip, counts, k) : 0;
    for (int b = 0; b < width; ++b) set_bit(bytes, chip->wait_bit + k * width + b, count >> b & 1);
    set_bit(bytes, chip->signal_bit + k, signals >> k & 1);
  }
}

pb_status pb_encode(const pb_chip* chip, const pb_command* command, uint8_t* bytes, pb_diag* diag) {
  const pb_insn* insn = command->insn;
  memset(bytes, 0, (size_t)chip->command_bytes);
  memcpy(bytes, insn->fixed_value, (size_t)chip->command_bytes);
  for (int f = 0; f < insn->field_count; ++f) {
    const pb_field* field = &insn->fields[f];
    if (!pb_field_holds(field, command->values[f]))
      return pb_unsupported(diag, (pb_place){.what = insn->name}, 3300, NULL, "field '%s' cannot carry %lld",
                            field->name, (long long)command->values[f]);
    int64_t value = pb_field_code(field, command->values[f]);
    for (int b = 0; b < field->width && value >> b; ++b) // of a negative one all
      if (field->bits[b] >= 0) set_bit(bytes, field->bits[b], value >> b & 1);
  }
  pb_encode_tokens(chip, command->waits, command->signals, command->counts, bytes);
  return PB_OK;
}

static bool has_opcode(const pb_chip* chip, const pb_insn* insn, const uint8_t* bytes) {
  for (int k = 0; k < chip->command_bytes; ++k)
    if ((bytes[k] ^ insn->fixed_value[k]) & insn->fixed_mask[k]) return false;
  return true;
}

bool pb_is_loop(const pb_chip* chip, const uint8_t* bytes) { return chip->loop && has_opcode(chip, chip->loop, bytes); }

static const pb_insn* match(const pb_chip* chip, const uint8_t* bytes) {
  for (int i = 0; i < chip->insn_count; ++i)
    if (has_opcode(chip, &chip->insns[i], bytes)) return &chip->insns[i];
  if (chip->fence && has_opcode(chip, chip->fence, bytes)) return chip->fence;
  return chip->loop && has_opcode(chip, chip->loop, bytes) ? chip->loop : NULL;
}

pb_command pb_fence(const pb_chip* chip, uint32_t queues) {
  pb_command c = {.insn = chip->fence, .waits = chip->fence_wait < 0 ? (1u << chip->queue_count) - 1 : queues};
  if (chip->fence_wait >= 0) c.values[chip->fence_wait] = queues;
  return c;
}

const pb_insn* pb_semaphore_insn(const pb_chip* chip, int queue, bool signals) {
  for (int i = 0; i < chip->insn_count; ++i) {
    const pb_insn* insn = &chip->insns[i];
    if (insn->queue == queue && (signals ? insn->signals_by : insn->waits_by)) return insn;
  }
  return NULL;
}

static bool are_several(uint32_t queues) { return queues & (queues - 1); }

int pb_semaphore_commands(const pb_chip* chip, int queue, const pb_command* of, bool behind, pb_command* made) {
  const pb_insn* insn = pb_semaphore_insn(chip, queue, behind);
  int count = 0;
  // What several queues take comes last: the others say whose turn it is. What several give goes out first: who has a
  // token of the others knows that it did.
  for (int pass = 0; pass < 2 && insn; ++pass)
    for (int k = 0; k < chip->semaphore_count; ++k) {
      const pb_semaphore* s = &chip->semaphores[k];
      bool late = behind ? !are_several(s->givers) : are_several(s->takers);
      if (!((behind ? of->signals : of->waits) >> k & 1) || late != (pass == 1)) continue;
      pb_command c = {.insn = insn, .waits = behind ? 0 : 1u << k, .signals = behind ? 1u << k : 0};
      for (int f = 0; f < insn->field_count; ++f) c.values[f] = pb_field_nearest(&insn->fields[f], 0);
      c.counts = behind ? 0 : (uint64_t)pb_count_of(chip, of->counts, k) << 4 * k;
      c.values[(behind ? insn->signals_by : insn->waits_by) - 1] = k;
      if (!behind && insn->counts_by) c.values[insn->counts_by - 1] = pb_count_of(chip, of->counts, k);
      made[count++] = c;
    }
  return count;
}

// The semaphore that a command of its own names. false: there is none so.
static bool decode_semaphore(const pb_chip* chip, pb_command* command) {
  const pb_insn* insn = command->insn;
  for (int side = 0; side < 2; ++side) {
    int by = side ? insn->signals_by : insn->waits_by;
    int64_t k = by ? command->values[by - 1] : 0, count = insn->counts_by ? command->values[insn->counts_by - 1] : 1;
    if (!by) continue;
    if (k < 0 || k >= chip->semaphore_count || count < 1 || count > PB_MOST_IN_SEMAPHORE) return false;
    *(side ? &command->signals : &command->waits) |= 1u << k;
    if (!side) command->counts |= (uint64_t)count << 4 * k;
  }
  return true;
}

// Tokens that a command takes and hands out, or the queues that a fence waits for.
static void decode_order(const pb_chip* chip, const uint8_t* bytes, pb_command* command) {
  if (command->insn == chip->fence)
    command->waits = pb_fence(chip, (uint32_t)command->values[chip->fence_wait < 0 ? 0 : chip->fence_wait]).waits;
  int width = wait_width(chip);
  for (int k = 0; k < pb_chip_counters(chip) && !chip->fence && !chip->wait_field; ++k) {
    uint64_t count = 0;
    for (int b = 0; b < width; ++b) count |= (uint64_t)get_bit(bytes, chip->wait_bit + k * width + b) << b;
    command->waits |= (uint32_t)(count > 0) << k;
    if (chip->semaphore_count) command->counts |= count << 4 * k;
    command->signals |= (uint32_t)get_bit(bytes, chip->signal_bit + k) << k;
  }
}

// Extents that commands carry, or those that stand in state: what they are is known once it is followed.
static pb_status check_extents(const pb_command* command, bool in_state, pb_diag* diag) {
  const pb_insn* insn = command->insn;
  for (int d = 0; d < insn->dim_count; ++d) {
    const pb_dim* dim = &insn->dims[d];
    if (dim->field < 0 || (insn->fields[dim->field].state_writer >= 0) != in_state) continue;
    int64_t extent = command->values[dim->field];
    if (extent < dim->min || extent > dim->max)
      return pb_error(diag, (pb_place){.what = insn->name}, 3302, NULL, "its dim '%s' is %lld; %d to %d", dim->name,
                      (long long)extent, dim->min, dim->max);
  }
  return PB_OK;
}

pb_status pb_decode(const pb_chip* chip, const uint8_t* bytes, pb_command* command, pb_diag* diag) {
  *command = (pb_command){.insn = match(chip, bytes)};
  const pb_insn* insn = command->insn;
  if (!insn)
    return pb_error(diag, (pb_place){0}, 3301, NULL, "no instruction of %s is encoded so (first byte 0x%02x)",
                    chip->name, bytes[0]);
  for (int f = 0; f < insn->field_count; ++f) {
    const pb_field* field = &insn->fields[f];
    uint64_t value = 0;
    for (int b = 0; b < field->width; ++b)
      if (field->bits[b] >= 0 && get_bit(bytes, field->bits[b])) value |= (uint64_t)1 << b;
    if (field->is_signed && field->width < 64 && value >> (field->width - 1) & 1) value |= ~(uint64_t)0 << field->width;
    command->values[f] = pb_field_number(field, (int64_t)value);
  }
  decode_order(chip, bytes, command);
  if (!decode_semaphore(chip, command))
    return pb_error(diag, (pb_place){.what = insn->name}, 3305, NULL, "it names none of %d semaphores, or no number",
                    chip->semaphore_count);
  const pb_queue* queue =
      insn->queue >= 0 ? &chip->queues[insn->queue] : NULL; // a loop is of whichever queue, a fence of none
  if (queue && ((command->waits & ~queue->waits) || (command->signals & ~queue->signals)))
    return pb_error(diag, (pb_place){.what = insn->name}, 3303, NULL,
                    "it waits for %s 0x%x and signals 0x%x; %s has %s from 0x%x and to 0x%x",
                    chip->semaphore_count ? "semaphores" : "queues", command->waits, command->signals, queue->name,
                    chip->semaphore_count ? "those" : "counters", queue->waits, queue->signals);
  return check_extents(command, false, diag);
}

pb_status pb_state_extents(const pb_command* command, pb_diag* diag) { return check_extents(command, true, diag); }

void pb_state_clear(const pb_chip* chip, int64_t (*state)[32]) {
  memset(state, 0, sizeof *state * (size_t)chip->insn_count);
  for (int i = 0; i < chip->insn_count; ++i)
    for (int f = 0; f < chip->insns[i].field_count; ++f) state[i][f] = pb_field_number(&chip->insns[i].fields[f], 0);
}

void pb_state_write(int64_t (*state)[32], const pb_command* command) {
  const pb_insn* insn = command->insn;
  memcpy(state[insn->index], command->values, sizeof *state);
  for (int f = 0; f < insn->field_count && insn->state_of >= 0; ++f)
    if (insn->fields[f].state_of >= 0) state[insn->state_of][insn->fields[f].state_of] = command->values[f];
}

void pb_state_follow(const pb_chip* chip, int64_t (*state)[32], pb_command* command) {
  const pb_insn* insn = command->insn;
  if (insn == chip->loop || insn == chip->fence) return;
  for (int f = 0; f < insn->field_count; ++f)
    if (insn->fields[f].state_writer >= 0)
      command->values[f] = state[insn->fields[f].state_writer][insn->fields[f].state_field];
  pb_state_write(state, command);
}

void pb_command_step(const pb_chip* chip, uint8_t* bytes, const uint8_t* step) {
  unsigned carry = 0;
  for (int k = 0; k < chip->command_bytes; ++k) {
    carry += (unsigned)bytes[k] + step[k];
    bytes[k] = (uint8_t)carry;
    carry >>= 8;
  }
}

static char* print_operand(const pb_insn* insn, const pb_command* c, const pb_operand* o, pb_arena* arena) {
  if (o->memory < 0) return pb_printf(arena, " %s=%lld", o->name, (long long)c->values[o->base]);
  char* text = pb_printf(arena, " %s=", o->name);
  if (o->slot >= 0) text = pb_printf(arena, "%sarg%lld+", text, (long long)c->values[o->slot]);
  if (!insn->fields[o->base].hidden)
    text = pb_printf(arena, "%s%lld[", text, (long long)c->values[o->base]);
  else // which bank is meant the commands before it say
    text = pb_printf(arena, "%s%s[", text, o->written || c->values[o->take] ? "next" : "held");
  for (int k = 0; k < o->rank; ++k) {
    const pb_dim* dim = &insn->dims[o->dims[k]];
    long long extent = dim->field >= 0 ? (long long)c->values[dim->field] : dim->max;
    text = pb_printf(arena, "%s%s%lld", text, k ? "," : "", extent);
    if (o->strides[k].kind == PB_STRIDE_FIELD)
      text = pb_printf(arena, "%s:%lld", text, (long long)c->values[o->strides[k].field]);
    if (o->has_box && o->box_lo[k] >= 0)
      text = pb_printf(arena, "%s(%lld..%lld)", text, (long long)c->values[o->box_lo[k]],
                       (long long)c->values[o->box_hi[k]]);
  }
  text = pb_printf(arena, "%s]", text);
  return o->fill >= 0 ? pb_printf(arena, "%s fill=%lld", text, (long long)c->values[o->fill]) : text;
}

uint32_t pb_command_cores(const pb_command* command) {
  if (command->insn->broadcast < 0) return 0;
  uint32_t cores = (uint32_t)command->values[command->insn->broadcast];
  return cores & (cores - 1) ? cores : 0;
}

bool pb_chip_broadcasts(const pb_chip* chip) {
  for (int i = 0; i < chip->insn_count && chip->cores > 1; ++i)
    if (chip->insns[i].broadcast >= 0) return true;
  return false;
}

bool pb_is_table(const pb_insn* insn, const pb_operand* operand) {
  return operand->memory >= 0 && (operand->rows >= 0 || (operand->rank == 1 && insn->dims[operand->dims[0]].table));
}

int pb_insn_gathers(const pb_insn* insn) {
  for (int o = 0; o < insn->operand_count; ++o)
    if (insn->operands[o].memory >= 0 && insn->operands[o].rows >= 0) return o;
  return -1;
}

char* pb_disassemble(const pb_chip* chip, const pb_command* command, pb_arena* arena) {
  char* text = pb_strdup(arena, command->insn->name);
  for (int o = 0; o < command->insn->operand_count; ++o)
    text = pb_printf(arena, "%s%s", text, print_operand(command->insn, command, &command->insn->operands[o], arena));
  uint32_t cores = pb_command_cores(command);
  for (int core = 0, named = 0; core < PB_MOST_READERS; ++core)
    if (cores >> core & 1) text = pb_printf(arena, "%s%s%d", text, named++ ? "," : " cores=", core);
  bool fields = !command->insn->operand_count && command->insn != chip->fence;
  for (int f = 0; f < command->insn->field_count && fields; ++f)
    text = pb_printf(arena, "%s %s=%lld", text, command->insn->fields[f].name, (long long)command->values[f]);
  for (int side = 0; side < 2; ++side) {
    uint32_t counters = side ? command->signals : command->waits;
    if (!counters) continue;
    text = pb_printf(arena, "%s ; %s", text, side ? "signals" : "waits");
    for (int k = 0; k < pb_chip_counters(chip); ++k) {
      if (!(counters >> k & 1)) continue;
      text = pb_printf(arena, "%s %s", text, pb_counter_name(chip, k));
      if (!side && chip->semaphore_count) text = pb_printf(arena, "%s:%d", text, pb_count_of(chip, command->counts, k));
    }
  }
  return text;
}

void pb_chip_free(pb_chip* chip) {
  if (!chip) return;
  pb_arena arena = chip->arena;
  pb_arena_free(&arena);
  free(chip);
}

static bool is_contraction(const pb_insn* insn) {
  if (insn->mover || insn->reduce != PB_ACC_ADD) return false;
  for (int k = 0; k < insn->expr_count; ++k)
    if (insn->expr[k].op == PB_OP_MUL) return true;
  return false;
}

uint64_t pb_chip_peak_macs(const pb_chip* chip) {
  double best = 0;
  for (int k = 0; k < chip->insn_count; ++k) {
    const pb_insn* insn = &chip->insns[k];
    if (!is_contraction(insn)) continue;
    int64_t cycles = pb_cycles_at_most(insn);
    double products = 1;
    for (int d = 0; d < insn->dim_count; ++d) products *= insn->dims[d].max;
    if (cycles > 0 && products / (double)cycles > best) best = products / (double)cycles;
  }
  int cores = chip->level_count && chip->levels[0].busy ? chip->levels[0].busy : chip->cores;
  int each = chip->control == PB_CONTROL_GRID ? chip->grid.product_cycles : 1;
  return (uint64_t)(best * cores / each + 0.5);
}
