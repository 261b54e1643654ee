// Engine to file. The program section is built in memory; everything else is written from where it lies.
#define _GNU_SOURCE
#include "core/artefact/format.h"

#include "core/base/scratch.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct buffer {
  uint8_t* bytes;
  size_t count, capacity;
} buffer;

static void put(buffer* b, int count, uint64_t value) {
  for (int k = 0; k < count; ++k) PB_PUSH(b->bytes, b->count, b->capacity, (uint8_t)(value >> 8 * k));
}
static void put_bytes(buffer* b, const void* data, size_t count) {
  for (size_t k = 0; k < count; ++k) PB_PUSH(b->bytes, b->count, b->capacity, ((const uint8_t*)data)[k]);
}
static void put_text(buffer* b, const char* text) {
  size_t n = text ? strlen(text) : 0;
  put(b, 4, n);
  put_bytes(b, text, n);
}

static void put_tensors(buffer* b, int count, const pb_tensor_info* tensors) {
  put(b, 4, (uint64_t)count);
  for (int k = 0; k < count; ++k) {
    put_text(b, tensors[k].name);
    put(b, 1, tensors[k].type);
    put(b, 1, (uint64_t)tensors[k].rank | (tensors[k].is_complex ? PB_ENGINE_COMPLEX : 0));
    for (int d = 0; d < tensors[k].rank; ++d) put(b, 8, (uint64_t)tensors[k].shape[d]);
    if (tensors[k].type == PB_W64) put(b, 8, (uint64_t)tensors[k].most);
  }
}

static void put_launch(buffer* b, const pb_grid_kernel* grid) {
  put(b, 4, (uint64_t)grid->module);
  put(b, 4, grid->blocks);
  put(b, 4, grid->threads);
  put(b, 8, grid->memory);
}

static void put_kernel(buffer* b, const pb_kernel* kernel) {
  put_text(b, kernel->name);
  put(b, 1, kernel->is_words + 2u * kernel->is_grid);
  if (kernel->is_words) {
    bool many = kernel->words.queue_count > 255; // then two bytes behind a 0
    put(b, 1, many ? 0 : (uint64_t)kernel->words.queue_count);
    if (many) put(b, 2, (uint64_t)kernel->words.queue_count);
    for (int q = 0; q < kernel->words.queue_count; ++q) put(b, 4, kernel->words.count[q]);
  } else {
    put_text(b, kernel->symbol);
    if (kernel->is_grid)
      put_launch(b, &kernel->grid);
    else
      put(b, 1, kernel->alone);
  }
  put(b, 8, kernel->predicted_cycles);
  put_text(b, kernel->bound);
}

static void put_step(buffer* b, const pb_step* step) {
  bool launch = step->op == PB_HOST_LAUNCH;
  put(b, 1, step->op);
  put(b, 4, (uint64_t)(launch ? step->kernel : step->target));
  put_text(b, step->origin);
  put(b, 8, launch ? step->macs : step->bytes);
  put(b, 1, (uint64_t)step->arg_count);
  for (int a = 0; a < step->arg_count; ++a) {
    put(b, 1, step->args[a].space);
    put(b, 8, step->args[a].value);
  }
  if (step->op != PB_HOST_PLACE && step->op != PB_HOST_TAKE) return;
  const uint64_t rows[] = {step->rows.count, step->rows.stride, step->rows.unit, step->rows.most};
  for (int k = 0; k < 4; ++k) put(b, 8, rows[k]);
  put(b, 1, step->rows.index);
}

static void put_dims(buffer* b, int count, const pb_tensor_info* tensors, int (*dims)[PB_MAX_RANK]) {
  for (int k = 0; k < count; ++k)
    for (int d = 0; d < tensors[k].rank; ++d) put(b, 4, (uint64_t)dims[k][d]);
}

static void put_open(buffer* b, const pb_engine* engine) {
  const pb_open* o = engine->open;
  put(b, 4, (uint64_t)o->symbol_count);
  for (int k = 0; k < o->symbol_count; ++k) put_text(b, o->symbols[k]);
  put(b, 4, (uint64_t)o->size_count);
  for (int k = 0; k < o->size_count; ++k) {
    put(b, 1, (uint64_t)o->sizes[k].op);
    put(b, 4, (uint64_t)o->sizes[k].a);
    put(b, 4, (uint64_t)o->sizes[k].b);
    put(b, 8, (uint64_t)o->sizes[k].number);
  }
  put_dims(b, engine->input_count, engine->inputs, o->inputs);
  put_dims(b, engine->output_count, engine->outputs, o->outputs);
  put(b, 4, (uint64_t)o->check_count);
  for (int k = 0; k < o->check_count; ++k) {
    put(b, 1, o->checks[k].equal);
    put(b, 4, (uint64_t)o->checks[k].a);
    put(b, 4, (uint64_t)o->checks[k].b);
    put_text(b, o->checks[k].text);
  }
  put(b, 4, (uint64_t)o->block_count);
  for (int k = 0; k < o->block_count; ++k) {
    put(b, 1, o->blocks[k].type);
    put(b, 4, (uint64_t)o->blocks[k].count);
    for (int n = 0; n < o->blocks[k].count; ++n) put(b, 4, (uint64_t)o->blocks[k].sizes[n]);
  }
  put(b, 4, (uint64_t)o->buffer_count);
  for (int k = 0; k < o->buffer_count; ++k) {
    put(b, 4, (uint64_t)o->buffers[k].bytes);
    put(b, 4, (uint64_t)o->buffers[k].first);
    put(b, 4, (uint64_t)o->buffers[k].last);
  }
  if (!o->source_count) return;
  put(b, 4, (uint64_t)o->source_count);
  for (int k = 0; k < o->source_count; ++k) {
    put(b, 1, (uint64_t)o->sources[k].count);
    for (int n = 0; n < o->sources[k].count; ++n) put(b, 4, (uint64_t)(o->sources[k].symbol[n] + 1));
  }
}

static bool keeps(const pb_engine* engine) {
  for (int k = 0; k < engine->step_count; ++k)
    if (engine->steps[k].kept_count) return true;
  return false;
}

static int version_of(const pb_engine* engine) {
  if (pb_engine_has_grid(engine)) return PB_ENGINE_GRID_VERSION;
  bool more = engine->open || engine->aliases || pb_engine_has_control(engine) || keeps(engine);
  return more ? PB_ENGINE_HOST_VERSION : PB_ENGINE_VERSION;
}

// What stays on the chip, step by step.
static void put_kept(buffer* b, const pb_engine* engine) {
  for (int k = 0; k < engine->step_count; ++k) {
    const pb_step* step = &engine->steps[k];
    put(b, 1, (uint64_t)step->kept_count);
    for (int n = 0; n < step->kept_count; ++n) {
      put(b, 1, (uint64_t)step->kept[n].memory);
      put(b, 8, step->kept[n].address);
      put(b, 8, step->kept[n].bytes);
    }
  }
}

// What is in the section of code, whose bytes follow each other there.
static void put_codes(buffer* b, const pb_engine* engine) {
  put_text(b, engine->processor);
  put(b, 4, (uint64_t)engine->module_count);
  put(b, 4, (uint64_t)engine->grid_code_count);
  for (int k = 0; k < engine->grid_code_count; ++k) {
    put(b, 4, (uint64_t)engine->grid_codes[k].module);
    put(b, 1, (uint64_t)engine->grid_codes[k].form);
    put(b, 8, engine->grid_codes[k].bytes);
  }
}

static buffer program_put(const pb_engine* engine) {
  buffer b = {0};
  put_text(&b, engine->target);
  put_bytes(&b, engine->chip_hash, sizeof engine->chip_hash);
  put(&b, 4, (uint64_t)engine->chip_revision);
  put(&b, 4, (uint64_t)engine->command_bytes);
  put_text(&b, engine->features);
  put(&b, 8, engine->arena_bytes);
  put_tensors(&b, engine->input_count, engine->inputs);
  put_tensors(&b, engine->output_count, engine->outputs);
  put(&b, 4, (uint64_t)engine->kernel_count);
  for (int k = 0; k < engine->kernel_count; ++k) put_kernel(&b, &engine->kernels[k]);
  put(&b, 4, (uint64_t)engine->step_count);
  for (int k = 0; k < engine->step_count; ++k) put_step(&b, &engine->steps[k]);
  bool sources = engine->open && engine->open->source_count;
  if (version_of(engine) >= PB_ENGINE_HOST_VERSION)
    put(&b, 1, (engine->open != NULL) + 2 * (engine->aliases != NULL) + 4 * sources + 8 * keeps(engine));
  for (int k = 0; engine->aliases && k < engine->output_count; ++k) put(&b, 4, (uint64_t)(engine->aliases[k] + 1));
  if (engine->open) put_open(&b, engine);
  if (keeps(engine)) put_kept(&b, engine);
  if (pb_engine_has_grid(engine)) put_codes(&b, engine);
  return b;
}

// One contiguous piece of a section.
typedef void (*piece)(void* user, const void* data, size_t bytes);

static void each_piece(const pb_engine* engine, const buffer* program, int section, piece call, void* user) {
  switch ((pb_section)section) {
  case PB_SECTION_PROGRAM:
    call(user, program->bytes, program->count);
    break;
  case PB_SECTION_DESCRIPTION:
    if (engine->description) call(user, engine->description, strlen(engine->description) + 1);
    break;
  case PB_SECTION_STREAMS:
    for (int k = 0; k < engine->kernel_count; ++k) {
      const pb_kernel* kernel = &engine->kernels[k];
      for (int q = 0; kernel->is_words && q < kernel->words.queue_count; ++q)
        call(user, kernel->words.streams[q], (size_t)kernel->words.count[q] * (size_t)engine->command_bytes);
    }
    for (int k = 0; k < engine->grid_code_count; ++k) {
      static const uint8_t zeros[PB_ENGINE_ALIGN];
      uint64_t bytes = engine->grid_codes[k].bytes;
      call(user, engine->grid_codes[k].data, bytes);
      call(user, zeros, pb__align_up(bytes, PB_ENGINE_ALIGN) - bytes);
    }
    break;
  case PB_SECTION_NATIVE:
    call(user, engine->native, engine->native_bytes);
    break;
  case PB_SECTION_CONSTS:
    if (!engine->shares) call(user, engine->consts, engine->const_bytes);
    break;
  case PB_SECTION_COUNT:
    break;
  }
}

typedef struct measure {
  uint64_t bytes, crc;
} measure;
static void measure_piece(void* user, const void* data, size_t bytes) {
  measure* m = user;
  m->bytes += bytes;
  m->crc = pb__crc64(m->crc, data, bytes);
}
static void write_piece(void* user, const void* data, size_t bytes) {
  if (bytes) fwrite(data, 1, bytes, user);
}

static void write_zeros(FILE* file, uint64_t bytes) {
  for (; bytes; --bytes) fputc(0, file);
}

static void put_row(uint8_t* row, uint64_t number, uint64_t offset, uint64_t bytes, uint64_t crc) {
  pb__put(row, 4, number);
  pb__put(row + 8, 8, offset);
  pb__put(row + 16, 8, bytes);
  pb__put(row + 24, 8, crc);
}

// In front of a table of so many rows, which is there.
static void put_header(uint8_t* head, const char* magic, uint64_t version, uint64_t rows, uint64_t file_bytes) {
  memcpy(head, magic, 8);
  pb__put(head + 8, 4, version);
  pb__put(head + 12, 4, rows);
  pb__put(head + 16, 8, file_bytes);
  pb__put(head + 24, 8, pb__crc64(0, head, PB_HEADER_BYTES + PB_SECTION_BYTES * rows));
}

static void write_file(FILE* file, const pb_engine* engine, const buffer* program) {
  uint8_t head[PB_HEADER_BYTES + PB_SECTION_BYTES * PB_SECTION_COUNT] = {0};
  uint64_t at = sizeof head, offset[PB_SECTION_COUNT], end[PB_SECTION_COUNT];
  for (int s = 0; s < PB_SECTION_COUNT; ++s) {
    measure m = {0};
    each_piece(engine, program, s, measure_piece, &m);
    offset[s] = pb__align_up(at, pb__section_align(s));
    at = end[s] = offset[s] + m.bytes;
    uint8_t* row = head + PB_HEADER_BYTES + PB_SECTION_BYTES * s;
    put_row(row, (uint64_t)s, offset[s], m.bytes, m.crc);
  }
  put_header(head, PB_ENGINE_MAGIC, (uint64_t)version_of(engine), PB_SECTION_COUNT, at);
  fwrite(head, 1, sizeof head, file);
  at = sizeof head;
  for (int s = 0; s < PB_SECTION_COUNT; ++s) {
    write_zeros(file, offset[s] - at);
    each_piece(engine, program, s, write_piece, file);
    at = end[s];
  }
}

static void write_one(FILE* file, const pb_engine* engine) {
  buffer program = program_put(engine);
  write_file(file, engine, &program);
  free(program.bytes);
}

typedef struct image {
  char* bytes;
  size_t count;
} image;

static bool make_image(const pb_engine* engine, image* made) {
  FILE* file = open_memstream(&made->bytes, &made->count);
  if (file) write_one(file, engine);
  return file && !fclose(file);
}

// false: no memory.
static bool write_profiles(FILE* file, const pb_engine* first) {
  if (!first->next) {
    write_one(file, first);
    return true;
  }
  uint8_t head[PB_HEADER_BYTES + PB_SECTION_BYTES * PB_ENGINE_MAX_PROFILES] = {0};
  image images[PB_ENGINE_MAX_PROFILES] = {0};
  uint64_t count = 0, at, offset[PB_ENGINE_MAX_PROFILES];
  bool good = true;
  for (const pb_engine* e = first; e; e = e->next) good &= make_image(e, &images[count++]);
  uint64_t table = PB_HEADER_BYTES + PB_SECTION_BYTES * count;
  at = table;
  for (uint64_t k = 0; k < count; ++k) {
    uint8_t* row = head + PB_HEADER_BYTES + PB_SECTION_BYTES * k;
    offset[k] = pb__align_up(at, PB_PAGE);
    at = offset[k] + images[k].count;
    put_row(row, k, offset[k], images[k].count, 0);
  }
  put_header(head, PB_PROFILES_MAGIC, PB_ENGINE_VERSION, count, at);
  if (good) fwrite(head, 1, table, file);
  at = table;
  for (uint64_t k = 0; k < count; ++k) {
    if (good) write_zeros(file, offset[k] - at);
    if (good) fwrite(images[k].bytes, 1, images[k].count, file);
    at = offset[k] + images[k].count;
    free(images[k].bytes);
  }
  return good;
}

// Whether the path is there and no file: a device or a pipe is written to, and never replaced.
static bool is_device(const char* path) {
  struct stat found;
  return stat(path, &found) == 0 && !S_ISREG(found.st_mode);
}

static pb_status check_all(const pb_engine* first, const char* path, pb_diag* diag) {
  for (const pb_engine* e = first; e; e = e->next) PB_TRY(pb__engine_check(e, path, 5010, diag));
  return pb__profiles_check(first, path, 5010, diag);
}

// A file without a name in the path's folder, of which nothing is left unless it gets one; NULL: there are none there.
static FILE* open_nameless(const char* path, pb_arena* arena) {
  const char* slash = strrchr(path, '/');
  const char* folder = slash == path ? "/" : slash ? pb_printf(arena, "%.*s", (int)(slash - path), path) : ".";
  int made = open(folder, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666);
  FILE* file = made >= 0 ? fdopen(made, "wb") : NULL;
  if (!file && made >= 0) close(made);
  return file;
}

static bool give_name(FILE* file, const char* name, pb_arena* arena) {
  unlink(name); // of a process of the same number that was killed
  return !fflush(file) &&
         !linkat(AT_FDCWD, pb_printf(arena, "/proc/self/fd/%d", fileno(file)), AT_FDCWD, name, AT_SYMLINK_FOLLOW);
}

pb_status pb_engine_write(const pb_engine* engine, const char* path, pb_diag* diag) {
  PB_TRY(check_all(engine, path, diag));
  pb_arena arena = {0};
  bool device = is_device(path);
  const char* part = device ? path : pb_printf(&arena, "%s.%ld.part", path, (long)getpid());
  if (!device) {
    pb_scratch_remove_parts(path);
    pb_scratch_file(part);
  }
  FILE* file = device ? NULL : open_nameless(path, &arena);
  bool nameless = file != NULL;
  errno = 0;
  if (!file) file = fopen(part, "wb");
  if (file && !device) (void)flock(fileno(file), LOCK_SH | LOCK_NB); // it lives
  bool failed = !file;
  if (file) {
    failed = !write_profiles(file, engine) || ferror(file) != 0;
    failed = failed || (nameless && !give_name(file, part, &arena));
    failed |= fclose(file) != 0;
    failed = failed || (!device && rename(part, path) != 0);
  }
  pb_status status = failed ? pb_system_error(diag, (pb_place){.file = path}, 5011, "cannot write the engine") : PB_OK;
  if (failed && file && !device) remove(part);
  if (!device) pb_scratch_forget(part);
  pb_arena_free(&arena);
  return status;
}

pb_status pb_engine_pack(const pb_engine* engine, pb_diag* diag, void** bytes, uint64_t* count) {
  PB_TRY(check_all(engine, engine->target, diag));
  char* data = NULL;
  size_t size = 0;
  FILE* file = open_memstream(&data, &size);
  bool good = file && write_profiles(file, engine);
  if (!file || fclose(file) || !good)
    return pb_system_error(diag, (pb_place){0}, 5011, "cannot keep the engine in memory");
  *bytes = data;
  *count = size;
  return PB_OK;
}
