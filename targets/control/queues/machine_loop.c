// Hardware loops: the commands that a queue runs, from the words that it fetches.
#include "machine_state.h"

#include <string.h>

// Takes a loop's header and body.
static int begin(pb_device* device, const machine_site* site, machine_sequence* s, const pb_command* header) {
  const pb_chip* chip = device->chip;
  int64_t turns = header->values[chip->loop_turns], body = header->values[chip->loop_body];
  machine_command none = {.command = *header};
  if (turns < 1 || body < 1 || body > chip->loop_most || s->word + 2 * (uint64_t)body >= s->count)
    return machine__fault_at(device, MACHINE_BAD_COMMAND, site, &none,
                             "a loop of %lld commands, %lld times, %u words "
                             "before the end of its queue",
                             (long long)body, (long long)turns, s->count - s->word);
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
  s->turns = (uint64_t)turns;
  s->turn = s->at = 0;
  return MACHINE_OK;
}

static const uint8_t* next_of_loop(const pb_chip* chip, machine_sequence* s, uint32_t* fetched) {
  uint32_t at = s->at;
  uint8_t* command = s->commands[at];
  if (s->turn > 0) pb_command_step(chip, command, s->steps[at]);
  *fetched = s->word + 1 + (s->turn ? 2 * s->body : 2 * (at + 1));
  if (++s->at == s->body) {
    s->at = 0;
    if (++s->turn == s->turns) {
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

int machine__command_again(pb_device* device, const machine_site* site, machine_command* command) {
  const pb_chip* chip = device->chip;
  uint64_t left = site->index;
  for (uint32_t at = 0;;) {
    const uint8_t* word = machine__word(device, site, at);
    pb_command header;
    if (!word) return MACHINE_BAD_ADDRESS;
    if (!pb_is_loop(chip, word) || pb_decode(chip, word, &header, NULL) != PB_OK) {
      if (left-- == 0) return machine__command_read(device, site, word, command);
      ++at;
      continue;
    }
    uint64_t body = (uint64_t)header.values[chip->loop_body], runs = body * (uint64_t)header.values[chip->loop_turns];
    if (left >= runs) {
      left -= runs;
      at += 1 + 2 * (uint32_t)body;
      continue;
    }
    const uint8_t* first = machine__word(device, site, at + 1 + 2 * (uint32_t)(left % body));
    const uint8_t* step = machine__word(device, site, at + 2 + 2 * (uint32_t)(left % body));
    uint8_t bytes[PB_COMMAND_BITS / 8];
    if (!first || !step) return MACHINE_BAD_ADDRESS;
    memcpy(bytes, first, (size_t)chip->command_bytes);
    for (uint64_t turn = 0; turn < left / body; ++turn) pb_command_step(chip, bytes, step);
    return machine__command_read(device, site, bytes, command);
  }
}
