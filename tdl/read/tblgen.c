#define _GNU_SOURCE // prlimit
#include "tdl/read/tblgen.h"

#include "core/base/arena.h"
#include "core/base/installation.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;

// What llvm-tblgen may take: a description of a few thousand records needs a hundredth of it, a !range without end all
// there is. Records are read from its output, which is limited as well.
enum { MOST_SECONDS = 2 };
static const rlim_t most_memory = (rlim_t)1 << 30, most_output = (rlim_t)64 << 20;

static void limit(pid_t pid) {
  const struct rlimit seconds = {MOST_SECONDS, MOST_SECONDS + 1}, memory = {most_memory, most_memory},
                      output = {most_output, most_output}, core = {0, 0};
  prlimit(pid, RLIMIT_CPU, &seconds, NULL);
  prlimit(pid, RLIMIT_AS, &memory, NULL);
  prlimit(pid, RLIMIT_FSIZE, &output, NULL);
  prlimit(pid, RLIMIT_CORE, &core, NULL);
}

static char* read_all(FILE* file) {
  char* data = NULL;
  size_t length = 0, capacity = 0;
  for (;;) {
    if (length + 65536 > capacity) {
      capacity = capacity ? capacity * 2 : 1 << 18;
      char* grown = realloc(data, capacity);
      if (!grown) pb_no_memory(capacity);
      data = grown;
    }
    size_t n = fread(data + length, 1, capacity - length - 1, file);
    length += n;
    if (n == 0) break;
  }
  data[length] = 0;
  return data;
}

// Each operand of an expression is there a second time as it would be printed: 30% of simnpu's text, which nobody
// reads, and which every engine would keep. Inside a string the quotes in front of the key would be escaped.
static void drop_printable(char* json) {
  static const char key[] = ",\"printable\":\"";
  char* to = json;
  for (const char* at = json; *at;) { // one pass: sanitizers measure the whole rest for each strstr
    if (*at != ',' || strncmp(at, key, sizeof key - 1) != 0) {
      *to++ = *at++;
      continue;
    }
    for (at += sizeof key - 1; *at && *at != '"'; ++at)
      if (*at == '\\' && at[1]) ++at;
    at += *at != 0;
  }
  *to = 0;
}

// `file:line:col: error: text`: each such line is one diagnostic; carets and source lines are left out.
// What a writer of descriptions can do about llvm-tblgen's own complaints.
static const char* hint_for(const char* complaint) {
  static const struct {
    const char *words, *hint;
  } known[] = {
      {"Initializer is not compatible with bit range",
       "as many bits on the left as on the right: let Inst{hi-lo} = field"},
      {"Variable not defined",
       "a record above it, a class's argument or a defvar; operators of Semantics and Cycles are listed in pb.td"},
      {"Couldn't find class", "one of pb.td's classes, or one of your own above it"},
      {"Could not find include file",
       "the language's own files are \"pb.td\" and \"codes.td\"; others lie beside the description"},
      {"has no field named", "the record's class lists its fields: see pb.td"},
      {"unknown in", "the record's class lists its fields: see pb.td"}};
  for (size_t k = 0; k < sizeof known / sizeof *known; ++k)
    if (strstr(complaint, known[k].words)) return known[k].hint;
  return NULL;
}

static void report(char* complaints, const char* path, pb_diag* diag) {
  bool any = false;
  for (char* line = strtok(complaints, "\n"); line; line = strtok(NULL, "\n")) {
    char* error = strstr(line, ": error: ");
    if (!error) continue;
    *error = 0;
    int row = 0, column = 0;
    char* colon = strrchr(line, ':');
    if (colon) {
      column = atoi(colon + 1);
      *colon = 0;
      colon = strrchr(line, ':');
      if (colon) {
        row = atoi(colon + 1);
        *colon = 0;
      }
    }
    const char* complaint = error + strlen(": error: ");
    pb_error(diag, (pb_place){.file = line, .line = row, .column = column}, 3001, hint_for(complaint), "%s", complaint);
    any = true;
  }
  if (!any) pb_error(diag, (pb_place){.file = path}, 3001, NULL, "llvm-tblgen could not read it");
}

// It did not end by itself: a limit, or a fault of its own, which deep nesting provokes.
static void report_signal(int signal, const char* path, pb_diag* diag) {
  bool slow = signal == SIGXCPU || signal == SIGKILL, large = signal == SIGXFSZ || signal == SIGABRT;
  pb_error(diag, (pb_place){.file = path}, 3006, "a smaller description",
           slow    ? "llvm-tblgen takes more than %d seconds"
           : large ? "llvm-tblgen takes more memory than it is given"
                   : "llvm-tblgen gives up (signal %d): lists, or expressions in each other, too large",
           slow ? MOST_SECONDS : signal);
}

// A name that is no word is that of no variant, which whoever reads the description finds.
static bool is_word(const char* name) {
  size_t n = name ? strlen(name) : 0, k = 0;
  while (k < n && (isalnum((unsigned char)name[k]) || name[k] == '_')) ++k;
  return n && k == n;
}

static pb_status spawn(const char* path, const char* variant, int out, int err, pb_diag* diag, pid_t* pid) {
  const char *include = getenv("PB_TDL_PATH"), *slash = strrchr(path, '/');
  char macro[64], folder[4096], language[2200], program[4096];
  pb_installed_folder("tdl", language, sizeof language);
  pb_program_path(PB_TBLGEN, program, sizeof program);
  snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash - path) : 1, slash ? path : ".");
  snprintf(macro, sizeof macro, "-DVARIANT_%s", is_word(variant) ? variant : "");
  char* argv[] = {program,
                  (char*)"--dump-json",
                  (char*)"-I",
                  (char*)(include ? include : language),
                  (char*)"-I", // a description may include its neighbours
                  slash == path ? (char*)"/" : folder,
                  (char*)path,
                  is_word(variant) ? macro : NULL,
                  NULL};
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, out, 1);
  posix_spawn_file_actions_adddup2(&actions, err, 2);
  int failed = posix_spawn(pid, program, &actions, NULL, argv, environ);
  posix_spawn_file_actions_destroy(&actions);
  errno = failed;
  return failed ? pb_system_error(diag, (pb_place){.file = program}, 3002, "cannot be started") : PB_OK;
}

pb_status pb__tblgen_run(const char* path, const char* variant, pb_diag* diag, char** json) {
  *json = NULL;
  if (access(path, R_OK)) return pb_system_error(diag, (pb_place){.file = path}, 3003, "cannot be read");
  FILE *out = tmpfile(), *err = tmpfile();
  if (!out || !err) {
    if (out) fclose(out);
    if (err) fclose(err);
    return pb_system_error(diag, (pb_place){.file = path}, 3004, "no temporary file");
  }
  pid_t pid;
  pb_status status = spawn(path, variant, fileno(out), fileno(err), diag, &pid);
  int code = 0;
  if (status == PB_OK) {
    limit(pid);
    while (waitpid(pid, &code, 0) < 0 && errno == EINTR) {}
    rewind(out);
    rewind(err);
    if (WIFSIGNALED(code)) {
      report_signal(WTERMSIG(code), path, diag);
      status = PB_ERR_INPUT;
    } else if (!WIFEXITED(code) || WEXITSTATUS(code)) {
      char* complaints = read_all(err);
      report(complaints, path, diag);
      free(complaints);
      status = PB_ERR_INPUT;
    } else {
      *json = read_all(out);
      drop_printable(*json);
    }
  }
  fclose(out);
  fclose(err);
  return status;
}
