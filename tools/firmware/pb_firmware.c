// The engine's layout is that of core/artefact/format.h in the SDK's sources; all numbers are little-endian.
#include "pb_firmware.h"

#include <string.h>

enum {
  VERSION = 2,
  VERSION_OF_MORE = 3, // behind the steps it says what more there is: here tensors that stay on the chip alone
  KEEPS = 8,
  SECTIONS = 5, // program, description, streams, native, constants
  PROGRAM = 0,
  STREAMS = 2,
  CONSTS = 4,
  HEADER = 64,
  ROW = 32,
  ALIGN = 64,
  U8 = 10,
  TYPES = 15,
  CHUNK = 64
};

// What an argument lies in.
enum { INPUT, OUTPUT, CONSTANTS, ARENA, APART = 5 };

// By the number of a tensor's type.
static const uint8_t element_bytes[TYPES] = {1, 1, 2, 4, 8, 2, 2, 4, 8, 8, 1, 1, 2, 4, 8};

static uint64_t number(const uint8_t* at, int bytes) {
  uint64_t value = 0;
  for (int k = 0; k < bytes; ++k) value |= (uint64_t)at[k] << 8 * k;
  return value;
}

static uint64_t up(uint64_t bytes) { return (bytes + ALIGN - 1) / ALIGN * ALIGN; }

// CRC-64 of ECMA-182, reflected, four bits at a step.
static void make_table(uint64_t* table) {
  for (unsigned n = 0; n < 16; ++n) {
    table[n] = n;
    for (int bit = 0; bit < 4; ++bit) table[n] = table[n] & 1 ? table[n] >> 1 ^ 0xc96c5795d7870f42u : table[n] >> 1;
  }
}

static uint64_t add_bytes(const uint64_t* table, uint64_t crc, const uint8_t* at, uint64_t bytes) {
  for (; bytes; --bytes, ++at) {
    crc = crc >> 4 ^ table[(crc ^ *at) & 15];
    crc = crc >> 4 ^ table[(crc ^ (*at >> 4)) & 15];
  }
  return crc;
}

static int header_is_right(const uint8_t* image, const uint64_t* table) {
  static const uint8_t zeros[8];
  uint64_t crc = add_bytes(table, ~(uint64_t)0, image, 24);
  crc = add_bytes(table, crc, zeros, 8); // its own place
  return ~add_bytes(table, crc, image + 32, HEADER - 32 + ROW * SECTIONS) == number(image + 24, 8);
}

// A reader of the program section. Past the end it gives zeros and is broken.
typedef struct cursor {
  const uint8_t* image;
  uint64_t at, end;
  int broken;
} cursor;

static uint64_t get(cursor* c, int bytes) {
  if (c->broken || c->end - c->at < (uint64_t)bytes) {
    c->broken = 1;
    return 0;
  }
  c->at += (uint64_t)bytes;
  return number(c->image + c->at - bytes, bytes);
}

static void skip(cursor* c, uint64_t bytes) {
  if (c->broken || c->end - c->at < bytes)
    c->broken = 1;
  else
    c->at += bytes;
}

static void skip_text(cursor* c) { skip(c, get(c, 4)); }

static cursor open_at(const pb_firmware* f, uint64_t at) { return (cursor){f->image, at, f->program_end, 0}; }

static void get_tensor(cursor* c, pb_firmware_tensor* t) {
  t->name_length = (uint32_t)get(c, 4);
  t->name = (const char*)c->image + c->at;
  skip(c, t->name_length);
  uint64_t type = get(c, 1);
  t->rank = (uint8_t)(get(c, 1) & 0x7f); /* the highest bit: pairs are complex numbers */
  if (type >= TYPES || t->rank > 8) {
    c->broken = 1;
    t->rank = 0;
    type = 0;
  }
  t->is_unsigned = type == U8;
  t->element_bytes = element_bytes[type];
  t->bytes = t->element_bytes;
  for (int d = 0; d < t->rank; ++d) {
    t->shape[d] = (int64_t)get(c, 8);
    t->bytes *= (uint64_t)t->shape[d];
  }
}

typedef struct kernel {
  int is_words, queues;
  uint32_t count[PB_DEVICE_MAX_QUEUES];
} kernel;

static void get_kernel(cursor* c, kernel* k) {
  skip_text(c);
  k->is_words = get(c, 1) != 0;
  k->queues = 0;
  if (k->is_words) {
    k->queues = (int)get(c, 1);
    if (!k->queues || k->queues > PB_DEVICE_MAX_QUEUES) c->broken = 1, k->queues = 0;
    for (int q = 0; q < k->queues; ++q) k->count[q] = (uint32_t)get(c, 4);
  } else {
    skip_text(c);
    skip(c, 1);
  }
  skip(c, 8);
  skip_text(c);
}

typedef struct step {
  uint32_t kernel, arg_count;
  uint8_t space[PB_DEVICE_MAX_ARGS];
  uint64_t value[PB_DEVICE_MAX_ARGS];
} step;

static void get_step(cursor* c, step* s) {
  if (get(c, 1)) c->broken = 1; // no launch
  s->kernel = (uint32_t)get(c, 4);
  skip_text(c);
  skip(c, 8);
  s->arg_count = (uint32_t)get(c, 1);
  if (s->arg_count > PB_DEVICE_MAX_ARGS) c->broken = 1, s->arg_count = 0;
  for (uint32_t a = 0; a < s->arg_count; ++a) {
    s->space[a] = (uint8_t)get(c, 1);
    s->value[a] = get(c, 8);
  }
}

// What stays on the chip while a step runs.
static void get_kept(cursor* c, pb_submission* job) {
  uint32_t count = (uint32_t)get(c, 1);
  if (count > PB_DEVICE_MAX_KEPT) c->broken = 1, count = 0;
  job->kept_count = count;
  for (uint32_t k = 0; k < count; ++k) {
    job->kept[k].memory = (uint32_t)get(c, 1);
    job->kept[k].address = get(c, 8);
    job->kept[k].bytes = get(c, 8);
  }
}

// Reads the program once: where its lists begin, and that they end where they should.
static pb_firmware_code read_program(pb_firmware* f, uint64_t program, uint64_t stream_bytes) {
  cursor c = open_at(f, program);
  pb_firmware_tensor tensor;
  kernel k;
  step s;
  pb_submission kept;
  uint64_t commands = 0;
  skip_text(&c); // target
  skip(&c, 32 + 4);
  f->command_bytes = (uint32_t)get(&c, 4);
  skip_text(&c); // features
  f->arena_bytes = get(&c, 8);
  f->input_count = (uint32_t)get(&c, 4);
  f->inputs = c.at;
  for (uint32_t n = 0; n < f->input_count && !c.broken; ++n) get_tensor(&c, &tensor);
  f->output_count = (uint32_t)get(&c, 4);
  f->outputs = c.at;
  for (uint32_t n = 0; n < f->output_count && !c.broken; ++n) get_tensor(&c, &tensor);
  f->kernel_count = (uint32_t)get(&c, 4);
  f->kernels = c.at;
  for (uint32_t n = 0; n < f->kernel_count && !c.broken; ++n) {
    get_kernel(&c, &k);
    if (!c.broken && !k.is_words) return PB_FIRMWARE_NATIVE;
    for (int q = 0; q < k.queues; ++q) commands += k.count[q];
  }
  f->step_count = (uint32_t)get(&c, 4);
  f->steps = c.at;
  for (uint32_t n = 0; n < f->step_count && !c.broken; ++n) {
    get_step(&c, &s);
    if (s.kernel >= f->kernel_count) c.broken = 1;
    for (uint32_t a = 0; a < s.arg_count && !c.broken; ++a) {
      if (s.space[a] > ARENA && (s.space[a] < APART || s.space[a] >= APART + PB_FIRMWARE_APART)) c.broken = 1;
      for (int m = 0; m < PB_FIRMWARE_APART && s.space[a] >= APART + m; ++m) // all that begin in front of it
        if (s.value[a] < f->apart[m]) f->apart[m] = s.value[a];
    }
  }
  if (number(f->image + 8, 4) == VERSION_OF_MORE) {
    if (get(&c, 1) != KEEPS) return c.broken ? PB_FIRMWARE_DAMAGED : PB_FIRMWARE_NO_ENGINE;
    f->kept = c.at;
    for (uint32_t n = 0; n < f->step_count && !c.broken; ++n) get_kept(&c, &kept);
  }
  return c.broken || c.at != c.end || commands * f->command_bytes != stream_bytes ? PB_FIRMWARE_DAMAGED
                                                                                  : PB_FIRMWARE_OK;
}

pb_firmware_code pb_firmware_open(pb_firmware* f, const void* image, uint64_t bytes) {
  const uint8_t* at = image;
  uint64_t table[16], offset[SECTIONS], size[SECTIONS], end = HEADER + ROW * SECTIONS;
  *f = (pb_firmware){.image = at};
  static const char magic[] = "PBENGINE";
  if (bytes < HEADER + ROW * SECTIONS) return PB_FIRMWARE_NO_ENGINE;
  for (int k = 0; k < 8; ++k)
    if (at[k] != (uint8_t)magic[k]) return PB_FIRMWARE_NO_ENGINE;
  uint64_t version = number(at + 8, 4);
  if ((version != VERSION && version != VERSION_OF_MORE) || number(at + 12, 4) != SECTIONS)
    return PB_FIRMWARE_NO_ENGINE;
  make_table(table);
  if (number(at + 16, 8) != bytes || !header_is_right(at, table)) return PB_FIRMWARE_DAMAGED;
  for (int s = 0; s < SECTIONS; ++s) {
    const uint8_t* row = at + HEADER + ROW * s;
    offset[s] = number(row + 8, 8);
    size[s] = number(row + 16, 8);
    if (offset[s] < end || offset[s] > bytes || size[s] > bytes - offset[s]) return PB_FIRMWARE_DAMAGED;
    for (; end < offset[s]; ++end)
      if (at[end]) return PB_FIRMWARE_DAMAGED; // the gaps between sections are zeros
    end = offset[s] + size[s];
    if (~add_bytes(table, ~(uint64_t)0, at + offset[s], size[s]) != number(row + 24, 8)) return PB_FIRMWARE_DAMAGED;
  }
  if (end != bytes) return PB_FIRMWARE_DAMAGED;
  f->program_end = offset[PROGRAM] + size[PROGRAM];
  f->streams = offset[STREAMS];
  f->consts = offset[CONSTS];
  f->const_bytes = size[CONSTS];
  for (int m = 0; m <= PB_FIRMWARE_APART; ++m) f->apart[m] = f->const_bytes;
  return read_program(f, offset[PROGRAM], size[STREAMS]);
}

static pb_firmware_code tensor_at(const pb_firmware* f, uint64_t list, uint32_t count, uint32_t index,
                                  pb_firmware_tensor* tensor) {
  cursor c = open_at(f, list);
  if (index >= count) return PB_FIRMWARE_NO_TENSOR;
  for (uint32_t k = 0; k <= index; ++k) get_tensor(&c, tensor);
  return PB_FIRMWARE_OK;
}

pb_firmware_code pb_firmware_input(const pb_firmware* f, uint32_t index, pb_firmware_tensor* tensor) {
  return tensor_at(f, f->inputs, f->input_count, index, tensor);
}

pb_firmware_code pb_firmware_output(const pb_firmware* f, uint32_t index, pb_firmware_tensor* tensor) {
  return tensor_at(f, f->outputs, f->output_count, index, tensor);
}

// Where an input or output lies behind the first one: all inputs, then all outputs.
static uint64_t tensor_offset(const pb_firmware* f, int output, uint64_t index) {
  uint64_t offset = 0;
  pb_firmware_tensor tensor;
  cursor c = open_at(f, f->inputs);
  for (uint32_t k = 0; k < (output ? f->input_count : index); ++k) {
    get_tensor(&c, &tensor);
    offset += up(tensor.bytes);
  }
  c = open_at(f, f->outputs);
  for (uint64_t k = 0; output && k < index; ++k) {
    get_tensor(&c, &tensor);
    offset += up(tensor.bytes);
  }
  return offset;
}

// Of all kernels before `index`: bytes of their streams in the image, or padded as on the device.
static uint64_t streams_before(const pb_firmware* f, uint32_t index, int padded, kernel* k) {
  cursor c = open_at(f, f->kernels);
  uint64_t bytes = 0;
  for (uint32_t n = 0; n < index; ++n) {
    get_kernel(&c, k);
    for (int q = 0; q < k->queues; ++q) {
      uint64_t one = (uint64_t)k->count[q] * f->command_bytes;
      bytes += padded ? up(one) : one;
    }
  }
  if (index < f->kernel_count) get_kernel(&c, k);
  return bytes;
}

uint64_t pb_firmware_memory(const pb_firmware* f) {
  kernel k;
  return up(f->apart[0]) + up(f->arena_bytes) + streams_before(f, f->kernel_count, 1, &k) +
         tensor_offset(f, 1, f->output_count) + ALIGN;
}

uint64_t pb_firmware_constants(const pb_firmware* f) { return f->const_bytes - f->apart[0]; }

// Nonzero: the device gave none. A chip with one memory of constants may have the older function alone.
static int allocate_apart(pb_firmware* f, int memory, uint64_t bytes) {
  const pb_device_ops* ops = f->ops;
  if (ops->abi >= 3 && ops->alloc_constants_in)
    return ops->alloc_constants_in(f->device, (uint32_t)memory, bytes, ALIGN, &f->apart_at[memory]);
  if (memory || ops->abi < 2 || !ops->alloc_constants) return 1;
  return ops->alloc_constants(f->device, bytes, ALIGN, &f->apart_at[memory]);
}

// Constants, in the memories that they lie in.
static pb_firmware_code load_constants(pb_firmware* f) {
  const uint8_t* from = f->image + f->consts;
  if (f->apart[0] && f->ops->copy_in(f->device, f->consts_at, from, f->apart[0])) return PB_FIRMWARE_DEVICE;
  for (int m = 0; m < PB_FIRMWARE_APART; ++m) {
    if (f->apart[m + 1] < f->apart[m]) return PB_FIRMWARE_DAMAGED;
    uint64_t bytes = f->apart[m + 1] - f->apart[m];
    if (!bytes) continue;
    if (allocate_apart(f, m, bytes)) return PB_FIRMWARE_NO_MEMORY;
    if (f->ops->copy_in(f->device, f->apart_at[m], from + f->apart[m], bytes)) return PB_FIRMWARE_DEVICE;
  }
  return PB_FIRMWARE_OK;
}

pb_firmware_code pb_firmware_load(pb_firmware* f, const pb_device_ops* ops, pb_device* device) {
  kernel k;
  f->ops = ops;
  f->device = device;
  if (ops->alloc(device, pb_firmware_memory(f), ALIGN, &f->consts_at)) return PB_FIRMWARE_NO_MEMORY;
  f->arena_at = f->consts_at + up(f->apart[0]);
  f->streams_at = f->arena_at + up(f->arena_bytes);
  f->tensors_at = f->streams_at + streams_before(f, f->kernel_count, 1, &k);
  pb_firmware_code code = load_constants(f);
  if (code) return code;
  for (uint32_t n = 0; n < f->kernel_count; ++n) {
    uint64_t from = f->streams + streams_before(f, n, 0, &k), to = f->streams_at + streams_before(f, n, 1, &k);
    for (int q = 0; q < k.queues; ++q) {
      uint64_t bytes = (uint64_t)k.count[q] * f->command_bytes;
      if (bytes && ops->copy_in(device, to, f->image + from, bytes)) return PB_FIRMWARE_DEVICE;
      from += bytes;
      to += up(bytes);
    }
  }
  return PB_FIRMWARE_OK;
}

// Kernels have codes without a sign 128 less: of 8 bits that is the uppermost one turned over.
static void turn(uint8_t* to, const uint8_t* from, uint64_t bytes) {
  for (uint64_t k = 0; k < bytes; ++k) to[k] = from[k] ^ 0x80;
}

static int copy_in(const pb_firmware* f, uint64_t to, const pb_firmware_tensor* t, const void* data) {
  uint8_t part[CHUNK];
  if (!t->is_unsigned) return f->ops->copy_in(f->device, to, data, t->bytes);
  for (uint64_t at = 0; at < t->bytes; at += CHUNK) {
    uint64_t bytes = t->bytes - at < CHUNK ? t->bytes - at : CHUNK;
    turn(part, (const uint8_t*)data + at, bytes);
    if (f->ops->copy_in(f->device, to + at, part, bytes)) return 1;
  }
  return 0;
}

static uint64_t address_of(const pb_firmware* f, uint8_t space, uint64_t value) {
  if (space == INPUT) return f->tensors_at + tensor_offset(f, 0, value);
  if (space == OUTPUT) return f->tensors_at + tensor_offset(f, 1, value);
  if (space >= APART) return f->apart_at[space - APART] + (value - f->apart[space - APART]);
  return (space == CONSTANTS ? f->consts_at : f->arena_at) + value;
}

static int run_step(const pb_firmware* f, const step* s, cursor* kept) {
  kernel k;
  pb_submission job;
  memset(&job, 0, sizeof job);
  if (f->kept) get_kept(kept, &job);
  uint64_t at = f->streams_at + streams_before(f, s->kernel, 1, &k);
  job.queue_count = (uint32_t)k.queues;
  job.arg_count = s->arg_count;
  for (int q = 0; q < k.queues; ++q) {
    job.stream[q] = at;
    job.count[q] = k.count[q];
    at += up((uint64_t)k.count[q] * f->command_bytes);
  }
  for (uint32_t a = 0; a < s->arg_count; ++a) job.args[a] = address_of(f, s->space[a], s->value[a]);
  return f->ops->submit(f->device, &job) || f->ops->wait(f->device);
}

pb_firmware_code pb_firmware_run(const pb_firmware* f, const void* const* inputs, void* const* outputs) {
  pb_firmware_tensor tensor;
  step s;
  for (uint32_t k = 0; k < f->input_count; ++k) {
    (void)pb_firmware_input(f, k, &tensor);
    if (copy_in(f, f->tensors_at + tensor_offset(f, 0, k), &tensor, inputs[k])) return PB_FIRMWARE_DEVICE;
  }
  cursor c = open_at(f, f->steps), kept = open_at(f, f->kept);
  for (uint32_t n = 0; n < f->step_count; ++n) {
    get_step(&c, &s);
    if (run_step(f, &s, &kept)) return PB_FIRMWARE_DEVICE;
  }
  for (uint32_t k = 0; k < f->output_count; ++k) {
    (void)pb_firmware_output(f, k, &tensor);
    if (f->ops->copy_out(f->device, f->tensors_at + tensor_offset(f, 1, k), outputs[k], tensor.bytes))
      return PB_FIRMWARE_DEVICE;
    if (tensor.is_unsigned) turn(outputs[k], outputs[k], tensor.bytes);
  }
  return PB_FIRMWARE_OK;
}
