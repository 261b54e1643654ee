#define _DEFAULT_SOURCE
#include "core/base/consts.h"

#include "core/base/symbols.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static size_t element_size(const pb_const* item) { return (size_t)(pb_type_bits(item->type) + 7) / 8; }

static int add(pb_consts* consts, pb_const item, const char* name, int rank, const int64_t* shape) {
  item.name = pb_strdup(&consts->arena, name ? name : "");
  item.rank = rank;
  item.bytes = element_size(&item);
  for (int r = 0; r < rank; ++r) item.bytes *= (uint64_t)(item.shape[r] = shape[r]);
  item.id = (int)consts->count;
  pb_const* kept = PB_NEW(&consts->arena, pb_const);
  *kept = item;
  PB_PUSH(consts->items, consts->count, consts->capacity, kept);
  return item.id;
}

int pb_consts_add(pb_consts* consts, const char* name, pb_type type, int rank, const int64_t* shape, const void* data) {
  return add(consts, (pb_const){.type = type, .data = data}, name, rank, shape);
}

static bool same_pack(const pb_pack* a, const pb_pack* b) {
  bool same = a->source == b->source && a->base == b->base && a->dim_count == b->dim_count;
  for (int d = 0; same && d < a->dim_count; ++d) {
    int axis = a->dims[d].axis;
    same = a->dims[d].extent == b->dims[d].extent && a->dims[d].scale == b->dims[d].scale && axis == b->dims[d].axis;
  }
  for (int k = 0; same && k < PB_PACK_AXES; ++k) same = a->stride[k] == b->stride[k] && a->extent[k] == b->extent[k];
  return same;
}

int pb_consts_add_pack(pb_consts* consts, const char* name, int rank, const int64_t* shape, const pb_pack* pack) {
  int newest = consts->items[pack->source]->newest_pack;
  for (int k = newest; k; k = consts->items[k]->older_pack) {
    const pb_const* known = consts->items[k];
    bool same = known->rank == rank && same_pack(known->pack, pack);
    for (int r = 0; same && r < rank; ++r) same = known->shape[r] == shape[r];
    if (same) return k;
  }
  pb_pack* kept = PB_NEW(&consts->arena, pb_pack);
  *kept = *pack;
  pb_const item = {.type = consts->items[pack->source]->type, .pack = kept, .older_pack = newest};
  int id = add(consts, item, name, rank, shape);
  consts->items[pack->source]->newest_pack = id;
  return id;
}

void pb_consts_guard(pb_consts* consts, bool equal, int64_t a, int64_t b, const char* text) {
  if (!consts->open) return;
  pb_guard guard = {.equal = equal, .a = a, .b = b, .text = text};
  PB_PUSH(consts->guards, consts->guard_count, consts->guard_capacity, guard);
}

void pb_consts_guard_of(pb_consts* consts, int64_t a, int64_t b, int rank, const int64_t* shape, const char* text) {
  if (!consts->open) return;
  pb_guard guard = {.a = a, .b = b, .text = text, .rank = rank};
  memcpy(guard.shape, shape, sizeof *shape * (size_t)rank);
  PB_PUSH(consts->guards, consts->guard_count, consts->guard_capacity, guard);
}

void pb_consts_guard_sign(pb_consts* consts, int64_t a, const char* text) {
  pb_consts_guard(consts, false, a < 0 ? a : 0, a < 0 ? 0 : a, text);
}

void pb_consts_guard_order(pb_consts* consts, int64_t a, int64_t b, const char* text) {
  const int64_t far = (int64_t)1 << 62; // beyond it are marks for the last of something, and no extents
  if (a > far || a < -far || b > far || b < -far) return;
  pb_consts_guard(consts, a == b, a < b ? a + 1 : a > b ? b + 1 : a, a > b ? a : b, text);
}

int64_t pb_consts_smaller(pb_consts* consts, int64_t a, int64_t b, const char* text) {
  int64_t least = a < b ? a : b;
  bool either = false;
  if (consts->open && consts->symbols) least = pb_symbols_smaller(consts->symbols, a, b, &either);
  if (!either) pb_consts_guard(consts, false, least, a < b ? b : a, text);
  return least;
}

bool pb_consts_leave_order(pb_consts* consts, int64_t a, int64_t b, const char* text) {
  if (consts->open && consts->symbols && pb_symbols_leave(consts->symbols, a, b)) return true;
  pb_consts_guard_order(consts, a, b, text);
  return false;
}

bool pb_consts_computes(pb_consts* consts) {
  if (!consts->open || !consts->symbols) return false;
  consts->symbols->tabulates = true;
  return consts->symbols->computes;
}

void pb_consts_free(pb_consts* consts) {
  free(consts->guards);
  free(consts->reasons);
  for (size_t k = 0; k < consts->count; ++k) free(consts->items[k]->made);
  free(consts->items);
  pb_arena_free(&consts->arena);
  *consts = (pb_consts){0};
}

// Of dim `part` only `count` turns from `first` on are packed: the others are left as they are.
typedef struct packer {
  const pb_pack* pack;
  const char* from;
  char* to;
  size_t size;
  int64_t value[PB_PACK_AXES];
  int part;
  int64_t first, count;
} packer;

static void turns_of(const packer* p, int d, int64_t* first, int64_t* end) {
  *first = d == p->part ? p->first : 0;
  *end = d == p->part ? p->first + p->count : p->pack->dims[d].extent;
}

// The innermost dim: a run of elements, zeros behind the axis's end. The other axes are inside.
static void pack_run(packer* p, int64_t offset) {
  int64_t first, end;
  int d = p->pack->dim_count - 1, axis = p->pack->dims[d].axis;
  turns_of(p, d, &first, &end);
  int64_t n = end - first, scale = p->pack->dims[d].scale, step = scale * p->pack->stride[axis];
  int64_t room = p->pack->extent[axis] - p->value[axis] - first * scale,
          inside = room <= 0 ? 0 : (room + scale - 1) / scale;
  if (inside > n) inside = n;
  const char* from = p->from + (offset + first * step) * (int64_t)p->size;
  char* to = p->to + (size_t)first * p->size;
  if (p->size == 4)
    for (int64_t k = 0; k < inside; ++k) memcpy(to + k * 4, from + k * step * 4, 4);
  else if (p->size == 1)
    for (int64_t k = 0; k < inside; ++k) to[k] = from[k * step];
  else
    for (int64_t k = 0; k < inside; ++k) memcpy(to + (size_t)k * p->size, from + k * step * (int64_t)p->size, p->size);
  memset(to + (size_t)inside * p->size, 0, (size_t)(n - inside) * p->size);
}

// So many elements lie behind one turn of the dim.
static int64_t elements_inside(const pb_pack* pack, int d) {
  int64_t elements = 1;
  for (int k = d + 1; k < pack->dim_count; ++k) elements *= pack->dims[k].extent;
  return elements;
}

// A lane's numbers: `together` of them lie beside each other, 0: `near` apart.
static inline char* pack_lane(char* to, const char* from, int64_t columns, int64_t near, size_t size,
                              int64_t together) {
  if (together == 4) { // one copy, of a length that is known
    memcpy(to, from, 4);
  } else if (together == 2) {
    memcpy(to, from, 2);
  } else if (together) {
    memcpy(to, from, (size_t)together);
  } else if (size == 1) {
    for (int64_t k = 0; k < columns; ++k) to[k] = from[k * near];
  } else {
    for (int64_t k = 0; k < columns; ++k) memcpy(to + k * 4, from + k * near * 4, 4);
  }
  return to + (size_t)columns * size;
}

// The two innermost dims at once, where all that they take is inside: of weights, the few numbers that one lane sums,
// for every lane, or a row of lanes for every number. false: it is not so.
static bool pack_lanes(packer* p, int64_t offset) {
  const pb_pack* pack = p->pack;
  int d = pack->dim_count - 2, outer = pack->dims[d].axis, inner = pack->dims[d + 1].axis;
  int64_t columns = pack->dims[d + 1].extent, first, end, last[PB_PACK_AXES];
  if (p->part > d || (p->size != 1 && p->size != 4)) return false;
  turns_of(p, d, &first, &end);
  memcpy(last, p->value, sizeof last);
  last[outer] += (end - 1) * pack->dims[d].scale;
  last[inner] += (columns - 1) * pack->dims[d + 1].scale;
  for (int a = 0; a < PB_PACK_AXES; ++a)
    if (last[a] >= pack->extent[a]) return false;
  int64_t far = pack->dims[d].scale * pack->stride[outer], near = pack->dims[d + 1].scale * pack->stride[inner];
  const char* from = p->from + (offset + first * far) * (int64_t)p->size;
  size_t turn = (size_t)columns * p->size;
  char* to = p->to + (size_t)first * turn;
  int64_t together = near == 1 ? (int64_t)turn : 0;
  for (int64_t j = first; j < end; ++j, from += far * (int64_t)p->size)
    to = pack_lane(to, from, columns, near, p->size, together);
  p->to = to + (size_t)(pack->dims[d].extent - end) * turn;
  return true;
}

static void pack_dim(packer* p, int d, int64_t offset, bool outside) {
  const pb_pack* pack = p->pack;
  if (d == pack->dim_count - 2 && !outside && pack_lanes(p, offset)) return;
  int axis = pack->dims[d].axis;
  int64_t first, end, step = pack->dims[d].scale * pack->stride[axis];
  turns_of(p, d, &first, &end);
  if (d == pack->dim_count - 1) {
    for (int a = 0; a < PB_PACK_AXES && !outside; ++a) outside = p->value[a] >= pack->extent[a] && a != axis;
    if (!outside)
      pack_run(p, offset);
    else
      memset(p->to + (size_t)first * p->size, 0, (size_t)(end - first) * p->size);
    p->to += (size_t)pack->dims[d].extent * p->size;
    return;
  }
  size_t turn = d == p->part ? (size_t)elements_inside(pack, d) * p->size : 0; // those that are left out
  p->value[axis] += first * pack->dims[d].scale;
  p->to += (size_t)first * turn;
  for (int64_t k = first; k < end; ++k) {
    pack_dim(p, d + 1, offset + k * step, outside);
    p->value[axis] += pack->dims[d].scale;
  }
  p->value[axis] -= end * pack->dims[d].scale;
  p->to += (size_t)(pack->dims[d].extent - end) * turn;
}

// The pages of a file between two of its bytes, which were read for this once: the file still has them.
static void release_part(const pb_const* source, uint64_t from, uint64_t to) {
  if (!source->mapped) return;
  uintptr_t page = 4096, first = ((uintptr_t)source->data + from + page - 1) & ~(page - 1);
  uintptr_t last = ((uintptr_t)source->data + to) & ~(page - 1);
  if (last > first) (void)madvise((void*)first, last - first, MADV_DONTNEED);
}

static void release(const pb_const* source) { release_part(source, 0, source->bytes); }

// The dim that takes the largest steps through the source.
static int widest_dim(const pb_pack* pack) {
  int widest = 0;
  int64_t most = -1;
  for (int d = 0; d < pack->dim_count; ++d) {
    int64_t step = pack->dims[d].scale * pack->stride[pack->dims[d].axis];
    if (step <= most) continue;
    widest = d;
    most = step;
  }
  return widest;
}

enum {
  NEAR_BYTES = 1 << 18, // of the source, that stay in a core's cache while all that is packed of them is
  HELD_BYTES = 1 << 24, // of the source, that are in memory before they are released
  LEAST_TURNS = 16,     // that are worth a walk through the other dims
};

static int64_t turns_at_once(int64_t bytes, int64_t extent) {
  if (bytes <= 0) return extent;
  int64_t near = NEAR_BYTES / bytes, held = (HELD_BYTES + bytes - 1) / bytes;
  return near > LEAST_TURNS ? near : LEAST_TURNS < held ? LEAST_TURNS : held;
}

// Packs some turns of the dim of the largest steps at a time: these walk the source forwards, so its lines and pages
// are near until all dims have taken what they take of them, and what lies before the next one's start is done with: a
// large constant and its packed copy are never both in memory as a whole.
static void pack_all(packer* p, const pb_const* source) {
  const pb_pack* pack = p->pack;
  int d = p->part = widest_dim(pack);
  int64_t extent = pack->dims[d].extent, step = pack->dims[d].scale * pack->stride[pack->dims[d].axis];
  int64_t turns = turns_at_once(step * (int64_t)p->size, extent);
  char* to = p->to;
  uint64_t released = 0;
  for (p->first = 0; p->first < extent; p->first += p->count) {
    p->count = extent - p->first < turns ? extent - p->first : turns;
    p->to = to;
    pack_dim(p, 0, pack->base, false);
    int64_t at = pack->base + (p->first + p->count) * step;
    uint64_t done = at > 0 ? (uint64_t)at * p->size : 0;
    if (done > source->bytes) done = source->bytes;
    if (done < released + HELD_BYTES) continue; // the caller releases the last ones
    release_part(source, released, done);
    released = done;
  }
}

// The elements as they are.
static void copy_all(const pb_const* item, char* to) {
  const uint64_t chunk = 1 << 24;
  for (uint64_t at = 0; at < item->bytes; at += chunk) {
    uint64_t bytes = item->bytes - at < chunk ? item->bytes - at : chunk;
    memcpy(to + at, (const char*)item->data + at, bytes);
    release_part(item, at, at + bytes);
  }
}

void pb_const_write(const pb_consts* consts, int id, void* to) {
  const pb_const* item = consts->items[id];
  if (item->made || item->data) {
    if (item->made)
      memcpy(to, item->made, item->bytes);
    else
      copy_all(item, to);
    return;
  }
  const pb_const* source = consts->items[item->pack->source];
  char* scratch = NULL; // of a pack of a pack
  const void* from = source->data ? source->data : source->made;
  if (!from) {
    scratch = malloc(source->bytes + 1);
    if (!scratch) pb_no_memory(source->bytes);
    pb_const_write(consts, item->pack->source, scratch);
    from = scratch;
  }
  packer p = {.pack = item->pack, .from = from, .to = to, .size = element_size(item), .part = -1};
  if (item->pack->dim_count)
    pack_all(&p, source);
  else
    memcpy(to, p.from + item->pack->base * (int64_t)p.size, p.size);
  free(scratch);
  release(source);
}

const void* pb_const_data(pb_consts* consts, int id) {
  pb_const* item = consts->items[id];
  if (item->data && (uintptr_t)item->data % element_size(item) == 0) return item->data;
  if (!item->made) {
    void* made = malloc(item->bytes + 1);
    if (!made) pb_no_memory(item->bytes);
    pb_const_write(consts, id, made);
    consts->items[id]->made = made;
  }
  return consts->items[id]->made;
}

bool pb_const_is_finite(pb_consts* consts, int id) {
  enum { EXPONENT = 0x7f800000 };
  const pb_const* item = consts->items[id];
  if (item->pack && !item->data) return pb_const_is_finite(consts, item->pack->source);
  if (item->type != PB_F32) return !pb_type_is_float(item->type);
  const char* data = item->data ? item->data : pb_const_data(consts, id);
  bool finite = true;
  for (uint64_t k = 0; k < item->bytes; k += 4) {
    uint32_t bits;
    memcpy(&bits, data + k, 4);
    finite &= (bits & EXPONENT) != EXPONENT;
  }
  return finite;
}
