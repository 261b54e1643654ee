// Eight bytes that say how long the head is, a head in JSON, the data:
//   {"__metadata__": {"any": "text"}, "NAME": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}, ...}
// The format's own rules are held: no name twice, nothing between the data or behind them.
#include "core/frontend/safetensors.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_HEAD = 100000000 };

typedef struct reader {
  const char *at, *end, *start;
  const char* path;
  pb_diag* diag;
  pb_safetensors* out;
  size_t capacity, data_bytes;
  struct span* spans; // by tensor
  size_t span_count, span_capacity;
} reader;

typedef struct span {
  uint64_t from, to;
} span;

typedef struct entry { // of the head
  bool has_type, has_shape, has_offsets;
  pb_type type;
  int rank;
  int64_t shape[PB_GRAPH_RANK];
  uint64_t from, to;
} entry;

static pb_status refuse(reader* r, const char* what, const char* why) {
  return pb_error(r->diag, (pb_place){.file = r->path, .what = what}, 2025, NULL, "%s", why);
}

static pb_status broken(reader* r) {
  return pb_error(r->diag, (pb_place){.file = r->path}, 2025, "a file that safetensors wrote",
                  "its head is not as the format has it, from byte %lld on", (long long)(r->at - r->start));
}

// ---- JSON, as far as the format uses it ----

static bool take(reader* r, char c) {
  while (r->at < r->end && (*r->at == ' ' || *r->at == '\n' || *r->at == '\t' || *r->at == '\r')) ++r->at;
  if (r->at == r->end || *r->at != c) return false;
  ++r->at;
  return true;
}

static bool take_hex(reader* r, uint32_t* code) {
  *code = 0;
  if (r->end - r->at < 4) return false;
  for (int k = 0; k < 4; ++k, ++r->at) {
    static const char digits[] = "0123456789abcdef";
    const char* digit = *r->at >= '0' ? strchr(digits, *r->at | 0x20) : NULL;
    if (!digit || !*digit) return false;
    *code = *code << 4 | (uint32_t)(digit - digits);
  }
  return true;
}

// A letter behind a backslash, as UTF-8; returns how many bytes that is, 0: there is no such.
static int take_escape(reader* r, char* to) {
  static const char from[] = "\"\\/bfnrt", is[] = "\"\\/\b\f\n\r\t";
  uint32_t code, low;
  if (r->at == r->end) return 0;
  const char letter = *r->at++, *known = strchr(from, letter);
  if (letter && known) {
    *to = is[known - from];
    return 1;
  }
  if (letter != 'u' || !take_hex(r, &code) || !code) return 0;
  if (code >= 0xd800 && code < 0xe000) { // half of a pair
    if (code >= 0xdc00 || r->end - r->at < 2 || r->at[0] != '\\' || r->at[1] != 'u') return 0;
    r->at += 2;
    if (!take_hex(r, &low) || low < 0xdc00 || low > 0xdfff) return 0;
    code = 0x10000 + ((code - 0xd800) << 10 | (low - 0xdc00));
  }
  int more = code < 0x80 ? 0 : code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
  static const uint32_t first[] = {0, 0xc0, 0xe0, 0xf0};
  to[0] = (char)(first[more] | code >> 6 * more);
  for (int k = 1; k <= more; ++k) to[k] = (char)(0x80 | (code >> 6 * (more - k) & 0x3f));
  return more + 1;
}

static bool take_string(reader* r, const char** text) {
  if (!take(r, '"')) return false;
  const char* end = memchr(r->at, '"', (size_t)(r->end - r->at));
  while (end && end[-1] == '\\') end = memchr(end + 1, '"', (size_t)(r->end - end - 1)); // at most this far
  char* made = pb_alloc(&r->out->arena, (size_t)((end ? end : r->end) - r->at) + 4);
  size_t length = 0;
  *text = made;
  while (r->at < r->end && *r->at != '"') {
    char c = *r->at++;
    int more = 1;
    if ((unsigned char)c < ' ') return false; // a NUL too
    if (c == '\\')
      more = take_escape(r, made + length);
    else
      made[length] = c;
    if (!more) return false;
    length += (size_t)more;
  }
  return take(r, '"');
}

static bool take_number(reader* r, uint64_t* value) {
  while (r->at < r->end && (*r->at == ' ' || *r->at == '\n')) ++r->at;
  const char* first = r->at;
  *value = 0;
  for (; r->at < r->end && *r->at >= '0' && *r->at <= '9'; ++r->at) {
    if (*value > (uint64_t)INT64_MAX / 10 - 1) return false;
    *value = *value * 10 + (uint64_t)(*r->at - '0');
  }
  return r->at > first;
}

// ---- a tensor ----

static bool take_type(reader* r, entry* e, const char** unknown) {
  static const struct {
    const char* name;
    pb_type type;
  } types[] = {{"BOOL", PB_I1}, {"U8", PB_U8},     {"I8", PB_I8},   {"I16", PB_I16},  {"U16", PB_UI16},
               {"F16", PB_F16}, {"BF16", PB_BF16}, {"I32", PB_I32}, {"U32", PB_UI32}, {"F32", PB_F32},
               {"F64", PB_F64}, {"I64", PB_I64},   {"U64", PB_UI64}};
  const char* name;
  if (e->has_type || !take_string(r, &name)) return false;
  e->has_type = true;
  for (size_t k = 0; k < sizeof types / sizeof *types; ++k)
    if (!strcmp(types[k].name, name)) {
      e->type = types[k].type;
      return true;
    }
  *unknown = name;
  return true;
}

static bool take_shape(reader* r, entry* e) {
  uint64_t extent;
  if (e->has_shape || !take(r, '[')) return false;
  e->has_shape = true;
  if (take(r, ']')) return true;
  do {
    if (!take_number(r, &extent)) return false;
    if (e->rank < PB_GRAPH_RANK) e->shape[e->rank] = (int64_t)extent;
    if (e->rank <= PB_GRAPH_RANK) ++e->rank; // one more: too many
  } while (take(r, ','));
  return take(r, ']');
}

static bool take_offsets(reader* r, entry* e) {
  if (e->has_offsets) return false;
  e->has_offsets = true;
  return take(r, '[') && take_number(r, &e->from) && take(r, ',') && take_number(r, &e->to) && take(r, ']');
}

static pb_status add(reader* r, const char* name, const entry* e) {
  uint64_t bytes = ((uint64_t)pb_type_bits(e->type) + 7) / 8, size = bytes;
  pb_bound tensor = {.name = name, .type = e->type, .rank = e->rank};
  if (e->rank > PB_GRAPH_RANK) return refuse(r, name, "a tensor of more than 8 dims");
  for (int d = 0; d < e->rank; ++d) {
    tensor.shape[d] = e->shape[d];
    if (!e->shape[d]) return refuse(r, name, "a tensor without elements");
    if ((uint64_t)e->shape[d] > (uint64_t)PB_MAX_ELEMENTS * size / bytes)
      return refuse(r, name, "a tensor of more than 2^31 - 1 elements");
    bytes *= (uint64_t)e->shape[d];
  }
  if (e->from > e->to || e->to > r->data_bytes || e->to - e->from != bytes)
    return refuse(r, name, "a tensor whose data are not as long as its shape says, or not in the file");
  const uint8_t* data = (const uint8_t*)r->end + e->from;
  for (uint64_t k = 0; e->type == PB_I1 && k < bytes; ++k)
    if (data[k] > 1) return refuse(r, name, "a truth that is neither 0 nor 1");
  tensor.data = data;
  if ((uintptr_t)data % size) tensor.data = memcpy(pb_alloc(&r->out->arena, bytes), data, bytes);
  size_t count = (size_t)r->out->count;
  PB_PUSH(r->out->tensors, count, r->capacity, tensor);
  PB_PUSH(r->spans, r->span_count, r->span_capacity, ((span){e->from, e->to}));
  r->out->count = (int)count;
  return PB_OK;
}

static pb_status take_tensor(reader* r, const char* name) {
  entry e = {.type = PB_TYPE_COUNT};
  const char *key, *unknown = NULL;
  if (!take(r, '{')) return broken(r);
  do {
    if (!take_string(r, &key) || !take(r, ':')) return broken(r);
    bool good = !strcmp(key, "dtype")          ? take_type(r, &e, &unknown)
                : !strcmp(key, "shape")        ? take_shape(r, &e)
                : !strcmp(key, "data_offsets") ? take_offsets(r, &e)
                                               : false;
    if (!good) return broken(r);
  } while (take(r, ','));
  if (!take(r, '}') || !e.has_type || !e.has_shape || !e.has_offsets) return broken(r);
  if (unknown)
    return pb_unsupported(r->diag, (pb_place){.file = r->path, .what = name}, 2025,
                          "BOOL, U8, I8, I16, U16, F16, BF16, I32, U32, F32, F64, I64, U64", "elements of type %s",
                          unknown);
  return add(r, name, &e);
}

static bool take_metadata(reader* r) {
  const char* text;
  if (!take(r, '{')) return false;
  if (take(r, '}')) return true;
  do {
    if (!take_string(r, &text) || !take(r, ':') || !take_string(r, &text)) return false;
  } while (take(r, ','));
  return take(r, '}');
}

// ---- the file ----

static int by_name(const void* a, const void* b) {
  return strcmp(((const pb_bound*)a)->name, ((const pb_bound*)b)->name);
}

static int by_place(const void* a, const void* b) {
  uint64_t x = ((const span*)a)->from, y = ((const span*)b)->from;
  return (x > y) - (x < y);
}

static pb_status check_places(reader* r) {
  uint64_t at = 0;
  if (r->span_count) qsort(r->spans, r->span_count, sizeof *r->spans, by_place);
  for (size_t k = 0; k < r->span_count && r->spans[k].from == at; ++k) at = r->spans[k].to;
  return at == r->data_bytes ? PB_OK : refuse(r, NULL, "its tensors' data do not lie one behind the other to its end");
}

static pb_status take_head(reader* r) {
  const char* name;
  bool metadata = false;
  if (!take(r, '{')) return broken(r);
  if (!take(r, '}')) {
    do {
      if (!take_string(r, &name) || !take(r, ':')) return broken(r);
      if (strcmp(name, "__metadata__"))
        PB_TRY(take_tensor(r, name));
      else if (metadata || !take_metadata(r))
        return broken(r);
      else
        metadata = true;
    } while (take(r, ','));
    if (!take(r, '}')) return broken(r);
  }
  while (r->at < r->end && *r->at == ' ') ++r->at; // the padding
  if (r->at != r->end) return broken(r);
  if (r->out->count) qsort(r->out->tensors, (size_t)r->out->count, sizeof *r->out->tensors, by_name);
  for (int k = 1; k < r->out->count; ++k)
    if (!strcmp(r->out->tensors[k - 1].name, r->out->tensors[k].name))
      return refuse(r, r->out->tensors[k].name, "two tensors of this name");
  return check_places(r);
}

pb_status pb_safetensors_parse(const void* bytes, size_t count, const char* path, pb_diag* diag, pb_safetensors* out) {
  const uint8_t* head = bytes;
  uint64_t length = 0;
  reader r = {.path = path, .diag = diag, .out = out};
  for (int k = 0; k < 8 && (size_t)k < count; ++k) length |= (uint64_t)head[k] << 8 * k;
  if (count < 8 || length > MOST_HEAD || length > count - 8)
    return pb_error(diag, (pb_place){.file = path}, 2025, "a file that safetensors wrote",
                    "this is no safetensors file, or it is cut short");
  r.at = r.start = (const char*)head + 8;
  r.end = r.at + length;
  r.data_bytes = count - 8 - (size_t)length;
  pb_status status = take_head(&r);
  free(r.spans);
  return status;
}

pb_status pb_safetensors_read(const char* path, pb_diag* diag, pb_safetensors* out) {
  int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  struct stat st;
  if (fd < 0) return pb_system_error(diag, (pb_place){.file = path}, 1001, "cannot be read");
  if (fstat(fd, &st) || !S_ISREG(st.st_mode) || st.st_size == 0) {
    close(fd);
    return pb_error(diag, (pb_place){.file = path}, 2025, NULL,
                    "this is no safetensors file: no file, or an empty one");
  }
  void* data = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
  close(fd);
  if (data == MAP_FAILED) return pb_system_error(diag, (pb_place){.file = path}, 1001, "cannot be mapped");
  out->mapping = data;
  out->bytes = (size_t)st.st_size;
  return pb_safetensors_parse(data, out->bytes, path, diag, out);
}

void pb_safetensors_free(pb_safetensors* file) {
  if (file->mapping) munmap(file->mapping, file->bytes);
  free(file->tensors);
  pb_arena_free(&file->arena);
  *file = (pb_safetensors){0};
}
