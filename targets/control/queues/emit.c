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

// Follows the kernel as one core runs it; where there is state, once more to see what is coming.
static pb_status follow(emitter* e, const pb_decoded* kernel, int core) {
  pb_taker here = {take, e};
  if (!pb_chip_has_state(e->chip)) return pb_trace_run(e->chip, kernel, core, e->diag, here);
  pb_state_writer* writer = pb_state_start(e->chip, e->diag);
  pb_status status = pb_trace_run(e->chip, kernel, core, e->diag, (pb_taker){pb_state_show, writer});
  pb_state_begin(writer, here);
  if (status == PB_OK) status = pb_trace_run(e->chip, kernel, core, e->diag, (pb_taker){pb_state_take, writer});
  pb_state_free(writer);
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

// Takes the core's streams over, rolled.
static void keep_streams(emitter* e, int core, pb_arena* arena, pb_words_kernel* words) {
  size_t bytes = (size_t)e->chip->command_bytes;
  put_tokens(e);
  pb_tokens_free(e->tokens); // rolling needs words only
  e->tokens = NULL;
  for (int q = 0; q < e->chip->queue_count; ++q) {
    stream* s = &e->streams[q];
    int to = core * e->chip->queue_count + q;
    size_t count = pb_roll(e->chip, s->bytes, s->count / bytes);
    words->count[to] = (uint32_t)count;
    words->streams[to] = pb_alloc(arena, count * bytes);
    if (count) memcpy(words->streams[to], s->bytes, count * bytes);
    free(s->bytes);
    *s = (stream){0};
  }
}

pb_status pb_queues_emit(const pb_chip* chip, MlirOperation func, pb_arena* arena, pb_diag* diag,
                         pb_words_kernel* words) {
  pb_arena scratch = {0};
  pb_decoded kernel;
  pb_status status = pb_decode_kernel(chip, func, &scratch, diag, &kernel);
  words->queue_count = chip->queue_count * kernel.cores;
  words->count = PB_NEW_ARRAY(arena, uint32_t, (size_t)words->queue_count);
  words->streams = PB_NEW_ARRAY(arena, uint8_t*, (size_t)words->queue_count);
  for (int core = 0; core < kernel.cores && status == PB_OK; ++core) {
    emitter e = {.chip = chip, .diag = diag, .tokens = pb_tokens_start(chip, diag)};
    status = follow(&e, &kernel, core);
    if (status == PB_OK) keep_streams(&e, core, arena, words);
    release(&e);
  }
  pb_decoded_free(&kernel);
  pb_arena_free(&scratch);
  return status;
}

static void print_core(emitter* e, int core, pb_arena* scratch, pb_text* out) {
  for (size_t k = 0; k < e->count; ++k) {
    int queue;
    printed* c = &e->commands[k];
    pb_tokens_of(e->tokens, k, &queue, &c->command.waits, &c->command.signals);
    pb_text_add(out, "%-3s %s%s%s\n", pb_chip_queue_name(e->chip, core * e->chip->queue_count + queue),
                pb_disassemble(e->chip, &c->command, scratch), c->nest && c->nest[0] ? " // " : "",
                c->nest ? c->nest : "");
  }
}

pb_status pb_queues_print(const pb_chip* chip, MlirOperation func, pb_diag* diag, char** text) {
  pb_arena scratch = {0};
  pb_text out = {0};
  pb_decoded kernel;
  pb_status status = pb_decode_kernel(chip, func, &scratch, diag, &kernel);
  for (int core = 0; core < kernel.cores && status == PB_OK; ++core) {
    emitter e = {.chip = chip, .diag = diag, .tokens = pb_tokens_start(chip, diag), .prints = true};
    status = follow(&e, &kernel, core);
    if (status == PB_OK) print_core(&e, core, &scratch, &out);
    release(&e);
  }
  pb_decoded_free(&kernel);
  pb_arena_free(&scratch);
  *text = out.data;
  return status;
}
