// Hardware loops: the commands that a queue runs, from the words that it fetches.
#include "targets/control/queues/machine/state.h"

#include <stdlib.h>
#include <string.h>

// Takes a loop's header and body.
static int begin(pb_device* device, const machine_site* site, machine_sequence* s, const pb_command* header) {
  const pb_chip* chip = device->chip;
  int64_t iterations = header->values[chip->loop_iterations], body = header->values[chip->loop_body];
  machine_command none = {.command = *header};
  if (iterations < 1 || body < 1 || body > chip->loop_most || s->word + 2 * (uint64_t)body >= s->count)
    return machine__fault_at(device, MACHINE_BAD_COMMAND, site, &none,
                             "a loop of %lld commands, %lld times, %u words "
                             "before the end of its queue",
                             (long long)body, (long long)iterations, s->count - s->word);
  if (header->waits || header->signals)
    return machine__fault_at(device, MACHINE_BAD_COMMAND, site, &none, "a loop takes and hands out no tokens");
  for (int64_t k = 0; k < body; ++k) {
    const uint8_t* command = machine__word(device, site, s->word + 1 + 2 * (uint32_t)k);
    const uint8_t* step = command ? machine__word(device, site, s->word + 2 + 2 * (uint32_t)k) : NULL;
    if (!step) return MACHINE_BAD_ADDRESS;
    memcpy(s->commands[k], command, (size_t)chip->command_bytes);
    memcpy(s->steps[k], step, (size_t)chip->command_bytes);
  }
  s->body = (uint32_t)body;
  s->iterations = (uint64_t)iterations;
  s->iteration = s->at = 0;
  return MACHINE_OK;
}

static const uint8_t* next_of_loop(const pb_chip* chip, machine_sequence* s, uint32_t* fetched) {
  uint32_t at = s->at;
  uint8_t* command = s->commands[at];
  if (s->iteration > 0) pb_command_step(chip, command, s->steps[at]);
  *fetched = s->word + 1 + (s->iteration ? 2 * s->body : 2 * (at + 1));
  if (++s->at == s->body) {
    s->at = 0;
    if (++s->iteration == s->iterations) {
      s->word += 1 + 2 * s->body;
      s->body = 0;
    }
  }
  return command;
}

const uint8_t* machine__sequence_next(pb_device* device, const machine_site* site, machine_sequence* s,
                                      uint32_t* fetched, int* code) {
  const pb_chip* chip = device->chip;
  *code = MACHINE_OK;
  if (s->body) return next_of_loop(chip, s, fetched);
  if (s->word == s->count) return NULL;
  const uint8_t* word = machine__word(device, site, s->word);
  if (!word) {
    *code = MACHINE_BAD_ADDRESS;
    return NULL;
  }
  if (pb_is_loop(chip, word)) {
    pb_command header;
    if (pb_decode(chip, word, &header, NULL) != PB_OK) return NULL; // has no dims: it always decodes
    *code = begin(device, site, s, &header);
    return *code ? NULL : next_of_loop(chip, s, fetched);
  }
  *fetched = ++s->word;
  return word;
}

// The bytes of command `index`: loops before it are passed by as a whole.
static int find(pb_device* device, const machine_site* site, uint8_t* bytes) {
  const pb_chip* chip = device->chip;
  uint64_t left = site->index;
  for (uint32_t at = 0;;) {
    const uint8_t* word = machine__word(device, site, at);
    pb_command header;
    if (!word) return MACHINE_BAD_ADDRESS;
    if (!pb_is_loop(chip, word) || pb_decode(chip, word, &header, NULL) != PB_OK) {
      memcpy(bytes, word, (size_t)chip->command_bytes);
      if (left-- == 0) return MACHINE_OK;
      ++at;
      continue;
    }
    uint64_t body = (uint64_t)header.values[chip->loop_body],
             runs = body * (uint64_t)header.values[chip->loop_iterations];
    if (left >= runs) {
      left -= runs;
      at += 1 + 2 * (uint32_t)body;
      continue;
    }
    const uint8_t* first = machine__word(device, site, at + 1 + 2 * (uint32_t)(left % body));
    const uint8_t* step = machine__word(device, site, at + 2 + 2 * (uint32_t)(left % body));
    if (!first || !step) return MACHINE_BAD_ADDRESS;
    memcpy(bytes, first, (size_t)chip->command_bytes);
    for (uint64_t iteration = 0; iteration < left / body; ++iteration) pb_command_step(chip, bytes, step);
    return MACHINE_OK;
  }
}

static bool uses_state(const pb_device* device, const uint8_t* bytes) {
  pb_command command;
  if (pb_decode(device->chip, bytes, &command, NULL) != PB_OK) return false;
  for (int f = 0; f < command.insn->field_count; ++f)
    if (command.insn->fields[f].state_writer >= 0 || command.insn->fields[f].hidden) return true;
  return false;
}

// What the queue's commands before `index` leave in the state, and of banks: those after it may have changed that
// since.
static int follow_state(pb_device* device, const machine_site* site, int64_t (*state)[32]) {
  machine_sequence sequence = {
      .count = pb_submission_count(&device->kernel, (uint32_t)pb_chip_stream(device->chip, site->queue))};
  for (uint32_t k = 0; k < site->index; ++k) {
    int code;
    uint32_t fetched;
    const uint8_t* bytes = machine__sequence_next(device, site, &sequence, &fetched, &code);
    pb_command command;
    if (!bytes) return code;
    if (pb_decode(device->chip, bytes, &command, NULL) != PB_OK) continue;
    bool other = command.insn->queue != site->queue % device->chip->queue_count;
    if (device->chip->fence && other) continue; // they stand in one list
    pb_state_follow(device->chip, state, &command);
    machine__banks_follow(device, site->queue, &command);
  }
  return MACHINE_OK;
}

int machine__command_again(pb_device* device, const machine_site* site, machine_command* command) {
  uint8_t bytes[PB_COMMAND_BITS / 8];
  int code = find(device, site, bytes);
  if (code) return code;
  if (!uses_state(device, bytes))
    return machine__command_read(device, site, bytes, machine__state(device, site->queue), command);
  int64_t(*state)[32] = calloc((size_t)device->chip->insn_count, sizeof *state);
  if (!state) return machine__fault(device, MACHINE_OUT_OF_MEMORY, "no memory for a report");
  machine_banks now[MACHINE_MAX_MEMORIES], *banks = device->banks[machine__core(device, site->queue)];
  memcpy(now, banks, sizeof now);
  for (int m = 0; m < device->chip->memory_count; ++m) banks[m].filled = banks[m].taken = 0;
  pb_state_clear(device->chip, state);
  code = follow_state(device, site, state);
  if (!code) code = machine__command_read(device, site, bytes, state, command);
  memcpy(banks, now, sizeof now);
  free(state);
  return code;
}
