// A program as files for a bench of RTL that links nothing of the SDK: one command, one 8-byte word a line, for
// $readmemh.
#include "suite.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static bool write_bytes(const char* path, const uint8_t* data, size_t count, size_t each) {
  FILE* out = fopen(path, "w");
  if (!out) return false;
  for (size_t k = 0; k + each <= count; k += each) {
    for (size_t b = each; b-- > 0;) fprintf(out, "%02x", data[k + b]);
    fputc('\n', out);
  }
  return !fclose(out);
}

// What the files call a stream: the queue of whichever core, or the list.
static const char* name_of(const suite* s, int q) { return s->chip->fence ? "list" : s->chip->queues[q].name; }

static bool write_stream(suite* s, const program* p, int q, const char* folder, size_t* count) {
  size_t bytes = (size_t)s->chip->command_bytes;
  uint8_t* stream = malloc(program_room(s, p));
  char path[1200];
  *count = stream ? program_words(s, p, q, stream) : SIZE_MAX;
  bool good = *count != SIZE_MAX;
  snprintf(path, sizeof path, "%s/commands_%s.hex", folder, name_of(s, q));
  good = good && write_bytes(path, stream, *count * bytes, bytes);
  free(stream);
  return good;
}

// DIR/NAME with '-' for '/': commands_QUEUE.hex, argument_K_in.hex and argument_K_out.hex, and what they are.
bool suite_vectors(suite* s, const program* p, const char* name) {
  char folder[1024], path[1200];
  int n = snprintf(folder, sizeof folder, "%s/%s", s->options->vectors, name);
  for (char* at = folder + strlen(s->options->vectors) + 1; *at; ++at)
    if (*at == '/') *at = '-';
  mkdir(s->options->vectors, 0777);
  mkdir(folder, 0777);
  snprintf(path, sizeof path, "%s/program.txt", folder);
  FILE* out = n > 0 ? fopen(path, "w") : NULL;
  if (!out) return false;
  fprintf(out, "# %s, %s: what each queue runs, and what the arguments hold before and after\n", s->chip->name, name);
  bool good = true;
  for (int q = 0; q < pb_chip_streams(s->chip) / s->chip->cores && good; ++q) {
    size_t count;
    good = write_stream(s, p, q, folder, &count);
    fprintf(out, "queue %s commands_%s.hex %zu commands of %d bytes\n", name_of(s, q), name_of(s, q), count,
            s->chip->command_bytes);
  }
  for (int a = 0; a < s->argument_count && good; ++a) {
    snprintf(path, sizeof path, "%s/argument_%d_in.hex", folder, a);
    good = write_bytes(path, s->image[a], (size_t)s->argument_bytes[a], 8);
    snprintf(path, sizeof path, "%s/argument_%d_out.hex", folder, a);
    good =
        good && write_bytes(path, judge_space_at(s->judge, JUDGE_ARGUMENTS + a)->data, (size_t)s->argument_bytes[a], 8);
    int number = suite_constants_of(s, a);
    fprintf(out, "argument %d %lld bytes argument_%d_in.hex argument_%d_out.hex%s%s\n", a,
            (long long)s->argument_bytes[a], a, a, number >= 0 ? " in " : "",
            number >= 0 ? s->chip->memories[s->chip->constant_memories[number]].name : "");
  }
  ++s->vector_files;
  return !fclose(out) && good;
}
