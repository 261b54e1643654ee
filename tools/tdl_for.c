// What a model needs that a chip lacks: compiled with all of it left to the processor, each thing left is one line.
#include "tdl_sweep.h"

#include "core/driver/compile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MISSING = 4063, MOST_TEXT = 1600 };

typedef struct missing_list {
  char (*texts)[MOST_TEXT];
  size_t count, capacity;
  int failed;
} missing_list;

// "warning: k3: runs on cpu, since REASON [PB4063]": REASON, each once.
static void note(void* user, bool error, int code, const char* text) {
  missing_list* list = user;
  const char* since = strstr(text, ", since ");
  char one[MOST_TEXT];
  if (error || code != MISSING || !since) {
    if (error) fprintf(stderr, "%s\n", text), ++list->failed;
    return;
  }
  snprintf(one, sizeof one, "%s", since + strlen(", since "));
  char* end = strstr(one, " [PB4063]");
  if (end) *end = 0;
  for (size_t k = 0; k < list->count; ++k)
    if (!strcmp(list->texts[k], one)) return;
  if (list->count == list->capacity) {
    list->capacity = list->capacity ? 2 * list->capacity : 16;
    list->texts = realloc(list->texts, list->capacity * sizeof *list->texts);
    if (!list->texts) abort(); // out of memory: a list that misses one is wrong
  }
  memcpy(list->texts[list->count++], one, sizeof one);
}

int tdl_check_for(pb_chip* chip, const char* model) {
  missing_list list = {0};
  pb_diag diag = {.sink = note, .user = &list};
  pb_compile_options o = {.model = model, .target = chip->name, .chip = chip, .fallback = "cpu"};
  pb_compiled compiled = {0};
  pb_status status = pb_compile(&o, &diag, &compiled);
  for (size_t k = 0; k < list.count; ++k) printf("missing: %s\n", list.texts[k]);
  if (status == PB_OK && !list.count) printf("%s: %s has all that it needs\n", model, chip->name);
  if (list.count) printf("%s: %zu things that %s lacks\n", model, list.count, chip->name);
  int code = status != PB_OK || list.count;
  pb_compiled_free(&compiled);
  free(list.texts);
  return code;
}
