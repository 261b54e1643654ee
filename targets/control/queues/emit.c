#include "targets/control/queues/emit.h"

#include "core/poly/text.h"
#include "targets/control/queues/roll.h"
#include "targets/control/queues/trace.h"

#include <stdlib.h>
#include <string.h>

// One queue's commands, encoded as they come.
typedef struct stream {
  uint8_t* bytes;
  size_t count, capacity; // bytes
} stream;

typedef struct printed {
  pb_command command;
  const char* nest;
} printed;

typedef struct emitter {
  const pb_chip* chip;
  pb_diag* diag;
  pb_tokens* tokens;
  stream streams[PB_MAX_QUEUES];
  bool prints;
  printed* commands; // in program order
  size_t count, capacity;
} emitter;

static pb_status take(void* user, const pb_traced* c) {
  emitter* e = user;
  PB_TRY(pb_tokens_add(e->tokens, c));
  if (e->prints) {
    PB_PUSH(e->commands, e->count, e->capacity, ((printed){c->command, c->nest}));
    return PB_OK;
  }
  stream* s = &e->streams[c->command.insn->queue];
  size_t bytes = (size_t)e->chip->command_bytes;
  while (s->count + bytes > s->capacity) s->bytes = pb_grow(s->bytes, s->capacity, &s->capacity, 1);
  PB_TRY(pb_encode(e->chip, &c->command, s->bytes + s->count, e->diag));
  s->count += bytes;
  return PB_OK;
}

// Follows the kernel; where there is state, once more to see what is coming.
static pb_status follow(emitter* e, const pb_decoded* kernel) {
  pb_taker here = {take, e};
  if (!pb_chip_has_state(e->chip)) return pb_trace_run(e->chip, kernel, e->diag, here);
  pb_state_writer* writer = pb_state_start(e->chip, e->diag);
  pb_status status = pb_trace_run(e->chip, kernel, e->diag, (pb_taker){pb_state_show, writer});
  pb_state_begin(writer, here);
  if (status == PB_OK) status = pb_trace_run(e->chip, kernel, e->diag, (pb_taker){pb_state_take, writer});
  pb_state_free(writer);
  return status;
}

static pb_status run(emitter* e, MlirOperation func, pb_arena* scratch) {
  pb_decoded kernel;
  pb_status status = pb_decode_kernel(e->chip, func, scratch, e->diag, &kernel);
  e->tokens = pb_tokens_start(e->chip, e->diag);
  if (status == PB_OK) status = follow(e, &kernel);
  pb_decoded_free(&kernel);
  return status;
}

static void release(emitter* e) {
  for (int q = 0; q < PB_MAX_QUEUES; ++q) free(e->streams[q].bytes);
  free(e->commands);
  pb_tokens_free(e->tokens);
}

static void put_tokens(emitter* e) {
  size_t at[PB_MAX_QUEUES] = {0};
  for (size_t k = 0; k < pb_tokens_count(e->tokens); ++k) {
    int q;
    uint32_t waits, signals;
    pb_tokens_of(e->tokens, k, &q, &waits, &signals);
    pb_encode_tokens(e->chip, waits, signals, e->streams[q].bytes + at[q]);
    at[q] += (size_t)e->chip->command_bytes;
  }
}

pb_status pb_queues_emit(const pb_chip* chip, MlirOperation func, pb_arena* arena, pb_diag* diag,
                         pb_words_kernel* words) {
  emitter e = {.chip = chip, .diag = diag};
  pb_arena scratch = {0};
  pb_status status = run(&e, func, &scratch);
  if (status == PB_OK) put_tokens(&e);
  pb_tokens_free(e.tokens); // rolling needs words only
  e.tokens = NULL;
  words->queue_count = chip->queue_count;
  words->count = PB_NEW_ARRAY(arena, uint32_t, (size_t)chip->queue_count);
  words->streams = PB_NEW_ARRAY(arena, uint8_t*, (size_t)chip->queue_count);
  for (int q = 0; q < chip->queue_count && status == PB_OK; ++q) {
    stream* s = &e.streams[q];
    size_t bytes = (size_t)chip->command_bytes, count = pb_roll(chip, s->bytes, s->count / bytes);
    words->count[q] = (uint32_t)count;
    words->streams[q] = pb_alloc(arena, count * bytes);
    if (count) memcpy(words->streams[q], s->bytes, count * bytes);
    free(s->bytes);
    *s = (stream){0};
  }
  release(&e);
  pb_arena_free(&scratch);
  return status;
}

pb_status pb_queues_print(const pb_chip* chip, MlirOperation func, pb_diag* diag, char** text) {
  emitter e = {.chip = chip, .diag = diag, .prints = true};
  pb_arena scratch = {0};
  pb_text out = {0};
  pb_status status = run(&e, func, &scratch);
  for (size_t k = 0; k < e.count && status == PB_OK; ++k) {
    int queue;
    printed* c = &e.commands[k];
    pb_tokens_of(e.tokens, k, &queue, &c->command.waits, &c->command.signals);
    pb_text_add(&out, "%-3s %s%s%s\n", chip->queues[queue].name, pb_disassemble(chip, &c->command, &scratch),
                c->nest && c->nest[0] ? " // " : "", c->nest ? c->nest : "");
  }
  release(&e);
  pb_arena_free(&scratch);
  *text = out.data;
  return status;
}
