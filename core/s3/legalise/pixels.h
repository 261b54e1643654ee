// Inside `pixels`: what its files share.
#ifndef PB_S3_PIXELS_H
#define PB_S3_PIXELS_H

#include "core/s3/kernel/contraction_dims.h"
#include "core/s3/kernel/pads.h"
#include "core/s3/kernels.h"
#include "core/s3/program.h"

// What pixels side by side mean to a nest. ALONG: it goes from pixel to pixel and from channel to channel alike in all
// its tensors. CONVOLUTION: by constant weights. PAD: a part of what makes a padded tensor. PARTS: ALONG, of several
// tensors of such channels behind each other. OTHER: its tensors keep a pixel a row.
typedef enum pb_pixels_kind {
  PB_PIXELS_OTHER,
  PB_PIXELS_ALONG,
  PB_PIXELS_CONVOLUTION,
  PB_PIXELS_PAD,
  PB_PIXELS_PARTS
} pb_pixels_kind;

// A nest. Dims are its own; -1: it has none.
typedef struct pb_pixels_nest {
  pb_pixels_kind kind;
  int c, w; // channels and pixels of a line; of a convolution's results the pixels
  pb_contraction_dims roles;
  int o, s, part;             // a convolution's results and the columns of its window; PARTS: from part to part
  int64_t step, apart, first; // pixel w of the results and column s read pixel step * w + apart * s + first of x
  int64_t taps;               // columns of the window
  int seen;                   // the last turn that looked at it
} pb_pixels_nest;

// A value. Values that go along with each other have the same number of pixels in a row: they are one class.
typedef struct pb_pixels_value {
  int parent;       // of the class, itself: the class's first
  int next;         // the next one of the class, -1: none
  bool pinned;      // of the class: a pixel a row
  int64_t width;    // of the class: pixels of a line, without padding
  int64_t pixels;   // of the class, once chosen: so many in a row
  int64_t channels; // of the class: the fewest that any has
  int64_t parts;    // its channels are those of so many tensors behind each other
  bool padded;      // a copy with a border, as `pad` says
  pb_pad pad;
  int source;             // what is copied
  int64_t before, behind; // padded: blocks of pixels around a line, once chosen
} pb_pixels_value;

typedef struct pb_pixels {
  pb_unit* unit;
  pb_program* program;
  pb_program to; // what is written
  int64_t lanes;
  int turn;
  pb_pixels_nest* nests;
  pb_pixels_value* values;
} pb_pixels;

// A convolution over blocks of pixels: those of x and of results, of which each iteration makes so many side by side,
// and which blocks of x these read.
typedef struct pb_pixels_blocks {
  int64_t of_x, of_y, side;
  int64_t step;        // blocks of x from one of the results to the next
  int64_t first, taps; // the first block, and how many
  int64_t shift;       // pixel 0 of x, from which blocks are counted, is pixel `shift` of what the nest reads
} pb_pixels_blocks;

static inline pb_pixels_value* pb__pixels_class(const pb_pixels* p, int v) {
  while (p->values[v].parent != v) v = p->values[v].parent;
  return &p->values[v];
}

// ---- pixels.c ----

// Of convolution n with the pixels that its tensors' classes have, so many of the results' blocks side by side. false:
// lines are not a whole number of those, or no whole number of x's blocks lies between them.
bool pb__pixels_blocks(const pb_pixels* p, int n, int64_t side, pb_pixels_blocks* out);

// ---- pixels_nests.c: what each nest is, and which values are one class ----

void pb__pixels_read(pb_pixels* p);

// ---- pixels_cost.c ----

int64_t pb__pixels_price(const pb_pixels* p); // what all nests take with the pixels chosen
// What they take at least, however many pixels stand in a row; `pools`, NULL: none, by nest: which of them are cut.
int64_t pb__pixels_least(const pb_pixels* p, const bool* pools);
// Of each class, how many pixels stand in a row. Returns what all of it takes then.
int64_t pb__pixels_choose(pb_pixels* p);

// ---- pixels_pool.c ----

// Which nests are windows of largest elements that can be cut. false: none is.
bool pb__pixels_find_pools(const pb_pixels* p, bool* pools);
// The program with all windows of largest elements cut. false: there are none, or the chip lacks what that takes.
bool pb__pixels_cut_pools(const pb_pixels* p, pb_program* cut);

// The blocks that are cheapest, and what the convolution takes with them.
int64_t pb__pixels_choose_blocks(const pb_pixels* p, int n, pb_pixels_blocks* out);

// ---- pixels_write.c ----

// The convolution over blocks, its weights still the old ones. *roles: the old ones, and those of dims that it adds.
void pb__pixels_convolution(const pb_pixels* p, int n, const pb_pixels_blocks* blocks, pb_nest* out,
                            pb_contraction_dims* roles);
void pb__pixels_write(pb_pixels* p);

#endif
