// Lines: tensors [n, c, w] and [c, w] that go element by element to or from the images [n, c, 1, w] of a convolution
// over one dim become such images, and so do the numbers of each channel that reductions leave of them: their lanes are
// then channels, as the convolution's are, and nothing turns them round in between. Requires the program function in
// value form, leaves it so. In front of whatever asks which dim is a tensor's channels. Does nothing where code runs.
//
//   before   y[0, c, 0, w] = f(s[..]);  t[c, w] = g(y[0, c, 0, w]);  z[0, c, 0, w] = t[c, w];     of y: 1x64x1x99
//   after    y[0, c, 0, w] = f(s[..]);  t[0, c, 0, w] = g(y[0, c, 0, w]);                         z is t
#include "core/s3/compose.h"
#include "core/s3/kernel/contraction_dims.h"
#include "core/s3/program.h"
#include "core/s3/s3.h"

#include <string.h>

enum { NONE = -1 };

// Which index of an image each of a tensor's own becomes.
typedef enum form {
  NO_LINE,
  IMAGE,   // it is one
  STACK,   // [n, c, w]
  LINE,    // [c, w]
  NUMBERS, // [n, c]
  FORMS
} form;

static const int places[FORMS][PB_IMAGE_RANK] = {[IMAGE] = {0, PB_IMAGE_CHANNELS, PB_IMAGE_LINES, PB_IMAGE_COLUMNS},
                                                 [STACK] = {0, PB_IMAGE_CHANNELS, PB_IMAGE_COLUMNS},
                                                 [LINE] = {PB_IMAGE_CHANNELS, PB_IMAGE_COLUMNS},
                                                 [NUMBERS] = {0, PB_IMAGE_CHANNELS}};

static const int ranks[FORMS] = {[IMAGE] = PB_IMAGE_RANK, [STACK] = 3, [LINE] = 2, [NUMBERS] = 2};

typedef struct liner {
  pb_unit* unit;
  pb_program* program;
  form* forms; // by value
} liner;

// Whether a constant's elements are one number.
static bool is_one_number(const liner* s, int v) {
  const pb_value* value = &s->program->values[v];
  const int64_t elements = pb_value_elements(value);
  const size_t size = (size_t)pb_type_bits(value->type) / 8;
  const uint8_t* data = size && elements > 0 ? pb_const_data(s->unit->consts, value->const_id) : NULL;
  for (int64_t k = 1; data && k < elements; ++k)
    if (memcmp(data, data + (size_t)k * size, size)) return false;
  return data;
}

// Whether the nest takes numbers of the columns that access a walks, which channels in lanes would all take alike.
static bool takes_columns(const liner* s, int n, int a) {
  const pb_nest* nest = &s->program->nests[n];
  const pb_access* access = &nest->access[a];
  for (int c = 0; c + 1 < nest->access_count && access->rank > 1; ++c)
    for (int d = 0; d < nest->dim_count && pb_program_is_const(s->program, n, c); ++d) {
      bool column = access->index[access->rank - 1].coef[d] && pb_access_uses(&nest->access[c], d), rows = false;
      for (int k = 0; k < nest->dim_count; ++k)
        rows |= access->index[access->rank - 2].coef[k] && pb_access_uses(&nest->access[c], k);
      if (column && !rows && !is_one_number(s, s->program->value_of[n][c])) return true;
    }
  return false;
}

// Whether the value may have other dims: nothing multiplies it, or finds its elements by computed indices.
static bool is_open(const liner* s, int v) {
  const pb_program* p = s->program;
  pb_contraction_dims roles;
  if (!pb_program_is_local(p, v)) return false;
  PB_FOR_ACCESSES (n, a, p, v)
    if (!pb_access_is_plain(&p->nests[n].access[a]) || pb_program_is_fixed(p, n) || takes_columns(s, n, a) ||
        pb_nest_contraction_dims(&p->nests[n], NULL, &roles))
      return false;
  return true;
}

// Whether a dim with one of both roles walks the access's channels.
static bool has_channels(const pb_nest* nest, const pb_contraction_dims* roles, const pb_access* access, pb_role role) {
  for (int d = 0; d < nest->dim_count; ++d)
    if (access->index[PB_IMAGE_CHANNELS].coef[d] && (roles->role[d] == role || roles->role[d] == PB_ROLE_B))
      return true;
  return false;
}

static void find_images(const liner* s) {
  const pb_program* p = s->program;
  for (int n = 0; n < p->nest_count; ++n) {
    pb_contraction_dims roles;
    if (!pb_program_multiplies_weights(p, n) || !pb_program_contraction_dims(p, n, &roles)) continue;
    for (int k = 0; k < 2; ++k) {
      int a = k ? roles.y : roles.x, v = p->value_of[n][a];
      const pb_access* access = &p->nests[n].access[a];
      if (pb_program_is_local(p, v) && access->rank == PB_IMAGE_RANK && access->shape[PB_IMAGE_LINES] == 1 &&
          access->shape[PB_IMAGE_COLUMNS] > 1 && access->shape[PB_IMAGE_CHANNELS] > 1 &&
          has_channels(&p->nests[n], &roles, access, k ? PB_ROLE_N : PB_ROLE_K))
        s->forms[v] = IMAGE;
    }
  }
}

// The access as one to an image.
static void as_image(pb_access* access, form form) {
  const pb_access was = *access;
  access->rank = PB_IMAGE_RANK;
  for (int r = 0; r < PB_IMAGE_RANK; ++r) {
    access->shape[r] = 1;
    access->index[r] = (pb_index){0};
  }
  for (int r = 0; r < was.rank; ++r) {
    access->shape[places[form][r]] = was.shape[r];
    access->index[places[form][r]] = was.index[r];
  }
}

// Whether the access, in that form, walks images and channels as the image is walked, and its columns, or has none.
static bool goes_with(const pb_access* image, const pb_access* access, form form) {
  if (access->rank != ranks[form]) return false;
  pb_access now = *access;
  as_image(&now, form);
  bool numbers = now.shape[PB_IMAGE_COLUMNS] == 1;
  for (int r = 0; r < PB_IMAGE_RANK; ++r)
    if ((r != PB_IMAGE_COLUMNS || !numbers) &&
        (now.shape[r] != image->shape[r] || memcmp(&now.index[r], &image->index[r], sizeof now.index[r])))
      return false;
  return true;
}

static form form_of(const pb_nest* nest, const pb_access* image, const pb_access* access) {
  if (goes_with(image, access, IMAGE)) return IMAGE;
  if (goes_with(image, access, STACK)) return STACK;
  if (goes_with(image, access, LINE)) return LINE;
  bool numbers = nest->reduce != PB_SET || image->shape[PB_IMAGE_COLUMNS] == 1;
  return numbers && goes_with(image, access, NUMBERS) ? NUMBERS : NO_LINE;
}

// What goes with an image of the nest becomes one. Whether any does.
static bool carry(const liner* s, int n) {
  const pb_program* p = s->program;
  const pb_nest* nest = &p->nests[n];
  bool any = false;
  for (int a = 0; a < nest->access_count; ++a) {
    form of = s->forms[p->value_of[n][a]];
    if (of == NO_LINE || !pb_access_is_plain(&nest->access[a])) continue;
    pb_access image = nest->access[a];
    as_image(&image, of);
    for (int b = 0; b < nest->access_count; ++b) {
      int v = p->value_of[n][b];
      if (s->forms[v] != NO_LINE ||
          !(nest->access[b].rank == PB_IMAGE_RANK ? pb_program_is_local(p, v) : is_open(s, v)))
        continue;
      any |= (s->forms[v] = form_of(nest, &image, &nest->access[b])) != NO_LINE;
    }
  }
  return any;
}

// Constants of one number, which nests of lines had for each column, are read at one place.
static void take_one_number(liner* s, int n) {
  pb_nest* nest = &s->program->nests[n];
  const pb_access* store = pb_nest_store(nest);
  if (nest->reduce != PB_SET || s->forms[pb_program_stored(s->program, n)] == NO_LINE) return;
  for (int a = 0; a + 1 < nest->access_count; ++a) {
    pb_access* access = &nest->access[a];
    bool columns = false;
    for (int d = 0; d < nest->dim_count; ++d)
      columns |= store->index[PB_IMAGE_COLUMNS].coef[d] && pb_access_uses(access, d);
    if (!columns || !pb_program_is_const(s->program, n, a) || !is_one_number(s, s->program->value_of[n][a])) continue;
    for (int r = 0; r < access->rank; ++r) access->index[r] = (pb_index){0};
  }
}

static void make_images(liner* s) {
  pb_program* p = s->program;
  for (int v = 0; v < p->value_count; ++v) {
    if (s->forms[v] <= IMAGE) continue;
    PB_FOR_ACCESSES (n, a, p, v) as_image(&p->nests[n].access[a], s->forms[v]);
    pb_access like = pb_value_shape(&p->values[v]);
    as_image(&like, s->forms[v]);
    p->values[v].rank = PB_IMAGE_RANK;
    memcpy(p->values[v].shape, like.shape, sizeof *like.shape * PB_IMAGE_RANK);
  }
  for (int n = 0; n < p->nest_count; ++n) take_one_number(s, n);
}

// Whether the nest copies one image to another, each element to where it was, and no other nest makes that one.
static bool only_renames(const liner* s, int n) {
  const pb_program* p = s->program;
  const pb_nest* nest = &p->nests[n];
  const pb_access *from = &nest->access[0], *to = &nest->access[1];
  int dim_of[PB_NEST_RANK];
  if (!pb_copies_elements(nest) || !s->forms[p->value_of[n][0]] || !s->forms[p->value_of[n][1]]) return false;
  return pb_program_only_writer(p, p->value_of[n][1]) == n && pb_same_walk(from, to) &&
         pb_walks_elements(nest, to, dim_of);
}

static void drop_renames(liner* s) {
  pb_program* p = s->program;
  for (int n = 0; n < p->nest_count; ++n) {
    if (!only_renames(s, n)) continue;
    int from = p->value_of[n][0], to = p->value_of[n][1];
    p->gone[n] = true;
    PB_FOR_ACCESSES (k, a, p, to)
      if (k != n) pb_program_set_value(p, &s->unit->pass, k, a, from);
  }
}

bool pb_s3_lines(pb_unit* unit, pb_program* p) {
  liner s = {.unit = unit, .program = p, .forms = PB_NEW_ARRAY(&unit->pass, form, (size_t)p->value_count + 1)};
  find_images(&s);
  bool any = false;
  for (bool more = true; more; any |= more) {
    more = false;
    for (int n = 0; n < p->nest_count; ++n) more |= carry(&s, n);
  }
  if (!any) return false;
  make_images(&s);
  drop_renames(&s);
  return true;
}
