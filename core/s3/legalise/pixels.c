// Pixels: several neighbouring pixels of few channels stand in one row of lanes. Requires the program function in value
// form, leaves it so. In front of layout, to which they are channels. Does nothing where code runs, nor where channels
// fill rows of lanes.
//
//   before   y[o, h, w] += x[c, h + r, w + s] * k[o, c, r, s]                        of c and o: 64, of w: 56
//   after    y[(q, o), h, v] += x[(t, c), h + r, v + b] * k'[(q, o), (t, c), r, b]   of q and t: 4, of v: 14
//
// where k'[(q, o), (t, c), r, b] = k[o, c, r, 4 b + t - q], and 0 where the window has no such column: as many rows of
// products less as pixels stand in a row, for a wider window's worth of blocks. What goes from pixel to pixel and from
// channel to channel alike (residuals, codes made of sums) stays as it is, constants by channel repeated for each
// pixel. Borders are whole blocks. A convolution whose pixels step by two takes twice as many pixels in a row of x as
// in one of its results, or the same number in two steps. Where windows of an image are gathered two such blocks may be
// made side by side, since longer runs of the image bring more pixels. A sum or a maximum over lines may read more
// pixels in a row than it writes, a part of such a row at a time. Of floats no pixels are put together: zeros do not
// keep infinity apart.
//
// Where that begins and ends is chosen by what the description says it takes (pixels_cost.c). Nothing is looked at, nor
// any program written, where full rows of lanes and full commands would not save enough either.
#include "core/s3/legalise/pixels.h"
#include "core/base/divide.h"
#include "core/s3/transfer_paths.h"

// All of it has to save one part of so many of the cycles: prices are rough, and weights get wider.
enum { LEAST_GAIN = 32 };

bool pb__pixels_blocks(const pb_pixels* p, int n, int64_t side, pb_pixels_blocks* out) {
  const pb_pixels_nest* nest = &p->nests[n];
  int v = p->program->value_of[n][nest->roles.x];
  const pb_pixels_value *x = &p->values[v], *made = pb__pixels_class(p, pb_program_stored(p->program, n));
  int64_t of_x = pb__pixels_class(p, v)->pixels, of_y = made->pixels;
  if (nest->step * of_y * side % of_x || made->width % (of_y * side)) return false;
  int64_t shift = of_x > 1 && x->padded ? x->pad.shift[3] : 0, first = nest->first - shift;
  int64_t last = nest->step * (of_y * side - 1) + nest->apart * (nest->taps - 1) + first;
  *out = (pb_pixels_blocks){.of_x = of_x, .of_y = of_y, .side = side, .shift = shift};
  out->step = nest->step * of_y * side / of_x;
  out->first = pb_floor_div(first, of_x);
  out->taps = pb_floor_div(last, of_x) - out->first + 1;
  return true;
}

bool pb_s3_pixels(pb_unit* unit, pb_program* program) {
  pb_pixels p = {.unit = unit, .program = program, .lanes = pb_chip_lanes(unit->chip)};
  pb__pixels_read(&p);
  int64_t alone = pb__pixels_price(&p), enough = alone - alone / LEAST_GAIN, taken = alone;
  bool* pools = PB_NEW_ARRAY(&unit->pass, bool, (size_t)program->nest_count + 1);
  bool cuts = pb__pixels_find_pools(&p, pools) && pb__pixels_least(&p, pools) <= enough;
  if (pb__pixels_least(&p, NULL) <= enough) taken = pb__pixels_choose(&p);
  pb_program cut;
  pb_pixels other = p;
  size_t constants = unit->consts->count;
  if (cuts && pb__pixels_cut_pools(&p, &cut)) {
    other.program = &cut;
    pb__pixels_read(&other);
    int64_t price = pb__pixels_choose(&other);
    if (price < taken) {
      p = other;
      taken = price;
    }
  }
  bool gains = taken <= enough, any = false;
  for (int v = 0; v < p.program->value_count; ++v) any |= pb__pixels_class(&p, v)->pixels > 1;
  if (!gains || p.program == program) unit->consts->count = constants; // those of what is not taken
  if (!gains || !any) return false;
  pb__pixels_write(&p);
  *program = p.to;
  return true;
}
