// MessagePack, as far as the metadata of code objects uses it: maps, arrays, strings, whole numbers and truth.
#include "targets/control/grid/machine/gcn/metadata.h"

#include <stdlib.h>

enum { MOST_DEPTH = 16, MOST_KERNELS = 1 << 16 };

typedef struct reader {
  const uint8_t *at, *end;
  bool bad;
} reader;

typedef enum kind { NONE, NUMBER, TEXT, ARRAY, MAP } kind;
typedef struct item {
  kind kind;
  uint64_t number; // the value, or how many there are
  const char* text;
} item;

static uint64_t big(reader* r, int bytes) {
  uint64_t v = 0;
  if (r->end - r->at < bytes) {
    r->bad = true;
    return 0;
  }
  while (bytes--) v = v << 8 | *r->at++;
  return v;
}

static item text_of(reader* r, uint64_t length) {
  item i = {TEXT, length, (const char*)r->at};
  if ((uint64_t)(r->end - r->at) < length)
    r->bad = true;
  else
    r->at += length;
  return i;
}

static item next(reader* r) {
  uint8_t b = (uint8_t)big(r, 1);
  if (r->bad) return (item){0};
  if (b < 0x80) return (item){NUMBER, b, NULL};
  if (b < 0x90) return (item){MAP, b & 15u, NULL};
  if (b < 0xa0) return (item){ARRAY, b & 15u, NULL};
  if (b < 0xc0) return text_of(r, b & 31);
  if (b >= 0xe0) return (item){NUMBER, (uint64_t)(int64_t)(int8_t)b, NULL};
  switch (b) {
  case 0xc0:
    return (item){NONE, 0, NULL};
  case 0xc2:
  case 0xc3:
    return (item){NUMBER, b & 1u, NULL};
  case 0xcc:
  case 0xcd:
  case 0xce:
  case 0xcf:
    return (item){NUMBER, big(r, 1 << (b - 0xcc)), NULL};
  case 0xd0:
  case 0xd1:
  case 0xd2:
  case 0xd3:
    return (item){NUMBER, big(r, 1 << (b - 0xd0)), NULL};
  case 0xd9:
  case 0xda:
  case 0xdb:
    return text_of(r, big(r, 1 << (b - 0xd9)));
  case 0xdc:
  case 0xdd:
    return (item){ARRAY, big(r, 2 << (b - 0xdc)), NULL};
  case 0xde:
  case 0xdf:
    return (item){MAP, big(r, 2 << (b - 0xde)), NULL};
  default:
    r->bad = true;
    return (item){0};
  }
}

static void skip(reader* r, int depth) {
  item i = next(r);
  if (depth > MOST_DEPTH) r->bad = true;
  uint64_t count = i.kind == ARRAY ? i.number : i.kind == MAP ? 2 * i.number : 0;
  while (count-- && !r->bad) skip(r, depth + 1);
}

static bool is(const item* i, const char* text) {
  return i->kind == TEXT && i->number == strlen(text) && !memcmp(i->text, text, i->number);
}

static uint8_t kind_of(const item* i) {
  static const struct {
    const char* text;
    uint8_t kind;
  } kinds[] = {{"by_value", GCN_EXPLICIT},
               {"global_buffer", GCN_EXPLICIT},
               {"dynamic_shared_pointer", GCN_EXPLICIT},
               {"hidden_block_count_x", GCN_BLOCKS_X},
               {"hidden_block_count_y", GCN_BLOCKS_Y},
               {"hidden_block_count_z", GCN_BLOCKS_Z},
               {"hidden_group_size_x", GCN_GROUP_X},
               {"hidden_group_size_y", GCN_GROUP_Y},
               {"hidden_group_size_z", GCN_GROUP_Z},
               {"hidden_grid_dims", GCN_GRID_DIMS}};
  for (size_t k = 0; k < sizeof kinds / sizeof *kinds; ++k)
    if (is(i, kinds[k].text)) return kinds[k].kind;
  return GCN_ZERO;
}

static void argument(reader* r, gcn_arg* a) {
  item map = next(r);
  if (map.kind != MAP) r->bad = true;
  for (uint64_t n = map.number; n && !r->bad; --n) {
    item key = next(r);
    if (is(&key, ".offset")) {
      a->offset = (uint32_t)next(r).number;
    } else if (is(&key, ".size")) {
      a->size = (uint32_t)next(r).number;
    } else if (is(&key, ".value_kind")) {
      item value = next(r);
      a->kind = kind_of(&value);
    } else {
      skip(r, 0);
    }
  }
}

static void kernel(reader* r, gcn_described* k) {
  item map = next(r);
  if (map.kind != MAP) r->bad = true;
  for (uint64_t n = map.number; n && !r->bad; --n) {
    item key = next(r);
    if (is(&key, ".name")) {
      item name = next(r);
      if (name.kind != TEXT || name.number >= sizeof k->name)
        r->bad = true;
      else
        memcpy(k->name, name.text, name.number);
    } else if (is(&key, ".max_flat_workgroup_size")) {
      k->most_threads = (uint32_t)next(r).number;
    } else if (is(&key, ".wavefront_size")) {
      k->lanes = (uint32_t)next(r).number;
    } else if (is(&key, ".args")) {
      item list = next(r);
      if (list.kind != ARRAY || list.number > GCN_MAX_ARGS) r->bad = true;
      for (uint64_t a = 0; a < list.number && !r->bad; ++a) argument(r, &k->args[k->arg_count++]);
    } else {
      skip(r, 0);
    }
  }
}

static bool document(reader* r, gcn_metadata* out) {
  item map = next(r);
  if (map.kind != MAP) return false;
  for (uint64_t n = map.number; n && !r->bad; --n) {
    item key = next(r);
    if (!is(&key, "amdhsa.kernels") || out->kernels) {
      skip(r, 0);
      continue;
    }
    item list = next(r);
    if (list.kind != ARRAY || list.number > MOST_KERNELS || list.number > (uint64_t)(r->end - r->at)) return false;
    out->kernels = calloc(list.number + 1, sizeof *out->kernels);
    for (uint64_t k = 0; k < list.number && !r->bad && out->kernels; ++k) kernel(r, &out->kernels[out->count++]);
  }
  return !r->bad && out->kernels;
}

bool gcn__metadata(const uint8_t* notes, uint64_t bytes, gcn_metadata* out) {
  *out = (gcn_metadata){0};
  for (uint64_t at = 0; at + 12 <= bytes;) {
    uint32_t head[3];
    memcpy(head, notes + at, sizeof head);
    uint64_t name = at + 12, text = name + (((uint64_t)head[0] + 3) & ~UINT64_C(3)),
             next_at = text + (((uint64_t)head[1] + 3) & ~UINT64_C(3));
    if (text + head[1] > bytes) return false;
    if (head[2] == 32 && head[0] == 7 && !memcmp(notes + name, "AMDGPU", 7)) {
      reader r = {notes + text, notes + text + head[1], false};
      if (document(&r, out)) return true;
      free(out->kernels);
      *out = (gcn_metadata){0};
      return false;
    }
    at = next_at;
  }
  return false;
}
