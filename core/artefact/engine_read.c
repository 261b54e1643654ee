// File to engine. Nothing of the file is believed before it is checked: first sizes and checksums, then each number as
// it is read, then what pb__engine_check asks of every engine.
#include "core/artefact/format.h"
#include "pb/device.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct span {
  const uint8_t* bytes;
  uint64_t count;
} span;

typedef struct reader {
  const char* path;
  pb_diag* diag;
  span file, sections[PB_SECTION_COUNT];
} reader;

static pb_status refuse(const reader* r, int code, const char* text) {
  return pb_error(r->diag, (pb_place){.file = r->path}, code, NULL, "%s", text);
}

static pb_status map_file(reader* r, pb_engine* engine) {
  pb_place place = {.file = r->path};
  errno = 0;
  int fd = open(r->path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return pb_system_error(r->diag, place, 5001, "cannot open the engine");
  struct stat info;
  pb_status status = PB_OK;
  void* map = MAP_FAILED;
  if (fstat(fd, &info) != 0)
    status = pb_system_error(r->diag, place, 5001, "cannot read the engine");
  else if (!S_ISREG(info.st_mode))
    status = refuse(r, 5001, "not a file");
  else if (info.st_size < PB_HEADER_BYTES)
    status = refuse(r, 5002, "not an engine: too short for a header");
  else if ((map = mmap(NULL, (size_t)info.st_size, PROT_READ, MAP_PRIVATE, fd, 0)) == MAP_FAILED)
    status = pb_system_error(r->diag, place, 5001, "cannot map the engine");
  close(fd);
  if (status != PB_OK) return status;
  engine->mapping = map;
  engine->mapping_bytes = (uint64_t)info.st_size;
  r->file = (span){map, (uint64_t)info.st_size};
  return PB_OK;
}

static pb_status check_version(const reader* r) {
  uint64_t version = pb__get(r->file.bytes + 8, 4);
  if (version >= PB_ENGINE_VERSION && version <= PB_ENGINE_GRID_VERSION) return PB_OK;
  return pb_error(r->diag, (pb_place){.file = r->path}, 5003, "compile the model again",
                  "engine version %llu; this runtime reads %d to %d", (unsigned long long)version, PB_ENGINE_VERSION,
                  PB_ENGINE_GRID_VERSION);
}

// Of the header and the table behind it, which are so many bytes of the file: the sum was taken with its field 0.
static pb_status check_sum(const reader* r, uint64_t bytes) {
  static const uint8_t zero[8];
  const uint8_t* head = r->file.bytes;
  uint64_t crc = pb__crc64(pb__crc64(pb__crc64(0, head, 24), zero, 8), head + 32, bytes - 32);
  return crc == pb__get(head + 24, 8) ? PB_OK : refuse(r, 5005, "the header's checksum is wrong");
}

static pb_status check_header(const reader* r) {
  const uint8_t* head = r->file.bytes;
  uint64_t table_end = PB_HEADER_BYTES + PB_SECTION_BYTES * PB_SECTION_COUNT;
  if (memcmp(head, PB_ENGINE_MAGIC, 8))
    return refuse(r, 5002, "not an engine: it does not start with " PB_ENGINE_MAGIC);
  PB_TRY(check_version(r));
  if (pb__get(head + 12, 4) != PB_SECTION_COUNT) return refuse(r, 5004, "wrong number of sections");
  if (pb__get(head + 16, 8) != r->file.count || r->file.count < table_end)
    return pb_error(r->diag, (pb_place){.file = r->path}, 5004, "the file may have been cut off",
                    "the file has %llu bytes, its header says %llu", (unsigned long long)r->file.count,
                    (unsigned long long)pb__get(head + 16, 8));
  return check_sum(r, table_end);
}

static bool all_zero(const uint8_t* bytes, uint64_t count) {
  for (uint64_t k = 0; k < count; ++k)
    if (bytes[k]) return false;
  return true;
}

// The places of the sections follow from their sizes; no other place is taken, so they can neither overlap nor leave
// holes.
static pb_status check_sections(reader* r) {
  uint64_t at = PB_HEADER_BYTES + PB_SECTION_BYTES * PB_SECTION_COUNT;
  for (int s = 0; s < PB_SECTION_COUNT; ++s) {
    const uint8_t* row = r->file.bytes + PB_HEADER_BYTES + PB_SECTION_BYTES * s;
    uint64_t offset = pb__get(row + 8, 8), bytes = pb__get(row + 16, 8);
    if (pb__get(row, 8) != (uint64_t)s || offset != pb__align_up(at, pb__section_align(s)) || offset > r->file.count ||
        bytes > r->file.count - offset)
      return refuse(r, 5004, "a section is out of place");
    if (!all_zero(r->file.bytes + at, offset - at)) return refuse(r, 5005, "bytes between sections are not zero");
    r->sections[s] = (span){r->file.bytes + offset, bytes};
    if (pb__crc64(0, r->file.bytes + offset, bytes) != pb__get(row + 24, 8))
      return refuse(r, 5005, "a section's checksum is wrong");
    at = offset + bytes;
  }
  return at == r->file.count ? PB_OK : refuse(r, 5004, "bytes after the last section");
}

// A cursor over the program section. Past the end it reads zeros and is marked as broken.
typedef struct cursor {
  const uint8_t* at;
  uint64_t left;
  bool broken;
  pb_arena* arena;
} cursor;

static uint64_t get(cursor* c, int count) {
  if (c->left < (uint64_t)count) {
    c->broken = true;
    c->left = 0;
    return 0;
  }
  uint64_t value = pb__get(c->at, count);
  c->at += count;
  c->left -= (uint64_t)count;
  return value;
}

// A number that is kept one more: 0 is none.
static int get_or_none(cursor* c) { return (int)((int64_t)get(c, 4) - 1); }

// A number of things of which each takes at least `least` bytes, so that no more is allocated than the file can fill.
static int get_count(cursor* c, uint64_t least) {
  uint64_t count = get(c, 4);
  if (count <= c->left / least) return (int)count;
  c->broken = true;
  return 0;
}

static char* get_text(cursor* c) {
  uint64_t n = get(c, 4);
  if (n > c->left || memchr(c->at, 0, n)) {
    c->broken = true;
    return pb_strdup(c->arena, "");
  }
  char* text = pb_alloc(c->arena, n + 1);
  memcpy(text, c->at, n);
  c->at += n;
  c->left -= n;
  return text;
}

static pb_tensor_info* get_tensors(cursor* c, int* count) {
  *count = get_count(c, 6);
  pb_tensor_info* tensors = PB_NEW_ARRAY(c->arena, pb_tensor_info, (size_t)*count);
  for (int k = 0; k < *count; ++k) {
    pb_tensor_info* t = &tensors[k];
    t->name = get_text(c);
    t->type = (pb_type)get(c, 1);
    t->rank = (int)get(c, 1);
    t->is_complex = (t->rank & PB_ENGINE_COMPLEX) != 0;
    t->rank &= ~PB_ENGINE_COMPLEX;
    if (t->rank > PB_MAX_RANK) {
      c->broken = true;
      t->rank = 0;
    }
    for (int d = 0; d < t->rank; ++d) t->shape[d] = (int64_t)get(c, 8);
    if (t->type == PB_W64) t->most = (int64_t)get(c, 8);
  }
  return tensors;
}

static void get_launch(cursor* c, pb_grid_kernel* grid) {
  grid->module = (int)get(c, 4);
  grid->blocks = (uint32_t)get(c, 4);
  grid->threads = (uint32_t)get(c, 4);
  grid->memory = get(c, 8);
}

static void get_codes(cursor* c, pb_engine* engine) {
  engine->processor = get_text(c);
  engine->module_count = (int)get(c, 4);
  engine->grid_code_count = get_count(c, 13);
  engine->grid_codes = PB_NEW_ARRAY(c->arena, pb_grid_code, (size_t)engine->grid_code_count + 1);
  for (int k = 0; k < engine->grid_code_count; ++k) {
    engine->grid_codes[k].module = (int)get(c, 4);
    engine->grid_codes[k].form = (int)get(c, 1);
    engine->grid_codes[k].bytes = get(c, 8);
  }
}

static void get_kernel(cursor* c, pb_kernel* kernel) {
  kernel->name = get_text(c);
  uint64_t kind = get(c, 1);
  if (kind > 2) c->broken = true;
  kernel->is_words = kind == 1;
  kernel->is_grid = kind == 2;
  if (kernel->is_words) {
    pb_words_kernel* words = &kernel->words;
    words->queue_count = (int)get(c, 1);
    if (!words->queue_count) words->queue_count = (int)get(c, 2);
    words->count = PB_NEW_ARRAY(c->arena, uint32_t, (size_t)words->queue_count);
    words->streams = PB_NEW_ARRAY(c->arena, uint8_t*, (size_t)words->queue_count);
    for (int q = 0; q < words->queue_count; ++q) words->count[q] = (uint32_t)get(c, 4);
  } else {
    kernel->symbol = get_text(c);
    if (kernel->is_grid)
      get_launch(c, &kernel->grid);
    else
      kernel->alone = get(c, 1) != 0;
  }
  kernel->predicted_cycles = get(c, 8);
  kernel->bound = get_text(c);
}

static void get_step(cursor* c, pb_step* step) {
  step->op = (pb_host_op)get(c, 1);
  bool launch = step->op == PB_HOST_LAUNCH;
  step->kernel = step->target = -1;
  *(launch ? &step->kernel : &step->target) = (int)get(c, 4);
  step->origin = get_text(c);
  *(launch ? &step->macs : &step->bytes) = get(c, 8);
  step->arg_count = (int)get(c, 1);
  if (step->arg_count > PB_ENGINE_MAX_ARGS) {
    c->broken = true;
    step->arg_count = 0;
  }
  for (int a = 0; a < step->arg_count; ++a) {
    step->args[a].space = (pb_space)get(c, 1);
    step->args[a].value = get(c, 8);
  }
  if (step->op != PB_HOST_PLACE && step->op != PB_HOST_TAKE) return;
  uint64_t* const rows[] = {&step->rows.count, &step->rows.stride, &step->rows.unit, &step->rows.most};
  for (int k = 0; k < 4; ++k) *rows[k] = get(c, 8);
  step->rows.index = (pb_type)get(c, 1);
}

static void get_kept(cursor* c, pb_step* step) {
  step->kept_count = (int)get(c, 1);
  if (step->kept_count > PB_ENGINE_MAX_KEPT) {
    c->broken = true;
    step->kept_count = 0;
  }
  step->kept = PB_NEW_ARRAY(c->arena, pb_kept, (size_t)step->kept_count + 1);
  for (int n = 0; n < step->kept_count; ++n) {
    step->kept[n].memory = (int)get(c, 1);
    step->kept[n].address = get(c, 8);
    step->kept[n].bytes = get(c, 8);
  }
}

static void get_dims(cursor* c, int count, const pb_tensor_info* tensors, int (*dims)[PB_MAX_RANK]) {
  for (int k = 0; k < count; ++k)
    for (int d = 0; d < tensors[k].rank; ++d) dims[k][d] = (int)get(c, 4);
}

static void get_sizes(cursor* c, pb_open* o) {
  o->size_count = get_count(c, 17);
  o->sizes = PB_NEW_ARRAY(c->arena, pb_size, (size_t)o->size_count);
  for (int k = 0; k < o->size_count; ++k) {
    pb_size* s = &o->sizes[k];
    s->op = (int32_t)get(c, 1);
    s->a = (int32_t)get(c, 4);
    s->b = (int32_t)get(c, 4);
    s->number = (int64_t)get(c, 8);
  }
}

static void get_block(cursor* c, pb_open_block* block) {
  block->type = (pb_type)get(c, 1);
  block->count = get_count(c, 4);
  block->sizes = PB_NEW_ARRAY(c->arena, int, (size_t)block->count);
  for (int n = 0; n < block->count; ++n) block->sizes[n] = (int)get(c, 4);
}

static void get_source(cursor* c, pb_open_source* source) {
  source->count = (int)get(c, 1);
  if (source->count > PB_SOURCE_EXTENTS) {
    c->broken = true;
    source->count = 0;
  }
  for (int n = 0; n < source->count; ++n) source->symbol[n] = get_or_none(c);
}

static pb_open* get_open(cursor* c, const pb_engine* engine, bool sources) {
  pb_open* o = PB_NEW(c->arena, pb_open);
  o->symbol_count = get_count(c, 4);
  o->symbols = PB_NEW_ARRAY(c->arena, const char*, (size_t)o->symbol_count);
  for (int k = 0; k < o->symbol_count; ++k) o->symbols[k] = get_text(c);
  get_sizes(c, o);
  o->inputs = pb_alloc_array(c->arena, (size_t)engine->input_count + 1, sizeof *o->inputs);
  o->outputs = pb_alloc_array(c->arena, (size_t)engine->output_count + 1, sizeof *o->outputs);
  get_dims(c, engine->input_count, engine->inputs, o->inputs);
  get_dims(c, engine->output_count, engine->outputs, o->outputs);
  o->check_count = get_count(c, 13);
  o->checks = PB_NEW_ARRAY(c->arena, pb_open_check, (size_t)o->check_count);
  for (int k = 0; k < o->check_count; ++k) {
    o->checks[k].equal = get(c, 1) != 0;
    o->checks[k].a = (int)get(c, 4);
    o->checks[k].b = (int)get(c, 4);
    o->checks[k].text = get_text(c);
  }
  o->block_count = get_count(c, 5);
  o->blocks = PB_NEW_ARRAY(c->arena, pb_open_block, (size_t)o->block_count);
  for (int k = 0; k < o->block_count; ++k) get_block(c, &o->blocks[k]);
  o->buffer_count = get_count(c, 12);
  o->buffers = PB_NEW_ARRAY(c->arena, pb_open_buffer, (size_t)o->buffer_count);
  for (int k = 0; k < o->buffer_count; ++k) {
    o->buffers[k].bytes = (int)get(c, 4);
    o->buffers[k].first = (int)get(c, 4);
    o->buffers[k].last = (int)get(c, 4);
  }
  if (sources) o->source_count = get_count(c, 1);
  o->sources = PB_NEW_ARRAY(c->arena, pb_open_source, (size_t)o->source_count + 1);
  for (int k = 0; k < o->source_count; ++k) get_source(c, &o->sources[k]);
  return o;
}

static pb_status program_get(const reader* r, pb_engine* engine) {
  span section = r->sections[PB_SECTION_PROGRAM];
  cursor c = {.at = section.bytes, .left = section.count, .arena = &engine->arena};
  engine->target = get_text(&c);
  for (size_t k = 0; k < sizeof engine->chip_hash; ++k) engine->chip_hash[k] = (uint8_t)get(&c, 1);
  engine->chip_revision = (int)get(&c, 4);
  engine->command_bytes = (int)get(&c, 4);
  engine->features = get_text(&c);
  engine->arena_bytes = get(&c, 8);
  engine->inputs = get_tensors(&c, &engine->input_count);
  engine->outputs = get_tensors(&c, &engine->output_count);
  engine->kernel_count = get_count(&c, 18);
  engine->kernels = PB_NEW_ARRAY(c.arena, pb_kernel, (size_t)engine->kernel_count);
  for (int k = 0; k < engine->kernel_count; ++k) get_kernel(&c, &engine->kernels[k]);
  engine->step_count = get_count(&c, 18);
  engine->steps = PB_NEW_ARRAY(c.arena, pb_step, (size_t)engine->step_count);
  for (int k = 0; k < engine->step_count; ++k) get_step(&c, &engine->steps[k]);
  uint64_t version = pb__get(r->file.bytes + 8, 4);
  bool host = version == PB_ENGINE_HOST_VERSION, grid = version == PB_ENGINE_GRID_VERSION;
  uint64_t flags = host || grid ? get(&c, 1) : 0, open = flags & 1;
  if (flags > 15 || (flags & 5) == 4) return refuse(r, 5006, "the program has parts that are not known");
  if (flags & 2) engine->aliases = PB_NEW_ARRAY(c.arena, int, (size_t)engine->output_count + 1);
  for (int k = 0; engine->aliases && k < engine->output_count; ++k) engine->aliases[k] = get_or_none(&c);
  if (open) engine->open = get_open(&c, engine, flags & 4);
  for (int k = 0; flags & 8 && k < engine->step_count; ++k) get_kept(&c, &engine->steps[k]);
  if (grid) get_codes(&c, engine);
  if (!c.broken && (grid != pb_engine_has_grid(engine) || (!grid && host != (flags || pb_engine_has_control(engine)))))
    return refuse(r, 5006, "a program of another version than the header's");
  if (c.broken) return refuse(r, 5006, "the program section ends too soon");
  return c.left ? refuse(r, 5006, "bytes after the program") : PB_OK;
}

// Modules of a grid, which has no streams.
static pb_status take_codes(const reader* r, span rest, pb_engine* engine) {
  for (int k = 0; k < engine->grid_code_count; ++k) {
    pb_grid_code* code = &engine->grid_codes[k];
    uint64_t bytes = code->bytes > rest.count ? UINT64_MAX : pb__align_up(code->bytes, PB_ENGINE_ALIGN);
    if (bytes > rest.count) return refuse(r, 5006, "the code ends too soon");
    code->data = (uint8_t*)(uintptr_t)rest.bytes;
    if (code->form == PB_DEVICE_PTX && (!code->bytes || code->data[code->bytes - 1]))
      return refuse(r, 5006, "a module that is no text");
    if (!all_zero(rest.bytes + code->bytes, bytes - code->bytes))
      return refuse(r, 5005, "bytes between modules are not zero");
    rest = (span){rest.bytes + bytes, rest.count - bytes};
  }
  return rest.count ? refuse(r, 5006, "bytes after the last command") : PB_OK;
}

static pb_status take_streams(const reader* r, pb_engine* engine) {
  span rest = r->sections[PB_SECTION_STREAMS];
  for (int k = 0; k < engine->kernel_count; ++k) {
    pb_words_kernel* words = &engine->kernels[k].words;
    for (int q = 0; engine->kernels[k].is_words && q < words->queue_count; ++q) {
      uint64_t bytes = (uint64_t)words->count[q] * (uint64_t)engine->command_bytes;
      if (bytes > rest.count) return refuse(r, 5006, "the commands end too soon");
      words->streams[q] = (uint8_t*)(uintptr_t)rest.bytes;
      rest = (span){rest.bytes + bytes, rest.count - bytes};
    }
  }
  return take_codes(r, rest, engine);
}

static pb_status take_blobs(const reader* r, pb_engine* engine) {
  span text = r->sections[PB_SECTION_DESCRIPTION], native = r->sections[PB_SECTION_NATIVE],
       consts = r->sections[PB_SECTION_CONSTS];
  if (text.count && memchr(text.bytes, 0, text.count) != text.bytes + text.count - 1)
    return refuse(r, 5006, "the description is not a text");
  engine->description = text.count ? (char*)(uintptr_t)text.bytes : NULL;
  engine->native = native.count ? (uint8_t*)(uintptr_t)native.bytes : NULL;
  engine->native_bytes = native.count;
  if (engine->shares && consts.count) return refuse(r, 5006, "a profile with constants of its own");
  if (engine->shares) return PB_OK; // they are the first one's
  engine->consts = (uint8_t*)(uintptr_t)consts.bytes;
  engine->const_bytes = consts.count;
  return PB_OK;
}

static pb_status copy_bytes(reader* r, const void* bytes, uint64_t count, pb_engine* engine) {
  if (count < PB_HEADER_BYTES) return refuse(r, 5002, "not an engine: too short for a header");
  void* map = mmap(NULL, count, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (map == MAP_FAILED) return pb_system_error(r->diag, (pb_place){.file = r->path}, 5001, "cannot keep the engine");
  memcpy(map, bytes, count);
  engine->mapping = map;
  engine->mapping_bytes = count;
  r->file = (span){map, count};
  return PB_OK;
}

static pb_status read_one(reader* r, pb_engine* engine) {
  if (r->file.count < PB_HEADER_BYTES) return refuse(r, 5002, "not an engine: too short for a header");
  PB_TRY(check_header(r));
  PB_TRY(check_sections(r));
  PB_TRY(program_get(r, engine));
  PB_TRY(take_blobs(r, engine));
  PB_TRY(pb__engine_check(engine, r->path, 5007, r->diag));
  return take_streams(r, engine);
}

static pb_engine* new_engine(void) {
  pb_engine* engine = calloc(1, sizeof *engine);
  if (!engine) pb_no_memory(sizeof *engine);
  return engine;
}

static pb_status check_profiles_header(const reader* r, uint64_t* count) {
  const uint8_t* head = r->file.bytes;
  *count = pb__get(head + 12, 4);
  uint64_t table = PB_HEADER_BYTES + PB_SECTION_BYTES * *count;
  PB_TRY(check_version(r));
  if (*count < 2 || *count > PB_ENGINE_MAX_PROFILES) return refuse(r, 5004, "wrong number of profiles");
  if (pb__get(head + 16, 8) != r->file.count || r->file.count < table)
    return refuse(r, 5004, "the file is not as long as its header says");
  PB_TRY(check_sum(r, table));
  return all_zero(head + 32, PB_HEADER_BYTES - 32) ? PB_OK : refuse(r, 5005, "the header's end is not zero");
}

// Each engine is checked as if it were alone, then all against each other.
static pb_status read_profiles(const reader* r, pb_engine* first) {
  uint64_t count;
  PB_TRY(check_profiles_header(r, &count));
  uint64_t at = PB_HEADER_BYTES + PB_SECTION_BYTES * count;
  pb_engine* last = first;
  for (uint64_t k = 0; k < count; ++k) {
    const uint8_t* row = r->file.bytes + PB_HEADER_BYTES + PB_SECTION_BYTES * k;
    uint64_t offset = pb__get(row + 8, 8), bytes = pb__get(row + 16, 8);
    if (pb__get(row, 8) != k || pb__get(row + 24, 8) || offset != pb__align_up(at, PB_PAGE) || offset > r->file.count ||
        bytes > r->file.count - offset)
      return refuse(r, 5004, "a profile is out of place");
    if (!all_zero(r->file.bytes + at, offset - at)) return refuse(r, 5005, "bytes between profiles are not zero");
    reader one = {.path = r->path, .diag = r->diag, .file = {r->file.bytes + offset, bytes}};
    if (k) last = last->next = new_engine();
    last->shares = k > 0;
    last->consts = first->consts;
    last->const_bytes = first->const_bytes;
    PB_TRY(read_one(&one, last));
    at = offset + bytes;
  }
  if (at != r->file.count) return refuse(r, 5004, "bytes after the last profile");
  return pb__profiles_check(first, r->path, 5007, r->diag);
}

static pb_status read_into(reader* r, const void* bytes, uint64_t count, pb_engine* engine) {
  PB_TRY(bytes ? copy_bytes(r, bytes, count, engine) : map_file(r, engine));
  return memcmp(r->file.bytes, PB_PROFILES_MAGIC, 8) ? read_one(r, engine) : read_profiles(r, engine);
}

static pb_status make(const char* path, const void* bytes, uint64_t count, pb_diag* diag, pb_engine** engine) {
  reader r = {.path = path, .diag = diag};
  *engine = new_engine();
  pb_status status = read_into(&r, bytes, count, *engine);
  if (status == PB_OK) return PB_OK;
  pb_engine_free(*engine);
  *engine = NULL;
  return status;
}

pb_status pb_engine_read(const char* path, pb_diag* diag, pb_engine** engine) {
  return make(path, NULL, 0, diag, engine);
}

pb_status pb_engine_parse(const void* bytes, uint64_t count, const char* name, pb_diag* diag, pb_engine** engine) {
  return make(name, bytes, count, diag, engine);
}

void pb_engine_free(pb_engine* engine) {
  while (engine) {
    pb_engine* next = engine->next;
    if (engine->mapping) munmap(engine->mapping, engine->mapping_bytes);
    pb_arena arena = engine->arena;
    pb_arena_free(&arena);
    free(engine);
    engine = next;
  }
}
