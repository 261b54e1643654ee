// Random legal programs on the RTL against the reference: every memory is compared at the end.
//   random_programs MODEL PROGRAMS SEED [OPTIONS [drop LEAST]]
// Each program's seed is printed when it fails; rerun with PROGRAMS 1 and that seed. With `drop` one token is taken out
// of each program, and the test is that so many of them then go wrong: LEAST is what was counted with these seeds. Not
// every token is needed, as its order may follow from others; and on the RTL, which checks nothing, the other order
// must also come about and change a byte.
#include "program.h"
#include "reference.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Small windows on the memories, so that commands meet.
enum { SPAD_ROWS = 256, ACC_ROWS = 64, DATA_BYTES = 16384, COMMANDS = 120, TABLE = 256 };

typedef struct generator {
  program g;
  uint64_t state;
  int d;
} generator;

static uint32_t draw(generator* r, uint32_t below) {
  r->state ^= r->state << 13;
  r->state ^= r->state >> 7;
  r->state ^= r->state << 17;
  return (uint32_t)((r->state >> 16) % below);
}

static void set(pb_command* c, const char* field, int64_t value) {
  int f = pb_insn_field(c->insn, field);
  if (f < 0) return;
  if (value < 0 && !c->insn->fields[f].is_signed) value &= (1 << c->insn->fields[f].width) - 1;
  c->values[f] = value;
}

// Base and strides of ni x nj pieces of `piece` within `space`. A window that is written has its pieces apart.
static void window(generator* r, pb_command* c, const char* base, const char* si, const char* sj, int space, int piece,
                   int grain, bool apart) {
  int64_t ni = command_field(c, "ni"), nj = command_field(c, "nj");
  for (int tries = 0;; ++tries) {
    int64_t lo = apart ? piece : 0, room = tries < 50 ? 4 * piece : 1;
    int64_t j = lo + (int64_t)draw(r, (uint32_t)room), i = (apart ? nj * j : 0) + (int64_t)draw(r, (uint32_t)room);
    if (draw(r, 3) == 0) j = piece;
    j -= j % grain;
    if (apart && i < nj * j) i = nj * j;
    i += (grain - i % grain) % grain;
    int64_t span = (ni - 1) * i + (nj - 1) * j + piece;
    if (span > space) {
      if (tries > 60) set(c, "ni", ni = 1), set(c, "nj", nj = 1);
      continue;
    }
    int64_t at = draw(r, (uint32_t)(space - span + 1));
    set(c, base, at - at % grain);
    set(c, si, i);
    set(c, sj, j);
    return;
  }
}

static void extents(generator* r, pb_command* c) {
  set(c, "ni", 1 + draw(r, 4));
  set(c, "nj", draw(r, 4) == 0 ? 1 + draw(r, 24) : 1 + draw(r, 6));
}

static void make_move(generator* r, pb_command* c) {
  const char* name = c->insn->name;
  bool word = name[2] == 'A', store = name[0] == 'S';
  int grain = word ? 4 : draw(r, 2) ? 16 : 1, unit = word ? 4 : 1;
  extents(r, c);
  int nb = 1 + (int)draw(r, draw(r, 3) == 0 ? 100 : 20);
  if (grain == 16) nb = 16 * (1 + (int)draw(r, 4));
  set(c, "nb", nb);
  set(c, "arg", draw(r, 2));
  window(r, c, "off", "si", "sj", DATA_BYTES, nb * unit, grain, store);
  window(r, c, "loc", "li", "lj", (word ? ACC_ROWS * 4 : SPAD_ROWS) * r->d, nb * unit, grain, !store);
  if (command_field(c, "ni") == 1 && command_field(c, "nj") == 1) set(c, "si", 0);
  uint32_t ni = (uint32_t)command_field(c, "ni"), nj = (uint32_t)command_field(c, "nj");
  bool whole = draw(r, 2);
  set(c, "ilo", whole ? 0 : draw(r, ni + 1));
  set(c, "ihi", whole ? ni : draw(r, ni + 1));
  set(c, "jlo", whole ? 0 : draw(r, nj + 1));
  set(c, "jhi", whole ? nj : draw(r, nj + 1));
  set(c, "blo", whole ? 0 : draw(r, (uint32_t)nb + 1));
  set(c, "bhi", whole ? nb + (int)draw(r, 2) : (int)draw(r, (uint32_t)nb + 2));
  set(c, "fill", (int)draw(r, 256) - 128);
}

static void make_vector(generator* r, pb_command* c, bool codes_in, bool codes_out) {
  int in = codes_in ? SPAD_ROWS : ACC_ROWS, out = codes_out ? SPAD_ROWS : ACC_ROWS;
  extents(r, c);
  window(r, c, "y", "yi", "yj", out, 1, 1, true);
  if (draw(r, 4) == 0 && codes_in == codes_out) { // in place
    set(c, "a", command_field(c, "y"));
    set(c, "ai", command_field(c, "yi"));
    set(c, "aj", command_field(c, "yj"));
  } else
    window(r, c, "a", "ai", "aj", in, 1, 1, false);
  bool of_words = strcmp(c->insn->name, "VADDQ") != 0;
  if (pb_insn_field(c->insn, "b") >= 0) window(r, c, "b", "bi", "bj", of_words ? ACC_ROWS : in, 1, 1, false);
  set(c, "pt", draw(r, (uint32_t)(ACC_ROWS - TABLE / r->d + 1)));
  static const char* const rows[] = {"pb", "ps", "psa", "psb"};
  for (int n = 0; n < 4; ++n) set(c, rows[n], draw(r, ACC_ROWS));
  int lo = (int)draw(r, 256) - 128, hi = (int)draw(r, 256) - 128;
  set(c, "lo", lo < hi ? lo : hi);
  set(c, "hi", lo < hi ? hi : lo);
  static const char* const zeros[] = {"zp", "za", "zb"};
  for (int n = 0; n < 3; ++n) set(c, zeros[n], (int)draw(r, 256) - 128);
  set(c, "acc", draw(r, 2));
  int64_t lanes = 1 + command_field(c, "a") % (2 * r->d); // as random as the row; half of them are whole rows
  set(c, "nn", lanes < r->d ? lanes : r->d);
}

// Lines that meet in a bank or not, near each other or the same.
static void make_windows(generator* r, pb_command* c) {
  const pb_dim *lines = &c->insn->dims[3], *taps = &c->insn->dims[4];
  extents(r, c);
  set(c, "nr", 1 + draw(r, (uint32_t)lines->max));
  set(c, "nt", 1 + draw(r, (uint32_t)taps->max));
  int64_t across = (command_field(c, "nj") - 1) * command_window_step(c) + command_field(c, "nt");
  int64_t room = SPAD_ROWS - across, lower = command_field(c, "nr") - 1, more = command_field(c, "ni") - 1;
  int64_t ar = draw(r, (uint32_t)(lower ? room / 2 / lower : 100));
  int64_t ai = draw(r, (uint32_t)(more ? room / 2 / more : 100));
  set(c, "ar", ar);
  set(c, "ai", ai);
  set(c, "a", draw(r, (uint32_t)(room - lower * ar - more * ai + 1)));
  int weights = (int)lower * command_line(c) + (int)command_field(c, "nt");
  set(c, "w", draw(r, (uint32_t)(2 * r->d - weights + 1)));
  window(r, c, "c", "ci", "cj", ACC_ROWS, 1, 1, draw(r, 2));
  set(c, "zx", draw(r, 3) ? 0 : (int)draw(r, 256) - 128);
  set(c, "acc", draw(r, 2));
}

// A vector command reads rows while earlier ones are on their way: it may write what it reads only row for row.
static bool sound(const generator* r, const pb_command* c) {
  access a[MAX_ACCESSES];
  int n = command_accesses(r->g.chip, r->g.args, c, a);
  const access* y = &a[n - 1];
  if (c->insn->name[0] != 'V') return true;
  bool in_place = command_field(c, "a") == command_field(c, "y") && command_field(c, "ai") == command_field(c, "yi") &&
                  command_field(c, "aj") == command_field(c, "yj");
  for (int k = 0; k < n - 1; ++k) {
    bool meets = a[k].place == y->place && a[k].lo < y->hi && y->lo < a[k].hi;
    if (meets && !(k == 0 && in_place && strncmp(c->insn->name, "VR", 2) != 0 && strcmp(c->insn->name, "VSUMQ") != 0))
      return false;
  }
  return true;
}

static void make_command(generator* r) {
  // Moves and products are drawn so often that most tokens order something.
  static const char* const names[] = {
      "LDS0",  "LDS1",   "LDA0",  "LDA1",   "STS",    "STA",   "LDR0",  "LDR1",   "LDA0",   "LDA1",  "STS",   "STA",
      "WLD",   "WLD",    "WLDT",  "WLDR",   "MMA",    "MMA",   "MMA",   "MMA",    "MMA",    "MMC3",  "MMC3",  "MMC3X2",
      "MMC5",  "MMC5X2", "VRQ",   "VADDQ",  "VQ",     "VMAXQ", "VSUMQ", "VDQ",    "VI2F",   "VADD",  "VSUB",  "VMUL",
      "VMAX",  "VMIN",   "VSUM",  "VSUM",   "VMOST",  "VMOST", "VEXP2", "VRECIP", "VRSQRT", "VRSUM", "VRMAX", "VDIV",
      "VSQRT", "VLUT",   "VLUTQ", "VRMAXQ", "VRSUMQ", "VRSQQ", "VRLUT", "VBELOW", "VSUBQ",  "VNQ"};
  for (;;) {
    const char* name = names[draw(r, sizeof names / sizeof *names)];
    pb_command* c = program_add(&r->g, name, (const field_value[]){{0}});
    bool codes_in = command_on_codes(c, false), codes_out = command_on_codes(c, true);
    if (name[0] == 'V')
      make_vector(r, c, codes_in, codes_out);
    else if (!strncmp(name, "MMC", 3))
      make_windows(r, c);
    else if (!strcmp(name, "WLDR")) {
      int nk = 1 + (int)draw(r, (uint32_t)r->d);
      set(c, "nk", nk);
      set(c, "w", draw(r, (uint32_t)(2 * r->d - nk + 1)));
      int step = (int)draw(r, (uint32_t)((SPAD_ROWS - 1) / r->d));
      set(c, "sk", step);
      set(c, "src", draw(r, (uint32_t)(SPAD_ROWS - step * nk)));
    } else if (!strncmp(name, "WLD", 3)) {
      int step = (int)draw(r, (uint32_t)((SPAD_ROWS - 1) / (r->d - 1)) + 1);
      set(c, "sk", step);
      set(c, "sn", step);
      set(c, "src", draw(r, (uint32_t)(SPAD_ROWS - step * (r->d - 1))));
      set(c, "w", draw(r, 2));
    } else if (!strcmp(name, "MMA")) {
      extents(r, c);
      window(r, c, "a", "ai", "aj", SPAD_ROWS, 1, 1, false);
      window(r, c, "c", "ci", "cj", ACC_ROWS, 1, 1, draw(r, 2));
      set(c, "zx", draw(r, 3) ? 0 : (int)draw(r, 256) - 128);
      set(c, "zw", draw(r, 3) ? 0 : (int)draw(r, 256) - 128);
      set(c, "w", draw(r, 2));
      set(c, "acc", draw(r, 2));
    } else
      make_move(r, c);
    if (sound(r, c)) return;
    --r->g.count;
  }
}

// Whether all that the command touches lies in the windows that programs keep to.
static bool inside(const generator* r, const pb_command* c) {
  access a[MAX_ACCESSES];
  int n = command_accesses(r->g.chip, r->g.args, c, a);
  for (int k = 0; k < n; ++k) {
    int64_t lo = 0, hi = a[k].place == IN_SPAD ? SPAD_ROWS * r->d : ACC_ROWS * 4 * r->d;
    if (a[k].place == IN_DRAM) lo = (int64_t)r->g.args[command_field(c, "arg")], hi = lo + DATA_BYTES;
    if (a[k].place != IN_WREG && (a[k].lo < lo || a[k].hi > hi)) return false;
  }
  return true;
}

// The last commands again and again, each time with steps of their own: loops, once they are rolled.
static void repeat(generator* r) {
  static const char* const bases[] = {"a", "b", "y", "c", "src", "loc", "off", "zp", "fill", "lo"};
  int length = 1 + (int)draw(r, 3), turns = 3 + (int)draw(r, 10), from = r->g.count - length, moved[3], step[3];
  for (int k = 0; k < length; ++k) {
    moved[k] = (int)draw(r, sizeof bases / sizeof *bases);
    step[k] = ((int)draw(r, 5) - 2) * (moved[k] == 5 || moved[k] == 6 ? 16 : 1);
  }
  for (int turn = 1; turn < turns; ++turn)
    for (int k = 0; k < length; ++k) {
      pb_command next = r->g.commands[from + (turn - 1) * length + k];
      int f = pb_insn_field(next.insn, bases[moved[k]]);
      if (f >= 0) next.values[f] += step[k];
      bool fits = f < 0 || (next.values[f] >= pb_field_min(&next.insn->fields[f]) &&
                            next.values[f] <= pb_field_max(&next.insn->fields[f]));
      if (!fits || !inside(r, &next) || !sound(r, &next)) return;
      *program_add(&r->g, next.insn->name, (const field_value[]){{0}}) = next;
    }
}

static uint32_t random_word(generator* r) {
  float x;
  uint32_t bits;
  switch (draw(r, 8)) {
  case 0:
    return draw(r, 1u << 16) << 16 | draw(r, 1u << 16);
  case 1:
    return draw(r, 2) << 31 | (draw(r, 2) ? 0x7f800000u : 0);
  case 2:
    return draw(r, 2) << 31 | draw(r, 1u << 24); // subnormal and just above
  case 3:
    return draw(r, 20000) - 10000; // a sum
  default:
    x = ((float)draw(r, 1u << 20) - (1 << 19)) * 0x1p-16f;
    break;
  }
  memcpy(&bits, &x, sizeof bits);
  return bits;
}

static void whole(generator* r, const char* insn, int arg, int rows, int row_bytes) {
  int nb = row_bytes / (insn[2] == 'A' ? 4 : 1);
  ADD(&r->g, insn, {"arg", arg}, {"ni", 1}, {"nj", rows}, {"nb", nb}, {"sj", row_bytes}, {"lj", row_bytes},
      {"ihi", insn[0] == 'L'}, {"jhi", insn[0] == 'L' ? rows : 0});
}

// Takes out one wait and the signal that it answers to: of a pair of queues, the k-th of each.
static void drop_token(generator* r) {
  program* g = &r->g;
  for (;;) {
    int n = (int)draw(r, (uint32_t)g->count), from = (int)draw(r, QUEUES), to = g->commands[n].insn->queue, nth = 0;
    if (!(g->commands[n].waits >> from & 1)) continue;
    for (int m = 0; m < n; ++m) nth += g->commands[m].insn->queue == to && (g->commands[m].waits >> from & 1);
    g->commands[n].waits &= ~(1u << from);
    for (int m = 0;; ++m)
      if (g->commands[m].insn->queue == from && (g->commands[m].signals >> to & 1) && nth-- == 0) {
        g->commands[m].signals &= ~(1u << to);
        return;
      }
  }
}

static int run_program(device* dev, uint64_t seed, bool drop) {
  generator r = {.state = seed * 0x9e3779b97f4a7c15ull | 1, .d = dev->lanes};
  program_init(&r.g, dev->chip);
  dev->ops->free_all(dev->handle);
  uint64_t sizes[6] = {DATA_BYTES,
                       DATA_BYTES,
                       (uint64_t)(SPAD_ROWS * r.d),
                       (uint64_t)(ACC_ROWS * r.d * 4),
                       (uint64_t)(SPAD_ROWS * r.d),
                       (uint64_t)(ACC_ROWS * r.d * 4)};
  uint64_t end = 0;
  for (int n = 0; n < 6; ++n) {
    device_argument(dev, &r.g, sizes[n]);
    end = r.g.args[n] + sizes[n];
  }
  reference ref;
  reference_init(&ref, dev->chip, end);
  for (uint64_t b = r.g.args[0]; b < end; b += 4) {
    uint32_t word = b >= r.g.args[3] ? random_word(&r) : draw(&r, 1u << 16) << 16 | draw(&r, 1u << 16);
    memcpy(ref.dram + b, &word, 4);
  }
  device_fill(dev, &r.g, ref.dram);
  whole(&r, "LDS0", 2, SPAD_ROWS, r.d);
  ADD(&r.g, "LDA1", {"arg", 3}, {"ni", 1}, {"nj", ACC_ROWS}, {"nb", r.d}, {"sj", 4 * r.d}, {"lj", 4 * r.d}, {"ihi", 1},
      {"jhi", ACC_ROWS});
  for (int w = 0; w < 2; ++w) ADD(&r.g, "WLD", {"src", w * r.d}, {"sk", 1}, {"w", w});
  r.g.rolled = draw(&r, 4) != 0;
  while (r.g.count < COMMANDS) {
    make_command(&r);
    if (r.g.rolled && draw(&r, 8) == 0) repeat(&r);
  }
  ADD(&r.g, "STS", {"arg", 4}, {"ni", 1}, {"nj", SPAD_ROWS}, {"nb", r.d}, {"sj", r.d}, {"lj", r.d});
  ADD(&r.g, "STA", {"arg", 5}, {"ni", 1}, {"nj", ACC_ROWS}, {"nb", r.d}, {"sj", 4 * r.d}, {"lj", 4 * r.d});
  program_order(&r.g);
  if (drop) drop_token(&r);
  int bad = device_run(dev, &r.g, 2000000);
  if (bad && !drop) printf("seed %llu: %s\n", (unsigned long long)seed, dev->ops->last_fault(dev->handle));
  reference_run(&ref, &r.g);
  char difference[128];
  reference_compare(&ref, &r.g, dev, difference, sizeof difference);
  if (!bad && difference[0]) {
    if (!drop) printf("seed %llu: %s\n", (unsigned long long)seed, difference);
    bad = 1;
  }
  reference_free(&ref);
  program_free(&r.g);
  return bad;
}

int main(int argc, char** argv) {
  if (argc < 4) return 2;
  device dev;
  device_start(&dev, argv[1], argc > 4 ? argv[4] : NULL);
  int failed = 0, count = atoi(argv[2]);
  uint64_t seed = strtoull(argv[3], NULL, 10);
  bool drop = argc > 5 && strcmp(argv[5], "drop") == 0;
  for (int n = 0; n < count && (drop || failed < 5); ++n) failed += run_program(&dev, seed + (uint64_t)n, drop) != 0;
  printf("%s: %d programs, %d failed, %llu cycles\n", argv[1], count, failed,
         (unsigned long long)device_counter(&dev, "cycles"));
  device_stop(&dev);
  return drop ? failed < (argc > 6 ? atoi(argv[6]) : 1) : failed > 0;
}
