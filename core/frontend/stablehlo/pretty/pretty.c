// A text whole: its operations and what stands between them, and which place becomes which.
#include "core/frontend/stablehlo/pretty/forms.h"

#include <stdlib.h>

// #loc3 = loc("a.py":1:2), !t = tensor<2xf32>: locations are left out, the others stay.
static bool alias(pb_scan* s) {
  pb_slice word, value, type;
  pb__scan_blanks(s);
  const char* from = s->at++;
  if (!pb__scan_word(s, &word) || !pb__scan_need(s, "=")) return false;
  if (pb__scan_sees(s, "loc")) return pb__scan_location(s);
  if (!(*from == '!' ? pb__scan_type(s, &value) : pb__scan_attribute(s, &value, &type))) return false;
  s->place = from;
  pb__scan_put(s, (pb_slice){from, s->at});
  pb__scan_puts(s, "\n");
  return true;
}

static void find_lines(const char* text, size_t length, size_t** lines, size_t* count, size_t* capacity) {
  PB_PUSH(*lines, *count, *capacity, 0);
  for (size_t k = 0; k < length; ++k)
    if (text[k] == '\n') PB_PUSH(*lines, *count, *capacity, k + 1);
}

pb_status pb_pretty_read(const char* text, size_t length, const char* name, pb_diag* diag, pb_pretty* pretty) {
  pb_scan s = {
      .text = text, .at = text, .end = text + length, .name = name, .diag = diag, .out = pretty, .place = text};
  bool good = true, first = true;
  for (pb__scan_blanks(&s); good && s.at < s.end; pb__scan_blanks(&s)) {
    bool is_alias = *s.at == '#' || *s.at == '!';
    if (first && *s.at == '"') break; // what begins in the generic form is in it
    good = is_alias ? alias(&s) : pb__pretty_operation(&s);
    first &= is_alias;
  }
  if (good && first) {
    free(pretty->marks);
    pb_text_free(&pretty->text);
    *pretty = (pb_pretty){0};
  } else if (good) {
    pb_pretty* p = pretty;
    find_lines(text, length, &p->own_lines, &p->own_line_count, &p->own_line_capacity);
    find_lines(p->text.data, p->text.length, &p->lines, &p->line_count, &p->line_capacity);
  }
  pb_arena_free(&s.arena);
  return s.status;
}

// The last of the sorted numbers that is at most `at`.
static size_t last_at(const size_t* lines, size_t count, size_t at) {
  size_t low = 0, high = count;
  while (high - low > 1) {
    size_t half = low + (high - low) / 2;
    *(lines[half] <= at ? &low : &high) = half;
  }
  return low;
}

void pb_pretty_place(const pb_pretty* p, int* line, int* column) {
  if (!p->mark_count || *line < 1 || (size_t)*line > p->line_count) return;
  size_t at = p->lines[*line - 1] + (size_t)(*column > 0 ? *column - 1 : 0), low = 0, high = p->mark_count;
  while (high - low > 1) {
    size_t half = low + (high - low) / 2;
    *(p->marks[half].generic <= at ? &low : &high) = half;
  }
  const pb_pretty_mark* m = &p->marks[low];
  size_t own = m->own + (m->is_copy ? at - m->generic : 0), k = last_at(p->own_lines, p->own_line_count, own);
  *line = (int)k + 1;
  *column = (int)(own - p->own_lines[k]) + 1;
}

void pb_pretty_free(pb_pretty* p) {
  pb_text_free(&p->text);
  free(p->marks);
  free(p->lines);
  free(p->own_lines);
  *p = (pb_pretty){0};
}
