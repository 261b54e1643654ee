// Attributes that have a spelling of their own in StableHLO's form.
#include "core/frontend/stablehlo/pretty/forms.h"

#include <stdlib.h>

static void add_number(pb_text* list, pb_slice number) {
  pb_text_add(list, "%s%.*s", list->length ? ", " : ": ", (int)(number.to - number.from), number.from);
}

static void add_list(pb_scan* s, pb_pretty_op* op, const char* name, pb_text* list) {
  pb__pretty_add(op, name, "array<i64", pb__scan_made(s, "%s", list->data ? list->data : ""), ">");
  op->attrs[op->attr_count - 1].place = s->at;
  pb_text_free(list);
}

// [0:3, 1:8:2]: starts, limits and strides.
bool pb__pretty_slice_ranges(pb_scan* s, pb_pretty_op* op) {
  static const char* const names[] = {"start_indices", "limit_indices", "strides"};
  pb_text lists[3] = {{0}};
  bool good = pb__scan_need(s, "[");
  if (good && !pb__scan_sees(s, "]")) do {
      pb_slice numbers[3] = {{0}};
      good = pb__scan_number(s, &numbers[0]) && pb__scan_need(s, ":") && pb__scan_number(s, &numbers[1]);
      numbers[2] = pb__slice("1");
      if (good && pb__scan_take(s, ":")) good = pb__scan_number(s, &numbers[2]);
      for (int k = 0; good && k < 3; ++k) add_number(&lists[k], numbers[k]);
    } while (good && pb__scan_take(s, ","));
  for (int k = 0; k < 3; ++k) add_list(s, op, names[k], &lists[k]);
  return good && pb__scan_need(s, "]");
}

// [1, 2], [[0, 0], [1, 1]], [true, false]: in the middle of an attribute of which `before` and `behind` are the rest.
static bool window_list(pb_scan* s, pb_pretty_op* op, pb_slice word) {
  static const struct {
    const char *word, *name, *before;
  } lists[] = {{"stride", "window_strides", "array<i64"},
               {"pad", "padding", "dense<"},
               {"lhs_dilate", "lhs_dilation", "array<i64"},
               {"rhs_dilate", "rhs_dilation", "array<i64"},
               {"reverse", "window_reversal", "array<i1"}};
  size_t k = 0;
  while (k < 5 && !pb__slice_is(word, lists[k].word)) ++k;
  if (k == 5)
    return pb__scan_refuse(s, word.from, "expected stride, pad, lhs_dilate, rhs_dilate or reverse, not '%.*s'",
                           (int)(word.to - word.from), word.from);
  pb_slice group;
  if (!pb__scan_sees(s, "[")) return pb__scan_need(s, "[");
  if (!pb__scan_group(s, &group)) return false;
  pb_slice inside = pb__slice_inside(group);
  if (k == 1) { // pairs, of which a tensor of i64 is made
    int pairs = 0;
    for (const char* c = inside.from; c < inside.to; ++c) pairs += *c == '[';
    const char* type = pb_printf(&s->arena, "> : tensor<%dx2xi64>", pairs);
    pb__pretty_add(op, lists[k].name, pairs ? lists[k].before : "dense<", pairs ? group : pb__slice(""), type);
    return true;
  }
  pb_text words = {0}; // reversals may be numbers
  for (const char* c = inside.from; c < inside.to; ++c) {
    bool digit = k == 4 && (*c == '0' || *c == '1');
    pb_text_add(&words, "%s", digit ? (*c == '1' ? "true" : "false") : (char[]){*c, 0});
  }
  pb_slice list = k == 4 ? pb__scan_made(s, "%s", words.data ? words.data : "") : inside;
  bool none = inside.from == inside.to;
  pb__pretty_add(op, lists[k].name, none ? lists[k].before : pb_printf(&s->arena, "%s: ", lists[k].before), list, ">");
  op->attrs[op->attr_count - 1].place = group.from;
  pb_text_free(&words);
  return true;
}

// {stride = [2, 2], pad = [[0, 1], [0, 1]]}
bool pb__pretty_window(pb_scan* s, pb_pretty_op* op) {
  if (!pb__scan_need(s, "{")) return false;
  for (int k = 0; !pb__scan_sees(s, "}"); ++k) {
    pb_slice word;
    if (k == 5) return pb__scan_need(s, "}");
    if (k && !pb__scan_need(s, ",")) return false;
    if (!pb__scan_word(s, &word) || !pb__scan_need(s, "=") || !window_list(s, op, word)) return false;
  }
  return pb__scan_need(s, "}");
}

static bool bracketed(pb_scan* s, pb_slice* group) {
  return pb__scan_sees(s, "[") ? pb__scan_group(s, group) : pb__scan_need(s, "[");
}

// [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], which the attribute has as well.
bool pb__pretty_convolution_dims(pb_scan* s, pb_pretty_op* op) {
  pb_slice group;
  pb__scan_blanks(s);
  const char* from = s->at;
  bool good = bracketed(s, &group) && pb__scan_need(s, "x") && bracketed(s, &group) && pb__scan_need(s, "->") &&
              bracketed(s, &group);
  if (good) pb__pretty_add(op, "dimension_numbers", "#stablehlo.conv<", (pb_slice){from, s->at}, ">");
  return good;
}

// batching_dims = [0] x [0], contracting_dims = [2] x [1]
bool pb__pretty_dot_dims(pb_scan* s, pb_pretty_op* op) {
  pb_slice batch[2] = {{0}}, sum[2];
  pb__scan_blanks(s);
  const char* place = s->at;
  bool has_batch = pb__scan_take(s, "batching_dims");
  if (has_batch && !(pb__scan_need(s, "=") && bracketed(s, &batch[0]) && pb__scan_need(s, "x") &&
                     bracketed(s, &batch[1]) && pb__scan_need(s, ",")))
    return false;
  if (!(pb__scan_need(s, "contracting_dims") && pb__scan_need(s, "=") && bracketed(s, &sum[0]) &&
        pb__scan_need(s, "x") && bracketed(s, &sum[1])))
    return false;
  static const char* const names[] = {"lhs_batching_dimensions", "rhs_batching_dimensions",
                                      "lhs_contracting_dimensions", "rhs_contracting_dimensions"};
  pb_text text = {0};
  for (int k = 0; k < 4; ++k) {
    pb_slice list = k < 2 ? batch[k] : sum[k - 2];
    if (!list.from || list.to - list.from <= 2) continue; // none, which is left out
    pb_text_add(&text, "%s%s = %.*s", text.length ? ", " : "", names[k], (int)(list.to - list.from), list.from);
  }
  pb__pretty_add(op, "dot_dimension_numbers", "#stablehlo.dot<", pb__scan_made(s, "%s", text.data ? text.data : ""),
                 ">");
  op->attrs[op->attr_count - 1].place = place;
  pb_text_free(&text);
  return true;
}

// , precision = [HIGH, HIGH], algorithm = <...>: either may be left out.
bool pb__pretty_precision(pb_scan* s, pb_pretty_op* op) {
  pb_slice word, group;
  bool any = false;
  while (pb__scan_take(s, ",")) {
    pb__scan_blanks(s);
    const char* place = s->at;
    if (!any && pb__scan_take(s, "precision")) {
      if (!pb__scan_need(s, "=") || !pb__scan_need(s, "[")) return false;
      pb_text text = {0};
      bool good = true;
      if (!pb__scan_sees(s, "]")) do {
          good = pb__scan_word(s, &word);
          if (good)
            pb_text_add(&text, "%s#stablehlo<precision %.*s>", text.length ? ", " : "", (int)(word.to - word.from),
                        word.from);
        } while (good && pb__scan_take(s, ","));
      pb_slice list = pb__scan_made(s, "%s", text.data ? text.data : "");
      pb__pretty_add(op, "precision_config", "[", list, "]");
      op->attrs[op->attr_count - 1].place = place;
      pb_text_free(&text);
      if (!good || !pb__scan_need(s, "]")) return false;
      any = true;
      continue;
    }
    if (!pb__scan_need(s, "algorithm") || !pb__scan_need(s, "=")) return false;
    if (!pb__scan_sees(s, "<")) return pb__scan_need(s, "<");
    if (!pb__scan_group(s, &group)) return false;
    pb__pretty_add(op, "algorithm", "#stablehlo.dot_algorithm", group, "");
    return true;
  }
  return true;
}

// e5m10
bool pb__pretty_exponent(pb_scan* s, pb_pretty_op* op) {
  pb_slice word;
  if (!pb__scan_word(s, &word)) return false;
  const char *e = word.from + 1, *m = e;
  while (m < word.to && *m >= '0' && *m <= '9') ++m;
  const char* end = m < word.to ? m + 1 : m;
  while (end < word.to && *end >= '0' && *end <= '9') ++end;
  if (*word.from != 'e' || m == e || m == word.to || *m != 'm' || m + 1 == end || end != word.to)
    return pb__scan_refuse(s, word.from, "expected bits of exponent and mantissa, as e5m10");
  pb__pretty_add(op, "exponent_bits", "", (pb_slice){e, m}, " : i32");
  pb__pretty_add(op, "mantissa_bits", "", (pb_slice){m + 1, end}, " : i32");
  return true;
}
