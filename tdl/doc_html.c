// The manual as one self-contained page: what doc.c writes as Markdown, in HTML. Headings, paragraphs, lists, tables,
// code in lines of its own and in `quotes` are all that it writes. Text of the description is text here, whatever is in
// it.
#include "tdl/doc.h"

#include <stdlib.h>
#include <string.h>

static const char style[] =
    "body{font:15px/1.5 sans-serif;margin:0;color:#222}nav{position:fixed;top:0;bottom:0;width:15em;overflow:auto;"
    "background:#f4f4f2;padding:1em;box-sizing:border-box}nav a{display:block;color:#224;text-decoration:none}"
    "nav a.in{padding-left:1em;font-family:monospace}main{margin-left:16em;max-width:60em;padding:1em}"
    "table{border-collapse:collapse;margin:.5em 0}td,th{border:1px solid #ccc;padding:.15em .6em;text-align:left}"
    "th{background:#f4f4f2}code,pre{font-family:monospace;background:#f4f4f2}pre{padding:.5em}h3{border-top:1px solid "
    "#ccc;padding-top:.7em}";

typedef enum block { NONE, PARAGRAPH, LIST, TABLE, CODE } block;

static void put(FILE* out, char c) {
  if (c == '<')
    fputs("&lt;", out);
  else if (c == '>')
    fputs("&gt;", out);
  else if (c == '&')
    fputs("&amp;", out);
  else if (c == '"')
    fputs("&quot;", out);
  else
    fputc(c, out);
}

static void put_line(FILE* out, const char* text, size_t length) {
  bool code = false;
  for (size_t k = 0; k < length; ++k) {
    if (text[k] == '`') {
      fputs(code ? "</code>" : "<code>", out);
      code = !code;
    } else if (text[k] == '\\' && k + 1 < length && strchr("|<>*_\\`", text[k + 1])) {
      put(out, text[++k]);
    } else {
      put(out, text[k]);
    }
  }
  if (code) fputs("</code>", out);
}

// A row `| a | b |`, whose cells are parted by what no backslash precedes.
static void put_row(FILE* out, const char* text, size_t length, const char* cell) {
  fputs("<tr>", out);
  for (size_t from = 1; from < length;) {
    size_t to = from;
    while (to < length && (text[to] != '|' || text[to - 1] == '\\')) ++to;
    size_t first = from, end = to;
    while (first < end && text[first] == ' ') ++first;
    while (end > first && text[end - 1] == ' ') --end;
    fprintf(out, "<%s>", cell);
    put_line(out, text + first, end - first);
    fprintf(out, "</%s>", cell);
    from = to + 1;
  }
  fputs("</tr>\n", out);
}

static void change(FILE* out, block* now, block next) {
  static const char* const ends[] = {"", "</p>\n", "</ul>\n", "</table>\n", "</pre>\n"};
  static const char* const starts[] = {"", "<p>", "<ul>\n", "<table>\n", "<pre>"};
  if (*now == next && next != PARAGRAPH) return;
  fputs(ends[*now], out);
  fputs(starts[next], out);
  *now = next;
}

static int heading(const char* line, size_t length) {
  int depth = 0;
  while (depth < 3 && (size_t)depth < length && line[depth] == '#') ++depth;
  return depth && (size_t)depth < length && line[depth] == ' ' ? depth : 0;
}

static void put_heading(FILE* out, const char* line, size_t length, int depth, int number) {
  fprintf(out, "<h%d id=s%d>", depth, number);
  put_line(out, line + depth + 1, length - (size_t)depth - 1);
  fprintf(out, "</h%d>\n", depth);
}

static void put_body(FILE* out, const char* text) {
  block now = NONE;
  int number = 0;
  for (const char *line = text, *end; *line; line = *end ? end + 1 : end) {
    end = line + strcspn(line, "\n");
    size_t length = (size_t)(end - line);
    int depth = heading(line, length);
    if (depth) {
      change(out, &now, NONE);
      put_heading(out, line, length, depth, number++);
    } else if (!length) {
      change(out, &now, NONE);
    } else if (line[0] == '|') {
      bool first = now != TABLE;
      change(out, &now, TABLE);
      if (strncmp(line, "|---", 4)) put_row(out, line, length, first ? "th" : "td");
    } else if (!strncmp(line, "- ", 2)) {
      change(out, &now, LIST);
      fputs("<li>", out);
      put_line(out, line + 2, length - 2);
      fputs("</li>\n", out);
    } else if (!strncmp(line, "    ", 4)) {
      change(out, &now, CODE);
      for (size_t k = 4; k < length; ++k) put(out, line[k]);
      fputc('\n', out);
    } else {
      if (now != PARAGRAPH) change(out, &now, PARAGRAPH);
      put_line(out, line, length);
      fputc('\n', out);
    }
  }
  change(out, &now, NONE);
}

static void put_contents(FILE* out, const char* text) {
  int number = 0;
  for (const char *line = text, *end; *line; line = *end ? end + 1 : end) {
    end = line + strcspn(line, "\n");
    int depth = heading(line, (size_t)(end - line));
    if (!depth) continue;
    fprintf(out, "<a href='#s%d'%s>", number++, depth == 3 ? " class=in" : "");
    put_line(out, line + depth + 1, (size_t)(end - line) - (size_t)depth - 1);
    fputs("</a>\n", out);
  }
}

void pb_chip_print_doc_html(const pb_chip* chip, FILE* out) {
  char* text = NULL;
  size_t size = 0;
  FILE* markdown = open_memstream(&text, &size);
  if (!markdown) pb_no_memory(size);
  pb_chip_print_doc(chip, markdown);
  if (fclose(markdown)) pb_no_memory(size);
  fprintf(out,
          "<!DOCTYPE html>\n<html lang=en><head><meta "
          "charset=utf-8><title>%s</title><style>%s</style></head>\n<body><nav>\n",
          chip->name, style);
  put_contents(out, text);
  fputs("</nav><main>\n", out);
  put_body(out, text);
  fputs("</main></body></html>\n", out);
  free(text);
}
