// Inside `layout`: what its files share.
#ifndef PB_S3_LAYOUT_H
#define PB_S3_LAYOUT_H

#include "core/base/consts.h"
#include "core/base/numbers.h"
#include "core/s3/kernel/contraction_dims.h"
#include "core/s3/kernel/vector.h"
#include "core/s3/kernels.h"
#include "core/s3/program.h"

// BLOCKED: [n, c, h, w] as [n, c / block, h, w, block], [n, c] as [n, c / block, block]. PADDED: the last dim padded to
// whole rows of lanes. ENDING: so too, of which what makes a number of each row counts c elements. SPREAD: [r, 1], one
// number for each row, stands in all lanes of a row of lanes.
typedef enum pb_layout_kind {
  PB_LAYOUT_PLAIN,
  PB_LAYOUT_BLOCKED,
  PB_LAYOUT_ENDING,
  PB_LAYOUT_PADDED,
  PB_LAYOUT_SPREAD
} pb_layout_kind;

typedef struct pb_layout_value {
  pb_layout_kind kind;
  int64_t block; // of channels that lie next to each other: a row of lanes, unless it was said otherwise
  bool refused;  // it must stay plain: what it is multiplied into does, or weights are packed of it
  const char* ref;
  bool masked;      // pointwise nests that make it clean its lanes
  bool ends_early;  // of padded ones: a nest sets no lanes behind a row's last element
  const char* made; // it is made here, then its lanes are cleaned; NULL: as it is
  enum { PB_REST_UNKNOWN, PB_REST_FINITE, PB_REST_ANY } rest; // lanes that no channel fills, of floats
  int64_t run; // its rows are runs of so many, each with an end of its own: two indices; 0: they are one
  int rank;
  int64_t shape[PB_NEST_RANK]; // without the index of runs
} pb_layout_value;

// What lies along the lanes of a tensor of three or four dims, by what nests say of it: the last dim; no dim that it is
// known by, but not the last one; the second dim, by blocks of which whoever touches it is faster.
typedef enum pb_layout_lie { PB_LIE_UNKNOWN, PB_LIE_ROWS, PB_LIE_OTHERWISE, PB_LIE_CHANNELS } pb_layout_lie;

typedef struct pb_layout_const {
  int id;
  const char* ref;
  bool splat;
  bool late;  // it comes, or is computed, when the program runs, or is packed of such: no argument (late.c)
  int source; // of late ones the value that they are, -1: packed of one
  pb_type type;
  int rank;
  int64_t shape[PB_NEST_RANK];
} pb_layout_const;

// What pb_nest_contraction_dims says of a nest, once it was asked.
typedef struct pb_layout_contraction_dims {
  bool read, contracts;
  pb_contraction_dims roles;
} pb_layout_contraction_dims;

// A tensor at the graph's edge keeps the model's layout; what is computed reads and writes its twin, which a copy makes
// (of an input) or takes (to an output). So has a tensor inside that code makes in blocks and something reads
// otherwise. A twin that turns out to lie as its edge does is dropped.
typedef struct pb_layout_twin {
  int edge, twin, copy; // values and the nest between them
  const char* name;     // the operator that it is copied for
  bool out;             // from the twin
  bool wanted;          // it may lie otherwise than its edge
} pb_layout_twin;

// Operators that stay as the model has them: those in whose tensors rows of lanes have no room and, with --fallback,
// for another target, all that no layout of this one fits. What they share with others gets a twin as if it left the
// graph and came back.
typedef struct pb_layout_apart {
  const char** names;
  size_t count, capacity;
} pb_layout_apart;

// A value with a row for each head: what lies behind its rows is this number, or (`ends` is false) anything.
typedef struct pb_layout_parted {
  bool ends;
  double zero;
} pb_layout_parted;

typedef struct pb_layout {
  pb_unit* unit;
  pb_program program;
  pb_select_memo* selections;
  int64_t lanes;
  int64_t row;         // pb_chip_row: of neighbours that none can be read or written alone
  int image_rank;      // pb_chip_image_rank
  bool whole_rows;     // commands take whole rows of lanes; where code runs, it goes by single elements too
  int64_t summed;      // channels that an instruction on matrices sums over, 0: no nest is for one
  pb_layout_lie* lies; // by value, of the first lie_count: what lies along its lanes (lies.c)
  int lie_count;
  bool* heads;  // by value: a product of two computed tensors meets it
  bool* blocks; // by value: its channels lie along lanes, and all that touch it walk blocks of them
  bool* few;    // by value: it is plain all the same, of so few channels (few.c)
  bool* single; // by value: it has one channel, and stays plain (choose.c)
  bool* narrow; // by value: its few channels lie as contractions take them, in groups or plainly (choose.c)
  pb_layout_value* values;
  pb_layout_contraction_dims* roles; // by nest
  bool* gathers;                     // by nest
  bool has_runs;                     // of some value rows are runs
  pb_layout_parted* parted;          // by value, of the first parted_count: pb__layout_ends_in
  int parted_count;
  pb_layout_twin* twins; // in the order of their own values, which stand behind those of the model
  int twin_count;
  pb_layout_apart* apart;
  bool no_room; // for lanes, in what a nest stores: its operator stays as the model has it
  pb_layout_const* consts;
  size_t const_count, const_capacity;
  pb_numbers const_of; // by id: which of them
  int extra_values, serial;
  pb_text allocs, nests;
} pb_layout;

static inline bool pb__layout_is_image(const pb_layout* l, int rank) { return pb_is_image(rank, l->image_rank); }

// One dim of a packed constant: it walks dim `dim` of the nest by `scale`. Several packed dims may walk one nest dim
// (blocks and lanes of a channel); past its extent the constant is padded with zeros.
typedef struct pb_pack_dim {
  int64_t extent;
  int dim;
  int64_t scale;
} pb_pack_dim;

// How a nest's dim d is split: d = shift + block * size + lane * scale + group, or it stays as keep. -1: no such dim.
typedef struct pb_split {
  int keep[PB_NEST_DIMS], block[PB_NEST_DIMS], lane[PB_NEST_DIMS], group[PB_NEST_DIMS];
  int64_t size[PB_NEST_DIMS], scale[PB_NEST_DIMS], shift[PB_NEST_DIMS];
  int64_t full[PB_NEST_DIMS]; // extents before the nest was cut in parts
  bool cut[PB_NEST_DIMS];     // fewer lanes than size stay fewer
  int row;                    // the dim along which numbers of rows are read and written, -1: lane 0 of them is read
} pb_split;

static inline int64_t pb__layout_blocks(int64_t extent, int64_t block) { return (extent + block - 1) / block; }

// Whether value v lies in rows of lanes along its channels.
static inline bool pb__layout_in_rows(const pb_layout* l, int v) {
  return l->values[v].kind == PB_LAYOUT_BLOCKED || l->values[v].kind == PB_LAYOUT_ENDING;
}

// ---- rewrite.c: nests and what they access, over split dims; what is printed ----

// Whether the nest is a contraction, and its roles if so.
bool pb__layout_contraction_dims(const pb_layout* l, int n, pb_contraction_dims* roles);
int pb__layout_dim_of_role(const pb_nest* nest, const pb_contraction_dims* roles,
                           pb_role role);      // -1: none, -2: several
void pb__layout_describe(pb_layout* l, int v); // its type and name, once its layout is chosen
void pb__layout_declare(pb_layout* l, const pb_access* access);
void pb__layout_note_const(pb_layout* l, pb_layout_const c); // of which the table knows type and shape
void pb__layout_use_const(pb_layout* l, pb_access* access, int id, bool splat);
void pb__layout_use_value(const pb_layout* l, pb_access* access, int v);
void pb__layout_use_made(const pb_layout* l, pb_access* access, int v); // where nests store what they make of it
// No dim is split, and none kept.
void pb__layout_split_none(pb_split* s);
// New dims in order: blocks of size[d] and whole dims (size 0) where they stood, lanes behind all of them. Whole blocks
// of several rows of lanes are rows and lanes, as contractions walk them. `pads` (NULL: none): whole dims that grow to
// whole rows.
void pb__layout_split(const pb_layout* l, const pb_nest* nest, const int64_t* size, const bool* pads, pb_nest* out,
                      pb_split* s);
void pb__layout_spread(const pb_split* s, const pb_index* from, int dims, pb_index* to);
// An access to a value over the new dims.
void pb__layout_rewrite(const pb_layout* l, const pb_split* s, const pb_nest* nest, int v, const pb_access* from,
                        pb_access* to);
// Nest n over its own dims, of which `channel` is split into blocks and lanes; -1: none is.
void pb__layout_rewrite_blocks(pb_layout* l, int n, int channel, pb_nest* out);
void pb__layout_print_plain(pb_layout* l, int n); // as it is, over its values as they lie
// plain.c: what nest n, which is `out` over its own dims and of plain tensors alone, reads otherwise than in rows of
// lanes of what it stores.
void pb__layout_spread_in_plain(pb_layout* l, int n, pb_nest* out);
void pb__layout_rewrite_all(pb_layout* l, int n, const pb_split* s, const pb_nest* nest, pb_nest* out);
// A new constant: element (p0, p1, ...) is source[access index at the nest dims that the p's add up to].
// Returns its id. The data is made in the table's arena.
int pb__layout_pack(pb_layout* l, int source, const pb_access* access, const int64_t* nest_extent, int dim_count,
                    const pb_pack_dim* dims, const char* suffix, int shape_rank, const int64_t* shape);
// Scalar factors become loads of rows of equal numbers, unless instructions take the numbers themselves.
void pb__layout_splat(pb_layout* l, pb_nest* nest);
// Prints a rewritten nest; rows of tensors that are cut in runs get their two indices.
void pb__layout_print(pb_layout* l, const pb_nest* nest);
// Declares a tensor and prints the copy of another one to it, by the loops that the nest has.
void pb__layout_print_copy(pb_layout* l, pb_nest* copy, const pb_access* from, const pb_access* to);
void pb__layout_print_program(pb_layout* l, pb_text* text);

// Whether a contraction is one by constant weights.
static inline bool pb__layout_weighs(const pb_layout* l, int n, const pb_contraction_dims* roles) {
  return pb_program_is_const(&l->program, n, roles->w);
}

// The one dim that walks x, w and y together, when each group has one input and one output channel; -1: no such nest.
int pb__layout_depthwise(const pb_nest* nest, const pb_contraction_dims* roles);

// ---- late.c: weights that come, or are computed, when the program runs ----

// Contractions of many rows read them as constants from then on. Where the program was read, in front of all else.
void pb__layout_take_late_weights(pb_layout* l);
// Prints the nest that packs constant `id`, where it is one of such weights, in front of what will read it.
void pb__layout_pack_late(pb_layout* l, int id, const pb_access* access, const int64_t* nest_extent, int count,
                          const pb_pack_dim* dims);
// Zeros behind the first `held` elements of the tensor's dim r: of the dims in front of it where there is something, of
// those behind it everywhere. So no element is written twice.
void pb__layout_fill_behind(pb_layout* l, const char* name, const char* part, const pb_access* to, const int64_t* held,
                            int r);

// ---- lies.c: what lies along the lanes, by role ----

void pb__layout_find_lies(pb_layout* l); // behind pb__layout_find_heads, in front of twins
// What nest n by itself says of the tensor that its access a walks.
pb_layout_lie pb__layout_said(const pb_layout* l, int n, int a);
// Whether value v, or the tensor whose twin it is, has channels along its lanes.
bool pb__layout_has_channels(const pb_layout* l, int v);

// ---- collapse.c: tensors whose lanes, by role, are their last dim become rows ----

void pb__layout_read_sources(pb_layout* l); // in front of pb__layout_find_lies
void pb__layout_collapse(pb_layout* l);     // behind it, in front of twins and of choosing layouts

// ---- nests.c ----

// The nest with elements [first, first + count) of its dim, which is to be split: whole blocks, or what is left of one.
void pb__layout_take_part(const pb_nest* nest, int dim, int64_t first, int64_t count, pb_nest* part, pb_split* s);
// A number into the lanes of the last block, or of a padded row, that no channel fills, where `store` walks the tensor
// (NULL: everywhere).
void pb__layout_fill_rest(pb_layout* l, const pb_nest* nest, const pb_access* store, int v, int64_t channels,
                          double number);

// In front of a nest that sets the only channel of a tensor in blocks: the lanes that it leaves.
void pb__layout_complete_single_channel(pb_layout* l, int n);
void pb__layout_rewrite_nest(pb_layout* l, int n); // that is no contraction

// ---- choose.c: which value gets which layout ----

int64_t pb__layout_summed_channels(const pb_layout* l);         // l->summed
int64_t pb__layout_block(const pb_layout* l, int64_t channels); // that lie next to each other
void pb__layout_find_heads(pb_layout* l);                       // l->heads
// Of a set of values, one of l's, those go that `stays` denies, which asks what others are, until it denies none.
typedef bool (*pb_layout_stays)(const pb_layout* l, int v);
void pb__layout_settle(const pb_layout* l, bool* set, pb_layout_stays stays);
// Whether the value may lie otherwise than the model has it, whatever it is: no edge, and nothing that is apart touches
// it.
bool pb__layout_is_open(const pb_layout* l, int v);
void pb__layout_choose(pb_layout* l);

// ---- few.c: values of few channels ----

void pb__layout_find_few(pb_layout* l); // behind twins
// The dim of channels whose lanes nest n, a contraction with few columns, sums apart; -1: it has its lanes otherwise.
int pb__layout_dot(const pb_layout* l, int n, const pb_contraction_dims* roles);

// ---- fits.c: what nests ask of the layouts of values ----

// Whether the access goes through its channels in such a way that rows of lanes stay rows of lanes: one dim through all
// of them, or through a part that begins with a block; groups of whole blocks.
bool pb__layout_walks(const pb_layout* l, const pb_nest* nest, const pb_access* access);
// The same of nest n's access a; of groups that are cut in blocks of code's vectors too.
bool pb__layout_walks_blocks(const pb_layout* l, int n, int a);
// Splitting dims into blocks and lanes makes more of them: in a contraction blocks and lanes of results and of what is
// summed, else some for each dim that walks blocks. Constants are packed dim by dim. Whether nest n has room for them,
// and how many it needs.
bool pb__layout_has_room(const pb_layout* l, int n, int* dims, int* packed);
// Whether nest n sets elements so that lanes are another dim than those of what it reads.
bool pb__layout_turns(const pb_layout* l, int n);
// Whether the nest adds up (or takes the largest of) what lies along the lanes: lanes that are filled up would count.
// Sums of products are none of these, as their weights are zero there.
bool pb__layout_sums_lanes(const pb_layout* l, const pb_nest* nest, const pb_access* access);
// Whether nest n, by its access a to value v, has no use for blocks of it. Dim 1 of stacks of matrices is no channel.
bool pb__layout_asks_for_plain(const pb_layout* l, int n, int a, int v);
// Whether a nest has no use for blocks of the value, and whether all walk it so that it can have some, as far as others
// than nest `but` read it.
bool pb__layout_stays_plain(const pb_layout* l, int v);
bool pb__layout_can_block(const pb_layout* l, int v, int but);
void pb__layout_keep_plain(pb_layout* l, int v);

// ---- apart.c: operators left for another target ----

bool pb__layout_is_apart(const pb_layout* l, int n);
void pb__layout_set_apart(pb_layout* l, int n);
bool pb__layout_touched(const pb_layout* l, int v, bool apart); // by such operators, or by others
// Nests that write a value together stay together, and what no layout fits stays apart. true: an operator was added.
bool pb__layout_grow_apart(pb_layout* l);

// ---- edges.c: tensors that lie in two layouts ----

void pb__layout_add_twins(pb_layout* l);  // in front of choosing layouts
void pb__layout_drop_twins(pb_layout* l); // behind it: those that are as plain as their edge
bool pb__layout_flattened(const pb_layout* l, int v);
bool pb__layout_widens_codes(const pb_layout* l, int n);             // an output that its codes leave as, in more bytes
const pb_layout_twin* pb__layout_twin_of(const pb_layout* l, int v); // whose twin v is, NULL: of none
int pb__layout_edge_of(const pb_layout* l, int v);                   // what v is the twin of, else v itself
bool pb__layout_unused(const pb_layout* l, int v);                   // a twin that was dropped
// A tensor of the graph's edge, or a twin of one that will be dropped: as what it comes in or leaves. Else it is LOCAL.
pb_value_kind pb__layout_kind_at_edge(const pb_layout* l, int v);
// To a copy rows of lanes are rows of lanes, wherever they end.
pb_layout_kind pb__layout_kind_of(const pb_layout* l, int v);
// The first access by which the nest reads a value of a kind, -1: none.
int pb__layout_reads_kind(const pb_layout* l, int n, pb_layout_kind kind);
// Whether access a reads one of that kind.
bool pb__layout_reads_as(const pb_layout* l, int n, int a, pb_layout_kind kind);

// ---- crossings.c: between plain tensors and blocks ----

// Whether nest n takes from the one and makes the other, so that there is more to do than to split its dims.
bool pb__layout_crosses(const pb_layout* l, int n);
pb_status pb__layout_cross(pb_layout* l, int n) PB_MUST_CHECK;

// ---- rows.c: one number for each row of lanes ----

void pb__layout_choose_rows(pb_layout* l);
bool pb__layout_read_by_rows(const pb_layout* l, int v); // a number is made of each of its rows
// Whether value v, of which that is so, has rows that end inside a row of lanes, and the chip counts lanes there.
bool pb__layout_ends_rows(const pb_layout* l, int v);
// What such values are made of element by element lies as they do: a product's sums and their codes are one shape.
void pb__layout_choose_ends(pb_layout* l);
// Whether nest n makes a number of each row.
bool pb__layout_takes_rows(const pb_layout* l, int n);
// Whether the value is made with a number for each of its rows, which stands in all lanes.
bool pb__layout_made_with_numbers(const pb_layout* l, int v);
bool pb__layout_has_rows(const pb_layout* l, int n); // nest n reads or writes such numbers
// Nests of products of two computed tensors, of tables, and with numbers of rows.
void pb__layout_rewrite_rows(pb_layout* l, int n);
// Whether nest n copies rows of a table that a command gathers by a tensor of numbers.
bool pb__layout_gathers_rows(const pb_layout* l, int n);
// Whether the chip looks up what the nest does: in constants, of as many elements as its tables have; or gathers rows.
bool pb__layout_looks_up(const pb_layout* l, int n);

// ---- heads.c: heads that end inside a row of lanes get rows of their own ----

void pb__layout_part_heads(pb_layout* l); // behind pb__layout_collapse
// Whether the value is a copy with a row for each head, behind whose last element lies the zero of its codes.
bool pb__layout_ends_in(const pb_layout* l, int v, double* zero);

// ---- products.c: products of two computed tensors, whose sums may end inside a row of lanes ----

pb_status pb__layout_check_rows(const pb_layout* l, int n) PB_MUST_CHECK;
// The number that the access's codes are less in the nest. false: it is none, or not known now.
bool pb__layout_zero_of_codes(const pb_nest* nest, int access, double* zero);
void pb__layout_choose_runs(pb_layout* l);
// Whether dims of the index step over whole runs, or stay within one; `cuts`: once those that do both are cut in two.
bool pb__layout_keeps_runs(const pb_nest* nest, const pb_index* index, int64_t run, bool cuts);
// Puts a box around the second factor where whole rows of lanes reach past its end.
void pb__layout_box_rows(const pb_layout* l, int n, pb_nest* out);
// The accesses of a nest to values whose rows are runs get their two indices.
void pb__layout_cut_runs(const pb_layout* l, pb_nest* nest);

// ---- groups.c: convolutions of groups ----

// y[g * outs + o] += x[g * ins + c] * w[.., c]. Dims of the groups, of results and of inputs within one, -1 where that
// extent is 1.
typedef struct pb_grouped {
  int g, o, c;
  int64_t groups, outs, ins;
  bool of_floats;
} pb_grouped;

// The first dim of the role that walks the index; -1: none.
int pb__layout_dim_with(const pb_nest* nest, const pb_contraction_dims* roles, pb_role role, const pb_index* index);
// Whether the nest is a convolution of groups.
bool pb__layout_read_groups(const pb_nest* nest, const pb_contraction_dims* roles, pb_grouped* out);

// How their groups are cut: those in one block of x or y, and those in one vector of y.
typedef struct pb_layout_groups {
  int64_t block, lanes;
} pb_layout_groups;

void pb__layout_merge_groups(pb_layout* l); // in front of choosing layouts
// Whether nest n is one whose tensors can have blocks, and how it is cut then.
bool pb__layout_grouped(const pb_layout* l, int n, pb_grouped* g, pb_layout_groups* s);
bool pb__layout_walks_groups(const pb_layout* l, int n, int a);
// Both its tensors have blocks or none. true: some value was refused, and layouts must be chosen again.
bool pb__layout_refuse_groups(pb_layout* l);

// ---- rest.c: lanes that no channel fills. Which values' are cleaned, once all have their layouts; and the nest that
// does it, behind the last that makes what nest n makes ----

void pb__layout_find_rests(pb_layout* l);
void pb__layout_mask_rest(pb_layout* l, int v, pb_nest* nest); // a rewritten nest that makes value v
void pb__layout_clean_rest(pb_layout* l, int n);
// Whether the value is the largest of others.
bool pb__layout_maximises(const pb_program* program, int v);
// Whether the chip has an instruction for what pb__layout_put_mask says.
bool pb__layout_masks(const pb_chip* chip);
static inline bool pb__layout_has_room_for_mask(const pb_nest* nest) {
  return nest->access_count < PB_NEST_ACCESSES && nest->expr_count + 4 <= PB_NEST_EXPR;
}
// The nest's number, where a mask has ones, else 0. Returns the mask's access, in front of the store: its type is
// there.
int pb__layout_put_mask(pb_nest* nest);
// Whether a sum of products, if of floats, comes out right in rows of lanes.
pb_status pb__layout_check_floats(pb_layout* l, int n, const pb_contraction_dims* roles) PB_MUST_CHECK;

// ---- gather.c: rows of whole windows, for contractions over few channels ----

typedef struct pb_gather {
  pb_nest nest;              // the contraction over the rows
  pb_contraction_dims roles; // of it
  int weights;               // of it
  pb_nest copy;              // that writes them
  int64_t windows;           // how much of a row that is
} pb_gather;

// A window's dim that stays one of the sum, and the rows' dim beside which it walks an index of x.
typedef struct pb_strips {
  int window, row; // -1: windows are gathered whole
  int axis;        // of x
  int64_t strip;   // neighbours along the axis that one pixel has; the sum goes from strip to strip
  int64_t step;    // strips from window to window
  int64_t extent;  // strips
} pb_strips;

// Which of a window's dims stays one of the sum, by what movers can do and by what it takes (strips.c).
pb_strips pb__layout_strips(const pb_layout* l, const pb_nest* nest, const pb_contraction_dims* roles);
// What brings runs of x to where products take them; NULL: nothing does.
const pb_insn* pb__layout_mover_of_runs(const pb_layout* l, const pb_contraction_dims* roles);
// The dim along which a command takes the most iterations, of rows where roles are told, but dim `but`; -1: it takes
// one. extent: the least that each of its dims can have.
int pb__layout_longest_dim(const pb_insn* insn, const pb_contraction_dims* roles, int but, int64_t* extent);
// Cycles of gathering windows and of their sums, as the better of both ways has it; 0: it is not told by strips of
// rows.
int64_t pb__layout_gather_price(const pb_layout* l, const pb_nest* nest, const pb_contraction_dims* roles);
// signs.c: appends the code with its sign bit turned over.
int pb__layout_turn_sign(pb_nest* nest, pb_type type, int code);
// What instructions take without sign is stored so, once values have their layouts.
void pb__layout_store_without_sign(pb_layout* l);
// Whether the nest's instruction takes x without sign.
bool pb__layout_flips(pb_layout* l, int n, const pb_contraction_dims* roles);
// The dim of a window's columns, whose neighbours a contraction of few channels takes in groups; -1: it does not.
int pb__layout_window(const pb_layout* l, int n, const pb_contraction_dims* roles);
// The K dim along the x's axis, whose elements are neighbours; `alone`: on it but for batches. -1: none, or several.
int pb__layout_summed_along(const pb_nest* nest, const pb_contraction_dims* roles, int axis, bool alone);
// Gathering pays when lanes over channels would be mostly empty: few channels and a window.
bool pb__layout_should_gather(const pb_layout* l, const pb_nest* nest, const pb_contraction_dims* roles);
// Where it walks columns of the image or strips of its rows, and what brings them knows boxes, it reads the image
// through one instead of a padded image that only it reads.
void pb__layout_open_pad(pb_layout* l, int n, const pb_contraction_dims* roles);
pb_gather* pb__layout_gather(pb_layout* l, int n, const pb_contraction_dims* roles);
void pb__layout_print_gather(pb_layout* l, const pb_gather* g);

// ---- contract.c ----

// Rewrites a sum of products in the order of the chip's instruction. false: it stays a plain nest.
bool pb__layout_contraction(pb_layout* l, int n, const pb_contraction_dims* roles);
// Results, and channels that are summed, that the chip's instruction for the contraction takes at once, of a row of
// lanes: an array's two sides may differ.
void pb__layout_sides(const pb_layout* l, const pb_contraction_dims* roles, int64_t* columns, int64_t* sums);
// Whether nest n sets what the reduction then adds to. Contractions that were rewritten print their own.
bool pb__layout_is_init(const pb_layout* l, int n, int reduction);

#endif
