#include "reference.h"

#include "tdl/function.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void reference_init(reference* r, const pb_chip* chip, uint64_t dram_bytes) {
  const pb_memory* spad = &chip->memories[pb_chip_memory(chip, "SPAD")];
  const pb_memory* acc = &chip->memories[pb_chip_memory(chip, "ACC")];
  r->lanes = (int)spad->row_bytes;
  r->spad_bytes = spad->bytes;
  r->acc_bytes = acc->bytes;
  r->spad = calloc(1, (size_t)spad->bytes);
  r->acc = calloc(1, (size_t)acc->bytes);
  r->wreg = calloc(1, (size_t)(2 * r->lanes * r->lanes));
  r->dram = calloc(1, dram_bytes);
  r->dram_bytes = dram_bytes;
}

void reference_free(reference* r) {
  free(r->spad);
  free(r->acc);
  free(r->wreg);
  free(r->dram);
}

static float canonical(float x) {
  static const uint32_t quiet = 0x7fc00000;
  if (isnan(x)) memcpy(&x, &quiet, sizeof x);
  return x;
}
static float add(float a, float b) { return canonical(a + b); }
static float mul(float a, float b) { return canonical(a * b); }
static float below(float a, float b) { return a < b || (a == b && signbit(a) && !signbit(b)); }

float reference_max(float a, float b) {
  if (isnan(a)) return canonical(b);
  if (isnan(b)) return a;
  return below(a, b) ? b : a;
}
// The same, where NaN wins.
static float reference_maximum(float a, float b) { return isnan(a) || isnan(b) ? canonical(NAN) : reference_max(a, b); }
float reference_min(float a, float b) {
  if (isnan(a)) return canonical(b);
  if (isnan(b)) return a;
  return below(b, a) ? b : a;
}

// A command's fields by name, and rows of the memories.
static int64_t get(const pb_command* c, const char* name) {
  int field = pb_insn_field(c->insn, name);
  assert(field >= 0);
  return c->values[field];
}
static int8_t* codes(reference* r, int64_t row) { return (int8_t*)r->spad + row * r->lanes; }
static int32_t* ints(reference* r, int64_t row) { return (int32_t*)(void*)r->acc + row * r->lanes; }
static float* words(reference* r, int64_t row) { return (float*)(void*)r->acc + row * r->lanes; }
static int64_t at(const pb_command* c, const char* base, const char* si, const char* sj, int64_t i, int64_t j) {
  return get(c, base) + i * get(c, si) + j * get(c, sj);
}

static void move(reference* r, const program* p, const pb_command* c) {
  bool store = c->insn->name[0] == 'S', word = c->insn->name[2] == 'A', runs = c->insn->name[2] == 'R';
  int64_t len = get(c, "nb") * (word ? 4 : 1);
  for (int64_t i = 0; i < get(c, "ni"); ++i)
    for (int64_t j = 0; j < get(c, "nj"); ++j) {
      uint64_t dram = p->args[get(c, "arg")] + (uint64_t)at(c, "off", "si", "sj", i, j);
      uint8_t* local = (word ? r->acc : r->spad) + at(c, "loc", "li", "lj", i, j);
      if (store) {
        memcpy(r->dram + dram, local, (size_t)len);
        continue;
      }
      bool inside = i >= get(c, "ilo") && i < get(c, "ihi");
      if (!runs) inside &= j >= get(c, "jlo") && j < get(c, "jhi");
      int64_t lo = runs ? get(c, "blo") : 0, hi = runs && get(c, "bhi") < len ? get(c, "bhi") : len;
      memset(local, word ? 0 : (int)get(c, "fill") & 255, (size_t)len);
      if (inside && lo < hi) memcpy(local + lo, r->dram + dram + lo, (size_t)(hi - lo));
    }
}

static void multiply(reference* r, const pb_command* c) {
  const int8_t* weights = (const int8_t*)r->wreg + get(c, "w") * r->lanes * r->lanes;
  for (int64_t i = 0; i < get(c, "ni"); ++i)
    for (int64_t j = 0; j < get(c, "nj"); ++j) {
      const int8_t* x = codes(r, at(c, "a", "ai", "aj", i, j));
      int32_t* y = ints(r, at(c, "c", "ci", "cj", i, j));
      for (int n = 0; n < r->lanes; ++n) {
        uint32_t sum = get(c, "acc") ? (uint32_t)y[n] : 0;
        for (int k = 0; k < r->lanes; ++k)
          sum += (uint32_t)((x[k] - get(c, "zx")) * (weights[k * r->lanes + n] - get(c, "zw")));
        y[n] = (int32_t)sum;
      }
    }
}

// Each lane of windows of neighbouring rows by weights of its own.
static void multiply_lanes(reference* r, const pb_command* c) {
  const int8_t* weights = (const int8_t*)r->wreg + get(c, "w") * r->lanes;
  for (int64_t i = 0; i < get(c, "ni"); ++i)
    for (int64_t j = 0; j < get(c, "nj"); ++j) {
      int32_t* y = ints(r, at(c, "c", "ci", "cj", i, j));
      int64_t window = get(c, "a") + i * get(c, "ai") + j * command_window_step(c);
      for (int n = 0; n < r->lanes; ++n) {
        uint32_t sum = get(c, "acc") ? (uint32_t)y[n] : 0;
        for (int64_t line = 0; line < get(c, "nr"); ++line)
          for (int64_t t = 0; t < get(c, "nt"); ++t)
            sum += (uint32_t)((codes(r, window + line * get(c, "ar") + t)[n] - get(c, "zx")) *
                              weights[(line * command_line(c) + t) * r->lanes + n]);
        y[n] = (int32_t)sum;
      }
    }
}

static int8_t quantise(const pb_command* c, float x) {
  float y = add(canonical(rintf(x)), (float)get(c, "zp"));
  return (int8_t)reference_min(reference_max(y, (float)get(c, "lo")), (float)get(c, "hi"));
}

// A tree over neighbouring lanes, of which an odd one out goes on to the next level; x is spoilt.
static float tree(float* x, int lanes, float (*combine)(float, float)) {
  for (; lanes > 1; lanes = (lanes + 1) / 2) {
    for (int l = 0; l < lanes / 2; ++l) x[l] = combine(x[2 * l], x[2 * l + 1]);
    if (lanes % 2) x[lanes / 2] = x[lanes - 1];
  }
  return x[0];
}

static void sum_codes(reference* r, const pb_command* c) {
  int32_t* y = ints(r, get(c, "y"));
  for (int l = 0; l < r->lanes; ++l) {
    uint32_t sum = get(c, "acc") ? (uint32_t)y[l] : 0;
    for (int64_t i = 0; i < get(c, "ni"); ++i)
      for (int64_t j = 0; j < get(c, "nj"); ++j) sum += (uint32_t)codes(r, at(c, "a", "ai", "aj", i, j))[l];
    y[l] = (int32_t)sum;
  }
}

static bool is(const pb_command* c, const char* name) { return strcmp(c->insn->name, name) == 0; }

static int32_t look_up(reference* r, const pb_command* c, int8_t code) { return ints(r, get(c, "pt"))[code + 128]; }

// One number of the first codes of a row, in all lanes.
static void row_number(reference* r, const pb_command* c, int64_t i, int64_t j) {
  const int8_t* x = codes(r, at(c, "a", "ai", "aj", i, j));
  int32_t* y = ints(r, at(c, "y", "yi", "yj", i, j));
  uint32_t sum = 0;
  int32_t most = INT32_MIN;
  for (int l = 0; l < get(c, "nn"); ++l) {
    int32_t less = pb_insn_field(c->insn, "za") >= 0 ? x[l] - (int32_t)get(c, "za") : x[l];
    sum += (uint32_t)(is(c, "VRLUT") ? look_up(r, c, x[l]) : is(c, "VRSQQ") ? less * less : less);
    most = x[l] > most ? x[l] : most;
  }
  for (int l = 0; l < r->lanes; ++l) {
    if (is(c, "VRMAXQ"))
      y[l] = get(c, "acc") && y[l] > most ? y[l] : most;
    else
      y[l] = (int32_t)((get(c, "acc") ? (uint32_t)y[l] : 0) + sum);
  }
}

// Commands that make codes, one row of them.
static void codes_row(reference* r, const pb_command* c, int64_t i, int64_t j) {
  int8_t* y = codes(r, at(c, "y", "yi", "yj", i, j));
  int64_t a = at(c, "a", "ai", "aj", i, j);
  for (int l = 0; l < r->lanes; ++l) {
    if (is(c, "VRQ")) {
      int32_t sum = (int32_t)((uint32_t)ints(r, a)[l] + (uint32_t)ints(r, get(c, "pb"))[l]);
      y[l] = quantise(c, mul((float)sum, words(r, get(c, "ps"))[l]));
    } else if (is(c, "VADDQ")) {
      int8_t b = codes(r, at(c, "b", "bi", "bj", i, j))[l];
      float left = mul((float)(codes(r, a)[l] - get(c, "za")), words(r, get(c, "psa"))[l]);
      float right = mul((float)(b - get(c, "zb")), words(r, get(c, "psb"))[l]);
      y[l] = quantise(c, add(left, right));
    } else if (is(c, "VQ")) {
      y[l] = quantise(c, mul(words(r, a)[l], words(r, get(c, "ps"))[l]));
    } else if (is(c, "VLUT")) {
      y[l] = (int8_t)look_up(r, c, codes(r, a)[l]);
    } else if (is(c, "VLUTQ")) {
      float number = (float)look_up(r, c, codes(r, a)[l]);
      y[l] = quantise(c, mul(number, words(r, at(c, "b", "bi", "bj", i, j))[l]));
    } else if (is(c, "VBELOW")) {
      y[l] = (int8_t)((uint32_t)codes(r, a)[l] - (uint32_t)ints(r, at(c, "b", "bi", "bj", i, j))[l] + 127u);
    } else if (is(c, "VNQ")) {
      float scaled = mul(words(r, a)[l], words(r, at(c, "b", "bi", "bj", i, j))[l]);
      y[l] = quantise(c, add(mul(scaled, words(r, get(c, "ps"))[l]), words(r, get(c, "pb"))[l]));
    } else { // VMAXQ
      int8_t x = codes(r, a)[l];
      y[l] = get(c, "acc") && y[l] > x ? y[l] : x;
    }
  }
}

static float binary(const char* name, float a, float b) {
  if (name[1] == 'D') return canonical(a / b);
  switch (name[2]) { // VaDd, VSub, VMul, VMax, VMin
  case 'D':
    return add(a, b);
  case 'U':
    return name[1] == 'S' ? add(a, -b) : mul(a, b);
  case 'A':
    return reference_max(a, b);
  default:
    return reference_min(a, b);
  }
}

// A sum, or the larger, of x and of what is there.
static float onto(const pb_command* c, bool sum, float old, float x) {
  if (!get(c, "acc")) old = sum ? 0 : -INFINITY;
  return sum ? add(old, x) : reference_maximum(old, x);
}

// Commands that make words, one row of them.
static void words_row(reference* r, const pb_command* c, int64_t i, int64_t j) {
  const char* name = c->insn->name;
  float* y = words(r, at(c, "y", "yi", "yj", i, j));
  int64_t a = at(c, "a", "ai", "aj", i, j);
  float x[64];
  if (is(c, "VRSUM") || is(c, "VRMAX")) {
    bool sum = is(c, "VRSUM");
    memcpy(x, words(r, a), sizeof(float) * (size_t)r->lanes);
    float whole = tree(x, (int)get(c, "nn"), sum ? add : reference_maximum);
    for (int l = 0; l < r->lanes; ++l) y[l] = onto(c, sum, y[l], whole);
    return;
  }
  bool two = pb_insn_field(c->insn, "b") >= 0;
  for (int l = 0; l < r->lanes; ++l) {
    if (is(c, "VDQ"))
      x[l] = mul((float)(codes(r, a)[l] - get(c, "za")), words(r, get(c, "ps"))[l]);
    else if (is(c, "VSUBQ"))
      x[l] = add((float)(codes(r, a)[l] - get(c, "za")), -words(r, at(c, "b", "bi", "bj", i, j))[l]);
    else if (is(c, "VSQRT"))
      x[l] = canonical(sqrtf(words(r, a)[l]));
    else if (is(c, "VI2F"))
      x[l] = (float)ints(r, a)[l];
    else if (is(c, "VSUM") || is(c, "VMOST"))
      x[l] = onto(c, is(c, "VSUM"), y[l], words(r, a)[l]);
    else if (two)
      x[l] = binary(name, words(r, a)[l], words(r, at(c, "b", "bi", "bj", i, j))[l]);
    else
      x[l] = pb_function_eval(is(c, "VEXP2") ? "exp2" : is(c, "VRECIP") ? "recip" : "rsqrt", 6, 2, words(r, a)[l]);
  }
  memcpy(y, x, sizeof(float) * (size_t)r->lanes);
}

static void run(reference* r, const program* p, const pb_command* c) {
  const char* name = c->insn->name;
  if (strncmp(name, "LD", 2) == 0 || strncmp(name, "ST", 2) == 0) {
    move(r, p, c);
    return;
  }
  if (is(c, "WLD")) {
    for (int k = 0; k < r->lanes; ++k)
      memcpy(r->wreg + (get(c, "w") * r->lanes + k) * r->lanes, codes(r, get(c, "src") + k * get(c, "sk")),
             (size_t)r->lanes);
    return;
  }
  if (is(c, "WLDT")) {
    for (int n = 0; n < r->lanes; ++n)
      for (int k = 0; k < r->lanes; ++k)
        r->wreg[(get(c, "w") * r->lanes + k) * r->lanes + n] = (uint8_t)codes(r, get(c, "src") + n * get(c, "sn"))[k];
    return;
  }
  if (is(c, "WLDR")) {
    for (int k = 0; k < get(c, "nk"); ++k)
      memcpy(r->wreg + (get(c, "w") + k) * r->lanes, codes(r, get(c, "src") + k * get(c, "sk")), (size_t)r->lanes);
    return;
  }
  if (strncmp(name, "MMC", 3) == 0) {
    multiply_lanes(r, c);
    return;
  }
  if (is(c, "MMA")) {
    multiply(r, c);
    return;
  }
  if (is(c, "VSUMQ")) {
    sum_codes(r, c);
    return;
  }
  bool to_codes = command_on_codes(c, true);
  bool number = is(c, "VRMAXQ") || is(c, "VRSUMQ") || is(c, "VRSQQ") || is(c, "VRLUT");
  for (int64_t i = 0; i < get(c, "ni"); ++i)
    for (int64_t j = 0; j < get(c, "nj"); ++j) (number ? row_number : to_codes ? codes_row : words_row)(r, c, i, j);
}

void reference_run(reference* r, const program* p) {
  for (int n = 0; n < p->count; ++n) run(r, p, &p->commands[n]);
}

void reference_compare(const reference* r, const program* p, device* d, char* difference, size_t size) {
  difference[0] = 0;
  for (int n = 0; n < p->arg_count && !difference[0]; ++n) {
    uint8_t* image = malloc(p->arg_bytes[n]);
    if (d->ops->copy_out(d->handle, p->args[n], image, p->arg_bytes[n])) abort();
    const uint8_t* right = r->dram + p->args[n];
    for (uint64_t b = 0; b < p->arg_bytes[n] && !difference[0]; ++b)
      if (image[b] != right[b])
        snprintf(difference, size, "buffer %d byte %llu is %02x, should be %02x", n, (unsigned long long)b, image[b],
                 right[b]);
    free(image);
  }
}
